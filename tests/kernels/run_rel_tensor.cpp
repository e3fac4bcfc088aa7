// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/run_rel_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "model/kernels/host_mma.h"
#include "model/kernels/rel_tensor.h"

namespace relascope::core::kernels {
namespace {

std::uint16_t narrowed(double x, DataType type) {
    const auto number = static_cast<float>(x);
    return type == DataType::BFloat16 ? hostBFloat16(number) : hostFloat16(number);
}
double widened(std::uint16_t bits, DataType type) {
    return type == DataType::BFloat16 ? hostFromBFloat16(bits) : hostFromFloat16(bits);
}

/// A tensor in a 16-bit type. Strided ones have 8 NaN after each row and 16 after each token. Of
/// exactly the size needed, so that AddressSanitizer sees what lies beyond.
class Stored16 {
public:
    Stored16(const Tensor4& shape, DataType type, bool strided) : m_shape(shape), m_type(type) {
        m_view.head = shape.width + (strided ? 8 : 0);
        m_view.token = m_view.head * shape.heads + (strided ? 16 : 0);
        m_view.batch = m_view.token * shape.tokens;
        std::int64_t end = 0;
        forEachNumber(m_shape, m_view,
                      [&](std::int64_t at, std::size_t) { end = std::max(end, at + 1); });
        m_values.assign(static_cast<std::size_t>(end), kNan);
        m_view.data = m_values.data();
    }
    void fill() {
        forEachNumber(m_shape, m_view, [&](std::int64_t at, std::size_t i) {
            m_values[at] = narrowed(m_shape.values[i], m_type);
        });
    }
    Tensor4 read() const {
        Tensor4 to = m_shape;
        std::vector<bool> own(m_values.size());
        forEachNumber(m_shape, m_view, [&](std::int64_t at, std::size_t i) {
            to.values[i] = widened(m_values[at], m_type);
            own[at] = true;
        });
        for (std::size_t i = 0; i < own.size(); ++i)
            if (!own[i] && m_values[i] != kNan) throw std::runtime_error("written between rows");
        return to;
    }
    const View& view() const { return m_view; }

private:
    static constexpr std::uint16_t kNan = 0xffff;  // of both types
    Tensor4 m_shape;
    DataType m_type;
    View m_view;
    std::vector<std::uint16_t> m_values;
};

Stored16 filled(const Tensor4& tensor, DataType type, const Problem& p) {
    Stored16 stored(tensor, type, p.strided);
    stored.fill();
    return stored;
}

void expectStarted(int error) {
    if (error) throw std::runtime_error("a launch failed with error " + std::to_string(error));
}

/// A problem's tensors on the device.
struct TensorCall {
    TensorCall(const Problem& p, const Inputs& in, DataType type)
        : q(in.q, type, p.strided),
          k(in.k, type, p.strided),
          s(in.s, type, p.strided),
          qRel(in.qRel, type, p.strided),
          kRel(in.kRel, type, p.strided),
          out(Tensor4(p.batch, p.queries, p.heads, p.valueDim), type, p.strided),
          related(Tensor4(p.batch, p.queries, p.heads, p.relations), type, p.strided),
          lse(std::size_t(p.batch) * p.heads * p.queries, std::numeric_limits<float>::quiet_NaN()),
          args(argsOf(p, type)) {
        for (auto* tensor : {&q, &k, &s, &qRel, &kRel}) tensor->fill();
        args.q = q.view(), args.k = k.view(), args.s = s.view();
        args.qRel = qRel.view(), args.kRel = kRel.view();
        args.out = out.view(), args.related = related.view();
        args.lse = lse.data();
    }
    Stored16 q, k, s, qRel, kRel, out, related;
    std::vector<float> lse;
    RelArgs args;
};

}  // namespace

Tensor4 rounded(Tensor4 tensor, DataType type) {
    for (double& value : tensor.values) value = widened(narrowed(value, type), type);
    return tensor;
}

Inputs rounded(Inputs in, DataType type) {
    for (auto* tensor : {&in.q, &in.k, &in.s, &in.qRel, &in.kRel})
        *tensor = rounded(std::move(*tensor), type);
    return in;
}

Outputs runRelTensor(const Problem& p, const Inputs& in, DataType type, int tiling,
                     HostOrder order) {
    const HostDeviceScope scope;
    hostDevice().order = order;
    const TensorCall call(p, in, type);
    expectStarted(tiling == kBestTiling ? launchRelTensorForward(&call.args, nullptr)
                                        : launchRelTensorForwardTiled(&call.args, tiling, nullptr));
    Outputs results{call.out.read(), call.related.read(), Tensor4(p.batch, p.queries, p.heads, 1)};
    for (int b = 0; b < p.batch; ++b)
        for (int a = 0; a < p.heads; ++a)
            for (int i = 0; i < p.queries; ++i)
                results.lse.at(b, i, a, 0) =
                    call.lse[(std::size_t(b) * p.heads + a) * p.queries + i];
    return results;
}

Inputs runRelTensorBackward(const Problem& p, const Inputs& in, const Outputs& forward,
                            const Tensor4& dOut, const Tensor4& dRelated, DataType type, int tiling,
                            HostOrder order) {
    const HostDeviceScope scope;
    hostDevice().order = order;
    TensorCall call(p, in, type);
    const Stored16 gOut = filled(dOut, type, p), gRelated = filled(dRelated, type, p);
    const Stored16 dq(in.q, type, p.strided), dqRel(in.qRel, type, p.strided);
    const Stored16 dk(in.k, type, p.strided), ds(in.s, type, p.strided);
    const Stored16 dkRel(in.kRel, type, p.strided);
    std::vector<float> delta(call.lse.size(), std::numeric_limits<float>::quiet_NaN());
    auto& args = call.args;
    args.dOut = gOut.view(), args.dRelated = gRelated.view(), args.delta = delta.data();
    args.dq = dq.view(), args.dqRel = dqRel.view();
    args.dk = dk.view(), args.ds = ds.view(), args.dkRel = dkRel.view();
    const Stored16 out = filled(forward.out, type, p), related = filled(forward.related, type, p);
    args.out = out.view(), args.related = related.view();
    for (int b = 0; b < p.batch; ++b)
        for (int a = 0; a < p.heads; ++a)
            for (int i = 0; i < p.queries; ++i)
                call.lse[(std::size_t(b) * p.heads + a) * p.queries + i] =
                    static_cast<float>(forward.lse.at(b, i, a, 0));
    std::vector<float> workspace(relTensorWorkspaceBytes(args) / sizeof(float),
                                 std::numeric_limits<float>::quiet_NaN());
    args.workspace = workspace.empty() ? nullptr : workspace.data();
    if (tiling == kBestTiling) {
        expectStarted(launchRelTensorBackward(&args, nullptr));
    } else {
        const auto last = static_cast<int>(relTensorColumnsTilings(args).size()) - 1;
        expectStarted(launchRelTensorDelta(&args, nullptr));
        expectStarted(launchRelTensorBackwardRowsTiled(&args, tiling, nullptr));
        expectStarted(launchRelTensorBackwardColumnsTiled(&args, std::min(tiling, last), nullptr));
    }
    return {dq.read(), dk.read(), ds.read(), dqRel.read(), dkRel.read()};
}

bool sameBits(const Tensor4& x, const Tensor4& y) {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    return std::equal(x.values.begin(), x.values.end(), y.values.begin(), y.values.end(),
                      [&](double v, double w) { return bits(v) == bits(w); });
}

bool sameBits(const Outputs& x, const Outputs& y) {
    return sameBits(x.out, y.out) && sameBits(x.related, y.related) && sameBits(x.lse, y.lse);
}

bool sameBits(const Inputs& x, const Inputs& y) {
    return sameBits(x.q, y.q) && sameBits(x.k, y.k) && sameBits(x.s, y.s) &&
           sameBits(x.qRel, y.qRel) && sameBits(x.kRel, y.kRel);
}

double relativeDifference(const Tensor4& x, const Tensor4& expected) {
    double most = 0, difference = 0;
    for (const double value : expected.values) most = std::max(most, std::abs(value));
    for (std::size_t i = 0; i < x.values.size(); ++i) {
        const double each = std::abs(x.values[i] - expected.values[i]);
        if (!(each <= difference)) difference = each;
    }
    return difference / most;
}

}  // namespace relascope::core::kernels
