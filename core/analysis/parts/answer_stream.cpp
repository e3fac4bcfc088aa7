// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>

#include "analysis/parts/answer_stream.h"
#include "analysis/parts/block_parts.h"
#include "interventions/edited_run.h"
#include "interventions/editor.h"
#include "model/architecture.h"
#include "model/blocks/recording.h"
#include "model/language/language.h"
#include "model/model.h"
#include "model/nanochat/nanochat.h"
#include "model/public/family.h"
#include "model/public/public_image_model.h"
#include "model/public/public_options.h"
#include "model/served/served_model.h"
#include "model/vision/vision_options.h"
#include "types/error.h"

namespace relascope::core {
namespace {

// A module by its path; null if there is none.
template <class Impl>
std::shared_ptr<Impl> part(torch::nn::Module& model, const std::string& path) {
    return std::dynamic_pointer_cast<Impl>(moduleAt(model, path));
}

std::string articled(const std::string& name) {
    return (std::string("AEIO").find(name.at(0)) == std::string::npos ? "a " : "an ") + name;
}

// The first of these paths that the model has.
template <class Impl>
std::shared_ptr<Impl> anyOf(torch::nn::Module& model, std::initializer_list<const char*> paths) {
    for (const char* path : paths)
        if (auto found = part<Impl>(model, path)) return found;
    return nullptr;
}

}  // namespace

torch::Tensor AnswerStream::pooled(const torch::Tensor& x) const {
    switch (pool) {
        case Pool::None:
            return x;
        case Pool::Mean:
            return x.mean(1, true);
        case Pool::First:
            return x.slice(1, 0, 1);
        case Pool::Flat:
            return x.flatten(1).unsqueeze(1);
        case Pool::Ended:
            break;
    }
    return x;
}

torch::Tensor AnswerStream::answer(const torch::Tensor& pooled) const {
    const auto y = uncapped(pooled);
    return form ? cappedScores(*form, y) : y;
}

torch::Tensor AnswerStream::uncapped(const torch::Tensor& pooled) const {
    auto x = pooled;
    if (ended) {
        const HookScope unhooked(nullptr);
        const RecordingScope unrecorded(nullptr);
        x = ended(x);
        if (!endsEach) x = x.unsqueeze(1);
        return x.size(-1) == 1 ? torch::cat({torch::zeros_like(x), x}, -1) : x;
    }
    if (!norm.is_empty()) x = norm.ptr()->forward(x);
    if (!hidden.is_empty()) x = torch::relu(hidden->forward(x));
    if (!head.is_empty()) x = head.ptr()->forward(x);
    if (!project.is_empty()) x = project->forward(x);
    x = out->forward(x);
    if (form) x = uncappedScores(*form, x, vocabulary);
    return x.size(-1) == 1 ? torch::cat({torch::zeros_like(x), x}, -1) : x;
}

namespace {

// The program that serves a model runs what comes after a stream.
AnswerStream servedStream(ServedModelImpl& model) {
    if (const auto why = model.whyNoStreams(); !why.empty())
        throw OptionError("model", model.declared().name + " " + why +
                                       ", so that its answer cannot be read after each layer");
    AnswerStream s;
    s.before = "embedding";
    s.pool = AnswerStream::Pool::Ended;
    s.endsEach = model.declared().input == InputKind::Tokens && model.declared().tokenScores;
    s.ended = [&model](const torch::Tensor& x) { return model.ended(x); };
    const auto& layers = model.declared().layers;
    s.stack = layers.front().block.substr(0, layers.front().block.rfind('.'));
    s.points.push_back(layers.front().block + ".hook_resid_pre");
    for (const auto& layer : layers) s.points.push_back(layer.block + ".hook_resid_post");
    return s;
}

}  // namespace

AnswerStream answerStream(ModelImpl& model, const ModelOptions& o) {
    if (auto* served = dynamic_cast<ServedModelImpl*>(&model)) return servedStream(*served);
    using Pool = AnswerStream::Pool;
    AnswerStream s;
    const auto blocks = [&](const char* path, const char* stack) {
        if (!s.blocks) s.blocks = part<torch::nn::ModuleListImpl>(model, path), s.stack = stack;
    };
    s.before = "embedding";
    if (o.find<TokenInput>()) {
        blocks("layers.blocks", "blocks");
        s.norm = Norm(part<NormImpl>(model, "layers.norm"));
        s.project = Linear(part<LinearImpl>(model, "layers.project_out"));
        s.head = MaskedHead(part<MaskedHeadImpl>(model, "layers.head"));
    } else if (const auto* vision = o.find<VisionTransformerOptions>()) {
        blocks("encoder_blocks", "blocks");
        s.pool = vision->pool == "cls" ? Pool::First : Pool::Mean;
        s.norm = Norm(part<NormImpl>(model, "final_out.0"));
    } else if (o.find<PairInput>()) {
        blocks("layers.decoder_blocks", "decoder");
        blocks("decoder_blocks", "decoder");
    } else {
        // Objects are answered one after another, the patches of an Abstractor by their mean.
        s.pool = o.find<ImageInput>() ? Pool::Mean : Pool::Flat;
        blocks("encoder_blocks", "blocks");
        if (!s.blocks) s.before = "symbols";
        for (const char* path : {"abstractor.abstractor_layers", "abstractor.layers", "layers"})
            blocks(path, "abstractor");
        s.hidden = Linear(anyOf<LinearImpl>(model, {"hidden", "mlp_predictor.0"}));
    }
    if (const auto* form = o.find<OutputForm>(); form && *form != OutputForm{0.0, 1})
        s.form = *form, s.vocabulary = o.outputs();
    s.out = Linear(anyOf<LinearImpl>(
        model, {"layers.final_out", "final_out.1", "final_out", "mlp_predictor.2", "class_out"}));
    if (auto* images = dynamic_cast<PublicImageModelImpl*>(&model))
        s.images = images, s.pool = Pool::Ended,
        s.ended = [images](const torch::Tensor& x) { return images->ended(x); };
    if (!s.blocks || s.blocks->is_empty() || (s.out.is_empty() && !s.images))
        throw OptionError("model",
                          articled(o.architecture()) +
                              " has no residual stream that layers add to and its output layer "
                              "could read before the end; choose a Transformer or an "
                              "Abstractor");
    if (o.info().numbers)
        throw OptionError("model", articled(o.architecture()) +
                                       " answers with numbers, which have no probabilities; choose "
                                       "a model of classes or tokens");
    const auto first = s.stack + ".0.hook_resid_pre";
    s.points.push_back(first);
    for (std::size_t layer = 0; layer < s.blocks->size(); ++layer)
        s.points.push_back(s.stack + "." + std::to_string(layer) + ".hook_resid_post");
    return s;
}

void requireAnswers(const ModelOptions& options) {
    if (!options.find<PublicImageOptions>() || !answersNumbers(options)) return;
    throw OptionError("model", "this " + modelTitle(options) +
                                   " has no classifier: its answer are features, which have no "
                                   "probabilities; give texts or a head with --head (in inspect "
                                   "--readout), or labelled pictures with --data");
}

std::int64_t positionIn(std::int64_t position, std::int64_t size) {
    const auto at = position < 0 ? position + size : position;
    if (at < 0 || at >= size)
        throw OptionError(
            "position", std::to_string(position) + " is out of range: the input has " +
                            std::to_string(size) + " positions, 0 to " + std::to_string(size - 1));
    return at;
}

void requireAnswer(std::int64_t id, std::int64_t answers, const char* field) {
    if (id >= 0 && id < answers) return;
    throw OptionError(field, "there is no answer " + std::to_string(id) + ": the model has " +
                                 std::to_string(answers) + ", 0 to " + std::to_string(answers - 1));
}

torch::Tensor readPass(ModelImpl& model, const ModelInput& input, PointReader& reader) {
    const EvaluationMode evaluation(model);
    const torch::NoGradGuard noGrad;
    const InterventionScope scope(&reader);
    const RecordingScope unrecorded(nullptr);
    const auto scores = answersOf(model, input);
    if (scores.size(0) != 1) throw OptionError("input", "give one example, not a batch");
    return scores.dim() == 3 ? scores[0] : scores;  // [n, answers]
}

}  // namespace relascope::core
