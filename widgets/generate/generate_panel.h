// SPDX-License-Identifier: GPL-3.0-or-later
// Continuing a text with a language model: prompt, options, the text as it comes, and what could
// have come instead.
#pragma once

#include <QElapsedTimer>
#include <QWidget>
#include <string>
#include <vector>

#include "types/generate_options.h"

class QCheckBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace relascope::widgets {

class FieldNote;
class GeneratedText;
class PanelHead;
class ProbabilityBars;
class TextField;

class GeneratePanel : public QWidget {
    Q_OBJECT
public:
    explicit GeneratePanel(QWidget* parent = nullptr);

    // None of the setters signals.
    void setPrompt(const QString& prompt);
    void setOptions(const GenerateOptions& options, bool bfloat16 = false);
    void setFollow(bool on);
    /// Without a model that writes text the button stays off and says why.
    void setAvailable(bool available, const QString& whyNot = {});
    /// A generation begins: the text is that of the prompt.
    void begin(std::vector<std::string> promptPieces);
    void append(const GeneratedToken& token);
    /// It ended: "stopped", "the stop text was written"; nothing where all tokens came.
    void finish(const QString& words = {});
    /// It could not begin or go on: one sentence. What was written stays.
    void fail(const QString& sentence);
    /// Shows a token's alternatives; -1: those of the newest.
    void setChosen(int index);

    QString prompt() const;
    GenerateOptions options() const;
    bool bfloat16() const;
    bool follow() const;
    bool running() const { return m_running; }
    /// "37 tokens, 18.2 tokens/s", or the sentence that is wrong.
    QString status() const;
    QString csv() const;  ///< tokens with their probabilities

    TextField* promptField() const { return m_prompt; }
    GeneratedText* text() const { return m_text; }
    ProbabilityBars* alternatives() const { return m_bars; }
    QPushButton* button() const { return m_go; }
    QToolButton* dice() const { return m_dice; }
    QString alternativesTitle() const;

    QSize minimumSizeHint() const override { return {300, 420}; }

Q_SIGNALS:
    void generateRequested(QString prompt, relascope::GenerateOptions options, bool bfloat16);
    void stopRequested();
    void tokenChosen(int index);  ///< of prompt and generated tokens together, from 0
    void followChanged(bool on);
    void bfloat16Changed(bool on);
    void exported(QString path);
    void exportFailed(QString sentence);

protected:
    void changeEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    QWidget* makeOptions();
    QWidget* makeText();
    void toggle();
    void refreshButton();
    void refreshStatus(const QString& end);
    void showAlternatives();

    PanelHead* m_head;
    TextField* m_prompt;
    QSpinBox *m_tokens, *m_topK, *m_seed;
    QDoubleSpinBox *m_temperature, *m_topP;
    QLineEdit* m_stop;
    QToolButton* m_dice;
    QCheckBox *m_bfloat16, *m_follow;
    QPushButton* m_go = nullptr;
    FieldNote* m_note;
    GeneratedText* m_text;
    QLabel *m_title, *m_hint;
    ProbabilityBars* m_bars;

    GenerateOptions m_base;  ///< what no field shows: how many alternatives
    std::vector<GeneratedToken> m_written;
    QElapsedTimer m_clock;  ///< since the first token
    double m_seconds = 0;
    bool m_available = true, m_running = false;
    QString m_whyNot;
};

}  // namespace relascope::widgets
