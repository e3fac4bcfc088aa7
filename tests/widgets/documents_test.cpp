// SPDX-License-Identifier: GPL-3.0-or-later
// The viewer of the documentation: links, history, search, pictures, themes.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDesktopServices>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollBar>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>

#include "support/rooms.h"
#include "widgets/help/document_viewer.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

const char* const kPicture =
    "<svg xmlns='http://www.w3.org/2000/svg' width='400' height='100' viewBox='0 0 400 100'>"
    "<rect width='400' height='100' fill='#ff0000'/></svg>";

class DocumentViewerTest : public ::testing::Test {
protected:
    void SetUp() override {
        QString longText = QStringLiteral("# Second\n\n");
        for (int i = 0; i < 80; ++i) longText += QString("Paragraph %1.\n\n").arg(i);
        longText += QStringLiteral("## 3.1 Far `below`\n\nThe needle. Another Needle.\n\n");
        for (int i = 0; i < 80; ++i) longText += QString("Paragraph %1.\n\n").arg(i);
        viewer.setPictures({{QStringLiteral("red.svg"), QByteArray(kPicture)}});
        viewer.setDocuments(
            {{QStringLiteral("first.md"),
              QStringLiteral("# First\n\nGo [on](second.md), [far](second.md#31-far-below) "
                             "or [away](https://example.org/).\n\n![red](red.svg)\n\n"
                             "| a | b |\n|---|---|\n| `c` | d |\n")},
             {QStringLiteral("second.md"), longText}});
        viewer.resize(900, 600);
        viewer.show();
        (void)QTest::qWaitForWindowActive(&viewer);
    }
    /// Clicks the middle of the first place with this text.
    void clickOn(const QString& text) {
        QTextCursor cursor = viewer.text()->document()->find(text);
        ASSERT_FALSE(cursor.isNull()) << text.toStdString();
        const int middle = (cursor.selectionStart() + cursor.selectionEnd()) / 2;
        cursor.setPosition(middle);
        QTest::mouseClick(viewer.text()->viewport(), Qt::LeftButton, {},
                          viewer.text()->cursorRect(cursor).center());
    }
    int scroll() const { return viewer.text()->verticalScrollBar()->value(); }

    DocumentViewer viewer;
};

TEST(HeadingAnchor, IsThatOfMarkdownRenderers) {
    EXPECT_EQ(headingAnchor("4. Dual attention and its blocks"),
              QStringLiteral("4-dual-attention-and-its-blocks"));
    EXPECT_EQ(headingAnchor("1.3b Row blocks"), QStringLiteral("13b-row-blocks"));
    EXPECT_EQ(markdownTitle("text\n# A title \n## Not"), QStringLiteral("A title"));
    EXPECT_TRUE(markdownTitle("## Not").isEmpty());
}

TEST_F(DocumentViewerTest, FollowsALinkAndReturns) {
    EXPECT_EQ(viewer.list()->count(), 2);
    EXPECT_EQ(viewer.list()->item(1)->text(), QStringLiteral("Second"));
    EXPECT_EQ(viewer.current(), QStringLiteral("first.md"));
    clickOn("on");
    EXPECT_EQ(viewer.current(), QStringLiteral("second.md"));
    EXPECT_EQ(viewer.list()->currentRow(), 1);
    EXPECT_EQ(scroll(), 0);
    QTest::keyClick(&viewer, Qt::Key_Left, Qt::AltModifier);
    EXPECT_EQ(viewer.current(), QStringLiteral("first.md"));
    viewer.text()->forward();
    EXPECT_EQ(viewer.current(), QStringLiteral("second.md"));
}

TEST_F(DocumentViewerTest, ALinkToASectionScrollsThere) {
    clickOn("far");
    EXPECT_EQ(viewer.current(), QStringLiteral("second.md"));
    EXPECT_GT(scroll(), 500);
    const int there = scroll();
    viewer.text()->backward();
    viewer.text()->forward();
    EXPECT_EQ(scroll(), there) << "the place is remembered";
    viewer.list()->setCurrentRow(0);
    EXPECT_EQ(viewer.current(), QStringLiteral("first.md"));
    EXPECT_FALSE(viewer.open("third.md"));
    EXPECT_EQ(viewer.current(), QStringLiteral("first.md"));
}

TEST_F(DocumentViewerTest, OtherLinksAreHandedOn) {
    QTextBrowser desktop;
    QDesktopServices::setUrlHandler("https", &desktop, "setSource");
    clickOn("away");
    QDesktopServices::unsetUrlHandler("https");
    EXPECT_EQ(desktop.source(), QUrl("https://example.org/"));
    EXPECT_EQ(viewer.current(), QStringLiteral("first.md"));
}

TEST_F(DocumentViewerTest, FindsWordsInTheDocument) {
    ASSERT_TRUE(viewer.open("second.md"));
    QTest::keyClick(&viewer, Qt::Key_F, Qt::ControlModifier);
    ASSERT_TRUE(viewer.searchField()->hasFocus());
    QTest::keyClicks(viewer.searchField(), "needle");
    EXPECT_EQ(viewer.matches(), 2) << "capitals do not matter";
    EXPECT_GT(scroll(), 500);
    const int first = viewer.text()->textCursor().position();
    QTest::keyClick(viewer.searchField(), Qt::Key_Return);
    const int second = viewer.text()->textCursor().position();
    EXPECT_GT(second, first);
    QTest::keyClick(viewer.searchField(), Qt::Key_Return, Qt::ShiftModifier);
    EXPECT_EQ(viewer.text()->textCursor().position(), first);
    QTest::keyClick(viewer.searchField(), Qt::Key_Escape);
    EXPECT_TRUE(viewer.isVisible()) << "the first Esc ends the search";
    EXPECT_EQ(viewer.matches(), 0);
    QTest::keyClick(&viewer, Qt::Key_Escape);
    EXPECT_FALSE(viewer.isVisible());
}

TEST_F(DocumentViewerTest, ShowsPicturesInTheirSizeOrNarrower) {
    const auto width = [this] {
        for (QTextBlock block = viewer.text()->document()->begin(); block.isValid();
             block = block.next())
            for (auto it = block.begin(); !it.atEnd(); ++it)
                if (const auto image = it.fragment().charFormat().toImageFormat(); image.isValid())
                    return image.width();
        return -1.0;
    };
    EXPECT_EQ(width(), 400);
    viewer.resize(520, 400);
    EXPECT_TRUE(QTest::qWaitFor([&] { return width() < 350 && width() > 100; }, 2000)) << width();
}

TEST_F(DocumentViewerTest, FollowsTheTheme) {
    viewer.open("second.md");
    viewer.text()->verticalScrollBar()->setValue(700);
    applyTheme(*qApp, ThemeMode::Dark);
    QTest::qWait(30);
    EXPECT_LT(viewer.grab().toImage().pixelColor(600, 300).lightness(), 80);
    EXPECT_EQ(scroll(), 700);
    viewer.open("first.md");
    const auto link = viewer.text()->document()->find("away").charFormat().foreground().color();
    EXPECT_EQ(link, Theme::darkTheme().accent);
    applyTheme(*qApp, ThemeMode::Light);
    QTest::qWait(30);
    EXPECT_GT(viewer.grab().toImage().pixelColor(600, 560).lightness(), 200);
}

}  // namespace
}  // namespace relascope
