// SPDX-License-Identifier: GPL-3.0-or-later
// Runs analyses for the window in sessions of their own, so that the inspector stays usable.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>

#include "app/controllers/looker.h"
#include "app/controllers/measurements.h"
#include "app/controllers/subject.h"

namespace relascope::app {

/// Quick analyses run one after another, and end with their subject. Those on demand are
/// measurements, which continue when another subject is set, and are followed again when it
/// returns.
class AnalysisController : public QObject {
    Q_OBJECT
public:
    /// `measurements`: shared with others; null: its own. `looker`: that of an inspector, which
    /// asks the quick ones, too; null: its own.
    explicit AnalysisController(Measurements* measurements = nullptr, Looker* looker = nullptr);
    ~AnalysisController() override;

    /// Sets the subject, cancels the quick analyses that the change affects and lets go those on
    /// demand; one that still runs for the new subject is followed. The weights stay loaded while
    /// path and step are the same. Another cell of the same map changes nothing.
    void setSubject(std::optional<Subject> subject);
    const std::optional<Subject>& subject() const { return m_subject; }
    /// Why there is no subject; empty: nothing is open.
    void setWhyNone(const QString& why) { m_whyNone = why; }
    const QString& whyNone() const { return m_whyNone; }
    LongTask& task(const core::Analysis& analysis) { return m_entries.at(analysis.name).task; }

    /// The question of the measurement that is followed; nullopt: none is.
    std::optional<wire::Asked> followed(const core::Analysis& analysis) const;
    /// Stops following a measurement, which continues; a quick analysis is cancelled.
    void letGo(const core::Analysis& analysis);
    /// The result of an earlier measurement of this question; null: there is none.
    MeasurementPtr measured(const core::Analysis& analysis, const wire::Asked& asked) const {
        return m_measurements->done(analysis, asked);
    }
    /// Emits reported() for it.
    void repeat(const Measurement& measurement);
    /// The user sees the result of this analysis.
    void see(const core::Analysis& analysis);

    /// Runs an analysis: emits reported() for partial results, then reported() with `finished`, or
    /// refused().
    void run(const core::Analysis& analysis, const wire::Asked& asked);
    /// Opens a result that is stored beside the run and emits reported(); without one times some
    /// passes, in about a second, and emits costKnown() or refused().
    void findCost(const core::Analysis& analysis, const wire::Asked& question);
    /// Looks for a result that is stored beside the run, for these questions in their order: calls
    /// `found` with the first one that has one, and emits reported(). Without one nothing happens.
    void findKept(const core::Analysis& analysis, std::vector<wire::Asked> questions,
                  std::function<void(const wire::Asked&)> found);
    /// Looks for the first example of the split with another label than the subject's sample, and
    /// emits exampleFound(); nothing happens without labels.
    void findOtherAnswer(const QString& split);
    /// Whether run() would continue a cancelled analysis.
    bool continues(const core::Analysis& analysis, const wire::Asked& asked) const;

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
        /// What has been answered in part and has not finished.
        std::optional<wire::Asked> begun;
        MeasurementPtr measurement;  ///< that `task` follows
    };
    void follow(Entry& entry, MeasurementPtr measurement);
    Looker& lookerFor(const core::Analysis& analysis);
    std::optional<Subject> m_subject;
    QString m_whyNone;
    Measurements* m_measurements;
    std::unique_ptr<Looker> m_own;
    Looker& m_looker;  ///< of quick analyses
    std::map<std::string, Entry> m_entries;
};

}  // namespace relascope::app
