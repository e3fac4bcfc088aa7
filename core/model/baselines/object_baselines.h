// SPDX-License-Identifier: GPL-3.0-or-later
// Baselines on sets of objects [b, n, dim]: CoRelNet, PrediNet, a Transformer, an MLP and, for SET,
// the symbolic MLP (ABS 4.1, 4.5).
#pragma once

#include "model/baselines/baseline_options.h"
#include "model/baselines/relational_baselines.h"
#include "model/blocks/dual_attention.h"
#include "model/model.h"

namespace relascope::core {

/// embedder, R = softmax(<wq x_i, wk x_j>) (symmetric: one projection), flattened, one hidden relu
/// layer, outputs.
struct ObjectCoRelNetImpl : ModelImpl {
    explicit ObjectCoRelNetImpl(const ObjectCoRelNetOptions& options);
    torch::Tensor forward(const ModelInput& objects) override;

    Linear embedder{nullptr}, wq{nullptr}, wk{nullptr}, hidden{nullptr}, final_out{nullptr};
    Similarity relation{nullptr};

private:
    ObjectCoRelNetOptions m_options;
};

/// PrediNet's heads on the objects themselves, without position tags; hidden relu layer, outputs.
struct ObjectPrediNetImpl : ModelImpl {
    explicit ObjectPrediNetImpl(const ObjectPrediNetOptions& options);
    torch::Tensor forward(const ModelInput& objects) override;

    PrediNetHeads predinet{nullptr};
    Linear hidden{nullptr}, final_out{nullptr};

private:
    ObjectPrediNetOptions m_options;
};

/// embedder, encoder blocks, flattened, hidden relu layer, outputs.
struct ObjectTransformerImpl : ModelImpl {
    explicit ObjectTransformerImpl(const ObjectTransformerOptions& options);
    torch::Tensor forward(const ModelInput& objects) override;

    Linear embedder{nullptr}, hidden{nullptr}, final_out{nullptr};
    torch::nn::ModuleList encoder_blocks;

private:
    ObjectTransformerOptions m_options;
};

/// The objects flattened through relu layers (`layers.0`, `layers.2`, ...). `SymbolicMLP` is the
/// same on the relation bits of SET: 3 pairs of cards as objects, 4 attributes each.
struct ObjectMlpImpl : ModelImpl {
    explicit ObjectMlpImpl(const MlpOptions& options);
    torch::Tensor forward(const ModelInput& objects) override;

    Mlp layers{nullptr};

private:
    MlpOptions m_options;
};

}  // namespace relascope::core
