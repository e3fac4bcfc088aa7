// SPDX-License-Identifier: GPL-3.0-or-later
// The inspector over a text: strip, map and words linked; what can be typed and what comes of it.
#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <QTextEdit>
#include <QToolButton>

#include "sequence_fixture.h"
#include "support/rooms.h"
#include "text_fixture.h"
#include "widgets/export/figure.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/input_chooser.h"
#include "widgets/source/probability_bars.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/source/tile_view.h"
#include "widgets/source/token_strip.h"
#include "widgets/text/text_field.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

class TextInspectorTest : public testing::Test {
protected:
    void SetUp() override {
        inspector.resize(1160, 480);
        inspector.show();
        inspector.sourcePane()->samples()->setSplits({"train", "validation"}, {100, 100});
        inspector.sourcePane()->samples()->setSample("validation", 12);
        inspector.setResult(fixture::text(fixture::storyPieces()));
        QTest::qWait(1);
    }
    SourcePane* pane() const { return inspector.sourcePane(); }
    TokenStrip* strip() const { return pane()->objects()->strip(); }
    TextInput* input() const { return pane()->textInput(); }
    QRgb fillOf(int index) const {
        const QRect box = strip()->tileRect(index);
        return strip()->canvas()->grab().toImage().pixel(box.left() + 2, box.top() + 2);
    }
    RelationInspector inspector;
};

TEST_F(TextInspectorTest, AStripInPlaceOfTiles) {
    EXPECT_TRUE(strip()->isVisible());
    EXPECT_FALSE(pane()->objects()->tiles()->isVisible());
    EXPECT_EQ(strip()->size(), 51);
    EXPECT_TRUE(input()->isVisible());
    EXPECT_EQ(inspector.view().source, 50) << "the last token sees all";
    inspector.setResult(fixture::language(12));
    EXPECT_FALSE(strip()->isVisible());
    EXPECT_FALSE(input()->isVisible());
    EXPECT_TRUE(pane()->objects()->tiles()->isVisible()) << "tokens that are no text stay tiles";
}

TEST_F(TextInspectorTest, StripAndMapAreOne) {
    InspectorView view = inspector.view();
    view.source = 42;
    view.target = 17;
    inspector.setView(view);
    EXPECT_EQ(strip()->source(), 42);
    EXPECT_EQ(strip()->target(), 17);
    EXPECT_TRUE(inspector.choice().footer().contains(
        QString::fromUtf8("i = token 42 “ball” ← j = token 17 “ball”")))
        << inspector.choice().footer().toStdString();
    // Every token wears the colour of its cell in row i.
    const QImage map = inspector.mapPane()->map()->grab().toImage();
    for (const int j : {0, 3, 17, 30}) {
        const QRect cell = inspector.mapPane()->map()->cellRect(42, j);
        EXPECT_EQ(fillOf(j), map.pixel(cell.center())) << j;
    }
    EXPECT_EQ(fillOf(45), Theme::current().hatchFill.rgb()) << "what comes later is masked";
    // Direction: now the column.
    inspector.toggleDirection();
    EXPECT_NE(fillOf(45), Theme::current().hatchFill.rgb());
    EXPECT_EQ(fillOf(3), Theme::current().hatchFill.rgb());
    inspector.toggleDirection();

    QSignalSpy changed(&inspector, &RelationInspector::viewChanged);
    QTest::mouseMove(strip()->canvas(), strip()->tileRect(25).center());
    EXPECT_TRUE(inspector.choice().footer().contains(QString::fromUtf8("j = token 25 “and”")));
    EXPECT_TRUE(inspector.mapPane()->map()->accessibleDescription().contains(
        QString::fromUtf8("42 “ball” ← 25 “and”")))
        << "the crosshair follows";
    EXPECT_TRUE(changed.isEmpty()) << "a look is no choice";
    QTest::mouseClick(strip()->canvas(), Qt::LeftButton, {}, strip()->tileRect(30).center());
    EXPECT_EQ(inspector.view().source, 30);
    EXPECT_EQ(inspector.mapPane()->map()->row(), 30);
    const QRect cell = inspector.mapPane()->map()->cellRect(48, 2);
    QTest::mouseClick(inspector.mapPane()->map(), Qt::LeftButton, {}, cell.center());
    EXPECT_EQ(strip()->source(), 48);
    EXPECT_TRUE(strip()->canvas()->rect().contains(strip()->tileRect(48)));
    EXPECT_TRUE(inspector.choice().csv().contains(QString::fromUtf8("token 0 “Once”")));
    EXPECT_TRUE(pane()->csv().contains("\n9,girl,"));
}

TEST_F(TextInspectorTest, AShortTextLeavesNoHole) {
    pane()->outcome()->setNextTokens("Next token", {{1, " play", 0.4}});
    inspector.resize(1400, 900);
    QTest::qWait(1);
    EXPECT_LE(strip()->height(), strip()->contentHeight());
    EXPECT_LT(pane()->outcome()->y(), strip()->geometry().bottom() + 60);
    EXPECT_EQ(strip()->verticalScrollBar()->maximum(), 0) << "all of it is seen";
    inspector.resize(900, 360);
    QTest::qWait(1);
    EXPECT_GT(strip()->verticalScrollBar()->maximum(), 0);
    EXPECT_LE(pane()->outcome()->geometry().bottom(), pane()->height());
}

TEST_F(TextInspectorTest, TheCountIsThatOfTheTextUntilToldOtherwise) {
    const auto shown = [&](const QString& text) {
        for (const auto* label : pane()->findChildren<QLabel*>())
            if (label->isVisible() && label->text() == text) return true;
        return false;
    };
    EXPECT_TRUE(shown("51 tokens"));
    pane()->setTokenCount("51 of 256 tokens");
    EXPECT_TRUE(shown("51 of 256 tokens"));
    EXPECT_FALSE(shown("51 tokens"));
}

TEST_F(TextInspectorTest, TypingIsToldAndNothingElseIs) {
    QSignalSpy typed(inspector.sourcePane()->textInput(), &TextInput::textTyped);
    QSignalSpy sample(inspector.sourcePane()->samples(), &SampleChooser::sampleRequested);
    EXPECT_FALSE(input()->field()->isVisible());
    QTest::mouseClick(input()->typeButton(), Qt::LeftButton);
    ASSERT_TRUE(input()->field()->isVisible());
    EXPECT_TRUE(input()->text().startsWith("Once upon a time, there was"));
    EXPECT_TRUE(input()->text().contains(QString::fromUtf8("\U0001F60A Lily")))
        << "the halves of a character are whole again";
    EXPECT_TRUE(typed.isEmpty()) << "opening is no edit";
    input()->field()->selectAll();
    QTest::keyClicks(input()->field(), "a cat");
    ASSERT_EQ(typed.size(), 5);
    EXPECT_EQ(typed.last()[0].toString(), "a cat");
    pane()->textInput()->setProblem(QString::fromUtf8("262 tokens are more than the model's 256"));
    EXPECT_EQ(input()->note(), "262 tokens are more than the model's 256");
    EXPECT_TRUE(input()->field()->property("error").toBool());
    QTest::keyClick(input()->field(), Qt::Key_Backspace);
    EXPECT_FALSE(input()->field()->property("error").toBool()) << "that was of the text before";
    // Nothing left: a hint, no error.
    input()->field()->selectAll();
    QTest::keyClick(input()->field(), Qt::Key_Delete);
    EXPECT_EQ(typed.last()[0].toString(), "");
    EXPECT_FALSE(input()->note().isEmpty());
    EXPECT_FALSE(input()->field()->property("error").toBool());
    input()->setText("set by a session");
    EXPECT_NE(typed.last()[0].toString(), "set by a session");
    EXPECT_TRUE(input()->note().isEmpty());
    // Closing goes back to the data's text.
    EXPECT_TRUE(sample.isEmpty());
    QTest::mouseClick(input()->typeButton(), Qt::LeftButton);
    EXPECT_FALSE(input()->field()->isVisible());
    ASSERT_EQ(sample.size(), 1);
    EXPECT_EQ(sample[0][0].toString(), "validation");
    EXPECT_EQ(sample[0][1].toLongLong(), 12);
}

TEST_F(TextInspectorTest, DataSamplesAsEver) {
    QSignalSpy sample(inspector.sourcePane()->samples(), &SampleChooser::sampleRequested);
    QSignalSpy random(inspector.sourcePane()->samples(), &SampleChooser::randomSampleRequested);
    input()->setOpen(true);
    pane()->next();
    EXPECT_EQ(sample.last()[1].toLongLong(), 13);
    EXPECT_FALSE(input()->isOpen()) << "the data's text is asked for";
    pane()->previous();
    EXPECT_EQ(sample.last()[1].toLongLong(), 12);
    inspector.sourcePane()->random();
    EXPECT_EQ(random.size(), 1);
    for (const auto* button : pane()->findChildren<QToolButton*>())
        EXPECT_FALSE(button->accessibleName() == "By label" && button->isVisible());
}

TEST_F(TextInspectorTest, ExamplesAreTyped) {
    QSignalSpy typed(inspector.sourcePane()->textInput(), &TextInput::textTyped);
    ASSERT_EQ(input()->exampleMenu()->actions().size(), 4);
    for (QAction* action : input()->exampleMenu()->actions()) {
        action->trigger();
        EXPECT_TRUE(input()->field()->isVisible());
        EXPECT_EQ(typed.last()[0].toString(), input()->text());
        EXPECT_GT(input()->text().size(), 150);
    }
    EXPECT_EQ(typed.size(), 4);
    const QString first = QString::fromUtf8(exampleTexts()[0].text);
    EXPECT_GE(first.count("model"), 2);
    EXPECT_GE(first.count("state"), 4);
}

TEST_F(TextInspectorTest, ACheckpointsTextIsTyped) {
    inspector.sourcePane()->samples()->setSplits({});
    inspector.sourcePane()->setInputs({InputOffer::Kind::Text, 0, 256, 64});
    EXPECT_FALSE(pane()->inputs()->isVisible()) << "nothing is stored beside it";
    EXPECT_TRUE(input()->isVisible());
    QSignalSpy sample(inspector.sourcePane()->samples(), &SampleChooser::sampleRequested);
    QTest::mouseClick(input()->typeButton(), Qt::LeftButton);
    QTest::mouseClick(input()->typeButton(), Qt::LeftButton);
    EXPECT_TRUE(sample.isEmpty()) << "there is no data to go back to";
    inspector.sourcePane()->setInputs({InputOffer::Kind::Text, 2, 256, 64});
    EXPECT_TRUE(pane()->inputs()->isVisible());
    EXPECT_FALSE(pane()->inputs()->sourceField()->isVisible());
}

TEST_F(TextInspectorTest, WhatComesNextStandsBelow) {
    EXPECT_FALSE(pane()->outcome()->isVisible());
    pane()->outcome()->setNextTokens(
        QString::fromUtf8("Next token after “we”"),
        {{1, " play", 0.437}, {2, " go", 0.118}, {3, "\n", 0.096}, {4, " \xF0\x9F", 0.05}});
    ASSERT_TRUE(pane()->outcome()->isVisible());
    EXPECT_EQ(pane()->outcome()->bars()->accessibleDescription(),
              QString::fromUtf8("play 0.437, go 0.118, ↵ 0.096, F0 9F 0.050"));
    QTest::qWait(1);
    EXPECT_GT(pane()->outcome()->y(), strip()->geometry().bottom());
    // The likeliest bar is longest, in pixels.
    const QImage bars = pane()->outcome()->bars()->grab().toImage();
    const auto length = [&](int row) {
        int count = 0;
        for (int x = 0; x < bars.width(); ++x)
            count += bars.pixel(x, row * 20 + 10) == Theme::current().muted.rgb();
        return count;
    };
    EXPECT_GT(length(0), 40);
    EXPECT_NEAR(static_cast<double>(length(1)) / length(0), 0.118 / 0.437, 0.06);
    pane()->outcome()->setNextTokens("nothing", {});
    EXPECT_FALSE(pane()->outcome()->isVisible());

    pane()->outcome()->setContinuation("Sample at step 1,200", "Once upon", " a time\nthere was");
    QTextEdit* text = pane()->outcome()->sample();
    ASSERT_TRUE(text->isVisible());
    EXPECT_EQ(text->toPlainText(), "Once upon a time\nthere was");
    QTextCursor cursor(text->document());
    cursor.setPosition(3);
    EXPECT_EQ(cursor.charFormat().foreground().color(), Theme::current().muted);
    cursor.setPosition(14);
    EXPECT_EQ(cursor.charFormat().foreground().color(), Theme::current().text);
    EXPECT_TRUE(text->textInteractionFlags() & Qt::TextSelectableByMouse);
    EXPECT_TRUE(text->isReadOnly());
    inspector.setResult(fixture::result());
    EXPECT_FALSE(pane()->outcome()->isVisible()) << "an image has no next token";
}

TEST_F(TextInspectorTest, TheFigureShowsTheText) {
    QTemporaryDir folder;
    InspectorView view;
    view.source = 42;
    view.target = 17;
    QString error;
    const QString path = folder.filePath("text.svg");
    ASSERT_TRUE(renderFigure(*fixture::text(fixture::storyPieces()), view, path, &error))
        << error.toStdString();
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QByteArray svg = file.readAll();
    EXPECT_TRUE(svg.contains(">smiled<"));
    EXPECT_TRUE(svg.contains(">F0 9F<"));
}

}  // namespace
}  // namespace relascope
