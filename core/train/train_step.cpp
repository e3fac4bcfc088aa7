// SPDX-License-Identifier: GPL-3.0-or-later
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/utils.h>
#include <numeric>

#include "evaluate/evaluate.h"
#include "model/blocks/bfloat16.h"
#include "model/graph/device_graph.h"
#include "train/nonfinite.h"
#include "train/rank_job.h"
#include "train/train_step.h"

namespace relascope::core {
namespace {

constexpr std::size_t kStagings = 2;

constexpr std::array kTensors = {&Batch::inputs, &Batch::targets, &Batch::targetIn, &Batch::mixed};

}  // namespace

StepInputs::StepInputs(const std::vector<Batch>& like, const torch::Device& device)
    : m_device(device) {
    for (std::size_t i = 0; i < kStagings; ++i)
        m_staging.push_back({{}, c10::Event(device.type())});
    for (const auto& batch : like) {
        Batch there = batch;
        for (const auto member : kTensors) {
            const auto& tensor = batch.*member;
            if (!tensor.defined()) continue;
            there.*member = torch::empty(tensor.sizes(), tensor.options().device(device));
        }
        m_batches.push_back(std::move(there));
        m_weights.push_back(torch::ones({}, torch::TensorOptions(torch::kFloat).device(device)));
    }
    m_answers = torch::ones({}, torch::TensorOptions(torch::kDouble).device(device));
}

bool StepInputs::fits(const std::vector<Batch>& batches) const {
    if (batches.size() != m_batches.size()) return false;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        if (batches[i].kind != m_batches[i].kind) return false;
        for (const auto member : kTensors) {
            const auto &given = batches[i].*member, &own = m_batches[i].*member;
            if (given.defined() != own.defined()) return false;
            if (given.defined() && (given.sizes() != own.sizes() || given.dtype() != own.dtype()))
                return false;
        }
    }
    return true;
}

void StepInputs::fill(const std::vector<Batch>& batches, const std::vector<std::int64_t>& answers) {
    auto& staging = m_staging[m_next];
    m_next = (m_next + 1) % kStagings;
    staging.copied.synchronize();  // its memory may still be read
    std::int64_t all = 0;
    for (const auto count : answers) all += count;
    std::size_t place = 0;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        for (const auto member : kTensors) {
            const auto& tensor = batches[i].*member;
            if (!tensor.defined()) continue;
            if (place == staging.tensors.size())
                staging.tensors.push_back(
                    torch::empty(tensor.sizes(), tensor.options().pinned_memory(true)));
            const auto& pinned = staging.tensors[place++].copy_(tensor);
            (m_batches[i].*member).copy_(pinned, /*non_blocking=*/true);
        }
        m_weights[i].fill_(static_cast<double>(answers[i]) /
                           static_cast<double>(std::max<std::int64_t>(1, all)));
    }
    m_answers.fill_(static_cast<double>(std::max<std::int64_t>(1, all)));
    staging.copied.record(c10::impl::VirtualGuardImpl(m_device.type()).getStream(m_device));
}

namespace {

/// Steps before one is recorded: libraries choose algorithms and set up memory in the first ones.
constexpr int kRehearsals = 3;

std::vector<std::int64_t> answersOf(const std::vector<Batch>& batches, std::int64_t ignore) {
    std::vector<std::int64_t> counts;
    counts.reserve(batches.size());
    for (const auto& batch : batches) counts.push_back(answersIn(batch, ignore));
    return counts;
}

}  // namespace

TrainStep::TrainStep(TrainJob& job)
    : m_job(job),
      m_ahead(!job.device.is_cpu() && !job.ranks),
      m_ignore(job.options.model.ignoredTarget()) {
    if (job.ranks && !job.optimizer->parameters().empty())
        m_buckets = std::make_unique<GradientBuckets>(job.optimizer->parameters(), *job.ranks,
                                                      GradientBuckets::usualSizes(job.device));
    if (!m_ahead) return;
    const auto there = torch::TensorOptions().device(job.device);
    m_rate = torch::zeros({}, there.dtype(torch::kFloat));
    m_failed = torch::zeros({}, there.dtype(torch::kFloat));
    m_figures = torch::zeros({kMostAhead, 3}, there.dtype(torch::kDouble));
    m_slot = torch::zeros({}, there.dtype(torch::kLong));
    m_slots = torch::arange(kMostAhead, there.dtype(torch::kLong)).unsqueeze(1);
}

void TrainStep::throwIfCancelled() const {
    if (m_job.stop.stop_requested()) throw Cancelled();
}

torch::Tensor TrainStep::forward(const Batch& batch, const Batch* whole, std::int64_t first) {
    const auto input = inputOf(batch, m_job.device);
    auto* edits = m_job.edits.get();
    if (edits) {
        // A scope of its own: weights that this pass casts without gradients must not serve the
        // next pass.
        const AutocastScope autocast(m_job.bfloat16(), m_job.device.type());
        edits->prepareStep(input, whole ? inputOf(*whole, m_job.device) : input, first);
    }
    const AutocastScope autocast(m_job.bfloat16(), m_job.device.type());
    const HookScope hooks(edits ? &edits->editor() : nullptr);
    return widenedScores(m_job.model->forward(input));
}

void TrainStep::forgetRecording() {
    m_graph.reset(), m_inputs.reset();
    m_rehearsals = 0;
    m_recorded = false;
}

void TrainStep::run(const std::vector<Batch>& batches, double rate) {
    m_job.model->train();
    const RoundedWeightsScope roundedOnce(batches.size() > 1);
    if (m_ahead)
        runAhead(batches, rate);
    else
        m_job.ranks ? runOnRanks(batches, rate) : runOnHost(batches, rate);
    m_whole = true;
}

void TrainStep::runOnHost(const std::vector<Batch>& batches, double rate) {
    auto& optimizer = *m_job.optimizer;
    const Optimizer::TrainedWeights trained(optimizer);
    optimizer.zeroGradients();
    const auto answers = answersOf(batches, m_ignore);
    const auto all = std::accumulate(answers.begin(), answers.end(), std::int64_t{0});
    MetricAccumulator metrics(m_job.options.model.outputs(), m_ignore);
    StepFigures figures;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        throwIfCancelled();
        auto scores = forward(batches[i]);
        const double weight =
            static_cast<double>(answers[i]) / static_cast<double>(std::max<std::int64_t>(1, all));
        const auto mean = lossOf(scores, batches[i], m_ignore);
        metrics.add(scores, batches[i]);
        scores.reset();  // the loss gives them up when it has read them
        (batches.size() == 1 ? mean : mean * weight).backward();
        figures.loss += weight * mean.item<double>();
    }
    figures.accuracy = metrics.accuracy();
    figures.norm = optimizer.clipGradNorm();
    m_known.push_back(figures);
    if (!figures.finite()) return;
    m_whole = false;
    optimizer.step(rate);
}

void TrainStep::passOnRank(const Batch& whole, const Batch& part, std::int64_t first, double weight,
                           double& loss, double& right) {
    const auto scores = forward(part, &whole, first);
    const auto mean = lossOf(scores, part, m_ignore);
    (mean * weight).backward();
    loss += weight * mean.item<double>();
    // After the backward pass: a GPU would wait for the copy before it could begin that.
    const torch::NoGradGuard noGrad;
    right += rightAnswers(scores.cpu(), part, m_ignore).item<double>();
}

void TrainStep::runOnRanks(const std::vector<Batch>& batches, double rate) {
    auto& ranks = *m_job.ranks;
    auto& optimizer = *m_job.optimizer;
    const Optimizer::TrainedWeights trained(optimizer);
    seedRank(m_job);
    m_buckets->zero();
    const auto answers = answersOf(batches, m_ignore);
    const auto all = static_cast<double>(std::max<std::int64_t>(
        1, std::accumulate(answers.begin(), answers.end(), std::int64_t{0})));
    double loss = 0.0, right = 0.0;
    const int size = ranks.size(), rank = ranks.rank();
    if (batches.size() == 1) {
        const auto share = shareOf(batches[0].size(), rank, size);
        const auto part = slicedBatch(batches[0], share);
        if (const auto own = share.last > share.first ? answersIn(part, m_ignore) : 0; own > 0) {
            m_buckets->beginPass(true);
            passOnRank(batches[0], part, share.first, static_cast<double>(own) / all, loss, right);
        }
    } else {
        const auto count = static_cast<int>(batches.size());
        for (int first = 0; first < count; first += size) {
            // Whole steps of large models take long.
            if (m_job.onAnyRank(m_job.stop.stop_requested())) throw Cancelled();
            const auto i = static_cast<std::size_t>(first + rank);
            if (i >= batches.size() || answers[i] == 0) continue;
            // The last pass is in the last round of all, after which ranks ask nothing else.
            m_buckets->beginPass(first + size >= count);
            passOnRank(batches[i], batches[i], 0, static_cast<double>(answers[i]) / all, loss,
                       right);
        }
    }
    m_buckets->finish();
    // One exchange for all that the ranks must know of each other before the weights change.
    constexpr std::int64_t checksumEvery = 100;
    const auto directives = m_job.directivesNow ? m_job.directivesNow() : TrainJob::Directives{};
    std::vector<double> own = {loss, right, directives.serve ? 1.0 : 0.0,
                               directives.stop ? 1.0 : 0.0, directives.sinceCheckpoint};
    const auto known = own.size();
    if (m_job.state.step % checksumEvery == 0)
        for (const auto part : weightsChecksum(m_job)) own.push_back(part);
    const auto rows = ranks.gather(own);
    requireEqualChecksums(m_job, rows, known);
    m_job.directives = {rows[0][2] != 0.0, rows[0][3] != 0.0, rows[0][4]};
    StepFigures figures;
    double sum = 0.0;
    for (const auto& row : rows) figures.loss += row[0], sum += row[1];
    figures.accuracy = sum / all;
    figures.norm = optimizer.clipGradNorm();
    m_known.push_back(figures);
    if (!figures.finite()) return;
    m_whole = false;
    optimizer.step(rate);
}

void TrainStep::computeGradients(const std::vector<Batch>& batches) {
    const Optimizer::TrainedWeights trained(*m_job.optimizer);
    const RoundedWeightsScope roundedOnce(batches.size() > 1);
    m_job.optimizer->zeroGradients();
    const auto answers = answersOf(batches, m_ignore);
    for (std::size_t i = 0; i < batches.size(); ++i)
        (lossOf(forward(batches[i]), batches[i], m_ignore) * static_cast<double>(answers[i]))
            .backward();
}

void TrainStep::runAhead(const std::vector<Batch>& batches, double rate) {
    throwIfCancelled();
    m_rate.fill_(rate);
    if (!runRecorded(batches)) {
        StepInputs inputs(batches, m_job.device);
        inputs.fill(batches, answersOf(batches, m_ignore));
        compute(inputs);
    }
    ++m_started;
}

bool TrainStep::runRecorded(const std::vector<Batch>& batches) {
    // Edits copy their places and numbers from the host, which a recorded step cannot repeat.
    if (!m_records || m_job.edits) return false;
    const auto& options = m_job.options.train;
    if (!m_inputs) {
        // The usual step: not the last batches of an epoch, which may be fewer and smaller.
        const auto usual = std::min(options.batch_size, m_job.data.train->size());
        const bool whole = static_cast<std::int64_t>(batches.size()) == m_job.batchesPerStep() &&
                           std::all_of(batches.begin(), batches.end(),
                                       [&](const Batch& batch) { return batch.size() == usual; });
        if (!whole) return false;
        m_graph = makeDeviceGraph(m_job.device);
        m_records = m_graph != nullptr;
        if (!m_records) return false;
        m_inputs = std::make_unique<StepInputs>(batches, m_job.device);
    }
    if (!m_inputs->fits(batches)) return false;
    m_inputs->fill(batches, answersOf(batches, m_ignore));
    const auto work = [this] { compute(*m_inputs); };
    if (m_rehearsals < kRehearsals) {
        m_graph->rehearse(work);
        ++m_rehearsals;
        return true;
    }
    if (!m_recorded) {
        std::string problem;
        const auto generator = saveGenerator(m_job.device);
        try {
            m_graph->record(work);
            m_recorded = true;
        } catch (const std::exception& error) {
            problem = userMessage(error);
        }
        if (!m_recorded) {
            restoreGenerator(m_job.device, generator);
            m_job.optimizer->zeroGradients();
            m_graph.reset(), m_inputs.reset(), m_records = false;
            m_job.note(Note::Level::Info,
                       "steps are not repeated as a CUDA graph, which would be faster: " + problem);
            return false;
        }
    }
    m_whole = false;
    m_graph->replay();
    return true;
}

void TrainStep::compute(const StepInputs& inputs) {
    auto& optimizer = *m_job.optimizer;
    const Optimizer::TrainedWeights trained(optimizer);
    optimizer.zeroGradients();
    const auto& batches = inputs.batches();
    torch::Tensor loss, right;
    const auto add = [](torch::Tensor& sum, const torch::Tensor& part) {
        sum = sum.defined() ? sum + part : part;
    };
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const auto scores = forward(batches[i]);
        const auto mean = lossOf(scores, batches[i], m_ignore);
        (batches.size() == 1 ? mean : mean * inputs.weights()[i]).backward();
        const torch::NoGradGuard noGrad;
        add(loss, mean.detach().to(torch::kDouble) * inputs.weights()[i]);
        add(right, rightAnswers(scores, batches[i], m_ignore));
    }
    const torch::NoGradGuard noGrad;
    const auto norm = optimizer.gradientNorm();
    const auto finite = torch::isfinite(loss).logical_and(torch::isfinite(norm));
    m_failed.copy_(torch::maximum(m_failed, finite.logical_not().to(torch::kFloat)));
    m_whole = false;
    optimizer.step(m_rate, norm, m_failed);
    const auto row = torch::stack({loss, right / inputs.answers(), norm.to(torch::kDouble)});
    m_figures.copy_(torch::where(m_slots.eq(m_slot), row, m_figures));
    m_slot.add_(1);
}

std::vector<StepFigures> TrainStep::take() {
    if (!m_ahead) return std::exchange(m_known, {});
    std::vector<StepFigures> all;
    if (m_started == 0) return all;
    const auto figures = m_figures.cpu();
    const auto rows = figures.accessor<double, 2>();
    for (std::int64_t i = 0; i < m_started; ++i)
        all.push_back({rows[i][0], rows[i][1], rows[i][2]});
    m_slot.zero_();
    m_started = 0;
    return all;
}

}  // namespace relascope::core
