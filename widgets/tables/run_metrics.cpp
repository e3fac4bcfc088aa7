#include "widgets/tables/run_metrics.h"

#include <QStringList>
#include <cmath>

#include "widgets/theme/theme.h"

namespace relascope {

std::optional<CurveMetric> metricNamed(const std::string& key) {
    for (int m = 0; m < kCurveMetrics; ++m)
        if (key == metricKey(static_cast<CurveMetric>(m))) return static_cast<CurveMetric>(m);
    return std::nullopt;
}

bool isShareMetric(const std::string& key) {
    const auto metric = metricNamed(key);
    return metric ? isShare(*metric) : key.find("accuracy") != std::string::npos;
}

QString metricText(const std::string& key, double value) {
    const auto metric = metricNamed(key);
    return metricValueText(metric               ? *metric
                           : isShareMetric(key) ? CurveMetric::Accuracy
                                                : CurveMetric::MeanError,
                           value);
}

QString metricWords(const std::string& key) {
    return QString::fromStdString(key).replace(u'_', u' ');
}

QString metricShort(const std::string& key) {
    if (key == "accuracy") return QStringLiteral("acc.");
    if (key == "perplexity") return QStringLiteral("ppl");
    if (key == "element_accuracy") return QStringLiteral("elem. acc.");
    if (key == "sequence_accuracy") return QStringLiteral("seq. acc.");
    if (key == "mean_error") return QStringLiteral("mean err.");
    if (key == "largest_error") return QStringLiteral("max. err.");
    return metricWords(key);
}

double bestOf(const RunInfo& info) {
    if (!std::isnan(info.bestMetric)) return info.bestMetric;
    if (info.metric == "accuracy") return info.bestAccuracy;
    if (info.metric == "perplexity") return std::exp(info.bestLoss);
    return std::numeric_limits<double>::quiet_NaN();
}

const SplitResult* shownResult(const RunInfo& info) {
    return info.results.empty() ? nullptr : &info.results.front();
}

std::string resultMetric(const RunInfo& info) {
    const SplitResult* result = shownResult(info);
    if (!result) return {};
    for (const std::string& key : {info.metric, std::string("accuracy")})
        if (!std::isnan(result->value(key))) return key;
    return {};
}

QString resultLines(const RunInfo& info) {
    QStringList lines;
    for (const SplitResult& result : info.results) {
        QStringList values;
        for (const auto& [key, value] : result.values)
            values << metricWords(key) + u' ' + metricText(key, value);
        lines << QStringLiteral("%1: %2 (%3 examples)")
                     .arg(QString::fromStdString(result.split), values.join(QStringLiteral(", ")),
                          groupedNumber(result.examples));
    }
    return lines.join(u'\n');
}

}  // namespace relascope
