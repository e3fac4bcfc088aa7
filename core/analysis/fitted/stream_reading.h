// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the streams of a model, the scores of its heads and its answers for a fit.
#pragma once

#include <torch/types.h>

#include <functional>
#include <string>
#include <vector>

#include "analysis/edited_model.h"
#include "analysis/fitted/fact_subject.h"
#include "analysis/fitted/fit.h"
#include "analysis/fitted/object_attention.h"
#include "analysis/pairs/pair_reading.h"
#include "evaluate/example_scores.h"

namespace relascope::core {

/// A stream that a relation can be fitted to: before the first block, or after one.
struct StreamPoint {
    std::string name;   ///< "blocks.2.hook_resid_pre"
    std::string title;  ///< "after layer 2"
    std::int64_t width = 0;
};

/// What is read of a model.
struct StreamPlan {
    std::vector<StreamPoint> streams;
    std::vector<PairMap> maps;  ///< relations and heads; point: of the scores before the softmax
    std::vector<std::string> patterns;  ///< hook points of attention among the objects
    std::int64_t batch = 50;
};
/// Throws OptionError("path", ...) for a model without streams of its objects.
StreamPlan streamPlan(EditedModel& model, const FactSubject& subject);

struct StreamsRead {
    std::vector<torch::Tensor> streams;  ///< [rows, d] float, of those that were asked
    torch::Tensor input;                 ///< [rows, k]: pixels, tokens as one-hot, or vectors
    std::vector<torch::Tensor> maps;     ///< scores of each map for the pairs to test, [pairs]
};

/// What a reading keeps; all may be left out.
struct ReadWhat {
    std::vector<std::size_t> streams;  ///< indices of StreamPlan::streams
    const PairList* pairs = nullptr;   ///< to test: the maps are read at these
    bool symmetric = false;            ///< i, j and j, i are added
    bool input = false;
    ObjectAttention* attention = nullptr;  ///< gets the patterns of all examples
};
/// `progress` gets the fraction read; returns false to cancel. Throws Cancelled.
StreamsRead readStreams(EditedModel& model, const FactSubject& subject, const ObjectRows& rows,
                        const StreamPlan& plan, const ReadWhat& what,
                        const std::function<bool(double)>& progress);

/// The answers of the examples to test, with a subspace out (ProjectOut); null: none. Throws
/// OptionError for examples without answers.
ExampleScores testScores(EditedModel& model, const FactSubject& subject, const StreamPlan& plan,
                         Hooks* edit);

}  // namespace relascope::core
