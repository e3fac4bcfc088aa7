// SPDX-License-Identifier: GPL-3.0-or-later
// The Workbench with a language model: texts as source, samples along the run, curves and lists.
#include <QDragEnterEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QSettings>
#include <QSignalSpy>
#include <QTextEdit>

#include "app/pages/atlas_page.h"
#include "app/pages/data_page.h"
#include "app/pages/data_source.h"
#include "options/estimates.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "tests/app/language_fixture.h"
#include "tests/widgets/child.h"
#include "widgets/inspector/find_bar.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/lists/sidebar.h"
#include "widgets/source/probability_bars.h"

namespace relascope {
namespace {

TEST_F(LanguageTest, TypedTextIsReadByTheModelThatTrains) {
    chooseText();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(5));
    ASSERT_TRUE(shows("the cat saw the dog")) << "the pinned sentence first";
    EXPECT_EQ(source()->samples()->split(), "pinned");
    // Keys that steer the window elsewhere are letters here.
    type(source(), QStringLiteral("d n 1 r"));
    ASSERT_TRUE(shows("d n 1 r")) << shown(inspector());
    EXPECT_TRUE(c().training.running());
    EXPECT_EQ(source()->outcome()->title(), QStringLiteral("Next token after \u201Cr\u201D"));
    EXPECT_FALSE(source()->outcome()->bars()->shown().empty());
    const auto step = inspector()->result()->step;
    ASSERT_TRUE(waitUntil([&] { return inspector()->result()->step > step; }))
        << "the newest weights are followed with one's own text, too";
    EXPECT_EQ(shown(inspector()), "d n 1 r");
    // Nothing typed: a hint, and the text stays.
    type(source(), {});
    EXPECT_FALSE(source()->textInput()->note().isEmpty());
    QTest::qWait(3 * InspectorFeed::kTypingDelay);
    EXPECT_EQ(shown(inspector()), "d n 1 r");
    // Too long: how much the model takes, and the first of it.
    const QString words = QStringLiteral("the cat sat on the mat and the dog");
    type(source(), words);
    ASSERT_TRUE(shows(words.left(kContext).toStdString())) << shown(inspector());
    EXPECT_TRUE(source()->textInput()->note().contains(QStringLiteral("24")))
        << source()->textInput()->note().toStdString();
    EXPECT_TRUE(source()->textInput()->note().contains(QStringLiteral("34")));
    // The button again: back to the data's.
    click(source()->textInput()->typeButton());
    EXPECT_TRUE(shows("the cat saw the dog"));
}

TEST_F(LanguageTest, PanesThatAreArrangedAnewLeaveTheKeyboardInTheText) {
    finishedText();
    ASSERT_TRUE(shows("the cat saw the dog"));
    click(source()->textInput()->typeButton());
    auto* field = source()->textInput()->field();
    field->setFocus();
    ASSERT_TRUE(field->hasFocus());
    for (int k = 0; k < 2; ++k) {
        inspector()->toggleReading();
        EXPECT_TRUE(field->hasFocus());
    }
}

TEST_F(LanguageTest, OnlyTheLastOfWhatIsTypedIsRead) {
    finishedText();
    ASSERT_TRUE(shows("the cat saw the dog"));
    int answers = 0;
    const auto counting =
        QObject::connect(&c().runInput.feed(), &InspectorFeed::inspected, [&] { ++answers; });
    type(source(), QStringLiteral("cat on mat"));
    ASSERT_TRUE(shows("cat on mat"));
    QTest::qWait(2 * InspectorFeed::kTypingDelay);
    QObject::disconnect(counting);
    EXPECT_LE(answers, 3) << "not one a key";
    // What was typed for one run is not another's.
    const QString first = c().selection.current();
    finishedText();
    EXPECT_NE(c().selection.current(), first);
    EXPECT_TRUE(shows("the cat saw the dog"));
    EXPECT_FALSE(source()->textInput()->isOpen());
}

TEST_F(LanguageTest, APairOfALongerTextIsShownWithItsTokens) {
    finishedText();
    ASSERT_TRUE(shows("the cat saw the dog")) << "shorter than the places of the pair";
    window->showPage(PageId::Atlas);
    auto* atlas = qobject_cast<AtlasPage*>(window->page(PageId::Atlas));
    Q_EMIT atlas->exampleRequested("validation", 2, {MapKind::Relation, 1, 1, 0, 22, 20});
    EXPECT_EQ(window->currentPage(), PageId::Workbench);
    ASSERT_TRUE(waitUntil([this] {
        return inspector()->result()->sample.source.size() == kContext &&
               inspector()->view().source == 22;
    }));
    EXPECT_EQ(inspector()->view().target, 20);
    EXPECT_EQ(inspector()->view().layer, 1);
    EXPECT_EQ(inspector()->view().index, 1);
    EXPECT_EQ(c().selection.sample(), 2);
}

TEST_F(LanguageTest, KeysReadAndSearchTheText) {
    finishedText();
    ASSERT_TRUE(shows("the cat saw the dog"));
    EXPECT_FALSE(inspector()->reading()) << "a short text";
    QTest::keyClick(window.get(), Qt::Key_T);
    EXPECT_TRUE(inspector()->reading());
    EXPECT_EQ(c().selection.view().reading, ReadingLayout::On) << "for the session";
    QTest::keyClick(window.get(), Qt::Key_F, Qt::ControlModifier);
    FindBar* find = source()->find();
    ASSERT_TRUE(find->isVisible());
    QTest::keyClicks(find->field(), "the");
    EXPECT_EQ(find->matches().size(), 2U) << "and no key of the window";
    EXPECT_TRUE(inspector()->reading());
    QTest::keyClick(window.get(), Qt::Key_F3);
    EXPECT_EQ(find->current(), 1);
    QTest::keyClick(window.get(), Qt::Key_F3, Qt::ShiftModifier);
    EXPECT_EQ(find->current(), 0);
    QTest::keyClick(find->field(), Qt::Key_Return);
    EXPECT_EQ(inspector()->view().source, find->matches()[0].first);
}

TEST_F(LanguageTest, SamplesAndExamplesOfAFinishedRun) {
    finishedText();
    ASSERT_TRUE(shows("the cat saw the dog"));
    Q_EMIT inspector()->sourcePane()->samples()->sampleRequested(QStringLiteral("validation"), 2);
    ASSERT_TRUE(
        waitUntil([this] { return inspector()->result()->sample.origin == "validation 2"; }));
    EXPECT_EQ(inspector()->result()->sample.source.size(), kContext);
    source()->next();
    ASSERT_TRUE(
        waitUntil([this] { return inspector()->result()->sample.origin == "validation 3"; }));
    source()->previous();
    ASSERT_TRUE(
        waitUntil([this] { return inspector()->result()->sample.origin == "validation 2"; }));
    Q_EMIT inspector()->sourcePane()->samples()->sampleRequested(QStringLiteral("train"), 0);
    ASSERT_TRUE(waitUntil([this] { return inspector()->result()->sample.origin == "train 0"; }));
    source()->random();
    ASSERT_TRUE(waitUntil([this] {
        const auto& origin = inspector()->result()->sample.origin;
        return origin.rfind("train ", 0) == 0 && origin != "train 0";
    }));
    c().runInput.chooseByLabel(QStringLiteral("train"), 1,
                               true);  // texts have none: nothing happens
    source()->textInput()->exampleMenu()->actions().first()->trigger();
    EXPECT_TRUE(waitUntil([this] {
        return shown(inspector()).rfind("In computer", 0) == 0 ||
               inspector()->result()->sample.origin == "typed text";
    }));
}

TEST_F(LanguageTest, ATypedTextIsReadByTheWeightsOfTheCursor) {
    const QString path = finishedText();
    ASSERT_TRUE(waitUntil([this] { return inspector()->result() != nullptr; }));
    type(source(), QStringLiteral("a dog"));
    ASSERT_TRUE(shows("a dog"));
    ASSERT_TRUE(waitUntil([&] { return c().runs.records().kept(path).size() > 5; }));
    const qint64 step = c().runs.records().kept(path).at(5);
    c().selection.setStep(step);
    EXPECT_TRUE(waitUntil(
        [&] { return inspector()->result()->step == step && shown(inspector()) == "a dog"; }));
}

TEST_F(LanguageTest, WhatTheRunWroteFollowsTheTimeCursor) {
    const QString path = finishedText(20, false);  // captures alone
    ASSERT_TRUE(waitUntil([&] { return c().runs.records().samples(path).size() >= 5; }));
    // From the disk alone, as on another day.
    window = std::make_unique<MainWindow>(false);
    window->show();
    c().runs.setFolder(folder.path() + "/runs");
    ASSERT_TRUE(openRun(path));
    auto* outcome = source()->outcome();
    ASSERT_TRUE(waitUntil([&] { return outcome->title() == "Sample at step 20"; }))
        << outcome->title().toStdString();
    const QString last = outcome->sample()->toPlainText();
    EXPECT_TRUE(last.startsWith("the "));
    EXPECT_EQ(last, c().runs.records().samples(path).at(20));
    Q_EMIT curves()->cursorMoved(7);
    ASSERT_TRUE(waitUntil([&] { return outcome->title() == "Sample at step 5"; }))
        << outcome->title().toStdString();
    // Captures are of the pinned sentence; one's own text waits for the newest weights.
    ASSERT_TRUE(waitUntil([this] { return source()->samples()->split() == "captured"; }));
    ASSERT_TRUE(waitUntil([this] { return inspector()->result()->step < 20; }));
    ASSERT_TRUE(shows("the cat saw the dog"));
    const RelationMap* map = inspector()->result()->find(MapKind::Relation, 0, 0);
    ASSERT_NE(map, nullptr);
    EXPECT_TRUE(map->masked(0, 1)) << "hatched as it was when it was live";
    type(source(), QStringLiteral("a dog"));
    ASSERT_TRUE(waitUntil(
        [this] { return source()->textInput()->note().contains(QStringLiteral("Live")); }));
    EXPECT_EQ(shown(inspector()), "the cat saw the dog");
    Q_EMIT child<widgets::CapturesTrack>(window->workbench())->liveRequested();
    EXPECT_TRUE(shows("a dog"));
    EXPECT_EQ(source()->textInput()->note(), "");
}

// The vocabulary is fitted to the text: the bar and the form show the count of the model as made.
TEST_F(LanguageTest, TheParametersAreThoseOfTheFittedModel) {
    chooseText();
    EXPECT_TRUE(c().experiment.parameters().startsWith("about "));
    EXPECT_TRUE(window->bar()->modelText().contains(c().experiment.parameters()));
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(2));
    const auto made = c().training.info().parameters;
    EXPECT_EQ(made, parameterCount(c().experiment.options().model));
    EXPECT_NE(made, parameterCount(tinyText(1).model)) << "64 symbols are more than the text has";
    EXPECT_EQ(c().experiment.parameters(), widgets::groupedNumber(made));
    EXPECT_TRUE(window->bar()->modelText().contains(widgets::groupedNumber(made) + " parameters"));
    for (const auto& [name, value] : c().experiment.estimates())
        if (name == "Parameters") {
            EXPECT_EQ(value, widgets::groupedNumber(made));
        }
}

TEST_F(LanguageTest, SamplesArriveWhileItTrains) {
    chooseText();
    QSignalSpy said(&c().messages, &Messages::message);
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(12));
    auto* outcome = source()->outcome();
    ASSERT_TRUE(waitUntil(
        [&] { return outcome->isVisible() && outcome->title().startsWith("Sample at"); }));
    const QString first = outcome->title();
    EXPECT_TRUE(waitUntil([&] { return outcome->title() != first; }));
    for (const auto& message : said)
        EXPECT_FALSE(message.at(1).toString().startsWith("The ", Qt::CaseSensitive))
            << "samples are no messages: " << message.at(1).toString().toStdString();
    auto* bar = window->bar()->findChild<TrainProgressLine*>();
    EXPECT_TRUE(waitUntil([&] { return bar->text().contains("tokens/s"); }))
        << bar->text().toStdString();
}

TEST_F(LanguageTest, CurvesAndListsShowThePerplexity) {
    const QString path = finishedText();
    ASSERT_TRUE(waitUntil([&] {
        const auto& points = c().runs.records().points(path);
        return !points.empty() && points.back().step == 20;
    })) << "its last points are read once it has ended";
    curves()->flush();
    EXPECT_TRUE(curves()->csv().contains("perplexity"));
    curves()->set(&CurveOptions::axis, CurveAxis::Tokens);
    curves()->flush();
    EXPECT_EQ(curves()->axis(), CurveAxis::Tokens);
    EXPECT_DOUBLE_EQ(curves()->keyOfStep(20), 20.0 * 2 * kContext);
    ASSERT_TRUE(waitUntil([this] { return window->sidebar()->runs()->count() == 1; }));
    ASSERT_TRUE(waitUntil([this] {
        return window->sidebar()
            ->runs()
            ->item(0)
            ->data(Qt::AccessibleTextRole)
            .toString()
            .contains("ppl");
    }));
    for (QAction* action : window->commands())
        if (action->text() == "Curves by step") action->trigger();
    EXPECT_EQ(curves()->axis(), CurveAxis::Step);
    for (QAction* action : window->commands())
        if (action->text() == "Curves by tokens") action->trigger();
    EXPECT_EQ(curves()->axis(), CurveAxis::Tokens);
}

TEST_F(LanguageTest, WhatDoesNotFitIntoMemoryIsRefusedBeforeItStarts) {
    chooseText();
    ASSERT_TRUE(window->bar()->startButton()->isEnabled());
    const auto rows = c().experiment.estimates();
    const auto tokens = std::find_if(
        rows.begin(), rows.end(), [](const auto& row) { return row.first == "Tokens per step"; });
    ASSERT_NE(tokens, rows.end());
    EXPECT_EQ(tokens->second, QString::number(2 * kContext));
    c().experiment.set(QStringLiteral("train.batch_size"), std::int64_t{1000000});
    ASSERT_TRUE(waitUntil([this] { return c().experiment.disabledReason().contains("GiB"); }))
        << c().experiment.disabledReason().toStdString();
    EXPECT_TRUE(c().experiment.disabledReason().contains("it fits with train.batch_size="));
    EXPECT_FALSE(window->bar()->startButton()->isEnabled());
    c().experiment.start();
    EXPECT_FALSE(c().training.busy());
    c().experiment.set(QStringLiteral("train.batch_size"), std::int64_t{2});
    EXPECT_TRUE(window->bar()->startButton()->isEnabled());
}

TEST_F(LanguageTest, PreparingALongTextShowsItsShareAndEndsWithCancel) {
    QString text;
    while (text.size() < 40 * 1000 * 1000)
        text += QStringLiteral("Many words of which number %1 is another one than before; ")
                    .arg(text.size());
    textFile = writeText(QStringLiteral("long.txt"), text);
    chooseText();
    c().experiment.set(QStringLiteral("data.tokenizer"), std::string("gpt2"));
    c().experiment.set(QStringLiteral("model.vocab_size"), std::int64_t{50304});
    QSignalSpy shares(&c().training, &TrainingController::preparingData);
    click(window->bar()->startButton());
    ASSERT_TRUE(waitUntil([&] { return shares.size() > 1; }));
    EXPECT_TRUE(c().training.preparing());
    const QString bar = window->bar()->findChild<TrainProgressLine*>()->text();
    EXPECT_TRUE(bar.contains("Preparing the data, ")) << bar.toStdString();
    ASSERT_TRUE(window->bar()->cancelButton()->isEnabled());
    click(window->bar()->cancelButton());
    EXPECT_TRUE(waitUntil([this] { return !c().training.busy(); }, 2000));
    EXPECT_TRUE(c().selection.runs().isEmpty()) << "no run came of it";
}

TEST_F(LanguageTest, ACancelledRunGoesOnWithItsOwnVocabulary) {
    chooseText();
    click(window->bar()->startButton());
    ASSERT_TRUE(trains(12));
    const QString path = c().training.run();
    click(window->bar()->cancelButton());
    ASSERT_TRUE(waitUntil([this] { return !c().training.busy(); }));
    const auto fitted = readRunOptions(path.toStdString()).model.number("vocab_size");
    EXPECT_LT(fitted, 64);
    ASSERT_TRUE(
        waitUntil([&] { return c().experiment.options().model.number("vocab_size") == fitted; }));
    // Words that were not there before change nothing of what the ids mean.
    writeText(QStringLiteral("cats.txt"),
              QStringLiteral("XYZ the cat sat on the mat. ").repeated(60));
    ASSERT_TRUE(waitUntil([this] { return c().experiment.resumes(); }));
    const auto step = c().runs.info(path)->step;
    click(window->bar()->startButton());
    ASSERT_TRUE(waitUntil([&] {
        return c().training.running() && c().training.info().step > step + 3;
    })) << c().experiment.disabledReason().toStdString();
    EXPECT_EQ(c().training.run(), path);
    EXPECT_EQ(readRunOptions(path.toStdString()).model.number("vocab_size"), fitted);
    EXPECT_TRUE(shows("the cat saw the dog"));
}

TEST_F(LanguageTest, WithoutItsDataARunStillReadsWhatIsTyped) {
    const QString path = finishedText();
    window = std::make_unique<MainWindow>(false);
    window->show();
    QFile::remove(textFile);
    QSignalSpy said(&c().messages, &Messages::message);
    ASSERT_TRUE(openRun(path));
    ASSERT_TRUE(shows("the cat saw the dog"));
    EXPECT_TRUE(std::any_of(said.begin(), said.end(), [](const auto& message) {
        return message.at(1).toString().contains("cats.txt");
    })) << "the missing file is named";
    type(source(), QStringLiteral("dog and cat"));
    EXPECT_TRUE(shows("dog and cat"));
}

TEST_F(LanguageTest, ATypedTextIsThereAgainInTheNextSession) {
    finishedText();
    window = std::make_unique<MainWindow>(true);
    c().runs.setFolder(folder.path() + "/runs");
    window->show();
    ASSERT_TRUE(waitUntil([this] { return !c().runs.rows().empty(); }));
    const QString path = QString::fromStdString(c().runs.rows().front().info.path);
    ASSERT_TRUE(openRun(path));
    ASSERT_TRUE(shows("the cat saw the dog"));
    type(source(), QStringLiteral("mat"));
    ASSERT_TRUE(shows("mat"));
    c().selection.setStep(5);
    window->close();
    window = std::make_unique<MainWindow>(true);
    c().runs.setFolder(folder.path() + "/runs");
    window->show();
    EXPECT_TRUE(shows("the cat saw the dog")) << "as it was then";
    EXPECT_EQ(c().selection.step(), std::optional<qint64>(5));
    c().selection.setStep(std::nullopt);
    EXPECT_TRUE(shows("mat")) << "though the data came after the step was chosen";
    EXPECT_EQ(source()->textInput()->text(), "mat");
    window = std::make_unique<MainWindow>(false);
    QSettings().clear();
}

TEST_F(LanguageTest, TheDataPageShowsTextsToo) {
    const QString path = finishedText();
    window->showPage(PageId::Data);
    auto* page = qobject_cast<DataPage*>(window->page(PageId::Data));
    ASSERT_TRUE(waitUntil([&] { return page->source()->info() != nullptr; })) << "images";
    EXPECT_EQ(page->errorSentence(), "");
    // The run's own data are asked for: windows of its text.
    DataChoice own;
    own.kind = DataChoice::Kind::Run;
    own.path = path;
    page->source()->open(own);
    ASSERT_TRUE(waitUntil([&] { return page->source()->choice().path == path; }));
    EXPECT_EQ(page->errorSentence(), "");
    EXPECT_GT(page->source()->count(), 0);
}

TEST_F(LanguageTest, DroppedTextsAreLookedAtOrTrainedOn) {
    const auto drop = [this](const QString& path) {
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({400, 20}, Qt::CopyAction, &mime, Qt::LeftButton, {});
        QCoreApplication::sendEvent(window.get(), &enter);
        QDropEvent event(QPointF(400, 20), Qt::CopyAction, &mime, Qt::LeftButton, {});
        QCoreApplication::sendEvent(window.get(), &event);
    };
    drop(textFile);
    ASSERT_TRUE(
        waitUntil([this] { return c().experiment.options().data.path == textFile.toStdString(); }));
    EXPECT_EQ(c().experiment.options().preset, "text");
    EXPECT_FALSE(c().training.busy());
    finishedText();
    ASSERT_TRUE(shows("the cat saw the dog"));
    drop(writeText(QStringLiteral("note.txt"), QStringLiteral("the dog sat")));
    EXPECT_TRUE(shows("the dog sat"));
    EXPECT_EQ(source()->textInput()->text(), "the dog sat");
    Q_EMIT inspector()->imageDropped(writeText(QStringLiteral("b.txt"), QStringLiteral("on mat")));
    EXPECT_TRUE(shows("on mat"));
}

}  // namespace
}  // namespace relascope
