// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <set>

#include "widgets/export/export.h"
#include "widgets/study/study_cells.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

/// The ends of the colour scale for values within [low, high]: multiples of 10 %, worse end first.
/// The range lies within 0 and 100 % and spans at least 10 %.
std::pair<double, double> niceRange(double low, double high, const StudyMetric& metric) {
    if (!(low <= high)) return metric.percent ? std::pair{0.0, 1.0} : std::pair{1.0, 0.0};
    if (metric.percent) {
        low = std::floor(low * 10.0 + 1e-9) / 10.0;
        high = std::ceil(high * 10.0 - 1e-9) / 10.0;
        if (high - low < 0.05) low -= 0.1;
        low = std::clamp(low, 0.0, 0.9);
        high = std::clamp(high, low + 0.1, 1.0);
    } else if (low == 0.0 && high == 0.0) {
        high = 1.0;
    } else if (high - low < 1e-9 * std::max(1.0, std::abs(high))) {
        const double half = 0.5 * std::max(std::abs(low), std::abs(high));
        low -= half;
        high += half;
    }
    return metric.lowerIsBetter ? std::pair{high, low} : std::pair{low, high};
}

}  // namespace

void StudyCells::set(const StudyLayout& layout, const StudyMetric& metric,
                     std::vector<GridRun> runs) {
    m_layout = layout;
    m_metric = metric;
    m_runs = std::move(runs);
    const auto columns = m_layout.columns().size();
    m_cells.assign(m_layout.rows().size() * columns, {});
    m_places.assign(m_runs.size(), 0);
    m_most = 1;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        const GridRun& run = m_runs[i];
        auto& runsHere = m_cells[static_cast<std::size_t>(run.row) * columns +
                                 static_cast<std::size_t>(run.column)]
                             .runs;
        m_places[i] = static_cast<int>(runsHere.size());
        runsHere.push_back(static_cast<int>(i));
        m_most = std::max(m_most, static_cast<int>(runsHere.size()));
        if (run.state != CellState::Done || !std::isfinite(run.value)) continue;
        low = std::min(low, run.value);
        high = std::max(high, run.value);
    }
    for (Cell& cell : m_cells) {
        double sum = 0.0;
        int count = 0;
        for (const int i : cell.runs) {
            const GridRun& run = m_runs[static_cast<std::size_t>(i)];
            if (run.state == CellState::Done && std::isfinite(run.value)) sum += run.value, ++count;
        }
        if (count > 0) cell.mean = sum / count;
    }
    m_range = niceRange(low, high, m_metric);
}

int StudyCells::find(const QString& name) const {
    const auto at = std::find_if(m_runs.begin(), m_runs.end(),
                                 [&](const GridRun& run) { return run.name == name; });
    return at == m_runs.end() ? -1 : static_cast<int>(at - m_runs.begin());
}

const StudyCells::Cell& StudyCells::cell(int row, int column) const {
    return m_cells[static_cast<std::size_t>(row) * m_layout.columns().size() +
                   static_cast<std::size_t>(column)];
}

int StudyCells::stepped(int index, int right, int down) const {
    const GridRun& run = this->run(index);
    int row = run.row, column = run.column;
    int place = this->place(index);
    if (right != 0) {
        place += right;
        while (place < 0 && column > 0) place += static_cast<int>(cell(row, --column).runs.size());
        while (place >= static_cast<int>(cell(row, column).runs.size()) && column + 1 < columns())
            place -= static_cast<int>(cell(row, column++).runs.size());
    }
    row = std::clamp(row + down, 0, rows() - 1);
    const auto& runs = cell(row, column).runs;
    if (runs.empty() || place < 0) return -1;
    if (right != 0 && place >= static_cast<int>(runs.size())) return -1;
    return runs[static_cast<std::size_t>(std::min(place, static_cast<int>(runs.size()) - 1))];
}

QString StudyCells::summary() const {
    QString text = QStringLiteral("%1 runs").arg(m_runs.size());
    for (const auto state : {CellState::Done, CellState::Running, CellState::Failed,
                             CellState::Interrupted, CellState::Waiting}) {
        const auto count = std::count_if(m_runs.begin(), m_runs.end(),
                                         [&](const GridRun& run) { return run.state == state; });
        if (count > 0)
            text +=
                QStringLiteral(", %1 %2").arg(count).arg(QString::fromLatin1(cellStateName(state)));
    }
    return text;
}

QString StudyCells::text(int index) const {
    if (!contains(index)) return {};
    const GridRun& run = this->run(index);
    QStringList lines{run.name};
    lines += QStringLiteral("%1 \u00B7 seed %2")
                 .arg(m_layout.columnText(run.column), QString::number(run.seed));
    QString state = QString::fromLatin1(cellStateName(run.state));
    if (run.state == CellState::Done)
        state += QStringLiteral(": %1 %2").arg(
            QString(m_metric.title()).remove(QStringLiteral(", %")),
            std::isnan(run.value) ? QStringLiteral("not measured")
                                  : m_metric.text(run.value) + m_metric.unit());
    else if (run.state == CellState::Running || run.state == CellState::Interrupted)
        state += QStringLiteral(", %1% of its steps").arg(qRound(100.0 * run.progress));
    if (run.state == CellState::Failed && !run.message.isEmpty())
        state += QStringLiteral(": ") + run.message;
    lines += state;
    if (run.seconds > 0.0)
        lines += run.device.isEmpty()
                     ? durationText(run.seconds)
                     : QStringLiteral("%1 on %2").arg(durationText(run.seconds), run.device);
    return lines.join(u'\n');
}

QString StudyCells::csv() const {
    QString text =
        QStringLiteral("run,model,%1,seed,state,%2,message\n")
            .arg(csvField(m_layout.sizesAcross() ? QStringLiteral("train_size")
                                                 : m_layout.axisTitle()),
                 csvField(m_metric.split.isEmpty() ? m_metric.name
                                                   : m_metric.name + u' ' + m_metric.split));
    for (const GridRun& run : m_runs) {
        const auto& column = m_layout.columns()[static_cast<std::size_t>(run.column)];
        const QStringList cells{
            run.name,
            m_layout.rows()[static_cast<std::size_t>(run.row)].name,
            m_layout.sizesAcross() ? QString::number(static_cast<qint64>(column.x)) : column.title,
            QString::number(run.seed),
            QString::fromLatin1(cellStateName(run.state)),
            run.state == CellState::Done && !std::isnan(run.value)
                ? QString::number(run.value, 'g', 8)
                : QString(),
            run.message};
        for (qsizetype i = 0; i < cells.size(); ++i)
            text += (i > 0 ? QStringLiteral(",") : QString()) + csvField(cells[i]);
        text += u'\n';
    }
    return text;
}

namespace {

const QString kSizes = QStringLiteral("training examples");

QString lastPart(const std::string& key) {
    return QString::fromStdString(key.substr(key.rfind('.') + 1));
}

/// Values of the options that are not on the columns.
QString valuesText(const StudyPlan& plan, const std::vector<std::string>& values, int across) {
    QStringList parts;
    for (std::size_t i = 0; i < plan.vary.size() && i < values.size(); ++i)
        if (static_cast<int>(i) != across)
            parts += lastPart(plan.vary[i].key) + u'=' + QString::fromStdString(values[i]);
    return parts.join(QStringLiteral(", "));
}

QString digits(double value) {
    const double size = std::abs(value);
    const int after = size >= 100.0 ? 1 : size >= 10.0 ? 2 : size >= 1.0 ? 3 : 4;
    return QString::number(size, 'f', after);
}

}  // namespace

QString StudyMetric::text(double value) const {
    if (std::isnan(value)) return QString(QChar(0x2014));
    const QString sign = value < 0.0 ? QString(QChar(0x2212)) : QString();
    return sign + (percent ? QString::number(std::abs(100.0 * value), 'f', 1) : digits(value));
}

QString StudyMetric::text(double mean, double error) const {
    if (std::isnan(mean) || std::isnan(error)) return text(mean);
    // The error has the same number of decimals as the mean.
    const QString shown = text(mean);
    const auto places = shown.contains(u'.') ? shown.size() - shown.indexOf(u'.') - 1 : 0;
    return shown + QStringLiteral(" \u00B1 ") +
           QString::number(percent ? 100.0 * error : error, 'f', static_cast<int>(places));
}

QString StudyMetric::title() const {
    QString title = QString(name).replace(u'_', u' ');
    if (!split.isEmpty()) title += QStringLiteral(" on ") + split;
    return percent ? title + QStringLiteral(", %") : title;
}

QString studySeries(const StudyPlan& plan, const std::string& model,
                    const std::vector<std::string>& values) {
    const QString rest = valuesText(plan, values, -1);
    const QString name = QString::fromStdString(model);
    return rest.isEmpty() ? name : name + QStringLiteral(", ") + rest;
}

StudyLayout::StudyLayout(const StudyInfo& study) : m_axis(kSizes) {
    const auto& plan = study.plan;
    std::set<std::int64_t> sizes;
    for (const auto& cell : study.cells) sizes.insert(cell.size);
    int across = -1;
    for (std::size_t i = 0; i < plan.vary.size(); ++i)
        if (sizes.size() <= 1 && plan.vary[i].values.size() > 1) across = static_cast<int>(i);
    m_sizes = across < 0;
    if (m_sizes) {
        for (const auto size : sizes) {
            m_sizeColumn.insert(size, static_cast<int>(m_columns.size()));
            m_columns.push_back({groupedNumber(size), static_cast<double>(size)});
        }
    } else {
        const auto& axis = plan.vary[static_cast<std::size_t>(across)];
        m_axis = lastPart(axis.key);
        for (const auto& value : axis.values) {
            bool number = false;
            const QString text = QString::fromStdString(value);
            m_columns.push_back({text, text.toDouble(&number)});
            m_numeric &= number;
        }
    }
    QHash<QString, int> rows;
    for (const auto& cell : study.cells) {
        const QString series = studySeries(plan, cell.model, cell.values);
        const QString title = QString::fromStdString(cell.model);
        const QString rest = valuesText(plan, cell.values, across);
        const QString name = rest.isEmpty() ? title : title + QStringLiteral(", ") + rest;
        if (!rows.contains(name)) {
            rows.insert(name, static_cast<int>(m_rows.size()));
            m_rows.push_back({name, title, rest, 0});
        }
        const int row = rows.value(name);
        m_seriesRow.insert(series, row);
        if (across >= 0) {
            const auto& values = plan.vary[static_cast<std::size_t>(across)].values;
            const auto& value = cell.values[static_cast<std::size_t>(across)];
            const auto at = std::find(values.begin(), values.end(), value) - values.begin();
            m_seriesColumn.insert(series, static_cast<int>(at));
        }
        Row& shown = m_rows[static_cast<std::size_t>(row)];
        if (cell.info.parameters <= 0) continue;
        if (shown.parameters > 0) {
            shown.sizeVaries = shown.sizeVaries || shown.parameters != cell.info.parameters;
            continue;
        }
        shown.parameters = cell.info.parameters;
        QStringList parts;
        if (!rest.isEmpty())
            parts += rest;
        else if (!cell.info.model.empty())
            parts += QString::fromStdString(cell.info.model);
        if (m_sizes) parts += shortCount(cell.info.parameters);
        shown.detail = parts.join(QStringLiteral(" \u00B7 "));
    }
}

StudyLayout::Place StudyLayout::place(const QString& series, std::int64_t size) const {
    const int row = m_seriesRow.value(series, -1);
    const int column = m_sizes ? m_sizeColumn.value(size, -1) : m_seriesColumn.value(series, -1);
    return row < 0 || column < 0 ? Place{} : Place{row, column};
}

QString StudyLayout::columnText(int column) const {
    if (column < 0 || column >= static_cast<int>(m_columns.size())) return {};
    const QString& title = m_columns[static_cast<std::size_t>(column)].title;
    return m_sizes ? title + u' ' + m_axis : m_axis + u' ' + title;
}

}  // namespace relascope::widgets
