// SPDX-License-Identifier: GPL-3.0-or-later
// Sums the gradients of all ranks, while the backward pass still computes gradients of earlier
// layers.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "ranks/rank_group.h"

namespace relascope::core {

/// The gradients are views of flat buckets, filled from the last parameter to the first, since a
/// backward pass arrives in that order; a bucket whose gradients have all arrived is summed at
/// once. A parameter may arrive several times in one pass (activation checkpointing runs a backward
/// pass within another, and blocks may share parameters) or never: the first step starts no bucket
/// early and counts, and all parameters that did not arrive exactly once come into a last bucket,
/// which finish() starts.
class GradientBuckets {
public:
    struct Sizes {
        std::int64_t first, others;  ///< bytes of the first bucket and of the others
    };
    static Sizes usualSizes(const torch::Device& device);

    /// All ranks must have parameters of the same shapes, float32, on one device. The parameters
    /// must outlive this object.
    GradientBuckets(std::vector<torch::Tensor> parameters, RankGroup& ranks, const Sizes& sizes);
    ~GradientBuckets();
    GradientBuckets(const GradientBuckets&) = delete;
    GradientBuckets& operator=(const GradientBuckets&) = delete;

    /// Call before the backward passes of a step: every gradient becomes zeros, in its bucket.
    void zero();
    /// Call before each backward pass. Gradients that arrive in the last one are complete and are
    /// summed at once, so no other exchange may follow until finish().
    void beginPass(bool last);
    /// Call after the last backward pass, also if this rank had none: every gradient becomes the
    /// sum over all ranks; a gradient that arrived on no rank is undefined. Throws RankLost, or
    /// Error if a gradient arrived after its bucket was summed.
    void finish();

    /// Whether buckets are summed during the backward pass; for measurements.
    void setOverlap(bool overlap) { m_overlap = overlap; }
    std::size_t bucketCount() const { return m_buckets.size(); }
    /// Bytes of all buckets, with their flags.
    std::int64_t bytes() const;
    /// Seconds that finish() has waited for other ranks, in all steps so far.
    double secondsWaited() const { return m_waited; }

private:
    class ArrivalHook;
    struct Bucket {
        torch::Tensor flat;
        std::vector<std::size_t> parameters;
        std::size_t missing = 0;  ///< gradients that have not arrived yet
        std::unique_ptr<Pending> sum;
    };
    void arrived(std::size_t parameter);
    /// Buckets of `early` in that order, then one of `late` with the flags.
    void layOut(const std::vector<std::size_t>& early, const std::vector<std::size_t>& late);
    void addBucket(const std::vector<std::size_t>& parameters, std::int64_t extra);
    void startReady();
    void start(Bucket& bucket);
    /// Lays the buckets out by the arrivals of the first step.
    void planByArrivals();

    std::vector<torch::Tensor> m_parameters;
    RankGroup& m_ranks;
    Sizes m_sizes;
    std::vector<Bucket> m_buckets;  ///< the last one only for finish()
    std::vector<std::size_t> m_bucketOf;
    std::vector<torch::Tensor> m_views;  ///< the gradients
    torch::Tensor m_flags;  ///< at the end of the last bucket: 1 for gradients that arrived
    std::vector<std::int64_t> m_arrivals;  ///< arrivals by gradient, in the last pass of this step
    std::vector<bool> m_seen;              ///< gradients that have arrived in this step
    std::size_t m_started = 0;
    bool m_planned = false, m_expectsLast = false, m_overlap = true;
    bool m_late = false;  ///< a gradient has arrived after its bucket was summed
    double m_waited = 0.0;
};

}  // namespace relascope::core
