#include "options/estimates.h"

#include <algorithm>

#include "model/shapes.h"

namespace relascope {

std::int64_t parameterCount(const ModelOptions& m) {
    return countParameters(m).total;
}

std::uint64_t trainingBytes(const RunOptions& o) {
    const auto& m = o.model;
    const double tokens = static_cast<double>(o.train.batch_size) * static_cast<double>(m.tokens());
    const double dff = static_cast<double>(m.dff > 0 ? m.dff : 4 * m.d_model);
    const double block =
        tokens * (16.0 * static_cast<double>(m.d_model) + 4.0 * dff) +
        static_cast<double>(o.train.batch_size * m.tokens() * m.tokens()) *
            static_cast<double>(4 * m.heads() + (m.isDual() ? 2 * m.relations() : 0));
    const double activations =
        static_cast<double>(m.n_layers) * block + 4.0 * tokens * static_cast<double>(m.patchDim());
    return static_cast<std::uint64_t>(4.0 *
                                      (4.0 * static_cast<double>(parameterCount(m)) + activations));
}

std::int64_t stepsPerEpoch(const RunOptions& o) {
    return std::max<std::int64_t>(
        1, (o.data.train_size + o.train.batch_size - 1) / o.train.batch_size);
}

std::int64_t totalSteps(const RunOptions& o) {
    return o.train.steps > 0 ? o.train.steps : o.train.epochs * stepsPerEpoch(o);
}

double trainingFlops(const RunOptions& o) {
    const auto& m = o.model;
    const double tokens = static_cast<double>(o.train.batch_size * m.tokens());
    const double attention = 4.0 * static_cast<double>(m.n_layers * m.tokens() * m.d_model);
    return 3.0 * tokens * (2.0 * static_cast<double>(parameterCount(m)) + attention);
}

}  // namespace relascope
