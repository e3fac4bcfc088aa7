// SPDX-License-Identifier: GPL-3.0-or-later
// A multi-line text field with the look and behaviour of a line edit.
#pragma once

#include <QPlainTextEdit>

namespace relascope::widgets {

class TextField : public QPlainTextEdit {
    Q_OBJECT
public:
    /// `lines` high; longer texts scroll.
    explicit TextField(int lines, QWidget* parent = nullptr);
    /// Sets the text without emitting a signal. The cursor stays if the text is the same.
    void showText(const QString& text);
    void setProblem(bool wrong);

Q_SIGNALS:
    void edited();  ///< by the user

protected:
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
};

}  // namespace relascope::widgets
