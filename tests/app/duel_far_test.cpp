// SPDX-License-Identifier: GPL-3.0-or-later
// The page Duel with subjects on other machines: the same maps as of both on this one, measuring
// after a copy, and connections that end. The machines are this one in other homes.
#include <signal.h>

#include <QImage>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSettings>

#include "app/pages/analysis_tab.h"
#include "app/pages/data_source.h"
#include "app/pages/duel_page.h"
#include "app/pages/subject_slot.h"
#include "app/run_actions.h"
#include "tests/app/far_machine.h"
#include "tests/app/language_fixture.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/input_chooser.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;

class DuelFarTest : public LanguageTest {
protected:
    void SetUp() override {
        LanguageTest::SetUp();
        const auto root = folder.path().toStdString();
        one.emplace(root, "gpu1"), two.emplace(root, "gpu2");
        one->setReachable(true), two->setReachable(true);
        c().hosts.setHosts({one->host(), two->host()});
    }
    void TearDown() override {
        c().hosts.setHosts({});
        LanguageTest::TearDown();
        QSettings().clear();
    }
    DuelPage* page() { return window->duelPage(); }
    DuelFeeds& feeds() { return page()->feeds(); }
    /// A copy of the run on that machine, once it is listed.
    QString on(const FarMachine& machine, const QString& run) {
        const auto path = QString::fromStdString(machine.add(run.toStdString(), "runs"));
        c().hosts.refresh();
        EXPECT_TRUE(waitUntil([&] { return c().runs.info(path) != nullptr; }));
        return path;
    }
    void choose(const wire::Asked& a, const wire::Asked& b) {
        for (const std::size_t side : {0, 1}) page()->setSubject(side, std::nullopt);
        page()->setSubject(0, a), page()->setSubject(1, b);
        window->showPage(PageId::Duel);
    }
    bool answered() {
        EXPECT_TRUE(waitUntil([&] { return feeds().answer(0) && feeds().answer(1); }, 60000))
            << page()->error()->sentence().toStdString();
        return feeds().answer(0) && feeds().answer(1);
    }
    struct Answers {
        ProbeSample read[2];
        std::vector<std::vector<float>> maps[2];
        std::vector<float> probabilities[2];
        bool operator==(const Answers&) const = default;
    };
    Answers answers() {
        Answers all;
        for (const std::size_t side : {0, 1}) {
            const auto& result = *feeds().answer(side);
            all.read[side] = result.sample;
            for (const auto& map : result.maps) all.maps[side].push_back(map.all());
            all.probabilities[side] = result.probabilities;
        }
        EXPECT_FALSE(all.maps[1].empty());
        return all;
    }
    Answers of(const wire::Asked& a, const wire::Asked& b) {
        choose(a, b);
        return answered() ? answers() : Answers();
    }
    std::optional<FarMachine> one, two;
};

/// Numbers of an edit that words do not hold.
EditList manyNumbers() {
    Edit edit;
    edit.op = EditOp::Add;
    edit.point = "blocks.0.hook_resid_pre";
    std::vector<double> numbers;
    for (int k = 0; k < 16; ++k) numbers.push_back(0.25 * k - 1.0);
    edit.values = {{16}, numbers};
    EditList list;
    list.edits = {edit};
    return list;
}

TEST_F(DuelFarTest, OneIsThereOneIsHereAndTheMapsAreThoseOfBothHere) {
    const QString first = finishedText(10), second = finishedText(20);
    const auto a = weightsAt(first, std::nullopt), b = weightsAt(second, 10, manyNumbers());
    auto plain = b;
    plain.edits = {EditList()};
    const auto here = of(a, plain), edited = of(a, b);
    ASSERT_EQ(edited.maps[0], here.maps[0]);
    ASSERT_NE(edited.maps[1], here.maps[1]);
    auto farA = a, farB = b, other = a;
    farA.subjects = weightsAt(on(*one, first), std::nullopt).subjects;
    farB.subjects = weightsAt(on(*one, second), 10).subjects;
    other.subjects = weightsAt(on(*two, first), std::nullopt).subjects;
    // Each edited, to see that it is not the other one's machine that edits.
    EXPECT_EQ(of(farA, b), edited);
    EXPECT_EQ(of(other, farB), edited);
    auto editedA = farA;
    editedA.edits = b.edits;
    const auto localA = [&] {
        auto local = a;
        local.edits = b.edits;
        return of(local, plain);
    }();
    EXPECT_EQ(of(editedA, plain), localA);
    // Without A's machine its answer stays, and what is asked of B does not need it.
    one->cut();
    page()->setSubject(1, weightsAt(second, 0));
    ASSERT_TRUE(answered());
    EXPECT_EQ(page()->error()->sentence(), "");
    one->setReachable(true);
    c().hosts.refresh();
    // B's machine has no such text.
    choose(a, a);
    ASSERT_TRUE(answered());
    const auto file = textFile.toStdString();
    fs::rename(file, file + ".away");
    page()->setSubject(1, farB);
    ASSERT_TRUE(answered());
    EXPECT_EQ(answers(), edited);
    feeds().chooseExample("validation", 1);
    ASSERT_TRUE(answered());
    EXPECT_NE(answers().read[1], edited.read[1]);
    EXPECT_EQ(feeds().answer(1)->sample, feeds().answer(0)->sample);
    EXPECT_EQ(page()->error()->sentence(), "");
    // It has read that example already when A shows another step.
    const auto kept = feeds().answer(1);
    page()->setSubject(0, weightsAt(first, 0));
    ASSERT_TRUE(answered());
    EXPECT_EQ(feeds().answer(0)->step, 0);
    EXPECT_EQ(feeds().answer(1), kept);
    // To fetch A is not enough where its data are missing.
    fs::rename(file + ".away", file);
    choose(farA, b);
    ASSERT_TRUE(answered());
    const auto* sentence = page()->apart()->findChild<QLabel*>();
    EXPECT_FALSE(sentence->text().contains(textFile)) << sentence->text().toStdString();
    fs::remove(file);
    page()->setSubject(1, plain);
    EXPECT_TRUE(sentence->text().contains("data of A are needed here, too: copy " + textFile))
        << sentence->text().toStdString();
}

TEST_F(DuelFarTest, TypedTextsAreReadThereInOtherTokens) {
    const QString letters = finishedText(5);
    chooseText(5);
    c().experiment.set("data.tokenizer", std::string("gpt2"));
    c().experiment.set("model.vocab_size", std::int64_t{50257});
    const QString words = trained();
    choose(weightsAt(words, std::nullopt), weightsAt(on(*one, letters), std::nullopt));
    ASSERT_TRUE(answered());
    const auto textOf = [&](std::size_t side) {
        std::string text;
        if (const auto& result = feeds().answer(side))
            for (const auto& piece : result->sample.source.labels) text += piece;
        return text;
    };
    // A's example in B's tokens, as many as it can read.
    EXPECT_EQ(feeds().answer(1)->sample.source.size(), kContext);
    EXPECT_EQ(textOf(1), textOf(0).substr(0, kContext));
    type(page()->inspector()->sourcePane(), "the dog saw");
    ASSERT_TRUE(
        waitUntil([&] { return textOf(0) == "the dog saw" && textOf(1) == textOf(0); }, 60000))
        << page()->error()->sentence().toStdString();
    EXPECT_EQ(feeds().answer(0)->sample.source.size(), 3);
    EXPECT_EQ(feeds().answer(1)->sample.source.size(), 11);
    // Of the same tokens, too, no more than it can read.
    chooseText(5);
    c().experiment.set("data.context", std::int64_t{16});
    c().experiment.set("model.max_block_size", std::int64_t{16});
    const QString shorter = trained();
    choose(weightsAt(letters, std::nullopt), weightsAt(on(*one, shorter), std::nullopt));
    ASSERT_TRUE(answered());
    EXPECT_EQ(feeds().answer(0)->sample.source.size(), kContext);
    EXPECT_EQ(feeds().answer(1)->sample.source.size(), 16);
}

TEST_F(DuelFarTest, ACheckpointThereIsChosenInTheMenu) {
    const auto golden = [](const char* name) {
        return QStringLiteral(RELASCOPE_FIXTURES "/golden/") + QLatin1String(name);
    };
    const QString a = golden("vidat_relational_games_mixed"), b = golden("vit_relational_games");
    choose(weightsAt(a, std::nullopt), weightsAt(b, std::nullopt));
    ASSERT_TRUE(answered());
    const auto here = answers();
    const auto there = QString::fromStdString(one->add(b.toStdString(), "models"));
    page()->setSubject(1, std::nullopt);
    auto* slot = page()->slot(1);
    slot->askOnHost = [&](const QString& host) {
        EXPECT_EQ(host, "gpu1");
        return there;
    };
    ASSERT_TRUE(waitUntil([&] { return c().hosts.isUsable("gpu1"); }));
    Q_EMIT slot->menu()->aboutToShow();
    for (auto* action : slot->menu()->actions())
        if (action->text() == "Open on gpu1...") action->trigger();
    ASSERT_TRUE(answered());
    EXPECT_EQ(slot->text(), QString::fromUtf8("gpu1 \u00b7 vit_relational_games"));
    EXPECT_EQ(answers(), here);
    // It is no run, so there is nothing to press.
    ASSERT_TRUE(page()->apart()->isVisible());
    EXPECT_TRUE(page()->apart()->findChild<QLabel*>()->text().contains(
        "B is a checkpoint outside of a run, which is not fetched"));
    EXPECT_FALSE(page()->apart()->button()->isVisible());
    // Inputs of the user.
    const auto first = feeds().answer(1);
    Q_EMIT page()->inspector()->sourcePane()->inputs()->chosen({{"random", std::int64_t{6}}});
    ASSERT_TRUE(answered());
    EXPECT_NE(feeds().answer(1)->sample.image, first->sample.image);
    EXPECT_EQ(feeds().answer(1)->sample.image, feeds().answer(0)->sample.image);
    QImage picture(36, 36, QImage::Format_RGB32);
    picture.fill(Qt::red);
    const QString file = folder.filePath("red.png");
    ASSERT_TRUE(picture.save(file));
    page()->take(file);
    ASSERT_TRUE(answered());
    EXPECT_TRUE(QString::fromStdString(feeds().answer(1)->sample.origin).contains("red.png"));
    // The folder of a run there is that run.
    const QString run = finishedRun();
    slot->askOnHost = [&](const QString&) {
        return QString::fromStdString(one->add(run.toStdString(), "elsewhere"));
    };
    for (auto* action : slot->menu()->actions())
        if (action->text() == "Open on gpu1...") action->trigger();
    ASSERT_TRUE(waitUntil([&] { return feeds().data() != nullptr; }, 60000))
        << page()->error()->sentence().toStdString();
    ASSERT_TRUE(answered());
    EXPECT_EQ(feeds().answer(0)->sample.image, feeds().answer(1)->sample.image) << "B's data";
}

TEST_F(DuelFarTest, BothAreFetchedAndMeasured) {
    const QString first = finishedRun(4), second = finishedRun(5);
    const QString a = on(*one, first), b = on(*two, second);
    fs::remove_all(first.toStdString()), fs::remove_all(second.toStdString());
    choose(weightsAt(a, std::nullopt), weightsAt(b, 0, manyNumbers()));
    ASSERT_TRUE(answered());
    auto* apart = page()->apart();
    ASSERT_TRUE(apart->isVisible());
    EXPECT_EQ(apart->findChild<QLabel*>()->text(),
              "A is on gpu1, B on gpu2: to be measured, both must be on this computer.");
    EXPECT_EQ(apart->button()->text(), "Fetch to this computer");
    EXPECT_FALSE(page()->tab()->isVisible());
    // Cancelled, nothing is changed, and it can be done again.
    auto& task = window->runActions().exporter().task();
    click(apart->button());
    EXPECT_TRUE(task.busy());
    EXPECT_FALSE(apart->button()->isEnabled());
    task.abandon();
    EXPECT_TRUE(apart->button()->isEnabled());
    EXPECT_EQ(placeOf(*feeds().subject(0)), a);
    click(apart->button());
    ASSERT_TRUE(waitUntil([&] { return !apart->isVisible(); }, 60000));
    EXPECT_EQ(feeds().subject(0)->subjects,
              weightsAt(c().runs.placeOfCopy(a), std::nullopt).subjects);
    EXPECT_EQ(feeds().subject(1)->subjects, weightsAt(c().runs.placeOfCopy(b), 0).subjects);
    EXPECT_EQ(feeds().subject(1)->edits[0], manyNumbers());
    ASSERT_TRUE(answered());
    auto* tab = page()->tab();
    auto values = tab->values();
    values["examples"] = std::int64_t{8}, values["untrained"] = std::int64_t{1};
    tab->setValues(values);
    ASSERT_TRUE(waitUntil([&] { return tab->runButton()->isEnabled(); }));
    click(tab->runButton());
    auto* view = dynamic_cast<DeclaredView*>(tab->view());
    ASSERT_TRUE(waitUntil([&] { return !view->isEmpty() && view->answer().complete; }, 60000))
        << view->sentence().toStdString();
    // On one other machine B is measured with all its edits.
    const QString c1 = on(*one, c().runs.placeOfCopy(b));
    choose(weightsAt(a, std::nullopt), weightsAt(c1, 0, manyNumbers()));
    EXPECT_FALSE(apart->isVisible());
    ASSERT_TRUE(waitUntil([&] { return tab->runButton()->isEnabled(); }));
    // The copies are there the next time.
    choose(weightsAt(a, std::nullopt), weightsAt(b, std::nullopt));
    EXPECT_EQ(apart->button()->text(), "Use the copy on this computer");
    click(apart->button());
    EXPECT_FALSE(apart->isVisible());
    EXPECT_EQ(placeOf(*feeds().subject(1)), c().runs.placeOfCopy(b));
    // A checkpoint of a run is that of the copy.
    const auto checkpoint = [](const QString& run) { return run + "/checkpoints/step-5"; };
    choose(weightsAt(c().runs.placeOfCopy(a), std::nullopt), weightsAt(a, std::nullopt));
    feeds().openFar(1, checkpoint(b));
    ASSERT_TRUE(waitUntil([&] { return placeOf(*feeds().subject(1)) == checkpoint(b); }, 60000))
        << page()->error()->sentence().toStdString();
    click(apart->button());
    EXPECT_EQ(placeOf(*feeds().subject(1)), checkpoint(c().runs.placeOfCopy(b)));
    ASSERT_TRUE(answered());
    // Another run of that name is not its copy.
    const QString place = c().runs.placeOfCopy(b);
    fs::rename(place.toStdString(), place.toStdString() + "-moved");
    fs::copy(c().runs.placeOfCopy(a).toStdString(), place.toStdString(),
             fs::copy_options::recursive);
    EXPECT_EQ(c().runs.placeOfCopy(b), place + "-2");
}

TEST_F(DuelFarTest, AnEndedConnectionIsSaidAndAskedAgain) {
    const QString run = finishedRun();
    const QString there = on(*one, run);
    choose(weightsAt(run, std::nullopt), weightsAt(there, std::nullopt));
    ASSERT_TRUE(answered());
    EXPECT_FALSE(page()->againButton()->isVisible());
    // While B is computing.
    one->signal(SIGSTOP);
    feeds().chooseExample("validation", 3);
    ASSERT_TRUE(waitUntil([&] { return feeds().answer(0) != nullptr; }, 60000));
    EXPECT_TRUE(feeds().task(1).busy());
    one->cut();
    ASSERT_TRUE(waitUntil([&] { return page()->againButton()->isVisible(); }));
    EXPECT_EQ(page()->error()->sentence(), "B: gpu1 cannot be reached: the connection has ended");
    EXPECT_FALSE(feeds().task(1).busy());
    EXPECT_TRUE(page()->inspector()->mapPane()->map()->outdated());
    EXPECT_FALSE(page()->inspector()->mapPane()->map()->awaited()) << "nothing is computed";
    // In vain, while it is away.
    click(page()->againButton());
    ASSERT_TRUE(waitUntil([&] { return page()->againButton()->isVisible(); }));
    EXPECT_EQ(page()->error()->sentence(), "B: gpu1 cannot be reached: no route");
    EXPECT_NE(feeds().answer(0), nullptr) << "A has answered";
    // By itself, once it is back.
    ASSERT_TRUE(waitUntil([&] { return !c().hosts.isUsable("gpu1"); }));
    one->setReachable(true);
    c().hosts.refresh();
    ASSERT_TRUE(answered());
    EXPECT_EQ(page()->error()->sentence(), "");
    EXPECT_FALSE(page()->inspector()->mapPane()->map()->outdated());
    EXPECT_EQ(feeds().answer(0)->sample, feeds().answer(1)->sample);
    // What does not open leaves the maps as they are.
    feeds().openFar(1, there + "/nothing");
    ASSERT_TRUE(waitUntil([&] { return !page()->error()->sentence().isEmpty(); }, 60000));
    EXPECT_FALSE(page()->inspector()->mapPane()->map()->outdated());
    EXPECT_FALSE(page()->againButton()->isVisible());
    // Cancelled by the user.
    one->signal(SIGSTOP);
    feeds().chooseExample("validation", 5);
    const auto strip = [&]() -> JobStrip* {
        for (auto* each : page()->findChildren<JobStrip*>())
            if (each->isVisible()) return each;
        return nullptr;
    };
    ASSERT_TRUE(waitUntil([&] { return feeds().answer(0) && strip(); }, 60000));
    click(strip()->cancelButton());
    EXPECT_EQ(page()->error()->sentence(), "The maps of B were cancelled.");
    EXPECT_FALSE(page()->inspector()->mapPane()->map()->awaited());
    one->signal(SIGCONT);
    click(page()->againButton());
    ASSERT_TRUE(answered());
    // By the user, where nobody else has noticed.
    one->signal(SIGSTOP);
    feeds().chooseExample("validation", 4);
    ASSERT_TRUE(waitUntil([&] { return feeds().answer(0) != nullptr; }, 60000));
    one->signal(SIGKILL);
    ASSERT_TRUE(waitUntil([&] { return page()->againButton()->isVisible(); }));
    click(page()->againButton());
    EXPECT_TRUE(feeds().task(1).busy());
    ASSERT_TRUE(answered());
    EXPECT_EQ(page()->error()->sentence(), "");
    // A far A, whose data cannot be read at first.
    one->cut();
    ASSERT_TRUE(waitUntil([&] { return !c().hosts.isUsable("gpu1"); }));
    choose(weightsAt(there, std::nullopt), weightsAt(run, std::nullopt));
    ASSERT_TRUE(waitUntil([&] { return page()->againButton()->isVisible(); }));
    one->setReachable(true);
    click(page()->againButton());
    ASSERT_TRUE(waitUntil([&] { return c().hosts.isUsable("gpu1"); }));
    ASSERT_TRUE(answered());
    // Without B there is nothing to ask for.
    Q_EMIT feeds().refused("B: gone");
    EXPECT_TRUE(page()->againButton()->isVisible());
    page()->setSubject(1, std::nullopt);
    EXPECT_TRUE(page()->againButton()->isHidden());
}

}  // namespace
}  // namespace relascope
