// SPDX-License-Identifier: GPL-3.0-or-later
// The Abstractor of the sorting models on a set of objects: learns a relation on pairs, for
// initialising a sorting model (ABS 4.4).
#pragma once

#include "model/abstractor/abstractor.h"
#include "model/model.h"
#include "model/seq2seq/seq2seq.h"

namespace relascope::core {

/// embedder, Abstractor (the same module, under the same names, as in Seq2SeqAbstractor),
/// flattened, one hidden relu layer, outputs.
struct ObjectAbstractorImpl : ModelImpl {
    explicit ObjectAbstractorImpl(const ObjectAbstractorOptions& options);
    /// objects [b, n, dim] -> [b, out_dim].
    torch::Tensor forward(const ModelInput& objects) override;

    SequenceEmbedder source_embedder{nullptr};
    Abstractor abstractor{nullptr};
    Linear hidden{nullptr}, final_out{nullptr};

private:
    ObjectAbstractorOptions m_options;
};

}  // namespace relascope::core
