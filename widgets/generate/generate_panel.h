// SPDX-License-Identifier: GPL-3.0-or-later
// Text generation with a language model: prompt, options, the growing text, and the alternatives of
// each token.
#pragma once

#include <QElapsedTimer>
#include <QWidget>
#include <string>
#include <vector>

#include "types/generate_options.h"
#include "widgets/generate/generated_text.h"

class QCheckBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QSpinBox;
class QToolButton;

namespace relascope::widgets {

class ElidedLabel;
class FieldNote;
class GeneratedText;
class PanelHead;
class ProbabilityBars;
class TextField;
class ViewMenu;

class GeneratePanel : public QWidget {
    Q_OBJECT
public:
    explicit GeneratePanel(QWidget* parent = nullptr);

    // The setters emit no signals.
    void setPrompt(const QString& prompt);
    void setOptions(const GenerateOptions& options, bool bfloat16 = false);
    void setFollow(bool on);
    /// Without a language model the button is disabled and gives the reason.
    void setAvailable(bool available, const QString& whyNot = {});
    /// The edits that the next text is generated with, in words; empty: none.
    void setEdits(const QString& words);
    /// Removes the text, as it is of another model; the prompt and the options stay.
    void clear();
    /// Starts a generation with the text of the prompt; while one runs, sets its pieces. `both`:
    /// first a text without the edits, then the one with them.
    void begin(std::vector<std::string> promptPieces, bool both = false);
    void append(const GeneratedToken& token) { write(TextSide::Edited, token); }
    /// To the text without the edits.
    void appendPlain(const GeneratedToken& token) { write(TextSide::Plain, token); }
    /// Ends the generation: "stopped", "the stop text was written", or empty after all tokens.
    void finish(const QString& text = {});
    /// Reports an error; the text generated so far stays.
    void fail(const QString& sentence);
    /// Shows the alternatives of a token of the (edited) text; -1: of the newest.
    void setChosen(int index);

    QString prompt() const;
    GenerateOptions options() const;
    bool bfloat16() const;
    bool follow() const;
    bool running() const { return m_running; }
    /// "37 tokens, 18.2 tokens/s", or the error message.
    QString status() const;
    QString csv() const;    ///< tokens with their probabilities
    QString edits() const;  ///< "Edited: layer 1 relation 3 zero"; empty: none

    /// The text that is generated with the edits, if there are any.
    GeneratedText* text() const;
    GeneratedPair* texts() const { return m_texts; }
    ViewMenu* menu() const { return m_menu; }
    QPushButton* button() const { return m_go; }
    QString alternativesTitle() const;

Q_SIGNALS:
    void generateRequested(QString prompt, relascope::GenerateOptions options, bool bfloat16);
    void stopRequested();
    /// In text(), of prompt and generated tokens together, from 0.
    void tokenChosen(int index);
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
    void refreshEdits();
    void write(TextSide side, const GeneratedToken& token);
    QString figureCaption() const;

    PanelHead* m_head;
    ElidedLabel* m_edited;
    TextField* m_prompt;
    QSpinBox *m_tokens, *m_topK, *m_seed;
    QDoubleSpinBox *m_temperature, *m_topP;
    QLineEdit* m_stop;
    QToolButton* m_dice;
    QCheckBox *m_bfloat16, *m_follow;
    QPushButton* m_go = nullptr;
    FieldNote* m_note;
    GeneratedPair* m_texts;
    ViewMenu* m_menu;
    QLabel *m_title, *m_hint;
    QScrollArea* m_alternatives;
    ProbabilityBars* m_bars;

    GenerateOptions m_base;  ///< options without a field: the number of alternatives
    QElapsedTimer m_clock;   ///< since the first token of the text that grows
    double m_seconds = 0;
    bool m_available = true, m_running = false;
    QString m_whyNot;
    QString m_words, m_textWords;  ///< the edits of the next text, and of the one shown
};

}  // namespace relascope::widgets
