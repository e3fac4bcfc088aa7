// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels that attend with one new token to a cache, on the CPU's stand-in for CUDA, against
// the reference in double precision: every position, all types, three orders of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/orders.h"
#include "kernels/run_rel.h"
#include "kernels/tolerances.h"
#include "model/kernels/decode.h"

namespace relascope::core::kernels {
namespace {

constexpr std::size_t kH100 = 232448, kConsumer = 101376;

// bfloat16 as the kernel has it: rounded to nearest even.
std::uint16_t bitsOf(double value) {
    const auto bits = std::bit_cast<std::uint32_t>(float(value));
    if (std::isnan(value)) return 0x7fff;
    const std::uint32_t low = bits & 0xffffu, high = bits >> 16;
    const bool up = low > 0x8000u || (low == 0x8000u && high % 2 == 1);
    return std::uint16_t(high + (up ? 1 : 0));
}
double valueOf(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

template <class S>
S stored(double value) {
    if constexpr (std::is_same_v<S, std::uint16_t>)
        return bitsOf(value);
    else
        return S(value);
}
template <class S>
double number(S value) {
    if constexpr (std::is_same_v<S, std::uint16_t>)
        return valueOf(value);
    else
        return value;
}

/// A tensor in the device's type, NaN where nothing was written. `gap`: numbers between rows, so
/// that they do not lie on 16 bytes.
template <class S>
struct Buffer {
    Buffer(int batch, int tokens, int heads, int width, int gap = 0)
        : shape(batch, tokens, heads, width) {
        view.head = width + gap, view.token = view.head * heads, view.batch = view.token * tokens;
        data.assign(std::size_t(std::max<std::int64_t>(view.batch * batch, 1)), stored<S>(NAN));
        view.data = data.data();
    }
    void set(int token, const Tensor4& from) {
        for (int b = 0; b < shape.batch; ++b)
            for (int h = 0; h < shape.heads; ++h)
                for (int c = 0; c < shape.width; ++c)
                    at(b, token, h, c) = stored<S>(from.at(b, 0, h, c));
    }
    S& at(int b, int token, int h, int c) {
        return data[std::size_t(b * view.batch + token * view.token + h * view.head + c)];
    }
    /// The first `tokens` rows.
    Tensor4 read(int tokens) {
        Tensor4 to(shape.batch, tokens, shape.heads, shape.width);
        for (int b = 0; b < shape.batch; ++b)
            for (int t = 0; t < tokens; ++t)
                for (int h = 0; h < shape.heads; ++h)
                    for (int c = 0; c < shape.width; ++c)
                        to.at(b, t, h, c) = number(at(b, t, h, c));
        return to;
    }
    Tensor4 shape;
    View view;
    std::vector<S> data;
};

struct DecodeCase {
    std::string name;
    Problem sizes;
    int capacity = 37, keysPerBlock = 16, gap = 0;
    bool rotary = false;
    std::vector<int> starts = {0, 15, 16, 17, 31, 32, 36};  // positions that are tried
    std::size_t sharedLimit = kH100;
};

DecodeCase with(const std::string& name, const std::function<void(DecodeCase&)>& change) {
    DecodeCase x;
    x.name = name;
    x.sizes.keyDim = 6;
    change(x);
    return x;
}

std::vector<DecodeCase> cases() {
    std::vector<DecodeCase> all = {
        with("plain", [](DecodeCase&) {}),
        with("grouped keys", [](DecodeCase& x) { x.sizes.keyHeads = 2; }),
        with("one key head", [](DecodeCase& x) { x.sizes.keyHeads = 1; }),
        with("twenty heads", [](DecodeCase& x) { x.sizes.heads = 20, x.sizes.keyHeads = 5; }),
        with("sensory", [](DecodeCase& x) { x.sizes.relations = x.sizes.relDim = 0; }),
        with("many relations", [](DecodeCase& x) { x.sizes.relations = 40, x.sizes.relDim = 1; }),
        with("rotary", [](DecodeCase& x) { x.rotary = true; }),
        with("rows on 16 bytes",
             [](DecodeCase& x) {
                 x.sizes.keyDim = x.sizes.valueDim = x.sizes.relDim = 8, x.rotary = true;
             }),
        with("the same beside each other",
             [](DecodeCase& x) {
                 x.sizes.keyDim = x.sizes.valueDim = x.sizes.relDim = 8, x.gap = 1;
             }),
        with("64 keys a block",
             [](DecodeCase& x) {
                 x.keysPerBlock = 64, x.capacity = 140, x.starts = {0, 15, 63, 64, 127, 128, 139};
             }),
        with("48 keys a block, by four",
             [](DecodeCase& x) {
                 x.keysPerBlock = 48, x.capacity = 97, x.starts = {3, 4, 47, 48, 96};
                 x.sharedLimit = 5000;
             }),
        with("chosen keys a block", [](DecodeCase& x) { x.keysPerBlock = 0; }),
        with("offsets", [](DecodeCase& x) { x.sizes.maxOffset = 40; }),
        with("offsets, clamped", [](DecodeCase& x) { x.sizes.maxOffset = 5; }),
        with("offsets, all the same", [](DecodeCase& x) { x.sizes.maxOffset = 0; }),
        with("343 million",
             [](DecodeCase& x) {
                 auto& p = x.sizes;
                 p.batch = 1, p.heads = 8, p.keyHeads = 4, p.keyDim = p.valueDim = 64;
                 p.relations = 64, p.relDim = 8, x.rotary = true, x.starts = {16, 30};
             }),
        with("one billion",
             [](DecodeCase& x) {
                 auto& p = x.sizes;
                 p.batch = 1, p.heads = 16, p.keyHeads = 8, p.keyDim = p.valueDim = 64;
                 p.relations = 128, p.relDim = 8, x.starts = {18};
             }),
    };
    for (const char* activation : {"relu", "sigmoid", "tanh", "gelu", "silu"})
        all.push_back(with(
            activation, [&](DecodeCase& x) { x.sizes.activation = activation, x.starts = {20}; }));
    return all;
}

/// The caches of a case and what a step is given.
template <class S>
struct Sequences {
    explicit Sequences(const DecodeCase& x)
        : x(x),
          p(x.sizes),
          keys(p.batch, x.capacity, p.keyHeads, p.keyDim, x.gap),
          symbols(p.batch, p.maxOffset < 0 ? x.capacity : 2 * p.maxOffset + 1, p.keyHeads,
                  p.valueDim, x.gap),
          relations(p.batch, x.capacity, p.relations, p.relDim, x.gap),
          wr(1, p.valueDim, p.heads, p.relations),
          q(p.batch, 1, p.heads, p.keyDim, x.gap),
          k(p.batch, 1, p.keyHeads, p.keyDim, x.gap),
          s(p.batch, 1, p.keyHeads, p.valueDim, x.gap),
          qRel(p.batch, 1, p.relations, p.relDim, x.gap),
          kRel(p.batch, 1, p.relations, p.relDim, x.gap),
          out(p.batch, 1, p.heads, p.valueDim, x.gap) {
        for (int c = 0; c < p.valueDim; ++c)
            wr.set(c, oneToken(randomTensor(1, p.valueDim, p.heads, p.relations, 9), c));
        if (p.maxOffset >= 0) {
            const auto library =
                randomTensor(p.batch, symbols.shape.tokens, p.keyHeads, p.valueDim, 10);
            for (int row = 0; row < symbols.shape.tokens; ++row)
                symbols.set(row, oneToken(library, row));
        }
        for (int position = 0; position < x.capacity; ++position)
            for (int c = 0; c < p.keyDim; ++c) {
                const double angle = position * std::pow(10000.0, -(c / 2 * 2.0) / p.keyDim);
                angles.push_back(float(c % 2 == 0 ? std::cos(angle) : std::sin(angle)));
            }
    }

    static Tensor4 oneToken(const Tensor4& from, int token) {
        Tensor4 to(from.batch, 1, from.heads, from.width);
        for (int b = 0; b < from.batch; ++b)
            for (int h = 0; h < from.heads; ++h)
                for (int c = 0; c < from.width; ++c) to.at(b, 0, h, c) = from.at(b, token, h, c);
        return to;
    }
    Tensor4 turned(Tensor4 x, int position) const {
        if (!this->x.rotary) return x;
        const auto before = x;
        for (int b = 0; b < x.batch; ++b)
            for (int h = 0; h < x.heads; ++h)
                for (int c = 0; c < x.width; c += 2) {
                    const float* angle = &angles[std::size_t(position) * x.width + c];
                    const double left = before.at(b, 0, h, c), right = before.at(b, 0, h, c + 1);
                    x.at(b, 0, h, c) = left * angle[0] - right * angle[1];
                    x.at(b, 0, h, c + 1) = left * angle[1] + right * angle[0];
                }
        return x;
    }
    /// Random rows for tokens before `past`, and the new token's.
    void fill(int past) {
        for (int token = 0; token <= past; ++token) {
            const auto in = randomInputs(oneProblem(), 100 + token);
            if (token < past) {
                keys.set(token, in.k), relations.set(token, in.kRel);
                if (p.maxOffset < 0) symbols.set(token, in.s);
            } else {
                q.set(0, in.q), k.set(0, in.k), s.set(0, in.s);
                qRel.set(0, in.qRel), kRel.set(0, in.kRel);
            }
        }
    }
    Problem oneProblem() const {
        auto one = p;
        one.queries = one.keys = 1, one.maxOffset = -1;
        return one;
    }
    /// Of the numbers as they are stored.
    Tensor4 expected(int past) {
        auto all = p;
        all.queries = 1, all.keys = past + 1, all.first = past, all.causal = true;
        all.activation = x.sizes.activation;
        auto with = [&](Buffer<S>& cache, const Tensor4& last) {
            auto rows = cache.read(past + 1);
            for (int b = 0; b < rows.batch; ++b)
                for (int h = 0; h < rows.heads; ++h)
                    for (int c = 0; c < rows.width; ++c)
                        rows.at(b, past, h, c) = number(stored<S>(last.at(b, 0, h, c)));
            return rows;
        };
        const Inputs in{
            turned(q.read(1), past), with(keys, turned(k.read(1), past)),
            p.maxOffset < 0 ? with(symbols, s.read(1)) : symbols.read(symbols.shape.tokens),
            qRel.read(1), with(relations, kRel.read(1))};
        const auto outputs = referenceForward(all, in);
        auto to = outputs.out;
        for (int b = 0; b < p.batch; ++b)
            for (int a = 0; a < p.heads; ++a)
                for (int c = 0; c < p.valueDim; ++c)
                    for (int l = 0; l < p.relations; ++l)
                        to.at(b, 0, a, c) +=
                            number(wr.at(0, c, a, l)) * outputs.related.at(b, 0, a, l);
        return to;
    }
    DecodeArgs args(DataType type) {
        const auto rel = argsOf(p, type);
        DecodeArgs a;
        a.type = type, a.batch = p.batch, a.capacity = x.capacity;
        a.heads = p.heads, a.keyHeads = p.keyHeads, a.keyDim = p.keyDim, a.valueDim = p.valueDim;
        a.relations = p.relations, a.relDim = p.relDim, a.maxOffset = p.maxOffset;
        a.activation = rel.activation, a.scale = rel.scale, a.relScale = rel.relScale;
        a.q = q.view, a.k = k.view, a.s = s.view, a.qRel = qRel.view, a.kRel = kRel.view;
        if (p.maxOffset >= 0) a.s = {};
        a.rotary = x.rotary ? angles.data() : nullptr;
        a.keyCache = keys.view, a.symbolCache = symbols.view, a.relationCache = relations.view;
        a.wr = wr.view, a.out = out.view;
        a.keysPerBlock = x.keysPerBlock;
        a.sharedLimit = type == DataType::Float64 ? 2 * x.sharedLimit : x.sharedLimit;
        return a;
    }
    /// One step in that order of threads.
    void step(DataType type, std::int64_t past, HostOrder order) {
        const HostDeviceScope scope;
        hostDevice().order = order;
        if (type == DataType::Float64) hostDevice().sharedLimit *= 2;
        auto a = args(type);
        std::vector<unsigned char> workspace(decodeWorkspaceBytes(a), 0xff);  // NaN
        a.workspace = workspace.data(), a.past = &past;
        ASSERT_EQ(launchDecode(&a, nullptr), cudaSuccess);
    }

    const DecodeCase& x;
    const Problem& p;
    Buffer<S> keys, symbols, relations, wr, q, k, s, qRel, kRel, out;
    std::vector<float> angles;
};

template <class S>
bool sameBits(const std::vector<S>& x, const std::vector<S>& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(S)) == 0;
}

class RelDecode : public testing::TestWithParam<DecodeCase> {
protected:
    template <class S>
    void expectReference(DataType type, double tolerance) {
        for (const int past : GetParam().starts) {
            Sequences<S> first(GetParam());
            first.fill(past);
            const auto expected = first.expected(past);
            first.step(type, past, HostOrder::Forward);
            const auto found = first.out.read(1);
            double most = 0.25, difference = 0;
            for (const double value : expected.values) most = std::max(most, std::abs(value));
            for (std::size_t i = 0; i < found.values.size(); ++i) {
                const double each = std::abs(found.values[i] - expected.values[i]);
                if (!(each <= difference)) difference = each;
            }
            EXPECT_LE(difference / most, tolerance) << "after " << past;
            RecordProperty("type" + std::to_string(static_cast<int>(type)),
                           std::to_string(1e6 * difference / most));
            for (const auto order : furtherOrders()) {
                Sequences<S> other(GetParam());
                other.fill(past);
                other.step(type, past, order);
                EXPECT_TRUE(sameBits(first.out.data, other.out.data)) << "after " << past;
                EXPECT_TRUE(sameBits(first.keys.data, other.keys.data)) << "after " << past;
            }
            expectAppended(first, past);
        }
    }
    // The new rows, and nothing else.
    template <class S>
    void expectAppended(Sequences<S>& found, int past) {
        Sequences<S> expected(GetParam());
        expected.fill(past);
        const auto turned = expected.turned(expected.k.read(1), past);
        expected.relations.set(past, expected.kRel.read(1));
        if (expected.p.maxOffset < 0) expected.symbols.set(past, expected.s.read(1));
        EXPECT_TRUE(sameBits(found.relations.data, expected.relations.data));
        EXPECT_TRUE(sameBits(found.symbols.data, expected.symbols.data));
        // Turned in another precision, so that a last bit may differ.
        const auto keys = found.keys.read(past + 1);
        for (int b = 0; b < keys.batch; ++b)
            for (int h = 0; h < keys.heads; ++h)
                for (int c = 0; c < keys.width; ++c) {
                    EXPECT_NEAR(keys.at(b, past, h, c), turned.at(b, 0, h, c),
                                sizeof(S) == 2 ? 0x1p-7 : 1e-6);
                    found.keys.at(b, past, h, c) = stored<S>(NAN);
                }
        EXPECT_TRUE(sameBits(found.keys.data, expected.keys.data)) << "other keys";
    }
};

TEST_P(RelDecode, AgreesWithTheReferenceInFloat32) {
    expectReference<float>(DataType::Float32, kFloat32Tolerance);
}
TEST_P(RelDecode, AgreesWithTheReferenceInFloat64) {
    expectReference<double>(DataType::Float64, kFloat64Tolerance);
}
TEST_P(RelDecode, AgreesWithTheReferenceInBFloat16) {
    expectReference<std::uint16_t>(DataType::BFloat16, kBFloat16Tolerances.out);
}

INSTANTIATE_TEST_SUITE_P(, RelDecode, testing::ValuesIn(cases()), [](const auto& info) {
    std::string name;
    for (const char c : info.param.name)
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    return name;
});

// What a step appends is what the next ones read.
TEST(RelDecodeSteps, FillACache) {
    const auto x = with("", [](DecodeCase& x) { x.rotary = true, x.sizes.keyHeads = 2; });
    Sequences<float> steps(x);
    for (int past = 0; past < x.capacity; ++past) {
        Sequences<float> all(x);
        all.fill(past);
        for (auto [to, from] : {std::pair{&steps.q, &all.q},
                                {&steps.k, &all.k},
                                {&steps.s, &all.s},
                                {&steps.qRel, &all.qRel},
                                {&steps.kRel, &all.kRel}})
            to->set(0, from->read(1));
        const auto expected = steps.expected(past);
        steps.step(DataType::Float32, past, HostOrder::Shuffled);
        const auto found = steps.out.read(1);
        for (std::size_t i = 0; i < found.values.size(); ++i)
            ASSERT_NEAR(found.values[i], expected.values[i], 2e-5) << "after " << past;
    }
}

// A captured graph may run once too often.
TEST(RelDecodeSteps, WriteNothingBeyondTheCapacity) {
    const auto x = with("", [](DecodeCase&) {});
    for (const std::int64_t past : {std::int64_t{-1}, std::int64_t{37}, std::int64_t{1} << 40}) {
        Sequences<float> full(x), untouched(x);
        full.fill(36), untouched.fill(36);
        full.step(DataType::Float32, past, HostOrder::Forward);
        for (auto [one, other] : {std::pair{&full.out, &untouched.out},
                                  {&full.keys, &untouched.keys},
                                  {&full.symbols, &untouched.symbols},
                                  {&full.relations, &untouched.relations}})
            EXPECT_TRUE(sameBits(one->data, other->data)) << past;
    }
}

// Halfway between two numbers: 1 + 2^-8 to 1, 1 + 3 2^-8 to 1 + 2^-6.
TEST(RelDecodeSteps, RoundToTheEvenNumber) {
    DecodeCase x;
    auto& p = x.sizes;
    p.batch = p.heads = p.keyHeads = p.keyDim = p.relations = p.relDim = 1, p.valueDim = 2;
    Sequences<std::uint16_t> one(x);
    one.fill(0);
    one.s.at(0, 0, 0, 0) = bitsOf(1.0), one.s.at(0, 0, 0, 1) = bitsOf(1.0 + 0x1p-7);
    one.qRel.at(0, 0, 0, 0) = bitsOf(0x1p-8), one.kRel.at(0, 0, 0, 0) = bitsOf(1.0);
    for (int c = 0; c < 2; ++c) one.wr.at(0, c, 0, 0) = bitsOf(1.0);
    one.step(DataType::BFloat16, 0, HostOrder::Forward);
    EXPECT_EQ(number(one.out.at(0, 0, 0, 0)), 1.0);
    EXPECT_EQ(number(one.out.at(0, 0, 0, 1)), 1.0 + 0x1p-6);
}

TEST(RelDecodeLaunch, FitsTwoBlocksOfPublishedModels) {
    DecodeArgs args;
    args.type = DataType::BFloat16, args.batch = 1, args.capacity = 1024;
    args.heads = 8, args.keyHeads = 4, args.keyDim = args.valueDim = 64;
    args.relations = 64, args.relDim = 8;
    args.sharedLimit = kH100;
    EXPECT_GT(decodeSharedBytes(args), 48u * 1024);
    EXPECT_LE(decodeSharedBytes(args), kH100 / 2);
    EXPECT_EQ(decodeWorkspaceBytes(args), 64u * 8 * (2 + 64 + 64) * 4) << "16 keys a block";
    args.batch = 16;
    EXPECT_EQ(decodeWorkspaceBytes(args), 16u * 16 * 8 * (2 + 64 + 64) * 4) << "64 keys a block";
    args.heads = 16, args.keyHeads = 8, args.relations = 128, args.sharedLimit = kConsumer;
    EXPECT_GT(decodeSharedBytes(args), 0u);
    EXPECT_LE(decodeSharedBytes(args), kConsumer);
    args.keyDim = 4096;
    EXPECT_EQ(decodeSharedBytes(args), 0u);
}

TEST(RelDecodeLaunch, RefusesContradictions) {
    const auto expectRefused = [](const std::function<void(DecodeArgs&)>& spoil) {
        DecodeArgs args;
        args.batch = 1, args.capacity = 8, args.heads = 4, args.keyHeads = 2;
        args.keyDim = args.valueDim = 6, args.relations = 3, args.relDim = 2;
        args.sharedLimit = kH100;
        EXPECT_GT(decodeSharedBytes(args), 0u);
        spoil(args);
        EXPECT_EQ(launchDecode(&args, nullptr), cudaErrorInvalidValue);
    };
    const float angles[8] = {};
    expectRefused([](DecodeArgs& x) { x.keyHeads = 3; });
    expectRefused([](DecodeArgs& x) { x.capacity = 0; });
    expectRefused([](DecodeArgs& x) { x.relDim = 0; });
    expectRefused([](DecodeArgs& x) { x.maxOffset = -2; });
    expectRefused([](DecodeArgs& x) { x.type = DataType::Float16; });
    expectRefused([](DecodeArgs& x) { x.activation = static_cast<Activation>(6); });
    expectRefused([](DecodeArgs& x) { x.keysPerBlock = -16; });
    expectRefused([](DecodeArgs& x) { x.sharedLimit = 1000; });
    expectRefused([&](DecodeArgs& x) { x.keyDim = 5, x.rotary = angles; });
}

}  // namespace
}  // namespace relascope::core::kernels
