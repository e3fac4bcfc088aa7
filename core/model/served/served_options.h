// SPDX-License-Identifier: GPL-3.0-or-later
// The options of a model that another process serves: the sizes of its input, and all that the
// process says of it. Does not include torch.
#pragma once

#include <string>

#include "model/served/served_declaration.h"
#include "types/model_options.h"
#include "types/option_groups.h"

namespace relascope::core {

/// The group of options that all of these architectures have.
struct ServedFacts {
    std::string declaration;  ///< the message `declare`, JSON
    bool operator==(const ServedFacts&) const = default;
};

struct ServedImageOptions : ImageInput, ServedFacts {
    std::int64_t first_tokens = 0;
    std::int64_t tokens() const { return patches() + first_tokens; }
    /// Whether its positions are patches of the image.
    bool cut() const { return patches() > 1; }
    bool operator==(const ServedImageOptions&) const = default;
};
struct ServedTextOptions : TokenInput, ServedFacts {
    bool operator==(const ServedTextOptions&) const = default;
};
struct ServedObjectOptions : ObjectInput, ServedFacts {
    bool operator==(const ServedObjectOptions&) const = default;
};

inline bool isServed(const ModelOptions& options) {
    return options.find<ServedFacts>() != nullptr;
}
/// What the process says of such a model.
ServedDeclaration declarationOf(const ModelOptions& options);

/// The kind of data of such a model, whose path is that of the model.
inline constexpr char kServedData[] = "served";

/// What a model is opened by instead of the path of a file: "served:NAME".
inline constexpr char kServedPrefix[] = "served:";
inline bool isServedName(const std::string& path) {
    return path.rfind(kServedPrefix, 0) == 0;
}
/// NAME. Throws OptionError("path", ...) for a name that no door can have.
std::string doorOf(const std::string& path);

}  // namespace relascope::core
