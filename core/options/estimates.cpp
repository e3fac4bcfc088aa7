// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/estimates.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "files/memory.h"
#include "model/architecture.h"
#include "options/kept_steps.h"
#include "types/data_kind.h"

namespace relascope::core {

std::int64_t parameterCount(const ModelOptions& m) {
    return countParameters(m).total;
}

namespace {

// Tokens of one training example.
double exampleTokens(const RunOptions& o) {
    if (o.data.isText()) return static_cast<double>(o.data.context);
    if (const auto* pairs = o.model.find<PairInput>())
        return static_cast<double>(pairs->in_block_size + pairs->out_block_size);
    return static_cast<double>(o.model.tokens());
}

// Up to this many objects attention keeps whole matrices, above it blocks of rows (attention.h).
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
    const auto work = o.model.info().work(o.model);
    const double n = exampleTokens(o), batch = static_cast<double>(o.train.batch_size),
                 tokens = batch * n, d = static_cast<double>(work.d_model),
                 layers = static_cast<double>(work.layers);
    const bool whole = n < kWholeMatrices || work.keepsMatrices;
    // Rows of every object, kept for the backward pass: norms, projections, residuals,
    // feed-forward.
    double block = tokens * (16.0 * d + 4.0 * static_cast<double>(work.dff));
    block += 2.0 * tokens * static_cast<double>(work.symbolScores);
    if (whole)
        block +=
            tokens * n *
            (4.0 * static_cast<double>(work.heads) + 2.0 * static_cast<double>(work.relations));
    double activations = layers * block;
    if (o.train.activation_checkpointing) activations = layers * tokens * d + block;
    // Scores of a vocabulary, their softmax and their gradient.
    activations += tokens * static_cast<double>(3 * work.vocabulary + work.tokenNumbers);
    // Weights, gradients and the two moments of Adam; autocast keeps a copy of half the width.
    const double copies = o.train.precision == "bfloat16" ? 4.5 : 4.0;
    return static_cast<std::uint64_t>(
        4.0 * (copies * static_cast<double>(parameterCount(o.model)) + activations));
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

std::int64_t fittingBatch(const RunOptions& o, std::uint64_t free) {
    auto smaller = o;
    const auto fits = [&](std::int64_t batch) {
        smaller.train.batch_size = batch;
        return free == 0 || trainingBytes(smaller) <= free / 10 * 9;
    };
    std::int64_t power = 1;
    while (power <= o.train.batch_size / 4) power *= 2;
    for (; power >= 1; power /= 2)
        for (const std::int64_t batch : {power / 2 * 3, power})
            if (batch >= 1 && batch <= o.train.batch_size / 2 && fits(batch)) return batch;
    return 0;
}

namespace {

// Examples of one epoch; 1 if known only after reading the files.
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

std::string keptWeightsText(const RunOptions& o) {
    if (o.train.keep_mib == 0) return "none";
    return keptPlanText(planKeptWeights(parameterCount(o.model), totalSteps(o),
                                        static_cast<std::uint64_t>(o.train.keep_mib) << 20));
}

double trainingFlops(const RunOptions& o) {
    const auto work = o.model.info().work(o.model);
    const double attention =
        4.0 * static_cast<double>(work.layers * work.d_model) * exampleTokens(o);
    return 3.0 * tokensPerStep(o) *
           (2.0 * static_cast<double>(parameterCount(o.model)) + attention);
}

}  // namespace relascope::core
