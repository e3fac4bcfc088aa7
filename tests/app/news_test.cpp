// SPDX-License-Identifier: GPL-3.0-or-later
// What is new: which sections, once after an update, and in Help.
#include "app/help.h"

#include <QPushButton>
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
    NewsDialog* dialog() const { return window->findChild<NewsDialog*>(); }
    bool gone() {
        return waitUntil([this] { return !dialog(); });
    }
};

TEST_F(NewsTest, AreShownOnceAfterAnUpdate) {
    EXPECT_FALSE(showNewsAfterUpdate(*window, true)) << "the tour comes then";
    EXPECT_FALSE(showNewsAfterUpdate(*window, false));
    QSettings().setValue("news/version", "0.4.0");
    NewsDialog* news = showNewsAfterUpdate(*window, false);
    ASSERT_TRUE(news);
    EXPECT_EQ(news->windowTitle(),
              QString("What is new in Relascope %1").arg(QString::fromLatin1(builtin::version())));
    EXPECT_TRUE(news->text()->toPlainText().contains("0.5.0"));
    EXPECT_FALSE(news->text()->toPlainText().contains("0.4.0"));
    QTest::mouseClick(news->closeButton(), Qt::LeftButton);
    EXPECT_TRUE(gone());
    EXPECT_FALSE(showNewsAfterUpdate(*window, false)) << "never twice";
    QSettings().remove("news");
    news = showNewsAfterUpdate(*window, false);
    ASSERT_TRUE(news) << "updated from a version without news";
    QTest::keyClick(news, Qt::Key_Escape);
    EXPECT_TRUE(gone());
}

TEST_F(NewsTest, HelpShowsAllOfThem) {
    for (QAction* action : window->commands())
        if (action->text() == "What is new") action->trigger();
    NewsDialog* news = dialog();
    ASSERT_TRUE(news && news->isVisible());
    EXPECT_EQ(showNews(*window), news) << "one is enough";
    const QString all = news->text()->toPlainText();
    EXPECT_TRUE(all.contains("0.1.0"));
    EXPECT_FALSE(all.contains("Changelog"));
    EXPECT_FALSE(all.contains("resources/docs/")) << "documents are links";
    EXPECT_EQ(news->text()->verticalScrollBar()->value(), 0);
    EXPECT_GT(news->text()->verticalScrollBar()->maximum(), 0);
    window->setTheme(ThemeMode::Dark);
    EXPECT_TRUE(waitUntil(
        [&] { return news->text()->grab().toImage().pixelColor(4, 4).lightness() < 80; }));
    EXPECT_EQ(news->text()->toPlainText(), all);
    window->setTheme(ThemeMode::Light);
    // A link of the text, and the button.
    Q_EMIT news->text()->anchorClicked(QUrl("ranks.md"));
    EXPECT_EQ(showDocuments(window.get())->current(), "ranks.md");
    QTest::mouseClick(news->documentsButton(), Qt::LeftButton);
    EXPECT_TRUE(showDocuments(window.get())->isVisible());
    news->close();
    EXPECT_TRUE(gone());
}

}  // namespace
}  // namespace relascope
