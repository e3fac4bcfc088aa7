// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the values that maps of a model have on pairs of objects, over many examples. Does not
// include torch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/pairs/relation_statistics.h"
#include "data/dataset.h"
#include "interventions/edit_data.h"
#include "types/edit.h"
#include "types/model_options.h"

namespace relascope::core {

class OpenedModel;

struct ModelImpl;

/// A map of a model over its own objects: a relation, or the attention of a head.
struct PairMap {
    std::string name;        ///< "layer 2 relation 1"
    std::string layer;       ///< "layer 2"
    std::string point;       ///< "blocks.1.rel.hook_r"
    std::string axis;        ///< "relation", "head"
    std::int64_t index = 0;  ///< along it
    std::int64_t count = 0;  ///< how many maps the model has at this point
    /// For a relation: which of the points with relations it is at, and how many there are.
    std::int64_t place = 0, places = 0;
    bool head = false;    ///< attention of a head, which has no sign
    Edit edit;            ///< takes it out
    std::string group;    ///< the point that takes all of its layer out; empty: none
    std::string pattern;  ///< attention of the heads that attend with this relation; empty: none
    bool causal = false;
};

/// The relations, and the attention of heads, over the `positions` objects that a model reads: not
/// the maps of a decoder over its answer.
std::vector<PairMap> pairMaps(const std::vector<PointInfo>& points, std::int64_t positions,
                              bool relations, bool heads);

struct PairReading {
    std::vector<PairMap> maps;
    PairShape shape;
    std::vector<std::int64_t> examples;  ///< indices in the data
    /// Positions of the objects along the map, the same for all examples; or, where it is empty,
    /// consecutive ones that begin at `starts` of each example.
    std::vector<std::int64_t> positions, starts;
    std::int64_t batchSize = 250;
    bool sent = false, weights = false, answers = false;  ///< read these, too
};

struct PairReadings {
    std::vector<std::vector<float>> values;  ///< values of each map, by PairShape
    /// Relation times attention, averaged over the heads: what is really sent. Empty where the map
    /// has no pattern.
    std::vector<std::vector<float>> sent;
    /// For texts the mean value of each map towards the first token of the window; NaN: not known.
    std::vector<double> first;
    std::vector<WeightMatrixFacts> weights;  ///< weight facts of each map; NaN: unknown projections
    double accuracy = 0.0;                   ///< accuracy of the answers (of numbers: mean error)
};

/// Reads the maps in passes over the examples. `partial` gets the values so far and how many
/// examples are read, after each batch. Throws OptionError for values that are not finite,
/// Cancelled.
PairReadings readPairs(ModelImpl& model, const ModelOptions& options, const DatasetPtr& data,
                       const Interventions& interventions, const PairReading& what,
                       const std::stop_token& stop = {}, const ProgressCallback& progress = {},
                       const std::function<void(const PairReadings&, std::int64_t)>& partial = {});

/// Untrained models of a run are drawn with seeds from here on: that of a run is another one.
inline constexpr std::int64_t kUntrainedOfRun = 1000003;

/// A model whose weights are drawn by `seed`, as a training that begins with `init` would.
std::shared_ptr<ModelImpl> untrainedModel(const ModelOptions& options, const std::string& init,
                                          std::uint64_t seed);
/// A model with the options of an opened one and fresh weights, as its training would have begun,
/// on `device` ("auto", "cuda:0"). A head that the opened one was given is fitted anew on it.
std::shared_ptr<ModelImpl> untrainedTwin(const OpenedModel& model, std::uint64_t seed,
                                         const std::string& device);

}  // namespace relascope::core
