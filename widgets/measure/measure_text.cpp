// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/measure_text.h"

#include <QLocale>
#include <QStringList>
#include <array>
#include <cmath>
#include <utility>

#include "types/metric.h"
#include "types/text_piece.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

MetricText::MetricText(std::string_view metric) {
    const auto& info = metricInfo(metric);
    percent = info.isFraction();
    title = QString::fromUtf8(info.title.data(), static_cast<qsizetype>(info.title.size()));
    if (percent) unit = QStringLiteral("points");
}
QString MetricText::value(double value) const {
    if (std::isnan(value)) return QString(QChar(0x2014));
    return percent ? QString::number(100.0 * value, 'f', 1) + QStringLiteral(" %")
                   : QString::number(value, 'f', 3);
}
QString MetricText::change(double value) const {
    return percent ? signedText(100.0 * value, 1) : signedText(value, 3);
}
QString MetricText::interval(double low, double high) const {
    return QStringLiteral("[%1, %2]").arg(change(low), change(high));
}

QString signedText(double value, int digits) {
    if (std::isnan(value)) return QString(QChar(0x2014));
    const double unit = std::pow(10.0, digits);
    if (std::round(value * unit) == 0.0) return QString::number(0.0, 'f', digits);
    return signedNumber(value, digits);
}

QString probabilityText(double probability) {
    if (std::isnan(probability)) return QString(QChar(0x2014));
    const double percent = 100.0 * probability;
    if (percent > 0 && percent < 0.05) return QStringLiteral("<0.1 %");
    const int digits = percent < 9.95 && percent > 0 ? 1 : 0;
    return QString::number(percent, 'f', digits) + QStringLiteral(" %");
}

QString answerText(const std::string& name) {
    if (name.empty()) return QString(QChar(0x2205));
    QString text = QString::fromStdString(isUtf8(name) ? name : pieceText(name).text);
    text.replace(QLatin1String("\\n"), QString(QChar(0x21B5)));
    text.replace(u'\n', QChar(0x21B5));
    text.replace(u'\t', QChar(0x21E5));
    // Only at the ends: class names of several words keep their spaces.
    for (qsizetype i = 0; i < text.size() && text[i] == u' '; ++i) text[i] = QChar(0x2423);
    for (qsizetype i = text.size(); i-- > 0 && text[i] == u' ';) text[i] = QChar(0x2423);
    return text;
}

QString wayText(EditOp way) {
    static constexpr std::array<const char*, kEditOps> names = {
        "zero",  "a value",     "scaled",  "a sum",  "mean", "another example",
        "patch", "clean value", "uniform", "masked", "swap"};
    return QString::fromLatin1(names.at(static_cast<std::size_t>(way)));
}

QString blockTitle(const std::string& block) {
    QStringList parts = QString::fromStdString(block).split(u'.');
    for (QString& part : parts) {
        bool number = false;
        const int at = part.toInt(&number);
        if (number) part = QString::number(at + 1);
    }
    if (parts.front() == QLatin1String("blocks")) parts.front() = QStringLiteral("layer");
    if (parts.size() == 3)
        return QStringLiteral("%1 %2, layer %3").arg(parts[0], parts[1], parts[2]);
    return parts.join(u' ');
}

QString patchMapTitle(const PatchMap& map) {
    static const std::pair<const char*, const char*> titles[] = {
        {"hook_resid_pre", "Residual stream before the layer"},
        {"hook_attn_out", "Attention"},
        {"hook_mlp_out", "Feed-forward"},
        {"attn.hook_z", "Sensory heads"},
        {"rel.hook_z", "Relational heads"},
        {"rca.hook_z", "Heads of relational cross-attention"},
        {"cross_attn.hook_z", "Cross heads"},
        {"rel.hook_r", "Relations"},
        {"rca.hook_r", "Relations of relational cross-attention"}};
    if (map.over.starts_with("cells:"))
        return QStringLiteral("Cells of %1, rows i, columns j")
            .arg(QString::fromStdString(map.point));
    for (const auto& [point, title] : titles)
        if (map.point == point) return QString::fromLatin1(title);
    return QString::fromStdString(map.point);
}

QString patchColumnName(const PatchMap& map) {
    const QString over = QString::fromStdString(map.over);
    static const QStringList counted = {QStringLiteral("heads"), QStringLiteral("relations")};
    if (over.startsWith(QLatin1String("cells:"))) return QStringLiteral("j");
    return counted.contains(over) ? over.chopped(1) : QStringLiteral("position");
}

}  // namespace relascope::widgets
