// SPDX-License-Identifier: GPL-3.0-or-later
// What the process that serves a model says of it (formats.md section 24): all that is known before
// a pass. Does not include torch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "types/model_options.h"

namespace relascope::core {

struct ServedPoint {
    std::string name;
    std::vector<std::string> axes;    ///< as axisName()
    std::vector<std::int64_t> sizes;  ///< -1: the batch, and what grows with the length of an input
    bool causal = false;              ///< cells j > i are closed
    bool gradient = false, replace = true;
};

struct ServedLayer {
    std::string block;  ///< "blocks.0": the prefix of its points
    std::int64_t heads = 0, relations = 0;
    bool skipped = true;  ///< a pass may begin with the stream behind it
};

struct ServedSplit {
    std::string name;
    std::int64_t size = 0;
    bool labels = false;
};

struct ServedDeclaration {
    std::string name;     ///< name of the door
    std::string program;  ///< program that serves it: "train.py"
    std::string model;    ///< the name of its class
    std::string device, dtype;
    std::int64_t parameters = 0, step = -1;
    InputKind input = InputKind::Images;
    std::int64_t channels = 3, height = 1, width = 1;  ///< size of images; height, width in pixels
    std::int64_t patchHeight = 1, patchWidth = 1;      ///< 0: there are no patches
    std::int64_t firstTokens = 0;                      ///< positions before the patches
    std::int64_t length = 1, vocabulary = 1;           ///< longest input; size of the vocabulary
    std::int64_t objects = 1, objectDim = 1;           ///< objects of an input; numbers of each
    std::int64_t outputs = 1;                          ///< classes, or the vocabulary
    bool tokenScores = false;                          ///< each position has scores of its own
    std::vector<std::string> classNames;               ///< may be empty
    std::vector<ServedLayer> layers;                   ///< in the order of the pass
    std::vector<ServedPoint> points;                   ///< in the order of the pass
    std::vector<std::string> leftOut;                  ///< sentences
    std::vector<ServedSplit> splits;                   ///< the first is measured on
    std::string tokenizer;                             ///< a file; empty: none
    bool tokensAlone = true;  ///< nothing else is read, so that equal tokens are equal examples
    bool causal = false;      ///< tokens see those before them alone
    bool gradients = false, fresh = false, encode = false;
    std::vector<std::int64_t> steps;  ///< steps whose weights are kept

    const ServedPoint* point(const std::string& name) const;
    const ServedSplit* split(const std::string& name) const;
};

/// Reads the message `declare`. Throws OptionError that names what is missing, of another kind or
/// out of range.
ServedDeclaration declarationFrom(const nlohmann::json& message);

/// The model as options, of one of the architectures below, which hold the whole declaration.
ModelOptions servedOptions(const nlohmann::json& message);

}  // namespace relascope::core
