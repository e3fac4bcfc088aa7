// SPDX-License-Identifier: GPL-3.0-or-later
// What is new: which sections, once after an update, and in Help.
#include "app/help.h"

#include <QListWidget>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSettings>
#include <QTextBrowser>
#include <QVersionNumber>

#include "options/builtin_resources.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "widgets/help/document_viewer.h"

namespace relascope {
namespace {

const QString kLog = QStringLiteral(
    "# Changelog\n\n## Unreleased\n\n- newest\n\n## 0.10.0\n\n- ten\n\n## 0.9.1\n\n- nine\n\n"
    "## 0.9.0\n\n- old\n");

TEST(News, AreTheSectionsSinceTheVersionSeen) {
    EXPECT_EQ(newsSince(kLog, "0.9.1", "0.10.0"),
              "## Unreleased\n\n- newest\n\n## 0.10.0\n\n- ten\n\n");
    EXPECT_EQ(newsSince(kLog, "0.9.0", "0.10.0"),
              "## Unreleased\n\n- newest\n\n## 0.10.0\n\n- ten\n\n## 0.9.1\n\n- nine\n\n");
    EXPECT_TRUE(newsSince(kLog, "0.1", "0.10.0").endsWith("## 0.9.0\n\n- old\n"));
    EXPECT_EQ(newsSince(kLog, "", "0.10.0"), "## Unreleased\n\n- newest\n\n")
        << "a version that did not say which it was";
    QString released = kLog;
    released.remove("## Unreleased\n\n- newest\n\n");
    EXPECT_EQ(newsSince(released, "", "0.10.0"), "## 0.10.0\n\n- ten\n\n");
    EXPECT_EQ(newsSince(released, "0.11.0", "0.10.0"), "") << "an older version than before";
    EXPECT_EQ(newsSince("", "0.9.0", "0.10.0"), "");
}

TEST(News, TheVersionIsThatOfTheNewestSection) {
    const QRegularExpression heading("^## (\\d\\S*)", QRegularExpression::MultilineOption);
    EXPECT_EQ(heading.match(changelog()).captured(1), QString::fromLatin1(builtin::version()))
        << "CMakeLists.txt and CHANGELOG.md";
}

class NewsTest : public WindowTest {
protected:
    void SetUp() override {
        WindowTest::SetUp();
        QSettings().remove("news");
    }
};

TEST_F(NewsTest, AreShownOnceAfterAnUpdate) {
    EXPECT_FALSE(showNewsAfterUpdate(*window, true)) << "the tour comes then";
    EXPECT_FALSE(showNewsAfterUpdate(*window, false));
    QSettings().setValue("news/version", "0.4.0");
    DocumentViewer* news = showNewsAfterUpdate(*window, false);
    ASSERT_TRUE(news && news->isVisible());
    EXPECT_EQ(news->list()->currentItem()->text(),
              QString("What is new in Relascope %1").arg(QString::fromLatin1(builtin::version())));
    EXPECT_TRUE(news->text()->toPlainText().contains("0.5.0"));
    EXPECT_FALSE(news->text()->toPlainText().contains("0.4.0"));
    QTest::keyClick(news, Qt::Key_Escape);
    EXPECT_FALSE(news->isVisible());
    EXPECT_FALSE(showNewsAfterUpdate(*window, false)) << "never twice";
    QSettings().remove("news");
    EXPECT_TRUE(showNewsAfterUpdate(*window, false)) << "updated from a version without news";
}

TEST_F(NewsTest, HelpShowsAllOfThem) {
    for (QAction* action : window->commands())
        if (action->text() == "What is new") action->trigger();
    auto* news = window->findChild<DocumentViewer*>();
    ASSERT_TRUE(news && news->isVisible());
    EXPECT_EQ(showNews(*window), news) << "one is enough";
    const QString all = news->text()->toPlainText();
    EXPECT_TRUE(all.contains("0.1.0"));
    EXPECT_FALSE(all.contains("Changelog"));
    EXPECT_FALSE(all.contains("resources/docs/")) << "documents are links";
    EXPECT_EQ(news->text()->verticalScrollBar()->value(), 0);
    EXPECT_GT(news->text()->verticalScrollBar()->maximum(), 0);
    const int count = news->list()->count();
    EXPECT_EQ(showDocuments(window.get(), "ranks.md")->current(), "ranks.md");
    EXPECT_EQ(showNews(*window)->current(), "news.md");
    EXPECT_EQ(news->list()->count(), count);
}

}  // namespace
}  // namespace relascope
