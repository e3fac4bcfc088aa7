// SPDX-License-Identifier: GPL-3.0-or-later
// Opening checkpoints: header, numbers, problems, verification, looking inside, measuring, writing.
#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QDragEnterEvent>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTimer>
#include <QTreeWidget>

#include "app/pages/checkpoint_details.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/data_source.h"
#include "app/pages/evaluate_dialog.h"
#include "support/rooms.h"
#include "tests/widgets/child.h"
#include "widgets/checkpoint/config_view.h"
#include "widgets/checkpoint/histogram_view.h"
#include "widgets/checkpoint/outline_view.h"
#include "widgets/checkpoint/problems_list.h"
#include "widgets/checkpoint/tensor_model.h"
#include "widgets/checkpoint/tensor_table.h"
#include "widgets/checkpoint/verify_badge.h"
#include "widgets/data/statistics_view.h"
#include "widgets/generate/generate_panel.h"
#include "widgets/generate/generated_text.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/input_chooser.h"
#include "widgets/source/tile_view.h"
#include "window_fixture.h"

using namespace relascope;

namespace {

QString golden(const QString& name) {
    return QStringLiteral(RELASCOPE_FIXTURES "/golden/") + name;
}

struct Opened {
    QTemporaryDir folder;
    Messages messages;
    CheckpointController controller;
    CheckpointPage page{controller, messages};

    Opened() {
        page.resize(1160, 760);
        page.show();
    }
    /// Until the header and every number is read.
    void open(const QString& path) {
        QSignalSpy opened(&controller, &CheckpointController::opened);
        page.askFile = [path] { return path; };
        page.openFile();
        ASSERT_TRUE(waitUntil([&] { return opened.size() == 1; })) << path.toStdString();
        ASSERT_TRUE(waitUntil([&] { return controller.numbers().complete(); }));
    }
    void inspect() {
        ASSERT_TRUE(child<QPushButton>(page.head(), "Inspect")->isEnabled());
        QTest::mouseClick(child<QPushButton>(page.head(), "Inspect"), Qt::LeftButton);
        ASSERT_TRUE(waitUntil([&] {
            const auto* result = page.inspector()->result();
            return result && !result->partial;
        }));
    }
    const ProbeResult& result() const { return *page.inspector()->result(); }
    /// A golden folder of one's own.
    QString copied(const QString& name) {
        const QString to = folder.filePath(name);
        QDir().mkpath(to);
        for (const char* file : {"config.json", "model.safetensors", "io.safetensors"})
            QFile::copy(golden(name) + u'/' + file, to + u'/' + file);
        return to;
    }
    void edit(const QString& path, const QByteArray& from, const QByteArray& to) {
        QFile file(path);
        ASSERT_TRUE(file.open(QIODevice::ReadWrite));
        QByteArray text = file.readAll();
        ASSERT_TRUE(text.contains(from));
        text.replace(from, to);
        file.resize(0);
        file.seek(0);
        file.write(text);
    }
    void drop(const QString& path) {
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({9, 9}, Qt::CopyAction, &mime, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&page, &enter);
        QDropEvent event(QPointF(9, 9), Qt::CopyAction, &mime, Qt::LeftButton, {});
        QCoreApplication::sendEvent(&page, &event);
    }
};

const QString kVision = QStringLiteral("vidat_relational_games_mixed");

}  // namespace

TEST(CheckpointPage, SaysWhatToDoWhileNothingIsOpen) {
    Opened o;
    EXPECT_TRUE(o.page.openButton()->isVisible());
    bool asked = false;
    o.page.askFile = [&asked] { return asked = true, QString(); };
    QTest::mouseClick(o.page.openButton(), Qt::LeftButton);
    EXPECT_TRUE(asked);
    EXPECT_FALSE(child<QPushButton>(o.page.head(), "Inspect")->isEnabled());
    EXPECT_EQ(o.page.errorSentence(), "");
}

TEST(CheckpointPage, ShowsTheHeaderTheNumbersAndTheOutline) {
    Opened o;
    o.open(golden(kVision));
    EXPECT_EQ(o.page.title(), kVision);
    EXPECT_TRUE(o.page.head()->files().startsWith("config.json, model.safetensors"))
        << o.page.head()->files().toStdString();
    EXPECT_EQ(o.page.table()->marks()->text(), "none missing, none unexpected, no NaN");
    EXPECT_TRUE(o.page.problems()->isHidden());
    EXPECT_FALSE(o.page.openButton()->isVisible());
    // A tensor chosen in the table shows its numbers.
    TensorTable* table = o.page.table();
    table->filterField()->setFocus();
    QTest::keyClicks(table->filterField(), "relational_attention wr");
    ASSERT_GT(table->model()->shown(), 0);
    ASSERT_LT(table->model()->shown(), static_cast<int>(table->model()->tensors().size()));
    QTest::keyClick(table->view(), Qt::Key_Down);
    for (int k = 0; k < 4 && table->chosen().isEmpty(); ++k)
        QTest::keyClick(table->view(), Qt::Key_Down);
    ASSERT_FALSE(table->chosen().isEmpty());
    ASSERT_TRUE(o.page.details()->histogram()->statistics().has_value());
    EXPECT_EQ(o.page.details()->histogram()->statistics()->name, table->chosen().toStdString());
    EXPECT_TRUE(o.page.details()->histogram()->isVisible());
    // A part of the outline filters the table to it.
    QTest::mouseClick(
        child<widgets::SegmentedControl>(o.page.details(), "Panel below the tensors")->button(1),
        Qt::LeftButton);
    ASSERT_TRUE(o.page.details()->outline()->isVisible());
    auto* tree = o.page.details()->outline()->tree();
    ASSERT_EQ(tree->topLevelItemCount(), 1);
    QTreeWidgetItem* part = tree->topLevelItem(0)->child(1);
    ASSERT_NE(part, nullptr);
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualItemRect(part).center());
    EXPECT_TRUE(table->filterField()->text().endsWith('.'))
        << table->filterField()->text().toStdString();
    EXPECT_GT(table->model()->shown(), 0) << part->text(0).toStdString();
    EXPECT_FALSE(child<widgets::ConfigView>(o.page.details())->rows().empty());
}

TEST(CheckpointPage, VerifiesAgainstTheReference) {
    Opened o;
    o.open(golden(kVision));
    ASSERT_TRUE(o.page.head()->verifyButton()->isVisible());
    QTest::mouseClick(o.page.head()->verifyButton(), Qt::LeftButton);
    EXPECT_EQ(o.page.head()->badge()->title(), "Verifying");
    ASSERT_TRUE(waitUntil([&] { return o.page.head()->badge()->report().has_value(); }, 60000))
        << o.page.errorSentence().toStdString();
    EXPECT_EQ(o.page.head()->badge()->title(), "Verified")
        << o.page.head()->badge()->text().toStdString();
    EXPECT_EQ(o.page.head()->verifyButton()->text(), "Verify again");
    QTest::mouseClick(o.page.head()->badge()->button(), Qt::LeftButton);
    ASSERT_NE(o.page.head()->badge()->lines(), nullptr);
    o.page.head()->badge()->lines()->close();
    // Another checkpoint has a badge of its own, and none without reference outputs.
    const QString bare = o.copied(QStringLiteral("vit_relational_games"));
    QFile::remove(bare + "/io.safetensors");
    o.open(bare);
    EXPECT_EQ(o.page.head()->badge()->title(), "Not verified");
    EXPECT_FALSE(o.page.head()->verifyButton()->isVisible());
}

TEST(CheckpointPage, LooksInsideAnImageModel) {
    Opened o;
    o.open(golden(kVision));
    EXPECT_FALSE(o.page.inspector()->mapPane()->map()->isVisible());
    o.inspect();
    auto* inputs = o.page.inspector()->sourcePane()->inputs();
    ASSERT_TRUE(inputs->isVisible());
    EXPECT_EQ(inputs->kinds()->current(), 0) << "the first reference input";
    EXPECT_FALSE(child<QPushButton>(o.page.head(), "Inspect")->isEnabled());
    const Image first = o.result().sample.image;
    inputs->next();
    ASSERT_TRUE(waitUntil([&] { return o.result().sample.image != first; }));
    o.page.inspector()->sourcePane()->random();
    ASSERT_TRUE(waitUntil([&] { return o.result().sample.origin.find("random") == 0; }));
    EXPECT_EQ(inputs->kinds()->current(), 1);
    const QString picture = o.folder.filePath("cat.png");
    QImage(40, 30, QImage::Format_RGB888).save(picture);
    o.drop(picture);
    ASSERT_TRUE(waitUntil([&] { return o.result().sample.origin == "cat.png"; }));
    EXPECT_EQ(o.page.errorSentence(), "");
}

TEST(CheckpointPage, OpensOnRelationsWhateverWasShownBefore) {
    Opened o;
    o.open(golden(QStringLiteral("vit_relational_games")));
    o.inspect();
    InspectorView view = o.page.inspector()->view();
    EXPECT_EQ(view.kind, MapKind::SensoryAttention);
    view.processing = Processing::Tanh;
    o.page.inspector()->setView(view);
    o.open(golden(QStringLiteral("abstractor_sorting")));
    o.inspect();
    ASSERT_TRUE(waitUntil([&] { return !o.result().partial; }, 60000));
    view = o.page.inspector()->view();
    EXPECT_EQ(view.kind, MapKind::Relation);
    EXPECT_NE(o.result().find(view.kind, view.layer, view.index), nullptr);
    EXPECT_EQ(view.processing, Processing::Raw) << "it was chosen for another model";
}

TEST(CheckpointPage, OneDialogTakesFilesAndFolders) {
    Opened o;
    const QString folder = golden(kVision);
    QTimer::singleShot(200, [] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        ASSERT_NE(dialog, nullptr);
        QTest::mouseClick(child<QPushButton>(dialog, "Open this folder"), Qt::LeftButton);
    });
    EXPECT_EQ(CheckpointPage::chooseWeights(&o.page, QStringLiteral("Open"), folder),
              QFileInfo(folder).absoluteFilePath());
    QTimer::singleShot(200, [] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        ASSERT_NE(dialog, nullptr);
        QTest::keyClick(dialog, Qt::Key_Escape);
    });
    EXPECT_EQ(CheckpointPage::chooseWeights(&o.page, QStringLiteral("Open"), folder), "");
}

TEST(CheckpointPage, TakesTypedTokensAndRefusesOthers) {
    Opened o;
    o.open(golden(QStringLiteral("lm_symbolic_rope_gqa")));
    o.inspect();
    auto* inputs = o.page.inspector()->sourcePane()->inputs();
    ASSERT_TRUE(inputs->sourceField()->isVisible());
    EXPECT_FALSE(inputs->targetField()->isVisible());
    inputs->sourceField()->setFocus();
    inputs->sourceField()->selectAll();
    QTest::keyClicks(inputs->sourceField(), "3 1 2\r");
    ASSERT_TRUE(waitUntil([&] { return o.result().sample.source.size() == 3; }));
    EXPECT_EQ(o.page.inspector()->mapPane()->map()->values().rows, 3);
    EXPECT_EQ(o.page.inspector()->sourcePane()->objects()->tiles()->columns(), 3);
    QTest::keyClicks(inputs->sourceField(), " 99999999\r");
    EXPECT_TRUE(inputs->problem().startsWith("99999999 is not a token"));
    EXPECT_EQ(o.result().sample.source.size(), 3);
    EXPECT_FALSE(child<QPushButton>(o.page.head(), "Evaluate")->isEnabled())
        << "no text can be read for it";
    EXPECT_TRUE(child<QPushButton>(o.page.head(), "Evaluate")->toolTip().contains("tokenizer"))
        << child<QPushButton>(o.page.head(), "Evaluate")->toolTip().toStdString();
}

TEST(CheckpointPage, LooksInsideEncoderAndDecoder) {
    Opened o;
    o.open(golden(QStringLiteral("seq2seq_dat_math")));
    o.inspect();
    auto* inspector = o.page.inspector();
    int cross = -1;
    for (int k = 0; k < inspector->smallMaps()->layers()->layers(); ++k)
        if (inspector->smallMaps()->layers()->nameOf(k).endsWith("cross")) cross = k;
    ASSERT_GE(cross, 0);
    InspectorView view = inspector->view();
    view.layer = cross;
    inspector->setView(view);
    const auto& values = inspector->mapPane()->map()->values();
    EXPECT_EQ(values.rows, o.result().sample.target.size());
    EXPECT_EQ(values.columns, o.result().sample.source.size());
    EXPECT_EQ(inspector->sourcePane()->objects()->tiles()->rows(), values.rows);
    EXPECT_EQ(inspector->sourcePane()->objects()->tiles()->columns(), values.columns);
    EXPECT_TRUE(inspector->choice().footer().contains("cross"))
        << inspector->choice().footer().toStdString();
}

TEST(CheckpointPage, LooksInsideSelectionsAndSets) {
    Opened o;
    o.open(golden(QStringLiteral("relational_games_predinet")));
    o.inspect();
    EXPECT_EQ(o.page.inspector()->sourcePane()->objects()->tiles()->rows(), 2);
    EXPECT_TRUE(o.page.inspector()->choice().footer().contains("E1"))
        << o.page.inspector()->choice().footer().toStdString();
    o.open(golden(QStringLiteral("relational_games_corelnet")));
    EXPECT_EQ(o.page.inspector()->result(), nullptr) << "another model waits to be loaded";
    o.inspect();
    EXPECT_TRUE(o.page.inspector()->choice().footer().contains("relation 1"));
}

TEST(CheckpointPage, ProblemsKeepItFromLoadingAndNoOtherModelStays) {
    Opened o;
    o.open(golden(kVision));
    o.inspect();
    const QString folder = o.copied(QStringLiteral("vit_relational_games"));
    o.edit(folder + "/config.json", "\"n_layers\": 2", "\"n_layers\": 3");
    o.open(folder);
    EXPECT_FALSE(o.page.problems()->isHidden());
    EXPECT_GT(o.page.problems()->list()->count(), 2);
    EXPECT_TRUE(o.page.table()->marks()->text().contains(" missing"));
    EXPECT_FALSE(child<QPushButton>(o.page.head(), "Inspect")->isEnabled());
    EXPECT_TRUE(child<QPushButton>(o.page.head(), "Inspect")->toolTip().contains("problems"));
    EXPECT_EQ(o.page.inspector()->result(), nullptr) << "these maps were of another model";
}

TEST(CheckpointPage, AFileThatIsNoneChangesNothingButTheError) {
    Opened o;
    o.open(golden(kVision));
    const QString bad = o.folder.filePath("notes.safetensors");
    QFile file(bad);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("not a checkpoint at all");
    file.close();
    o.drop(bad);
    ASSERT_TRUE(waitUntil([&] { return o.page.errorSentence().contains("notes.safetensors"); }));
    EXPECT_EQ(o.page.title(), kVision);
    EXPECT_TRUE(child<QPushButton>(o.page.head(), "Inspect")->isEnabled());
    o.drop(golden(QStringLiteral("vit_relational_games")) + "/config.json");
    ASSERT_TRUE(waitUntil([&] { return o.page.title() == "vit_relational_games"; }))
        << "config.json stands for its folder";
    EXPECT_EQ(o.page.errorSentence(), "");
}

TEST(CheckpointPage, FindsNaN) {
    Opened o;
    const QString folder = o.copied(kVision);
    QFile file(folder + "/model.safetensors");
    ASSERT_TRUE(file.open(QIODevice::ReadWrite));
    file.seek(file.size() - 4);
    file.write("\x00\x00\xc0\x7f", 4);  // the last number of the last tensor
    file.close();
    o.open(folder);
    EXPECT_TRUE(o.page.table()->marks()->text().endsWith("1 with NaN"));
    ASSERT_EQ(o.page.problems()->list()->count(), 1);
    EXPECT_TRUE(o.page.problems()->list()->item(0)->text().contains("not finite"));
    EXPECT_TRUE(child<QPushButton>(o.page.head(), "Inspect")->isEnabled())
        << "a warning, not a reason to refuse";
    o.page.problems()->list()->setCurrentRow(0);
    ASSERT_FALSE(o.page.table()->chosen().isEmpty());
    EXPECT_EQ(o.page.details()->histogram()->statistics()->notFinite, 1);
}

TEST(CheckpointPage, MeasuresAnImageModel) {
    Opened o;
    o.open(golden(kVision));
    o.page.askEvaluation = [] {
        EvaluateDialog dialog;
        dialog.splitBox()->setCurrentText("hexos");
        dialog.countBox()->setValue(24);
        return std::optional(dialog.question());
    };
    QSignalSpy evaluated(&o.controller, &CheckpointController::evaluated);
    QTest::mouseClick(child<QPushButton>(o.page.head(), "Evaluate"), Qt::LeftButton);
    ASSERT_TRUE(waitUntil([&] { return evaluated.size() == 1; }, 60000))
        << o.page.errorSentence().toStdString();
    const QString csv = child<widgets::StatisticsView>(o.page.details())->csv();
    EXPECT_TRUE(csv.contains("24")) << csv.toStdString();
    EXPECT_TRUE(csv.contains("Accuracy, class 1"));
    EXPECT_TRUE(child<widgets::StatisticsView>(o.page.details())->isVisible());
    EXPECT_TRUE(child<widgets::SegmentedControl>(o.page.details(), "Panel below the tensors")
                    ->isItemEnabled(3));
}

TEST(CheckpointPage, EvaluatesFilesThatAreChosen) {
    EvaluateDialog dialog;
    dialog.show();
    dialog.askFile = [] { return QStringLiteral("some/own.npz"); };
    QComboBox* data = child<QComboBox>(dialog, "Data");
    data->setFocus();
    QTest::keyClick(data, Qt::Key_End);
    EXPECT_EQ(dialog.question().first.text("data"), "some/own.npz");
    EXPECT_FALSE(dialog.countBox()->isEnabled());
    QTest::keyClick(data, Qt::Key_Home);
    const auto generated = dialog.question().first;
    EXPECT_FALSE(generated.option("data"));
    EXPECT_EQ(generated.data->options.task, "same");
    EXPECT_EQ(generated.text("split"), "pentos") << "what training has not seen";
    EXPECT_EQ(generated.data->options.test_size, 2000);
    EXPECT_EQ(generated.data->options.train_size, 2);
}

TEST(CheckpointPage, WritesOtherFormsThatOpenAgain) {
    Opened o;
    o.open(golden(kVision));
    const auto tensors = o.page.table()->model()->tensors().size();
    for (const char* name : {"out.pt", "out.safetensors"}) {
        const QString path = o.folder.filePath(QString::fromLatin1(name));
        o.page.askConvert = [path](const QString&) { return path; };
        QSignalSpy converted(&o.controller, &CheckpointController::converted);
        for (QAction* action : o.page.head()->menu()->actions())
            if (action->text().startsWith("Convert")) action->trigger();
        ASSERT_TRUE(waitUntil([&] { return converted.size() == 1; }))
            << o.page.errorSentence().toStdString();
        Opened again;
        again.open(path);
        EXPECT_EQ(again.page.table()->model()->tensors().size(), tensors);
    }
}

TEST(CheckpointPage, OpensAModelWithAnAdapter) {
    Opened o;
    qputenv("XDG_CACHE_HOME", o.folder.path().toUtf8());
    o.open(golden("public/gpt2_tied"));
    const auto choose = [&](const QString& adapter) {
        o.page.askAdapter = [adapter] { return adapter; };
        for (QAction* action : o.page.head()->menu()->actions())
            if (action->text().startsWith("Open with adapter")) action->trigger();
    };
    choose(golden("public"));
    EXPECT_TRUE(o.page.errorSentence().contains("is no adapter"));
    QSignalSpy opened(&o.controller, &CheckpointController::opened);
    choose(QStringLiteral(RELASCOPE_FIXTURES "/training-checkpoints/adapter-gpt2"));
    ASSERT_TRUE(waitUntil([&] { return opened.size() == 1; }));
    qunsetenv("XDG_CACHE_HOME");
    EXPECT_EQ(o.page.title(), "gpt2_tied + adapter-gpt2");
    EXPECT_TRUE(o.controller.loadDisabledReason().isEmpty());
    EXPECT_EQ(o.controller.info()->form, "safetensors with a LoRA adapter");
}

TEST(CheckpointPage, LoadingCanBeCancelled) {
    Opened o;
    o.open(golden(kVision));
    auto* strip = o.page.inspectorStrip();
    QTest::mouseClick(child<QPushButton>(o.page.head(), "Inspect"), Qt::LeftButton);
    ASSERT_TRUE(strip->busy());
    QTest::mouseClick(strip->cancelButton(), Qt::LeftButton);
    o.controller.feed().task().abandon();
    EXPECT_FALSE(strip->busy());
    EXPECT_FALSE(o.controller.loaded());
    EXPECT_TRUE(child<QPushButton>(o.page.head(), "Inspect")->isEnabled());
    o.inspect();
}

TEST(CheckpointPage, WhatIsGoneLeavesTheRecentList) {
    Opened o;
    const QString folder = o.copied(QStringLiteral("vit_relational_games"));
    o.controller.recent().set({{folder, "1 MiB", false}, {"/nowhere/at/all", "2 MiB", false}});
    ASSERT_TRUE(waitUntil([&] { return o.controller.recent().list()[1].missing; }));
    EXPECT_FALSE(o.controller.recent().list()[0].missing);
    o.controller.recent().choose("/nowhere/at/all");
    EXPECT_TRUE(waitUntil([&] { return o.page.errorSentence().contains("not found"); }));
    EXPECT_EQ(o.controller.recent().list().size(), 1U);
    o.controller.recent().choose(folder);
    EXPECT_TRUE(waitUntil([&] { return o.page.title() == "vit_relational_games"; }));
}

TEST(CheckpointPage, GeneratesFromTypedIdsWithoutATokenizer) {
    Opened o;
    o.open(golden(QStringLiteral("public/mistral_window")));
    o.inspect();
    auto* panel = o.page.text()->panel();
    EXPECT_EQ(o.controller.generateDisabledReason(), QString());
    EXPECT_TRUE(o.controller.evaluateDisabledReason().contains("choose a tokenizer.json"));
    EXPECT_EQ(panel->prompt(), "1 2 3");
    const auto generate = [&] {
        QTest::mouseClick(panel->button(), Qt::LeftButton);
        return waitUntil([&] { return !panel->running(); }, 60000);
    };
    ASSERT_TRUE(generate());
    EXPECT_EQ(panel->text()->promptSize(), 3);
    EXPECT_GT(panel->text()->size(), 3);
    EXPECT_TRUE(panel->text()->text().startsWith("[1][2][3]["))
        << panel->text()->text().toStdString();
    // The maps are those of the ids.
    ASSERT_TRUE(waitUntil([&] { return o.result().sample.source.tokens.size() > 3; }));
    panel->setPrompt(QStringLiteral("a text"));
    ASSERT_TRUE(generate());
    EXPECT_TRUE(panel->status().contains("type token ids from 0 to"))
        << panel->status().toStdString();
}

TEST_F(WindowTest, ACheckpointHasItsPageItsRailAndItsKeys) {
    window->opener().openCheckpoint(golden(kVision));
    ASSERT_TRUE(waitUntil([this] { return c().checkpoint.info().has_value(); }));
    EXPECT_EQ(window->currentPage(), PageId::Checkpoint);
    ASSERT_EQ(window->sidebar()->checkpoints()->count(), 1);
    EXPECT_EQ(window->sidebar()->checkpoints()->item(0)->text(), kVision);
    EXPECT_NE(window->activeInspector(), window->workbench()->inspector());
    c().checkpoint.load();
    ASSERT_TRUE(
        waitUntil([this] { return window->activeInspector()->result() != nullptr; }, 60000));
    const int layer = window->activeInspector()->view().layer;
    window->setFocus();
    QTest::keyClick(window.get(), Qt::Key_Up);
    EXPECT_EQ(window->activeInspector()->view().layer, layer + 1);
    QTest::keyClick(window.get(), Qt::Key_3);
    EXPECT_EQ(window->activeInspector()->view().kind, MapKind::SensoryAttention);
    window->showPage(PageId::Workbench);
    EXPECT_EQ(window->activeInspector(), window->workbench()->inspector());
    auto* list = window->sidebar()->checkpoints();
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                      list->visualItemRect(list->item(0)).center());
    EXPECT_TRUE(waitUntil([this] { return window->currentPage() == PageId::Checkpoint; }));
}
