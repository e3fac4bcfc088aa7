// SPDX-License-Identifier: GPL-3.0-or-later
// The script of a job array that works on a study: how many tasks, how many nodes and GPUs for each
// run, the text, copy and save.
#pragma once

#include <QDialog>
#include <memory>

#include "types/study.h"

class QPlainTextEdit;
class QSpinBox;

namespace relascope::app {

class SlurmDialog : public QDialog {
    Q_OBJECT
public:
    SlurmDialog(std::shared_ptr<const StudyInfo> study, const QString& program,
                QWidget* parent = nullptr);

    QString text() const;

private:
    void write();
    void save();
    const std::shared_ptr<const StudyInfo> m_study;
    const QString m_program;
    QSpinBox *m_tasks, *m_nodes, *m_gpus;
    QPlainTextEdit* m_text;
};

}  // namespace relascope::app
