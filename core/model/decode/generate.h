// SPDX-License-Identifier: GPL-3.0-or-later
// Continuing a sequence with a language model.
#pragma once

#include <torch/types.h>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "model/decode/cache.h"
#include "model/graph/device_graph.h"
#include "model/model.h"
#include "types/generate_options.h"
#include "types/model_options.h"

namespace relascope::core {

// One more token through a language model with a cache, on a GPU: recorded once and repeated as a
// graph, since a token of a small batch is hundreds of kernels that take longer to give to the
// device than to compute.

class RepeatedToken {
public:
    /// The model is on `device`, in eval mode, and outlives this; so does the cache.
    RepeatedToken(ModelImpl& model, DecodingCache& cache, const torch::Device& device);

    /// Reads a token that follows those of the cache: the logits, [1, 1, vocabulary] on the device,
    /// valid until the next call. Where the device has no graphs, or the model's attention counts
    /// the cached tokens on the host (not by cudaDecoding()), the model runs as usual.
    torch::Tensor read(std::int64_t token);

    /// Why the token is not repeated as a graph; empty while it is, or was not recorded yet.
    const std::string& problem() const { return m_problem; }

private:
    bool record();

    ModelImpl& m_model;
    DecodingCache& m_cache;
    std::unique_ptr<DeviceGraph> m_graph;
    torch::Tensor m_token, m_logits;
    int m_rehearsals = 0;
    bool m_recorded = false;
    std::string m_problem;
};

class RowDecoder;

/// The number of vocabulary rows that are tokens: vocabularies of 50304 rows of the papers' models
/// have 50257; the rest is padding and never sampled.
std::int64_t usableVocabulary(const ModelOptions& options);

/// Whether a language model can use a cache. With relations normalised over all tokens
/// (rel_activation softmax) a new token changes every earlier one.
bool canCache(const ModelOptions& options);

/// Reads a text token by token. Equal to the model's own forward pass over the last max_block_size
/// tokens: within the context with cached keys and values (performance.md 3.1), beyond it by
/// recomputing the window. The model must be in eval mode and outlive this.
class LanguageReader {
public:
    LanguageReader(ModelImpl& model, const ModelOptions& options);
    ~LanguageReader();

    /// Appends tokens (at least one in total) and returns the logits after the last one: [usable
    /// vocabulary] float32 on the CPU. Throws OptionError for ids beyond the vocabulary.
    torch::Tensor read(std::span<const std::int64_t> tokens);
    const std::vector<std::int64_t>& tokens() const { return m_tokens; }
    /// Why tokens on a GPU are not repeated as a graph; empty where they are, and on the CPU.
    std::string graphProblem() const { return m_repeated ? m_repeated->problem() : std::string(); }

private:
    ModelImpl& m_model;
    ModelOptions m_options;
    DecodingCache m_cache;
    torch::Device m_device;
    std::vector<std::int64_t> m_tokens;
    std::unique_ptr<RowDecoder> m_row;          ///< for single tokens, if it supports the model
    std::unique_ptr<RepeatedToken> m_repeated;  ///< for single tokens on a GPU
};

/// Chooses tokens from logits by temperature, top-k and top-p, with its own generator: the same
/// seed and logits give the same tokens.
class TokenSampler {
public:
    explicit TokenSampler(const GenerateOptions& options);
    /// Chooses from logits [vocabulary] float32 on the CPU. Fills in ids and probabilities, but no
    /// pieces.
    GeneratedToken sample(const torch::Tensor& logits);

private:
    GenerateOptions m_options;
    std::mt19937_64 m_random;
};

/// The prompt [b, n] int64 and `count` tokens after it, each the most likely one; beyond the
/// context, the model reads the last max_block_size tokens. Recomputes everything for each token; a
/// reference for tests.
torch::Tensor generateGreedy(ModelImpl& model, const ModelOptions& options, torch::Tensor prompt,
                             std::int64_t count);

}  // namespace relascope::core
