// SPDX-License-Identifier: GPL-3.0-or-later
// Runs analyses for the window in a session of their own, so that the inspector stays usable.
#pragma once

#include <functional>
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
#include "types/view.h"

namespace relascope::app {

// The subject of the analyses: weights, an input, and the data to measure on.

struct AnalysedSubject {
    std::string path;  ///< a run folder or a checkpoint
    /// The checkpoint as OpenedModel takes it: "", "best", a step. Weights are read again only when
    /// path or `checkpoint` change, so a run that trains needs the step.
    std::string checkpoint;
    QString name;  ///< name of the run or checkpoint, in titles and file names
    std::optional<ProbeSample> sample;
    QString sampleName;  ///< "validation 12"
    /// The options of a command that choose the sample; nullopt: it cannot be said by them.
    std::optional<std::vector<ViewOption>> input;
    std::shared_ptr<const wire::OpenedData> data;  ///< null: no data to measure on
    std::vector<std::string> classNames;
    QString noModel;             ///< RunsController::whyNoModel(); empty: it has one
    std::optional<MapCell> map;  ///< the chosen map and cell
    QString cellName;            ///< "patch (0, 1) ← patch (2, 1)"
    /// The edits of the inspector; the enabled ones apply to everything that is measured.
    EditList edits;
    std::string device = "auto";
    /// The split and index in `data` of the sample, for resample edits.
    std::string exampleSplit;
    std::int64_t example = -1;
    /// The second model, for analyses that compare two.
    struct Other {
        std::string path, checkpoint;
        EditList edits;
        bool operator==(const Other&) const = default;
    };
    std::optional<Other> other;
};

/// The split of this name in the subject's data. Throws Error if there are no data or no such
/// split.
const wire::OpenedSplit& splitOf(const AnalysedSubject& subject, const std::string& name);
/// The enabled edits alone, without the name and model of the list.
EditList enabledEdits(const EditList& edits);
/// What the enabled edits change over a split.
wire::Question effectQuestion(const AnalysedSubject& subject, const std::string& split);

/// The options and inputs that an analysis is run with.
struct AnalysisRequest {
    core::OptionValues values;
    std::string split = "validation";   ///< split of the data, or of the second input
    std::optional<ProbeSample> second;  ///< second input of a pair; nullopt: `example` of the split
    std::int64_t example = 0;
    std::string pairs = {};  ///< a file or folder of minimal pairs; empty: those of the grammar
    std::optional<Answer> known;  ///< an earlier result, as AnalysisWatch::known

    /// Whether this request can continue `other` after that was cancelled.
    bool sameAs(const AnalysisRequest& other) const {
        return values == other.values && split == other.split && example == other.example &&
               pairs == other.pairs;
    }
};

/// The parts in which two subjects differ.
struct SubjectChange {
    bool weights = true;  ///< the weights or the data
    bool sample = true;
    bool edits = true;  ///< the enabled edits
    bool along = true;  ///< values along training, which belong to all steps of a run

    /// Whether the change makes the results of an analysis with this input obsolete. Results that
    /// are measured on demand stay when only edits change, as their captions name the edits.
    bool affects(core::AnalysisInput input) const;
};

/// Results of an earlier subject are dropped. The tasks run one after another.
class AnalysisController : public QObject {
    Q_OBJECT
public:
    explicit AnalysisController(QObject* parent = nullptr);
    ~AnalysisController() override;

    /// Sets the subject and cancels the analyses that the change affects. The weights stay loaded
    /// while path and step are the same. Another cell of the same map cancels nothing.
    SubjectChange setSubject(std::optional<AnalysedSubject> subject);
    const std::optional<AnalysedSubject>& subject() const { return m_subject; }
    LongTask& task(const core::Analysis& analysis) { return m_entries.at(analysis.name).task; }

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
    };
    std::optional<AnalysedSubject> m_subject;
    Looker m_looker;
    std::map<std::string, Entry> m_entries;
};

}  // namespace relascope::app
