// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranks/gradient_buckets.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace relascope::core {

class GradientBuckets::ArrivalHook : public torch::autograd::PostAccumulateGradHook {
public:
    ArrivalHook(GradientBuckets& buckets, std::size_t parameter)
        : m_buckets(buckets), m_parameter(parameter) {}
    void operator()(const torch::Tensor&) override { m_buckets.arrived(m_parameter); }

private:
    GradientBuckets& m_buckets;
    std::size_t m_parameter;
};

GradientBuckets::Sizes GradientBuckets::usualSizes(const torch::Device& device) {
    constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
    // On the CPU the sum runs beside the pass on the same cores, and small ones end early.
    return device.is_cpu() ? Sizes{mebibyte, mebibyte} : Sizes{mebibyte, 25 * mebibyte};
}

GradientBuckets::GradientBuckets(std::vector<torch::Tensor> parameters, RankGroup& ranks,
                                 const Sizes& sizes)
    : m_parameters(std::move(parameters)),
      m_ranks(ranks),
      m_sizes(sizes),
      m_bucketOf(m_parameters.size()),
      m_views(m_parameters.size()),
      m_arrivals(m_parameters.size(), 0),
      m_seen(m_parameters.size(), false) {
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        torch::autograd::impl::set_post_acc_grad_hooks(m_parameters[i],
                                                       std::make_unique<ArrivalHook>(*this, i));
    std::vector<std::size_t> all(m_parameters.size());
    std::iota(all.rbegin(), all.rend(), std::size_t{0});
    layOut({}, all);
}

GradientBuckets::~GradientBuckets() {
    for (const auto& parameter : m_parameters)
        torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
}

std::int64_t GradientBuckets::bytes() const {
    std::int64_t sum = 0;
    for (const auto& bucket : m_buckets) sum += static_cast<std::int64_t>(bucket.flat.nbytes());
    return sum;
}

void GradientBuckets::addBucket(const std::vector<std::size_t>& parameters, std::int64_t extra) {
    Bucket bucket;
    bucket.parameters = parameters;
    std::int64_t numbers = extra;
    for (const auto p : parameters) numbers += m_parameters[p].numel();
    bucket.flat = torch::zeros({numbers}, m_parameters.front().options().requires_grad(false));
    std::int64_t place = 0;
    for (const auto p : parameters) {
        const auto count = m_parameters[p].numel();
        m_views[p] = bucket.flat.slice(0, place, place + count).view(m_parameters[p].sizes());
        m_bucketOf[p] = m_buckets.size();
        place += count;
    }
    if (extra > 0) m_flags = bucket.flat.slice(0, place, place + extra);
    m_buckets.push_back(std::move(bucket));
}

void GradientBuckets::layOut(const std::vector<std::size_t>& early,
                             const std::vector<std::size_t>& late) {
    // The memory of the former buckets is given back first.
    for (auto& parameter : m_parameters) parameter.mutable_grad() = torch::Tensor();
    m_views.assign(m_parameters.size(), torch::Tensor());
    m_flags = torch::Tensor();
    m_buckets.clear();
    std::vector<std::size_t> waiting;
    std::int64_t bytes = 0;
    for (const auto p : early) {
        waiting.push_back(p);
        bytes += static_cast<std::int64_t>(m_parameters[p].nbytes());
        if (bytes < (m_buckets.empty() ? m_sizes.first : m_sizes.others)) continue;
        addBucket(std::exchange(waiting, {}), 0);
        bytes = 0;
    }
    if (!waiting.empty()) addBucket(waiting, 0);
    addBucket(late, static_cast<std::int64_t>(m_parameters.size()));
}

void GradientBuckets::planByArrivals() {
    // A rank without an example in this step has seen none of them.
    std::vector<double> own(m_arrivals.begin(), m_arrivals.end());
    std::vector<double> most(own.size(), 0.0);
    for (const auto& row : m_ranks.gather(own))
        for (std::size_t i = 0; i < row.size(); ++i) most[i] = std::max(most[i], row[i]);
    std::vector<std::size_t> early, late;
    for (std::size_t i = m_parameters.size(); i-- > 0;)
        (most[i] == 1.0 ? early : late).push_back(i);
    layOut(early, late);
    m_planned = true;
}

void GradientBuckets::zero() {
    const torch::NoGradGuard noGrad;
    if (!m_planned && m_started > 0) planByArrivals();
    m_started = 0;
    m_expectsLast = m_late = false;
    std::fill(m_arrivals.begin(), m_arrivals.end(), 0);
    m_seen.assign(m_parameters.size(), false);
    for (auto& bucket : m_buckets) {
        bucket.flat.zero_();
        bucket.missing = bucket.parameters.size();
        bucket.sum.reset();
    }
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        m_parameters[i].mutable_grad() = m_views[i];
}

void GradientBuckets::beginPass(bool last) {
    m_expectsLast = last;
    for (auto& bucket : m_buckets) bucket.missing = bucket.parameters.size();
    std::fill(m_arrivals.begin(), m_arrivals.end(), 0);
}

void GradientBuckets::arrived(std::size_t parameter) {
    ++m_arrivals[parameter];
    m_seen[parameter] = true;
    auto& bucket = m_buckets[m_bucketOf[parameter]];
    if (bucket.sum) m_late = true;
    if (!m_expectsLast || !m_planned || !m_overlap) return;
    if (bucket.missing > 0) --bucket.missing;
    startReady();
}

void GradientBuckets::startReady() {
    while (m_started + 1 < m_buckets.size() && m_buckets[m_started].missing == 0)
        start(m_buckets[m_started]);
}

void GradientBuckets::start(Bucket& bucket) {
    bucket.sum = m_ranks.device().allReduce(bucket.flat);
    ++m_started;
}

void GradientBuckets::finish() {
    const torch::NoGradGuard noGrad;
    auto flags = torch::zeros({static_cast<std::int64_t>(m_parameters.size())}, torch::kFloat);
    auto* flag = flags.mutable_data_ptr<float>();
    for (std::size_t i = 0; i < m_parameters.size(); ++i) flag[i] = m_seen[i] ? 1.0F : 0.0F;
    m_flags.copy_(flags);
    while (m_started < m_buckets.size()) start(m_buckets[m_started]);
    const auto begin = std::chrono::steady_clock::now();
    for (auto& bucket : m_buckets) bucket.sum->wait();
    m_waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (m_late)
        throw Error(
            "a gradient arrived after it was summed over the ranks; this model cannot be "
            "trained on several devices, please report it");
    const auto sums = m_flags.cpu();
    const auto* arrived = sums.const_data_ptr<float>();
    for (std::size_t i = 0; i < m_parameters.size(); ++i)
        if (arrived[i] == 0.0F) m_parameters[i].mutable_grad() = torch::Tensor();
}

}  // namespace relascope::core
