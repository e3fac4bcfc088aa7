// SPDX-License-Identifier: GPL-3.0-or-later
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QImage>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QRegularExpression>
#include <QScrollBar>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextTable>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include "widgets/help/document_viewer.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kCodePixels = 12;
constexpr int kPageMargins = 60;  ///< left and right of the text, with the frame

bool isCode(const QTextBlock& block) {
    return block.blockFormat().hasProperty(QTextFormat::BlockCodeFence) ||
           block.blockFormat().hasProperty(QTextFormat::BlockCodeLanguage);
}

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

void formatBlock(const QTextBlock& block, bool inTable) {
    QTextBlockFormat format = block.blockFormat();
    if (isCode(block)) {
        format.setBackground(Theme::current().alt);
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

void mergeFormat(QTextDocument& document, int from, int length, const QTextCharFormat& format) {
    QTextCursor cursor(&document);
    cursor.setPosition(from);
    cursor.setPosition(from + length, QTextCursor::KeepAnchor);
    cursor.mergeCharFormat(format);
}

/// Code in the program's own fixed-width font, links in the theme's colour, anchors of headings.
void formatWords(QTextDocument& document) {
    const Theme& theme = Theme::current();
    struct Piece {
        int from, length;
        QTextCharFormat format;
    };
    std::vector<Piece> pieces;  // merging a format ends the iteration over fragments
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        for (auto it = block.begin(); !it.atEnd(); ++it) {
            const QTextFragment fragment = it.fragment();
            QTextCharFormat format;
            if (isCode(block) || fragment.charFormat().fontFixedPitch()) {
                format.setFontFamilies(monoFont().families());
                format.setProperty(QTextFormat::FontPixelSize, kCodePixels);
                if (!isCode(block)) format.setBackground(theme.alt);
            }
            if (fragment.charFormat().isAnchor()) {
                format.setForeground(theme.accent);
                format.setFontUnderline(false);
            }
            if (!format.isEmpty())
                pieces.push_back({fragment.position(), fragment.length(), format});
        }
        if (block.blockFormat().headingLevel() == 0) continue;
        QTextCharFormat anchor;
        anchor.setAnchor(true);
        anchor.setAnchorNames({headingAnchor(block.text())});
        pieces.push_back({block.position(), block.length() - 1, anchor});
    }
    for (const Piece& piece : pieces) mergeFormat(document, piece.from, piece.length, piece.format);
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

/// Reads documents and pictures from memory; nothing comes from disk or network.
class DocumentViewer::Browser : public QTextBrowser {
public:
    using QTextBrowser::QTextBrowser;
    QHash<QString, QByteArray> files, pictures;

    static QUrl urlOf(const QString& link) { return QUrl(QStringLiteral("qrc:/docs/") + link); }

    QVariant loadResource(int type, const QUrl& url) override {
        if (type != QTextDocument::ImageResource)
            return QString::fromUtf8(files.value(url.fileName()));
        QSvgRenderer renderer(pictures.value(url.fileName()));
        if (!renderer.isValid()) return {};
        // Drawn in the size in which it is shown: scaling a finished picture would blur its text.
        QSizeF size = renderer.defaultSize();
        const double room = std::max(80, viewport()->width() - kPageMargins);
        if (size.width() > room) size *= room / size.width();
        const double scale = devicePixelRatioF();
        QImage image((size * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
        image.setDevicePixelRatio(scale);
        image.fill(Qt::transparent);
        QPainter painter(&image);
        renderer.render(&painter, QRectF(QPointF(0, 0), image.deviceIndependentSize()));
        return image;
    }

    /// Gives the document that was loaded the fonts and colours of the theme.
    void format() {
        QTextFrameFormat page = document()->rootFrame()->frameFormat();
        page.setLeftMargin(28);
        page.setRightMargin(28);
        page.setTopMargin(20);
        page.setBottomMargin(28);
        document()->rootFrame()->setFrameFormat(page);
        document()->setDefaultFont(bodyFont());
        for (QTextBlock block = document()->begin(); block.isValid(); block = block.next())
            formatBlock(block, QTextCursor(block).currentTable() != nullptr);
        for (auto* frame : document()->rootFrame()->childFrames())
            if (auto* table = qobject_cast<QTextTable*>(frame)) formatTable(*table);
        formatWords(*document());
        fitPictures();
        document()->setModified(true);
    }

protected:
    void resizeEvent(QResizeEvent* event) override {
        QTextBrowser::resizeEvent(event);
        fitPictures();
    }

private:
    /// Sets every picture to its size or the width of the window. One picture per paragraph.
    void fitPictures() {
        for (QTextBlock block = document()->begin(); block.isValid(); block = block.next())
            for (auto it = block.begin(); !it.atEnd(); ++it) {
                const QTextFragment fragment = it.fragment();
                QTextImageFormat format = fragment.charFormat().toImageFormat();
                if (!format.isValid()) continue;
                const QUrl url = urlOf(format.name());
                const auto picture = loadResource(QTextDocument::ImageResource, url);
                if (picture.isNull()) continue;
                document()->addResource(QTextDocument::ImageResource, url, picture);
                const QSizeF size = picture.value<QImage>().deviceIndependentSize();
                format.setWidth(size.width());
                format.setHeight(size.height());
                mergeFormat(*document(), fragment.position(), fragment.length(), format);
                QTextBlockFormat line = block.blockFormat();
                line.setLineHeight(0, QTextBlockFormat::SingleHeight);
                QTextCursor(block).setBlockFormat(line);
                break;  // the change has invalidated the iterator
            }
    }
};

DocumentViewer::DocumentViewer(QWidget* parent)
    : QDialog(parent),
      m_text(new Browser(this)),
      m_list(new QListWidget(this)),
      m_search(new QLineEdit(this)),
      m_count(mutedLabel({}, this)),
      m_previous(iconButton("chevron-up", QStringLiteral("Previous match"), this)),
      m_next(iconButton("chevron-down", QStringLiteral("Next match"), this)) {
    setWindowTitle(QStringLiteral("Documentation"));
    setWindowFlag(Qt::WindowMaximizeButtonHint);
    resize(1080, 760);

    m_list->setFixedWidth(208);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setAccessibleName(QStringLiteral("Documents"));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenExternalLinks(true);
    m_text->setAccessibleName(QStringLiteral("Document"));
    m_search->setPlaceholderText(QStringLiteral("Search in this document"));
    m_search->setAccessibleName(QStringLiteral("Search in this document"));
    m_search->setClearButtonEnabled(true);
    m_search->setFixedWidth(260);
    auto* back = iconButton("chevron-left", QStringLiteral("Back"), this);
    auto* forward = iconButton("chevron-right", QStringLiteral("Forward"), this);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(8, 6, 8, 6);
    bar->addWidget(back);
    bar->addWidget(forward);
    bar->addStretch(1);
    bar->addWidget(m_count);
    bar->addSpacing(8);
    for (QWidget* widget : {static_cast<QWidget*>(m_search), static_cast<QWidget*>(m_previous),
                            static_cast<QWidget*>(m_next)})
        bar->addWidget(widget);
    auto* right = new QVBoxLayout;
    right->setSpacing(0);
    right->addLayout(bar);
    right->addWidget(horizontalLine(this));
    right->addWidget(m_text, 1);
    auto* left = new QVBoxLayout;
    left->setContentsMargins(8, 8, 8, 8);
    left->addWidget(m_list);
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    auto* row = rowOf(this);
    row->addLayout(left);
    row->addWidget(verticalLine(this));
    row->addLayout(right, 1);

    connect(m_list, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
        if (item) open(item->data(Qt::UserRole).toString());
    });
    connect(m_text, &QTextBrowser::sourceChanged, this, &DocumentViewer::onShown);
    connect(m_search, &QLineEdit::textChanged, this, &DocumentViewer::search);
    connect(m_search, &QLineEdit::returnPressed, this, [this] {
        goToMatch(QGuiApplication::keyboardModifiers() & Qt::ShiftModifier ? -1 : 1);
    });
    for (auto* button : {back, forward}) button->setEnabled(false);
    connect(m_text, &QTextBrowser::backwardAvailable, back, &QWidget::setEnabled);
    connect(m_text, &QTextBrowser::forwardAvailable, forward, &QWidget::setEnabled);
    connect(back, &QToolButton::clicked, m_text, &QTextBrowser::backward);
    connect(forward, &QToolButton::clicked, m_text, &QTextBrowser::forward);
    connect(m_previous, &QToolButton::clicked, this, [this] { goToMatch(-1); });
    connect(m_next, &QToolButton::clicked, this, [this] { goToMatch(1); });
    const auto key = [this](QKeySequence::StandardKey keys, auto slot) {
        connect(new QShortcut(keys, this), &QShortcut::activated, this, slot);
    };
    key(QKeySequence::Find, [this] {
        m_search->setFocus(Qt::ShortcutFocusReason);
        m_search->selectAll();
    });
    key(QKeySequence::FindNext, [this] { goToMatch(1); });
    key(QKeySequence::FindPrevious, [this] { goToMatch(-1); });
    key(QKeySequence::Back, [this] { m_text->backward(); });
    key(QKeySequence::Forward, [this] { m_text->forward(); });
    m_list->setFocus();
    goToMatch(1);
}

QTextBrowser* DocumentViewer::text() const {
    return m_text;
}

void DocumentViewer::setPictures(const QHash<QString, QByteArray>& svg) {
    m_text->pictures = svg;
}

void DocumentViewer::setDocuments(const std::vector<HelpDocument>& documents) {
    {
        const QSignalBlocker quiet(m_list);
        m_list->clear();
        m_text->files.clear();
        for (const auto& document : documents) setDocument(document);
    }
    if (!documents.empty()) open(documents.front().name);
}

void DocumentViewer::setDocument(const HelpDocument& document) {
    const bool known = m_text->files.contains(document.name);
    m_text->files.insert(document.name, document.markdown.toUtf8());
    if (known) {
        if (current() == document.name) m_text->reload();
        return;
    }
    const QString title = markdownTitle(document.markdown);
    auto* item = new QListWidgetItem(title.isEmpty() ? document.name : title, m_list);
    item->setData(Qt::UserRole, document.name);
}

QString DocumentViewer::current() const {
    return m_url.fileName();
}

bool DocumentViewer::open(const QString& link) {
    const QUrl url = Browser::urlOf(link.startsWith(u'#') ? current() + link : link);
    if (!m_text->files.contains(url.fileName())) return false;
    if (url.hasFragment() || url.fileName() != current()) m_text->setSource(url);
    return true;
}

/// Called after a document was loaded, or a section of the document shown.
void DocumentViewer::onShown(const QUrl& url) {
    m_url = url;  // source() still returns the document before
    const QSignalBlocker quiet(m_list);
    for (int i = 0; i < m_list->count(); ++i)
        if (m_list->item(i)->data(Qt::UserRole).toString() == current()) m_list->setCurrentRow(i);
    if (!m_text->document()->isModified()) {  // a new document or a new text
        m_text->format();
        search();
    }
    // Qt's Markdown gives headings no anchors, so it has not found the section before.
    if (url.hasFragment()) m_text->scrollToAnchor(url.fragment());
}

void DocumentViewer::search() {
    m_matches.clear();
    m_match = -1;
    if (const QString text = m_search->text(); !text.isEmpty())
        for (QTextCursor at = m_text->document()->find(text); !at.isNull();
             at = m_text->document()->find(text, at))
            m_matches.push_back(at);
    goToMatch(1);
}

void DocumentViewer::goToMatch(int by) {
    const Theme& theme = Theme::current();
    const int count = matches();
    if (count > 0) m_match = m_match < 0 ? 0 : (m_match + by + count) % count;
    QList<QTextEdit::ExtraSelection> marks;
    for (int i = 0; i < count; ++i) {
        QTextEdit::ExtraSelection mark{m_matches[i], {}};
        mark.format.setBackground(i == m_match ? theme.accent : theme.warningFill);
        mark.format.setForeground(i == m_match ? theme.onAccent : theme.text);
        marks.push_back(mark);
    }
    m_text->setExtraSelections(marks);
    if (count > 0) {
        QTextCursor there = m_matches[m_match];
        there.clearSelection();
        m_text->setTextCursor(there);
    }
    m_previous->setEnabled(count > 0);
    m_next->setEnabled(count > 0);
    m_count->setText(m_search->text().isEmpty() ? QString()
                     : count == 0               ? QStringLiteral("No match")
                                                : QString("%1 of %2").arg(m_match + 1).arg(count));
}

void DocumentViewer::changeEvent(QEvent* event) {
    QDialog::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || current().isEmpty()) return;
    const int scroll = m_text->verticalScrollBar()->value();
    m_text->reload();
    m_text->verticalScrollBar()->setValue(scroll);
}

void DocumentViewer::keyPressEvent(QKeyEvent* event) {
    // The first Esc ends the search, the second closes the window.
    if (!event->matches(QKeySequence::Cancel) || m_search->text().isEmpty())
        return QDialog::keyPressEvent(event);
    m_search->clear();
    m_text->setFocus();
}

}  // namespace relascope::widgets
