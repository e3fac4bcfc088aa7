// SPDX-License-Identifier: GPL-3.0-or-later
// A model that another process computes: its forward pass is one request, made from the hooks and
// the recorder that are current. It has no parameters here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/model.h"
#include "model/served/served_link.h"
#include "types/model_options.h"

namespace relascope::core {

class Recorder;  // recording.h

/// Which weights are asked: those of now (which must then be of that version), kept ones of a step,
/// or fresh ones drawn by a seed.
struct ServedChoice {
    std::optional<std::int64_t> version = {}, step = {};
    std::optional<std::uint64_t> fresh = {};
};

/// Inputs are references to examples, [b, 2] int64: the number of the split and of the example; for
/// tokens the tokens themselves [b, n], padded with -1. Other inputs are typed: they go to the
/// program's `encode`. Gradients reach the points that hooks read.
struct ServedModelImpl : ModelImpl {
    /// Throws OptionError for options of other models.
    ServedModelImpl(const ModelOptions& options, ServedLinkPtr link, ServedChoice weights = {});

    torch::Tensor forward(const ModelInput& input) override;
    /// The scores of the last pass's input where the last block ends with that stream [b, n, d]:
    /// [b, classes] or [b, n, vocabulary]. Without hooks.
    torch::Tensor ended(const torch::Tensor& stream);

    const ServedDeclaration& declared() const { return m_declared; }
    ServedLink& link() const { return *m_link; }
    const ServedChoice& weights() const { return m_weights; }
    /// Why the rest of the model cannot run after a block's stream; empty where it can.
    std::string whyNoStreams() const;

private:
    friend class ServedConversation;
    /// Says in a pass on which input and which weights it runs.
    void address(ServedPass& pass, const torch::Tensor& x) const;
    void addressRows(ServedPass& pass, const std::string& split,
                     const std::vector<ServedTokenRows::Places>& rows) const;
    /// The scores as the input's rows and positions have them.
    torch::Tensor fitted(const ServedTensor& scores, const torch::Tensor& x) const;

    ServedDeclaration m_declared;
    std::vector<std::vector<Axis>> m_axes;  ///< axes of each point
    std::string m_lastBlock, m_whyNoStreams;
    ServedLinkPtr m_link;
    ServedChoice m_weights;
    torch::Tensor m_last;  ///< the input of the last pass
};

/// The model of these options, by the link to its door. Throws Error where there is no such door.
std::shared_ptr<ServedModelImpl> servedModel(const ModelOptions& options, ServedChoice weights);

/// The input that is the example of the name "SPLIT NUMBER" (ProbeSample::origin); undefined where
/// it names none of the model's.
torch::Tensor servedExample(const ModelOptions& options, const std::string& name);

/// References to examples of a split, as an input. indices [b]. Throws OptionError for a split
/// that the model does not have.
torch::Tensor servedReferences(const ServedDeclaration& declared, const std::string& split,
                               const std::vector<std::int64_t>& indices);

}  // namespace relascope::core
