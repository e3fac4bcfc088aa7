// SPDX-License-Identifier: GPL-3.0-or-later
// Classes that are named by texts (CLIP, Radford et al. 2021; SigLIP, Zhai et al. 2023): scores of
// pictures by the features of a text tower.
#pragma once

#include <torch/types.h>
#include <string>
#include <vector>

namespace relascope::core {

/// The features of texts that name classes.
struct TextFeatures {
    std::vector<std::string> names;
    torch::Tensor features;  ///< [names, p], floating point
};

/// The names in a file of a name a line. Throws FileError with the line.
std::vector<std::string> readTextNames(const std::string& path);
/// A safetensors file with `features` [n, p], floating point, and n names: `names` of its metadata,
/// a JSON list, or its tensor `names` of bytes (U8), a name a line. Throws FileError.
TextFeatures readTextFeatures(const std::string& path);

/// The texts of each template with the name in place of "{}": [templates * names], the names of the
/// first template first. Throws OptionError for a template without "{}".
std::vector<std::string> filledTemplates(const std::vector<std::string>& templates,
                                         const std::vector<std::string>& names);
/// Features of filledTemplates() [templates * names, p] -> the means of each name's unit features,
/// again of length 1, [names, p] double. Throws OptionError where `templates` does not divide them.
torch::Tensor meanOverTemplates(const torch::Tensor& features, std::int64_t templates);

/// What turns cosines into an answer.
struct ZeroShot {
    TextFeatures texts;
    double logScale = 0.0;  ///< `logit_scale`, of which the exponential is taken
    double bias = 0.0;      ///< `logit_bias`
    /// SigLIP: a sigmoid for each text, which need not add up to 1; else a softmax over the texts.
    bool each = false;

    /// exp(logScale) cosine + bias of features [m, p]: [m, texts], double, on their device. Throws
    /// OptionError for features of another width.
    torch::Tensor scores(const torch::Tensor& features) const;
    torch::Tensor shares(const torch::Tensor& scores) const;
};

}  // namespace relascope::core
