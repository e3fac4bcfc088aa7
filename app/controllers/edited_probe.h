// SPDX-License-Identifier: GPL-3.0-or-later
// Probes of a model with and without the edits of the inspector.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <QObject>
#include <QStringList>

#include "app/controllers/job_queue.h"
#include "app/controllers/measure_controller.h"
#include "interventions/edit_data.h"
#include "probe/probe_watch.h"
#include "types/edit.h"
#include "types/edit_results.h"
#include "widgets/inspector/inspector_view.h"

namespace relascope::app {

struct OpenedWeights;

using Points = std::shared_ptr<const std::vector<PointInfo>>;

/// "layer 2 relation 3 zero; layer 1 symbols zero": the enabled edits.
QString wordsOfList(const EditList& list);

/// The two results with the maps that differ and those that are taken out.
widgets::Inspected inspectedOf(std::shared_ptr<const ProbeResult> result,
                               std::shared_ptr<const ProbeResult> before, const EditList& list,
                               const std::vector<PointInfo>& points);

struct EditedProbe {
    widgets::Inspected inspected;
    Points points;
    std::string problem;    ///< an edit that does not fit: nothing is edited then; empty: all fit
    EditList edits = {};    ///< those of the result
    TakenMeans means = {};  ///< of the means among them
};
/// In a job of the queue of the weights. The result without edits is made once for each sample.
/// Throws OptionError if the sample does not fit, Cancelled.
EditedProbe probeEdited(OpenedWeights& weights, const ProbeSample& sample,
                        const std::vector<std::string>& classNames,
                        core::Interventions interventions, core::ProbeWatch watch);

/// What each enabled edit does alone to the answer that is likeliest without edits: "occurs 0.936 →
/// 0.012", by line. In a job of the same queue, for the last sample of probeEdited(); `edited` is
/// its result with all of them. Throws Cancelled once `wanted` returns false.
QStringList effectsAlone(OpenedWeights& weights, const core::Interventions& interventions,
                         const std::shared_ptr<const ProbeResult>& edited,
                         const std::function<bool()>& wanted);

// What the edits of an inspector change over a split: measured on a thread and with a model of its
// own, which goes with the result, so that the inspector stays usable.

class EditEvaluation : public QObject {
    Q_OBJECT
public:
    explicit EditEvaluation(QObject* parent = nullptr);
    ~EditEvaluation() override;

    /// Runs the examples of the split with and without the edits of the subject.
    void evaluate(const MeasuredSubject& subject, const std::string& split);
    LongTask& task() { return m_task; }

Q_SIGNALS:
    void evaluated(const relascope::EditEffect& effect, const QString& split, const QString& words);
    void failed(const QString& sentence);

private:
    JobQueue m_queue;
    LongTask m_task;
};

/// "accuracy 92.9 % → 51.2 %, change −41.7 points [−43.9, −39.5] ..." as rich text.
QString effectHtml(const EditEffect& effect, const QString& split, const QString& words);

}  // namespace relascope::app
