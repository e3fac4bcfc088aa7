// SPDX-License-Identifier: GPL-3.0-or-later
// What an analysis of the window is about, what it is run with, and the question that both make.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QString>

#include "analysis/analysis.h"
#include "types/edit.h"
#include "types/relation_map.h"
#include "types/view.h"
#include "wire/requests.h"

namespace relascope::app {

/// The subject of the analyses: weights, an input, and the data to measure on.
struct AnalysedSubject {
    std::string path;  ///< a run folder or a checkpoint
    /// The checkpoint as OpenedModel takes it: "", "best", a step. Weights are read again only when
    /// path or `checkpoint` change, so a run that trains needs the step.
    std::string checkpoint;
    QString name;  ///< name of the run or checkpoint, in titles and file names
    std::optional<ProbeSample> sample;
    QString sampleName;  ///< "validation 12"
    /// The options of a command that choose the sample; nullopt: it cannot be said by them.
    std::optional<std::vector<Option>> input;
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
/// Whether an analysis with AnalysisInput::OwnText reads a text of its own: the model reads texts.
bool readsOwnText(const AnalysedSubject& subject);
/// The model that is asked, without its edits.
Model modelOf(const AnalysedSubject& subject);
/// What the enabled edits change over a split.
wire::Asked effectQuestion(const AnalysedSubject& subject, const std::string& split);

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

SubjectChange changeOf(const std::optional<AnalysedSubject>& before,
                       const std::optional<AnalysedSubject>& after);
/// Whether an analysis with this input and these edits gives the same result for both, also where
/// the data were read anew.
bool sameFor(core::AnalysisInput input, const AnalysedSubject& a, const AnalysedSubject& b);
/// Throws Error for a second input that is not there.
wire::Asked questionOf(const core::Analysis& analysis, const AnalysisRequest& request,
                       const AnalysedSubject& subject);

}  // namespace relascope::app
