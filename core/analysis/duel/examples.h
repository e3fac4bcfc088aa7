// SPDX-License-Identifier: GPL-3.0-or-later
// The input of two models in a duel: the same examples, and the objects that both see in them.
// Texts of different tokenizers are the same characters; their objects are the tokens that end at
// the same character in both.
#pragma once

#include <torch/types.h>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analysis/open_model.h"
#include "analysis/pairs/relation_statistics.h"
#include "data/batches.h"
#include "interventions/editor.h"

namespace relascope::core {

class DuelExamples {
public:
    /// Takes at most `examples` examples; a text gives windows of at most `tokens` of A's tokens.
    /// Throws OptionError for data that one of the two cannot read, and for fewer than two
    /// examples.
    DuelExamples(const OpenedModel& a, const OpenedModel& b, DatasetPtr data, std::int64_t examples,
                 std::int64_t tokens);

    /// Targets that stand for the same characters: `counts` of them from `first` on, of A and of B.
    struct Segment {
        std::array<std::int64_t, 2> first, count;
    };
    struct Slice {
        std::vector<std::int64_t> indices;     ///< examples of the data
        std::array<Batch, 2> batches;          ///< the inputs of A and of B
        std::array<torch::Tensor, 2> objects;  ///< positions [b, objects]; undefined: not the same
        std::array<std::int64_t, 2> positions{};  ///< how many the whole input of each has
        std::vector<Segment> segments;            ///< only for texts of different tokenizers
    };
    Slice slice(std::int64_t first, std::int64_t count) const;

    const DatasetPtr& data() const { return m_data; }
    std::int64_t size() const { return static_cast<std::int64_t>(m_examples.size()); }
    const std::vector<std::int64_t>& examples() const { return m_examples; }
    const std::string& noun() const { return m_noun; }
    /// PairShape::objects is 0 where the two do not see the same objects, for which `whyNot` says
    /// the reason.
    const PairShape& shape() const { return m_shape; }
    const std::string& whyNot() const { return m_whyNot; }
    bool segments() const { return !m_texts.empty(); }
    std::int64_t batchSize() const;
    bool isText() const { return m_window > 0; }

private:
    /// A text in the tokens of both.
    struct Text {
        std::array<std::vector<std::int64_t>, 2> tokens;
        std::vector<std::array<std::int64_t, 2>> ends;  ///< tokens that end at the same character
    };
    void readTexts(const OpenedModel& a, const OpenedModel& b, std::int64_t tokens);
    void findObjects(const OpenedModel& a, const OpenedModel& b);
    Slice textPart(std::int64_t index) const;

    DatasetPtr m_data;
    std::vector<std::int64_t> m_examples;
    std::string m_noun, m_whyNot;
    PairShape m_shape;
    std::array<std::vector<std::int64_t>, 2> m_positions;  // object positions, same in all examples
    std::array<std::int64_t, 2> m_whole{};
    std::vector<std::int64_t> m_starts;  // for texts: the first object of each
    std::int64_t m_window = 0;           // tokens of a text that are read
    std::vector<Text> m_texts;           // only with different tokenizers
};

/// Keeps the objects alone of a forward pass: streams become [b, objects, dim] (averaged over the
/// positions where `objects` is undefined), maps keep the rows and columns of the objects.
class ObjectReader : public PointReader {
public:
    /// `positions`: how many the whole input has.
    ObjectReader(std::vector<std::string> names, torch::Tensor objects, std::int64_t positions);
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override;

private:
    torch::Tensor m_objects;
    std::int64_t m_positions;
    bool m_same = true;  // all examples have the same objects
};

}  // namespace relascope::core
