// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/model.h"

#include <string>

#include "types/error.h"

namespace relascope::core {

void requireInput(const torch::Tensor& images, const ImageInput& o) {
    const auto& s = o.image_shape;
    if (images.dim() == 4 && images.size(1) == s[0] && images.size(3) == s[1] &&
        images.size(2) == s[2])
        return;
    std::string shape;
    for (const auto n : images.sizes()) shape += (shape.empty() ? "" : " x ") + std::to_string(n);
    throw OptionError("images", "are " + shape + ", but the model expects batches of " +
                                    std::to_string(s[0]) + " x " + std::to_string(s[2]) + " x " +
                                    std::to_string(s[1]));
}

void requireInput(const torch::Tensor& objects, const ObjectInput& o) {
    if (objects.dim() == 3 && objects.size(1) == o.n_objects && objects.size(2) == o.object_dim &&
        objects.is_floating_point())
        return;
    throw OptionError("objects", "the model expects sets of " + std::to_string(o.n_objects) +
                                     " objects of " + std::to_string(o.object_dim) + " numbers");
}

}  // namespace relascope::core
