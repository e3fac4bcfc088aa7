// SPDX-License-Identifier: GPL-3.0-or-later
// Description of a dataset, for lists and for the Data page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relascope {

/// How the answers to examples are scored.
enum class TargetKind {
    Class,       ///< one of several, or yes and no
    MultiLabel,  ///< several answers, each yes or no
    Regression,  ///< numbers
    Tokens       ///< the elements of a sequence
};

struct DatasetInfo {
    std::string name;    ///< "between, pentos (generated)"
    std::string origin;  ///< "generated, seed 0", or a path
    std::int64_t size = 0;
    int channels = 3;  ///< colour channels; 0 where examples are no images
    int height = 36;
    int width = 36;
    std::vector<std::string> classNames;  ///< by label
    std::string task;                     ///< "between", empty when unknown
    TargetKind targets = TargetKind::Class;
    /// For a regression: whether the targets follow exactly from the input, so that the fraction
    /// of examples that a model recovers exactly is a metric.
    bool exactTargets = false;
    /// The first version of this program that generates these examples; empty: all versions do. A
    /// run that an earlier version began was trained on other examples.
    std::string since;
    std::string note;  ///< remark on what was left out or is special; empty otherwise
};

}  // namespace relascope
