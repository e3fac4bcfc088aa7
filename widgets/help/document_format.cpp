// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/help/document_format.h"

#include <QImage>
#include <QRegularExpression>
#include <QSet>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextTable>
#include <QUrl>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kCodePixels = 12;

void formatTable(QTextTable& table) {
    const Theme& theme = Theme::current();
    QTextTableFormat format = table.format();
    format.setBorder(1);
    format.setBorderCollapse(true);
    format.setBorderBrush(theme.border);
    format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
    format.setCellSpacing(0);
    format.setCellPadding(5);
    format.setTopMargin(6);
    format.setBottomMargin(4);
    table.setFormat(format);
    for (int column = 0; column < table.columns(); ++column) {
        QTextTableCell cell = table.cellAt(0, column);
        QTextCharFormat head = cell.format();
        head.setBackground(theme.alt);
        cell.setFormat(head);
    }
}

bool isCode(const QTextBlock& block) {
    return block.blockFormat().hasProperty(QTextFormat::BlockCodeFence) ||
           block.blockFormat().hasProperty(QTextFormat::BlockCodeLanguage);
}

void formatBlock(const QTextBlock& block, bool inTable) {
    const Theme& theme = Theme::current();
    QTextBlockFormat format = block.blockFormat();
    if (isCode(block)) {
        format.setBackground(theme.alt);
        format.setLeftMargin(12);
        format.setTopMargin(block.previous().isValid() && isCode(block.previous()) ? 0 : 6);
        format.setBottomMargin(block.next().isValid() && isCode(block.next()) ? 0 : 10);
    } else if (const int level = format.headingLevel(); level > 0) {
        format.setTopMargin(level == 1 ? 0 : level == 2 ? 22 : 14);
        format.setBottomMargin(8);
    } else if (!inTable) {
        format.setLineHeight(135, QTextBlockFormat::ProportionalHeight);
        format.setTopMargin(0);
        format.setBottomMargin(block.textList() ? 3 : 10);
    }
    QTextCursor(block).setBlockFormat(format);
}

/// Code in the program's own fixed-width font, links in the theme's colour.
void formatWords(QTextDocument& document) {
    const Theme& theme = Theme::current();
    struct Piece {
        int from, length;
        bool code, inBlock, link;
    };
    std::vector<Piece> pieces;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        for (auto it = block.begin(); !it.atEnd(); ++it) {
            const QTextFragment fragment = it.fragment();
            const QTextCharFormat format = fragment.charFormat();
            const bool code = isCode(block) || format.fontFixedPitch();
            if (code || format.isAnchor())
                pieces.push_back({fragment.position(), fragment.length(), code, isCode(block),
                                  format.isAnchor()});
        }
    for (const Piece& piece : pieces) {
        QTextCursor cursor(&document);
        cursor.setPosition(piece.from);
        cursor.setPosition(piece.from + piece.length, QTextCursor::KeepAnchor);
        QTextCharFormat format;
        if (piece.code) {
            format.setFontFamilies(monoFont().families());
            format.setProperty(QTextFormat::FontPixelSize, kCodePixels);
            if (!piece.inBlock) format.setBackground(theme.alt);
        }
        if (piece.link) {
            format.setForeground(theme.accent);
            format.setFontUnderline(false);
        }
        cursor.mergeCharFormat(format);
    }
}

}  // namespace

QString markdownTitle(const QString& markdown) {
    static const QRegularExpression heading(QStringLiteral("^#\\s+(.+?)\\s*$"),
                                            QRegularExpression::MultilineOption);
    return heading.match(markdown).captured(1);
}

QString headingAnchor(const QString& heading) {
    QString anchor;
    for (const QChar c : heading.trimmed().toLower()) {
        if (c.isLetterOrNumber() || c == u'_' || c == u'-') anchor += c;
        if (c == u' ') anchor += u'-';
    }
    return anchor;
}

void formatMarkdown(QTextDocument& document) {
    QTextFrameFormat page = document.rootFrame()->frameFormat();
    page.setLeftMargin(28);
    page.setRightMargin(28);
    page.setTopMargin(20);
    page.setBottomMargin(28);
    document.rootFrame()->setFrameFormat(page);
    QSet<QTextTable*> tables;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        QTextTable* table = QTextCursor(block).currentTable();
        if (table) tables.insert(table);
        formatBlock(block, table != nullptr);
    }
    for (QTextTable* table : tables) formatTable(*table);
    formatWords(document);
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() == 0) continue;
        QTextCursor cursor(block);
        cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
        QTextCharFormat format;
        format.setAnchor(true);
        format.setAnchorNames({headingAnchor(block.text())});
        cursor.mergeCharFormat(format);
    }
}

void fitPictures(QTextDocument& document) {
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        for (auto it = block.begin(); !it.atEnd(); ++it) {
            const QTextFragment fragment = it.fragment();
            QTextImageFormat format = fragment.charFormat().toImageFormat();
            if (!format.isValid()) continue;
            const auto picture =
                document.resource(QTextDocument::ImageResource, QUrl(format.name()))
                    .value<QImage>();
            if (picture.isNull()) continue;
            format.setWidth(picture.deviceIndependentSize().width());
            format.setHeight(picture.deviceIndependentSize().height());
            QTextCursor cursor(&document);
            cursor.setPosition(fragment.position());
            cursor.setPosition(fragment.position() + fragment.length(), QTextCursor::KeepAnchor);
            cursor.setCharFormat(format);
            QTextBlockFormat line = block.blockFormat();
            line.setLineHeight(0, QTextBlockFormat::SingleHeight);
            cursor.setBlockFormat(line);
            break;  // the iterator is stale; one picture a paragraph
        }
}

}  // namespace relascope::widgets
