// SPDX-License-Identifier: GPL-3.0-or-later
// Heads that are fitted once on features of labelled examples, so that a model whose answer is
// features can be asked for classes. What they say is of a head that was fitted on so many
// examples, never of the model alone.
#pragma once

#include <torch/types.h>
#include <cstdint>
#include <string>
#include <vector>

namespace relascope::core {

/// The features of a model for examples whose classes are known.
struct LabelledFeatures {
    torch::Tensor features;            ///< [n, d], floating point, on any device
    std::vector<std::int64_t> labels;  ///< n indices into `classes`
    std::vector<std::string> classes;
};

/// A head: scores of classes by features. Its tensors are doubles on the CPU.
struct FeatureHead {
    enum class Kind {
        NearestMean,  ///< the cosine with the mean of each class, of which nothing is chosen
        Ridge         ///< regression of the classes on features of one scale (Hoerl, Kennard 1970)
    };
    Kind kind = Kind::NearestMean;
    std::vector<std::string> classes;
    /// NearestMean: [classes, d], means of features of length 1, again of length 1.
    /// Ridge: [d, classes].
    torch::Tensor weights;
    torch::Tensor mean, deviation;     ///< Ridge: [d], of the features that it was fitted on
    torch::Tensor offset;              ///< Ridge: [classes], the share of each
    double ridge = 0.0;                ///< Ridge: the penalty l
    std::vector<std::int64_t> counts;  ///< examples of each class that it was fitted on
    std::string model, data;           ///< checksums of what it was fitted on; empty: unknown

    std::int64_t width() const;     ///< d
    std::int64_t examples() const;  ///< the sum of `counts`
    /// Scores of features [m, d]: [m, classes], double, on their device; autograd goes through.
    /// Throws OptionError for features of another width.
    torch::Tensor scores(const torch::Tensor& features) const;
};

/// The head of the nearest mean. Throws OptionError for features of a wrong shape or that are not
/// finite, for fewer than two classes, and naming a class without an example.
FeatureHead nearestMeanHead(const LabelledFeatures& fitting);

/// With Z = (features - mean) / deviation (of all examples, at least 1e-6) and a column of Y in
/// 0, 1 for each class: W = (Z'Z + l n I)^-1 Z'(Y - mean Y); scores Z W + mean Y. Throws as
/// nearestMeanHead(), and unless l is above 0.
FeatureHead ridgeHead(const LabelledFeatures& fitting, double ridge = 1.0);

/// The penalty of 0.01, 0.1, 1, 10 and 100 that has most of a fifth right, drawn by the seed, where
/// it is fitted on the others; of equals the one of the smallest squared error. Throws as
/// ridgeHead(), and for fewer than 5 examples.
double chosenRidge(const LabelledFeatures& fitting, std::uint64_t seed);

/// Examples to fit and others to measure on, ascending.
struct HeadSplit {
    std::vector<std::int64_t> fitting, measured;
};
/// Two thirds and one third of each class, drawn by the seed; of each class at least one is
/// measured on. Throws OptionError naming a class with fewer than two examples.
HeadSplit headSplit(const std::vector<std::int64_t>& labels,
                    const std::vector<std::string>& classes, std::uint64_t seed);

/// x / |x| of each row, double; a row of zeros stays.
torch::Tensor unitRows(const torch::Tensor& x);

/// The examples that are most like each query.
struct NearestExamples {
    torch::Tensor indices;  ///< [m, count] int64, the nearest first; of equals the first
    torch::Tensor cosines;  ///< [m, count] double
};
/// `features` [n, d] of examples, `queries` [m, d]; `count` is cut to n.
NearestExamples nearestExamples(const torch::Tensor& features, const torch::Tensor& queries,
                                std::int64_t count);

/// Writes a head to a safetensors file, atomically. Throws FileError.
void writeHead(const FeatureHead& head, const std::string& path);
/// Reads it back. Throws FileError naming what a file lacks or has wrong.
FeatureHead readHead(const std::string& path);

}  // namespace relascope::core
