// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/estimates.h"

#include <algorithm>
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

// Up to this many objects attention keeps whole matrices, above it blocks of rows (attention.h).
constexpr double kWholeMatrices = 256;

}  // namespace

namespace {

// The memory of a training step in bytes; `parameters`: one copy of the parameters.
struct TrainingMemory {
    double parameters = 0, moments = 0, activations = 0;
    bool halves = false;  ///< autocast keeps a copy of half the width
    double total() const { return parameters * (halves ? 2.5 : 2.0) + moments + activations; }
};

TrainingMemory trainingMemory(const RunOptions& o, const Ranks& ranks) {
    const auto work = o.model.info().work(o.model);
    const double n = exampleTokens(o), batch = static_cast<double>(rankBatch(o, ranks)),
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
    const bool halves = o.train.precision == "bfloat16";
    // On the CPU products read and write bfloat16, and so the backward pass keeps it; the residual
    // stream and whole matrices are float32.
    const bool onCpu = halves && o.train.device.starts_with("cpu");
    if (onCpu) block = 0.5 * block + tokens * 2.0 * d;
    double activations = layers * block;
    if (o.train.activation_checkpointing) activations = layers * tokens * d + block;
    // Scores of a vocabulary, their softmax and their gradient; the softmax needs no tensor there.
    activations +=
        tokens * static_cast<double>((onCpu ? 1 : 3) * work.vocabulary + work.tokenNumbers);
    const double average = o.train.ema_decay > 0 ? 1.0 : 0.0;
    const double moments =
        (o.train.sharded_moments ? 2.0 / static_cast<double>(ranks.count) : 2.0) + average;
    const double parameters = 4.0 * static_cast<double>(parameterCount(o.model));
    // There a step of one batch rounds weights where they are used, and keeps no copy.
    const bool copies = halves && !(onCpu && o.train.tokens_per_step == 0);
    return {parameters, moments * parameters, 4.0 * activations, copies};
}

}  // namespace

std::uint64_t trainingBytes(const RunOptions& o, std::optional<Ranks> given) {
    return static_cast<std::uint64_t>(trainingMemory(o, given.value_or(ranksOf(o))).total());
}

std::string trainingMemoryText(const RunOptions& o, std::uint64_t free,
                               std::optional<Ranks> given) {
    const auto memory = trainingMemory(o, given.value_or(ranksOf(o)));
    const auto text = [](double bytes) { return byteText(static_cast<std::uint64_t>(bytes)); };
    return "training needs about " + text(memory.total()) + ": weights " + text(memory.parameters) +
           ", gradients " + text(memory.parameters) + ", moments of the optimizer " +
           text(memory.moments) + ", activations " + text(memory.activations) +
           (free > 0 ? "; " + byteText(free) + " are free" : "");
}

std::string memoryProblem(const RunOptions& o, std::uint64_t free, std::optional<Ranks> given) {
    const Ranks ranks = given.value_or(ranksOf(o));
    const auto all = [&](const RunOptions& options) {
        return trainingBytes(options, ranks) * static_cast<std::uint64_t>(ranks.sharing);
    };
    const auto needed = all(o);
    if (free == 0 || needed <= free) return {};
    const std::string where = ranks.sharing > 1
                                  ? " in " + std::to_string(ranks.sharing) + " processes"
                              : ranks.count > 1 ? std::string(" on each device")
                                                : std::string();
    const std::string what = "training needs about " + byteText(needed) + where + " and " +
                             byteText(free) + " are free; ";
    const auto fits = [&](const RunOptions& options) {
        return all(options) <= free && rankProblems(options, ranks.count).empty();
    };
    // Changes that cost no time come first.
    for (const bool recompute : {false, true})
        for (const bool shard : {false, true}) {
            auto smaller = o;
            std::string with;
            if (shard) {
                if (ranks.count < 2 || o.train.sharded_moments || o.train.optimizer == "muon")
                    continue;
                smaller.train.sharded_moments = true, with = "train.sharded_moments=true";
            }
            if (recompute) {
                if (o.train.activation_checkpointing) continue;
                smaller.train.activation_checkpointing = true;
                with += (with.empty() ? "" : " and ") +
                        std::string("train.activation_checkpointing=true");
            }
            for (auto& batch = smaller.train.batch_size; batch >= 1; batch /= 2) {
                if (!fits(smaller)) continue;
                std::string advice;
                if (batch != o.train.batch_size)
                    advice =
                        "train.batch_size=" + std::to_string(batch) +
                        (o.train.tokens_per_step > 0 ? " (the tokens per step do not change)" : "");
                if (!with.empty()) advice += (advice.empty() ? "" : " with ") + with;
                return what + "it fits with " + advice;
            }
        }
    return what + "choose a smaller model or a shorter context, or a machine with more memory";
}

std::int64_t fittingBatch(const RunOptions& o, std::uint64_t free, std::optional<Ranks> given) {
    const Ranks ranks = given.value_or(ranksOf(o));
    auto smaller = o;
    const auto fits = [&](std::int64_t batch) {
        smaller.train.batch_size = batch;
        return rankProblems(smaller, ranks.count).empty() &&
               (free == 0 || trainingBytes(smaller, ranks) <= free / 10 * 9);
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
