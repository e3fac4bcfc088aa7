// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/verify/verify_public.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "analysis/parts/answer_stream.h"
#include "checkpoint/tensor_io.h"
#include "evaluate/pseudo_likelihood.h"
#include "files/atomic_file.h"
#include "interventions/edited_run.h"
#include "interventions/editor.h"
#include "model/public/family.h"
#include "probe/map_collector.h"
#include "text/tokenizer.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;

Edit editAt(EditOp op, const std::string& point) {
    Edit edit;
    edit.op = op, edit.point = point;
    return edit;
}

// Logits with one edit; `other` is where a patch takes its values from.
torch::Tensor editedLogits(ModelImpl& model, const ModelInput& input, const Edit& edit,
                           const ModelInput* other = nullptr) {
    EditList list;
    list.edits = {edit};
    EditInputs inputs;
    if (other) inputs.named.emplace(edit.input, *other);
    if (other) list.inputs[edit.input] = {};
    Editor editor(list);
    takeValues(editor, model, input, inputs);
    return forwardEdited(model, input, editor);
}

// alpha [b, h, i, j] of the sensory heads of every layer, by the number of the layer from 1.
std::map<std::int64_t, torch::Tensor> numbered(const Tensors& recorded, const char* kind,
                                               const std::string& stack) {
    std::map<std::int64_t, torch::Tensor> all;
    for (const auto& [name, tensor] : recorded) {
        const auto at = name.find(stack + ".");
        if (!name.starts_with(kind) || at == std::string::npos) continue;
        // Of dual models the sensory heads count.
        if (name.ends_with(".relational_attention")) continue;
        all[std::stoll(name.substr(at + stack.size() + 1)) + 1] = tensor;
    }
    return all;
}

// Means of alpha over queries and both rows (golden/public/README.md): [layers, heads].
void addHeadMeasures(Tensors& ours, ModelImpl& model, const torch::Tensor& repeated,
                     const std::string& stack) {
    Collector collector;
    {
        const RecordingScope scope(collector);
        model.forward(repeated);
    }
    const std::int64_t half = repeated.size(1) / 2;
    std::vector<torch::Tensor> previous, duplicate, induction;
    // alpha(i, i + offset) for i from `first` on.
    const auto mean = [](const torch::Tensor& alpha, std::int64_t offset, std::int64_t first) {
        const auto cells = alpha.diagonal(offset, 2, 3);  // [b, h, i - (-offset)]
        return cells.slice(2, first + offset).mean(2).mean(0);
    };
    for (const auto& [layer, alpha] : numbered(collector.tensors(), "scores/", stack)) {
        previous.push_back(mean(alpha, -1, 1));
        duplicate.push_back(mean(alpha, -half, half));
        induction.push_back(mean(alpha, 1 - half, half));
    }
    if (previous.empty()) return;
    ours["heads/previous"] = torch::stack(previous);
    ours["heads/duplicate"] = torch::stack(duplicate);
    ours["heads/induction"] = torch::stack(induction);
}

}  // namespace

VerifyLine verifyTokenizer(const std::string& folder) {
    using nlohmann::json;
    using Ids = std::vector<std::int32_t>;
    const std::string file = folder + "/tokenizer_cases.json";
    const auto cases = json::parse(readTextFile(file), nullptr, false);
    if (!cases.is_array() || cases.empty()) throw FileError(file, "is no list of texts");
    const auto tokenizer = openTokenizer(folder);
    VerifyLine line;
    line.name = "tokenizer_cases.json";
    try {
        for (const auto& one : cases.get<std::vector<json>>()) {
            const auto text = one.at("text").get<std::string>();
            const auto ids = one.at("ids").get<Ids>();
            const auto given = one.find("without_template"), back = one.find("back");
            const auto bare = given == one.end() ? ids : given->get<Ids>();
            const bool same = tokenizer->encodeTyped(text) == ids &&
                              tokenizer->encodeTyped(text, false) == bare &&
                              validUtf8(tokenizer->decode(bare)) ==
                                  (back == one.end() ? text : back->get<std::string>());
            if (same) continue;
            if (line.absolute == 0.0) line.note = "first: " + json(text).dump().substr(0, 60);
            ++line.absolute;
        }
    } catch (const json::exception&) {
        throw FileError(file, "is no list of objects with text and ids");
    }
    line.relative = line.absolute / static_cast<double>(std::max<std::size_t>(1, cases.size()));
    line.ok = line.absolute == 0.0;
    return line;
}

torch::Tensor pixelValues(const Image& image, const ImageProcessor& processor) {
    const auto bytes = torch::tensor(torch::ArrayRef<std::uint8_t>(image.pixels))
                           .view({1, image.height, image.width, image.channels});
    const auto row = [](const std::vector<double>& numbers) {
        return torch::tensor(numbers, torch::kDouble).view({1, -1, 1, 1});
    };
    return ((bytes.permute({0, 3, 1, 2}).to(torch::kDouble) / 255.0 - row(processor.mean)) /
            row(processor.deviation))
        .to(torch::kFloat);
}

void addPublicKeys(Tensors& ours, const Tensors& io, ModelImpl& model, const ModelOptions& options,
                   const ModelInput& input, const std::string& folder, Hooks* edits) {
    if (!familyOf(options)) return;
    const torch::NoGradGuard noGrad;
    const auto stream = answerStream(model, options);
    const std::string stack =
        options.input() == InputKind::Tokens ? "layers.blocks" : "encoder_blocks";
    for (const auto& [layer, tensor] : numbered(ours, "scores/", stack))
        ours["scores/" + std::to_string(layer)] = tensor;
    for (const auto& [layer, tensor] : numbered(ours, "hidden/", stack))
        ours["hidden/" + std::to_string(layer)] = tensor;
    const auto wants = [&](const std::string& key) {
        return io.count(key) > 0 && !ours.count(key);
    };
    const std::string before = stream.stack + ".0.hook_resid_pre",
                      normed = "ln_final.hook_normalized";
    if (wants("hidden/0") || wants("hidden/last_norm")) {
        PointReader reader({before, normed});
        HookChain both(edits ? edits : &reader, &reader);
        const HookScope scope(edits ? static_cast<Hooks*>(&both) : &reader);
        model.forward(input);
        if (const auto at = reader.tensors().find(before); at != reader.tensors().end())
            ours["hidden/0"] = at->second;
        if (const auto at = reader.tensors().find(normed); at != reader.tensors().end())
            ours["hidden/last_norm"] = at->second;
    }
    for (std::size_t layer = 0; layer <= stream.blocks->size(); ++layer) {
        const auto number = std::to_string(layer);
        const auto hidden = ours.find("hidden/" + number);
        if (!wants("lens/" + number) || hidden == ours.end()) continue;
        auto answer = stream.answer(stream.pooled(hidden->second));
        ours["lens/" + number] = stream.whole() ? answer.squeeze(1) : answer;
    }
    const auto first = stream.stack + ".0.";
    if (wants("cut/head")) {
        auto edit = editAt(EditOp::Zero, first + "attn.hook_z");
        edit.selection["head"].places = {0};
        ours["cut/head"] = editedLogits(model, input, edit);
    }
    if (wants("cut/mlp"))
        ours["cut/mlp"] = editedLogits(model, input, editAt(EditOp::Zero, first + "hook_mlp_out"));
    if (wants("patch/resid")) {
        const ModelInput other =
            storedTensor(io, "patch/input", folder + "/io.safetensors").to(input.x.device());
        auto edit = editAt(EditOp::Patch, first + "hook_resid_post");
        edit.input = "second";
        edit.selection["position"].places = {-1};
        ours["patch/resid"] = editedLogits(model, input, edit, &other);
    }
    if (wants("heads/previous") || wants("heads/duplicate") || wants("heads/induction"))
        addHeadMeasures(
            ours, model,
            storedTensor(io, "input/repeated", folder + "/io.safetensors").to(input.x.device()),
            stack);
    if (wants("pll/scores")) {
        const auto of = [&](const char* key) {
            return storedTensor(io, key, folder + "/io.safetensors").to(torch::kLong).contiguous();
        };
        const auto tokens = of("pll/tokens"), words = of("pll/words");
        if (tokens.dim() != 2 || words.sizes() != tokens.sizes())
            throw FileError(folder + "/io.safetensors",
                            "pll/tokens and pll/words must be [b, n] alike");
        const auto mask = of("pll/mask").item<std::int64_t>();
        std::vector<torch::Tensor> scores;
        for (std::int64_t row = 0; row < tokens.size(0); ++row) {
            const auto list = [&](const torch::Tensor& t) {
                const auto* first = t[row].const_data_ptr<std::int64_t>();
                return std::vector<std::int64_t>(first, first + t.size(1));
            };
            const auto own = list(tokens);
            scores.push_back(
                torch::tensor(hiddenWordScores(own, hiddenRows(own, list(words), mask), 64,
                                               [&](const torch::Tensor& rows) {
                                                   return model.forward(rows.to(input.x.device()));
                                               }),
                              torch::kDouble));
        }
        ours["pll/scores"] = torch::stack(scores);
    }
    for (std::size_t layer = 1; layer <= stream.blocks->size(); ++layer) {
        const auto key = "experts/" + std::to_string(layer);
        if (!wants(key)) continue;
        const auto point =
            stream.stack + "." + std::to_string(layer - 1) + ".mlp.hook_expert_weights";
        PointReader reader({point});
        const HookScope scope(&reader);
        model.forward(input);
        if (const auto at = reader.tensors().find(point); at != reader.tensors().end())
            ours[key] = at->second;
    }
    if (wants("long/logits")) {
        const auto text = storedTensor(io, "long/tokens", folder + "/io.safetensors");
        ours["long/tokens"] = text;
        ours["long/logits"] = model.forward(text.to(input.x.device()));
    }
}

}  // namespace relascope::core
