// SPDX-License-Identifier: GPL-3.0-or-later
// Views that can be cited: every kind that the window shows is saved from its menu, opened on a
// second start, and drawn to the same bytes; with data also without the weights.
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QMenu>
#include <QProcess>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>

#include "app/curves_figure.h"
#include "app/edits_tab.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/analysis_window.h"
#include "app/pages/atlas_page.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/duel_page.h"
#include "app/pages/measure_page.h"
#include "app/view_files.h"
#include "files/atomic_file.h"
#include "interventions/edit_words.h"
#include "question/question_words.h"
#include "run/run_folder.h"
#include "views/curve_look.h"
#include "views/look.h"
#include "views/view_file.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_pane.h"
#include "window_fixture.h"

using namespace relascope;
using namespace relascope::app;
using namespace relascope::widgets;

namespace {

QByteArray bytesOfFile(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Where two pictures differ first, and what stands there; empty: nowhere.
std::string difference(const QByteArray& a, const QByteArray& b) {
    if (a == b) return {};
    qsizetype at = 0;
    while (at < std::min(a.size(), b.size()) && a[at] == b[at]) ++at;
    const auto from = std::max<qsizetype>(0, at - 100);
    return "\n" + a.mid(from, 250).toStdString() + "\n---\n" + b.mid(from, 250).toStdString();
}

class ViewsTest : public WindowTest {
protected:
    void SetUp() override {
        WindowTest::SetUp();
        run = finishedRun();
        ASSERT_TRUE(openRun(run));
        ASSERT_TRUE(waitUntil([this] { return shows(*window); }));
    }
    void TearDown() override {
        second.reset();
        WindowTest::TearDown();
    }
    static bool shows(MainWindow& in) {
        const auto* result = in.workbench()->inspector()->result();
        return result && !result->partial;
    }
    /// Shows an example of the validation set.
    void choose(qint64 example) {
        QSignalSpy shown(&c().runInput.feed(), &InspectorFeed::inspected);
        c().runInput.chooseSample(QStringLiteral("validation"), example);
        const auto number = " " + std::to_string(example);
        ASSERT_TRUE(waitUntil([&] {
            return shown.count() > 0 && inspector()->result()->sample.origin.ends_with(number);
        })) << inspector()->result()->sample.origin;
    }
    QString place(const QString& name) const { return folder.filePath(name); }

    /// Saves the view of a menu, and the picture that it then gives.
    void save(ViewMenu* menu, const QString& name, bool withData = false) {
        ASSERT_TRUE(menu->describe) << name.toStdString();
        ASSERT_TRUE(menu->describe()) << name.toStdString();
        const QString path = place(name + QStringLiteral(".relaview"));
        menu->askPath = [path](const QString&, const QString&, const QString&) { return path; };
        QSignalSpy saved(&window->views(), &ViewFiles::saved);
        menu->saveView(withData);
        ASSERT_TRUE(waitUntil([&] { return saved.count() == 1; })) << name.toStdString();
        QString error;
        ASSERT_TRUE(menu->write(place(name + QStringLiteral("-1.svg")), &error))
            << error.toStdString();
        EXPECT_TRUE(bytesOfFile(place(name + QStringLiteral("-1.svg")))
                        .contains(("View: " + name + ".relaview").toUtf8()));
    }
    /// The window of a second start.
    MainWindow& startAgain() {
        second = std::make_unique<MainWindow>(false);
        second->controllers().runs.setFolder(folder.path());
        second->show();
        return *second;
    }
    void open(const QString& name) {
        QSignalSpy opened(&second->views(), &ViewFiles::opened),
            refused(&second->views(), &ViewFiles::refused);
        second->opener().openAll({place(name + QStringLiteral(".relaview"))});
        ASSERT_TRUE(waitUntil([&] { return opened.count() + refused.count() > 0; }, 60000))
            << name.toStdString();
        ASSERT_EQ(refused.count(), 0) << refused.value(0).value(0).toString().toStdString();
    }
    /// Whether the menu in the second window gives the picture that was saved.
    void expectSame(ViewMenu* menu, const QString& name) {
        QString error;
        const QString again = place(name + QStringLiteral("-2.svg"));
        ASSERT_TRUE(menu->write(again, &error)) << error.toStdString();
        EXPECT_EQ(
            difference(bytesOfFile(place(name + QStringLiteral("-1.svg"))), bytesOfFile(again)), "")
            << name.toStdString();
    }
    static AnalysisTab* measured(MainWindow& in, const std::string& name) {
        if (name == "duel") return in.duelPage()->tab();
        if (name == "atlas" || name == "scan")
            return qobject_cast<AtlasPage*>(in.page(PageId::Atlas))->tab(name);
        return in.measurePage()->analyses().tab(name);
    }
    void measure(const std::string& name) {
        window->edits().measure(name);
        auto* tab = measured(*window, name);
        ASSERT_TRUE(waitUntil([&] { return tab->missing().isEmpty(); }));
        if (tab->view()->isEmpty()) tab->run();
        ASSERT_TRUE(waitUntil([&] { return finished(tab); }, 60000)) << name;
    }
    /// Steps 0 and 12 of the run, as A and B.
    DuelPage* duelOfTwoSteps() {
        window->showPage(PageId::Duel);
        auto* page = window->duelPage();
        QSignalSpy answered(&page->feeds(), &DuelFeeds::answered);
        page->setSubject(0, weightsAt(run, 0));
        page->setSubject(1, weightsAt(run, 12));
        EXPECT_TRUE(waitUntil([&] { return answered.count() > 0; }, 60000));
        return page;
    }
    static bool finished(AnalysisTab* tab) {
        return !tab->view()->isEmpty() && !tab->asking().task().busy();
    }

    QString run;
    std::unique_ptr<MainWindow> second;
};

TEST_F(ViewsTest, PicturesOfMapsOpenOnASecondStart) {
    InspectorView view = inspector()->view();
    view.layer = 1, view.kind = MapKind::RelationalAttention, view.index = 1;
    view.source = 5, view.target = 3, view.processing = Processing::Tanh, view.paper = true;
    view.range = widgets::Range::ThisMap;
    ASSERT_TRUE(waitUntil([this] { return !c().runs.records().kept(run).empty(); }));
    c().selection.setStep(8);
    choose(7);
    ASSERT_TRUE(waitUntil([this] { return c().runInput.feed().shownStep() == 8; }));
    inspector()->chooseView(view);
    save(inspector()->sourcePane()->menu(), "source");
    save(inspector()->mapPane()->menu(), "map");
    save(inspector()->smallMaps()->menu(), "small");
    inspector()->chooseView(inspector()->view().with(&InspectorView::reversed, true));
    save(inspector()->mapPane()->menu(), "reversed");
    const auto shown = inspector()->view();
    // With edits, and their difference.
    c().runEdits.addWords(QStringLiteral("layer 1 relation 1 zero"));
    ASSERT_TRUE(waitUntil([this] { return inspector()->edited(); }));
    inspector()->chooseView(inspector()->view().with(&InspectorView::shown, Shown::Difference));
    save(inspector()->mapPane()->menu(), "edited");

    auto& in = startAgain();
    auto* again = in.workbench()->inspector();
    for (const auto& [name, menu] :
         std::vector<std::pair<QString, ViewMenu*>>{{"source", again->sourcePane()->menu()},
                                                    {"map", again->mapPane()->menu()},
                                                    {"small", again->smallMaps()->menu()},
                                                    {"reversed", again->mapPane()->menu()},
                                                    {"edited", again->mapPane()->menu()},
                                                    {"map", again->mapPane()->menu()}}) {
        open(name);
        expectSame(menu, name);
        if (name == "reversed") {
            EXPECT_EQ(again->view(), shown);
        }
    }
    EXPECT_EQ(in.controllers().selection.current(), run);
    EXPECT_EQ(in.controllers().selection.step(), 8);
    EXPECT_EQ(in.controllers().selection.sample(), 7);
}

TEST_F(ViewsTest, AnalysesOpenOnASecondStart) {
    choose(2);
    const std::vector<std::string> names = {"lens",   "attribute", "heads",  "along",
                                            "ablate", "patch",     "shares", "atlas"};
    for (const auto& name : names) {
        measure(name);
        save(measured(*window, name)->view()->menu(), QString::fromStdString(name));
    }
    auto& in = startAgain();
    for (const auto& name : names) {
        open(QString::fromStdString(name));
        auto* tab = measured(in, name);
        ASSERT_TRUE(waitUntil([&] { return finished(tab); }, 60000)) << name;
        in.resize(1500, 1000);  // the picture does not depend on it
        expectSame(tab->view()->menu(), QString::fromStdString(name));
    }
}

TEST_F(ViewsTest, ADuelOpensOnASecondStart) {
    auto* page = duelOfTwoSteps();
    page->tab()->run();
    ASSERT_TRUE(waitUntil([&] { return finished(page->tab()); }, 60000));
    save(page->tab()->view()->menu(), "duel");
    auto& in = startAgain();
    open("duel");
    auto* tab = in.duelPage()->tab();
    ASSERT_TRUE(waitUntil([&] { return finished(tab); }, 60000));
    expectSame(tab->view()->menu(), "duel");
}

TEST_F(ViewsTest, MapsOfADuelOpenOnASecondStart) {
    auto* page = duelOfTwoSteps();
    QSignalSpy answered(&page->feeds(), &DuelFeeds::answered);
    page->feeds().chooseExample("validation", 5);
    ASSERT_TRUE(waitUntil([&] { return answered.count() > 0; }, 60000));
    EditList edits;
    edits.edits.push_back(core::editFromWords("layer 1 relation 1 zero", *page->feeds().points(1)));
    page->setSubject(1, weightsAt(run, 12, edits));
    ASSERT_TRUE(waitUntil([&] { return answered.count() > 1; }, 60000));
    auto* menu = page->inspector()->mapPane()->menu();
    const auto show = [&](Shown shown) {
        page->inspector()->showCell(MapKind::Relation, 1, 0, 4, 2);
        page->inspector()->chooseView(page->inspector()->view().with(&InspectorView::shown, shown));
    };
    const auto lineOf = [&] { return core::commandOf(*menu->describe()); };
    show(Shown::After);
    EXPECT_NE(lineOf().find(" --step 12 --edit 'layer 1 relation 1 zero' --sample 5"),
              std::string::npos)
        << lineOf();
    show(Shown::Before);
    EXPECT_NE(lineOf().find(" --step 0 --sample 5 --split validation --layer 2"), std::string::npos)
        << lineOf();
    show(Shown::Difference);
    EXPECT_NE(lineOf().find(" --other-step 0 "), std::string::npos) << lineOf();
    save(menu, "difference");
    // The command writes what the menu does: values, scale and caption.
    QProcess command;
    command.start(QStringLiteral(RELASCOPE_BIN "/relascope-cli"),
                  {"draw", place("difference.relaview"), "--out", place("command.svg")});
    ASSERT_TRUE(command.waitForFinished(60000));
    const auto texts = [this](const char* name) {
        QStringList all;
        const auto svg = QString::fromUtf8(bytesOfFile(place(QString::fromLatin1(name))));
        static const QRegularExpression text(QStringLiteral(">([^<>]+)</text>"));
        for (const auto& match : text.globalMatch(svg)) all << match.captured(1);
        return all;
    };
    EXPECT_TRUE(texts("command.svg").contains("change of r"));
    EXPECT_EQ(texts("command.svg"), texts("difference-1.svg"));

    auto& in = startAgain();
    in.resize(1500, 1000);
    open("difference");
    auto* again = in.duelPage();
    expectSame(again->inspector()->mapPane()->menu(), "difference");
    EXPECT_EQ(again->feeds().subject(1)->edits[0].edits, edits.edits);
    // Once more, while it is shown.
    again->inspector()->showCell(MapKind::Relation, 0, 1, 1, 1);
    open("difference");
    expectSame(again->inspector()->mapPane()->menu(), "difference");
}

TEST_F(ViewsTest, CurvesOpenOnASecondStart) {
    const QString other = finishedRun(6);
    const auto showsBoth = [&](MainWindow& in) {
        return waitUntil([&] {
            return in.controllers().selection.runs().size() == 2 &&
                   !in.controllers().runs.records().points(run).empty() &&
                   !in.controllers().runs.records().points(other).empty();
        });
    };
    window->opener().openAll({run, other});
    ASSERT_TRUE(showsBoth(*window));
    const auto menuOf = [](MainWindow& in) {
        for (auto* menu : in.workbench()->findChildren<ViewMenu*>())
            if (menu->view() == in.workbench()->curves()) return menu;
        return static_cast<ViewMenu*>(nullptr);
    };
    auto* panel = window->workbench()->curves();
    auto options = panel->options();
    options.axis = CurveAxis::Epoch, options.logY = true, options.showPublished = false;
    panel->setOptions(options);
    // The entries are in the menu of the panel.
    auto* menu = panel->controls()->menu();
    Q_EMIT menu->aboutToShow();
    const auto actions = menu->actions();
    const auto entry = std::find_if(actions.begin(), actions.end(), [](const QAction* action) {
        return action->text() == QLatin1String("Copy as command");
    });
    ASSERT_NE(entry, actions.end());
    EXPECT_TRUE((*entry)->isVisible());
    (*entry)->trigger();
    EXPECT_TRUE(QApplication::clipboard()->text().startsWith("relascope-cli curves "));
    save(menuOf(*window), "curves");
    // The command draws what the menu does, apart from the lines that name command and view.
    const auto view = *menuOf(*window)->describe();
    wire::CurvesFigure figure{{}, core::lookOf(view, core::curveLookFields())};
    for (const auto& subject : view.subjects) figure.runs.push_back(subject.path);
    QString error;
    ASSERT_TRUE(renderCurves(figure, place("command.svg"), &error)) << error.toStdString();
    const auto drawing = [](QByteArray svg) { return svg.mid(svg.indexOf("</desc>")); };
    EXPECT_EQ(difference(drawing(bytesOfFile(place("curves-1.svg"))),
                         drawing(bytesOfFile(place("command.svg")))),
              "");

    auto& in = startAgain();
    open("curves");
    ASSERT_TRUE(showsBoth(in));
    EXPECT_TRUE(in.workbench()->curves()->options() == options);
    in.resize(1500, 1000);
    expectSame(menuOf(in), "curves");
}

TEST_F(ViewsTest, ACheckpointOpensOnASecondStart) {
    const QString weights = run + QStringLiteral("/checkpoints/step-12");
    window->opener().openCheckpoint(weights);
    auto* page = qobject_cast<CheckpointPage*>(window->page(PageId::Checkpoint));
    ASSERT_TRUE(waitUntil([&] { return c().checkpoint.info().has_value(); }));
    c().checkpoint.load();
    ASSERT_TRUE(waitUntil([&] { return page->inspector()->result() != nullptr; }));
    QSignalSpy probed(&c().checkpoint.feed(), &InspectorFeed::inspected);
    c().checkpoint.feed().choose(inputAs({{"random", std::int64_t{17}}}));
    ASSERT_TRUE(waitUntil([&] { return probed.count() > 0; }));
    page->inspector()->showCell(MapKind::Relation, 1, 1, 4, 2);
    save(page->inspector()->mapPane()->menu(), "checkpoint");
    auto& in = startAgain();
    open("checkpoint");
    expectSame(
        qobject_cast<CheckpointPage*>(in.page(PageId::Checkpoint))->inspector()->mapPane()->menu(),
        "checkpoint");
}

TEST_F(ViewsTest, WithDataItOpensWithoutTheWeights) {
    save(inspector()->mapPane()->menu(), "map", true);
    measure("lens");
    save(measured(*window, "lens")->view()->menu(), "lens", true);
    ASSERT_TRUE(QFile::exists(place("map.relaview.data")));
    // A reviewer has the files alone.
    window.reset();
    ASSERT_TRUE(QDir(run).removeRecursively());
    auto& in = startAgain();
    open("map");
    auto* again = in.workbench()->inspector();
    ASSERT_NE(again->result(), nullptr);
    EXPECT_TRUE(again->isVisibleTo(in.workbench())) << "in place of what an empty page says";
    EXPECT_FALSE(again->mapPane()->menu()->describe());  // there is no command for it
    QString error;
    ASSERT_TRUE(again->mapPane()->menu()->write(place("map-2.svg"), &error));
    const auto picture = [&](const char* name) {
        const auto all = bytesOfFile(place(QString::fromLatin1(name)));
        return all.mid(all.indexOf("<defs>"));
    };
    EXPECT_EQ(difference(picture("map-1.svg"), picture("map-2.svg")), "");
    open("lens");
    auto* tab = measured(in, "lens");
    EXPECT_FALSE(tab->view()->isEmpty());
    ASSERT_TRUE(tab->view()->menu()->write(place("lens-2.svg"), &error));
    EXPECT_TRUE(picture("lens-2.svg").contains("from the view file lens.relaview"));
}

TEST_F(ViewsTest, AnInputThatIsChosenMeanwhileEndsIt) {
    c().runEdits.addWords(QStringLiteral("layer 1 relation 1 zero"));
    ASSERT_TRUE(waitUntil([this] { return inspector()->edited(); }));
    save(inspector()->mapPane()->menu(), "edited");
    auto& in = startAgain();
    auto& input = in.controllers().runInput;
    QSignalSpy opened(&in.views(), &ViewFiles::opened);
    const auto choose = [&](qint64 example) {
        input.chooseSample(QStringLiteral("validation"), example);
        return waitUntil([&] {
            return shows(in) && input.feed().settled() &&
                   input.feed().shown().value<std::int64_t>("sample") == example;
        });
    };
    QObject::connect(&input, &RunInput::sampleShown, &in, [&](const QString&, qint64 shown) {
        if (shown == 0) input.chooseSample(QStringLiteral("validation"), 3);
    });
    in.views().open(place("edited.relaview"));
    ASSERT_TRUE(waitUntil([&] {
        return shows(in) && input.feed().settled() &&
               input.feed().shown().value<std::int64_t>("sample") == 3;
    }));
    ASSERT_TRUE(choose(5));
    EXPECT_EQ(opened.count(), 0);
    EXPECT_TRUE(in.controllers().runEdits.list().edits.empty());
}

TEST_F(ViewsTest, RefusesInASentence) {
    save(inspector()->mapPane()->menu(), "map");
    const auto file = place("map.relaview").toStdString();
    auto view = core::readViewFile(file);
    startAgain();
    const auto refused = [&](const View& changed, const char* words) {
        core::writeViewFile(file, changed);
        QSignalSpy said(&second->views(), &ViewFiles::refused);
        second->views().open(QString::fromStdString(file));
        ASSERT_TRUE(waitUntil([&] { return said.count() == 1; })) << words;
        EXPECT_TRUE(said[0][0].toString().contains(QLatin1String(words)))
            << said[0][0].toString().toStdString();
    };
    auto edited = view;
    edited.subjects[0].edits = {"layer 9 relation 1 zero"};
    refused(edited, "the edits do not fit this model");
    auto other = view;
    other.subjects[0].weights = "sha256:" + std::string(64, '0');
    refused(other, "has other weights");
    auto gone = view;
    gone.subjects[0].path += "-gone";
    refused(gone, "is not on this machine");
    // What the window would not measure as the view says.
    const auto analysis = [&](const char* command, std::vector<Option> options) {
        auto changed = view;
        changed.command = command;
        changed.options = std::move(options);
        return changed;
    };
    refused(analysis("ablate", {{"data", std::string("/tmp/other.npz")}}),
            "the window does not measure with 'data' (/tmp/other.npz); draw it with: "
            "relascope-cli draw ");
    refused(analysis("patch", {{"pairs", std::string("minimal-pairs")}, {"pair", std::int64_t{3}}}),
            "does not measure with 'pairs' (minimal-pairs)");
    refused(analysis("patch",
                     {{"clean", std::string("sample:1")}, {"corrupt", std::string("tokens:1,2")}}),
            "does not measure with 'corrupt' (tokens:1,2)");
    refused(analysis("ablate", {{"split", std::string("elsewhere")}}),
            "its split is 'elsewhere', which these data do not have");
    refused(analysis("patch", {{"clean", std::string("sample:1")},
                               {"corrupt", std::string("sample:99999")},
                               {"split", std::string("validation")}}),
            "its second sample is 99999, and there are ");
    auto last = view;
    last.subjects[0].checkpoint = "last", last.subjects[0].weights = {};
    core::writeViewFile(file, last);
    QSignalSpy opened(&second->views(), &ViewFiles::opened);
    second->views().open(QString::fromStdString(file));
    ASSERT_TRUE(waitUntil([&] { return opened.count() == 1; }));
    EXPECT_EQ(second->controllers().selection.step(),
              std::optional<qint64>(core::namedStep(last.subjects[0].path, "last")));
    core::writeTextFile(file, "{}");
    QSignalSpy said(&second->views(), &ViewFiles::refused);
    second->opener().openAll({QString::fromStdString(file)});
    ASSERT_TRUE(waitUntil([&] { return said.count() == 1; }));
    EXPECT_TRUE(said[0][0].toString().contains("this is no view file"));
}

TEST_F(ViewsTest, APatchViewShowsTheInputThatItNames) {
    save(inspector()->mapPane()->menu(), "map");
    const auto file = place("map.relaview").toStdString();
    auto view = core::readViewFile(file);
    startAgain();
    view.command = "patch";
    view.options = {{"clean", std::string("random:5")},
                    {"corrupt", std::string("sample:2")},
                    {"split", std::string("validation")}};
    core::writeViewFile(file, view);
    QSignalSpy opened(&second->views(), &ViewFiles::opened);
    second->views().open(QString::fromStdString(file));
    ASSERT_TRUE(waitUntil([&] { return opened.count() == 1; }));
    EXPECT_EQ(second->controllers().runInput.feed().request(),
              inputAs({{"random", std::int64_t{5}}}));
    EXPECT_EQ(second->workbench()->inspector()->result()->sample.origin, "random input, seed 5");
}

TEST_F(ViewsTest, TheMenuCopiesTheCommand) {
    auto* menu = inspector()->mapPane()->menu();
    Q_EMIT menu->menu()->aboutToShow();
    const auto entry = [&](const char* text) {
        for (auto* action : menu->menu()->actions())
            if (action->text() == QLatin1String(text)) return action;
        return static_cast<QAction*>(nullptr);
    };
    for (const auto* text :
         {"Copy as command", "Copy as Python", "Save view...", "Save view with data..."}) {
        ASSERT_NE(entry(text), nullptr) << text;
        EXPECT_TRUE(entry(text)->isVisible()) << text;
    }
    entry("Copy as command")->trigger();
    const QString command = QApplication::clipboard()->text();
    EXPECT_TRUE(command.startsWith("relascope-cli inspect ")) << command.toStdString();
    EXPECT_TRUE(command.contains(" --sample 0 --split validation --layer "))
        << command.toStdString();
    entry("Copy as Python")->trigger();
    EXPECT_TRUE(QApplication::clipboard()->text().startsWith("relascope.map(relascope.maps(\""));
    // The picture of one that is compared is of two weights and of one input.
    inspector()->pin("A");
    c().selection.setStep(8);
    ASSERT_TRUE(
        waitUntil([this] { return c().runInput.feed().shownStep() == 8 && shows(*window); }));
    inspector()->chooseView(inspector()->view().with(&InspectorView::shown, Shown::Difference));
    ASSERT_TRUE(menu->describe());
    EXPECT_EQ(menu->describe()->subjects.size(), 2u);
    choose(4);
    inspector()->chooseView(inspector()->view().with(&InspectorView::shown, Shown::Difference));
    Q_EMIT menu->menu()->aboutToShow();
    EXPECT_FALSE(entry("Copy as command")->isVisible());
}

}  // namespace
