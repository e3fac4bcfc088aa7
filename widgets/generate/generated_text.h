// SPDX-License-Identifier: GPL-3.0-or-later
// A text that grows token by token: the prompt is muted, generated tokens are shaded by their
// probability.
#pragma once

#include "widgets/text/piece_view.h"

namespace relascope::widgets {

class GeneratedText : public PieceView {
    Q_OBJECT
public:
    explicit GeneratedText(QWidget* parent = nullptr);

    void begin(std::vector<std::string> promptPieces);
    void append(const std::string& piece, double probability);
    void setRunning(bool running);  ///< shows a caret at the end
    /// Framed; -1 for none. Does not signal.
    void setChosen(int index);
    int chosen() const { return m_chosen; }
    /// Underlined in the colour of warnings, as the first token that differs; -1 for none.
    void setMarked(int index);
    int marked() const { return m_marked; }
    int promptSize() const { return m_prompt; }
    const std::vector<std::string>& pieces() const { return m_pieces; }
    /// `probability` is NaN for tokens of the prompt.
    double probability(int index) const;
    QString text() const;

Q_SIGNALS:
    void tokenChosen(int index);  ///< a click or an arrow key

protected:
    PieceLook look(int index) const override;
    void pressed(int index, Qt::KeyboardModifiers modifiers) override;
    int current(Qt::KeyboardModifiers modifiers) const override;
    void paintOver(QPainter& painter) override;
    bool viewportEvent(QEvent* event) override;

private:
    std::vector<std::string> m_pieces;
    std::vector<double> m_probabilities;  ///< of what was written
    int m_prompt = 0, m_chosen = -1, m_marked = -1;
    bool m_running = false;
};

}  // namespace relascope::widgets
