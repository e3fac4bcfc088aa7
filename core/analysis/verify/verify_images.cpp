// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/verify/verify_images.h"

#include <torch/utils.h>
#include <utility>

#include "checkpoint/checkpoint.h"
#include "checkpoint/tensor_io.h"
#include "interventions/editor.h"
#include "model/public/public_image_model.h"
#include "probe/map_collector.h"
#include "readout/feature_heads.h"

namespace relascope::core {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;

torch::Tensor find(const Tensors& tensors, const std::string& key) {
    const auto at = tensors.find(key);
    return at == tensors.end() ? torch::Tensor() : at->second;
}

void setSize(PublicImageOptions& o, const torch::Tensor& images) {
    if (images.defined() && images.dim() == 4)
        o.image_shape = {images.size(1), images.size(3), images.size(2)};
}

void addTextKeys(Tensors& ours, PublicImageModelImpl& model, const torch::Tensor& texts) {
    Collector collector;
    torch::Tensor before;
    {
        const RecordingScope scope(collector);
        ours["text/features"] = model.text->forward(texts, &before);
    }
    ours["text/hidden/0"] = before;
    const std::string stack = "text.blocks.";
    for (const auto& [name, tensor] : collector.tensors())
        for (const std::string kind : {"hidden/", "scores/"})
            if (name.starts_with(kind + stack))
                ours["text/" + kind +
                     std::to_string(std::stoll(name.substr(kind.size() + stack.size())) + 1)] =
                    tensor;
}

constexpr std::int64_t kFittedOn = 12;  // of the pictures of a case for heads

/// The scores of heads that are fitted on the first pictures of a case.
void addHeadKeys(Tensors& ours, const Tensors& io, PublicImageModelImpl& model,
                 const torch::Tensor& pictures) {
    const auto labels = find(io, "probe/labels");
    if (!labels.defined() || pictures.size(0) <= kFittedOn) return;
    const auto own = std::exchange(model.head, [](const torch::Tensor& x) { return x; });
    const auto features = model.forward(pictures.to(model.device()));
    model.head = own;
    LabelledFeatures fitting{features.slice(0, 0, kFittedOn), {}, {}};
    const auto classes = labels.max().item<std::int64_t>() + 1;
    for (std::int64_t c = 0; c < classes; ++c) fitting.classes.push_back(std::to_string(c));
    for (std::int64_t i = 0; i < kFittedOn; ++i)
        fitting.labels.push_back(labels[i].item<std::int64_t>());
    ours["probe/images"] = pictures, ours["probe/labels"] = labels;
    ours["probe/mean_scores"] = nearestMeanHead(fitting).scores(features);
    ours["probe/ridge_scores"] = ridgeHead(fitting).scores(features);
}

}  // namespace

void takeCase(ModelOptions& options, const Tensors& io) {
    auto* o = options.find<PublicImageOptions>();
    if (!o) return;
    setSize(*o, find(io, "input/images"));
    const auto texts = find(io, "input/texts");
    if (texts.defined() && o->hasTexts()) o->answer = "texts", o->num_classes = texts.size(0);
}

void answerWithTexts(ModelImpl& model, const Tensors& io) {
    auto* images = dynamic_cast<PublicImageModelImpl*>(&model);
    const auto texts = find(io, "input/texts");
    if (!images || !texts.defined() || images->text.is_empty()) return;
    const torch::NoGradGuard noGrad;
    images->head = [images, features = images->text->forward(texts)](const torch::Tensor& x) {
        return images->fit(x, features.to(x.device()));
    };
}

void addImageKeys(Tensors& ours, const Tensors& io, ModelImpl& model, const ModelOptions& options,
                  const CheckpointSource& source) {
    auto* images = dynamic_cast<PublicImageModelImpl*>(&model);
    if (!images) return;
    const torch::NoGradGuard noGrad;
    const auto wants = [&](const char* key) { return io.count(key) > 0; };
    if (const auto scores = find(ours, "scores/pool.query_attn"); scores.defined())
        ours["pool/scores"] = scores;
    const auto& o = images->imageOptions();
    if (const auto last = find(ours, "hidden/" + std::to_string(o.n_layers)); last.defined()) {
        if (wants("output/features")) ours["output/features"] = images->features(last);
        if (wants("output/class_logits") && !images->class_out.is_empty()) {
            const auto both = images->features(last);  // [b, 2, d], after the norm
            ours["output/class_logits"] = images->class_out(both.select(1, 0));
            ours["output/distillation_logits"] = images->distillation_out(both.select(1, 1));
        }
    }
    if (const auto texts = find(io, "input/texts"); texts.defined() && !images->text.is_empty())
        addTextKeys(ours, *images, texts);
    if (const auto pictures = find(io, "probe/images"); pictures.defined())
        addHeadKeys(ours, io, *images, pictures);
    const auto resized = find(io, "resized/images");
    if (!resized.defined()) return;
    auto other = options;
    setSize(other.get<PublicImageOptions>(), resized);
    const auto scaled = makeModel(other);
    loadWeights(*scaled, other, source);
    answerWithTexts(*scaled, io);
    scaled->eval();
    const std::string before = "blocks.0.hook_resid_pre";
    PointReader reader({before});
    const HookScope scope(&reader);
    ours["resized/images"] = resized;
    ours["resized/answer"] = scaled->forward(resized);
    ours["resized/hidden_0"] = reader.tensors().at(before);
}

}  // namespace relascope::core
