// SPDX-License-Identifier: GPL-3.0-or-later
// One input at every kept step of a run: a cell of a map, the probability of an answer, and the
// map. Does not include torch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/along/answer.h"
#include "analysis/analysis.h"
#include "data/dataset.h"
#include "interventions/edit_data.h"
#include "types/along.h"
#include "types/edit.h"

namespace relascope::core {

struct AlongOptions {
    MapCell cell;
    std::vector<std::int64_t> steps = {};  ///< empty: all steps whose weights were kept
    EditList edits = {};
    EditData data = {};
    /// The class or token whose probability is given; -1: the likeliest one at the last step,
    /// without the edits.
    std::int64_t answer = -1;
    /// An earlier result of the same run, input, edits and map: its layout and answer stay, and its
    /// steps are not computed again. With `steps` empty only.
    std::optional<AlongTraining> known = {};
    bool leaveOutTrainingEdits = false;  ///< without the edits that the weights were trained with
};

/// Opens the weights of one step after the other; the last one first where that gives the answer.
/// `partial` gets the steps so far after each of them. Steps whose weights were dropped meanwhile
/// are left out. Throws OptionError ("layer", "index", "i", "j", ...) where the model has no such
/// map, cell or answer or the edits do not fit, FileError, Error if the run kept no weights,
/// Cancelled on a stop or if `progress` returns false.
AlongTraining alongTraining(const std::string& run, const std::string& device,
                            const ProbeSample& sample, const std::vector<std::string>& classNames,
                            const AlongOptions& options, const std::stop_token& stop = {},
                            const ProgressCallback& progress = {},
                            const std::function<void(const AlongTraining&)>& partial = {});

/// The options of the analysis, as words. The cell is the one that is shown unless it is named.
struct AlongChoice {
    std::string kind = mapKindName(MapKind::Relation), answer;
    std::int64_t layer = 1, index = 1, source = -1, to = -1;
};

const FieldTable<AlongChoice>& alongFields();

}  // namespace relascope::core
