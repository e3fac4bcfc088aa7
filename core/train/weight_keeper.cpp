// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/weight_keeper.h"

#include <torch/utils.h>

#include <algorithm>

#include "checkpoint/tensor_io.h"

namespace relascope::core {
namespace {

/// Copies that wait for the disk take at most this much memory, unless there is only one.
constexpr std::uint64_t kMostWaiting = 64ull << 20;
constexpr double kMostTimeFraction = 0.02, kFreeSeconds = 0.1;  // seconds

const char* nameOf(torch::ScalarType type) {
    switch (type) {
        case torch::kFloat:
            return "F32";
        case torch::kBFloat16:
            return "BF16";
        case torch::kLong:
            return "I64";
        case torch::kInt:
            return "I32";
        case torch::kByte:
            return "U8";
        case torch::kBool:
            return "BOOL";
        default:
            throw Error("weights of an unknown type cannot be kept");
    }
}

torch::Tensor placeOf(WeightValues::Tensor& tensor) {
    return torch::from_blob(tensor.bytes.data(), tensor.shape,
                            torch::TensorOptions().dtype(*scalarType(tensor.dtype)));
}

// Each copy waits for the work queued on the device, so small tensors are joined there and copied
// together.
void copyInto(WeightValues& values, const std::vector<torch::Tensor>& sources) {
    constexpr std::size_t most = 16u << 20;
    std::vector<std::size_t> group;
    std::size_t bytes = 0;
    const auto copyGroup = [&] {
        if (group.empty()) return;
        const auto type = *scalarType(values.tensors[group[0]].dtype);
        std::vector<torch::Tensor> parts;
        parts.reserve(group.size());
        for (const auto i : group) parts.push_back(sources[i].flatten().to(type));
        const auto all = torch::cat(parts).cpu();
        const auto* from = static_cast<const std::uint8_t*>(all.const_data_ptr());
        for (const auto i : group) {
            auto& to = values.tensors[i].bytes;
            std::copy_n(from, to.size(), to.data());
            from += to.size();
        }
        group.clear();
        bytes = 0;
    };
    for (std::size_t i = 0; i < sources.size(); ++i) {
        auto& tensor = values.tensors[i];
        if (tensor.bytes.empty()) continue;
        if (sources[i].device().is_cpu() || !sources[i].is_floating_point() ||
            tensor.bytes.size() >= most) {
            placeOf(tensor).copy_(sources[i]);
            continue;
        }
        if (bytes + tensor.bytes.size() > most) copyGroup();
        group.push_back(i);
        bytes += tensor.bytes.size();
    }
    copyGroup();
}

}  // namespace

WeightKeeper::WeightKeeper(TrainJob& job) : m_job(job), m_startStep(job.state.step) {
    if (!job.leads()) return;
    dropKeptAfter(job.folder.path(), job.state.step);
    const auto parameters = parameterCount(job.options.model);
    m_budget = static_cast<std::uint64_t>(job.options.train.keep_mib) << 20;
    if (m_budget == 0) return;
    m_plan = planKeptWeights(parameters, job.totalSteps, m_budget);
    if (m_plan.steps.empty()) {
        if (job.state.step == 0)
            job.note(Note::Level::Info, "weights are not kept along training with train.keep_mib " +
                                            std::to_string(job.options.train.keep_mib) + " (" +
                                            keptPlanText(m_plan) + ")");
        return;
    }
    // A checkpoint holds the weights and two moments; one is written before the last but one goes.
    m_reserve = 2 * (12 * static_cast<std::uint64_t>(parameters) + (1u << 20));
    m_keeps = true;
    m_writer = std::thread([this] { write(); });
}

WeightKeeper::~WeightKeeper() {
    {
        const std::lock_guard lock(m_mutex);
        m_ends = true;
    }
    m_changed.notify_all();
    if (m_writer.joinable()) m_writer.join();
}

void WeightKeeper::restartClock() {
    m_startSeconds = m_job.elapsed();
    m_startStep = m_job.state.step;
}

void WeightKeeper::keep() {
    copy(false);
}

void WeightKeeper::keepLast() {
    if (m_copied != m_job.state.step) copy(true);
}

bool WeightKeeper::isTooSlow() const {
    const auto done = m_job.state.step - m_startStep;
    if (done < 1) return false;
    // The time of the whole training counts: first steps are all kept, later ones are far apart.
    const double whole = (m_job.elapsed() - m_startSeconds) *
                         static_cast<double>(m_job.totalSteps - m_startStep) /
                         static_cast<double>(done);
    return m_spent + m_lastCost > std::max(kFreeSeconds, kMostTimeFraction * whole);
}

void WeightKeeper::copy(bool always, bool marked) {
    if (!m_keeps || (m_copied == m_job.state.step && !marked)) return;
    noteProblem();
    if (!m_keeps || (!always && isTooSlow())) return;
    {
        const std::lock_guard lock(m_mutex);
        m_best = m_job.state.bestStep;
        if (!always && m_waitingBytes > kMostWaiting) return;
    }
    const auto began = Clock::now();
    try {
        Copy made{m_job.state.step, valuesNow(), 0, marked};
        made.bytes = made.values.bytes();
        push(std::move(made));
        m_copied = m_job.state.step;
    } catch (const std::exception& error) {  // too little memory for a copy
        {
            const std::lock_guard lock(m_mutex);
            m_problem = userMessage(error);
        }
        noteProblem();
    }
    m_lastCost = secondsSince(began);
    m_spent += m_lastCost;
}

WeightValues WeightKeeper::valuesNow() const {
    const torch::NoGradGuard noGrad;
    WeightValues values;
    std::vector<torch::Tensor> sources;
    const auto state = stateOf(*m_job.model);
    for (const auto& entry : state) {
        if (!entry.aliasOf.empty()) {
            values.sameAs[entry.name] = entry.aliasOf;
            continue;
        }
        const auto type = !entry.tensor.is_floating_point()  ? entry.tensor.scalar_type()
                          : m_plan.form == KeptForm::Float32 ? torch::kFloat
                                                             : torch::kBFloat16;
        WeightValues::Tensor tensor{entry.name, nameOf(type), entry.tensor.sizes().vec(), {}};
        tensor.bytes.resize(static_cast<std::size_t>(entry.tensor.numel()) *
                            torch::elementSize(type));
        values.tensors.push_back(std::move(tensor));
        sources.push_back(entry.tensor);
    }
    copyInto(values, sources);
    std::sort(values.tensors.begin(), values.tensors.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return values;
}

void WeightKeeper::push(Copy copy) {
    {
        const std::lock_guard lock(m_mutex);
        m_waitingBytes += copy.bytes;
        m_waiting.push_back(std::move(copy));
    }
    m_changed.notify_all();
}

void WeightKeeper::write() {
    try {
        const auto run = m_job.folder.path();
        KeptRing ring(run, m_budget, [this, &run](std::int64_t step) {
            const std::lock_guard lock(m_mutex);
            return step != m_best && !hasKeptCheckpoint(run, step);
        });
        std::unique_lock lock(m_mutex);
        for (;;) {
            m_changed.wait(lock, [this] { return m_ends || !m_waiting.empty(); });
            if (m_waiting.empty()) return;
            Copy next = std::move(m_waiting.front());
            lock.unlock();
            const bool added = ring.add(next.step, m_plan.form, std::move(next.values), m_reserve);
            if (added && next.marked) markKeptStep(run, next.step, true);
            lock.lock();
            m_waiting.pop_front();  // not before: finish() waits for it
            m_waitingBytes -= next.bytes;
            m_changed.notify_all();
        }
    } catch (const std::exception& error) {
        const std::lock_guard lock(m_mutex);
        m_problem = error.what();
        m_failed = true;
        m_waiting.clear();
        m_waitingBytes = 0;
    }
    m_changed.notify_all();
}

void WeightKeeper::noteProblem() {
    std::string problem;
    {
        const std::lock_guard lock(m_mutex);
        problem.swap(m_problem);
    }
    if (problem.empty()) return;
    m_keeps = false;
    m_job.note(Note::Level::Warning,
               "weights are no longer kept along training, which continues: " + problem);
}

void WeightKeeper::finish() {
    if (!m_writer.joinable()) return;
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_failed || m_waiting.empty(); });
    }
    try {
        noteProblem();
    } catch (const std::exception&) {  // the note cannot be written: the end of the run says so
    }
}

}  // namespace relascope::core
