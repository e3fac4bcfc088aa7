// SPDX-License-Identifier: GPL-3.0-or-later
// A recorder that turns what a model records into the maps of a probe, layer by layer.
#pragma once

#include <torch/types.h>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/architecture.h"
#include "model/blocks/recording.h"
#include "probe/map_factors.h"

namespace relascope::core {

// A recorder that keeps all tensors, under the names of the golden files.

/// Keeps every recorded tensor, detached, on the device it came from.
class Collector : public Recorder {
public:
    void scores(const std::string& module, const torch::Tensor& alpha) override {
        m_tensors["scores/" + module] = alpha.detach();
    }
    void relations(const std::string& module, const torch::Tensor& r) override {
        m_tensors["relations/" + module] = r.detach();
    }
    void hidden(const std::string& module, const torch::Tensor& x) override {
        m_tensors["hidden/" + module] = x.detach();
    }
    void symbols(const std::string& module, int layer, const torch::Tensor& weights) override {
        m_tensors["symbols/" + module + "/" + std::to_string(layer)] = weights.detach();
    }

    /// The tensors by "scores/PATH", "relations/PATH", "hidden/PATH", "symbols/PATH/LAYER".
    const std::map<std::string, torch::Tensor>& tensors() const { return m_tensors; }
    /// The tensors, moved out of the collector.
    std::map<std::string, torch::Tensor> take() { return std::move(m_tensors); }

private:
    std::map<std::string, torch::Tensor> m_tensors;
};

/// Keeps the maps of each kind in each layer, or their factors if these take less memory, on the
/// CPU in float32. `layerDone` is called when all maps of a layer are known.
class MapCollector : public Recorder {
public:
    using LayerDone = std::function<void(const MapCollector&, int layer)>;
    MapCollector(const ModelOptions& options, LayerDone layerDone);

    bool takesFactors() const override { return true; }
    void scores(const std::string& module, const InnerProducts& alpha) override;
    void relations(const std::string& module, const InnerProducts& r) override;
    void symbols(const std::string& module, int layer, const InnerProducts& weights) override;
    void positionalSymbols(const std::string& module, int layer, std::int64_t n) override;
    void relativeSymbols(const std::string& module, int layer, std::int64_t n,
                         std::int64_t most) override;
    void scores(const std::string& module, const torch::Tensor& alpha) override;
    void relations(const std::string& module, const torch::Tensor& r) override;
    void symbols(const std::string& module, int layer, const torch::Tensor& weights) override;
    void hidden(const std::string& module, const torch::Tensor& x) override;

    const std::vector<LayerPlace>& places() const { return m_places; }
    /// The maps so far, sorted by kind, layer and index.
    std::vector<RelationMap> maps() const;

private:
    MapKind scoresKind(const std::string& module, int layer) const;
    int symbolsLayer(const std::string& module, int retrieval) const;
    /// The layer of a module, -1 without one. Entering a layer means that the one before has run.
    int enter(const std::string& module);
    void enter(int layer);
    void add(MapKind kind, int layer, const InnerProducts& products);
    void add(MapKind kind, int layer, torch::Tensor maps);
    void add(MapKind kind, int layer, int count, std::int64_t rows, std::int64_t columns,
             std::shared_ptr<const MapSource> source, bool libraryRows = false);
    std::shared_ptr<const std::vector<float>> columnsOf(const torch::Tensor& keys);

    const ModelOptions& m_options;
    std::vector<LayerPlace> m_places;
    LayerDone m_layerDone;
    int m_layer = -1;  ///< the layer that runs
    std::vector<RelationMap> m_maps;
    /// Keys that several layers read, by their memory.
    std::map<const void*, std::shared_ptr<const std::vector<float>>> m_keys;
    std::vector<torch::Tensor> m_held;  ///< keeps the memory in m_keys from being used again
};

}  // namespace relascope::core
