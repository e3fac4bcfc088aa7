// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/kept_steps.h"
#include "types/text_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace relascope::core {
namespace {

// Bytes of the values alone; headers add a few kB a step.
std::uint64_t plannedBytes(std::int64_t parameters, std::size_t steps, KeptForm form) {
    const std::uint64_t each = form == KeptForm::Float32 ? 4 : form == KeptForm::BFloat16 ? 2 : 1;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(parameters), each * steps, &bytes))
        return std::numeric_limits<std::uint64_t>::max();
    return bytes;
}

}  // namespace

const char* keptFormName(KeptForm form) {
    switch (form) {
        case KeptForm::Float32:
            break;
        case KeptForm::BFloat16:
            return "bfloat16";
        case KeptForm::Xor:
            return "xor";
        case KeptForm::External:
            return "checkpoint";
    }
    return "float32";
}

bool KeptPlan::keeps(std::int64_t step) const {
    return std::binary_search(steps.begin(), steps.end(), step);
}

std::vector<std::int64_t> keptSteps(std::int64_t totalSteps, int perDoubling) {
    std::vector<std::int64_t> steps = {0};
    for (int k = 0;; ++k) {
        const auto step = std::llround(std::exp2(static_cast<double>(k) / perDoubling));
        if (step >= totalSteps) break;
        if (step != steps.back()) steps.push_back(step);
    }
    if (totalSteps > 0) steps.push_back(totalSteps);
    return steps;
}

KeptPlan planKeptWeights(std::int64_t parameters, std::int64_t totalSteps, std::uint64_t budget) {
    constexpr std::pair<int, KeptForm> finest[] = {{8, KeptForm::Float32},
                                                   {8, KeptForm::BFloat16},
                                                   {8, KeptForm::Xor},
                                                   {4, KeptForm::Xor},
                                                   {2, KeptForm::Xor}};
    KeptPlan plan;
    for (const auto& [perDoubling, form] : finest) {
        plan.steps = keptSteps(totalSteps, perDoubling);
        plan.form = form;
        plan.bytes = plannedBytes(parameters, plan.steps.size(), form);
        if (plan.bytes <= budget) return plan;
    }
    plan.steps.clear();
    return plan;
}

std::string keptPlanText(const KeptPlan& plan) {
    constexpr std::uint64_t mebibyte = 1u << 20;
    const std::string size = groupedNumber(static_cast<std::int64_t>(
                                 plan.bytes / mebibyte + (plan.bytes % mebibyte != 0))) +
                             " MiB";
    if (plan.steps.empty()) return "off: " + size + " would be needed";
    const char* form = plan.form == KeptForm::Float32    ? "float32"
                       : plan.form == KeptForm::BFloat16 ? "bfloat16"
                                                         : "compressed bfloat16";
    return std::to_string(plan.steps.size()) +
           (plan.steps.size() == 1 ? " step in " : " steps in ") + form + ", " +
           (plan.form == KeptForm::Xor ? "about " : "") + size;
}

std::int64_t leastMissedStep(const std::vector<std::int64_t>& steps,
                             const std::function<bool(std::int64_t)>& mayGo) {
    std::int64_t least = -1;
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
        const double apart = std::log(static_cast<double>(steps[i + 1]) + 1.0) -
                             std::log(static_cast<double>(steps[i - 1]) + 1.0);
        if (apart >= nearest || !mayGo(steps[i])) continue;
        nearest = apart;
        least = static_cast<std::int64_t>(i);
    }
    return least;
}

}  // namespace relascope::core
