// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/run_rel.h"

#include <limits>
#include <stdexcept>

#include "kernels/stored.h"
#include "model/kernels/rel_ffma.h"

namespace relascope::core::kernels {
namespace {

template <class T>
RelResults run(const Problem& p, const Inputs& in, const Tensor4& dOut, const Tensor4& dRelated,
               DataType type) {
    auto args = argsOf(p, type);
    const auto input = [&](const Tensor4& tensor, Layout layout) {
        Stored<T> stored(tensor, p.strided, layout);
        stored.fill();
        return stored;
    };
    const auto output = [&](const Tensor4& shape, Layout layout) {
        return Stored<T>(shape, p.strided, layout);
    };
    const auto q = input(in.q, Layout::TokensFirst), k = input(in.k, Layout::HeadsFirst);
    auto s = input(in.s, Layout::TokensFirst);
    if (p.sharedSymbols) s.share();
    const auto qRel = input(in.qRel, Layout::HeadsFirst),
               kRel = input(in.kRel, Layout::TokensFirst);
    const auto gOut = input(dOut, Layout::HeadsFirst),
               gRelated = input(dRelated, Layout::HeadsFirst);
    const auto out = output(dOut, Layout::TokensFirst);
    const auto related = output(dRelated, Layout::TokensFirst);
    const auto dq = output(in.q, Layout::HeadsFirst), dk = output(in.k, Layout::TokensFirst);
    const auto ds = output(in.s, Layout::HeadsFirst), dqRel = output(in.qRel, Layout::TokensFirst);
    const auto dkRel = output(in.kRel, Layout::HeadsFirst);
    args.q = q.view(), args.k = k.view(), args.s = s.view();
    args.qRel = qRel.view(), args.kRel = kRel.view();
    args.out = out.view(), args.related = related.view();
    args.dOut = gOut.view(), args.dRelated = gRelated.view();
    args.dq = dq.view(), args.dk = dk.view(), args.ds = ds.view();
    args.dqRel = dqRel.view(), args.dkRel = dkRel.view();
    const std::size_t rows = std::size_t(p.batch) * p.heads * p.queries;
    std::vector<T> lse(rows, std::numeric_limits<T>::quiet_NaN()), delta = lse;
    args.lse = lse.data(), args.delta = delta.data();

    expectStarted(launchRelForward(&args, nullptr));
    expectStarted(launchRelBackward(&args, nullptr));
    RelResults results{{out.read(), related.read(), Tensor4(p.batch, p.queries, p.heads, 1)},
                       {dq.read(), dk.read(), ds.read(), dqRel.read(), dkRel.read()}};
    for (int b = 0; b < p.batch; ++b)
        for (int a = 0; a < p.heads; ++a)
            for (int i = 0; i < p.queries; ++i)
                results.outputs.lse.at(b, i, a, 0) =
                    lse[(std::size_t(b) * p.heads + a) * p.queries + i];
    return results;
}

}  // namespace

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
    args.first = p.first, args.causal = p.causal, args.maxOffset = p.maxOffset;
    args.activation = activationOf(p.activation);
    args.scale = p.scale(), args.relScale = p.relScale();
    args.dropThreshold = p.dropThreshold;
    args.philox.seedValue = p.seed, args.philox.offsetValue = p.offset;
    return args;
}

RelResults runRel(const Problem& problem, const Inputs& in, const Tensor4& dOut,
                  const Tensor4& dRelated, DataType type, HostOrder order) {
    const HostDeviceScope scope;
    hostDevice().order = order;
    // The sizes are those of float32; devices are not given float64.
    if (type == DataType::Float64) hostDevice().sharedLimit *= 2;
    return type == DataType::Float64 ? run<double>(problem, in, dOut, dRelated, type)
                                     : run<float>(problem, in, dOut, dRelated, type);
}

}  // namespace relascope::core::kernels
