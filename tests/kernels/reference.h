// SPDX-License-Identifier: GPL-3.0-or-later
// Relational attention written plainly, in double precision with whole matrices: what the kernels
// are compared with. Shares no code with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relascope::core::kernels {

/// A tensor [batch, tokens, heads, width], row-major.
struct Tensor4 {
    Tensor4() = default;
    Tensor4(int batch, int tokens, int heads, int width)
        : batch(batch), tokens(tokens), heads(heads), width(width) {
        values.resize(std::size_t(batch) * tokens * heads * width);
    }
    double& at(int b, int t, int h, int c) {
        return values[((std::size_t(b) * tokens + t) * heads + h) * width + c];
    }
    double at(int b, int t, int h, int c) const {
        return const_cast<Tensor4*>(this)->at(b, t, h, c);
    }
    int batch = 0, tokens = 0, heads = 0, width = 0;
    std::vector<double> values;
};

struct Problem {
    std::string name = "plain";
    int batch = 2, queries = 21, keys = 21, heads = 4, keyHeads = 4;
    int keyDim = 5, valueDim = 6, relations = 7, relDim = 3;
    int first = 0;
    bool causal = false;
    int maxOffset = -1;  ///< of decoding: relative symbols
    std::string activation = "identity";
    unsigned dropThreshold = 0;
    std::uint64_t seed = 0x123456789abcdef1u, offset = 0x500000008u;
    bool strided = false;  ///< rows with gaps, some heads first

    double scale() const;
    double relScale() const;
    int symbols() const { return maxOffset < 0 ? keys : 2 * maxOffset + 1; }
};

struct Inputs {
    Tensor4 q, k, s, qRel, kRel;
};
struct Outputs {
    Tensor4 out, related, lse;  ///< lse [batch, queries, heads, 1]
};

/// Uniform numbers in (-1, 1), the same for every call with that seed.
Tensor4 randomTensor(int batch, int tokens, int heads, int width, std::uint64_t seed);
Inputs randomInputs(const Problem& problem, std::uint64_t seed);

double referenceActivation(const std::string& name, double u);
/// The factors of the weights [batch, head, query, key], by dropout.
std::vector<double> referenceMask(const Problem& problem);
Outputs referenceForward(const Problem& problem, const Inputs& in);
/// The gradients of sum(dOut out) + sum(dRelated related).
Inputs referenceBackward(const Problem& problem, const Inputs& in, const Tensor4& dOut,
                         const Tensor4& dRelated);
/// Philox4x32-10: the four words of a counter, low word first.
std::vector<std::uint32_t> referencePhilox(std::vector<std::uint32_t> counter,
                                           std::vector<std::uint32_t> key);

}  // namespace relascope::core::kernels
