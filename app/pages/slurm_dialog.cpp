// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/slurm_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>
#include <utility>

#include "study/slurm_script.h"
#include "types/error.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

SlurmDialog::SlurmDialog(std::shared_ptr<const StudyInfo> study, const QString& program,
                         QWidget* parent)
    : QDialog(parent),
      m_study(std::move(study)),
      m_program(program),
      m_tasks(new QSpinBox(this)),
      m_nodes(new QSpinBox(this)),
      m_gpus(new QSpinBox(this)),
      m_text(new QPlainTextEdit(this)) {
    setWindowTitle(QStringLiteral("Slurm script"));
    m_tasks->setRange(1, 10000);
    m_tasks->setValue(8);
    m_tasks->setToolTip(QStringLiteral("Jobs at a time"));
    m_nodes->setRange(1, 1000);
    m_nodes->setToolTip(QStringLiteral("Nodes that train one run together"));
    m_gpus->setRange(0, 64);
    m_gpus->setSpecialValueText(QStringLiteral("none"));
    m_gpus->setToolTip(QStringLiteral("GPUs of each node; a run has a process for each of them"));
    m_text->setReadOnly(true);
    m_text->setFont(widgets::monoFont(12));
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setAccessibleName(QStringLiteral("Script"));
    m_text->setProperty("field", true);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    const std::pair<const char*, QSpinBox*> boxes[] = {
        {"Tasks", m_tasks}, {"Nodes", m_nodes}, {"GPUs per node", m_gpus}};
    for (const auto& [name, box] : boxes) {
        box->setAccessibleName(QString::fromLatin1(name));
        row->addWidget(widgets::mutedLabel(QString::fromLatin1(name), this));
        row->addWidget(box);
        connect(box, &QSpinBox::valueChanged, this, &SlurmDialog::write);
    }
    row->addWidget(
        widgets::mutedLabel(
            QStringLiteral(
                "The folder of the study and the program must have the same paths on the cluster."),
            this),
        1);
    auto* copy = new QPushButton(widgets::icon("copy"), QStringLiteral("Copy"), this);
    auto* save = new QPushButton(widgets::icon("export"), QStringLiteral("Save\u2026"), this);
    auto* close = new QPushButton(QStringLiteral("Close"), this);
    copy->setProperty("primary", true);
    copy->setDefault(true);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addStretch(1);
    for (auto* button : {save, copy, close}) buttons->addWidget(button);
    auto* column = widgets::columnOf(this, {20, 16, 20, 16}, 12);
    column->addLayout(row);
    column->addWidget(m_text, 1);
    column->addLayout(buttons);
    connect(copy, &QPushButton::clicked, this,
            [this] { QApplication::clipboard()->setText(text()); });
    connect(save, &QPushButton::clicked, this, &SlurmDialog::save);
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    write();
    resize(760, 380);
}

QString SlurmDialog::text() const {
    return m_text->toPlainText();
}

void SlurmDialog::write() {
    try {
        m_text->setPlainText(QString::fromStdString(
            core::slurmScript(*m_study, {m_tasks->value(), m_nodes->value(), m_gpus->value()},
                              m_program.toStdString())));
    } catch (const Error& error) {
        m_text->setPlainText(QString::fromStdString(error.what()));
    }
}

void SlurmDialog::save() {
    QString path = QFileDialog::getSaveFileName(this, QStringLiteral("Save the script"),
                                                QStringLiteral("study.sbatch"),
                                                QStringLiteral("Slurm scripts (*.sbatch *.sh)"));
    if (path.isEmpty()) return;
    QString error;
    if (!widgets::exportCsv(text(), path, &error))
        QMessageBox::warning(this, QStringLiteral("Slurm script"), error);
}

}  // namespace relascope::app
