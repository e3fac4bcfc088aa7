// SPDX-License-Identifier: GPL-3.0-or-later
// Analyses for the window: run in a session of their own, so that the inspector stays usable.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>

#include "analysis/analysis.h"
#include "app/controllers/looker.h"
#include "types/edit.h"
#include "types/relation_map.h"

namespace relascope::app {

// What the window Measure measures: weights, an input, and the data to measure on.

struct AnalysedSubject {
    std::string path;  ///< a run folder or a checkpoint
    /// As OpenedModel takes it: "", "best", a step. Weights are read again only when path or
    /// `checkpoint` change, so a run that trains needs the step.
    std::string checkpoint;
    QString name;  ///< of the run or checkpoint, in titles and file names
    std::optional<ProbeSample> sample;
    QString sampleName;                            ///< "validation 12"
    std::shared_ptr<const wire::OpenedData> data;  ///< null: no data to measure on
    std::vector<std::string> classNames;
    std::optional<MapCell> map;  ///< the chosen map and cell
    QString cellName;            ///< "patch (0, 1) → patch (2, 1)"
    /// Those of the inspector; the enabled ones are in force in everything that is measured.
    EditList edits;
    std::string device = "auto";
    /// Which example of `data` the sample is, for resample.
    std::string exampleSplit;
    std::int64_t example = -1;
    /// The second model, of an analysis of two.
    struct Other {
        std::string path, checkpoint;
        EditList edits;
        bool operator==(const Other&) const = default;
    };
    std::optional<Other> other;
};

/// Throws Error without data, or without that split.
const wire::OpenedSplit& splitOf(const AnalysedSubject& subject, const std::string& name);
/// The enabled edits of the subject alone.
EditList enabledEdits(const EditList& edits);
/// What the enabled edits change over a split.
wire::Question effectQuestion(const AnalysedSubject& subject, const std::string& split);

/// What an analysis is asked for.
struct AnalysisRequest {
    core::OptionValues values;
    std::string split = "validation";   ///< of the data, or of the second input
    std::optional<ProbeSample> second;  ///< of a pair; else example `example` of the split
    std::int64_t example = 0;
    std::optional<Answer> known;  ///< an earlier result, as AnalysisWatch::known

    /// Whether a cancelled one could be continued by this one.
    bool sameAs(const AnalysisRequest& other) const {
        return values == other.values && split == other.split && example == other.example;
    }
};

/// What another subject changes.
struct SubjectChange {
    bool weights = true;  ///< or the data
    bool sample = true;
    bool edits = true;  ///< that are enabled
    bool along = true;  ///< values along training, which belong to all steps of a run

    /// Whether results of such an analysis are of another subject now. Those that are measured on
    /// demand stay with the edits that their captions name.
    bool affects(core::AnalysisInput input) const;
};

/// Results of an earlier subject are dropped. The tasks run one after another.
class AnalysisController : public QObject {
    Q_OBJECT
public:
    explicit AnalysisController(QObject* parent = nullptr);
    ~AnalysisController() override;

    /// Cancels what runs for what is changed. The weights are kept while path and step stay the
    /// same. Another cell of the same map cancels nothing.
    SubjectChange setSubject(std::optional<AnalysedSubject> subject);
    const std::optional<AnalysedSubject>& subject() const { return m_subject; }
    LongTask& task(const core::Analysis& analysis) { return m_entries.at(analysis.name).task; }

    /// Ends in reported() with `finished`, or refused(); results so far come before.
    void run(const core::Analysis& analysis, const AnalysisRequest& request);
    /// Opens a result that is kept beside the run, which ends in reported(); else times some
    /// passes, in about a second, which ends in costKnown() or refused().
    void findCost(const core::Analysis& analysis, const AnalysisRequest& request);
    /// Whether run() would continue one that was cancelled.
    bool continues(const core::Analysis& analysis, const AnalysisRequest& request) const;

Q_SIGNALS:
    void reported(const relascope::core::Analysis& analysis, const relascope::Answer& result,
                  bool finished);
    void costKnown(const relascope::core::Analysis& analysis, const relascope::AnalysisCost& cost);
    /// Why there is no result, as a sentence.
    void refused(const relascope::core::Analysis& analysis, const QString& sentence);

private:
    struct Entry {
        LongTask task;
        /// Has given a part of its result and not ended: what was asked for, and the edits in
        /// force.
        std::optional<std::pair<AnalysisRequest, EditList>> begun;
    };
    std::optional<AnalysedSubject> m_subject;
    Looker m_looker;
    std::map<std::string, Entry> m_entries;
};

}  // namespace relascope::app
