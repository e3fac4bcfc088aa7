// SPDX-License-Identifier: GPL-3.0-or-later
// Ablation tables, patching maps, the logit lens and attribution for the window: measured on a
// thread and with a model of their own, so that the inspector stays usable.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>
#include <QStringList>

#include "analysis/ablation_options.h"
#include "analysis/open_model.h"
#include "app/controllers/job_queue.h"
#include "data/dataset.h"
#include "interventions/edit_data.h"
#include "types/along.h"
#include "types/edit.h"
#include "types/edit_results.h"
#include "types/head_measures.h"
#include "types/lens.h"
#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope::app {

// What the window Measure measures: weights, an input, and the data to measure on.

struct MeasuredSubject {
    std::string path;  ///< a run folder or a checkpoint
    /// As OpenedModel takes it: "", "best", a step. Weights are read again only when path or
    /// `checkpoint` change, so a run that trains needs the step.
    std::string checkpoint;
    QString name;  ///< of the run or checkpoint, in titles and file names
    std::optional<ProbeSample> sample;
    QString sampleName;                              ///< "validation 12"
    std::shared_ptr<const core::DataSplits> splits;  ///< null: no data to measure on
    std::vector<std::string> classNames;
    std::optional<MapCell> map;  ///< the chosen map and cell
    QString cellName;            ///< "patch (0, 1) → patch (2, 1)"
    /// Those of the inspector; the enabled ones are in force in everything that is measured.
    EditList edits;
    /// For values of other examples; without a `split`, that of `splits` is used. Called on another
    /// thread.
    core::EditData editData;
    std::string device = "auto";
};

// The model of the window Measure, apart from that of the inspector.

/// Used by the jobs of one queue only, so that one job at a time uses the model.
class MeasuredWeights {
public:
    /// The weights of the subject, which are read when the last ones were others. `progress` gets
    /// the fraction read. Throws FileError, Cancelled.
    core::OpenedModel& of(const MeasuredSubject& subject, std::stop_token stop,
                          const core::ProgressCallback& progress);
    void drop() {
        m_ablation.clear();
        m_model.reset();
    }
    /// Where an ablation of these weights that was cancelled continues.
    core::AblationProgress& ablation() { return m_ablation; }

private:
    core::AblationProgress m_ablation;
    std::unique_ptr<core::OpenedModel> m_model;
    std::string m_path, m_checkpoint, m_device;
};

/// Throws Error without data, or without that split.
core::DatasetPtr splitOf(const MeasuredSubject& subject, const std::string& name);
/// The enabled edits of the subject alone.
EditList enabledEdits(const EditList& edits);
/// They, and where they find values: as the inspector does, and in the splits of the subject.
core::Interventions interventionsOf(const MeasuredSubject& subject);

/// `action` with errors of options as sentences without the name of an option.
template <class Action>
auto withoutOptionNames(Action&& action) {
    try {
        return action();
    } catch (const OptionError& error) {
        std::string sentence = error.message();
        if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z')
            sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
        throw Error(sentence);
    }
}

class MeasuredWeights;

struct AblationRequest {
    std::string split = "validation";
    core::AblationOptions how;
    bool operator==(const AblationRequest&) const = default;
};

/// What an ablation would take.
struct AblationEstimate {
    int parts = 0;
    double secondsPerPass = 0.0;  ///< of one example with one part out
    InputKind input = InputKind::Images;
    bool numbers = false;  ///< the model answers with numbers: only "loss" and "mean_error"
    /// Of all parts in these ways, with what else is asked for.
    double seconds(const core::AblationOptions& how) const;
};

struct PatchRequest {
    std::optional<ProbeSample> second;  ///< else an example of the split
    std::string split = "validation";
    std::int64_t example = 0;
    core::PatchOptions how;
};

struct AttributionRequest {
    QString answer;  ///< a class, the text of a token, or an id; empty: the model's own
    QString minus;   ///< the same; empty: none
    std::int64_t position = -1;
};

/// What an attribution can be asked for.
struct AttributionOffer {
    QStringList answers;  ///< the classes, or the likeliest tokens
    int positions = 0;    ///< 0: one answer for the whole input
};

/// What another subject changes.
struct SubjectChange {
    bool weights = true;  ///< or the data: results of all kinds
    bool sample = true;   ///< patching, lens, attribution
    bool edits =
        true;  ///< lens, attribution, head measures; tables and maps stay, with their captions
    bool along = true;  ///< values along training, which belong to all steps of a run
};

/// Results of an earlier subject are dropped. The tasks run one after another.
class MeasureController : public QObject {
    Q_OBJECT
public:
    enum class Kind { Ablation, Patching, Lens, Attribution, Along, Heads };
    static constexpr int kKinds = 6;

    explicit MeasureController(QObject* parent = nullptr);
    ~MeasureController() override;

    /// Cancels what runs for what is changed. The weights are kept while path and step stay the
    /// same. Another cell of the same map cancels nothing.
    SubjectChange setSubject(std::optional<MeasuredSubject> subject);
    const std::optional<MeasuredSubject>& subject() const { return m_subject; }
    LongTask& task(Kind kind) { return m_tasks[static_cast<std::size_t>(kind)]; }

    /// Counts the parts of these groups and times some passes, in about a second; ends in
    /// estimated() or refused().
    void estimate(const AblationRequest& request);
    /// Ends in ablated() with `finished`, or refused(); tables of fewer examples come before. What
    /// was cancelled is continued where it ended.
    void ablate(const AblationRequest& request);
    /// Whether ablate() would continue one that was cancelled.
    bool continues(const AblationRequest& request) const;
    void patch(const PatchRequest& request);
    void readLens();
    /// Of the shown image, or of random tokens that are repeated.
    void measureHeads(const HeadMeasureOptions& options);
    void attribute(const AttributionRequest& request);
    /// The map, the cell and the answer at every kept step, with the edits of the subject. `known`:
    /// an earlier result of the same map, whose steps stay. Ends in alongRead() with `finished`, or
    /// refused().
    void readAlong(const std::optional<AlongTraining>& known);

Q_SIGNALS:
    void estimated(const relascope::app::AblationEstimate& estimate);
    void ablated(const relascope::AblationTable& table, bool finished);
    void patched(const relascope::PatchResult& result, bool finished);
    void lensRead(const relascope::LensResult& result);
    void headsMeasured(const relascope::HeadMeasures& result);
    void attributed(const relascope::Attribution& result,
                    const relascope::app::AttributionOffer& offer);
    void alongRead(const relascope::AlongTraining& along, bool finished);
    /// Why there is no result, as a sentence.
    void refused(relascope::app::MeasureController::Kind kind, const QString& sentence);

private:
    template <class Work, class Done>
    void run(Kind kind, const QString& text, Work work, Done done);

    std::optional<MeasuredSubject> m_subject;
    /// An ablation of these weights that has begun and not ended, and the edits in force.
    std::optional<std::pair<AblationRequest, EditList>> m_begun;
    std::shared_ptr<MeasuredWeights> m_weights;  ///< accessed by jobs of the queue only
    JobQueue m_queue;
    std::array<LongTask, kKinds> m_tasks;
};

}  // namespace relascope::app
