#include "model/shapes.h"

#include <algorithm>

#include "model/factory.h"
#include "model/parameters.h"

namespace relascope {
namespace {

ParameterCount sum(const ModelOptions& options) {
    ParameterCount count;
    for (const auto& shape : modelShapes(options)) {
        if (shape.buffer || !shape.aliasOf.empty()) continue;
        count.total += shape.count();
        if (shape.trainable) count.trainable += shape.count();
    }
    return count;
}

}  // namespace

std::vector<TensorShape> modelShapes(const ModelOptions& options) {
    const ParameterScope scope(ParameterFill::ShapesOnly);
    const auto model = makeModel(options);
    std::vector<TensorShape> shapes;
    for (const auto& entry : stateOf(*model))
        shapes.push_back({entry.name, entry.tensor.sizes().vec(), entry.aliasOf,
                          entry.tensor.requires_grad(), entry.buffer});
    return shapes;
}

ParameterCount countParameters(const ModelOptions& options) {
    options.check();
    // Layers of a stack are alike, so the count is linear in their number: two small models tell
    // what a deep one has, quickly enough for a form.
    ModelOptions small = options;
    constexpr std::int64_t few = 2;
    small.n_layers = std::min(options.n_layers, few);
    small.n_layers_enc = std::min(options.n_layers_enc, few);
    small.n_layers_dec = std::min(options.n_layers_dec, few);
    const auto base = sum(small);
    ParameterCount count = base;
    for (auto layers :
         {&ModelOptions::n_layers, &ModelOptions::n_layers_enc, &ModelOptions::n_layers_dec}) {
        const std::int64_t more = options.*layers - small.*layers;
        if (more == 0) continue;
        ModelOptions next = small;
        next.*layers += 1;
        const auto larger = sum(next);
        count.total += more * (larger.total - base.total);
        count.trainable += more * (larger.trainable - base.trainable);
    }
    return count;
}

}  // namespace relascope
