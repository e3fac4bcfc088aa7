// SPDX-License-Identifier: GPL-3.0-or-later
#include <QHBoxLayout>
#include <QImage>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSet>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextCursor>
#include <QTextDocument>
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

namespace {

constexpr int kPageMargins = 60;  ///< left and right of the text, with the frame

/// Draws the pictures of the documents from memory; nothing is read from disk or network.
class Browser : public QTextBrowser {
public:
    using QTextBrowser::QTextBrowser;
    QHash<QString, QByteArray> pictures;

    QVariant loadResource(int type, const QUrl& url) override {
        if (type != QTextDocument::ImageResource) return {};
        QSvgRenderer renderer(pictures.value(url.path()));
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
    void redrawPictures() {
        for (auto it = pictures.cbegin(); it != pictures.cend(); ++it) {
            const QUrl url(it.key());
            document()->addResource(QTextDocument::ImageResource, url,
                                    loadResource(QTextDocument::ImageResource, url));
        }
        fitPictures(*document());
    }
};

Browser& browserOf(QTextBrowser* text) {
    return *static_cast<Browser*>(text);
}

}  // namespace

DocumentViewer::DocumentViewer(QWidget* parent)
    : QDialog(parent),
      m_list(new QListWidget(this)),
      m_text(new Browser(this)),
      m_search(new QLineEdit(this)),
      m_count(mutedLabel({}, this)),
      m_back(iconButton("chevron-left", QStringLiteral("Back"), this)),
      m_forward(iconButton("chevron-right", QStringLiteral("Forward"), this)),
      m_previous(iconButton("chevron-up", QStringLiteral("Previous match"), this)),
      m_next(iconButton("chevron-down", QStringLiteral("Next match"), this)) {
    setWindowTitle(QStringLiteral("Documentation"));
    setWindowFlag(Qt::WindowMaximizeButtonHint);
    resize(1080, 760);

    m_list->setFixedWidth(208);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setAccessibleName(QStringLiteral("Documents"));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenLinks(false);
    m_text->setAccessibleName(QStringLiteral("Document"));
    m_text->viewport()->installEventFilter(this);
    m_search->setPlaceholderText(QStringLiteral("Search in this document"));
    m_search->setAccessibleName(QStringLiteral("Search in this document"));
    m_search->setClearButtonEnabled(true);
    m_search->setFixedWidth(260);
    m_search->installEventFilter(this);

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(8, 6, 8, 6);
    bar->addWidget(m_back);
    bar->addWidget(m_forward);
    bar->addStretch(1);
    bar->addWidget(m_count);
    bar->addSpacing(8);
    bar->addWidget(m_search);
    bar->addWidget(m_previous);
    bar->addWidget(m_next);
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

    connect(m_list, &QListWidget::currentRowChanged, this, [this](int row) { turnTo(row, {}); });
    connect(m_text, &QTextBrowser::anchorClicked, this, &DocumentViewer::follow);
    connect(m_search, &QLineEdit::textChanged, this, &DocumentViewer::search);
    connect(m_back, &QToolButton::clicked, this, &DocumentViewer::back);
    connect(m_forward, &QToolButton::clicked, this, &DocumentViewer::forward);
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
    key(QKeySequence::Back, [this] { back(); });
    key(QKeySequence::Forward, [this] { forward(); });
    m_list->setFocus();
    refresh();
}

void DocumentViewer::setPictures(const QHash<QString, QByteArray>& svg) {
    browserOf(m_text).pictures = svg;
}

void DocumentViewer::setDocuments(std::vector<HelpDocument> documents) {
    m_documents = std::move(documents);
    m_history.clear();
    m_at = -1;
    {
        const QSignalBlocker quiet(m_list);
        m_list->clear();
        for (const HelpDocument& document : m_documents) {
            const QString title = markdownTitle(document.markdown);
            m_list->addItem(title.isEmpty() ? document.name : title);
        }
    }
    if (!m_documents.empty()) turnTo(0, {});
}

int DocumentViewer::indexOf(const QString& name) const {
    for (std::size_t i = 0; i < m_documents.size(); ++i)
        if (m_documents[i].name == name) return static_cast<int>(i);
    return -1;
}

QString DocumentViewer::current() const {
    return m_at < 0 ? QString()
                    : m_documents[static_cast<std::size_t>(m_history[m_at].document)].name;
}

bool DocumentViewer::open(const QString& link) {
    const QUrl url(link);
    const int document =
        url.path().isEmpty() && m_at >= 0 ? m_history[m_at].document : indexOf(url.path());
    if (document < 0) return false;
    turnTo(document, url.fragment());
    return true;
}

void DocumentViewer::follow(const QUrl& url) {
    if (url.isRelative() && open(url.toString())) return;
    if (!url.isRelative()) Q_EMIT externalLink(url);
}

void DocumentViewer::turnTo(int document, const QString& anchor) {
    if (document < 0 || document >= static_cast<int>(m_documents.size())) return;
    const int before = m_at < 0 ? -1 : m_history[m_at].document;
    if (document == before && anchor.isEmpty()) return;
    remember();
    m_history.resize(static_cast<std::size_t>(m_at + 1));
    m_history.push_back({document, 0});
    ++m_at;
    if (document != before) render();
    if (!anchor.isEmpty()) m_text->scrollToAnchor(anchor);
    refresh();
}

void DocumentViewer::remember() {
    if (m_at >= 0) m_history[m_at].scroll = m_text->verticalScrollBar()->value();
}

void DocumentViewer::travel(int by) {
    const int to = m_at + by;
    if (m_at < 0 || to < 0 || to >= static_cast<int>(m_history.size())) return;
    remember();
    const int before = m_history[m_at].document;
    m_at = to;
    if (m_history[m_at].document != before) render();
    m_text->verticalScrollBar()->setValue(m_history[m_at].scroll);
    refresh();
}

void DocumentViewer::render() {
    if (m_at < 0) return;
    m_rendering = true;
    const auto& document = m_documents[static_cast<std::size_t>(m_history[m_at].document)];
    m_text->document()->clear();
    m_text->document()->setDefaultFont(bodyFont());
    m_text->setMarkdown(document.markdown);
    formatMarkdown(*m_text->document());
    browserOf(m_text).redrawPictures();
    m_text->moveCursor(QTextCursor::Start);
    m_text->verticalScrollBar()->setValue(0);
    m_rendering = false;
    search();
}

void DocumentViewer::search() {
    m_matches.clear();
    m_match = -1;
    const QString text = m_search->text();
    if (!text.isEmpty()) {
        QTextCursor cursor = m_text->document()->find(text);
        for (; !cursor.isNull(); cursor = m_text->document()->find(text, cursor))
            m_matches.push_back(cursor.selectionStart());
    }
    goToMatch(1);
}

void DocumentViewer::goToMatch(int by) {
    const Theme& theme = Theme::current();
    const int count = matches();
    QList<QTextEdit::ExtraSelection> marks;
    if (count > 0) {
        m_match = m_match < 0 ? (by > 0 ? 0 : count - 1) : (m_match + by + count) % count;
        const auto length = m_search->text().size();
        for (int i = 0; i < count; ++i) {
            QTextEdit::ExtraSelection mark;
            mark.cursor = QTextCursor(m_text->document());
            mark.cursor.setPosition(m_matches[static_cast<std::size_t>(i)]);
            mark.cursor.movePosition(QTextCursor::Right, QTextCursor::KeepAnchor,
                                     static_cast<int>(length));
            mark.format.setBackground(i == m_match ? theme.accent : theme.warningFill);
            mark.format.setForeground(i == m_match ? theme.onAccent : theme.text);
            if (i == m_match) {
                QTextCursor there = mark.cursor;
                there.clearSelection();
                m_text->setTextCursor(there);
            }
            marks.push_back(mark);
        }
        m_text->ensureCursorVisible();
    }
    m_text->setExtraSelections(marks);
    refresh();
}

void DocumentViewer::refresh() {
    const QSignalBlocker quiet(m_list);
    m_list->setCurrentRow(m_at < 0 ? -1 : m_history[m_at].document);
    m_back->setEnabled(m_at > 0);
    m_forward->setEnabled(m_at + 1 < static_cast<int>(m_history.size()));
    m_previous->setEnabled(matches() > 0);
    m_next->setEnabled(matches() > 0);
    m_count->setText(m_search->text().isEmpty() ? QString()
                     : m_matches.empty()        ? QStringLiteral("No match")
                                         : QString("%1 of %2").arg(m_match + 1).arg(matches()));
}

void DocumentViewer::changeEvent(QEvent* event) {
    QDialog::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || m_rendering) return;
    const int scroll = m_text->verticalScrollBar()->value();
    render();
    m_text->verticalScrollBar()->setValue(scroll);
}

bool DocumentViewer::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_search && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
        if (enter && key->modifiers().testFlag(Qt::ShiftModifier)) {
            goToMatch(-1);
            return true;
        }
        if (enter) {  // not the dialog's default button
            goToMatch(1);
            return true;
        }
        // The first Esc ends the search, the second closes the window.
        if (key->key() == Qt::Key_Escape && !m_search->text().isEmpty()) {
            m_search->clear();
            m_text->setFocus();
            return true;
        }
    }
    if (watched == m_text->viewport() && event->type() == QEvent::Resize && !m_rendering) {
        m_rendering = true;
        browserOf(m_text).redrawPictures();
        m_rendering = false;
    }
    return QDialog::eventFilter(watched, event);
}

NewsDialog::NewsDialog(const QString& title, const QString& markdown, QWidget* parent)
    : QDialog(parent),
      m_markdown(markdown),
      m_text(new QTextBrowser(this)),
      m_documents(new QPushButton(QStringLiteral("Documentation"), this)),
      m_close(new QPushButton(QStringLiteral("Close"), this)) {
    setWindowTitle(title);
    auto* head = new QLabel(title, this);
    head->setFont(titleFont());
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenLinks(false);
    m_text->setAccessibleName(title);
    m_close->setProperty("primary", true);
    m_close->setDefault(true);
    m_documents->setAutoDefault(false);

    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(20, 12, 20, 12);
    buttons->setSpacing(8);
    buttons->addWidget(m_documents);
    buttons->addStretch(1);
    buttons->addWidget(m_close);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(20, 16, 20, 12);
    top->addWidget(head);
    top->addStretch(1);
    auto* column = columnOf(this);
    column->addLayout(top);
    column->addWidget(horizontalLine(this));
    column->addWidget(m_text, 1);
    column->addWidget(horizontalLine(this));
    column->addLayout(buttons);
    connect(m_text, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& url) { Q_EMIT documentRequested(url.toString()); });
    connect(m_documents, &QPushButton::clicked, this, [this] { Q_EMIT documentRequested({}); });
    connect(m_close, &QPushButton::clicked, this, &QDialog::accept);
    render();
    resize(720, 600);
    m_close->setFocus();
}

void NewsDialog::render() {
    m_rendering = true;
    m_text->document()->clear();
    m_text->document()->setDefaultFont(bodyFont());
    m_text->document()->setDocumentMargin(20);
    m_text->setMarkdown(m_markdown);
    formatMarkdown(*m_text->document());
    m_text->moveCursor(QTextCursor::Start);
    m_rendering = false;
}

void NewsDialog::changeEvent(QEvent* event) {
    QDialog::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || m_rendering) return;
    const int scroll = m_text->verticalScrollBar()->value();
    render();
    m_text->verticalScrollBar()->setValue(scroll);
}

}  // namespace relascope::widgets
