// SPDX-License-Identifier: GPL-3.0-or-later
// Options of ViDAT and ViT, under the names of the published constructors.
#pragma once

#include <string>

#include "model/blocks/stack_options.h"
#include "types/option_groups.h"

namespace relascope::core {

struct VisionTransformerOptions : StreamOptions, StackDepth, ImageInput, BlockOptions {
    std::string pool = "mean";
    bool final_norm = false;          // newer checkpoints: a norm before the classifier
    std::string image_norm = "none";  // mean and deviation taken out of the pixels: none | cifar10
                                      // | cifar100 | fashion-mnist

    /// The number of patches and the class token.
    std::int64_t tokens() const { return patches() + 1; }
    bool operator==(const VisionTransformerOptions&) const = default;
};

struct VisionDualAttnTransformerOptions : VisionTransformerOptions, SymbolOptions {
    bool operator==(const VisionDualAttnTransformerOptions&) const = default;
};

StackOptions stackOf(const VisionTransformerOptions& options, bool dual);

}  // namespace relascope::core
