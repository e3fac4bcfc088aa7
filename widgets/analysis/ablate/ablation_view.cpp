// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include "analysis/ablate/answer.h"
#include "types/metric.h"
#include "widgets/analysis/ablate/ablation_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

namespace {

constexpr int kFigurePlot = 258, kPartsInFigure = 60, kPairsInFigure = 12;

/// The metric of a model from which more and more parts are taken, the least important first.
PlotData curveOf(const AblationTable& table) {
    const MetricText metric(table.metric);
    PlotData data;
    PlotLine line{{table.base}}, base;
    for (const auto& removed : table.cumulative) line.y.push_back(removed.second);
    for (int k = 0; k < static_cast<int>(line.y.size()); ++k)
        data.x.push_back(k), line.dots.push_back(k);
    base.y.assign(line.y.size(), table.base);
    base.dashed = base.muted = true;
    data.title = QStringLiteral("Parts removed one after another (%1), the least important first")
                     .arg(wayText(table.cumulativeWay));
    data.xTitle = QStringLiteral("Parts removed");
    data.yTitle = metric.title;
    data.percent = metric.percent;
    data.text = [table, values = line.y, metric](int at) {
        const QString value = metric.value(values[static_cast<std::size_t>(at)]);
        if (at == 0) return QStringLiteral("Nothing removed: %1").arg(value);
        const auto& part = table.cumulative[static_cast<std::size_t>(at - 1)].first;
        return QStringLiteral("%1 removed, the last is %2: %3")
            .arg(at)
            .arg(QString::fromStdString(part), value);
    };
    data.description = metric.title;
    for (const int at : line.dots) data.description += QStringLiteral("; ") + data.text(at);
    data.lines = {std::move(line), std::move(base)};
    return data;
}

/// A row for each part: its ways beside each other.
Table partsOf(const AblationTable& result, const std::vector<std::string>& uses, double least) {
    const MetricText text(result.metric);
    Table table{"parts"};
    const auto add = [&](const std::string& key, const QString& title, ColumnKind kind,
                         NumberFormat format, const QString& help) -> Column& {
        table.columns.push_back({key, title.toStdString(), help.toStdString(), kind, format});
        return table.columns.back();
    };
    auto& parts = add("part", QStringLiteral("Part"), ColumnKind::Text, {}, {}).texts;
    for (const auto& row : result.rows) parts.push_back(row.part);
    auto& groups = add("group", QStringLiteral("Group"), ColumnKind::Text, {}, {}).texts;
    // As the control of the window calls them: a column of W_r is what a head takes of a relation.
    for (const auto& row : result.rows)
        groups.push_back(row.group == "columns" ? "relation x head" : row.group);
    add("use", QString::fromStdString(core::useHeading(result.metric, least)), ColumnKind::Text, {},
        QStringLiteral("Whether the model needs the part, by its mildest and its harshest "
                       "replacement, corrected over all rows; empty: too few examples for a word"))
        .texts = uses;
    table.columns.back().texts.resize(result.rows.size());
    const NumberFormat change{text.percent ? 1 : 3, text.percent, true, true};
    for (const auto op : {EditOp::Zero, EditOp::Mean, EditOp::Resample}) {
        const std::string key = editOpName(op);
        std::vector<double> values[4];
        bool any = false;
        for (const auto& row : result.rows) {
            const auto way =
                std::find_if(row.ways.begin(), row.ways.end(),
                             [&](const AblationRow::Way& one) { return one.how == op; });
            const bool known = way != row.ways.end();
            any = any || known;
            const double numbers[] = {known ? way->change.change : NAN,
                                      known ? way->change.low : NAN, known ? way->change.high : NAN,
                                      known ? way->changedAnswers : NAN};
            for (std::size_t k = 0; k < 4; ++k) values[k].push_back(numbers[k]);
        }
        if (!any) continue;
        QString title = wayText(op);
        title[0] = title[0].toUpper();
        auto& column = add(key, title, ColumnKind::Number, change,
                           QStringLiteral("Change of the %1 with the part replaced by %2, with "
                                          "its 95 % interval")
                               .arg(text.title.toLower(), wayText(op)));
        column.low = key + " low", column.high = key + " high";
        column.numbers = values[0];
        add(key + " low", {}, ColumnKind::Number, {}, {}).numbers = values[1];
        add(key + " high", {}, ColumnKind::Number, {}, {}).numbers = values[2];
        add(key + " changed", QStringLiteral("Changed"), ColumnKind::Number, {0, true},
            QStringLiteral("Share of the answers that change"))
            .numbers = values[3];
    }
    std::vector<double> lengths, streams;
    for (const auto& row : result.rows) {
        lengths.push_back(row.partNorm);
        streams.push_back(row.streamNorm > 0 ? row.streamNorm : NAN);
    }
    add("length", QStringLiteral("Norm"), ColumnKind::Number, {2},
        QStringLiteral("Mean L2 norm of what the part adds to the stream"))
        .numbers = lengths;
    add("stream", QStringLiteral("Norm of stream"), ColumnKind::Number, {2},
        QStringLiteral("Mean L2 norm of the stream that it is added to"))
        .numbers = streams;
    return table;
}

}  // namespace

const auto kAblationView = RegisterView::of<AblationView>("ablate");

AblationView::AblationView(QWidget* parent)
    : AnswerView(QStringLiteral("Ablation"), QStringLiteral("ablation"), parent),
      m_table(new TableView(QStringLiteral("Ablation table"), this)),
      m_knockOut(new QPushButton(QStringLiteral("Knock out in the inspector"), this)),
      m_below(new QWidget(this)),
      m_curve(new PlotView(QStringLiteral("Cumulative curve"), this)),
      m_pairs(new TableView(QStringLiteral("Pairs of parts"), this)) {
    auto* row = rowOf(m_below);
    m_pairsPart = new QWidget(m_below);
    auto* pairsTitle = mutedLabel(
        QStringLiteral("Pairs: joint change, and interaction (joint - sum)"), m_pairsPart);
    pairsTitle->setContentsMargins(16, 8, 16, 2);
    auto* pairs = columnOf(m_pairsPart);
    pairs->addWidget(pairsTitle);
    pairs->addWidget(m_pairs, 1);
    row->addWidget(m_curve, 3);
    row->addWidget(m_pairsPart, 2);
    content()->addWidget(m_table, 3);
    content()->addWidget(horizontalLine(this));
    content()->addWidget(m_below, 2);
    m_below->setMinimumHeight(190);
    m_knockOut->setProperty("compact", true);
    head()->addControl(m_knockOut);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &AblationView::updateKnockOut);
    connect(m_table, &QTableView::activated, this, &AblationView::requestEdit);
    connect(m_knockOut, &QPushButton::clicked, this, &AblationView::requestEdit);
    AblationView::clear(QStringLiteral("Not measured."));
}

std::optional<Edit> AblationView::chosenEdit() const {
    const int row = m_table->currentRow();
    if (isEmpty() || row < 0) return std::nullopt;
    Edit edit = m_result.rows[static_cast<std::size_t>(row)].edit;
    const auto& key = m_table->tableModel()->columnAt(m_table->currentIndex().column()).key;
    for (const auto op : {EditOp::Mean, EditOp::Resample})
        if (key.starts_with(editOpName(op))) edit.op = op;
    return edit;
}

void AblationView::requestEdit() {
    if (const auto edit = chosenEdit()) Q_EMIT editsRequested({*edit}, {});
}

void AblationView::updateKnockOut() {
    m_knockOut->setVisible(!isEmpty());
    m_knockOut->setEnabled(chosenEdit().has_value());
    m_knockOut->setToolTip(m_knockOut->isEnabled()
                               ? QStringLiteral("Take the chosen part out in the inspector (Enter "
                                                "on its row)")
                               : QStringLiteral("Choose a row of the table first"));
}

void AblationView::clear(const QString& sentence) {
    AnswerView::clear(sentence);
    updateKnockOut();
}

void AblationView::fill(const Answer& answer) {
    m_result = answer.tables.empty() ? AblationTable() : core::ablationTableOf(answer);
    if (answer.tables.empty()) {
        m_table->setTable({});
        return m_pairs->setTable({});
    }
    const auto& table = m_result;
    m_table->setTable(partsOf(table, core::usesOf(answer), answer.number("least_cost")));
    const MetricText text(table.metric);
    QString sub =
        QStringLiteral("%1 %2 with every part, %3 examples")
            .arg(text.title.toLower(), text.value(table.base), groupedNumber(table.examples));
    if (table.examples < table.wanted)
        sub = QStringLiteral("%1 of %2").arg(sub.chopped(9), groupedNumber(table.wanted)) +
              QStringLiteral(" examples");
    if (text.percent) sub += QStringLiteral("; changes in points");
    if (const auto& remark = answer.text("remark"); !remark.empty())
        sub += QStringLiteral("; ") + QString::fromStdString(remark);
    head()->setSubText(sub);
    m_curve->setVisible(!table.cumulative.empty());
    m_pairsPart->setVisible(!table.pairs.empty());
    m_below->setVisible(!table.cumulative.empty() || !table.pairs.empty());
    m_curve->setData(curveOf(table));
    const auto* pairs = answer.find("pairs");
    m_pairs->setTable(pairs ? *pairs : Table());
    leaveEmpty();
    updateKnockOut();
}

void AblationView::draw(FigureLines& lines) const {
    const int half = lines.width / 2 + 80;
    lines.title(QStringLiteral("Ablation: ") + headText());
    lines.table(*m_table, kPartsInFigure);
    if (!m_result.cumulative.empty()) {
        lines.y += 8;
        lines.part(kFigurePlot, [&](QPainter& painter) {
            m_curve->paintFigure(painter, 0, {half, kFigurePlot});
        });
    }
    if (m_result.pairs.empty()) return;
    lines.y += 8;
    lines.wrapped(
        QStringLiteral("Pairs with the largest interaction (joint change - sum of the two)"),
        smallFont(), Theme::current().text);
    lines.table(*m_pairs, kPairsInFigure, half);
}

}  // namespace relascope::widgets
