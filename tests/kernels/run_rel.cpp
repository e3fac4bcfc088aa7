// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/run_rel.h"

#include <stdexcept>

namespace relascope::core::kernels {
Activation activationOf(const std::string& name) {
    if (name == "identity") return Activation::Identity;
    if (name == "relu") return Activation::Relu;
    if (name == "sigmoid") return Activation::Sigmoid;
    if (name == "tanh") return Activation::Tanh;
    if (name == "gelu") return Activation::Gelu;
    if (name == "silu") return Activation::Silu;
    throw std::invalid_argument(name);
}

RelArgs argsOf(const Problem& p, DataType type) {
    RelArgs args;
    args.type = type;
    args.batch = p.batch, args.queries = p.queries, args.keys = p.keys;
    args.heads = p.heads, args.keyHeads = p.keyHeads;
    args.keyDim = p.keyDim, args.valueDim = p.valueDim;
    args.relations = p.relations, args.relDim = p.relDim;
    args.first = p.first, args.causal = p.causal;
    args.activation = activationOf(p.activation);
    args.scale = p.scale(), args.relScale = p.relScale();
    args.dropThreshold = p.dropThreshold;
    args.philox.seedValue = p.seed, args.philox.offsetValue = p.offset;
    return args;
}

}  // namespace relascope::core::kernels
