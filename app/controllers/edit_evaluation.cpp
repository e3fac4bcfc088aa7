// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/edit_evaluation.h"

#include <utility>

#include "app/controllers/edited_probe.h"
#include "app/controllers/measured_weights.h"
#include "types/metric.h"
#include "types/model_options.h"
#include "widgets/tables/run_metrics.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

constexpr std::int64_t kTextBatch = 4, kBatch = 250;

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
            return withEdits(model, subject, [&] {
                return model.effect(data, text ? kTextBatch : kBatch, job.stop.get_token(),
                                    job.callback(stop));
            });
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
