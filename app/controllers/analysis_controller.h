// SPDX-License-Identifier: GPL-3.0-or-later
// Runs analyses for the window in sessions of their own, so that the inspector stays usable.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>

#include "app/controllers/analysed_subject.h"
#include "app/controllers/looker.h"
#include "app/controllers/measurements.h"

namespace relascope::app {

/// Quick analyses run one after another, and end with their subject. Those on demand are
/// measurements, which continue when another subject is set, and are followed again when it
/// returns.
class AnalysisController : public QObject {
    Q_OBJECT
public:
    /// `measurements`: shared with others; null: its own.
    explicit AnalysisController(Measurements* measurements = nullptr, QObject* parent = nullptr);
    ~AnalysisController() override;

    /// Sets the subject, cancels the quick analyses that the change affects and lets go those on
    /// demand; one that still runs for the new subject is followed. The weights stay loaded while
    /// path and step are the same. Another cell of the same map changes nothing.
    SubjectChange setSubject(std::optional<AnalysedSubject> subject);
    const std::optional<AnalysedSubject>& subject() const { return m_subject; }
    /// Why there is no subject; empty: nothing is open.
    void setWhyNone(const QString& why) { m_whyNone = why; }
    const QString& whyNone() const { return m_whyNone; }
    LongTask& task(const core::Analysis& analysis) { return m_entries.at(analysis.name).task; }

    /// The request of the measurement that is followed; nullopt: none is.
    std::optional<AnalysisRequest> followed(const core::Analysis& analysis) const;
    /// Stops following a measurement, which continues; a quick analysis is cancelled.
    void letGo(const core::Analysis& analysis);
    /// The result of an earlier measurement of this subject with this request; null: there is none.
    MeasurementPtr measured(const core::Analysis& analysis, const AnalysisRequest& request) const;
    /// Emits reported() for it.
    void repeat(const Measurement& measurement);
    /// The user sees the result of this analysis.
    void see(const core::Analysis& analysis);

    /// Runs an analysis: emits reported() for partial results, then reported() with `finished`, or
    /// refused().
    void run(const core::Analysis& analysis, const AnalysisRequest& request);
    /// Opens a result that is stored beside the run and emits reported(); without one times some
    /// passes, in about a second, and emits costKnown() or refused().
    void findCost(const core::Analysis& analysis, const AnalysisRequest& request);
    /// Looks for a result that is stored beside the run, for these requests in their order: calls
    /// `found` with the request of the first one and emits reported(). Without one nothing happens.
    void findKept(const core::Analysis& analysis, std::vector<AnalysisRequest> requests,
                  std::function<void(const AnalysisRequest&)> found);
    /// Looks for the first example of the split with another label than the subject's sample, and
    /// emits exampleFound(); nothing happens without labels.
    void findOtherAnswer(const QString& split);
    /// Whether run() would continue a cancelled analysis.
    bool continues(const core::Analysis& analysis, const AnalysisRequest& request) const;

Q_SIGNALS:
    void reported(const relascope::core::Analysis& analysis, const relascope::Answer& result,
                  bool finished);
    void exampleFound(const QString& split, qint64 example);
    void costKnown(const relascope::core::Analysis& analysis, const relascope::AnalysisCost& cost);
    /// Why there is no result, as a sentence.
    void refused(const relascope::core::Analysis& analysis, const QString& sentence);

private:
    struct Entry {
        LongTask task;
        /// The request and the edits of a run that has given a partial result and has not finished.
        std::optional<std::pair<AnalysisRequest, EditList>> begun;
        MeasurementPtr measurement;  ///< that `task` follows
    };
    void follow(Entry& entry, MeasurementPtr measurement);
    Looker& lookerFor(const core::Analysis& analysis);
    std::optional<AnalysedSubject> m_subject;
    QString m_whyNone;
    Measurements* m_measurements;
    Looker m_looker;  ///< of quick analyses
    std::map<std::string, Entry> m_entries;
};

}  // namespace relascope::app
