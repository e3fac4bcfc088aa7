#include "options/estimates.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "files/memory.h"
#include "model/shapes.h"
#include "types/data_kind.h"

namespace relascope {

std::int64_t parameterCount(const ModelOptions& m) {
    return countParameters(m).total;
}

namespace {

// Tokens of one training example.
double exampleTokens(const RunOptions& o) {
    if (o.data.isText()) return static_cast<double>(o.data.context);
    if (o.model.input() == InputKind::Pairs)
        return static_cast<double>(o.model.in_block_size + o.model.out_block_size);
    return static_cast<double>(o.model.tokens());
}

// Below this many objects attention keeps whole matrices; above it blocks of rows (attention.h).
constexpr double kWholeMatrices = 256;

}  // namespace

std::int64_t stepBatches(const RunOptions& o) {
    if (o.train.tokens_per_step <= 0) return 1;
    const auto batch = static_cast<double>(o.train.batch_size) * exampleTokens(o);
    return std::max<std::int64_t>(
        1,
        static_cast<std::int64_t>(std::ceil(static_cast<double>(o.train.tokens_per_step) / batch)));
}

double tokensPerStep(const RunOptions& o) {
    return static_cast<double>(stepBatches(o) * o.train.batch_size) * exampleTokens(o);
}

std::uint64_t trainingBytes(const RunOptions& o) {
    const auto& m = o.model;
    const double n = exampleTokens(o), batch = static_cast<double>(o.train.batch_size),
                 tokens = batch * n, d = static_cast<double>(m.d_model),
                 layers = static_cast<double>(
                     m.input() == InputKind::Pairs ? m.n_layers_enc + m.n_layers_dec : m.n_layers);
    const double dff = static_cast<double>(m.dff > 0 ? m.dff : 4 * m.d_model);
    const double relations = static_cast<double>(m.isDual() ? m.relations() : 0);
    const bool whole = n < kWholeMatrices || (m.isDual() && m.dropout_rate > 0);
    // Rows of every object, kept for the backward pass: norms, projections, residuals,
    // feed-forward.
    double block = tokens * (16.0 * d + 4.0 * dff);
    if (m.isDual() && m.symbol_retrieval == "symbolic_attention")
        block += 2.0 * tokens * static_cast<double>(m.symbol_heads * m.n_symbols);
    if (whole) block += tokens * n * (4.0 * static_cast<double>(m.heads()) + 2.0 * relations);
    double activations = layers * block;
    if (o.train.activation_checkpointing) activations = layers * tokens * d + block;
    // Scores of a vocabulary, their softmax and their gradient.
    if (m.input() == InputKind::Tokens)
        activations += 3.0 * tokens * static_cast<double>(m.vocab_size);
    else if (m.input() == InputKind::Images)
        activations += tokens * static_cast<double>(m.patchDim());
    else
        activations += tokens * static_cast<double>(m.object_dim + m.outputs());
    return static_cast<std::uint64_t>(4.0 *
                                      (4.0 * static_cast<double>(parameterCount(m)) + activations));
}

std::string memoryProblem(const RunOptions& o, std::uint64_t free) {
    const auto needed = trainingBytes(o);
    if (free == 0 || needed <= free) return {};
    const std::string what =
        "training needs about " + byteText(needed) + " and " + byteText(free) + " are free; ";
    for (const bool recompute : {o.train.activation_checkpointing, true}) {
        auto smaller = o;
        smaller.train.activation_checkpointing = recompute;
        for (auto& batch = smaller.train.batch_size; batch >= 1; batch /= 2)
            if (trainingBytes(smaller) <= free) {
                std::string advice;
                if (batch != o.train.batch_size)
                    advice =
                        "train.batch_size=" + std::to_string(batch) +
                        (o.train.tokens_per_step > 0 ? " (the tokens per step do not change)" : "");
                if (recompute && !o.train.activation_checkpointing)
                    advice += (advice.empty() ? "" : " with ") +
                              std::string("train.activation_checkpointing=true");
                return what + "it fits with " + advice;
            }
    }
    return what + "choose a smaller model or a shorter context, or a machine with more memory";
}

namespace {

// Examples of one epoch; 1 where only the files tell.
std::int64_t epochExamples(const DataOptions& d) {
    if (d.train_size > 0) return d.train_size;
    const auto& kind = dataKind(d.kind);
    return std::max<std::int64_t>(1, kind.allExamples ? kind.allExamples(d) : 0);
}

}  // namespace

std::int64_t stepsPerEpoch(const RunOptions& o) {
    const std::int64_t examples = epochExamples(o.data);
    const std::int64_t batches = (examples + o.train.batch_size - 1) / o.train.batch_size;
    return std::max<std::int64_t>(1, (batches + stepBatches(o) - 1) / stepBatches(o));
}

std::int64_t totalSteps(const RunOptions& o) {
    return o.train.steps > 0 ? o.train.steps : o.train.epochs * stepsPerEpoch(o);
}

double trainingFlops(const RunOptions& o) {
    const auto& m = o.model;
    const double tokens = tokensPerStep(o);
    const double attention = 4.0 * static_cast<double>(m.n_layers * m.d_model) * exampleTokens(o);
    return 3.0 * tokens * (2.0 * static_cast<double>(parameterCount(m)) + attention);
}

}  // namespace relascope
