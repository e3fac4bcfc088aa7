// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/step_inputs.h"

#include <c10/core/impl/VirtualGuardImpl.h>

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

}  // namespace relascope::core
