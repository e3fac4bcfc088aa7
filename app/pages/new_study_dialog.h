// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for a new study: experiment, models, sizes, seeds, options to vary, and where it goes.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <QDialog>
#include <QTimer>
#include <QWidget>

#include "types/study.h"

class QCheckBox;
class QComboBox;
class QCompleter;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace relascope::widgets {
class FieldNote;
}  // namespace relascope::widgets

namespace relascope::app {

// Options to sweep or to set in the New study dialog: a list of rows that can be added and removed.

/// One option and its values, or its value: two fields with an error message below.
class OptionRow : public QWidget {
    Q_OBJECT
public:
    OptionRow(QCompleter* keys, bool several, QWidget* parent = nullptr);
    QLineEdit* key() const { return m_key; }
    QLineEdit* values() const { return m_values; }
    QString keyText() const;
    void setProblem(const QString& sentence);
    QString problem() const;

Q_SIGNALS:
    void edited();
    void removed();

private:
    QLineEdit *m_key, *m_values;
    widgets::FieldNote* m_note;
};

class OptionRows : public QWidget {
    Q_OBJECT
public:
    /// `several`: rows have a list of values, not a single one. `button` adds a row.
    OptionRows(const QString& button, bool several, QWidget* parent);
    OptionRow* add();
    const std::vector<OptionRow*>& rows() const { return m_rows; }
    /// The row of an option; nullptr without one.
    OptionRow* find(const QString& key) const;

Q_SIGNALS:
    void edited();
    void removed();

private:
    const bool m_several;
    QCompleter* m_keys;
    QVBoxLayout* m_column;
    std::vector<OptionRow*> m_rows;
};

class JobQueue;
class OptionRows;

/// Every change is validated off the window's thread; errors are shown at their field and disable
/// Create.
class NewStudyDialog : public QDialog {
    Q_OBJECT
public:
    /// `folders`: of studies, by machine, this one first with an empty name; `preset`: the
    /// experiment selected first.
    NewStudyDialog(const std::vector<std::pair<QString, QString>>& folders, const QString& preset,
                   int jobs, QWidget* parent = nullptr);
    ~NewStudyDialog() override;

    StudyPlan plan() const;
    QString path() const;
    int jobs() const;
    bool startsAtOnce() const { return m_startsAtOnce; }
    /// Whether the current plan has been validated without errors.
    bool ready() const;

    QComboBox* machine() const { return m_machine; }
    OptionRows* sweep() const { return m_sweep; }
    OptionRows* settings() const { return m_settings; }
    QPushButton* startButton() const { return m_start; }
    QString summary() const;
    /// All error messages.
    QStringList problems() const;

protected:
    void showEvent(QShowEvent* event) override;

private:
    void layOut();
    void fillPresets(const QString& preset);
    void presetChosen();
    void changed();
    void check();
    void judge();
    void showProblem(const QString& field, const QString& sentence);

    struct Verdict;
    QString folder() const;
    QComboBox *m_preset, *m_machine;
    QListWidget* m_models;
    QLineEdit *m_sizes, *m_name;
    QSpinBox *m_seeds, *m_jobs;
    QCheckBox* m_sameData;
    OptionRows *m_sweep, *m_settings;
    widgets::FieldNote *m_modelsNote, *m_sizesNote, *m_nameNote;  ///< below their fields
    widgets::FieldNote* m_note;
    QLabel* m_summary;
    QPushButton *m_create, *m_start;
    bool m_named = false;  ///< by the user
    bool m_startsAtOnce = false;
    std::shared_ptr<const Verdict> m_verdict;
    quint64 m_request = 0;
    QTimer m_soon;
    std::unique_ptr<JobQueue> m_queue;
};

}  // namespace relascope::app
