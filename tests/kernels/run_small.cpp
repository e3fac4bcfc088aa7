// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/run_small.h"

#include <algorithm>
#include <memory>

#include "kernels/stored.h"

namespace relascope::core::kernels {
namespace {

/// dRelated = dOut W_r
Tensor4 relatedGradient(const SmallHeads& x) {
    const auto& p = x.problem;
    Tensor4 to(p.batch, p.queries, p.heads, p.relations);
    for (int b = 0; b < p.batch; ++b)
        for (int i = 0; i < p.queries; ++i)
            for (int a = 0; a < p.heads; ++a)
                for (int l = 0; l < p.relations; ++l)
                    for (int c = 0; c < p.valueDim; ++c)
                        to.at(b, i, a, l) += x.dOut.at(b, i, a, c) * x.wr.at(0, c, a, l);
    return to;
}

/// The tensors of one part in the device's type.
template <class T>
struct Buffers {
    Buffers(const SmallHeads& x, int groups)
        : q(x.in.q, x.problem.strided),
          k(x.in.k, x.problem.strided, Layout::HeadsFirst),
          s(x.in.s, x.problem.strided),
          qRel(x.in.qRel, x.problem.strided, Layout::HeadsFirst),
          kRel(x.in.kRel, x.problem.strided),
          wr(x.wr, x.problem.strided, Layout::HeadsFirst),
          dOut(x.dOut, x.problem.strided, Layout::HeadsFirst),
          out(x.dOut, x.problem.strided),
          dq(x.in.q, x.problem.strided, Layout::HeadsFirst),
          dk(x.in.k, x.problem.strided),
          ds(x.in.s, x.problem.strided, Layout::HeadsFirst),
          dqRel(ofGroups(x.in.qRel, groups), x.problem.strided),
          dkRel(ofGroups(x.in.kRel, groups), x.problem.strided, Layout::HeadsFirst),
          dwr(Tensor4(x.problem.batch, x.wr.tokens, x.wr.heads, x.wr.width), x.problem.strided) {
        for (auto* in : {&q, &k, &s, &qRel, &wr, &dOut}) in->fill();
        if (!x.symmetric) kRel.fill();  // NaN: not to be read
        if (x.problem.sharedSymbols) s.share();
    }
    static Tensor4 ofGroups(const Tensor4& x, int groups) {
        return Tensor4(x.batch * groups, x.tokens, x.heads, x.width);
    }
    void point(SmallPart& part, int batch) const {
        auto& x = part.rel;
        x.q = q.view(), x.k = k.view(), x.s = s.view();
        x.qRel = qRel.view(), x.kRel = kRel.view(), part.wr = wr.view();
        x.out = out.view(), x.dOut = dOut.view();
        x.dq = dq.view(), x.dk = dk.view(), x.ds = ds.view();
        x.dqRel = dqRel.view(), x.dkRel = dkRel.view(), part.dwr = dwr.view();
        part.dqRelGroup = batch * x.dqRel.batch, part.dkRelGroup = batch * x.dkRel.batch;
    }
    Stored<T> q, k, s, qRel, kRel, wr, dOut, out, dq, dk, ds, dqRel, dkRel, dwr;
};

/// The sum of the groups' parts.
Tensor4 summed(const Tensor4& parts, int groups) {
    Tensor4 to(parts.batch / groups, parts.tokens, parts.heads, parts.width);
    for (std::size_t i = 0; i < parts.values.size(); ++i)
        to.values[i % to.values.size()] += parts.values[i];
    return to;
}

template <class T>
std::vector<SmallResults> run(const std::vector<SmallHeads>& parts, std::size_t limit,
                              DataType type) {
    SmallArgs args;
    args.count = static_cast<int>(parts.size());
    args.sharedLimit = limit;
    std::vector<std::unique_ptr<Buffers<T>>> buffers;
    std::vector<int> groups;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        args.parts[i] = smallPartOf(parts[i], type);
        groups.push_back(std::max(1, smallPlan(args.parts[i], limit).backwardGroups));
        buffers.push_back(std::make_unique<Buffers<T>>(parts[i], groups[i]));
        buffers[i]->point(args.parts[i], parts[i].problem.batch);
    }
    expectStarted(launchSmallForward(&args, nullptr));
    expectStarted(launchSmallBackward(&args, nullptr));
    std::vector<SmallResults> results;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& x = *buffers[i];
        results.push_back({x.out.read(),
                           {x.dq.read(), x.dk.read(), x.ds.read(),
                            summed(x.dqRel.read(), groups[i]), summed(x.dkRel.read(), groups[i])},
                           x.dwr.read()});
        if (parts[i].symmetric) results.back().gradients.kRel = Tensor4();
    }
    return results;
}

}  // namespace

SmallHeads smallHeads(const Problem& p, bool symmetric, std::uint64_t seed) {
    SmallHeads x{p, symmetric, randomInputs(p, seed),
                 randomTensor(1, p.valueDim, p.heads, p.relations, seed + 20),
                 randomTensor(p.batch, p.queries, p.heads, p.valueDim, seed + 21)};
    if (symmetric) x.in.kRel = x.in.qRel;
    return x;
}

SmallResults smallReference(const SmallHeads& x) {
    const auto& p = x.problem;
    const auto outputs = referenceForward(p, x.in);
    SmallResults to{outputs.out, referenceBackward(p, x.in, x.dOut, relatedGradient(x)),
                    Tensor4(p.batch, p.valueDim, p.heads, p.relations)};
    for (int b = 0; b < p.batch; ++b)
        for (int i = 0; i < p.queries; ++i)
            for (int a = 0; a < p.heads; ++a)
                for (int c = 0; c < p.valueDim; ++c)
                    for (int l = 0; l < p.relations; ++l) {
                        const double related = outputs.related.at(b, i, a, l);
                        to.out.at(b, i, a, c) += x.wr.at(0, c, a, l) * related;
                        to.dwr.at(b, c, a, l) += x.dOut.at(b, i, a, c) * related;
                    }
    if (x.symmetric) {
        for (std::size_t i = 0; i < to.gradients.qRel.values.size(); ++i)
            to.gradients.qRel.values[i] += to.gradients.kRel.values[i];
        to.gradients.kRel = Tensor4();
    }
    return to;
}

double smallLoss(const SmallHeads& x) {
    const auto& p = x.problem;
    const auto outputs = referenceForward(p, x.in);
    const auto dRelated = relatedGradient(x);
    double sum = 0;
    for (std::size_t i = 0; i < x.dOut.values.size(); ++i)
        sum += x.dOut.values[i] * outputs.out.values[i];
    for (std::size_t i = 0; i < dRelated.values.size(); ++i)
        sum += dRelated.values[i] * outputs.related.values[i];
    return sum;
}

SmallPart smallPartOf(const SmallHeads& x, DataType type) {
    SmallPart part;
    part.rel = argsOf(x.problem, type);
    part.symmetric = x.symmetric;
    return part;
}

std::size_t leastSharedBytes(const std::vector<SmallHeads>& parts, DataType type) {
    std::size_t low = 0, high = std::size_t{1} << 30;  // not served, served
    while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        const bool serves = std::all_of(parts.begin(), parts.end(), [&](const SmallHeads& x) {
            return smallPlan(smallPartOf(x, type), middle).serves();
        });
        (serves ? high : low) = middle;
    }
    return high;
}

std::vector<SmallResults> runSmall(const std::vector<SmallHeads>& parts, std::size_t sharedLimit,
                                   DataType type, HostOrder order) {
    const HostDeviceScope scope;
    hostDevice().order = order;
    // The sizes are those of float32; devices are not given float64.
    if (type == DataType::Float64) hostDevice().sharedLimit *= 2;
    return type == DataType::Float64 ? run<double>(parts, sharedLimit, type)
                                     : run<float>(parts, sharedLimit, type);
}

}  // namespace relascope::core::kernels
