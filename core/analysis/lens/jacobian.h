// SPDX-License-Identifier: GPL-3.0-or-later
// The Jacobian lens (models.md section 7): a stream of an early layer is carried to the last one by
// the mean derivative of the last stream by it, and read there by the output layer.
#pragma once

#include <torch/types.h>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/parts/answer_stream.h"
#include "data/dataset.h"

namespace relascope::core {

/// J of some streams: h [..., d] of a stream becomes h J^T at the last one.
struct JacobianLens {
    /// By the index of AnswerStream::points, 0 before the first layer; float32 [d, d], on the CPU.
    std::map<std::size_t, torch::Tensor> matrices;
    /// How many texts a fit read, how many tokens of each, and the CRC-32 of the weights; 0 where a
    /// file says nothing.
    std::int64_t texts = 0, tokens = 0;
    std::uint32_t weights = 0;
};

/// What is known of the model that a lens is read for.
struct JacobianSize {
    std::size_t layers = 0;
    std::int64_t width = 0;
};

/// Reads "layers.L", "J.L" or "L" for the stream after layer L, from 0, and "embedding" for that
/// before the first, of a .safetensors file or the .pt of the published lenses. The header is
/// checked before anything is allocated. Throws FileError that names the tensor, its shape and what
/// it should be.
JacobianLens readJacobians(const std::string& path, const JacobianSize& size);
/// Writes "layers.L" and "embedding" with the facts of the fit, atomically. Throws FileError, also
/// where the file exists and is no lens that was fitted here.
void writeJacobians(const JacobianLens& lens, const std::string& path);

struct JacobianFit {
    std::int64_t tokens = 64;  ///< tokens of a text that are read
    /// Number of first tokens that are left out, where attention rests on them alone; a quarter of
    /// the text at most.
    std::int64_t skipped = 16;
    std::int64_t together = 1024;  ///< tokens in one pass: copies of the text by directions
};

/// The sum of what texts give, by one backward pass for each direction of the last stream.
class JacobianSums {
public:
    JacobianSums(ModelImpl& model, const AnswerStream& stream, JacobianFit how = {})
        : m_model(model), m_stream(stream), m_how(how) {}

    /// Adds a text, tokens [1, n]. In row k of J_l stands the mean over the places p of d sum_q
    /// h_final[q, k] / d h_l[p], over the places that are not left out. `progress` gets the
    /// fraction of this text. Throws Cancelled.
    void add(const torch::Tensor& tokens, const std::stop_token& stop = {},
             const ProgressCallback& progress = {});
    std::int64_t texts() const { return m_texts; }
    /// The mean over the texts.
    JacobianLens mean() const;

private:
    ModelImpl& m_model;
    const AnswerStream& m_stream;
    JacobianFit m_how;
    std::vector<torch::Tensor> m_sums;  // float64 [d, d]
    std::int64_t m_texts = 0, m_tokens = 0;
};

}  // namespace relascope::core
