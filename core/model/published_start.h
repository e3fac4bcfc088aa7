// Initial weights that differ from those of LibTorch's layers and the published package.
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

/// W_r of every relational attention as the authors' code of May 2024 drew it, which made the
/// published curves of Relational Games (DAT 4.1): a linear layer of n_relations inputs, uniform
/// within 1 / sqrt(n_relations). The package's later start has the fan-in head_dim * n_relations.
void initRelationsAsMay2024(ModelImpl& model);

}  // namespace relascope
