// SPDX-License-Identifier: GPL-3.0-or-later
// The change of a metric on the same examples, and its 95 % interval: the one interval of paired
// differences that all analyses show. Does not include torch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "types/edit_results.h"

namespace relascope::core {

/// With fewer changed examples than these a bootstrap misses what it did not meet.
inline constexpr std::size_t kFewChanged = 25;

/// The change of a metric that is a mean over targets, of which example i has `weights[i]`: the
/// sums of values times weights over the sum of the weights. Examples with the same `content`
/// (contentOf(), data/batches.h; empty: all differ) are one unit, since copies say nothing new.
///
/// The 95 % interval is a bootstrap over units (Efron 1979, percentiles of 2,000 draws with a fixed
/// seed). Where fewer than kFewChanged units change, it is
/// - of answers that are right or wrong: changeOfFew(), which has 0 where McNemar's exact test does
///   not reject;
/// - of other values: the hull of the bootstrap and Student's t, with a degree of freedom less than
///   units that change;
/// - of a fraction without any change: the exact bound for a change that none of the units showed.
/// Examples without weight, and NaN values with their pair, are left out.
PairedChange pairedChange(const std::string& metric, std::span<const double> base,
                          std::span<const double> edited, std::span<const double> weights,
                          std::span<const std::uint64_t> content = {});

/// The 95 % interval of (gained - lost) / n, where so many of n answers turned right and wrong: the
/// hull of the exact conditional interval (Clopper and Pearson 1934, of the changed answers), which
/// has 0 exactly where McNemar's exact test has p > 0.05, and of the score interval (Tango 1998),
/// which knows that more answers might have changed.
std::pair<double, double> changeOfFew(std::int64_t gained, std::int64_t lost, std::int64_t n);

}  // namespace relascope::core
