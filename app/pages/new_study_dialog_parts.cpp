// SPDX-License-Identifier: GPL-3.0-or-later
// How the New study dialog is put together; what it does is in new_study_dialog.cpp.
#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "app/pages/new_study_dialog.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

OptionRow::OptionRow(QCompleter* keys, bool several, QWidget* parent)
    : QWidget(parent),
      m_key(new QLineEdit(this)),
      m_values(new QLineEdit(this)),
      m_note(new widgets::FieldNote(this)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* line = new QHBoxLayout;
    line->setSpacing(8);
    m_key->setCompleter(keys);
    m_key->setPlaceholderText(QStringLiteral("model.n_layers"));
    m_key->setFont(widgets::monoFont(12));
    m_key->setAccessibleName(several ? QStringLiteral("Option to sweep")
                                     : QStringLiteral("Option to set"));
    m_values->setPlaceholderText(several ? QStringLiteral("1, 2, 4") : QStringLiteral("2"));
    m_values->setFont(widgets::numberFont(12));
    m_values->setAccessibleName(several ? QStringLiteral("Values of the option")
                                        : QStringLiteral("Value of the option"));
    auto* remove = widgets::iconButton("close", QStringLiteral("Remove this option"), this);
    line->addWidget(m_key, 3);
    line->addWidget(m_values, 2);
    line->addWidget(remove);
    column->addLayout(line);
    column->addWidget(m_note);
    for (auto* field : {m_key, m_values})
        connect(field, &QLineEdit::textChanged, this, &OptionRow::edited);
    connect(remove, &QToolButton::clicked, this, &OptionRow::removed);
}

QString OptionRow::keyText() const {
    return m_key->text().trimmed();
}
void OptionRow::setProblem(const QString& sentence) {
    m_note->setProblem(sentence);
    for (auto* field : {m_key, m_values}) {
        field->setProperty("error", !sentence.isEmpty());
        field->update();
    }
}
QString OptionRow::problem() const {
    return m_note->isProblem() ? m_note->text() : QString();
}

void NewStudyDialog::layOut() {
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(10);
    grid->setColumnStretch(1, 1);
    int row = 0;
    const auto add = [&](const QString& name, QWidget* field, widgets::FieldNote* note = nullptr,
                         const QString& help = {}) {
        auto* label = widgets::mutedLabel(name, this);
        label->setBuddy(field);
        grid->addWidget(label, row, 0, Qt::AlignTop | Qt::AlignLeft);
        label->setContentsMargins(0, 4, 0, 0);
        field->setFont(widgets::smallFont());
        if (field->accessibleName().isEmpty()) field->setAccessibleName(name);
        field->setToolTip(help);
        auto* column = new QVBoxLayout;
        column->setSpacing(2);
        column->addWidget(field, 0,
                          qobject_cast<QSpinBox*>(field) ? Qt::AlignLeft : Qt::Alignment());
        if (note) column->addWidget(note);
        grid->addLayout(column, row++, 1);
    };
    m_models->setFixedHeight(124);
    m_models->setAlternatingRowColors(false);
    for (auto* box : {m_seeds, m_jobs}) box->setMinimumWidth(90);
    add(QStringLiteral("Experiment"), m_preset);
    add(QStringLiteral("Models"), m_models, m_modelsNote,
        QStringLiteral("Each model is trained with every size and seed"));
    add(QStringLiteral("Training sizes"), m_sizes, m_sizesNote,
        QStringLiteral("250, 500, 1000 or 250..2500 step 250; empty: as in the preset"));
    add(QStringLiteral("Seeds"), m_seeds, nullptr,
        QStringLiteral("Number of repetitions with different random seeds: 0, 1, 2 and so on"));
    add(QString(), m_sameData, nullptr,
        QStringLiteral("If off, the seed of a run also determines its data"));
    m_sameData->setAccessibleName(m_sameData->text());

    const auto section = [&](const QString& name, const QString& button, QVBoxLayout*& rows,
                             bool varied) {
        auto* label = widgets::mutedLabel(name, this);
        label->setContentsMargins(0, 4, 0, 0);
        grid->addWidget(label, row, 0, Qt::AlignTop | Qt::AlignLeft);
        auto* column = new QVBoxLayout;
        column->setSpacing(6);
        rows = new QVBoxLayout;
        rows->setSpacing(6);
        column->addLayout(rows);
        auto* more = new QPushButton(widgets::icon("plus"), button, this);
        more->setProperty("compact", true);
        more->setAutoDefault(false);
        connect(more, &QPushButton::clicked, this, [this, varied] { addRow(varied); });
        column->addWidget(more, 0, Qt::AlignLeft);
        grid->addLayout(column, row++, 1);
    };
    section(QStringLiteral("Sweep"), QStringLiteral("Sweep an option"), m_varied, true);
    section(QStringLiteral("Set"), QStringLiteral("Set an option for all runs"), m_settings, false);
    add(QStringLiteral("Name"), m_name, m_nameNote,
        QStringLiteral("Name of its folder in %1").arg(m_folder));
    add(QStringLiteral("Processes"), m_jobs, nullptr,
        QStringLiteral("Number of runs trained in parallel"));

    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    auto* cancel = new QPushButton(QStringLiteral("Cancel"), this);
    cancel->setAutoDefault(false);
    m_create->setAutoDefault(false);
    m_start->setProperty("primary", true);
    m_start->setDefault(true);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    buttons->addStretch(1);
    for (auto* button : {cancel, m_create, m_start}) buttons->addWidget(button);

    m_summary->setFont(widgets::smallFont());
    m_summary->setWordWrap(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(20, 16, 20, 16);
    column->setSpacing(14);
    column->addLayout(grid);
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_summary);
    column->addWidget(m_note);
    column->addLayout(buttons);
    column->setSizeConstraint(QLayout::SetMinimumSize);
    setMinimumWidth(520);
}

}  // namespace relascope::app
