// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <tuple>

#include <QComboBox>
#include <QCompleter>
#include <QLineEdit>
#include <QSpinBox>
#include <QVBoxLayout>

#include "widgets/analysis/attribute/attribution_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr double kShownInside = 0.05;  // of the largest part
const char* const kOwn = "the model's own answer";
const char* const kNothing = "nothing";

// A list with one first entry that means "no choice", into which anything can be typed.
QComboBox* answerList(const char* first, const QString& name, QWidget* parent) {
    auto* box = new QComboBox(parent);
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->addItem(QString::fromLatin1(first));
    box->setFont(smallFont());
    box->setMinimumWidth(180);
    box->setAccessibleName(name);
    box->completer()->setCaseSensitivity(Qt::CaseSensitive);
    return box;
}

QString chosen(const QComboBox& box) {
    return box.currentText() == box.itemText(0) ? QString() : box.currentText();
}

}  // namespace

const auto kAttributionView = RegisterView::of<AttributionView>("attribute");

AttributionView::AttributionView(QWidget* parent)
    : AnswerView(QStringLiteral("Attribution"), QStringLiteral("attribution"), parent),
      m_answer(answerList(kOwn, QStringLiteral("Answer"), this)),
      m_minus(answerList(kNothing, QStringLiteral("Minus the answer"), this)),
      m_at(new QWidget(this)),
      m_position(new QSpinBox(this)),
      m_order(new SegmentedControl({QStringLiteral("By size"), QStringLiteral("In order")}, this)),
      m_all(new ToggleChip(QStringLiteral("All relations"), this)),
      m_note(new FieldNote(this)),
      m_table(new TableView(QStringLiteral("Parts of the logit"), this)) {
    m_order->setAccessibleName(QStringLiteral("Order of the parts"));
    m_all->setToolTip(
        QStringLiteral("Also relations and symbols of less than 5 % of the largest part"));
    auto* choice = new QWidget(this);
    auto* row = rowOf(choice, {16, 6, 16, 6}, 8);
    for (auto [text, box] : {std::pair{"Logit of", m_answer}, std::pair{"minus", m_minus}}) {
        auto* label = mutedLabel(QString::fromLatin1(text), this);
        label->setBuddy(box);
        row->addWidget(label);
        row->addWidget(box);
    }
    auto* at = rowOf(m_at, {}, 8);
    at->addWidget(mutedLabel(QStringLiteral("at position"), m_at));
    at->addWidget(m_position);
    m_position->setFont(smallFont());
    m_position->setAccessibleName(QStringLiteral("Position"));
    m_position->setSpecialValueText(QStringLiteral("last"));
    m_position->setRange(-1, -1);
    m_at->hide();
    row->addWidget(m_at);
    row->addWidget(m_note, 1);
    row->addStretch(0);
    row->addWidget(m_all);
    row->addWidget(m_order);
    // Above the results, so that a refused answer can be chosen anew.
    static_cast<QVBoxLayout*>(layout())->insertWidget(1, choice);
    content()->addWidget(m_table, 1);
    const auto listen = [this](QComboBox* box, const char* option) {
        const auto emitOption = [this, box, option] {
            Q_EMIT optionChosen(QLatin1String(option), chosen(*box).toStdString());
        };
        connect(box, &QComboBox::activated, this, emitOption);
        connect(box->lineEdit(), &QLineEdit::returnPressed, this, emitOption);
    };
    connect(m_position, &QSpinBox::valueChanged, this, [this](int position) {
        Q_EMIT optionChosen(QStringLiteral("position"), static_cast<std::int64_t>(position));
    });
    listen(m_answer, "logit");
    listen(m_minus, "minus");
    connect(m_order, &SegmentedControl::changed, this, &AttributionView::showParts);
    connect(m_all, &ToggleChip::toggled, this, &AttributionView::showParts);
    AnswerView::clear(QStringLiteral("Choose a sample in the inspector."));
}

void AttributionView::setOptions(const core::OptionValues& values) {
    const QSignalBlocker quiet(m_position);
    const auto text = [&](const char* name) {
        const auto at = values.find(name);
        return at == values.end() ? QString()
                                  : QString::fromStdString(std::get<std::string>(at->second));
    };
    for (const auto& [box, name] : {std::pair{m_answer, "logit"}, {m_minus, "minus"}}) {
        const QString answer = text(name);
        box->setCurrentText(answer.isEmpty() ? box->itemText(0) : answer);
    }
    const auto at = values.find("position");
    const int position =
        at == values.end() ? -1 : static_cast<int>(std::get<std::int64_t>(at->second));
    m_position->setMaximum(std::max(position, m_position->maximum()));
    m_position->setValue(position);
}

QString AttributionView::problem() const {
    return m_note->text();
}
void AttributionView::refuse(const QString& sentence) {
    if (isEmpty())
        clear(sentence);
    else
        m_note->setProblem(sentence);
}

// What was chosen or typed stays.
void AttributionView::offer(const Answer& answer) {
    const QSignalBlocker quiet(m_position);
    const auto positions = static_cast<int>(indexOf(answer.number("positions")));
    m_position->setMaximum(std::max(0, positions) - 1);
    m_at->setVisible(positions > 0);
    QStringList names;
    for (const auto& name : answer.table("offered").texts("answer")) names << shownText(name);
    for (QComboBox* box : {m_answer, m_minus}) {
        const QString before = box->currentText(), first = box->itemText(0);
        box->clear();
        box->addItem(first);
        box->addItems(names);
        box->setCurrentText(before.isEmpty() ? first : before);
    }
}

QString AttributionView::title() const {
    const auto& r = answer();
    QString text = QStringLiteral("logit of \u201C%1\u201D").arg(answerText(r.text("answer")));
    if (indexOf(r.number("minus_id")) >= 0)
        text += QStringLiteral(" minus that of \u201C%1\u201D").arg(answerText(r.text("minus")));
    if (const auto position = indexOf(r.number("position")); position >= 0) {
        text += QStringLiteral(" at position %1").arg(position);
        if (!r.text("input").empty())
            text += QStringLiteral(" \u201C%1\u201D").arg(answerText(r.text("input")));
    }
    return text + QStringLiteral(": %1, sum of the parts %2")
                      .arg(signedText(r.number("logit"), 3), signedText(r.number("sum"), 3));
}

void AttributionView::showParts() {
    if (answer().tables.empty()) return m_table->setTable({});
    const auto& parts = answer().table("parts");
    const auto &names = parts.texts("part"), &kinds = parts.texts("kind");
    const auto &values = parts.numbers("value"), &inside = parts.numbers("inside"),
               &relations = parts.numbers("relation");
    const auto size = [&](std::size_t part) { return std::abs(values[part]); };
    double most = 0.0;
    for (const double value : values) most = std::max(most, std::abs(value));
    std::vector<std::size_t> shown, owner(values.size());  // the part that it is in, or itself
    for (std::size_t k = 0; k < values.size(); ++k) {
        owner[k] = inside[k] != 0.0 && k > 0 ? owner[k - 1] : k;
        if (owner[k] == k || m_all->isChecked() || size(k) >= kShownInside * most)
            shown.push_back(k);
    }
    const auto place = [&](std::size_t part) {
        return std::tuple(-size(owner[part]), owner[part], owner[part] != part, -size(part));
    };
    if (m_order->current() == 0)
        std::stable_sort(shown.begin(), shown.end(),
                         [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    Table table{"parts"};
    table.columns = {{"part", "Part", {}, ColumnKind::Text},
                     {"value", "Adds", {}, ColumnKind::Number, {3, false, true, true}},
                     {"inside", {}, {}, ColumnKind::Flag},
                     {"tip", {}, {}, ColumnKind::Text}};
    for (const auto k : shown) {
        const bool below = owner[k] != k;
        const auto relation = indexOf(relations[k]);
        // The name of a part inside a head does not repeat the head.
        table.columns[0].texts.push_back(!below         ? names[k]
                                         : relation > 0 ? kinds[k] + ' ' + std::to_string(relation)
                                                        : kinds[k]);
        table.columns[1].numbers.push_back(values[k]);
        table.columns[2].numbers.push_back(below);
        table.columns[3].texts.push_back(names[k] + ": " + signedText(values[k], 6).toStdString() +
                                         (below ? ", counted in its head" : ""));
    }
    m_table->setTable(table);
    QString text = title();
    if (const auto left = values.size() - shown.size(); left > 0)
        text += QStringLiteral("; %1 relations below 5 % of the largest part not shown")
                    .arg(groupedNumber(static_cast<qlonglong>(left)));
    head()->setSubText(text);
}

void AttributionView::fill(const Answer& answer) {
    m_note->setProblem({});
    if (!answer.tables.empty()) offer(answer);
    showParts();
}

void AttributionView::draw(FigureLines& lines) const {
    const QString text = headText();
    lines.title(text.isEmpty() ? text : text[0].toUpper() + text.mid(1));
    lines.table(*m_table, m_table->model()->rowCount());
}

}  // namespace relascope::widgets
