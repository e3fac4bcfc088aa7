// SPDX-License-Identifier: GPL-3.0-or-later
// The script of a job array that works on a study: how many tasks, the text, copy and save.
#pragma once

#include <QDialog>

class QPlainTextEdit;
class QSpinBox;

namespace relascope::app {

class SlurmDialog : public QDialog {
    Q_OBJECT
public:
    SlurmDialog(const QString& study, const QString& program, QWidget* parent = nullptr);

    QString text() const;

private:
    void write();
    void save();
    const QString m_study, m_program;
    QSpinBox* m_tasks;
    QPlainTextEdit* m_text;
};

}  // namespace relascope::app
