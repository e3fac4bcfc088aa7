// SPDX-License-Identifier: GPL-3.0-or-later
// A text that grows token by token: the prompt is muted, generated tokens are shaded by their
// probability.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <QWidget>

#include "types/generate_options.h"
#include "widgets/kit/token_view.h"

namespace relascope::widgets {

class GeneratedText : public TokenView {
    Q_OBJECT
public:
    explicit GeneratedText(QWidget* parent = nullptr);

    void begin(std::vector<std::string> prompt);
    void append(const std::string& piece, double probability);
    void setRunning(bool running);  ///< shows a caret at the end
    /// Framed; -1 for none. Does not signal.
    void setChosen(int index);
    int chosen() const { return m_chosen; }
    /// Underlined in the colour of warnings, as the first token that differs; -1 for none.
    void setMarked(int index);
    int marked() const { return m_marked; }
    int promptSize() const { return m_prompt; }
    /// `probability` is NaN for tokens of the prompt.
    double probability(int index) const;

Q_SIGNALS:
    void tokenChosen(int index);  ///< a click or an arrow key

protected:
    TokenLook look(int index) const override;
    void pressed(int index, Qt::KeyboardModifiers modifiers) override;
    int current(Qt::KeyboardModifiers modifiers) const override;
    void paintOver(QPainter& painter) override;
    QString tipOf(int index) const override;

private:
    std::vector<double> m_probabilities;  ///< probabilities of what was written
    int m_prompt = 0, m_chosen = -1, m_marked = -1;
    bool m_running = false;
};

}  // namespace relascope::widgets

// A generated text, or the two texts of a model without and with edits, side by side with the first
// token that differs.

class QLabel;
class QSplitter;
class QToolButton;

namespace relascope::widgets {

class ElidedLabel;
class GeneratedText;

/// Edited is also the only text of a model without edits.
enum class TextSide { Edited, Plain };

class GeneratedPair : public QWidget {
    Q_OBJECT
public:
    /// Narrower than this the texts are stacked; px.
    static constexpr int kBesideWidth = 388;

    explicit GeneratedPair(QWidget* parent = nullptr);

    /// Starts with the text of the prompt; `both`: there will be a text without edits, too.
    void begin(std::vector<std::string> promptPieces, bool both);
    void append(TextSide side, const GeneratedToken& token);
    void setRunning(bool running);
    /// A token of one of the texts; -1: none. Emits no signal.
    void setChosen(TextSide side, int index);
    /// Title of the edited text and, as its tooltip, the edits in words.
    void setEditedTitle(const QString& title, const QString& words);

    bool both() const { return m_both; }
    GeneratedText* text(TextSide side) const { return sideOf(side).text; }
    const std::vector<GeneratedToken>& written(TextSide side) const { return sideOf(side).written; }
    /// Where the alternatives are of: the text with the chosen token, else the one that grows.
    TextSide current() const;
    /// The first token that differs, counted with the prompt from 0; -1: none so far.
    int difference() const { return m_difference; }
    /// "First difference at token 17: ..."; empty unless there are two texts.
    QString differenceText() const;
    bool stacked() const;
    QString editedTitle() const;
    /// Tokens with their probabilities; of two texts with a column `edited`.
    QString csv() const;

Q_SIGNALS:
    void tokenChosen(relascope::widgets::TextSide side, int index);  ///< by the user

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Side {
        QWidget* box = nullptr;
        QLabel* title = nullptr;
        GeneratedText* text = nullptr;
        std::vector<GeneratedToken> written;
    };
    const Side& sideOf(TextSide side) const { return m_sides[static_cast<std::size_t>(side)]; }
    Side& sideOf(TextSide side) { return m_sides[static_cast<std::size_t>(side)]; }
    Side makeSide(TextSide side, const QString& title);
    void choose(TextSide side, int index);
    void findDifference();
    void refresh();
    void arrange();
    void showDifference();

    QWidget* m_line;
    ElidedLabel* m_differenceLabel;
    QToolButton* m_show;
    QSplitter* m_splitter;
    std::array<Side, 2> m_sides;
    bool m_both = false, m_running = false;
    int m_difference = -1;
};

}  // namespace relascope::widgets
