// SPDX-License-Identifier: GPL-3.0-or-later
// A field of several lines that looks and behaves as the one-line ones do.
#pragma once

#include <QPlainTextEdit>

namespace relascope::widgets {

class TextField : public QPlainTextEdit {
    Q_OBJECT
public:
    /// `lines` high; longer texts scroll.
    explicit TextField(int lines, QWidget* parent = nullptr);
    /// Does not signal, and leaves the cursor where the text is the same.
    void showText(const QString& text);
    void setProblem(bool wrong);

Q_SIGNALS:
    void edited();  ///< by the user

protected:
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
};

}  // namespace relascope::widgets
