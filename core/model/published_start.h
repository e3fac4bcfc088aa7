// Start weights of the Abstractor's family, as the framework it was published in draws them.
#pragma once

#include "model/model.h"
#include "types/model_options.h"

namespace relascope {

/// Glorot-uniform weights and zero biases for every Linear of a model of sets (ABS 4.1, 4.5), and
/// for the Abstractor's attention the fans of a projection [d, heads, key] (experiments.md section
/// 5). It matters: with smaller weights symmetric CoRelNet, whose softmax then starts soft, learns
/// an order from the lengths of its projections; with these it stays at chance, as published. Does
/// nothing to other models, nor where a file fills the parameters.
void startAsPublished(ModelImpl& model, const ModelOptions& options);

}  // namespace relascope
