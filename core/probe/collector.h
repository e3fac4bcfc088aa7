// SPDX-License-Identifier: GPL-3.0-or-later
// A recorder that keeps all tensors, under the names of the golden files.
#pragma once

#include <torch/types.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/blocks/recording.h"

namespace relascope::core {

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

    /// By "scores/PATH", "relations/PATH", "hidden/PATH", "symbols/PATH/LAYER".
    const std::map<std::string, torch::Tensor>& tensors() const { return m_tensors; }
    /// The same, moved out of the collector.
    std::map<std::string, torch::Tensor> take() { return std::move(m_tensors); }

private:
    std::map<std::string, torch::Tensor> m_tensors;
};

}  // namespace relascope::core
