// SPDX-License-Identifier: GPL-3.0-or-later
// The Checkpoint page with a language model: texts that it reads and writes.
#include <QCheckBox>
#include <QComboBox>
#include <QMenu>
#include <QProcess>
#include <QSignalSpy>
#include <QSpinBox>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "app/pages/checkpoint_details.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/data_source.h"
#include "app/pages/evaluate_dialog.h"
#include "question/question_words.h"
#include "support/rooms.h"
#include "tests/app/language_fixture.h"
#include "tests/widgets/child.h"
#include "text/tokenizer.h"
#include "widgets/data/statistics_view.h"
#include "widgets/export/export.h"
#include "widgets/generate/generate_panel.h"
#include "widgets/generate/generated_text.h"
#include "widgets/source/probability_bars.h"

namespace relascope {
namespace {

class WritingTest : public LanguageTest {
protected:
    CheckpointPage* page() {
        return qobject_cast<CheckpointPage*>(window->page(PageId::Checkpoint));
    }
    GeneratePanel* panel() { return page()->text()->panel(); }
    CheckpointController& checkpoint() { return c().checkpoint; }
    const ProbeResult* result() { return page()->inspector()->result(); }
    /// A trained run whose newest weights are loaded on the Checkpoint page.
    void openedRun() {
        run = finishedText();
        ASSERT_TRUE(shows("the cat saw the dog"));
        QAction* write = nullptr;
        for (QAction* action : window->commands())
            if (action->text() == "Generate text with this run") write = action;
        ASSERT_NE(write, nullptr);
        ASSERT_TRUE(write->isEnabled());
        write->trigger();
        ASSERT_TRUE(waitUntil([this] { return panel()->button()->isVisible() && result(); }))
            << page()->errorSentence().toStdString();
        EXPECT_EQ(window->currentPage(), PageId::Checkpoint);
    }
    void setTokens(int tokens, std::int64_t seed = 1, double temperature = 1.0) {
        GenerateOptions options;
        options.tokens = tokens, options.seed = seed, options.temperature = temperature;
        panel()->setOptions(options, panel()->bfloat16());
    }
    void generate() {
        click(panel()->button());
        ASSERT_TRUE(panel()->running());
        ASSERT_TRUE(waitUntil([this] { return !panel()->running(); }, 60000));
    }
    std::vector<double> probabilities() {
        std::vector<double> all;
        for (int k = panel()->text()->promptSize(); k < panel()->text()->size(); ++k)
            all.push_back(panel()->text()->probability(k));
        return all;
    }
    GeneratedPair* texts() { return panel()->texts(); }
    /// What the model of the run writes with the options of the panel.
    std::vector<GeneratedToken> written(const EditList& edits) {
        core::OpenedModel model(run.toStdString(), "last", "cpu");
        std::vector<GeneratedToken> all;
        model.generate(panel()->prompt().toStdString(), panel()->options(),
                       [&](const GeneratedToken& token) {
                           all.push_back(token);
                           return true;
                       },
                       {edits, {}});
        return all;
    }
    /// Whether a text of the panel has these tokens.
    void expectTokens(TextSide side, const std::vector<GeneratedToken>& expected) {
        const auto& shown = texts()->written(side);
        ASSERT_EQ(shown.size(), expected.size());
        for (std::size_t k = 0; k < shown.size(); ++k) {
            EXPECT_EQ(shown[k].chosen.id, expected[k].chosen.id) << k;
            EXPECT_NEAR(shown[k].chosen.probability, expected[k].chosen.probability, 1e-5) << k;
        }
    }
    void edit(const QString& words) {
        ASSERT_TRUE(waitUntil([this] { return c().checkpointEdits.points() != nullptr; }));
        c().checkpointEdits.addWords(words);
        ASSERT_TRUE(waitUntil([this] { return page()->inspector()->edited(); }));
    }
    QString run;
    QCheckBox* rounded() {
        for (auto* box : panel()->findChildren<QCheckBox*>())
            if (box->text().startsWith("bfloat16")) return box;
        return nullptr;
    }
};

TEST_F(WritingTest, ARunWritesAndTheInspectorFollows) {
    openedRun();
    EXPECT_EQ(panel()->prompt(), "the ");
    EXPECT_EQ(shown(page()->inspector()), "the cat saw the dog");
    setTokens(12);
    generate();
    EXPECT_EQ(panel()->text()->size(), 4 + 12);
    EXPECT_EQ(panel()->text()->promptSize(), 4);
    EXPECT_TRUE(panel()->status().startsWith("12 tokens")) << panel()->status().toStdString();
    // The whole text, seen from its last token.
    ASSERT_TRUE(waitUntil([this] { return result()->sample.source.size() == 16; }));
    EXPECT_EQ(shown(page()->inspector()), panel()->text()->text().toStdString());
    EXPECT_EQ(page()->inspector()->view().source, 15);
    // Another token, chosen in the text.
    QTest::mouseClick(panel()->text()->canvas(), Qt::LeftButton, {},
                      panel()->text()->tileRect(6).center());
    EXPECT_EQ(panel()->text()->chosen(), 6);
    EXPECT_EQ(page()->inspector()->view().source, 6);
    EXPECT_TRUE(panel()->alternativesTitle().startsWith("Token 6"));
    // The inspector's own text, and back by a click.
    type(page()->inspector()->sourcePane(), QStringLiteral("a mat"));
    ASSERT_TRUE(waitUntil([this] { return shown(page()->inspector()) == "a mat"; }));
    QTest::mouseClick(panel()->text()->canvas(), Qt::LeftButton, {},
                      panel()->text()->tileRect(5).center());
    ASSERT_TRUE(waitUntil([this] { return result()->sample.source.size() == 16; }));
    EXPECT_EQ(page()->inspector()->view().source, 5);
}

TEST_F(WritingTest, TheCommandThatIsCopiedWritesTheSameText) {
    openedRun();
    auto* menu = panel()->menu();
    EXPECT_FALSE(menu->describe());  // nothing is written yet
    setTokens(9);
    generate();
    Q_EMIT menu->menu()->aboutToShow();
    QStringList shown;
    for (const auto* action : menu->menu()->actions())
        if (action->isVisible()) shown << action->text();
    EXPECT_TRUE(shown.contains("Copy as command"));
    EXPECT_TRUE(shown.contains("Copy as Python"));
    EXPECT_FALSE(shown.contains("Save view..."));
    const auto words = core::wordsOf(*menu->describe());
    QStringList arguments;
    for (const auto& word : words) arguments << QString::fromStdString(word);
    QProcess command;
    command.start(QStringLiteral(RELASCOPE_BIN "/relascope-cli"), arguments);
    ASSERT_TRUE(command.waitForFinished(60000));
    EXPECT_EQ(QString::fromUtf8(command.readAllStandardOutput()).chopped(1),
              panel()->text()->text())
        << core::commandOf(*menu->describe());
    // What is typed next is of the next text.
    setTokens(3);
    EXPECT_EQ(core::wordsOf(*menu->describe()), words);
}

TEST_F(WritingTest, BeyondTheContextTheNewestTokensAreSeen) {
    openedRun();
    setTokens(40);
    generate();
    ASSERT_TRUE(waitUntil([this] { return result()->sample.source.size() == kContext; }));
    EXPECT_TRUE(
        panel()->text()->text().endsWith(QString::fromStdString(shown(page()->inspector()))));
    // A token that has left the context brings its surroundings back.
    QTest::mouseClick(panel()->text()->canvas(), Qt::LeftButton, {},
                      panel()->text()->tileRect(2).center());
    ASSERT_TRUE(waitUntil([this] {
        return panel()->text()->text().startsWith(
            QString::fromStdString(shown(page()->inspector())));
    }));
    EXPECT_EQ(page()->inspector()->view().source, 2);
}

TEST_F(WritingTest, StopsAtOnceAndTheModelIsFree) {
    openedRun();
    setTokens(1000000);
    click(panel()->button());
    ASSERT_TRUE(waitUntil([this] { return panel()->text()->size() > 30; }));
    ASSERT_TRUE(waitUntil([this] { return shown(page()->inspector()) != "the cat saw the dog"; }))
        << "the inspector follows while it writes";
    EXPECT_TRUE(panel()->running());
    click(panel()->button());
    EXPECT_FALSE(panel()->running());
    EXPECT_TRUE(panel()->status().endsWith("stopped")) << panel()->status().toStdString();
    const int size = panel()->text()->size();
    type(page()->inspector()->sourcePane(), QStringLiteral("the mat"));
    EXPECT_TRUE(waitUntil([this] { return shown(page()->inspector()) == "the mat"; }));
    EXPECT_EQ(panel()->text()->size(), size);
    // The next text begins anew.
    setTokens(5);
    generate();
    EXPECT_EQ(panel()->text()->size(), 4 + 5);
}

TEST_F(WritingTest, RoundedWeightsComeBackExact) {
    openedRun();
    setTokens(20);
    generate();
    const auto exact = probabilities();
    const QString text = panel()->text()->text();
    QTest::mouseClick(rounded(), Qt::LeftButton, {}, QPoint(8, rounded()->height() / 2));
    ASSERT_TRUE(panel()->bfloat16());
    generate();
    EXPECT_NE(probabilities(), exact);
    QTest::mouseClick(rounded(), Qt::LeftButton, {}, QPoint(8, rounded()->height() / 2));
    ASSERT_FALSE(panel()->bfloat16());
    generate();
    EXPECT_EQ(probabilities(), exact);
    EXPECT_EQ(panel()->text()->text(), text);
}

TEST_F(WritingTest, EditsWriteASecondTextBesideTheFirst) {
    openedRun();
    setTokens(20);
    generate();
    EXPECT_FALSE(texts()->both());
    const auto alone = texts()->written(TextSide::Edited);
    expectTokens(TextSide::Edited, written({}));

    edit(QStringLiteral("layer 1 stream zero"));
    EXPECT_EQ(panel()->edits(), "Edited: layer 1 stream zero");
    const EditList list = c().checkpointEdits.list();
    generate();
    ASSERT_TRUE(texts()->both());
    EXPECT_TRUE(panel()->status().startsWith("20 + 20 tokens")) << qPrintable(panel()->status());
    expectTokens(TextSide::Plain, alone);
    const auto edited = written(list);
    expectTokens(TextSide::Edited, edited);
    int first = 0;
    while (first < 20 && alone[static_cast<std::size_t>(first)].chosen.id ==
                             edited[static_cast<std::size_t>(first)].chosen.id)
        ++first;
    ASSERT_LT(first, 20) << "the edit changes nothing here";
    EXPECT_EQ(texts()->difference(), 4 + first);
    EXPECT_EQ(texts()->text(TextSide::Plain)->marked(), 4 + first);
    EXPECT_EQ(panel()->text()->marked(), 4 + first);
    // The inspector follows the text with the edits.
    ASSERT_TRUE(waitUntil([this] {
        return result() && shown(page()->inspector()) == panel()->text()->text().toStdString();
    }));
    // The model itself is without them again.
    c().checkpointEdits.clear();
    EXPECT_EQ(panel()->edits(), "");
    EXPECT_EQ(texts()->editedTitle(), "With earlier edits");
    generate();
    EXPECT_FALSE(texts()->both());
    expectTokens(TextSide::Edited, alone);
}

TEST_F(WritingTest, ATextKeepsTheEditsThatItWasStartedWith) {
    openedRun();
    edit(QStringLiteral("layer 1 stream zero"));
    setTokens(1000000);
    click(panel()->button());
    auto* plain = texts()->text(TextSide::Plain);
    ASSERT_TRUE(waitUntil([&] { return plain->size() > 10; }));
    c().checkpointEdits.clear();
    const int size = plain->size();
    ASSERT_TRUE(waitUntil([&] { return plain->size() > size; })) << "other edits do not stop it";
    EXPECT_TRUE(panel()->running());
    click(panel()->button());
    EXPECT_FALSE(panel()->running());
    EXPECT_TRUE(panel()->status().endsWith("stopped")) << qPrintable(panel()->status());
    EXPECT_TRUE(texts()->both());
    EXPECT_EQ(texts()->differenceText(), "No difference so far");
    setTokens(5);
    generate();
    EXPECT_FALSE(texts()->both());
    expectTokens(TextSide::Edited, written({}));
}

TEST_F(WritingTest, EditsThatDoNotFitAreRefusedBeforeAnyText) {
    openedRun();
    edit(QStringLiteral("layer 1 relation 1 zero"));
    auto list = c().checkpointEdits.list();
    list.edits.front().op = EditOp::Resample;
    c().checkpointEdits.change(list, QStringLiteral("Resample"));
    setTokens(1000000);
    generate();
    EXPECT_TRUE(panel()->status().contains("resample")) << qPrintable(panel()->status());
    EXPECT_TRUE(texts()->written(TextSide::Plain).empty());
}

TEST_F(WritingTest, AnUnknownTokenizerIsAskedFor) {
    window->opener().openCheckpoint(
        QStringLiteral(RELASCOPE_FIXTURES "/golden/lm_symbolic_rope_gqa"));
    ASSERT_TRUE(waitUntil([this] { return checkpoint().info().has_value(); }));
    EXPECT_FALSE(panel()->button()->isEnabled());
    click(child<QPushButton>(page()->head(), "Inspect"));
    ASSERT_TRUE(waitUntil([this] { return result() != nullptr; }, 60000));
    EXPECT_FALSE(panel()->button()->isEnabled());
    EXPECT_TRUE(panel()->button()->toolTip().contains("61")) << "the size of its vocabulary";
    ASSERT_TRUE(page()->text()->tokenizerButton()->isVisible());
    // One of another model is refused before anything runs.
    std::string many;
    for (int k = 0; k < 90; ++k) many += static_cast<char>('!' + k);
    const QString wrong = folder.filePath("wrong.json"), right = folder.filePath("tokenizer.json");
    writeTokenizer(*characterTokenizer(many), wrong.toStdString());
    writeTokenizer(*characterTokenizer("abcdefghijklmnopqrstuvwxyz ."), right.toStdString());
    page()->askTokenizer = [&] { return wrong; };
    click(page()->text()->tokenizerButton());
    ASSERT_TRUE(waitUntil([this] { return !page()->errorSentence().isEmpty(); }));
    EXPECT_TRUE(page()->errorSentence().contains("61")) << page()->errorSentence().toStdString();
    EXPECT_FALSE(panel()->button()->isEnabled());
    page()->askTokenizer = [&] { return right; };
    click(page()->text()->tokenizerButton());
    ASSERT_TRUE(waitUntil([this] { return panel()->button()->isEnabled(); }));
    EXPECT_FALSE(page()->text()->tokenizerButton()->isVisible());
    panel()->setPrompt(QStringLiteral("abc"));
    setTokens(6);
    generate();
    EXPECT_EQ(panel()->text()->size(), 3 + 6);
    EXPECT_TRUE(panel()->text()->text().startsWith("abc"));
    // The same tokenizer reads what is typed.
    type(page()->inspector()->sourcePane(), QStringLiteral("hello"));
    EXPECT_TRUE(waitUntil([this] { return shown(page()->inspector()) == "hello"; }));
}

TEST_F(WritingTest, AnEncoderShowsItsHiddenWordAndWritesNothing) {
    window->opener().openCheckpoint(QStringLiteral(RELASCOPE_FIXTURES "/golden/families/bert"));
    ASSERT_TRUE(waitUntil([this] { return checkpoint().info().has_value(); }));
    EXPECT_TRUE(checkpoint().generateDisabledReason().contains("writes no text"))
        << checkpoint().generateDisabledReason().toStdString();
    click(child<QPushButton>(page()->head(), "Inspect"));
    ASSERT_TRUE(waitUntil([this] { return result() != nullptr; }, 60000));
    auto* pane = page()->inspector()->sourcePane();
    const auto shows = [&](const char* text, const char* title) {
        type(pane, QString::fromUtf8(text));
        return waitUntil([&] { return pane->outcome()->title() == QLatin1String(title); }, 20000);
    };
    EXPECT_TRUE(shows("a [MASK] here", "Hidden word"));
    EXPECT_TRUE(shows("a [MASK] or [MASK]", "The first of 2 hidden words; Lens shows all"));
    EXPECT_TRUE(
        shows("nothing here", "Last token: the word itself is seen; put [MASK] into the text"));
}

TEST_F(WritingTest, AnotherCheckpointEndsWhatIsWritten) {
    openedRun();
    setTokens(1000000);
    click(panel()->button());
    ASSERT_TRUE(waitUntil([this] { return panel()->text()->size() > 8; }));
    checkpoint().open(QStringLiteral(RELASCOPE_FIXTURES "/golden/vit_relational_games"));
    ASSERT_TRUE(waitUntil([this] { return page()->title() == "vit_relational_games"; }));
    EXPECT_FALSE(panel()->running());
    EXPECT_FALSE(panel()->isVisible());
    EXPECT_FALSE(page()->side()->isVisible());
    click(child<QPushButton>(page()->head(), "Inspect"));
    EXPECT_TRUE(waitUntil([this] { return result() && result()->sample.image.width > 0; }, 60000));
}

TEST_F(WritingTest, NothingOfATextStaysUnderAnotherCheckpoint) {
    openedRun();
    setTokens(6);
    generate();
    QTest::mouseClick(panel()->text()->canvas(), Qt::LeftButton, {},
                      panel()->text()->tileRect(5).center());
    ASSERT_TRUE(panel()->alternativesTitle().startsWith("Token 5"));
    // Another language model, by the button that opens files, as a user does.
    const QString other = QStringLiteral(RELASCOPE_FIXTURES "/golden/public/gpt2_tied");
    page()->askFile = [&] { return other; };
    page()->openFile();
    ASSERT_TRUE(waitUntil([this] { return page()->title() == "gpt2_tied"; }));
    const auto empty = [this] {
        EXPECT_EQ(panel()->text()->size(), 0);
        EXPECT_EQ(panel()->status(), "");
        EXPECT_EQ(panel()->alternativesTitle(), "Click a token to see the alternatives.");
        for (auto* bars : panel()->findChildren<ProbabilityBars*>())
            EXPECT_FALSE(bars->isVisible());
        EXPECT_EQ(checkpoint().generator().size(), 0);
    };
    empty();
    EXPECT_EQ(result(), nullptr);
    click(child<QPushButton>(page()->head(), "Inspect"));
    ASSERT_TRUE(waitUntil([this] { return result(); }, 60000));
    empty();
    // And of its own text nothing stays when the run is opened again.
    page()->side()->setCurrent(1);
    panel()->setPrompt(QStringLiteral("1 2 3"));
    setTokens(3);
    generate();
    EXPECT_GT(panel()->text()->size(), 3);
    page()->askFile = [this] { return run; };
    page()->openFile();
    ASSERT_TRUE(waitUntil([this] { return page()->title() != "gpt2_tied"; }));
    empty();
}

TEST_F(WritingTest, IsMeasuredOnTheRunsTextAndOnAnother) {
    openedRun();
    ASSERT_TRUE(child<QPushButton>(page()->head(), "Evaluate")->isVisible());
    const auto measure = [this](const std::function<void(EvaluateDialog&)>& choose) {
        page()->askEvaluation = [choose, this] {
            EvaluateDialog dialog(window.get(), EvaluateDialog::Data::Text, true);
            choose(dialog);
            return std::optional(dialog.question());
        };
        QSignalSpy evaluated(&checkpoint(), &CheckpointController::evaluated);
        click(child<QPushButton>(page()->head(), "Evaluate"));
        EXPECT_TRUE(waitUntil([&] { return evaluated.size() == 1; }, 60000))
            << page()->errorSentence().toStdString();
        if (evaluated.isEmpty()) return Evaluation();
        // The menu copies the command that gives the same numbers.
        const auto shown = evaluated[0][0].value<Evaluation>();
        const auto view = page()->details()->menu(CheckpointDetails::Evaluated)->describe();
        EXPECT_TRUE(view);
        QStringList words = {QStringLiteral("--json")};
        for (const auto& word : core::wordsOf(*view)) words << QString::fromStdString(word);
        std::swap(words[0], words[1]);
        QProcess command;
        command.start(QStringLiteral(RELASCOPE_BIN "/relascope-cli"), words);
        EXPECT_TRUE(command.waitForFinished(60000));
        const auto json = nlohmann::json::parse(command.readAllStandardOutput().toStdString());
        EXPECT_NEAR(json["loss"].get<double>(), shown.loss, 1e-5) << core::commandOf(*view);
        EXPECT_EQ(json["examples"].get<std::int64_t>(), shown.examples);
        return shown;
    };
    const auto own = measure([](EvaluateDialog& dialog) {
        EXPECT_EQ(child<QComboBox>(dialog, "Data")->currentText(),
                  QStringLiteral("The text of the run"));
        dialog.countBox()->setValue(4);
    });
    EXPECT_EQ(own.examples, 4);
    // What training measured last, of the same windows.
    const RunInfo* info = c().runs.info(c().selection.current());
    ASSERT_NE(info, nullptr);
    EXPECT_NEAR(own.loss, info->last.value("loss"), 1e-5);
    const QString csv = child<widgets::StatisticsView>(page()->details())->csv();
    EXPECT_TRUE(csv.contains("Perplexity")) << csv.toStdString();
    EXPECT_TRUE(csv.contains("Next-token accuracy"));
    // A short text of another kind, whole.
    const QString other =
        writeText(QStringLiteral("other.txt"), QStringLiteral("9876543210 zz ").repeated(20));
    const auto strange = measure([&](EvaluateDialog& dialog) {
        dialog.askFile = [&] { return other; };
        child<QComboBox>(dialog, "Data")
            ->setCurrentIndex(child<QComboBox>(dialog, "Data")->count() - 1);
        Q_EMIT child<QComboBox>(dialog, "Data")
            ->activated(child<QComboBox>(dialog, "Data")->count() - 1);
        EXPECT_EQ(child<QComboBox>(dialog, "Data")->currentText(), "other.txt");
        dialog.countBox()->setValue(0);
    });
    EXPECT_GE(strange.examples, 8);
    EXPECT_GT(strange.loss, own.loss);
}

TEST_F(WritingTest, TextFilesAreDroppedOntoThePage) {
    openedRun();
    EXPECT_TRUE(page()->takeText(
        writeText(QStringLiteral("n.txt"), QStringLiteral("the dog sat on the mat with a cat"))));
    auto* pane = page()->inspector()->sourcePane();
    ASSERT_TRUE(
        waitUntil([this] { return shown(page()->inspector()) == "the dog sat on the mat w"; }));
    EXPECT_TRUE(pane->textInput()->note().contains("33 tokens")) << "how long it is";
    EXPECT_TRUE(page()->takeText(folder.filePath("none.txt")));
    EXPECT_TRUE(waitUntil([this] { return page()->errorSentence().contains("none.txt"); }));
}

}  // namespace
}  // namespace relascope
