// SPDX-License-Identifier: GPL-3.0-or-later
// The page Duel: how A and B are chosen, their maps side by side, and what the analysis asks for.
#include <QComboBox>
#include <QDir>
#include <QDropEvent>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>
#include <QUrl>
#include <algorithm>
#include <filesystem>

#include "analysis/duel/duel.h"
#include "app/controllers/typed_text.h"
#include "app/edits_tab.h"
#include "app/launch.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/compare_page.h"
#include "app/pages/data_source.h"
#include "app/pages/duel_page.h"
#include "app/pages/subject_slot.h"
#include "tests/app/language_fixture.h"
#include "tests/app/window_fixture.h"
#include "tests/widgets/child.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/bar/status_strip.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/kit/table_view.h"
#include "widgets/maps/color_map.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/input_chooser.h"
#include "widgets/tables/runs_table.h"
#include "widgets/theme/controls.h"

namespace relascope {
namespace {

class DuelPageTest : public WindowTest {
protected:
    DuelPage* page() { return window->duelPage(); }
    DeclaredView* view() { return dynamic_cast<DeclaredView*>(page()->tab()->view()); }
    TableView* table() { return child<TableView>(view(), "Table of the duel"); }
    void open() { QTest::keyClick(window.get(), Qt::Key_7, Qt::ControlModifier); }
    bool shown() {
        return waitUntil([&] { return page()->inspector()->result() != nullptr; }, 60000);
    }
    /// A run as A, and its first step as B; the run.
    QString showBesideItsFirstStep() {
        const QString run = finishedRun();
        page()->setSubject(0, weightsAt(run, std::nullopt));
        page()->setSubject(1, weightsAt(run, 0));
        open();
        EXPECT_TRUE(shown());
        return run;
    }
    QString path(std::size_t side) {
        const auto& subject = page()->feeds().subject(side);
        return subject ? placeOf(*subject) : QString();
    }
};

TEST_F(DuelPageTest, IsEmptyAtFirstSaysWhatToDoAndFitsASmallScreen) {
    open();
    ASSERT_EQ(window->currentPage(), PageId::Duel);
    EXPECT_TRUE(page()->emptyState()->isVisible());
    EXPECT_FALSE(page()->inspector()->isVisible());
    window->fitTo(QSize(960, 600));
    EXPECT_EQ(window->size(), QSize(960, 600));
    EXPECT_LE(page()->minimumSizeHint().width(), 960 - 240);
    EXPECT_EQ(page()->slot(0)->text(), "Choose...");
}

TEST_F(DuelPageTest, PinAsAAndADropChooseTheTwo) {
    const QString run = finishedRun();
    ASSERT_TRUE(waitUntil([&] { return inspector()->result() != nullptr; }));
    c().selection.setStep(0);
    ASSERT_TRUE(waitUntil([&] { return inspector()->result()->step == 0; }));
    window->edits().togglePin();
    EXPECT_TRUE(inspector()->pinned());
    EXPECT_EQ(path(0), run);
    EXPECT_EQ(stepOf(*page()->feeds().subject(0)), 0);
    open();
    EXPECT_TRUE(page()->emptyState()->isVisible()) << "B is missing";
    EXPECT_TRUE(page()->emptyState()->findChild<QLabel*>()->text().contains("in the menus above"));
    QMimeData dropped;
    dropped.setUrls({QUrl::fromLocalFile(run + "/run.json")});
    QDragEnterEvent enter({400, 300}, Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(page(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop(QPointF(400, 300), Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(page(), &drop);
    EXPECT_EQ(path(1), run);
    ASSERT_TRUE(shown());
    EXPECT_FALSE(page()->emptyState()->isVisible());
    auto* both = page()->inspector();
    EXPECT_TRUE(both->pinned()) << "A is the pinned one of this page";
    EXPECT_EQ(both->choice().inspected().pinned.result->step, 0);
    EXPECT_EQ(both->result()->step, 12);
    EXPECT_TRUE(both->view().beside);
    // A, B and B - A of the same objects.
    const auto &a = both->mapPane()->other()->values(), &b = both->mapPane()->map()->values(),
               &change = both->mapPane()->change()->values();
    ASSERT_FALSE(a.empty());
    ASSERT_EQ(a.values.size(), b.values.size());
    ASSERT_EQ(change.values.size(), b.values.size());
    EXPECT_NE(a.values, b.values);
    for (std::size_t k = 0; k < a.values.size(); ++k)
        EXPECT_EQ(change.values[k], b.values[k] - a.values[k]);
    EXPECT_TRUE(both->mapPane()->change()->isVisible());
    // The steps of B are offered.
    auto* steps = page()->slot(1)->steps();
    EXPECT_EQ(steps->currentText(), "newest");
    EXPECT_GT(steps->count(), 2);
    // Keys go to the inspector of the page.
    const int layer = both->view().layer;
    both->setFocus();
    QTest::keyClick(window.get(), Qt::Key_Up);
    EXPECT_EQ(both->view().layer, layer + 1);
}

TEST_F(DuelPageTest, WhatIsSaidNamesTheSide) {
    const QString run = finishedRun();
    QStringList tasks;
    for (const std::size_t side : {0, 1})
        QObject::connect(&page()->feeds().task(side), &LongTask::began, page(),
                         [&tasks](const QString& text) { tasks << text; });
    EditList edits;
    edits.edits.emplace_back();
    edits.edits.back().point = "blocks.0.hook_attn_out";
    window->showDuel({run, run});
    page()->setSubject(0, weightsAt(run, std::nullopt, edits));
    ASSERT_TRUE(shown());
    EXPECT_TRUE(tasks.contains("Computing the maps of A") &&
                tasks.contains("Computing the maps of B"))
        << tasks.join(", ").toStdString();
    const auto labels = page()->findChildren<QLabel*>();
    EXPECT_TRUE(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
        return label->isVisible() && label->text() == "With the edits of A";
    }));
}

TEST_F(DuelPageTest, KeysPinAndEditNothingThatIsNotSeen) {
    const QString run = finishedRun();
    ASSERT_TRUE(waitUntil([&] { return inspector()->result() != nullptr; }));
    window->showDuel({run, run});
    ASSERT_TRUE(shown());
    page()->inspector()->setFocus();
    QTest::keyClick(window.get(), Qt::Key_P, Qt::ShiftModifier);
    QTest::keyClick(window.get(), Qt::Key_X);
    EXPECT_TRUE(window->status()->message().startsWith("Pin and edit on the Workbench"));
    QTest::keyClick(window.get(), Qt::Key_B);
    EXPECT_EQ(page()->inspector()->view().shown, Shown::Before) << "keys of maps are in force";
    EXPECT_FALSE(inspector()->pinned());
    EXPECT_TRUE(c().runEdits.list().edits.empty());
    EXPECT_EQ(path(0), run);
    window->showPage(PageId::Workbench);
    inspector()->setFocus();
    QTest::keyClick(window.get(), Qt::Key_P, Qt::ShiftModifier);
    EXPECT_TRUE(inspector()->pinned());
}

TEST_F(DuelPageTest, TheThreeMapsStayReadable) {
    const QString run = finishedRun();
    window->showDuel({run, run});
    ASSERT_TRUE(shown());
    auto* pane = page()->inspector()->mapPane();
    const auto readable = [&] {
        QTest::qWait(1);
        for (const MapView* map : {pane->other(), pane->map(), pane->change()})
            if (map->width() < 135 || map->height() < 150) return false;
        return true;
    };
    for (const QSize& size : {QSize(1200, 900), QSize(1440, 900), QSize(960, 600)})
        for (int all = 0; all < 2; ++all) {
            window->resize(size);
            EXPECT_TRUE(readable())
                << size.width() << ": " << pane->map()->width() << " x " << pane->map()->height();
            page()->inspector()->toggleAllLayers();
        }
}

TEST_F(DuelPageTest, TheSameStepTwiceDiffersNowhere) {
    const QString run = finishedRun();
    window->showDuel({run, run});
    EXPECT_EQ(window->currentPage(), PageId::Duel);
    ASSERT_TRUE(shown());
    EXPECT_FALSE(page()->inspector()->sourcePane()->samples()->filterButton()->isVisible())
        << "it would do nothing";
    const auto& change = page()->inspector()->mapPane()->change()->values().values;
    ASSERT_FALSE(change.empty());
    for (const float value : change) EXPECT_EQ(value, 0.0F);
    auto view = page()->inspector()->view();
    view.shown = Shown::Difference;
    page()->inspector()->setView(view);
    EXPECT_EQ(page()->inspector()->mapPane()->findChild<ColorBar*>()->caption(), "change of r_ij")
        << "of two models, not by edits";
}

TEST_F(DuelPageTest, TheAnalysisIsOfBothAndAnAnswerShowsItsExample) {
    const QString run = showBesideItsFirstStep();
    auto* tab = page()->tab();
    auto values = tab->values();
    values["examples"] = std::int64_t{24}, values["untrained"] = std::int64_t{1};
    tab->setValues(values);
    ASSERT_TRUE(waitUntil([&] { return tab->runButton()->isEnabled(); }));
    click(tab->runButton());
    ASSERT_TRUE(waitUntil(
        [&] { return !view()->isEmpty() && core::duelOf(view()->answer()).complete; }, 60000))
        << view()->sentence().toStdString();
    EXPECT_EQ(core::duelOf(view()->answer()).examples, 24);
    EXPECT_TRUE(core::duelOf(view()->answer()).b.name.ends_with(", step 0"));
    EXPECT_EQ(child<QListWidget>(view(), "What the duel shows")->count(), 1)
        << "24 images are too few for more";
    ASSERT_FALSE(core::duelOf(view()->answer()).differences.empty());
    auto* table = this->table();
    ASSERT_EQ(table->model()->rowCount(),
              static_cast<int>(core::duelOf(view()->answer()).differences.size()));
    table->setCurrentIndex(table->model()->index(0, 0));
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Return);
    const auto example = core::duelOf(view()->answer()).differences.front().example;
    EXPECT_EQ(page()->feeds().example(), example);
    EXPECT_TRUE(waitUntil([&] {
        return page()->inspector()->result()->sample.origin.ends_with(" " +
                                                                      std::to_string(example));
    }));
    // A map of both, of another layer in A.
    auto crossed = core::duelOf(view()->answer());
    crossed.partners = {crossed.partners.at(0),
                        {"layer 2 relation 1", "layer 1 relation 1", false, -0.5, 1, 0, 0, 0}};
    view()->showResult(core::answerOf(crossed));
    child<SegmentedControl>(view(), "Table")->button(2)->click();
    ASSERT_EQ(table->model()->rowCount(),
              static_cast<int>(core::duelOf(view()->answer()).partners.size()));
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                      table->visualRect(table->model()->index(1, 0)).center());
    const auto partner = core::duelOf(view()->answer()).partners.at(1);
    auto* both = page()->inspector();
    EXPECT_EQ(both->view().layer, partner.layerB);
    EXPECT_EQ(both->view().index, partner.indexB);
    // Beside it stands the map of A that it is matched with, whatever its number is.
    const auto kind = both->view().kind;
    const auto shownOfA = both->choice().otherView();
    EXPECT_EQ(shownOfA.layer, partner.layerA);
    EXPECT_EQ(shownOfA.index, partner.indexA);
    EXPECT_TRUE(both->choice().apartNote().contains("correlation"));
    const auto mapOfA = [&](std::int64_t layer, std::int64_t index) {
        return page()
            ->feeds()
            .answer(0)
            ->find(kind, static_cast<int>(layer), static_cast<int>(index))
            ->all();
    };
    EXPECT_EQ(both->mapPane()->other()->values().values, mapOfA(partner.layerA, partner.indexA));
    EXPECT_NE(mapOfA(partner.layerA, partner.indexA), mapOfA(partner.layerB, partner.indexB));
    // Any other map is that of the same number.
    both->stepLayer(both->view().layer == 0 ? 1 : -1);
    EXPECT_FALSE(both->choice().apart());
}

TEST_F(DuelPageTest, TabWalksFromTheLeftAndReachesMeasureAndItsOptions) {
    const QString run = finishedRun();
    window->showDuel({run, run});
    ASSERT_TRUE(shown());
    auto* pane = page()->inspector()->mapPane();
    auto* options = page()->tab()->foldButton();
    auto* split = page()->tab()->findChild<QComboBox*>();
    EXPECT_FALSE(split->isVisible());
    click(options);
    EXPECT_TRUE(split->isVisible());
    std::vector<QWidget*> walked;
    page()->slot(0)->steps()->setFocus();
    do {
        QTest::keyClick(window.get(), Qt::Key_Tab);
        walked.push_back(QApplication::focusWidget());
    } while (walked.size() < 80 && walked.back() != page()->slot(0)->steps());
    const auto place = [&](const QWidget* of) {
        return std::find(walked.begin(), walked.end(), of) - walked.begin();
    };
    const auto boxes = page()->tab()->findChildren<QAbstractSpinBox*>();
    const auto last = std::find_if(boxes.begin(), boxes.end(), [](const QAbstractSpinBox* box) {
        return box->accessibleName() == "Differences";
    });
    ASSERT_NE(last, boxes.end());
    const std::vector<const QWidget*> wanted = {page()->linked(),
                                                page()->slot(1)->steps(),
                                                pane->other(),
                                                pane->map(),
                                                pane->change(),
                                                page()->tab()->runButton(),
                                                options,
                                                split,
                                                *last};
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        ASSERT_TRUE(wanted[k]) << k;
        ASSERT_LT(place(wanted[k]), static_cast<std::ptrdiff_t>(walked.size())) << k;
        if (k > 0) {
            EXPECT_LT(place(wanted[k - 1]), place(wanted[k])) << k;
        }
    }
    EXPECT_EQ(place(page()->linked()), 0);
}

TEST_F(DuelPageTest, TheFocusComesBackToMeasure) {
    showBesideItsFirstStep();
    auto* tab = page()->tab();
    auto values = tab->values();
    values["examples"] = std::int64_t{24}, values["untrained"] = std::int64_t{0};
    tab->setValues(values);
    ASSERT_TRUE(waitUntil([&] { return tab->runButton()->isEnabled(); }));
    tab->runButton()->setFocus(Qt::TabFocusReason);
    QTest::keyClick(tab->runButton(), Qt::Key_Space);
    EXPECT_FALSE(tab->runButton()->hasFocus());
    ASSERT_TRUE(waitUntil([&] { return tab->runButton()->isEnabled(); }, 60000));
    EXPECT_TRUE(tab->runButton()->hasFocus());
    // Of what takes longer Cancel has it meanwhile, and after that Continue.
    values["untrained"] = std::int64_t{64};
    tab->setValues(values);
    auto* cancel = tab->strip()->cancelButton();
    QTest::keyClick(tab->runButton(), Qt::Key_Space);
    ASSERT_TRUE(waitUntil([&] { return cancel->hasFocus(); }));
    ASSERT_TRUE(waitUntil([&] { return table()->model()->rowCount() > 1; }, 60000));
    table()->setCurrentIndex(table()->model()->index(1, 0));
    const auto pairs = core::duelOf(view()->answer()).untrained;
    ASSERT_TRUE(waitUntil([&] { return core::duelOf(view()->answer()).untrained > pairs; }, 60000));
    EXPECT_EQ(table()->currentIndex().row(), 1) << "a result that grows keeps the row";
    QTest::keyClick(cancel, Qt::Key_Space);
    EXPECT_TRUE(tab->runButton()->hasFocus());
    EXPECT_EQ(tab->runButton()->text(), "Continue");
    // What the user chose meanwhile keeps it.
    values["untrained"] = std::int64_t{0};
    tab->setValues(values);
    QTest::keyClick(tab->runButton(), Qt::Key_Space);
    page()->linked()->setFocus(Qt::TabFocusReason);
    ASSERT_TRUE(waitUntil([&] { return tab->runButton()->isEnabled(); }, 60000));
    EXPECT_TRUE(page()->linked()->hasFocus());
}

TEST_F(DuelPageTest, BothReadTheSameWhateverIsChangedMeanwhile) {
    const QString first = finishedRun(4), second = finishedRun(5);
    const auto both = [&] { return page()->inspector()->choice().inspected(); };
    int apart = 0;
    QObject::connect(&page()->feeds(), &DuelFeeds::answered, page(), [&](const Inspected& shown) {
        apart += shown.result->sample == shown.pinned.result->sample ? 0 : 1;
    });
    window->showDuel({first, second});
    ASSERT_TRUE(shown());
    // Other data while both compute: nothing of the earlier is kept.
    page()->feeds().chooseExample("validation", 3);
    page()->setSubject(0, weightsAt(second, std::nullopt));
    EXPECT_FALSE(page()->feeds().answer(0));
    EXPECT_FALSE(page()->feeds().answer(1));
    EXPECT_FALSE(page()->feeds().task(1).busy()) << "its answer is of other data";
    ASSERT_TRUE(
        waitUntil([&] { return page()->feeds().answer(0) && page()->feeds().answer(1); }, 60000));
    EXPECT_EQ(page()->feeds().answer(0)->sample, page()->feeds().answer(1)->sample);
    // Choosing again what was cancelled tries again.
    page()->feeds().chooseExample("validation", 4);
    page()->feeds().task(1).abandon();
    ASSERT_TRUE(waitUntil([&] { return page()->feeds().answer(0) != nullptr; }, 60000));
    EXPECT_FALSE(page()->feeds().answer(1));
    page()->setSubject(1, page()->feeds().subject(1));
    ASSERT_TRUE(waitUntil([&] { return page()->feeds().answer(1) != nullptr; }, 60000));
    EXPECT_EQ(both().result->sample, both().pinned.result->sample);
    EXPECT_EQ(apart, 0);
    // The menu has an entry for that, also for what has answered.
    const auto again = [&] {
        Q_EMIT page()->slot(1)->menu()->aboutToShow();
        for (auto* action : page()->slot(1)->menu()->actions())
            if (action->text() == "Read it again") action->trigger();
    };
    page()->feeds().chooseExample("validation", 5);
    page()->feeds().task(1).abandon();
    again();
    ASSERT_TRUE(waitUntil([&] { return page()->feeds().answer(1) != nullptr; }, 60000));
    // Weights that were written meanwhile are read.
    const auto newest = (second + "/checkpoints/step-").toStdString();
    const auto step = page()->feeds().answer(1)->step;
    std::filesystem::copy(newest + std::to_string(step), newest + std::to_string(step + 1),
                          std::filesystem::copy_options::recursive);
    again();
    EXPECT_FALSE(page()->feeds().answer(1));
    ASSERT_TRUE(waitUntil([&] { return page()->feeds().answer(1) != nullptr; }, 60000));
    EXPECT_EQ(page()->feeds().answer(1)->step, step + 1);
}

TEST_F(DuelPageTest, ARefusedEditIsReadBesideTheMaps) {
    const QString run = finishedRun();
    EditList wrong;
    wrong.edits.emplace_back();
    wrong.edits.back().point = "blocks.9.rel.hook_r";
    page()->setSubject(0, weightsAt(run, std::nullopt));
    page()->setSubject(1, weightsAt(run, std::nullopt, wrong));
    open();
    ASSERT_TRUE(shown());
    EXPECT_TRUE(page()->feeds().problems().startsWith("B: "))
        << page()->feeds().problems().toStdString();
    page()->setSubject(1, weightsAt(run, std::nullopt));
    ASSERT_TRUE(waitUntil([&] { return page()->feeds().answer(1) != nullptr; }));
    EXPECT_EQ(page()->feeds().problems(), "");
}

TEST_F(DuelPageTest, ASideThatCannotBeOpenedIsNamedAndTriedAgain) {
    const QString run = finishedRun();
    const QString checkpoint = run + "/checkpoints/step-12",
                  file = checkpoint + "/model.safetensors";
    page()->setSubject(0, weightsAt(run, std::nullopt));
    page()->setSubject(1, weightsAt(run, 0));
    open();
    ASSERT_TRUE(shown());
    auto* map = page()->inspector()->mapPane()->map();
    EXPECT_FALSE(map->outdated());
    ASSERT_TRUE(QFile::rename(file, file + ".away"));
    page()->setSubject(1, weightsAt(checkpoint, std::nullopt));
    EXPECT_EQ(page()->inspector()->result(), nullptr) << "it was of another B";
    ASSERT_TRUE(waitUntil([&] { return page()->againButton()->isVisible(); }));
    EXPECT_TRUE(page()->error()->sentence().startsWith("B: "))
        << page()->error()->sentence().toStdString();
    EXPECT_EQ(page()->inspector()->result(), nullptr);
    EXPECT_TRUE(page()->feeds().answer(0)) << "A has answered";
    ASSERT_TRUE(QFile::rename(file + ".away", file));
    click(page()->againButton());
    ASSERT_TRUE(waitUntil([&] { return page()->feeds().answer(1) != nullptr; }, 60000));
    EXPECT_EQ(page()->error()->sentence(), "");
    EXPECT_FALSE(map->outdated());
}

TEST_F(DuelPageTest, UnlinkedTheMapOfAStays) {
    const QString run = finishedRun();
    window->showDuel({run, run});
    ASSERT_TRUE(shown());
    // On a small screen the page scrolls, and the maps keep their size; arrows are no scrolling.
    window->fitTo(QSize(960, 600));
    QTest::qWait(1);
    EXPECT_GE(page()->inspector()->mapPane()->map()->height(), 100);
    EXPECT_GE(page()->inspector()->mapPane()->width(), 360);
    auto* map = page()->inspector()->mapPane()->map();
    map->setFocus();
    const int before = map->mapTo(page(), QPoint()).y();
    QTest::keyClick(map, Qt::Key_PageDown);
    EXPECT_EQ(map->mapTo(page(), QPoint()).y(), before);
    auto* both = page()->inspector();
    const int layer = both->choice().otherView().layer;
    page()->linked()->click();
    both->stepLayer(layer == 0 ? 1 : -1);
    EXPECT_NE(both->view().layer, layer);
    EXPECT_EQ(both->choice().otherView().layer, layer);
    page()->linked()->click();
    EXPECT_EQ(both->choice().otherView().layer, both->view().layer);
}

TEST_F(DuelPageTest, CheckpointsReadWhatAIsStoredWithOrAPicture) {
    const auto golden = [](const char* name) {
        return QStringLiteral(RELASCOPE_FIXTURES "/golden/") + QLatin1String(name);
    };
    window->showDuel({golden("vidat_relational_games_mixed"), golden("vit_relational_games")});
    ASSERT_TRUE(shown());
    auto* inputs = page()->inspector()->sourcePane()->inputs();
    EXPECT_TRUE(inputs->isVisible());
    EXPECT_EQ(page()->feeds().answer(0)->sample.image, page()->feeds().answer(1)->sample.image);
    EXPECT_FALSE(page()->tab()->runButton()->isEnabled()) << "there are no data";
    // A random input is drawn by A's model and read by both.
    const auto first = page()->feeds().answer(1);
    const auto same =
        QObject::connect(&page()->feeds(), &DuelFeeds::answered, page(), [](const Inspected& both) {
            EXPECT_EQ(both.result->sample.image, both.pinned.result->sample.image);
        });
    Q_EMIT inputs->chosen({{"random", std::int64_t{6}}});
    // Again while B may still read the sample before.
    ASSERT_TRUE(waitUntil([&] { return page()->feeds().answer(0) != nullptr; }));
    Q_EMIT inputs->chosen({{"random", std::int64_t{7}}});
    EXPECT_FALSE(page()->feeds().task(1).busy()) << "A has not answered yet";
    ASSERT_TRUE(waitUntil([&] {
        const auto& now = page()->feeds().answer(1);
        return now && now != first;
    }));
    EXPECT_EQ(page()->feeds().answer(0)->sample.image, page()->feeds().answer(1)->sample.image);
    EXPECT_NE(page()->feeds().answer(1)->sample.image, first->sample.image);
    QObject::disconnect(same);
    QImage picture(36, 36, QImage::Format_RGB32);
    picture.fill(Qt::red);
    const QString file = folder.filePath("red.png");
    ASSERT_TRUE(picture.save(file));
    page()->take(file);
    ASSERT_TRUE(waitUntil([&] {
        const auto* result = page()->inspector()->result();
        return result && QString::fromStdString(result->sample.origin).contains("red.png");
    }));
    // Of another checkpoint as A both read the input anew.
    page()->setSubject(0, weightsAt(golden("vit_relational_games"), std::nullopt));
    EXPECT_FALSE(page()->feeds().answer(1));
    ASSERT_TRUE(waitUntil([&] { return page()->feeds().answer(0) && page()->feeds().answer(1); }));
    EXPECT_EQ(page()->feeds().answer(0)->sample.image, page()->feeds().answer(1)->sample.image);
    page()->setSubject(0, weightsAt(golden("vidat_relational_games_mixed"), std::nullopt));
    // With a run as B its data are read by both, and measured on.
    page()->setSubject(1, weightsAt(finishedRun(), std::nullopt));
    ASSERT_TRUE(waitUntil([&] { return page()->feeds().data() != nullptr; }));
    EXPECT_TRUE(waitUntil([&] { return page()->tab()->runButton()->isEnabled(); }));
}

TEST(NextTokens, AreTheLikeliestOfBoth) {
    ProbeResult a, b;
    a.sample.source.text = b.sample.source.text = true;
    a.classNames = {"p", "q", "r", "s"}, a.probabilities = {0.5F, 0.25F, 0.125F, 0.0625F};
    b.classNames = {"v", "w", "p", "x", "y", "z", "u"};
    b.probabilities = {0.3F, 0.2F, 0.1F, 0.09F, 0.08F, 0.07F, 0.06F};
    const auto pieces = [](const std::vector<TokenChoice>& choices) {
        std::string all;
        for (const auto& choice : choices) all += choice.piece;
        return all;
    };
    EXPECT_EQ(pieces(nextTokens(b, nullptr)), "vwpxyz");
    const auto both = nextTokens(b, &a);
    EXPECT_EQ(pieces(both), "pvqwrx");
    EXPECT_FLOAT_EQ(static_cast<float>(both[0].probability), 0.1F);
    EXPECT_EQ(nextTokensBefore(both, &a),
              (std::vector<float>{0.5F, 0.0F, 0.25F, 0.0F, 0.125F, 0.0F}));
    EXPECT_TRUE(nextTokensBefore(both, nullptr).empty());
}

class TextDuelPage : public LanguageTest {
protected:
    DuelPage* page() { return window->duelPage(); }
    /// A run of the letters of the text, or of GPT-2's tokens.
    QString run(bool letters) {
        chooseText(5);
        c().experiment.set("data.tokenizer", std::string(letters ? "characters" : "gpt2"));
        if (!letters) c().experiment.set("model.vocab_size", std::int64_t{50257});
        EXPECT_EQ(c().experiment.disabledReason(), "");
        return trained();
    }
    bool bothShow(const std::string& text) {
        return waitUntil(
            [&] {
                std::string a;
                if (const auto& result = page()->feeds().answer(0))
                    for (const auto& piece : result->sample.source.labels) a += piece;
                return a == text && shown(page()->inspector()) == text;
            },
            60000);
    }
};

TEST_F(TextDuelPage, TextsInOtherTokensAndTypedOnesAreReadByBoth) {
    const QString words = run(false), letters = run(true);
    window->showDuel({letters, words});
    auto* both = page()->inspector();
    ASSERT_TRUE(waitUntil([&] { return both->result() != nullptr; }, 60000));
    // The example is one of the letters of A; B reads the same characters in its own tokens.
    const auto &a = page()->feeds().answer(0), &b = page()->feeds().answer(1);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->sample.source.size(), kContext);
    EXPECT_LT(b->sample.source.size(), kContext);
    const std::string text = shown(both);
    ASSERT_TRUE(bothShow(text));
    EXPECT_FALSE(both->choice().sameTokens());
    EXPECT_FALSE(both->mapPane()->change()->isVisible());
    EXPECT_EQ(both->mapPane()->other()->values().rows, kContext);
    EXPECT_TRUE(both->sourcePane()->outcome()->isVisible()) << "the likeliest next tokens of both";
    // A text of the user.
    window->showPage(PageId::Duel);
    type(both->sourcePane(), "the dog saw");
    ASSERT_TRUE(bothShow("the dog saw"));
    EXPECT_EQ(page()->feeds().answer(1)->sample.source.size(), 3);
    EXPECT_EQ(page()->feeds().answer(0)->sample.source.size(), 11);
    // And an example again.
    both->sourcePane()->samples()->request();
    ASSERT_TRUE(bothShow(text));
    // Two checkpoints of language models begin with a text.
    const auto checkpoint = [](const QString& run) {
        return run + "/checkpoints/" +
               QDir(run + "/checkpoints").entryList({"step-*"}, QDir::Dirs).value(0);
    };
    window->showDuel({checkpoint(letters), checkpoint(words)});
    ASSERT_TRUE(waitUntil([&] { return page()->feeds().own() && a && b; }, 60000));
    EXPECT_TRUE(both->sourcePane()->textInput()->isVisible());
    type(both->sourcePane(), "a cat");
    ASSERT_TRUE(bothShow("a cat"));
    // A random one is drawn in the tokens of A; B reads as much of that text as it can.
    for (const bool exchanged : {false, true}) {
        if (exchanged) Q_EMIT page()->slot(0)->otherSideChosen();
        ASSERT_TRUE(waitUntil([&] { return page()->feeds().own() && b; }, 60000));
        Q_EMIT both->sourcePane()->inputs()->chosen({{"random", std::int64_t{5}}});
        ASSERT_TRUE(waitUntil([&] { return a && b; }, 60000))
            << page()->error()->sentence().toStdString();
        EXPECT_NE(a->sample.origin.find("random"), std::string::npos) << a->sample.origin;
        std::string drawn, read;
        for (const auto& piece : a->sample.source.labels) drawn += piece;
        for (const auto& piece : b->sample.source.labels) read += piece;
        EXPECT_FALSE(read.empty());
        // Letters are tokens of GPT-2; its tokens have letters that the text has not.
        if (exchanged)
            EXPECT_EQ(b->sample.source.size(), kContext);
        else
            EXPECT_EQ(drawn, read);
    }
    Q_EMIT page()->slot(0)->otherSideChosen();
    type(both->sourcePane(), "a cat");
    ASSERT_TRUE(bothShow("a cat"));
    auto* input = both->sourcePane()->textInput();
    for (int k = 0; k < 2; ++k) QTest::mouseClick(input->typeButton(), Qt::LeftButton);
    EXPECT_TRUE(input->isOpen());
    EXPECT_EQ(input->text(), "a cat");
}

TEST_F(DuelPageTest, TwoRunsOfCompareAndEnter) {
    const QString first = finishedRun(4), second = finishedRun(5);
    window->showPage(PageId::Compare);
    auto* compare = qobject_cast<ComparePage*>(window->page(PageId::Compare));
    auto* table = compare->table()->view();
    ASSERT_TRUE(waitUntil([&] { return table->model()->rowCount() == 2; }));
    table->setCurrentIndex(table->model()->index(0, 1));
    table->selectAll();
    ASSERT_EQ(compare->table()->selected().size(), 2);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Return);
    EXPECT_EQ(window->currentPage(), PageId::Duel);
    EXPECT_NE(path(0), path(1));
    EXPECT_TRUE((QStringList{first, second}.contains(path(0))));
    EXPECT_TRUE((QStringList{first, second}.contains(path(1))));
    // PermutationWeights.
    const QString before = path(0);
    Q_EMIT page()->slot(0)->otherSideChosen();
    EXPECT_EQ(path(1), before);
}

TEST(DuelLaunch, TwoPathsOpenThePageAndOptionsOfTheCommandDoNot) {
    int exit = -1;
    const auto launch = parseLaunch({"relascope", "duel", "/", "/tmp"}, &exit);
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->duel, (QStringList{"/", "/tmp"}));
    EXPECT_FALSE(launch->shares);
    EXPECT_FALSE(parseLaunch({"relascope", "duel", "/"}, &exit)) << "one is missing";
    EXPECT_FALSE(parseLaunch({"relascope", "duel", "/", "hub:no/such"}, &exit))
        << "it is not in the cache of the hub";
    char program[] = "relascope", command[] = "duel", a[] = "/", json[] = "--json";
    char* words[] = {program, command, a, a, json};
    EXPECT_FALSE(isCommandLine(4, words));
    EXPECT_TRUE(isCommandLine(5, words));
}

}  // namespace
}  // namespace relascope
