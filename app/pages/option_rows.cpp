// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/option_rows.h"

#include <QCompleter>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "types/run_options.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

OptionRow::OptionRow(QCompleter* keys, bool several, QWidget* parent)
    : QWidget(parent),
      m_key(new QLineEdit(this)),
      m_values(new QLineEdit(this)),
      m_note(new widgets::FieldNote(this)) {
    auto* column = widgets::columnOf(this, {}, 2);
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

OptionRows::OptionRows(const QString& button, bool several, QWidget* parent)
    : QWidget(parent), m_several(several), m_column(new QVBoxLayout) {
    QStringList keys;
    for (const auto& key : RunOptions::keys()) keys << QString::fromStdString(key);
    m_keys = new QCompleter(keys, this);
    m_keys->setFilterMode(Qt::MatchContains);
    m_keys->setCaseSensitivity(Qt::CaseInsensitive);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    for (auto* layout : {column, m_column}) layout->setSpacing(6);
    column->addLayout(m_column);
    auto* more = new QPushButton(widgets::icon("plus"), button, this);
    more->setProperty("compact", true);
    more->setAutoDefault(false);
    connect(more, &QPushButton::clicked, this, &OptionRows::add);
    column->addWidget(more, 0, Qt::AlignLeft);
}

OptionRow* OptionRows::add() {
    auto* row = new OptionRow(m_keys, m_several, this);
    m_rows.push_back(row);
    m_column->addWidget(row);
    connect(row, &OptionRow::edited, this, &OptionRows::edited);
    connect(row, &OptionRow::removed, this, [this, row] {
        std::erase(m_rows, row);
        row->hide();
        row->deleteLater();
        Q_EMIT removed();
    });
    row->key()->setFocus();
    Q_EMIT edited();
    return row;
}

OptionRow* OptionRows::find(const QString& key) const {
    const auto found = std::find_if(m_rows.begin(), m_rows.end(),
                                    [&](const auto* row) { return row->keyText() == key; });
    return found == m_rows.end() ? nullptr : *found;
}

}  // namespace relascope::app
