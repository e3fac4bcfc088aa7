// SPDX-License-Identifier: GPL-3.0-or-later
// What a fitted relation holds of the stream, and what a model answers without it, beside random
// subspaces that hold as much (interventions.md section 18).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/fitted/fit.h"
#include "interventions/projection.h"

namespace relascope::core {

/// The share of the stream's variance in a subspace with this orthonormal basis [d, k].
double shareOfVariance(const torch::Tensor& covariance, const torch::Tensor& basis);

/// Random subspaces that hold a given share of the variance: normal numbers in the stream's
/// principal axes, each times its variance to the power beta / 2, with beta such that the share
/// agrees, as far as any beta from -8 to 16 reaches it.
class RandomSubspaces {
public:
    explicit RandomSubspaces(const torch::Tensor& covariance);
    /// [d, dimensions], orthonormal columns.
    torch::Tensor draw(std::int64_t dimensions, double share, std::uint64_t seed) const;

private:
    torch::Tensor m_variance, m_axes;  // [d] of the largest, [d, d]
};

/// Takes a subspace out at one point of a pass.
class ProjectOut : public Hooks {
public:
    ProjectOut(std::string point, StreamProjection projection)
        : m_point(std::move(point)), m_projection(std::move(projection)) {}

    bool takes(std::string_view prefix) const override { return m_point.starts_with(prefix); }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        return point.name == m_point ? m_projection.out(value, point, point.first) : value;
    }

private:
    std::string m_point;
    StreamProjection m_projection;
};

/// The squared correlation of numbers of pairs, both less the mean of their stratum; over those
/// that are finite.
double squaredCorrelation(const std::vector<double>& a, const std::vector<double>& b,
                          const std::vector<std::int32_t>& stratum);

}  // namespace relascope::core
