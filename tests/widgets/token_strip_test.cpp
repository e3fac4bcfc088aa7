// SPDX-License-Identifier: GPL-3.0-or-later
// A text in pieces: what is written for each, where it stands, and the strip that shades it.
#include <gtest/gtest.h>

#include <QApplication>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <limits>

#include "support/rooms.h"
#include "text_fixture.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

TEST(DisplayPiece, GapsSignsAndBytes) {
    EXPECT_EQ(displayPiece(" ball").text, "ball");
    EXPECT_TRUE(displayPiece(" ball").space);
    EXPECT_FALSE(displayPiece("ball").space);
    EXPECT_EQ(displayPiece(" \xF0\x9F").text, "F0 9F");
    EXPECT_TRUE(displayPiece(" \xF0\x9F").space);
    EXPECT_TRUE(displayPiece("\x98").hex);
    EXPECT_EQ(displayPiece("\n\n").breaks, 2);
    EXPECT_EQ(displayPiece("a\n\tb").text, QString::fromUtf8("a\u21B5\u21E5b"));
    EXPECT_EQ(displayPiece("\\n").text, "\\n") << "a backslash and an n are no line end";
    EXPECT_EQ(displayPiece("\\n").breaks, 0);
    EXPECT_TRUE(displayPiece("  ").blank);
    EXPECT_EQ(displayPiece("  ").text, QString::fromUtf8("\u2423\u2423"));
    EXPECT_EQ(displayPiece("\x01").text, "\\x01");
    EXPECT_EQ(pieceName(39, " ball"), QString::fromUtf8("token 39 \u201Cball\u201D"));
}

TEST(TextFlow, WrapsBetweenWordsAndNotWithin) {
    TextFlow flow;
    flow.setPieces(fixture::storyPieces());
    for (const int width : {420, 300, 217, 150}) {
        flow.layOut(width);
        EXPECT_EQ(flow.lineOf(23), flow.lineOf(24)) << "L|ily stays together at " << width;
        EXPECT_EQ(flow.lineOf(27), flow.lineOf(28));
        EXPECT_EQ(flow.lineOf(17), flow.lineOf(18)) << "a stop stays with its word";
        EXPECT_NE(flow.lineOf(19), flow.lineOf(20)) << "a line end ends the line";
        EXPECT_EQ(flow.place(20).left(), 0);
        for (int k = 0; k < flow.size(); ++k) {
            EXPECT_LE(flow.place(k).right(), width);
            EXPECT_EQ(flow.at(flow.place(k).center()), k);
            if (k > 0 && flow.lineOf(k) == flow.lineOf(k - 1)) {
                const int gap = flow.place(k).left() - flow.place(k - 1).right() - 1;
                EXPECT_EQ(gap, flow.piece(k).space ? 4 : 1) << k << " at " << width;
            }
        }
    }
    EXPECT_FALSE(flow.characters());
    EXPECT_EQ(flow.at({-5, 5}), -1);
    EXPECT_EQ(flow.at({5, flow.height() + 30}), -1);
}

TEST(TextFlow, LettersStandSideBySide) {
    TextFlow flow;
    flow.setPieces(fixture::lineOfPlay());
    flow.layOut(330);
    ASSERT_TRUE(flow.characters());
    for (int k = 1; k < flow.size(); ++k) {
        if (flow.lineOf(k) != flow.lineOf(k - 1)) {
            EXPECT_TRUE(flow.piece(k - 1).blank || flow.piece(k - 1).breaks > 0)
                << "a word is torn at " << k;
            continue;
        }
        EXPECT_EQ(flow.place(k).left(), flow.place(k - 1).right() + 1) << k;
        EXPECT_EQ(flow.place(k).width(), flow.place(0).width());
    }
    EXPECT_LE(flow.place(0).width(), 10);
    EXPECT_GT(flow.lines(), 6);
}

TEST(TextFlow, AWordLongerThanALineIsBroken) {
    TextFlow flow;
    flow.setPieces(fixture::characterPieces(std::string(100, 'x')));
    flow.layOut(200);
    EXPECT_GT(flow.lines(), 3);
    for (int k = 0; k < flow.size(); ++k) EXPECT_LE(flow.place(k).right(), 200);
}

TEST(TextFlow, GrowingEqualsTheWhole) {
    const auto pieces = fixture::storyPieces();
    TextFlow grown, whole;
    grown.layOut(260);
    for (const auto& piece : pieces) grown.append(piece);
    whole.setPieces(pieces);
    whole.layOut(260);
    for (int k = 0; k < whole.size(); ++k) EXPECT_EQ(grown.place(k), whole.place(k)) << k;
    const auto letters = fixture::lineOfPlay();
    TextFlow typed;
    typed.layOut(260);
    for (const auto& letter : letters) typed.append(letter);
    whole.setPieces(letters);
    EXPECT_TRUE(typed.characters());
    EXPECT_EQ(typed.place(150), whole.place(150));
}

class StripTest : public testing::Test {
protected:
    void SetUp() override {
        strip.resize(300, 220);
        strip.show();
        strip.setTokens(fixture::storyPieces());
        QTest::qWait(1);
    }
    ColorScale scale() const { return {ColorScale::Kind::Signed, {-1, 1}, Theme::current()}; }
    QImage shot() { return strip.canvas()->grab().toImage(); }
    bool wears(const QImage& image, int index, const QColor& color, int grow = 0) const {
        const QRect box = strip.tileRect(index).adjusted(-grow, -grow, grow, grow);
        for (int y = box.top(); y <= box.bottom(); ++y)
            for (int x = box.left(); x <= box.right(); ++x)
                if (image.rect().contains(x, y) && image.pixel(x, y) == color.rgb()) return true;
        return false;
    }
    TokenStrip strip;
};

TEST_F(StripTest, ShadesByTheValuesAndHatchesTheMasked) {
    std::vector<float> values(51, 0.25F);
    values[2] = -0.75F;
    values[4] = std::numeric_limits<float>::quiet_NaN();
    std::vector<bool> masked(51, false);
    masked[6] = true;
    strip.setValues(values, masked, scale());
    strip.setSource(1);
    const QImage image = shot();
    const Theme& t = Theme::current();
    EXPECT_TRUE(wears(image, 2, scale().color(-0.75F)));
    EXPECT_TRUE(wears(image, 3, scale().color(0.25F)));
    EXPECT_FALSE(wears(image, 3, scale().color(-0.75F)));
    EXPECT_FALSE(wears(image, 1, scale().color(0.25F))) << "i itself is not shaded";
    EXPECT_TRUE(wears(image, 1, t.outline, 1));
    EXPECT_FALSE(wears(image, 8, t.outline, 1));
    EXPECT_TRUE(wears(image, 6, t.hatchFill));
    EXPECT_TRUE(wears(image, 6, t.hatch));
    EXPECT_TRUE(wears(image, 6, t.muted)) << "its word is muted";
    EXPECT_FALSE(wears(image, 5, t.hatch));
    EXPECT_TRUE(wears(image, 4, t.errorFill)) << "NaN is an error";
    // Both ends of the scale keep their words readable.
    std::vector<float> ends(51, -1.0F);
    strip.setValues(ends, {}, scale());
    EXPECT_TRUE(wears(shot(), 9, Theme::textOn(scale().color(-1.0F))));
}

TEST_F(StripTest, HoverClickAndKeys) {
    QSignalSpy hovered(&strip, &TokenStrip::hovered);
    QSignalSpy source(&strip, &TokenStrip::sourceChosen);
    QSignalSpy target(&strip, &TokenStrip::targetChosen);
    QTest::mouseMove(strip.canvas(), strip.tileRect(9).center());
    EXPECT_EQ(hovered.last()[0].toInt(), 9);
    EXPECT_TRUE(strip.accessibleDescription().contains(QString::fromUtf8("j is token 9 “girl”")));
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(strip.canvas(), &leave);
    EXPECT_EQ(hovered.last()[0].toInt(), -1);
    QTest::mouseClick(strip.canvas(), Qt::LeftButton, {}, strip.tileRect(11).center());
    EXPECT_EQ(source.last()[0].toInt(), 11);
    EXPECT_EQ(strip.source(), 11);
    QTest::mouseClick(strip.canvas(), Qt::LeftButton, Qt::ShiftModifier,
                      strip.tileRect(3).center());
    EXPECT_EQ(target.last()[0].toInt(), 3);
    EXPECT_EQ(source.size(), 1);
    strip.setFocus();
    QTest::keyClick(&strip, Qt::Key_Right);
    EXPECT_EQ(strip.source(), 12);
    QTest::keyClick(&strip, Qt::Key_Up);
    const int above = strip.source();
    EXPECT_EQ(strip.flow().lineOf(above), strip.flow().lineOf(12) - 1);
    EXPECT_LT(std::abs(strip.tileRect(above).center().x() - strip.tileRect(12).center().x()), 50);
    QTest::keyClick(&strip, Qt::Key_End);
    EXPECT_EQ(source.last()[0].toInt(), 50);
    QTest::keyClick(&strip, Qt::Key_Home);
    EXPECT_EQ(source.last()[0].toInt(), 0);
    QTest::keyClick(&strip, Qt::Key_Left);
    EXPECT_EQ(strip.source(), 0) << "stops at the end";
    QTest::keyClick(&strip, Qt::Key_Right, Qt::ShiftModifier);
    EXPECT_EQ(target.last()[0].toInt(), 4);
}

TEST_F(StripTest, AnotherPanesPointerIsDashed) {
    strip.setValues(std::vector<float>(51, 1.0F), {}, scale());
    strip.setTarget(3);
    const QImage locked = shot();
    strip.setPreview(8);
    const QImage preview = shot();
    const QRect box = strip.tileRect(8).adjusted(-1, -1, 1, 1);
    EXPECT_NE(locked.copy(box), preview.copy(box));
    EXPECT_NE(locked.copy(strip.tileRect(3)), preview.copy(strip.tileRect(3))) << "one j at a time";
    strip.setPreview(-1);
    EXPECT_EQ(locked, shot());
}

TEST_F(StripTest, LongTextsScrollToTheChosen) {
    std::vector<std::string> pieces;
    for (int k = 0; k < 1024; ++k) pieces.push_back(" w" + std::to_string(k));
    strip.setTokens(pieces);
    EXPECT_GT(strip.verticalScrollBar()->maximum(), 1000);
    strip.setSource(700);
    EXPECT_TRUE(strip.canvas()->rect().contains(strip.tileRect(700)));
    strip.setFocus();
    QTest::keyClick(&strip, Qt::Key_End);
    EXPECT_TRUE(strip.canvas()->rect().contains(strip.tileRect(1023)));
    strip.verticalScrollBar()->setValue(0);
    EXPECT_FALSE(strip.canvas()->rect().contains(strip.tileRect(1023)));
    EXPECT_EQ(strip.tileAt(strip.tileRect(0).center()), 0);
    strip.resize(200, 160);
    QTest::qWait(1);
    EXPECT_TRUE(strip.canvas()->rect().contains(strip.tileRect(1023))) << "kept through a resize";
}

/// Counts what is painted: a hover must not paint the whole text.
class PaintedArea : public QObject {
public:
    int area = 0;
    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::Paint)
            for (const QRect& part : static_cast<QPaintEvent*>(event)->region())
                area += part.width() * part.height();
        return false;
    }
};

TEST_F(StripTest, AHoverRepaintsTwoBoxes) {
    QTest::qWait(5);
    PaintedArea painted;
    strip.canvas()->installEventFilter(&painted);
    QTest::mouseMove(strip.canvas(), strip.tileRect(5).center());
    QCoreApplication::processEvents();
    painted.area = 0;
    QTest::mouseMove(strip.canvas(), strip.tileRect(30).center());
    QCoreApplication::processEvents();
    EXPECT_GT(painted.area, 0);
    EXPECT_LT(painted.area, 8000) << "of " << strip.width() * strip.height();
}

TEST_F(StripTest, EmptyTextIsNoError) {
    strip.setTokens({});
    EXPECT_EQ(strip.accessibleDescription(), "no text");
    strip.setFocus();
    QTest::keyClick(&strip, Qt::Key_Right);
    EXPECT_FALSE(shot().isNull());
    strip.setTokens({""});
    EXPECT_EQ(strip.size(), 1);
}

}  // namespace
}  // namespace relascope
