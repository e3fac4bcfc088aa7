// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/controllers/edited_probe.h"
#include "interventions/edit_words.h"
#include "interventions/map_edits.h"
#include "types/error.h"
#include "types/map_difference.h"
#include "types/metric.h"
#include "types/model_options.h"
#include "widgets/text/run_text.h"
#include "widgets/text/text_flow.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

QString wordsOfList(const EditList& list) {
    return QString::fromStdString(core::wordsOf(list));
}

widgets::Inspected inspectedOf(std::shared_ptr<const ProbeResult> result,
                               std::shared_ptr<const ProbeResult> before, const EditList& list,
                               const std::vector<PointInfo>& points) {
    widgets::Inspected out;
    out.result = std::move(result);
    if (!before || !list.anyEnabled()) return out;
    out.before = std::move(before);
    out.words = wordsOfList(list);
    for (const auto& map : out.result->maps) {
        const widgets::MapId id{map.kind, map.layer, map.index};
        const auto* base = out.before->find(map.kind, map.layer, map.index);
        if (base && mapMoved(map, *base)) out.moved.push_back(id);
        if (!map.fitted.empty()) {
            if (std::any_of(list.edits.begin(), list.edits.end(), [&](const Edit& edit) {
                    return edit.enabled && edit.relation == map.fitted;
                }))
                out.out.push_back(id);
            continue;
        }
        try {
            const auto& layer = out.result->layers.at(static_cast<std::size_t>(map.layer)).name;
            if (core::takesOut(
                    list,
                    core::targetOf({map.kind, layer, map.index, map.rows, map.columns}, points)))
                out.out.push_back(id);
        } catch (const Error&) {
            // A map without a hook point cannot be taken out.
        }
    }
    std::sort(out.moved.begin(), out.moved.end());
    std::sort(out.out.begin(), out.out.end());
    return out;
}

QString effectText(const wire::EffectAlone& effect) {
    return QStringLiteral("%1 %2 \u2192 %3")
        .arg(effect.token ? widgets::pieceLabel(effect.answer)
                          : QString::fromStdString(effect.answer))
        .arg(effect.before, 0, 'f', 3)
        .arg(std::isnan(effect.after) ? QStringLiteral("< %1").arg(effect.least, 0, 'f', 3)
                                      : QString::number(effect.after, 'f', 3));
}

QString effectHtml(const EditEffect& effect, const QString& split, const QString& words) {
    QStringList lines;
    lines << QStringLiteral("<b>%1, %2 examples</b>: %3")
                 .arg(split.toHtmlEscaped(), widgets::groupedNumber(effect.examples),
                      words.toHtmlEscaped());
    for (const auto& change : effect.changes) {
        const bool percent = metricInfo(change.metric).format == MetricFormat::Percent;
        const double scale = percent ? 100.0 : 1.0;
        const int digits = percent ? 1 : 3;
        const QString unit = percent ? QStringLiteral(" points") : QString();
        lines << QStringLiteral("%1 %2 \u2192 %3, change <b>%4</b>%5 [%6, %7]")
                     .arg(widgets::metricName(change.metric),
                          widgets::metricText(change.metric, change.base),
                          widgets::metricText(change.metric, change.edited),
                          widgets::signedNumber(scale * change.change, digits), unit,
                          widgets::signedNumber(scale * change.low, digits),
                          widgets::signedNumber(scale * change.high, digits));
    }
    if (effect.answers > 0)
        lines << QStringLiteral("%1 answers right to wrong, %2 wrong to right, of %3")
                     .arg(widgets::groupedNumber(effect.rightToWrong),
                          widgets::groupedNumber(effect.wrongToRight),
                          widgets::groupedNumber(effect.answers));
    return lines.join(QStringLiteral("<br>"));
}

}  // namespace relascope::app
