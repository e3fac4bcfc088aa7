// SPDX-License-Identifier: GPL-3.0-or-later
// The residual stream that a model's answer is read from, and what reads it.
#pragma once

#include <torch/nn/modules/container/modulelist.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/blocks/layers.h"
#include "model/language/language_options.h"
#include "model/language/masked_language.h"
#include "model/model.h"
#include "types/model_options.h"

namespace relascope::core {

struct PublicImageModelImpl;  // public_image_model.h

/// answer(x) = out(project(head(relu(hidden(norm(pooled x)))))), where each step may be absent, or
/// what the end of the model itself makes of the stream. The modules are the model's own.
struct AnswerStream {
    /// How the positions become one vector: not at all, by their mean, by the first alone, one
    /// after another, or by `ended`.
    enum class Pool { None, Mean, First, Flat, Ended };

    std::shared_ptr<torch::nn::ModuleListImpl> blocks;
    std::string stack;  ///< prefix of the blocks' hook points: "blocks", "decoder"
    std::vector<std::string>
        points;          ///< hook points: the stream before the first block, after each
    std::string before;  ///< the name of the stream before the first block: "embedding", "symbols"
    Pool pool = Pool::None;
    Norm norm{nullptr};
    Linear hidden{nullptr}, project{nullptr}, out{nullptr};
    MaskedHead head{nullptr};  ///< head of encoders (masked_language.h)
    /// The form of the scores where it is not that of the output layer; undefined: as they are.
    std::optional<OutputForm> form;
    std::int64_t vocabulary = 0;             ///< with `form`
    PublicImageModelImpl* images = nullptr;  ///< null: it is none
    /// What the end of the model makes of whole streams: [b, n, d] -> [b, answers] or [b, n,
    /// answers]. Null: what the modules above do.
    std::function<torch::Tensor(const torch::Tensor&)> ended = {};
    bool endsEach = false;  ///< `ended` answers at each position

    /// One answer for the whole input, not one for each position.
    bool whole() const { return pool != Pool::None && !endsEach; }
    /// The pooled streams of x [b, n, d]: [b, n, d] without pooling and with `ended`, otherwise [b,
    /// 1, d] or [b, 1, n d].
    torch::Tensor pooled(const torch::Tensor& x) const;
    /// Pooled streams [b, n, d] -> scores [b, n, answers], of whole() [b, 1, answers]. A model with
    /// a single score answers yes or no: it gets a second one, 0 for no, in front.
    torch::Tensor answer(const torch::Tensor& pooled) const;
    /// answer() before its soft cap, of which it is a linear function.
    torch::Tensor uncapped(const torch::Tensor& pooled) const;
};

/// The answer stream of a model. Throws OptionError for a model without one, with the reason.
AnswerStream answerStream(ModelImpl& model, const ModelOptions& options);

/// Throws OptionError("model", ...) for a model whose answer are features, with what it needs to
/// answer with classes.
void requireAnswers(const ModelOptions& options);

/// `position` from 0, also where it counts from the end. Throws OptionError("position", ...) if it
/// is not one of `size`.
std::int64_t positionIn(std::int64_t position, std::int64_t size);

/// Throws OptionError(`field`, ...) unless the model has an answer of that id.
void requireAnswer(std::int64_t id, std::int64_t answers, const char* field);

/// Reads hook points in one forward pass, in evaluation mode and without gradients. Returns the
/// scores [n, answers], or [1, answers] for models with one answer for the whole input.
torch::Tensor readPass(ModelImpl& model, const ModelInput& input, class PointReader& reader);

}  // namespace relascope::core
