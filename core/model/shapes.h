// What a model is made of, without building it. No torch here.
#pragma once

#include <string>
#include <vector>

#include "types/checkpoint_info.h"
#include "types/model_options.h"

namespace relascope {

/// A parameter or stored buffer of a model that was never built.
struct TensorShape {
    std::string name;
    std::vector<std::int64_t> shape;
    std::string aliasOf;  ///< the first name, where this is a further one
    bool trainable = true;
    bool buffer = false;  ///< stored, but no parameter: positions

    std::int64_t count() const {
        std::int64_t n = 1;
        for (const auto size : shape) n *= size;
        return n;
    }
};
/// Every tensor under its first name, in the order of registration, then every further name.
/// Nothing is allocated. Throws OptionError for options that cannot be built.
std::vector<TensorShape> modelShapes(const ModelOptions& options);

/// Parameters of such a model, each once.
struct ParameterCount {
    std::int64_t total = 0, trainable = 0;
};
ParameterCount countParameters(const ModelOptions& options);

/// The model as an outline for people: encoder, blocks, heads, relations, symbols, with the
/// parameters of each.
OutlineNode modelOutline(const ModelOptions& options);

}  // namespace relascope
