// SPDX-License-Identifier: GPL-3.0-or-later
// The script of a job array that works on a study: how many tasks, how many nodes and GPUs for each
// run, the text, copy and save.
#pragma once

#include <memory>

#include "app/pages/script_dialog.h"
#include "types/study.h"

class QSpinBox;

namespace relascope::app {

class SlurmDialog : public ScriptDialog {
    Q_OBJECT
public:
    SlurmDialog(std::shared_ptr<const StudyInfo> study, const QString& program,
                QWidget* parent = nullptr);

private:
    void write();
    const std::shared_ptr<const StudyInfo> m_study;
    const QString m_program;
    QSpinBox *m_tasks, *m_nodes, *m_gpus;
};

}  // namespace relascope::app
