// SPDX-License-Identifier: GPL-3.0-or-later
// The output of a language model for a text: the likeliest next tokens, or a generated text.
#pragma once

#include <QWidget>
#include <vector>

#include "types/generate_options.h"

class QLabel;
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
