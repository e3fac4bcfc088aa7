// SPDX-License-Identifier: GPL-3.0-or-later
// Regression tasks on sets of objects, for testing what a model can compute: selecting and relating
// (DAT 2.4 and appendix A; ABS 3), inner products, and the recovery of relations from noisy symbols
// (the earlier manuscript of ABS, 3.4-3.5).
#pragma once

#include <string>
#include <vector>

#include "data/dataset.h"
#include "datasets/generators/random.h"

namespace relascope::datasets {

/// A range of the examples of a seed. Splits with different numbers are drawn independently.
struct NumberSplit {
    std::uint64_t seed = 0;
    std::uint64_t number = 0;  ///< number of the split, below 2^20
    std::int64_t size = 1;     ///< up to 2^40
    std::string name;          ///< "train"
};

/// An example is a function of (seed, split, index) alone. `words` is computed from the
/// example itself.
class NumberSets : public core::ObjectDataset {
public:
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override { return m_shape; }
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override;
    ProbeSample sample(std::int64_t index) const override;

protected:
    /// `exact`: DatasetInfo::exactTargets.
    NumberSets(NumberSplit split, const std::string& task, Shape shape, const std::string& note,
               bool exact = false);
    /// Draws an example: [objects, width] numbers and [targets] answers.
    virtual void draw(SplitMix& random, std::span<float> objects,
                      std::span<float> targets) const = 0;
    /// Display names of the objects.
    virtual std::vector<std::string> words(std::span<const float> objects,
                                           std::span<const float> targets) const = 0;
    /// The generator of everything that all examples of the seed share.
    static SplitMix common(std::uint64_t seed) { return {seed, 0}; }

private:
    NumberSplit m_split;
    Shape m_shape;
    DatasetInfo m_info;
};

/// The functions R(x, y) of select-relate, infinitely smooth and bounded by 1: one requires
/// infinitely many inner products (kernel), one only two (wave).
class SmoothRelations {
public:
    /// `a` and `b` of the wave: unit vectors of R^dim from the seed.
    SmoothRelations(std::int64_t dim, SplitMix& random);
    /// The relation kernel: exp(-|x - y|^2).
    static double kernel(std::span<const float> x, std::span<const float> y);
    /// The relation wave: sin(pi (<a, x> - <b, y>)).
    double wave(std::span<const float> x, std::span<const float> y) const;

private:
    std::vector<double> m_a, m_b;
};

/// x and y_1 .. y_n, uniform in the unit ball of R^dim, x first. The target is R(x, y*) where y* =
/// argmax_i <A x, B y_i>, with A, B ~ N(0, 1) of the seed.
class SelectRelate : public NumberSets {
public:
    /// Which relation R is asked for; Both gives them in this order.
    enum class Asked { Kernel, Wave, Both };
    SelectRelate(const NumberSplit& split, const std::string& task, Asked asked,
                 std::int64_t candidates, std::int64_t dim);

    /// B^T A x: its inner product with y is <A x, B y>, how much x prefers y.
    std::vector<double> preference(std::span<const float> x) const;
    /// The number of y*, from 0, for objects [1 + n, dim].
    std::int64_t chosen(std::span<const float> objects) const;
    /// R(x, y): one number or two.
    std::vector<double> relate(std::span<const float> x, std::span<const float> y) const;

protected:
    void draw(SplitMix& random, std::span<float> objects, std::span<float> targets) const override;
    std::vector<std::string> words(std::span<const float> objects,
                                   std::span<const float> targets) const override;

private:
    SelectRelate(const NumberSplit& split, const std::string& task, Asked asked,
                 std::int64_t candidates, std::int64_t dim, SplitMix random);
    bool m_kernel, m_wave;
    std::vector<double> m_left, m_right;  // A and B, [dim, dim]
    SmoothRelations m_relations;
};

/// Two points x and y, uniform in the unit ball of R^dim, and a relation to be written as an inner
/// product of feature maps. Kernel: exp(-2 |x - y|^2), symmetric and positive. Order: 1 when
/// <w, x> < <w, y> and -1 otherwise, w a unit vector of the seed.
class InnerProducts : public NumberSets {
public:
    enum class Relation { Kernel, Order };
    InnerProducts(const NumberSplit& split, const std::string& task, Relation relation,
                  std::int64_t dim);
    double relate(std::span<const float> x, std::span<const float> y) const;

protected:
    void draw(SplitMix& random, std::span<float> objects, std::span<float> targets) const override;
    std::vector<std::string> words(std::span<const float> objects,
                                   std::span<const float> targets) const override;

private:
    bool m_order;
    std::vector<double> m_direction;
};

struct SymbolRecoveryOptions {
    std::int64_t symbols = 10;  ///< m
    std::int64_t dim = 40;      ///< d
    double adversarial = 0.1;   ///< probability of an outlier, for each number of a
    std::int64_t nonzero = 0;   ///< how many numbers of r are not 0; 0: all
};

/// One column of A = S R + noise: every example has its own symbols, S_ij ~ N(0, 1/d), and the
/// objects are the m symbols and, last, a = S r + e, all of R^d. The target is r, uniform in the
/// simplex (of `nonzero` symbols, drawn evenly, where it is sparse). Each number of e is 0, or with
/// the probability `adversarial` N(0, 100), where the variance of a symbol is 1/d.
class SymbolRecovery : public NumberSets {
public:
    SymbolRecovery(const NumberSplit& split, const std::string& task,
                   const SymbolRecoveryOptions& options);

protected:
    void draw(SplitMix& random, std::span<float> objects, std::span<float> targets) const override;
    std::vector<std::string> words(std::span<const float> objects,
                                   std::span<const float> targets) const override;

private:
    SymbolRecoveryOptions m_options;
};

}  // namespace relascope::datasets
