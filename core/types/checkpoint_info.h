// SPDX-License-Identifier: GPL-3.0-or-later
// Information on a checkpoint that is available without loading weights, and the results of
// checking it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "types/data_options.h"
#include "types/model_options.h"

namespace relascope {

/// A tensor of a checkpoint, read from the header.
struct StoredTensor {
    std::string name;    ///< the name in the model, without wrappers such as "_orig_mod."
    std::string stored;  ///< the name in the file
    std::string dtype;   ///< safetensors' names: "F32", "BF16", "I64"
    std::vector<std::int64_t> shape;
    std::uint64_t bytes = 0;
    std::string sameAs;  ///< the tensor that it shares its bytes with; empty when it has its own
    int file = 0;        ///< index of CheckpointInfo::files
    std::string note;    ///< how it is read, where that is not plain; else empty

    std::int64_t count() const {
        std::int64_t n = 1;
        for (const auto size : shape) n *= size;
        return n;
    }
    bool operator==(const StoredTensor&) const = default;
};

enum class ProblemKind { Missing, Unexpected, WrongShape, NotFinite, Configuration, Names, File };

inline const char* problemKindName(ProblemKind kind) {
    static constexpr std::array names = {"missing",       "unexpected", "wrong shape", "not finite",
                                         "configuration", "names",      "file"};
    return names.at(static_cast<std::size_t>(kind));
}

/// One line of the problems list. NotFinite is a warning; every other kind keeps the weights from
/// loading.
struct CheckpointProblem {
    ProblemKind kind = ProblemKind::File;
    std::string subject;  ///< the tensor, field or file
    std::string message;  ///< one sentence
    bool operator==(const CheckpointProblem&) const = default;
};

/// A part of a model as an outline: "encoder block 3", "relational attention", ...
struct OutlineNode {
    std::string title;
    std::string detail;           ///< "4 heads, 8 relations of 16, symmetric"
    std::string prefix;           ///< common prefix of its tensors' names; "" for the whole model
    std::int64_t parameters = 0;  ///< parameters in it, each counted once
    std::vector<OutlineNode> children;
    bool operator==(const OutlineNode&) const = default;
};

struct CheckpointInfo {
    std::string path;                   ///< the file or folder that was opened
    std::string folder;                 ///< the folder itself, or the one that holds the file
    std::string name;                   ///< the last part of `path`
    std::string form;                   ///< "safetensors", "sharded safetensors", "PyTorch archive"
    std::vector<std::string> files;     ///< absolute paths of everything read
    std::uint64_t bytes = 0;            ///< size of all weight files
    std::vector<StoredTensor> tensors;  ///< the model's tensors, in the order of the file
    std::vector<StoredTensor> leftOut;  ///< the files' other tensors, with the reason as `note`
    std::map<std::string, std::string> metadata;
    std::string config;                   ///< the JSON text, "" without one
    std::string configFrom;               ///< "config.json", or the archive's key: "config"
    std::optional<ModelOptions> model;    ///< options, if the configuration could be understood
    std::string title;                    ///< the model as people call it: "GPT-2"
    std::vector<std::string> unusedKeys;  ///< fields of the configuration that are not used
    std::vector<std::string> classNames;  ///< names of the answers, by id; empty without any
    std::int64_t parameters = 0;          ///< parameters of the model, each once; else of the file
    std::int64_t trainable = 0;
    OutlineNode outline;  ///< empty without a model
    std::vector<CheckpointProblem> problems;
    bool hasReference = false;  ///< io.safetensors is in the same folder for verification

    bool loads() const {
        if (!model) return false;
        for (const auto& p : problems)
            if (p.kind != ProblemKind::NotFinite) return false;
        return true;
    }
};

/// A checkpoint with the run that it belongs to.
struct OpenedCheckpoint {
    CheckpointInfo info;
    std::string run;   ///< folder of the run; empty if there is none
    DataOptions data;  ///< the data of that run
};

/// Statistics of the values of one tensor.
struct TensorStatistics {
    std::string name;
    std::int64_t count = 0;
    std::int64_t notFinite = 0;
    double minimum = 0, maximum = 0, mean = 0, deviation = 0;  ///< statistics of the finite values
    std::vector<std::int64_t> histogram;  ///< bins of equal width from minimum to maximum
};

/// The comparison of one stored tensor with what our implementation computes.
struct VerifyLine {
    std::string name;
    double absolute = 0.0;  ///< largest |ours - theirs|
    double relative = 0.0;  ///< largest |ours - theirs| / |theirs|
    bool ok = false;
    std::string note;  ///< why it does not match, where the numbers do not show it
};

struct VerifyReport {
    bool ok = false;
    double worst = 0.0;  ///< largest VerifyLine::absolute of all lines
    std::vector<VerifyLine> lines;
};

}  // namespace relascope
