// SPDX-License-Identifier: GPL-3.0-or-later
// What a window asks a session (wire/session.h): requests and answers, and the calls of the window.
// All calls block, report progress and throw as Session::ask(), and throw what the functions of
// core throw that the session calls (analysis/open_model.h).
#pragma once

#include <any>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "types/along.h"
#include "types/checkpoint_info.h"
#include "types/data_options.h"
#include "types/edit.h"
#include "types/edit_results.h"
#include "types/generate_options.h"
#include "types/metric.h"
#include "types/model_options.h"
#include "types/relation_map.h"
#include "wire/session.h"
#include "wire/types.h"

namespace relascope {

inline void from_json(const wire::Json& json, TextEnd& end) {
    end = wire::enumOf(json, TextEnd::Stopped);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GenerateOptions, tokens, temperature, top_k, top_p, seed, stop,
                                   alternatives)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TokenChoice, id, piece, probability)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GeneratedToken, chosen, alternatives)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EditEffect, examples, answers, changes, rightToWrong,
                                   wrongToRight, changedAnswers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AnalysisCost, parts, seconds, noun, examples)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Evaluation, examples, loss, accuracy, classAccuracy, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VerifyLine, name, absolute, relative, ok, note)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VerifyReport, ok, worst, lines)

}  // namespace relascope

namespace relascope::wire {

/// The weights that a request is about. A session keeps those of the last request.
struct Weights {
    std::string path;        ///< a run folder or a checkpoint
    std::string checkpoint;  ///< of a run: "" (the last), "best", a step
    std::int64_t nearest =
        -1;  ///< of a run: this step, or the kept one nearest to it; -1: as above
    std::string device = "auto";
    std::string tokenizer;  ///< "gpt2", a file or a folder; empty: the one beside the weights
    bool bfloat16 = false;  ///< rounded
    bool operator==(const Weights&) const = default;
};

/// What is changed in a forward pass, and where these edits find values (core::Interventions).
struct Interventions {
    EditList edits;
    std::optional<DataOptions> data;  ///< whose splits have the examples that edits name
    std::string split;                ///< of the example that is inspected, for resample
    std::int64_t example = -1;        ///< -1: it is of no split
    bool operator==(const Interventions&) const = default;
};

/// An input: a sample, or one that the model has.
struct Input {
    std::optional<ProbeSample> sample;
    int reference = -1;  ///< a stored one; -1: random by `seed`
    std::uint64_t seed = 0;
};

// open: {weights}

struct OpenedWeights {
    ModelOptions model;
    std::string warning;  ///< as OpenedModel::warning()
    int references = 0;   ///< inputs that are stored beside the weights
};
OpenedWeights openWeights(Session& session, const Weights& weights,
                          const Session::Progress& progress);

// probe: {weights, input, classNames, interventions, ...}, parts {result}

using SharedResult = std::shared_ptr<const ProbeResult>;

struct ProbeRequest {
    Weights weights;
    Input input;
    std::vector<std::string> classNames;
    Interventions interventions;
    int shownLayer = -1;  ///< whose maps are sent first
    bool compare = true;  ///< also without the edits, and the hook points
};

struct Probed {
    SharedResult result;
    SharedResult before;  ///< without the edits; null where nothing is edited
    std::shared_ptr<const std::vector<PointInfo>> points;  ///< null unless compared
    std::string problem;  ///< an edit that does not fit: nothing is edited then
    TakenMeans means;     ///< of the means among the edits
};

/// Remembers what the session has sent and would send again: the result without edits, the points.
class Prober {
public:
    Probed probe(Session& session, const ProbeRequest& request, const Session::Progress& progress,
                 const std::function<void(ProbeResult)>& partial = {});

private:
    std::uint64_t m_baseNumber = 0, m_pointsNumber = 0;
    SharedResult m_base;
    std::shared_ptr<const std::vector<PointInfo>> m_points;
};

// effects: as probe; what each edit does alone

/// The probability of the answer that is likeliest without edits.
struct EffectAlone {
    std::string answer;  ///< its name
    bool token = false;  ///< a piece of text
    double before = 0.0;
    double after = 0.0;  ///< NaN: less than `least`
    double least = 0.0;
};
/// One for each edit; none for edits that are off or do not fit.
std::vector<std::optional<EffectAlone>> effectsAlone(Session& session, const ProbeRequest& request,
                                                     const Session::Progress& progress);

// generate: {weights, prompt, options, edits, follow}, parts {pieces, ids}, {plain}, {tokens},
// {first, result}; change {follow}

struct GenerateRequest {
    Weights weights;
    std::string prompt;
    GenerateOptions options;
    EditList edits;  ///< with some, the text without them comes first
};

struct GenerateWatch {
    std::function<void(std::vector<std::string> pieces, std::vector<std::int64_t> ids)> prompt;
    std::function<void(std::vector<GeneratedToken>)> plain, tokens;
    /// Maps of the text so far; `first` is the index of their first token.
    std::function<void(ProbeResult, int first)> result;
    std::function<bool()> follows;  ///< whether maps are wanted
};
TextEnd generate(Session& session, const GenerateRequest& request, const GenerateWatch& watch,
                 const Session::Progress& progress);

// analyse, cost: {analysis, options, ...}, parts {result}

struct AnalyseRequest {
    std::string analysis;  ///< a name of analysis/analysis.h
    Json options;          ///< as core::optionsToJson()
    Weights weights;
    std::optional<ProbeSample> sample, second;
    std::vector<std::string> classNames;
    std::optional<DataOptions> data;  ///< to measure on
    std::string split;
    Interventions interventions;
    std::optional<MapCell> cell;
    std::any known;  ///< an earlier result, as core::AnalysisWatch::known
};
/// The results so far go to `partial`.
std::any analyse(Session& session, const AnalyseRequest& request, const Session::Progress& progress,
                 const std::function<void(std::any)>& partial);

AnalysisCost cost(Session& session, const AnalyseRequest& request,
                  const Session::Progress& progress);

// effect: {weights, data, split, interventions}

struct EffectRequest {
    Weights weights;
    DataOptions data;
    std::string split;
    Interventions interventions;
};
EditEffect effect(Session& session, const EffectRequest& request,
                  const Session::Progress& progress);

// evaluate: {weights, ...}

struct EvaluateRequest {
    Weights weights;
    DataOptions options;  ///< generated data, or those that a file is read as
    std::string split;
    std::string file;  ///< data or a text; empty: generated, or the text of the run
    bool text = false;
    std::int64_t windows = 0;  ///< of text, at most; 0: all
};
Evaluation evaluate(Session& session, const EvaluateRequest& request,
                    const Session::Progress& progress);

// verify: {path}

VerifyReport verify(Session& session, const std::string& folder, const Session::Progress& progress);

// drop: frees weights and data, which are read again when they are asked for.

void drop(Session& session);

// How they are written
// ---------------------------------------------------------------------------------------------

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Weights, path, checkpoint, nearest, device, tokenizer, bfloat16)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Interventions, edits, data, split, example)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Input, sample, reference, seed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OpenedWeights, model, warning, references)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbeRequest, weights, input, classNames, interventions,
                                   shownLayer, compare)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EffectAlone, answer, token, before, after, least)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GenerateRequest, weights, prompt, options, edits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EffectRequest, weights, data, split, interventions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EvaluateRequest, weights, options, split, file, text, windows)
void to_json(Json& json, const AnalyseRequest& request);
void from_json(const Json& json, AnalyseRequest& request);

}  // namespace relascope::wire
