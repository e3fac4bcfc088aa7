// SPDX-License-Identifier: GPL-3.0-or-later
// The patch embedder of the image baselines, for their descriptors.
#pragma once

#include "model/architecture.h"

namespace relascope::core {

/// Norm, projection and norm under `patch_embedder`, numbered as published.
inline void addPatchEmbedderShapes(ShapeList& list, const ImageInput& o, std::int64_t d,
                                   const std::string& name = "patch_embedder") {
    list.norm(name + ".1", o.patchDim());
    list.linear(name + ".2", o.patchDim(), d);
    list.norm(name + ".3", d);
}

/// The patches in words: "3 x 3 patches of 12 x 12 pixels".
inline std::string patchText(const ImageInput& o) {
    return std::to_string(o.gridColumns()) + " x " + std::to_string(o.gridRows()) + " patches of " +
           std::to_string(o.patch_size[0]) + " x " + std::to_string(o.patch_size[1]) + " pixels";
}

}  // namespace relascope::core
