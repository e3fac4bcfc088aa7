// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/slurm_dialog.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSpinBox>
#include <utility>

#include "study/slurm_script.h"
#include "types/error.h"
#include "widgets/theme/controls.h"

namespace relascope::app {

SlurmDialog::SlurmDialog(std::shared_ptr<const StudyInfo> study, const QString& program,
                         QWidget* parent)
    : ScriptDialog(QStringLiteral("Slurm script"), QStringLiteral("study.sbatch"),
                   QStringLiteral("Slurm scripts (*.sbatch *.sh)"), parent),
      m_study(std::move(study)),
      m_program(program),
      m_tasks(new QSpinBox(this)),
      m_nodes(new QSpinBox(this)),
      m_gpus(new QSpinBox(this)) {
    m_tasks->setRange(1, 10000);
    m_tasks->setValue(8);
    m_tasks->setToolTip(QStringLiteral("Jobs at a time"));
    m_nodes->setRange(1, 1000);
    m_nodes->setToolTip(QStringLiteral("Nodes that train one run together"));
    m_gpus->setRange(0, 64);
    m_gpus->setSpecialValueText(QStringLiteral("none"));
    m_gpus->setToolTip(QStringLiteral("GPUs of each node; a run has a process for each of them"));
    const std::pair<const char*, QSpinBox*> boxes[] = {
        {"Tasks", m_tasks}, {"Nodes", m_nodes}, {"GPUs per node", m_gpus}};
    for (const auto& [name, box] : boxes) {
        box->setAccessibleName(QString::fromLatin1(name));
        top()->addWidget(widgets::mutedLabel(QString::fromLatin1(name), this));
        top()->addWidget(box);
        connect(box, &QSpinBox::valueChanged, this, &SlurmDialog::write);
    }
    top()->addWidget(
        widgets::mutedLabel(
            QStringLiteral(
                "The folder of the study and the program must have the same paths on the cluster."),
            this),
        1);
    write();
}

void SlurmDialog::write() {
    try {
        setText(QString::fromStdString(
            core::slurmScript(*m_study, {m_tasks->value(), m_nodes->value(), m_gpus->value()},
                              m_program.toStdString())));
    } catch (const Error& error) {
        setText(QString::fromStdString(error.what()));
    }
}

}  // namespace relascope::app
