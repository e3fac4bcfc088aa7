// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/analysis_options.h"

#include <QAction>
#include <QComboBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>
#include <utility>

#include "analysis/pairs/hypothesis.h"
#include "app/pages/statement_line.h"
#include "types/text_format.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

using widgets::ToggleChip;

namespace {

QString words(const std::string& text) {
    return QString::fromStdString(text);
}

ToggleChip* chipOf(const QString& title, const QString& help, QWidget* parent) {
    auto* chip = new ToggleChip(title, parent);
    chip->setToolTip(help);
    return chip;
}

QString titleOf(const FieldSpec& spec, std::size_t choice) {
    return words(choice < spec.choiceTitles.size() ? spec.choiceTitles[choice]
                                                   : spec.choices[choice]);
}

// A file is taken when its whole path is typed, or from a dialog.
void addFileDialog(QLineEdit* line, const FieldSpec& spec,
                   const std::function<void(const QString&)>& take) {
    const bool saves = spec.name == "save";
    const QString title = words(spec.label);
    line->setPlaceholderText(saves ? QStringLiteral("not saved") : QStringLiteral("none"));
    auto* open =
        line->addAction(widgets::icon(saves ? "download" : "folder"), QLineEdit::TrailingPosition);
    open->setToolTip(saves ? QStringLiteral("Choose where to save")
                           : QStringLiteral("Choose a file"));
    QObject::connect(open, &QAction::triggered, line, [line, title, saves, take] {
        const QString path =
            saves ? QFileDialog::getSaveFileName(line->window(), title, line->text())
                  : QFileDialog::getOpenFileName(line->window(), title, line->text());
        if (path.isEmpty()) return;
        line->setText(path);
        take(path);
    });
    QObject::connect(line, &QLineEdit::editingFinished, line, [line, take] {
        if (line->isModified()) take(line->text());
        line->setModified(false);
    });
}

}  // namespace

AnalysisOptions::AnalysisOptions(QWidget* parent) : ControlRow(parent) {}

void AnalysisOptions::addFields(const core::Analysis& analysis, bool above) {
    for (const auto& field : analysis.fields)
        if (field.inRow && field.above == above) addControl(field);
}

void AnalysisOptions::setWords(const std::vector<std::string>& known,
                               const std::vector<std::string>& maskFacts) {
    QStringList all;
    for (const auto& word : known) all << words(word);
    for (auto* line : m_statements) line->setWords(all);
    QStringList attributes;
    for (const auto& name : maskFacts.empty() ? core::attributesAmong(known) : maskFacts)
        attributes << words(name);
    for (auto* box : m_attributes) {
        const QString typed = box->currentText();
        box->clear();
        box->addItems(attributes);
        box->setCurrentText(typed);
    }
}

// Each control is filled before its signals are connected.
void AnalysisOptions::addControl(const core::AnalysisField& field) {
    const auto& spec = field.spec;
    const QString label = words(spec.label), help = words(spec.help);
    const auto listen = [this, name = spec.name](auto value) { Q_EMIT chosen(name, value); };
    const auto keep = [&](std::function<void(const FieldValue&)> show) {
        show(field.initial);
        m_controls.push_back({&field, std::move(show)});
    };
    switch (spec.kind) {
        case FieldKind::Boolean: {
            auto* chip = chipOf(label, help, this);
            add(chip);
            addGap();
            keep([chip](const FieldValue& v) { chip->setChecked(std::get<bool>(v)); });
            connect(chip, &ToggleChip::toggled, this, [listen](bool on) { listen(on); });
            return;
        }
        case FieldKind::Integer: {
            auto* box = numberBox(label, spec.minimum, spec.maximum, this);
            box->setToolTip(help);
            if (!field.automatic.empty()) box->setSpecialValueText(words(field.automatic));
            add(label, box);
            addGap();
            if (spec.name == "tokens") m_ofText = box->parentWidget();
            keep([box](const FieldValue& v) {
                box->setValue(static_cast<int>(std::get<std::int64_t>(v)));
            });
            connect(box, &QSpinBox::valueChanged, this,
                    [listen](int value) { listen(static_cast<std::int64_t>(value)); });
            return;
        }
        case FieldKind::Choice: {
            auto* box = choiceBox(label, this);
            box->setToolTip(help);
            for (std::size_t k = 0; k < spec.choices.size(); ++k)
                box->addItem(titleOf(spec, k), words(spec.choices[k]));
            add(label, box);
            addGap();
            keep([box](const FieldValue& v) {
                box->setCurrentIndex(box->findData(words(std::get<std::string>(v))));
            });
            connect(box, &QComboBox::activated, this,
                    [listen, box] { listen(box->currentData().toString().toStdString()); });
            return;
        }
        case FieldKind::TextList: {
            if (spec.choices.empty()) return addLine(field);
            add(widgets::mutedLabel(label, this));
            std::vector<std::pair<std::string, ToggleChip*>> chips;
            for (std::size_t k = 0; k < spec.choices.size(); ++k) {
                const auto& tip = k < spec.choiceHelp.size() ? spec.choiceHelp[k] : spec.help;
                chips.emplace_back(spec.choices[k], chipOf(titleOf(spec, k), words(tip), this));
                add(chips.back().second);
            }
            addGap();
            keep([chips](const FieldValue& v) {
                const auto& words = std::get<std::vector<std::string>>(v);
                for (const auto& [word, chip] : chips)
                    chip->setChecked(std::count(words.begin(), words.end(), word) > 0);
            });
            for (const auto& one : chips)
                connect(one.second, &ToggleChip::toggled, this, [listen, chips] {
                    std::vector<std::string> chosen;
                    for (const auto& [word, chip] : chips)
                        if (chip->isChecked()) chosen.push_back(word);
                    listen(chosen);
                });
            return;
        }
        case FieldKind::Text:
            return addLine(field);
        case FieldKind::Real:
        case FieldKind::IntegerList:
            break;  // no analysis has such an option
    }
    throw Error("there is no control for --" + spec.name);
}

// A line for a text, for an attribute, of which the box below it has those that the data are known
// to have, or for any number of statements, parted by semicolons.
void AnalysisOptions::addLine(const core::AnalysisField& field) {
    const bool statements = field.spec.kind == FieldKind::TextList;
    const auto textOf = [](const FieldValue& value) {
        const auto* all = std::get_if<std::vector<std::string>>(&value);
        return words(all ? joined(*all, "; ") : std::get<std::string>(value));
    };
    QWidget* control = nullptr;
    QLineEdit* line = nullptr;
    if (field.attribute) {
        auto* box = m_attributes.emplace_back(new QComboBox(this));
        box->setEditable(true);
        box->setInsertPolicy(QComboBox::NoInsert);
        box->setFixedWidth(210);
        line = box->lineEdit();
        line->setPlaceholderText(QStringLiteral("choose or type one"));
        connect(box, &QComboBox::textActivated, line, &QLineEdit::textEdited);
        control = box;
    } else {
        if (statements)
            line = m_statements.emplace_back(new StatementLine(this));
        else
            line = new QLineEdit(this);
        line->setFont(widgets::monoFont(12));
        line->setFixedWidth(statements ? 460 : 190);
        line->setClearButtonEnabled(statements);
        if (statements) line->setPlaceholderText(QStringLiteral("same(colour) and not same(size)"));
        control = line;
    }
    control->setToolTip(words(field.spec.help));
    add(words(field.spec.label), control);
    addGap();
    const auto show = [line, textOf](const FieldValue& value) {
        if (const QString now = textOf(value); line->text().trimmed() != now) line->setText(now);
    };
    show(field.initial);
    m_controls.push_back({&field, show});
    const auto take = [this, statements, &field](const QString& typed) {
        const auto text = typed.trimmed().toStdString();
        if (text.empty())
            Q_EMIT chosen(field.spec.name, field.initial);
        else if (statements)
            Q_EMIT chosen(field.spec.name, std::vector<std::string>{text});
        else
            Q_EMIT chosen(field.spec.name, text);
    };
    if (field.spec.path)
        addFileDialog(line, field.spec, take);
    else
        connect(line, &QLineEdit::textEdited, this, take);
    connect(line, &QLineEdit::returnPressed, this, &AnalysisOptions::entered);
}

void AnalysisOptions::setValues(const core::OptionValues& values) {
    std::vector<QSignalBlocker> quiet;
    for (QWidget* control : findChildren<QWidget*>()) quiet.emplace_back(control);
    for (const auto& control : m_controls) {
        const auto at = values.find(control.field->spec.name);
        control.show(at == values.end() ? control.field->initial : at->second);
    }
}

}  // namespace relascope::app
