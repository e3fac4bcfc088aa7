// SPDX-License-Identifier: GPL-3.0-or-later
// How an analysis is computed. What it is, its options and its result as text are said by its
// description (analysis.h), which programs without LibTorch have too. Does not include torch.
#pragma once

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

#include "analysis/analysis.h"
#include "data/dataset.h"
#include "interventions/edit_data.h"
#include "types/along.h"
#include "types/answer.h"
#include "types/edit_results.h"

namespace relascope::core {

class CapturedMaps;  // captured_maps.h
class OpenedModel;

/// What cancelled analyses of the same weights have measured, by their names, so that they can
/// continue. It is used on the thread of the model, and cleared when the weights change.
using KeptWork = std::map<std::string, std::any>;

/// What is analysed.
struct AnalysisSubject {
    /// Null for AnalysisInput::KeptSteps in the window, which opens the weights of each step
    /// itself.
    OpenedModel* model = nullptr;
    /// In place of a model, of a run that another program recorded: for analyses with
    /// Analysis::acceptsCaptures, whose data are the captured inputs.
    std::shared_ptr<const CapturedMaps> captured = {};
    std::string path = {};  ///< what the model was opened from
    std::string run = {};   ///< run folder; empty for a checkpoint
    std::string device = "auto";
    std::optional<ProbeSample> sample = {};
    std::optional<ProbeSample> second = {};  ///< corrupted input of a pair
    std::vector<std::string> classNames = {};
    DatasetPtr data = {};    ///< the split to measure on
    DatasetPtr pairs = {};   ///< Analysis::readsPairs: their good sentences are `data`; or null
    std::string where = {};  ///< the options of a command that name it: "--split validation"
    Interventions interventions = {};
    /// Whether edits that the weights were trained with are left out of each kept step.
    bool leaveOutTrainingEdits = false;
    std::optional<MapCell> cell = {};  ///< that is shown; options that name one come before it
    KeptWork* kept = nullptr;          ///< may be null
    /// The second subject of an analysis of two models: its model, path and interventions.
    std::shared_ptr<const AnalysisSubject> other = {};

    std::any* keptBy(const char* analysis) const { return kept ? &(*kept)[analysis] : nullptr; }
};

/// How an analysis is followed while it runs. Everything is called on its thread.
template <class Result>
struct Watch {
    std::stop_token stop = {};
    /// Gets the fraction done; returns false to cancel.
    ProgressCallback progress = {};
    /// Gets the result so far.
    std::function<void(const Result&)> partial = {};
    /// An earlier result of the same subject and options; what it has is not computed again.
    std::optional<Result> known = {};
};
using AnalysisWatch = Watch<Answer>;

/// The part of an analysis that needs a model.
struct AnalysisRunner {
    /// Throws OptionError with the name of a field, Error, Cancelled.
    std::function<Answer(AnalysisSubject&, const OptionValues&, const AnalysisWatch&)> run;
    /// Times some passes, in about a second. Empty for analyses without Analysis::costText.
    std::function<AnalysisCost(AnalysisSubject&, const std::stop_token&)> cost = {};
    /// The text that is read without an input, for AnalysisInput::OwnText; for OwnPrompts the first
    /// prompt.
    std::function<ProbeSample(const OpenedModel&, const OptionValues&)> ownText = {};
};

/// Adds the runner of an analysis, as a static object in the file that computes it. `make` is
/// called once, after static initialisation.
struct RegisterRunner {
    RegisterRunner(const char* analysis, AnalysisRunner (*make)());
};

/// Throws Error for an analysis without one.
const AnalysisRunner& runnerOf(const Analysis& analysis);

/// The runner of an analysis whose options and result are structs. `run` gets the checked options;
/// `answerOf` is null where the result is the answer itself; `resultOf` reads an earlier answer,
/// for Watch::known.
template <class Options, class Result>
AnalysisRunner makeRunner(const FieldTable<Options>& table,
                          Result (*run)(AnalysisSubject&, const Options&, const Watch<Result>&),
                          Answer (*answerOf)(const Result&) = nullptr,
                          Result (*resultOf)(const Answer&) = nullptr) {
    AnalysisRunner runner;
    runner.run = [=, fields = fieldsOf(table, OfferedIn::Row)](AnalysisSubject& subject,
                                                               const OptionValues& values,
                                                               const AnalysisWatch& watch) {
        checkOptions(fields, values);
        if constexpr (std::is_same_v<Result, Answer>) {
            return run(subject, structOf(table, values), watch);
        } else {
            Watch<Result> typed{watch.stop, watch.progress, {}, {}};
            if (watch.partial)
                typed.partial = [&](const Result& soFar) { watch.partial(answerOf(soFar)); };
            if (watch.known && resultOf) typed.known = resultOf(*watch.known);
            return answerOf(run(subject, structOf(table, values), typed));
        }
    };
    return runner;
}

/// The names of the numbers of an object (Dataset::featureNames()) of the data that are measured,
/// or that the run was trained on; empty where there are none.
std::vector<std::string> featureNamesOf(const AnalysisSubject& subject);

/// The subject's input. Throws Error if there is none.
const ProbeSample& sampleOf(const AnalysisSubject& subject);

}  // namespace relascope::core
