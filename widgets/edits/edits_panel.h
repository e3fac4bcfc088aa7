// SPDX-License-Identifier: GPL-3.0-or-later
// The list of interventions on the inspected model: what is cut, set, scaled, swapped and patched.
#pragma once

#include <QWidget>
#include <vector>

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace relascope::widgets {

class FieldNote;

/// One intervention as it is listed.
struct EditLine {
    QString words;   ///< "layer 2 relation 3 zero"
    QString effect;  ///< effect of the edit alone: "same 0.981 → 0.120"; empty: not known (yet)
    QString tip;     ///< hook point and note of the edit
    bool enabled = true;
    bool operator==(const EditLine&) const = default;
};

/// The Edits tab. It keeps no edits: every action is a request, and the list is set again.
class EditsPanel : public QWidget {
    Q_OBJECT
public:
    explicit EditsPanel(QWidget* parent = nullptr);

    /// Sets the list; the current row and the keyboard focus are kept.
    void setLines(std::vector<EditLine> lines);
    const std::vector<EditLine>& lines() const { return m_lines; }
    /// Why edits cannot be made; empty: they can.
    void setDisabledReason(const QString& reason);
    /// Shows what is wrong with the typed words, or with the list as a whole; empty: nothing.
    void setWordsProblem(const QString& sentence);
    void setProblem(const QString& sentence);
    /// The edits that training applies, in words; empty: none.
    void setTraining(const QString& words);
    /// Why edits cannot be given to training; empty: they can.
    void setTrainDisabledReason(const QString& reason);
    void setEvaluateDisabledReason(const QString& reason);
    /// The result of the last evaluation, as rich text; empty: none.
    void setOutcome(const QString& text);
    /// Shows the progress of an evaluation as a fraction; its button then cancels it. Negative:
    /// none runs.
    void setEvaluating(double fraction);
    void focusWords();

    QListWidget* list() const { return m_list; }
    QLineEdit* words() const { return m_words; }
    QPushButton* evaluateButton() const { return m_evaluate; }
    QPushButton* trainButton() const { return m_train; }
    QPushButton* clearButton() const { return m_clear; }
    QPushButton* saveButton() const { return m_save; }
    QPushButton* openButton() const { return m_open; }
    QPushButton* ablationButton() const { return m_ablation; }

Q_SIGNALS:
    void enabledRequested(int line, bool enabled);
    void moveRequested(int from, int to);
    void removeRequested(int line);
    void wordsEntered(const QString& words);
    void saveRequested();
    void openRequested();
    void clearRequested();
    void evaluateRequested();
    void cancelRequested();  ///< cancels the evaluation
    void ablationRequested();
    void patchRequested();
    void trainRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QPushButton* button(const QString& text, const QString& tip, void (EditsPanel::*signal)());
    void refresh();

    std::vector<EditLine> m_lines;
    bool m_filling = false;
    double m_evaluating = -1.0;
    QString m_disabled, m_trainDisabled, m_evaluateDisabled;
    QLabel* m_empty;
    QListWidget* m_list;
    QLineEdit* m_words;
    FieldNote *m_wordsNote, *m_problem;
    QLabel *m_training, *m_outcome;
    QPushButton *m_save, *m_open, *m_clear, *m_evaluate, *m_ablation, *m_patch, *m_train;
};

}  // namespace relascope::widgets
