#include "widgets/source/text_outcome.h"

#include <QEvent>
#include <QLabel>
#include <QTextEdit>
#include <QVBoxLayout>

#include "widgets/source/probability_bars.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {

TextOutcome::TextOutcome(QWidget* parent)
    : QWidget(parent),
      m_title(new ElidedLabel({}, this)),
      m_bars(new ProbabilityBars(this)),
      m_text(new QTextEdit(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(horizontalLine(this));
    QFont head = smallFont();
    head.setWeight(QFont::DemiBold);
    m_title->setFont(head);
    column->addWidget(m_title);
    column->addWidget(m_bars);
    m_bars->setAccessibleName(QStringLiteral("Likeliest next tokens"));
    m_text->setReadOnly(true);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setFont(smallFont());
    m_text->document()->setDocumentMargin(0);
    m_text->viewport()->setAutoFillBackground(false);
    m_text->setMinimumHeight(48);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_text->setAccessibleName(QStringLiteral("Text written by the model"));
    column->addWidget(m_text, 1);
    clear();
}

void TextOutcome::arrange(const QString& title, bool bars) {
    m_title->setText(title);
    m_bars->setVisible(bars);
    m_text->setVisible(!bars);
    setSizePolicy(QSizePolicy::Preferred, bars ? QSizePolicy::Fixed : QSizePolicy::Expanding);
    show();
}

void TextOutcome::setNextTokens(const QString& title, const std::vector<TokenChoice>& choices) {
    if (choices.empty()) return clear();
    m_bars->setChoices(choices);
    arrange(title, true);
}

void TextOutcome::setContinuation(const QString& title, const QString& prompt,
                                  const QString& continuation) {
    m_prompt = prompt;
    m_continuation = continuation;
    write();
    arrange(title, false);
}

void TextOutcome::write() {
    m_text->clear();
    QTextCursor cursor(m_text->document());
    QTextCharFormat ink;
    ink.setForeground(Theme::current().muted);
    cursor.insertText(m_prompt, ink);
    ink.setForeground(Theme::current().text);
    cursor.insertText(m_continuation, ink);
    m_text->moveCursor(QTextCursor::Start);
}

void TextOutcome::clear() {
    hide();
}
QString TextOutcome::title() const {
    return m_title->text();
}

void TextOutcome::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_text) write();
}

}  // namespace relascope
