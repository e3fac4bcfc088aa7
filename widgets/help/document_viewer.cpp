// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/help/document_viewer.h"

#include <QHBoxLayout>
#include <QImage>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QScrollBar>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSvgRenderer>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>

#include "widgets/help/document_format.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
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

}  // namespace relascope::widgets
