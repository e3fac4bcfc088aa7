// SPDX-License-Identifier: GPL-3.0-or-later
// What a window asks a session (wire/session.h): requests and answers, and the calls of the window.
// All calls block, report progress and throw as Session::ask(), and throw what the functions of
// core throw that the session calls (analysis/open_model.h).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "types/answer.h"
#include "types/checkpoint_info.h"
#include "types/data_example.h"
#include "types/data_options.h"
#include "types/dataset_info.h"
#include "types/edit.h"
#include "types/edit_results.h"
#include "types/generate_options.h"
#include "types/metric.h"
#include "types/model_options.h"
#include "types/question.h"
#include "types/relation_map.h"
#include "wire/session.h"
#include "wire/types.h"

namespace relascope {

inline void from_json(const wire::Json& json, TextEnd& end) {
    end = wire::enumOf(json, TextEnd::Stopped);
}
inline void from_json(const wire::Json& json, TargetKind& kind) {
    kind = wire::enumOf(json, TargetKind::Tokens);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DatasetInfo, name, origin, size, channels, height, width,
                                   classNames, task, targets, exactTargets, since, note)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DataStatistics, counted, what, pieces, bars, rows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TokenChoice, id, piece, probability)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GeneratedToken, chosen, alternatives)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AnalysisCost, parts, seconds, more, noun, examples)

}  // namespace relascope

namespace relascope::wire {

/// Data that a session opens; it keeps the last few.
struct Data {
    DataOptions options;
    bool imported = false;    ///< the contents of files by their own splits
    std::int64_t epoch = -1;  ///< epoch of training data that differ between epochs; -1: any
    std::string run = {};     ///< a run in the mirror of a host, where they are opened
    bool operator==(const Data&) const = default;
};

/// One of their examples. Without such a split: of validation; behind the end: the last one.
struct Example {
    Data data;
    std::string split = "validation";
    std::int64_t index = 0;
};

/// A question, and what of it is in memory: that comes before what its words say. A session keeps
/// the weights of the last one; on the CPU where a GPU has no room for them.
struct Asked : Question {
    std::optional<ProbeSample> sample;  ///< the input, or the input A of a pair
    bool shortened = false;  ///< a text in `sample` is cut to the tokens whose maps fit in memory
    std::optional<ProbeSample> second;         ///< the input B
    std::vector<EditList> edits = {};          ///< edits of each of the models
    std::optional<Data> data;                  ///< in place of those of the run
    std::vector<std::string> classNames = {};  ///< in place of those of the data
    std::optional<MapCell> cell;               ///< the cell that is shown
    /// An earlier answer, as core::Watch::known; it goes beside the others, in the blob.
    std::optional<Answer> known;
    Lane lane = Lane::Look;

    Asked() = default;
    explicit Asked(Question question) : Question(std::move(question)) {}
};
void to_json(Json& json, const Asked& asked);
/// Throws OptionError, which names the member, for a question that is none.
void from_json(const Json& json, Asked& asked);

// open: {asked}

struct OpenedWeights {
    ModelOptions model;
    std::string warning;  ///< as OpenedModel::warning()
    int references = 0;   ///< inputs that are stored beside the weights
};
OpenedWeights openWeights(Session& session, const Asked& asked, const Session::Progress& progress);

// probe: {asked, shownLayer, compare, ...}, parts {result}

using SharedResult = std::shared_ptr<const ProbeResult>;

struct Probed {
    SharedResult result;
    SharedResult before;  ///< without the edits; null where nothing is edited
    std::shared_ptr<const std::vector<PointInfo>> points;  ///< null unless compared
    std::string problem;  ///< an edit that does not fit: nothing is edited then
    TakenMeans means;     ///< the means that the edits took
};

/// The maps of one answer that were sent: each is once, with a part or at the end.
class SentMaps {
public:
    /// The result with the maps that were not sent yet; they count as sent from here on.
    ProbeResult unsent(ProbeResult result);

private:
    std::set<std::tuple<MapKind, int, int>> m_sent;
};

/// Remembers what the session has sent and would send again: the result without edits, the points.
class Prober {
public:
    /// `shownLayer`: whose maps are sent first, from 0.
    Probed probe(Session& session, const Asked& asked, const Session::Progress& progress,
                 const std::function<void(ProbeResult)>& partial = {}, int shownLayer = -1);

private:
    std::uint64_t m_baseNumber = 0, m_pointsNumber = 0;
    SharedResult m_base;
    std::shared_ptr<const std::vector<PointInfo>> m_points;
};

/// The result with the edits alone, and no hook points.
SharedResult probeOnce(Session& session, const Asked& asked, const Session::Progress& progress);

// effects: {asked}; what each edit does alone

/// The probability of the answer that is likeliest without edits.
struct EffectAlone {
    std::string answer;  ///< its name
    bool token = false;  ///< a piece of text
    double before = 0.0;
    double after = 0.0;  ///< NaN: less than `least`
    double least = 0.0;
};
/// One for each edit; none for edits that are off or do not fit.
std::vector<std::optional<EffectAlone>> effectsAlone(Session& session, const Asked& asked,
                                                     const Session::Progress& progress);

// generate: {asked, follow}, parts {pieces, ids}, {plain}, {tokens}, {first, result}; change
// {follow}. With edits the text without them comes first.

struct GenerateWatch {
    std::function<void(std::vector<std::string> pieces, std::vector<std::int64_t> ids)> prompt;
    std::function<void(std::vector<GeneratedToken>)> plain, tokens;
    /// Maps of the text so far; `first` is the index of their first token.
    std::function<void(ProbeResult, int first)> result;
    std::function<bool()> follows;  ///< whether maps are wanted
};
TextEnd generate(Session& session, const Asked& asked, const GenerateWatch& watch,
                 const Session::Progress& progress);

// ask, cost: {asked, kept}, parts {answer}

/// The answers so far go to `partial`.
Answer ask(Session& session, const Asked& asked, const Session::Progress& progress,
           const std::function<void(Answer)>& partial = {});
/// The answer that is kept beside the run: nothing is measured.
std::optional<Answer> keptAnswer(Session& session, const Asked& asked,
                                 const Session::Progress& progress);
AnalysisCost cost(Session& session, const Asked& asked, const Session::Progress& progress);

// data: {data}

struct OpenedSplit {
    std::string name;
    DatasetInfo info;
    bool isText = false;                            ///< windows of a text, which cannot be saved
    DataExample first;                              ///< its first example, if it has one
    std::vector<std::string> hypothesisWords = {};  ///< core::hypothesisWordsOf()
    std::vector<std::string> maskFacts = {};        ///< core::maskFactNames()

    /// Classes to filter examples by; empty if they have no labels.
    std::vector<std::string> labels() const {
        return info.targets == TargetKind::Class ? info.classNames : std::vector<std::string>();
    }
};

struct OpenedData {
    Data data;
    std::vector<OpenedSplit> splits;
    std::vector<std::string> tokenNames;  ///< the texts of answer tokens (datasets::tokenNames)

    const OpenedSplit* find(const std::string& name) const {
        for (const auto& split : splits)
            if (split.name == name) return &split;
        return nullptr;
    }
    /// The split of that name, or else validation, or the first one.
    const OpenedSplit& at(const std::string& name) const;
};
/// Opens the data. Throws Error where they have no split.
OpenedData openData(Session& session, const Data& data, const Session::Progress& progress);

// examples: {data, split, indices}

std::vector<DataExample> examples(Session& session, const Data& data, const std::string& split,
                                  const std::vector<std::int64_t>& indices,
                                  const Session::Progress& progress);

// find: {from, label, forward, before}, labelled: {data, split, label, most}

/// What a part of a search has found, which takes about a tenth of a second.
struct LabelSearch {
    std::optional<std::int64_t> index;  ///< the example
    std::int64_t searched = 0;          ///< examples so far, with those of former parts
    bool all = false;                   ///< there are no others
};
/// The next example with that label, from the one behind `from` on around all of them. `before`:
/// how many of them former parts have searched.
LabelSearch findLabel(Session& session, const Example& from, std::int64_t label, bool forward,
                      std::int64_t before, const Session::Progress& progress);
/// The indices of the examples with that label among the first `most`.
std::vector<std::int64_t> labelled(Session& session, const Data& data, const std::string& split,
                                   std::int64_t label, std::int64_t most,
                                   const Session::Progress& progress);

// statistics: {data, split, most}; save: {data, split, indices, count, file}

DataStatistics statistics(Session& session, const Data& data, const std::string& split,
                          std::int64_t most, const Session::Progress& progress);
/// Writes the first `count` examples, or of `indices`, as .npz; returns how many there were.
std::int64_t saveExamples(Session& session, const Data& data, const std::string& split,
                          const std::optional<std::vector<std::int64_t>>& indices,
                          std::int64_t count, const std::string& file,
                          const Session::Progress& progress);

// picture: {file, model}

/// A picture as an input of the model; without one as it is, with at most 256 pixels a side.
ProbeSample picture(Session& session, const std::string& file,
                    const std::optional<ModelOptions>& model, const Session::Progress& progress);

// devices: {wanted, busy}

/// What is known of the devices of a run (core/train/devices.h).
struct Devices {
    std::vector<std::string> names;  ///< names of the wanted devices; empty: they cannot be used
    std::string facts;               ///< lines of text; or why they cannot be used
    std::uint64_t free = 0;          ///< bytes, of the one with the least; 0: unknown
    /// Name and title of the usable CUDA devices.
    std::vector<std::pair<std::string, std::string>> choices;
    std::string precision = {};  ///< what bfloat16 brings there (train/bfloat16_gain.h), or empty
};
/// `memory`: whether their memory is asked for, which takes some of a GPU itself. `host`: of
/// another machine.
Devices devices(Session& session, const std::string& wanted, bool memory,
                const Session::Progress& progress, const std::string& host = {});

// branch: {from, step, to}

/// Makes the run folder `to` from a checkpoint of `from` (core/train/branch.h).
void branch(Session& session, const std::string& from, std::int64_t step, const std::string& to);

// checkpoint: {path}; tensor: {path, tensor}

/// As core::openCheckpoint() of a path in the mirror of a host, in which the paths of what it
/// returns lie, too; the files of the checkpoint are named as they are there. What the window needs
/// of a tokenizer is mirrored.
OpenedCheckpoint openFarCheckpoint(Session& session, const std::string& path,
                                   const Session::Progress& progress);
/// Mirrors what tokenizes the texts of a run or checkpoint of a host, given by its folder in the
/// mirror. Does nothing for another folder.
void mirrorTokenizer(Session& session, const std::string& folder,
                     const Session::Progress& progress);
/// As core::tensorStatistics().
TensorStatistics farTensorStatistics(Session& session, const std::string& path,
                                     const std::string& tensor, const Session::Progress& progress);

// drop: frees weights and data, which are read again when they are asked for.

void drop(Session& session);

// How they are written
// ---------------------------------------------------------------------------------------------

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Data, options, imported, epoch, run)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Example, data, split, index)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OpenedSplit, name, info, isText, first, hypothesisWords,
                                   maskFacts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OpenedData, data, splits, tokenNames)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LabelSearch, index, searched, all)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Devices, names, facts, free, choices, precision)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OpenedWeights, model, warning, references)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EffectAlone, answer, token, before, after, least)

}  // namespace relascope::wire
