// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/study/study_layout.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
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
