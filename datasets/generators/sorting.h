// SPDX-License-Identifier: GPL-3.0-or-later
// Sorting random objects (ABS 4.2-4.4): sequences of distinct objects to sort.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "data/dataset.h"
#include "datasets/generators/random.h"

namespace relascope::datasets {

/// The 48 objects of a seed: every value of attribute A, a ~ N(0, I_4), beside every value of B, b
/// ~ N(0, I_8). Object number 12 A + B; ordered by A, then B. `permuted`: the values of A have
/// another order, drawn from the seed and never the identity (the pretraining task).
class SortingObjects {
public:
    static constexpr int kValuesOfA = 4, kValuesOfB = 12, kCount = kValuesOfA * kValuesOfB;
    static constexpr int kWidthOfA = 4, kWidth = 12;

    explicit SortingObjects(std::uint64_t seed, bool permuted = false);

    std::span<const float> vector(int object) const {
        return std::span(m_vectors).subspan(static_cast<std::size_t>(object * kWidth), kWidth);
    }
    /// The position of an object in the order, 0 .. 47.
    int place(int object) const {
        return m_placeOfA[static_cast<std::size_t>(object / kValuesOfB)] * kValuesOfB +
               object % kValuesOfB;
    }
    /// The name of an object: "A2 B7", both counted from 1.
    static std::string word(int object);
    /// The picture of an object: a tile that shows A by its hue and B by its number.
    static Image picture(int object);
    /// The order of the values of A: "A3 < A1 < A4 < A2".
    std::string order() const;

    /// Each vector o becomes Phi o, Phi_ij ~ N(0, strength^2): one Phi, [12, 12], for all.
    void transform(double strength, SplitMix& random);
    /// Each vector o becomes o + e, e ~ N(0, strength^2 I): one e for each object.
    void disturb(double strength, SplitMix& random);

private:
    std::array<float, kCount * kWidth> m_vectors{};
    std::array<int, kValuesOfA> m_placeOfA{};
};

struct SortingOptions {
    std::uint64_t seed = 0;
    bool permuted = false;
    int length = 10;           ///< objects of a sequence, 1 .. 48
    int vocabulary = 11;       ///< tokens: the positions of the longest sequence, then the start
    std::int64_t first = 0;    ///< first sequence in the pool
    std::int64_t size = 1000;  ///< how many from there on
    std::uint64_t pool = 0;    ///< number of the pool; pools are independent
    std::string name;          ///< name of the split: "train"

    enum class Corruption { None, Linear, Noise } corruption = Corruption::None;
    double strength = 0.0;
    static constexpr int kTrials = 5;  ///< corruptions of one split; each applies to a fifth of it
};

/// A numbered pool of distinct sequences of one length, so that splits are ranges. The answer at k
/// is the position, in the sequence, of the object that is k-th in order.
class Sorting : public core::SequenceDataset {
public:
    /// The number of sequences of a pool: 100,000, or all if there are fewer.
    static constexpr std::int64_t poolSize(int length) {
        std::int64_t sequences = 1;
        for (int i = 0; i < length; ++i) {
            sequences *= SortingObjects::kCount - i;
            if (sequences >= 100000) return 100000;
        }
        return sequences;
    }

    explicit Sorting(SortingOptions options);
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override;
    void read(std::int64_t index, std::span<float> vectors, std::span<std::int64_t> tokens,
              std::span<std::int64_t> answer) const override;
    /// Objects with names and pictures; the target is the input of the decoder: the start, then the
    /// answer without its last element.
    ProbeSample sample(std::int64_t index) const override;
    /// The places of A, of B and of both in the order.
    const ObjectFacts* objectFacts() const override { return &m_facts; }
    void readFacts(std::int64_t index, std::span<std::int32_t> facts) const override;

    /// The objects of a sequence, by number.
    std::vector<int> sequence(std::int64_t index) const;
    /// The vectors of the objects, disturbed or not.
    const SortingObjects& objects(std::int64_t index) const;

private:
    std::vector<std::int64_t> answerTo(const std::vector<int>& sequence) const;

    SortingOptions m_options;
    DatasetInfo m_info;
    ObjectFacts m_facts;
    std::vector<SortingObjects> m_objects;  // one a trial
    Permutation m_pool;
};

}  // namespace relascope::datasets
