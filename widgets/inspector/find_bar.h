// SPDX-License-Identifier: GPL-3.0-or-later
// A field that finds tokens of the text: matches one after the other, and the chosen one as i.
#pragma once

#include <QWidget>
#include <string>
#include <vector>

#include "widgets/text/text_flow.h"

class QLabel;
class QLineEdit;
class QToolButton;

namespace relascope::widgets {

class FindBar : public QWidget {
    Q_OBJECT
public:
    explicit FindBar(QWidget* parent = nullptr);

    /// The text that is searched. The match is kept if it is still one.
    void setTokens(const std::vector<std::string>& pieces);
    /// Shows the field with its text selected.
    void open();
    void dismiss();
    /// The next (previous) match, from the end again at the beginning. Opens the field if it is
    /// closed.
    void step(bool forward);

    const std::vector<TokenRange>& matches() const { return m_matches; }
    /// The match that is looked at; -1 without matches.
    int current() const { return m_current; }
    QLineEdit* field() const { return m_field; }

Q_SIGNALS:
    /// Other matches, or another one of them is looked at.
    void changed();
    void tokenChosen(int token);  ///< by Enter

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void search();
    void describe();

    std::vector<std::string> m_pieces;
    std::vector<TokenRange> m_matches;
    int m_current = -1;
    QLineEdit* m_field;
    QLabel* m_count;
    QToolButton *m_previous, *m_next;
};

}  // namespace relascope::widgets
