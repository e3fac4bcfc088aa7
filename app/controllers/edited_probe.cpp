// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/controllers/edited_probe.h"
#include "app/controllers/inspection_session.h"
#include "app/controllers/measure_controller.h"
#include "interventions/edit_words.h"
#include "interventions/map_edits.h"
#include "types/error.h"
#include "types/map_difference.h"
#include "types/metric.h"
#include "types/model_options.h"
#include "widgets/tables/runs_model.h"
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

EditedProbe probeEdited(OpenedWeights& weights, const ProbeSample& sample,
                        const std::vector<std::string>& classNames,
                        core::Interventions interventions, core::ProbeWatch watch) {
    core::OpenedModel& model = *weights.model;
    auto& [edits, data] = interventions;
    const bool edited = edits.anyEnabled();
    // Before the first probe: it keeps what passes with edits begin with.
    if (!weights.points)
        weights.points = std::make_shared<const std::vector<PointInfo>>(model.points(sample));
    auto& base = weights.base;
    if (!base || !(weights.baseSample == sample) || weights.baseNames != classNames) {
        auto first = watch;
        if (edited) first.partial = {};  // maps without the edits are not what is asked for
        // Edits of training may take values of examples.
        base =
            std::make_shared<const ProbeResult>(model.probe(sample, classNames, {{}, data}, first));
        weights.baseSample = sample;
        weights.baseNames = classNames;
    }
    if (!edited) return {{base, {}, {}, {}, {}}, weights.points, {}};
    if (data.example < 0) core::findExample(data, sample);
    watch.partial = {};
    try {
        auto result = std::make_shared<const ProbeResult>(
            model.probe(sample, classNames, interventions, watch));
        return {inspectedOf(std::move(result), base, edits, *weights.points),
                weights.points,
                {},
                edits,
                model.takenMeans()};
    } catch (const OptionError& error) {
        return {{base, {}, {}, {}, {}}, weights.points, userMessage(error)};
    }
}

namespace {

/// The likeliest answer of a result, and its probability in another one; NaN if that does not have
/// it among its likeliest.
double probabilityOf(const std::string& name, std::size_t at, const ProbeResult& result,
                     bool byName) {
    const auto& names = result.classNames;
    if (byName) {
        const auto found = std::find(names.begin(), names.end(), name);
        at = static_cast<std::size_t>(found - names.begin());
    }
    return at < result.probabilities.size() ? static_cast<double>(result.probabilities[at])
                                            : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

QStringList effectsAlone(OpenedWeights& weights, const core::Interventions& interventions,
                         const std::shared_ptr<const ProbeResult>& edited,
                         const std::function<bool()>& wanted) {
    QStringList effects;
    const auto base = weights.base;
    if (!weights.model || !base || base->probabilities.empty()) return effects;
    const auto& p = base->probabilities;
    const auto best = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    const std::string name =
        best < base->classNames.size() ? base->classNames[best] : std::to_string(best);
    // Of a vocabulary a result holds the likeliest tokens, in another order each time.
    const bool byName = base->sample.source.text && base->sample.target.size() == 0;
    auto alone = interventions;
    if (alone.data.example < 0) core::findExample(alone.data, weights.baseSample);
    core::OpenedModel& model = *weights.model;
    const auto& list = interventions.edits.edits;
    const bool single =
        std::count_if(list.begin(), list.end(), [](const Edit& e) { return e.enabled; }) == 1;
    core::ProbeWatch watch;  // ends within a layer once something newer is asked for
    watch.progress = [&](double) { return wanted(); };
    for (const auto& edit : list) {
        if (!wanted()) throw Cancelled();
        if (!edit.enabled) {
            effects << QString();
            continue;
        }
        alone.edits.edits = {edit};
        QString text;
        try {
            // A single edit does what is shown already.
            const auto result =
                edited && single ? *edited
                                 : model.probe(weights.baseSample, weights.baseNames, alone, watch);
            const double after = probabilityOf(name, best, result, byName);
            text = QStringLiteral("%1 %2 \u2192 %3")
                       .arg(byName ? widgets::pieceLabel(name) : QString::fromStdString(name))
                       .arg(static_cast<double>(p[best]), 0, 'f', 3)
                       .arg(std::isnan(after)
                                ? QStringLiteral("< %1").arg(
                                      static_cast<double>(result.probabilities.empty()
                                                              ? 0.0F
                                                              : result.probabilities.back()),
                                      0, 'f', 3)
                                : QString::number(after, 'f', 3));
        } catch (const OptionError&) {
            // It does not fit: the problem of the whole list says so.
        }
        effects << text;
    }
    return effects;
}

namespace {

constexpr std::int64_t kEffectTexts = 4, kEffectBatch = 250;

}  // namespace

EditEvaluation::EditEvaluation(QObject* parent) : QObject(parent) {
    connect(&m_task, &LongTask::failed, this, &EditEvaluation::failed);
}

EditEvaluation::~EditEvaluation() {
    m_task.disconnect();
    m_task.abandon();
    m_queue.clear();
}

void EditEvaluation::evaluate(const MeasuredSubject& subject, const std::string& split) {
    const QString name = QString::fromStdString(split), words = wordsOfList(subject.edits);
    m_task.run(
        m_queue, QStringLiteral("Evaluating on %1").arg(name),
        [subject, split](LongJob& job, std::stop_token stop) {
            MeasuredWeights weights;  // two models are in the memory only while this runs
            core::OpenedModel& model =
                weights.of(subject, job.stop.get_token(), job.callback(stop));
            const auto data = splitOf(subject, split);
            job.fraction = 0.0;
            const bool text = model.options().input() == InputKind::Tokens;
            return model.effect(data, text ? kEffectTexts : kEffectBatch, interventionsOf(subject),
                                job.stop.get_token(), job.callback(stop));
        },
        [this, name, words](const EditEffect& effect) { Q_EMIT evaluated(effect, name, words); });
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
