// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/text/run_text.h"

#include <cmath>

#include <QStringList>

#include "types/metric_text.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

QString metricText(const MetricInfo& metric, double value) {
    return QString::fromStdString(metricValueText(metric, value));
}

QString metricName(std::string_view key) {
    return QString::fromStdString(metricLabel(key));
}

QString metricShort(std::string_view key) {
    return metricName(metricInfo(key).shortTitle);
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

QString unitBehind(std::string_view metric) {
    const auto& info = metricInfo(metric);
    return info.isFraction() || info.unit.empty()
               ? QString()
               : u' ' + QString::fromUtf8(info.unit.data(), qsizetype(info.unit.size()));
}

QString keptText(const RunInfo& info) {
    if (info.kept.step < 0) return {};
    const double own = keptOf(info);
    const std::string_view shown = std::isnan(own) ? "loss" : std::string_view(info.metric);
    QString text =
        QStringLiteral("validation %1 %2 (weights of step %3)")
            .arg(metricName(shown), metricText(shown, info.kept.value(shown)) + unitBehind(shown),
                 groupedNumber(info.kept.step));
    if (info.sawBetter())
        text += QStringLiteral("; best seen %1 (step %2, not kept)")
                    .arg(metricText(info.metric, info.best(info.metric)) + unitBehind(info.metric),
                         groupedNumber(info.bestStep));
    return text;
}

QString weightsText(const RunInfo& info, std::optional<qint64> shown) {
    const auto last = static_cast<qint64>(info.step), kept = static_cast<qint64>(info.kept.step);
    const qint64 step = shown.value_or(kept >= 0 ? kept : last);
    QString where = QStringLiteral("step ") + groupedNumber(step);
    if (info.restoresBest && kept >= 0 && step == kept && kept < last)
        where += QStringLiteral(", the best (stopped early at %1)").arg(groupedNumber(last));
    else if (step < last)
        where += QStringLiteral(" of ") + groupedNumber(last);
    QStringList parts{where};
    for (const Validation* of : {&info.kept, &info.last})
        if (const double value = of->value(info.metric); of->step == step && !std::isnan(value)) {
            parts << QStringLiteral("validation %1").arg(metricText(info.metric, value)) +
                         unitBehind(info.metric);
            break;
        }
    return (parts << QStringLiteral("seed %1").arg(info.seed)).join(QStringLiteral(" \u00B7 "));
}

}  // namespace relascope::widgets
