// SPDX-License-Identifier: GPL-3.0-or-later
// The documents that Help shows: all are built in, and every link in them leads somewhere.
#include <QListWidget>
#include <QRegularExpression>
#include <QSet>
#include <QTextBlock>
#include <QTextBrowser>

#include "app/help.h"
#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "widgets/help/document_viewer.h"

namespace relascope {
namespace {

class DocumentsTest : public WindowTest {};

TEST_F(DocumentsTest, HelpOpensThemAndALinkIsFollowed) {
    QAction* help = nullptr;
    for (QAction* action : window->commands())
        if (action->text() == QStringLiteral("Documentation")) help = action;
    ASSERT_TRUE(help);
    help->trigger();
    auto* viewer = window->findChild<DocumentViewer*>();
    ASSERT_TRUE(viewer && viewer->isVisible());
    ASSERT_TRUE(QTest::qWaitForWindowActive(viewer));
    EXPECT_EQ(viewer->current(), QStringLiteral("index.md"));
    EXPECT_GT(viewer->list()->count(), 10);
    auto* text = viewer->text();
    QTextCursor link = text->document()->find(QStringLiteral("File formats"));
    ASSERT_FALSE(link.isNull());
    link.setPosition((link.selectionStart() + link.selectionEnd()) / 2);
    QTest::mouseClick(text->viewport(), Qt::LeftButton, {}, text->cursorRect(link).center());
    EXPECT_EQ(viewer->current(), QStringLiteral("formats.md"));
    help->trigger();
    EXPECT_EQ(window->findChildren<DocumentViewer*>().size(), 1) << "one window, brought to front";
    EXPECT_EQ(showDocuments(window.get(), QStringLiteral("architecture.md")), viewer);
    EXPECT_EQ(viewer->current(), QStringLiteral("architecture.md"));
    bool picture = false;
    for (auto block = text->document()->begin(); block.isValid(); block = block.next())
        for (auto it = block.begin(); !it.atEnd(); ++it)
            if (const auto image = it.fragment().charFormat().toImageFormat(); image.isValid())
                picture = image.width() > 300;
    EXPECT_TRUE(picture) << "the rooms are shown";
}

TEST_F(DocumentsTest, EveryLinkLeadsToADocumentAndASection) {
    const auto all = documents();
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all[0].name, QStringLiteral("index.md"));
    DocumentViewer viewer;
    viewer.setDocuments(all);
    QSet<QString> linked;
    for (const auto& document : all) {
        EXPECT_FALSE(markdownTitle(document.markdown).isEmpty()) << document.name.toStdString();
        ASSERT_TRUE(viewer.open(document.name));
        QStringList links;
        const auto* text = viewer.text()->document();
        for (auto block = text->begin(); block.isValid(); block = block.next())
            for (auto it = block.begin(); !it.atEnd(); ++it)
                if (const QString href = it.fragment().charFormat().anchorHref(); !href.isEmpty())
                    links << href;
        links.removeDuplicates();
        for (const QString& link : std::as_const(links)) {
            if (link.startsWith(QLatin1String("https://"))) continue;
            ASSERT_TRUE(viewer.open(document.name));
            EXPECT_TRUE(viewer.open(link))
                << document.name.toStdString() << ": " << link.toStdString();
            if (document.name == QStringLiteral("index.md")) linked << QUrl(link).path();
            const QString anchor = QUrl(link).fragment();
            bool there = anchor.isEmpty();
            const auto* target = viewer.text()->document();
            for (auto block = target->begin(); block.isValid() && !there; block = block.next())
                there =
                    block.blockFormat().headingLevel() > 0 && headingAnchor(block.text()) == anchor;
            EXPECT_TRUE(there) << document.name.toStdString() << ": " << link.toStdString();
        }
    }
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_TRUE(linked.contains(all[i].name)) << "index.md lacks " << all[i].name.toStdString();
}

}  // namespace
}  // namespace relascope
