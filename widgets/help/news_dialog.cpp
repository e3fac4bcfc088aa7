// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/help/news_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

#include "widgets/help/document_format.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

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
