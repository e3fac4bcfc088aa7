// SPDX-License-Identifier: GPL-3.0-or-later
// Relations learned on pairs of objects, and the Abstractor that uses them frozen (ABS 4.5: SET,
// the comparison with a symbolic input).
#pragma once

#include "model/abstractor/abstractor_options.h"
#include "model/attention/attention.h"
#include "model/baselines/relational_baselines.h"
#include "model/model.h"

namespace relascope::core {

/// r_ij = <wq x_i, wk x_j>, n_relations of them; sigmoid(50 r_ij / rel_proj_dim) where `sharp`:
/// this pushes learned scores towards 0 and 1.
struct PairwiseRelationsImpl : torch::nn::Module, RecordingPoint {
    PairwiseRelationsImpl(const PairRelationsOptions& options, bool sharp);
    /// x [b, n, object_dim] -> [b, n_relations, n, n].
    torch::Tensor forward(const torch::Tensor& x);
    /// What the inner products are multiplied by.
    double scale() const { return m_sharpness > 0 ? m_sharpness : 1.0; }

    Linear wq{nullptr}, wk{nullptr};

private:
    std::int64_t m_relations;
    double m_sharpness;  // 0: scores
};
TORCH_MODULE(PairwiseRelations);

/// Only `relation`: the scores of two objects, one for each bit to predict (same or different).
struct PairRelationsImpl : ModelWith<PairRelationsOptions> {
    explicit PairRelationsImpl(const Options& options);

    PairwiseRelations relation{nullptr};

protected:
    /// objects [b, 2, dim] -> [b, n_relations].
    torch::Tensor outputs(const torch::Tensor& objects) override;
};

/// A frozen `relation` from a pretraining stage (train.start_from) and fixed random symbols: E_i =
/// concat_r( sum_j r_ij s_j ), flattened, through relu layers. Only `layers` is trained.
struct FixedRelationAbstractorImpl : ModelWith<FixedRelationOptions> {
    explicit FixedRelationAbstractorImpl(const Options& options);

    PairwiseRelations relation{nullptr};
    torch::Tensor symbols;  ///< [n, symbol_dim]
    Mlp layers{nullptr};

protected:
    /// objects [b, n, dim] -> [b, out_dim].
    torch::Tensor outputs(const torch::Tensor& objects) override;
};

}  // namespace relascope::core
