// SPDX-License-Identifier: GPL-3.0-or-later
// Options to sweep or to set in the New study dialog: a list of rows that can be added and removed.
#pragma once

#include <QWidget>
#include <vector>

class QCompleter;
class QLineEdit;
class QVBoxLayout;

namespace relascope::widgets {
class FieldNote;
}  // namespace relascope::widgets

namespace relascope::app {

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

}  // namespace relascope::app
