// SPDX-License-Identifier: GPL-3.0-or-later
// Small tasks of objects and of sequences that a small model learns in a second.
#pragma once

#include <random>

#include "data/dataset.h"
#include "options/presets.h"
#include "options/run_settings.h"
#include "support/rooms.h"

namespace relascope::testing_support {

/// Two objects of 4 numbers: does the first have the larger first number?
class Larger : public ObjectDataset {
public:
    explicit Larger(std::int64_t size, std::uint64_t seed, TargetKind kind = TargetKind::Class)
        : m_seed(seed) {
        m_info.name = "larger";
        m_info.size = size;
        m_info.targets = kind;
        if (kind == TargetKind::Class) m_info.classNames = {"no", "yes"};
    }
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override { return {2, 4, 1}; }
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override {
        std::mt19937_64 random(m_seed * 1000003 + static_cast<std::uint64_t>(index));
        std::normal_distribution<float> normal;
        for (auto& value : objects) value = normal(random);
        const float gap = objects[0] - objects[4];
        targets[0] = m_info.targets == TargetKind::Regression ? gap : static_cast<float>(gap > 0);
    }
    ProbeSample sample(std::int64_t index) const override {
        ProbeSample s;
        s.source.width = 4;
        s.source.vectors.resize(8);
        float target = 0;
        read(index, s.source.vectors, {&target, 1});
        s.source.labels = {"first", "second"};
        s.label = static_cast<std::int64_t>(target);
        s.origin = "larger " + std::to_string(index);
        return s;
    }

private:
    DatasetInfo m_info;
    std::uint64_t m_seed;
};

/// Three one-hot vectors of 12 numbers, each saying its own place among 3; the answer names them.
class Spell : public SequenceDataset {
public:
    Spell(std::int64_t size, std::uint64_t seed, bool ends = false) : m_seed(seed), m_ends(ends) {
        m_info.name = "spell";
        m_info.size = size;
        m_info.targets = TargetKind::Tokens;
    }
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override {
        Shape s;
        s.source = 3, s.width = 12;
        s.target = m_ends ? 4 : 3;
        s.targetVocabulary = m_ends ? 6 : 4;
        s.start = 3;
        if (m_ends) s.end = 4, s.padding = 5;
        return s;
    }
    void read(std::int64_t index, std::span<float> vectors, std::span<std::int64_t>,
              std::span<std::int64_t> answer) const override {
        std::mt19937_64 random(m_seed * 1000003 + static_cast<std::uint64_t>(index));
        std::fill(vectors.begin(), vectors.end(), 0.0F);
        for (std::size_t i = 0; i < 3; ++i) {
            const auto which = random() % 3;
            vectors[i * 12 + which] = 1.0F;
            answer[i] = static_cast<std::int64_t>(which);
        }
        if (!m_ends) return;
        // Answers of two or three tokens, then the end, then padding.
        const bool shorter = index % 2 == 0;
        answer[shorter ? 2 : 3] = 4;
        if (shorter) answer[3] = 5;
    }
    ProbeSample sample(std::int64_t index) const override {
        ProbeSample s;
        s.source.width = 12;
        s.source.vectors.resize(36);
        std::vector<std::int64_t> answer(m_ends ? 4 : 3);
        read(index, s.source.vectors, {}, answer);
        s.source.labels = {"a", "b", "c"};
        s.source.pictures.assign(3, Image{2, 2, 3, std::vector<std::uint8_t>(12, 7)});
        s.target.tokens = {3, answer[0], answer[1]};
        s.target.labels = {"start", std::to_string(answer[0]), std::to_string(answer[1])};
        s.origin = "spell " + std::to_string(index);
        return s;
    }

private:
    DatasetInfo m_info;
    std::uint64_t m_seed;
    bool m_ends;
};

inline DataSplits tinyPairs(TargetKind kind = TargetKind::Class) {
    DataSplits splits;
    splits.train = std::make_shared<Larger>(512, 1, kind);
    splits.validation = std::make_shared<Larger>(128, 2, kind);
    splits.tests = {{"test", std::make_shared<Larger>(128, 3, kind)}};
    return splits;
}

inline RunOptions tinyPairOptions() {
    RunOptions o = presetOptions("pairwise-order", "mlp");
    o.data.dim = 4;
    o.data.train_size = 512;
    fitToData(o);
    o.train.batch_size = 32, o.train.epochs = 10, o.train.device = "cpu";
    o.train.learning_rate = 5e-3;
    o.train.early_stopping = {};
    return o;
}

inline DataSplits tinySpelling(bool ends = false) {
    DataSplits splits;
    splits.train = std::make_shared<Spell>(256, 1, ends);
    splits.validation = std::make_shared<Spell>(64, 2, ends);
    splits.tests = {{"test", std::make_shared<Spell>(64, 3, ends)}};
    return splits;
}

inline RunOptions tinySpellingOptions(const std::string& model = "abstractor-decoder") {
    RunOptions o = presetOptions("sort-argsort", model);
    o.data.length = 3, o.data.longest = 3, o.data.train_size = 256;
    fitToData(o);
    o.model.set("d_model", 16), o.model.set("key_dim", 8), o.model.set("dff", 16),
        o.model.set("dropout_rate", 0.0);
    o.train.batch_size = 32, o.train.epochs = 12, o.train.device = "cpu";
    o.train.learning_rate = 5e-3;
    o.train.early_stopping = {};
    return o;
}

}  // namespace relascope::testing_support
