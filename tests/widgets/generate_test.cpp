// SPDX-License-Identifier: GPL-3.0-or-later
// Writing a text with a model: what the panel asks for, and the text as it comes.
#include <gtest/gtest.h>

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QDoubleSpinBox>
#include <QLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>
#include <cmath>

#include "support/rooms.h"
#include "tests/widgets/child.h"
#include "widgets/export/export.h"
#include "widgets/generate/generate_panel.h"
#include "widgets/generate/generated_text.h"
#include "widgets/source/probability_bars.h"
#include "widgets/text/text_field.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

GeneratedToken token(std::int64_t id, const std::string& piece, double probability) {
    GeneratedToken t;
    t.chosen = {id, piece, probability};
    t.alternatives = {{900, " and", 0.274}, {901, ".", 0.206}, t.chosen, {902, " or", 0.01}};
    return t;
}

class GenerateTest : public testing::Test {
protected:
    void SetUp() override {
        panel.resize(430, 700);
        panel.show();
        QTest::qWait(1);
    }
    template <class Field>
    Field* field(const char* name) const {
        for (auto* candidate : panel.findChildren<Field*>())
            if (candidate->accessibleName() == QLatin1String(name)) return candidate;
        return nullptr;
    }
    bool wears(int index, const QColor& color, int grow = 0,
               TextSide side = TextSide::Edited) const {
        GeneratedText* text = panel.texts()->text(side);
        const QImage image = text->canvas()->grab().toImage();
        const QRect box = text->tileRect(index).adjusted(-grow, -grow, grow, grow);
        for (int y = box.top(); y <= box.bottom(); ++y)
            for (int x = box.left(); x <= box.right(); ++x)
                if (image.rect().contains(x, y) && image.pixel(x, y) == color.rgb()) return true;
        return false;
    }
    GeneratedText* plain() const { return panel.texts()->text(TextSide::Plain); }
    /// "Once upon a time, there was" without and "Once upon a time and there" with the edits.
    void writeBoth() {
        panel.setEdits("layer 1 relation 2 zero");
        panel.begin({"Once", " upon"}, true);
        int id = 5;
        for (const char* piece : {" a", " time", ",", " there", " was"})
            panel.appendPlain(token(id++, piece, 0.9));
        panel.append(token(5, " a", 0.8));
        panel.append(token(6, " time", 0.8));
        EXPECT_EQ(panel.texts()->differenceText(), "No difference so far");
        panel.append(token(20, " and", 0.2));
        panel.append(token(8, " there", 0.1));
    }
    GeneratePanel panel;
};

TEST_F(GenerateTest, AsksWithWhatTheFieldsSay) {
    QSignalSpy asked(&panel, &GeneratePanel::generateRequested);
    panel.setPrompt("Once upon");
    panel.setOptions({.tokens = 37, .temperature = 0.5, .seed = 7, .alternatives = 12}, true);
    EXPECT_TRUE(asked.isEmpty());
    field<QSpinBox>("Top k")->setValue(40);
    field<QDoubleSpinBox>("Top p")->setValue(0.9);
    QTest::keyClicks(field<QLineEdit>("Stop text"), "\\nQ:");
    QTest::mouseClick(panel.button(), Qt::LeftButton);
    ASSERT_EQ(asked.size(), 1);
    EXPECT_EQ(asked[0][0].toString(), "Once upon");
    const auto options = asked[0][1].value<GenerateOptions>();
    EXPECT_EQ(options, (GenerateOptions{37, 0.5, 40, 0.9, 7, "\nQ:", 12}));
    EXPECT_TRUE(asked[0][2].toBool());
    // From the keyboard, out of the prompt.
    child<TextField>(panel, "Prompt")->setFocus();
    QTest::keyClick(child<TextField>(panel, "Prompt"), Qt::Key_Return, Qt::ControlModifier);
    EXPECT_EQ(asked.size(), 2);
    EXPECT_EQ(panel.prompt(), "Once upon") << "no line end was typed";
    panel.setOptions(options);
    EXPECT_EQ(panel.options(), options) << "there and back";
    EXPECT_FALSE(panel.bfloat16());
}

TEST_F(GenerateTest, FieldsTakeNothingThatTheOptionsRefuse) {
    const auto sound = [&] { return panel.options().problems().empty(); };
    for (const char* name : {"Tokens", "Top k", "Seed"}) {
        auto* spin = field<QSpinBox>(name);
        for (const int value : {-5, 0, 2000000000}) {
            spin->setValue(value);
            EXPECT_TRUE(sound()) << name << ' ' << value;
        }
    }
    for (const char* name : {"Temperature", "Top p"}) {
        auto* spin = field<QDoubleSpinBox>(name);
        for (const double value : {-1.0, 0.0, 1e9}) {
            spin->setValue(value);
            EXPECT_TRUE(sound()) << name << ' ' << value;
        }
    }
    panel.setOptions({.tokens = 0, .temperature = -1, .top_k = -3, .top_p = 7});
    EXPECT_TRUE(sound());
}

TEST_F(GenerateTest, AnEmptyPromptIsAHint) {
    QSignalSpy asked(&panel, &GeneratePanel::generateRequested);
    QTest::mouseClick(panel.button(), Qt::LeftButton);
    EXPECT_TRUE(asked.isEmpty());
    EXPECT_TRUE(panel.status().isEmpty()) << "a hint is no error";
    EXPECT_EQ(QApplication::focusWidget(), child<TextField>(panel, "Prompt"));
}

TEST_F(GenerateTest, TheDiceThrowsAnotherSeed) {
    panel.setOptions({.seed = 7});
    for (int k = 0; k < 5; ++k) {
        const auto before = panel.options().seed;
        QTest::mouseClick(child<QToolButton>(panel, "New random seed"), Qt::LeftButton);
        EXPECT_NE(panel.options().seed, before);
    }
}

TEST_F(GenerateTest, TheTextComesTokenByToken) {
    panel.begin({"Once", " upon"});
    EXPECT_TRUE(panel.running());
    EXPECT_EQ(panel.button()->text(), "Stop");
    panel.append(token(5, " a", 0.95));
    EXPECT_EQ(panel.status(), "1 token");
    QTest::qWait(20);
    panel.append(token(6, " time", 0.7));
    panel.append(token(7, ",", 0.4));
    panel.append(token(8, " there", 0.1));
    EXPECT_EQ(panel.text()->text(), "Once upon a time, there");
    EXPECT_TRUE(panel.status().startsWith("4 tokens, "));
    EXPECT_TRUE(panel.status().endsWith(" tokens/s"));
    const Theme& t = Theme::current();
    EXPECT_TRUE(wears(2, t.likelihood[3]));
    EXPECT_TRUE(wears(3, t.likelihood[2]));
    EXPECT_TRUE(wears(4, t.likelihood[1]));
    EXPECT_FALSE(wears(4, t.likelihood[2]));
    for (int k = 1; k < 4; ++k) EXPECT_FALSE(wears(5, t.likelihood[static_cast<std::size_t>(k)]));
    EXPECT_TRUE(wears(0, t.muted)) << "the prompt is muted";
    EXPECT_TRUE(std::isnan(panel.text()->probability(1)));
    // The newest token's alternatives are shown while none is chosen.
    EXPECT_EQ(panel.alternativesTitle(), QString::fromUtf8("Token 5, after “,”"));
    panel.finish("stopped");
    EXPECT_FALSE(panel.running());
    EXPECT_EQ(panel.button()->text(), "Generate");
    EXPECT_TRUE(panel.status().startsWith("4 tokens, "));
    EXPECT_TRUE(panel.status().endsWith(", stopped"));
    EXPECT_EQ(panel.text()->accessibleDescription(), "Once upon a time, there");
    EXPECT_TRUE(panel.csv().contains("\n4,\",\",0.4\n")) << panel.csv().toStdString();
    EXPECT_TRUE(panel.csv().contains("\n1,upon,\n"));
}

TEST_F(GenerateTest, TheSameButtonStops) {
    QSignalSpy asked(&panel, &GeneratePanel::generateRequested);
    QSignalSpy stopped(&panel, &GeneratePanel::stopRequested);
    panel.setPrompt("a");
    panel.begin({"a"});
    QTest::mouseClick(panel.button(), Qt::LeftButton);
    EXPECT_EQ(stopped.size(), 1);
    EXPECT_TRUE(panel.running()) << "until it is told that it stopped";
    QTest::keyClick(&panel, Qt::Key_Return, Qt::ControlModifier);
    EXPECT_EQ(stopped.size(), 2);
    EXPECT_TRUE(asked.isEmpty());
}

TEST_F(GenerateTest, AClickShowsWhatCouldHaveCome) {
    QSignalSpy chosen(&panel, &GeneratePanel::tokenChosen);
    panel.begin({"Once", " upon"});
    panel.append(token(5, " a", 0.2));
    panel.append(token(6, " time", 0.2));
    GeneratedToken odd = token(7, " zebra", 0.0004);
    odd.alternatives.erase(odd.alternatives.begin() + 2);
    panel.append(odd);
    panel.finish();
    QTest::qWait(1);
    QTest::mouseClick(panel.text()->canvas(), Qt::LeftButton, {},
                      panel.text()->tileRect(3).center());
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(chosen[0][0].toInt(), 3);
    EXPECT_EQ(panel.alternativesTitle(), QString::fromUtf8("Token 3, after “a”"));
    EXPECT_EQ(child<ProbabilityBars>(panel)->marked(), 2);
    EXPECT_EQ(child<ProbabilityBars>(panel)->accessibleDescription(),
              "and 0.274, . 0.206, time 0.200, or 0.010, chosen: time");
    EXPECT_TRUE(wears(3, Theme::current().accent, 1));
    const QImage bars = child<ProbabilityBars>(panel)->grab().toImage();
    EXPECT_EQ(bars.pixel(1, 2 * 20 + 3), Theme::current().selection.rgb());
    EXPECT_NE(bars.pixel(1, 1 * 20 + 3), Theme::current().selection.rgb());
    QTest::keyClick(panel.text(), Qt::Key_Right);
    EXPECT_EQ(chosen.last()[0].toInt(), 4);
    EXPECT_EQ(child<ProbabilityBars>(panel)->marked(), 3)
        << "added, since it is not among the likeliest";
    QTest::keyClick(panel.text(), Qt::Key_Home);
    EXPECT_EQ(chosen.last()[0].toInt(), 0);
    EXPECT_FALSE(child<ProbabilityBars>(panel)->isVisible());
    EXPECT_TRUE(panel.alternativesTitle().endsWith("in the prompt"));
    // A new text forgets the choice.
    panel.begin({"Now"});
    panel.append(token(5, " a", 0.2));
    EXPECT_EQ(panel.text()->chosen(), -1);
    EXPECT_EQ(chosen.size(), 3);
}

TEST_F(GenerateTest, ErrorsAndAbsence) {
    panel.begin({"a"});
    panel.append(token(5, " b", 0.2));
    panel.fail("The prompt has 1,300 tokens; the model takes at most 1,024.");
    EXPECT_FALSE(panel.running());
    EXPECT_EQ(panel.status(), "The prompt has 1,300 tokens; the model takes at most 1,024.");
    EXPECT_EQ(panel.text()->text(), "a b") << "what was written stays";
    panel.begin({"a"});
    EXPECT_EQ(panel.status(), "reading the prompt");
    panel.finish();
    panel.setAvailable(false, "Open a language model first.");
    EXPECT_FALSE(panel.button()->isEnabled());
    EXPECT_EQ(panel.button()->toolTip(), "Open a language model first.");
    QSignalSpy asked(&panel, &GeneratePanel::generateRequested);
    panel.setPrompt("x");
    QTest::keyClick(&panel, Qt::Key_Return, Qt::ControlModifier);
    EXPECT_TRUE(asked.isEmpty());
    panel.setAvailable(true);
    EXPECT_TRUE(panel.button()->isEnabled());
    QTest::keyClick(&panel, Qt::Key_Return, Qt::ControlModifier);
    EXPECT_EQ(asked.size(), 1);
}

TEST_F(GenerateTest, FollowIsToldOnceTheUserTurnsIt) {
    QSignalSpy follow(&panel, &GeneratePanel::followChanged);
    panel.setFollow(true);
    EXPECT_TRUE(panel.follow());
    EXPECT_TRUE(follow.isEmpty());
    auto* box = panel.findChildren<QCheckBox*>().last();
    ASSERT_EQ(box->text(), "Inspector follows");
    box->click();
    ASSERT_EQ(follow.size(), 1);
    EXPECT_FALSE(follow[0][0].toBool());
}

TEST_F(GenerateTest, ALongTextFollowsItsEndUnlessScrolledAway) {
    panel.begin({"Go"});
    for (int k = 0; k < 600; ++k) panel.append(token(k, " word", 0.5));
    QScrollBar* bar = panel.text()->verticalScrollBar();
    ASSERT_GT(bar->maximum(), 100);
    EXPECT_EQ(bar->value(), bar->maximum());
    bar->setValue(10);
    for (int k = 0; k < 60; ++k) panel.append(token(k, " word", 0.5));
    EXPECT_EQ(bar->value(), 10) << "somebody is reading there";
}

TEST_F(GenerateTest, WithEditsTwoTextsStandSideBySide) {
    panel.resize(460, 700);
    EXPECT_FALSE(plain()->isVisible());
    panel.setEdits("layer 1 relation 2 zero");
    EXPECT_EQ(panel.edits(), "Edited: layer 1 relation 2 zero");
    panel.begin({"Once", " upon"}, true);
    panel.appendPlain(token(5, " a", 0.9));
    panel.appendPlain(token(6, " time", 0.9));
    EXPECT_TRUE(panel.status().startsWith("2 + 0 tokens")) << panel.status().toStdString();
    EXPECT_EQ(panel.alternativesTitle(), QString::fromUtf8("Token 3, after “a”"));
    EXPECT_EQ(panel.text()->text(), "Once upon");

    writeBoth();
    QTest::qWait(1);
    EXPECT_TRUE(panel.status().startsWith("5 + 4 tokens")) << panel.status().toStdString();
    ASSERT_TRUE(plain()->isVisible());
    EXPECT_FALSE(panel.texts()->stacked());
    EXPECT_LT(plain()->mapTo(&panel, QPoint(plain()->width(), 0)).x(),
              panel.text()->mapTo(&panel, QPoint()).x());
    EXPECT_NEAR(plain()->width(), panel.text()->width(), 2);
    EXPECT_EQ(plain()->text(), "Once upon a time, there was");
    EXPECT_EQ(panel.text()->text(), "Once upon a time and there");
    EXPECT_TRUE(wears(0, Theme::current().muted, 0, TextSide::Plain)) << "the prompt is muted";
    // The first token that differs, in both.
    EXPECT_EQ(panel.texts()->difference(), 4);
    EXPECT_EQ(panel.texts()->differenceText(),
              "First difference at token 4: \" and\" instead of \",\"");
    for (const auto side : {TextSide::Plain, TextSide::Edited}) {
        EXPECT_EQ(panel.texts()->text(side)->marked(), 4);
        EXPECT_TRUE(wears(4, Theme::current().warning, 2, side));
        EXPECT_FALSE(wears(2, Theme::current().warning, 0, side));
    }
    EXPECT_EQ(panel.texts()->editedTitle(), "With the edits");
    // Other edits are for the next text.
    panel.setEdits({});
    EXPECT_EQ(panel.edits(), "");
    EXPECT_EQ(panel.texts()->editedTitle(), "With earlier edits");
    panel.finish();
    // The next text has one column again.
    panel.begin({"Once"});
    panel.append(token(5, " a", 0.9));
    QTest::qWait(1);
    EXPECT_FALSE(plain()->isVisible());
    EXPECT_EQ(panel.text()->marked(), -1);
    EXPECT_EQ(panel.texts()->differenceText(), "");
    EXPECT_EQ(panel.csv(), "token,text,probability\n0,Once,\n1,a,0.9\n");
}

TEST_F(GenerateTest, AlternativesAreThoseOfTheTextThatWasClicked) {
    QSignalSpy chosen(&panel, &GeneratePanel::tokenChosen);
    writeBoth();
    panel.finish();
    QTest::qWait(1);
    QTest::mouseClick(plain()->canvas(), Qt::LeftButton, {}, plain()->tileRect(4).center());
    EXPECT_EQ(panel.alternativesTitle(), QString::fromUtf8("Token 4, after “time”"));
    EXPECT_TRUE(child<ProbabilityBars>(panel)->accessibleDescription().endsWith("chosen: ,"));
    EXPECT_TRUE(chosen.isEmpty()) << "the inspector follows the edited text";
    QTest::mouseClick(panel.text()->canvas(), Qt::LeftButton, {},
                      panel.text()->tileRect(4).center());
    EXPECT_EQ(plain()->chosen(), -1) << "one token is chosen of both texts";
    EXPECT_TRUE(child<ProbabilityBars>(panel)->accessibleDescription().endsWith("chosen: and"));
    ASSERT_EQ(chosen.size(), 1);
    EXPECT_EQ(chosen[0][0].toInt(), 4);
    EXPECT_TRUE(wears(4, Theme::current().accent, 1));
    EXPECT_TRUE(wears(4, Theme::current().warning, 2)) << "the mark stays under the frame";
    QTest::mouseClick(panel.text()->canvas(), Qt::LeftButton, {},
                      panel.text()->tileRect(3).center());
    child<QToolButton>(panel, "Show the first difference")->click();
    EXPECT_EQ(panel.text()->chosen(), 4);
    EXPECT_EQ(chosen.last()[0].toInt(), 4);
}

TEST_F(GenerateTest, BothTextsAreInTheTable) {
    writeBoth();
    const QString csv = panel.csv();
    EXPECT_TRUE(csv.startsWith("token,text,probability,edited\n0,Once,,0\n")) << qPrintable(csv);
    EXPECT_TRUE(csv.contains("\n4,\",\",0.9,0\n"));
    EXPECT_TRUE(csv.contains("\n0,Once,,1\n"));
    EXPECT_TRUE(csv.contains("\n4,and,0.2,1\n"));
    EXPECT_EQ(csv.count(u'\n'), 1 + 7 + 6);
    // A figure of them names the edits.
    panel.setProperty(kFigureSubject, "run 3");
    auto* menu = panel.findChild<ViewMenu*>();
    ASSERT_NE(menu, nullptr);
    EXPECT_EQ(menu->caption(), "run 3; edited: layer 1 relation 2 zero");
    panel.finish();
    panel.begin({"Once"});
    EXPECT_EQ(menu->caption(), "run 3");
}

TEST_F(GenerateTest, EqualTextsHaveNoDifference) {
    panel.setEdits("layer 1 relation 2 scale 1");
    panel.begin({"Once"}, true);
    for (int k = 0; k < 3; ++k) panel.appendPlain(token(k, " a", 0.5));
    for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(panel.texts()->differenceText(), "No difference so far");
        panel.append(token(k, " a", 0.5));
    }
    panel.finish();
    EXPECT_EQ(panel.texts()->differenceText(), "No difference");
    EXPECT_FALSE(child<QToolButton>(panel, "Show the first difference")->isEnabled());
    // A text that was stopped may have differed later.
    panel.begin({"Once"}, true);
    for (int k = 0; k < 3; ++k) panel.appendPlain(token(k, " a", 0.5));
    panel.append(token(0, " a", 0.5));
    panel.finish("stopped");
    EXPECT_EQ(panel.texts()->differenceText(), "No difference so far");
    // Only a space that differs is named.
    panel.begin({"Once"}, true);
    panel.appendPlain(token(1, " the", 0.5));
    panel.append(token(2, "the", 0.5));
    EXPECT_EQ(panel.texts()->differenceText(),
              "First difference at token 1: \"the\" instead of \" the\"");
}

TEST_F(GenerateTest, NarrowTextsAreStacked) {
    writeBoth();
    panel.resize(419, 700);
    QTest::qWait(1);
    ASSERT_TRUE(panel.texts()->stacked());
    EXPECT_LE(plain()->mapTo(&panel, QPoint(0, plain()->height())).y(),
              panel.text()->mapTo(&panel, QPoint()).y());
    EXPECT_NEAR(plain()->height(), panel.text()->height(), 2);
    panel.resize(421, 700);
    QTest::qWait(1);
    EXPECT_FALSE(panel.texts()->stacked());
}

TEST_F(GenerateTest, ThreeHundredPixelsHoldIt) {
    panel.resize(300, 560);
    QTest::qWait(1);
    for (const QWidget* w : panel.findChildren<QWidget*>())
        if (w->isVisible() && qobject_cast<const QAbstractButton*>(w)) {
            const QPoint right = w->mapTo(&panel, QPoint(w->width(), 0));
            EXPECT_LE(right.x(), 300) << w->accessibleName().toStdString();
        }
    EXPECT_LE(panel.layout()->minimumSize().width(), 320);
}

}  // namespace
}  // namespace relascope
