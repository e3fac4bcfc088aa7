// SPDX-License-Identifier: GPL-3.0-or-later
// The base class of complete models.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/attention/chunked_attention.h"
#include "model/hooks/hooks.h"
#include "types/model_options.h"
#include "types/option_groups.h"

namespace relascope::core {

/// The tensors of one batch: images [b, c, H, W] in 0..1, tokens [b, n] int64, objects [b, n, dim],
/// or a source sequence (tokens [b, n] or vectors [b, n, dim]) with the target's input.
struct ModelInput {
    ModelInput(torch::Tensor only) : x(std::move(only)) {}
    ModelInput(torch::Tensor source, torch::Tensor targetIn)
        : x(std::move(source)), target(std::move(targetIn)) {}

    ModelInput to(const torch::Device& device) const {
        return {x.to(device), target.defined() ? target.to(device) : target};
    }

    torch::Tensor x;
    torch::Tensor target;  ///< for sequence-to-sequence models; otherwise undefined
};

/// A complete model. Its forward pass returns scores: [b, classes] for images and objects, [b, n,
/// vocabulary] for tokens, [b, m, out_dim] for a target of m elements. It throws OptionError if the
/// input is too long or has ids outside of the vocabulary.
struct ModelImpl : torch::nn::Module {
    virtual torch::Tensor forward(const ModelInput& input) = 0;

    /// Where inputs belong: with the weights; for a model without any of its own on the CPU.
    torch::Device device() const {
        const auto all = parameters();
        return all.empty() ? torch::Device(torch::kCPU) : all.front().device();
    }

    /// Activation checkpointing: training keeps only the input of each block and recomputes the
    /// rest in the backward pass (image and language models).
    bool checkpointsActivations = false;

    /// Called before every pass and token; throws where the weights are no longer those that were
    /// opened (MappedWeights).
    std::function<void()> beforePass;

protected:
    using Block = std::function<torch::Tensor(const torch::Tensor&)>;
    torch::Tensor throughBlock(const Block& block, const torch::Tensor& x) const {
        if (!checkpointsActivations || !is_training()) return block(x);
        // The backward pass may recompute the block on another thread.
        return activationCheckpoint(
            [block, hooks = activeHooks()](const torch::Tensor& in) {
                const HookScope scope(hooks);
                return block(in);
            },
            x);
    }
    /// Scores [..., dim] or [..., position, dim] at the point hook_logits.
    static torch::Tensor hookedLogits(const torch::Tensor& logits, std::int64_t first = 0) {
        return HookedModule("", first)(
            "hook_logits", logits.dim() == 3 ? Axes(axes::stream) : Axes(axes::pooled), logits);
    }
};
using ModelPtr = std::shared_ptr<ModelImpl>;

/// Throws OptionError unless images [b, c, H, W] have the model's shape.
void requireInput(const torch::Tensor& images, const ImageInput& options);
/// Throws OptionError unless objects are [b, n_objects, object_dim] of floating point.
void requireInput(const torch::Tensor& objects, const ObjectInput& options);

/// A model of images or of objects with options of type `OptionsType`, for inputs of their shape.
template <class OptionsType>
struct ModelWith : ModelImpl {
    using Options = OptionsType;
    explicit ModelWith(const Options& options) : m_options(options) {}
    torch::Tensor forward(const ModelInput& input) final {
        requireInput(input.x, m_options);
        return hookedLogits(outputs(input.x));
    }

protected:
    /// images [b, c, H, W] or objects [b, n, dim] -> [b, classes] or [b, out_dim].
    virtual torch::Tensor outputs(const torch::Tensor& x) = 0;

    Options m_options;
};

// Evaluation mode for the time of a scope.

/// Puts a model into evaluation mode in its scope, also if an exception is thrown.
class EvaluationMode {
public:
    explicit EvaluationMode(ModelImpl& model) : m_model(model), m_training(model.is_training()) {
        model.eval();
    }
    ~EvaluationMode() { m_model.train(m_training); }
    EvaluationMode(const EvaluationMode&) = delete;
    EvaluationMode& operator=(const EvaluationMode&) = delete;

private:
    ModelImpl& m_model;
    bool m_training;
};

// Whole models from options.

/// Builds the model. Its weights follow the current ParameterScope (without one, they are
/// initialised from torch's default generator). Sets the paths of all recording points. Throws
/// OptionError before anything is allocated.
ModelPtr makeModel(const ModelOptions& options);

/// Registers the class of an architecture, as a static object in the file that defines the class.
/// `initialise` sets the published initial weights, if they differ from those of the modules.
class RegisterModel {
public:
    using Initialise = void (*)(torch::nn::Module& model);

    template <class Impl, class Options = typename Impl::Options>
    static RegisterModel of(const char* architecture, Initialise initialise = nullptr) {
        return RegisterModel(
            architecture,
            [](const ModelOptions& options) -> ModelPtr {
                return std::make_shared<Impl>(options.get<Options>());
            },
            initialise);
    }

private:
    using Build = ModelPtr (*)(const ModelOptions&);
    RegisterModel(const char* architecture, Build build, Initialise initialise);
};

/// A parameter or stored buffer, or a further name of one, as in checkpoints.
struct NamedTensor {
    std::string name;
    torch::Tensor tensor;
    std::string aliasOf;  ///< empty for the first name
    bool buffer = false;  ///< stored, but no parameter: positions
};
/// Every tensor under its first name, in the order of registration, then every further name.
std::vector<NamedTensor> stateOf(ModelImpl& model);

/// Parameters that training changes, each once.
std::vector<torch::Tensor> trainableParameters(ModelImpl& model);

}  // namespace relascope::core
