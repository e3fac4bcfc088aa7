// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tables/run_metrics.h"

#include <QStringList>
#include <cmath>

#include "widgets/theme/theme.h"

namespace relascope::widgets {

QString metricText(std::string_view key, double value) {
    return metricValueText(metricInfo(key), value);
}

QString metricName(std::string_view key) {
    return QString::fromStdString(metricLabel(key));
}

QString metricShort(std::string_view key) {
    return metricName(metricInfo(key).shortTitle);
}

const SplitResult* shownResult(const RunInfo& info) {
    return info.results.empty() ? nullptr : &info.results.front();
}

std::string resultMetric(const RunInfo& info) {
    const SplitResult* result = shownResult(info);
    if (!result) return {};
    for (const std::string& key : {info.metric, std::string(metricInfo(Metric::Accuracy).key)})
        if (!std::isnan(result->value(key))) return key;
    return {};
}

QString resultLines(const RunInfo& info) {
    QStringList lines;
    for (const SplitResult& result : info.results) {
        QStringList values;
        for (const auto& [key, value] : result.values)
            values << metricName(key) + u' ' + metricText(key, value);
        lines << QStringLiteral("%1: %2 (%3 examples)")
                     .arg(QString::fromStdString(result.split), values.join(QStringLiteral(", ")),
                          groupedNumber(result.examples));
    }
    return lines.join(u'\n');
}

}  // namespace relascope::widgets
