// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/train_step.h"

#include <numeric>

#include "model/graph/device_graph.h"
#include "train/evaluate.h"
#include "train/nonfinite.h"

namespace relascope::core {
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
    : m_job(job), m_ahead(!job.device.is_cpu()), m_ignore(job.options.model.ignoredTarget()) {
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

torch::Tensor TrainStep::forward(const Batch& batch) {
    const auto input = inputOf(batch, m_job.device);
    auto* edits = m_job.edits.get();
    if (edits) {
        // Its own scope: autocast would keep weights of a pass without gradients for the next.
        const AutocastScope autocast(m_job.bfloat16());
        edits->prepareStep(input);
    }
    const AutocastScope autocast(m_job.bfloat16());
    const HookScope hooks(edits ? &edits->editor() : nullptr);
    return m_job.model->forward(input).to(torch::kFloat);
}

void TrainStep::forgetRecording() {
    m_graph.reset(), m_inputs.reset();
    m_rehearsals = 0;
    m_recorded = false;
}

void TrainStep::run(const std::vector<Batch>& batches, double rate) {
    m_job.model->train();
    m_ahead ? runAhead(batches, rate) : runOnHost(batches, rate);
    m_whole = true;
}

void TrainStep::runOnHost(const std::vector<Batch>& batches, double rate) {
    auto& optimizer = *m_job.optimizer;
    optimizer.zeroGradients();
    const auto answers = answersOf(batches, m_ignore);
    const auto all = std::accumulate(answers.begin(), answers.end(), std::int64_t{0});
    MetricAccumulator metrics(m_job.options.model.outputs(), m_ignore);
    StepFigures figures;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        throwIfCancelled();
        const auto scores = forward(batches[i]);
        const double weight =
            static_cast<double>(answers[i]) / static_cast<double>(std::max<std::int64_t>(1, all));
        const auto mean = lossOf(scores, batches[i], m_ignore);
        (batches.size() == 1 ? mean : mean * weight).backward();
        figures.loss += weight * mean.item<double>();
        metrics.add(scores, batches[i]);
    }
    figures.accuracy = metrics.accuracy();
    figures.norm = optimizer.clipGradNorm();
    m_known.push_back(figures);
    if (!figures.finite()) return;
    m_whole = false;
    optimizer.step(rate);
}

void TrainStep::computeGradients(const std::vector<Batch>& batches) {
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
