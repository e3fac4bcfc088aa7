// SPDX-License-Identifier: GPL-3.0-or-later
// Head measures: how much attention each head of a model pays to places of a kind (head_places.h).
// Does not include torch.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "interventions/edit_data.h"
#include "types/answer.h"
#include "types/relation_map.h"

namespace relascope {

struct HeadMeasures {
    struct Head {
        MapKind kind = MapKind::SensoryAttention;  ///< or RelationalAttention
        int layer = 0, index = 0;                  ///< from 0
        /// Mean attention to the places of each measure, in 0..1; NaN where the input has none.
        std::vector<double> values;
        /// What it attends to by place alone (PlaceShares); may be empty.
        std::string reading;
        bool operator==(const Head&) const = default;
    };
    std::vector<std::string> measures;  ///< "previous token", "induction", ...
    /// The values, by measure, of attention that is spread evenly over the open cells of each row.
    std::vector<double> even;
    std::vector<std::string> layers;  ///< their names
    std::vector<Head> heads;          ///< by layer, sensory heads before relational ones
    std::string input;                ///< "50 random tokens, twice", "validation 12"

    /// The most heads of that kind in a layer.
    int most(MapKind kind) const {
        int count = 0;
        for (const auto& head : heads)
            if (head.kind == kind) count = std::max(count, head.index + 1);
        return count;
    }
    const Head* find(MapKind kind, int layer, int index) const {
        for (const auto& head : heads)
            if (head.kind == kind && head.layer == layer && head.index == index) return &head;
        return nullptr;
    }
    bool operator==(const HeadMeasures&) const = default;
};

struct HeadMeasureOptions {
    std::int64_t length = 50;  ///< random tokens that are repeated, for language models
    std::int64_t seed = 0;     ///< draws these tokens
    bool operator==(const HeadMeasureOptions&) const = default;
};

}  // namespace relascope

namespace relascope::core {

class OpenedModel;

/// For a language model: random tokens without a repetition among them, twice. `length` is cut to
/// half the context and to the vocabulary. Throws OptionError("length", ...) below 2.
ProbeSample repeatedTokens(const OpenedModel& model, const HeadMeasureOptions& options);

/// Measures the heads in one pass on the sample; without one, on repeatedTokens(). Throws
/// OptionError for a model that reads neither text nor images, or has no attention among its own
/// elements.
HeadMeasures measureHeads(OpenedModel& model, const std::optional<ProbeSample>& sample,
                          const HeadMeasureOptions& options,
                          const Interventions& interventions = {});

/// The measures as an answer with the tables "heads" (the values of each head), "even" (the values
/// of even attention) and "layers" (their names).
Answer answerOf(const HeadMeasures& result);
const FieldTable<HeadMeasureOptions>& headMeasureFields();

}  // namespace relascope::core
