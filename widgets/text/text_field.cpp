// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/text/text_field.h"

#include <QSignalBlocker>

#include "widgets/theme/theme.h"

namespace relascope::widgets {

TextField::TextField(int lines, QWidget* parent) : QPlainTextEdit(parent) {
    setProperty("field", true);
    setFont(bodyFont());
    setTabChangesFocus(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    // A filled viewport would cover the rounded corners of the frame.
    viewport()->setAutoFillBackground(false);
    document()->setDocumentMargin(3);
    setViewportMargins(3, 0, 1, 0);
    setFixedHeight(lines * QFontMetrics(bodyFont()).lineSpacing() + 10);
    connect(this, &QPlainTextEdit::textChanged, this, &TextField::edited);
}

void TextField::showText(const QString& text) {
    if (text == toPlainText()) return;
    const QSignalBlocker quiet(this);
    setPlainText(text);
}

void TextField::setProblem(bool wrong) {
    setProperty("error", wrong);
    update();
}

void TextField::focusInEvent(QFocusEvent* event) {
    QPlainTextEdit::focusInEvent(event);
    update();
}
void TextField::focusOutEvent(QFocusEvent* event) {
    QPlainTextEdit::focusOutEvent(event);
    update();
}

}  // namespace relascope::widgets
