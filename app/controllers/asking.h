// SPDX-License-Identifier: GPL-3.0-or-later
// One analysis, and what is asked of it, in sessions that leave the inspector usable.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <QObject>
#include <QString>

#include "app/controllers/looker.h"
#include "app/controllers/measurements.h"
#include "app/controllers/subject.h"

namespace relascope::app {

/// A quick analysis ends with its subject. One on demand is a measurement, which continues when
/// another subject is set, and is followed again when it returns.
class Asking : public QObject {
    Q_OBJECT
public:
    /// Told what was asked, before its answer is reported.
    using Found = std::function<void(const wire::Asked&)>;

    /// `quick`: asks where the analysis is not on demand. The destructor uses
    /// neither.
    Asking(const core::Analysis& analysis, Looker& quick, Measurements& measurements);
    ~Asking() override;

    LongTask& task() { return m_task; }
    /// Where the change affects the analysis: cancels a quick one or lets one on demand go; one
    /// that still runs for the subject of now is followed.
    void subjectChanged(const std::optional<Subject>& before, const std::optional<Subject>& now);
    /// The question of the measurement that is followed; null: none is.
    const wire::Asked* followed() const { return m_measurement ? &m_measurement->asked : nullptr; }
    /// Stops following a measurement, which continues; a quick analysis is cancelled.
    void letGo();
    /// The user sees the result about this subject.
    void see(const Subject& subject) { m_measurements.see(m_analysis, subject); }

    /// Runs the analysis: emits reported() for partial results, then reported() with `finished`, or
    /// refused(). `asked` is about `subject`.
    void run(const wire::Asked& asked, const Subject& subject);
    /// Looks for a result that is stored beside the run, for these questions of one model in their
    /// order, and emits reported() for the first one that has one. Without one `orCost` times some
    /// passes of the first, in about a second, and emits costKnown() or refused(); else nothing
    /// happens.
    void findKept(std::vector<wire::Asked> questions, Found found, bool orCost = false);
    /// Emits reported() for an earlier measurement of this question. Returns whether there is one.
    bool recall(const wire::Asked& asked, const Found& found);
    /// Whether run() would continue a cancelled analysis.
    bool continues(const wire::Asked& asked) const;

Q_SIGNALS:
    void reported(const relascope::Answer& answer, bool finished);
    void costKnown(const relascope::AnalysisCost& cost);
    /// Why there is no result, as a sentence.
    void refused(const QString& sentence);

private:
    void follow(MeasurementPtr measurement);
    void partly(const wire::Asked& asked, const Answer& part);
    void finish(const Answer& answer);
    /// The session for short questions about these weights.
    Looker& lookerFor(const Model& weights);

    const core::Analysis& m_analysis;
    Looker& m_quick;
    Measurements& m_measurements;
    LongTask m_task;
    std::optional<wire::Asked> m_begun;  ///< what has been answered in part and has not finished
    MeasurementPtr m_measurement;        ///< the measurement that the task follows
};

}  // namespace relascope::app
