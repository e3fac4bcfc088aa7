// SPDX-License-Identifier: GPL-3.0-or-later
// The output of a language model for a text: the likeliest next tokens, or a generated text.
#pragma once

#include <string>
#include <vector>

#include <QString>
#include <QWidget>

#include "types/generate_options.h"

class QLabel;

namespace relascope::widgets {

// Two texts, one of which attends to the other: the answer above the question, linked by (i, j).

class TokenStrip;

class TextPair : public QWidget {
    Q_OBJECT
public:
    explicit TextPair(QWidget* parent = nullptr);

    /// Sets the receiving text with its title ("target (from)"), and the sending text.
    void setTexts(const QString& from, const std::vector<std::string>& rows, const QString& to,
                  const std::vector<std::string>& columns);
    TokenStrip* receiver() const { return m_from; }
    TokenStrip* sender() const { return m_to; }
    /// The height of both texts at this width.
    int contentHeight() const;

Q_SIGNALS:
    void hovered(int index);     ///< a sender; -1 when the pointer leaves
    void rowHovered(int index);  ///< a token that receives
    void sourceChosen(int index);
    void targetChosen(int index);

private:
    void fit();

    QLabel *m_fromTitle, *m_toTitle;
    TokenStrip *m_from, *m_to;
};

}  // namespace relascope::widgets

class QTextEdit;

namespace relascope::widgets {

class ProbabilityBars;

class TextOutcome : public QWidget {
    Q_OBJECT
public:
    explicit TextOutcome(QWidget* parent = nullptr);

    /// "Next token after “we”" above the bars of the candidates. Hidden without candidates.
    /// `before`: the probabilities of the same tokens without edits, if there are any.
    void setNextTokens(const QString& title, const std::vector<TokenChoice>& choices,
                       std::vector<float> before = {});
    /// "Sample at step 1,200" above the muted prompt and the generated text.
    void setContinuation(const QString& title, const QString& prompt, const QString& continuation);
    void clear();

    ProbabilityBars* bars() const { return m_bars; }
    QTextEdit* sample() const { return m_text; }
    QString title() const;

protected:
    void changeEvent(QEvent* event) override;

private:
    void arrange(const QString& title, bool bars);
    void write();

    QLabel* m_title;
    ProbabilityBars* m_bars;
    QTextEdit* m_text;
    QString m_prompt, m_continuation;
};

}  // namespace relascope::widgets
