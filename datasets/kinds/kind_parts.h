// SPDX-License-Identifier: GPL-3.0-or-later
// Code shared by the descriptors of several kinds of data. Uses only the standard library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "types/data_kind.h"
#include "types/error.h"
#include "types/lower_case.h"

namespace relascope::datasets {

/// Whether data are generated; for CommonField::when of fields that only these have.
inline bool withoutPath(const DataOptions& o) {
    return o.path.empty();
}

inline void requireAtLeast(std::vector<FieldProblem>& found, const char* field, std::int64_t value,
                           std::int64_t minimum) {
    if (value < minimum)
        found.push_back({field, "needs at least " + std::to_string(minimum) + ", not " +
                                    std::to_string(value)});
}

/// Adds the problems of sizes of endless data, where 0 ("all") is not valid.
inline void requireSizes(const DataOptions& o, std::vector<FieldProblem>& found) {
    requireAtLeast(found, "train_size", o.train_size, 1);
    requireAtLeast(found, "validation_size", o.validation_size, 1);
    requireAtLeast(found, "test_size", o.test_size, 1);
}

/// Fits a model to sets of `objects` vectors of `width` numbers, with `outputs` numbers to predict.
inline void fitObjects(ModelOptions& m, std::int64_t objects, std::int64_t width,
                       std::int64_t outputs) {
    auto* sets = m.find<ObjectInput>();
    if (!sets) return;  // another kind of input; reported as a problem of the options
    sets->n_objects = objects;
    sets->object_dim = width;
    sets->out_dim = outputs;
}

/// Fits a model to a source of `source` elements (`sourceSize`: width of vectors or number of
/// tokens) and a target of `target` tokens out of `targetSize`, of which only the first `answers`
/// can be answers. `type` of the source elements: "token" or "vector".
inline void fitSequences(ModelOptions& m, const char* type, std::int64_t source,
                         std::int64_t sourceSize, std::int64_t target, std::int64_t targetSize,
                         std::int64_t answers, std::int64_t ignoredTarget = -1) {
    auto* pairs = m.find<PairInput>();
    if (!pairs) return;  // another kind of input: a problem of the run's options
    pairs->input_type = type;
    pairs->input_size = sourceSize;
    pairs->in_block_size = source;
    pairs->output_type = "token";
    pairs->output_size = targetSize;
    pairs->out_dim = answers;
    pairs->out_block_size = target;
    if (ignoredTarget >= 0) pairs->loss_ignore_idx = ignoredTarget;
}

/// The last part of a path: the name of a file.
inline std::string fileName(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
}
inline std::string folderOf(const std::string& path) {
    const auto slash = path.find_last_of('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace relascope::datasets

namespace relascope::datasets::mathematics {

// Generated questions are unlimited; a size of 0 stands for these.

inline constexpr std::int64_t kUsualTrain = 100'000, kUsualValidation = 5'000, kUsualTest = 10'000;

}  // namespace relascope::datasets::mathematics

namespace relascope::datasets {

// The size of a split, for all kinds of data.

/// The size of a split: `wanted` of `available` examples, 0 meaning all. Throws OptionError for
/// more than there are.
inline std::int64_t splitSize(const char* field, std::int64_t wanted, std::int64_t available,
                              const std::string& what) {
    if (wanted > available)
        throw OptionError(std::string("data.") + field,
                          std::to_string(wanted) + " is more than the available " +
                              std::to_string(available) + " " + what + "; 0 uses all of them");
    return wanted > 0 ? wanted : available;
}

// The names of the published archives of the Relational Games.

inline const std::vector<std::string>& gameFamilies() {
    static const std::vector<std::string> names = {"pentos", "hexos", "stripes"};
    return names;
}

/// The file of a task and family, "1task_between_hexos.npz": two tasks have other names in it.
inline std::string gameFile(const std::string& task, const std::string& family) {
    const std::string printed = task == "between"         ? "1task_between"
                                : task == "match_pattern" ? "1task_match_patt"
                                                          : task;
    return printed + "_" + family + ".npz";
}

}  // namespace relascope::datasets
