// SPDX-License-Identifier: GPL-3.0-or-later
#include "served/native_twin.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "data/batches.h"
#include "interventions/edited_run.h"
#include "model/architecture.h"
#include "model/blocks/recording.h"
#include "model/hooks/hooks.h"
#include "model/served/served_tensor.h"

namespace relascope::testing_support {
namespace {

using Json = nlohmann::json;

// The prefix of a block's points: "blocks.0" of "blocks.0.attn.hook_z"; empty outside of blocks.
std::string blockOfPoint(const std::string& point) {
    const auto first = point.find('.');
    const auto second = point.find('.', first + 1);
    if (first == std::string::npos || second == std::string::npos) return {};
    const auto number = point.substr(first + 1, second - first - 1);
    const bool digits = number.find_first_not_of("0123456789") == std::string::npos;
    return digits ? point.substr(0, second) : std::string();
}

}  // namespace

NativeTwin::NativeTwin(std::string name, ModelPtr model, const ModelOptions& options,
                       DatasetPtr data)
    : m_name(std::move(name)), m_model(std::move(model)), m_options(options), m_data(data) {
    const std::int64_t first = 0;
    const auto batch = makeBatch(*data, &first, 1);
    auto& d = m_declaration;
    d = {{"name", m_name}, {"program", "twin"}, {"model", "Twin"}, {"parameters", 1000},
         {"step", 7},      {"version", 1},      {"crc32", 1}};
    const bool text = options.input() == InputKind::Tokens;
    if (const auto* images = options.find<ImageInput>())
        d["input"] = {{"kind", "image"},
                      {"channels", images->channels()},
                      {"height", images->image_shape[2]},
                      {"width", images->image_shape[1]},
                      {"patch", {images->patch_size[1], images->patch_size[0]}},
                      {"grid", {images->gridRows(), images->gridColumns()}},
                      {"first_tokens", options.tokens() - images->patches()}};
    else if (const auto* tokens = options.find<TokenInput>())
        d["input"] = {{"kind", "tokens"},
                      {"length", tokens->max_block_size},
                      {"vocabulary", tokens->vocab_size},
                      {"causal", true}};
    else if (const auto* objects = options.find<ObjectInput>())
        d["input"] = {
            {"kind", "objects"}, {"count", objects->n_objects}, {"dim", objects->object_dim}};
    if (text)
        d["output"] = {{"kind", "tokens"}, {"vocabulary", options.outputs()}};
    else
        d["output"] = {{"kind", "classes"}, {"count", options.outputs()}};
    if (!text && std::ssize(data->info().classNames) == options.outputs())
        d["output"]["names"] = data->info().classNames;
    d["points"] = Json::array();
    d["blocks"] = Json::array();
    d["layers"] = Json::object();
    for (const auto& point : pointsOf(*m_model, core::inputOf(batch, torch::kCPU))) {
        auto sizes = point.shape;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            const auto& axis = point.axes[k];
            const bool grows = axis == "position" || axis == "i" || axis == "j";
            if (axis == "batch" || (text && grows)) sizes[k] = -1;
        }
        const bool maps =
            point.name.ends_with("hook_pattern") || point.name.ends_with("hook_attn_scores");
        d["points"].push_back({{"name", point.name},
                               {"axes", point.axes},
                               {"sizes", sizes},
                               {"causal", point.causal && maps},
                               {"gradient", true},
                               {"replace", true}});
        const auto block = blockOfPoint(point.name);
        if (block.empty()) continue;
        if (!d["layers"].contains(block)) {
            d["blocks"].push_back(block);
            d["layers"][block] = {{"heads", 0}};
        }
        auto& layer = d["layers"][block];
        const auto heads = point.dimension("head");
        if (point.name == block + ".attn.hook_pattern")
            layer["heads"] = point.shape[static_cast<std::size_t>(heads)];
        if (point.name == block + ".rel.hook_r")
            layer["relations"] = point.shape[static_cast<std::size_t>(point.dimension("relation"))];
    }
    d["splits"] = {{{"name", "validation"}, {"size", data->size()}, {"labels", true}}};
    d["can"] = {{"gradients", true}, {"fresh", false}, {"encode", true}, {"steps", Json::array()}};
    for (const auto& entry : stateOf(*m_model))
        m_crc += static_cast<std::uint32_t>(entry.tensor.numel());
}

/// Carries out the actions of a pass.
class NativeTwin::Answering : public Hooks {
public:
    Answering(NativeTwin& twin, const ServedPass& pass, const ServedPointMet& met)
        : m_twin(twin), m_pass(pass), m_met(met) {
        for (const auto& [name, action] : pass.points) m_actions[name].push_back(&action);
    }
    bool takes(std::string_view prefix) const override {
        const auto found = m_actions.lower_bound(prefix);
        return found != m_actions.end() && std::string_view(found->first).starts_with(prefix);
    }
    torch::Tensor streamAfter(const std::string& block) override {
        if (!m_pass.after || m_pass.after->first != block) return {};
        ++m_twin.skipped;
        return tensorOf(m_pass.after->second).clone();
    }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& given) override {
        const auto found = m_actions.find(point.name);
        if (found == m_actions.end()) return given;
        m_seen.insert(point.name);
        auto value = given;
        for (const auto* action : found->second) value = done(*action, point, value);
        return value;
    }
    std::vector<std::string> unseen() const {
        std::vector<std::string> names;
        for (const auto& [name, actions] : m_actions)
            if (!m_seen.contains(name)) names.push_back(name);
        return names;
    }

private:
    torch::Tensor done(const ServedAction& action, const HookPoint& point, torch::Tensor value) {
        const auto sent = [](const torch::Tensor& t) {
            return servedTensor(t.detach().contiguous().clone());
        };
        switch (action.what) {
            case ServedAction::Do::Multiply: {
                const auto factors = tensorOf(action.values).clone();
                std::vector<std::int64_t> shape(point.axes.size(), 1);
                for (std::size_t d = 0; d < shape.size(); ++d)
                    if (action.axis == axisName(point.axes[d])) shape[d] = factors.size(0);
                ++m_twin.put;
                return value * factors.view(shape);
            }
            case ServedAction::Do::Put: {
                ++m_twin.put;
                value = value.clone();
                auto part = tensorOf(action.values).clone();
                // As numpy's ix_: the places of each axis against those of the others.
                torch::List<std::optional<torch::Tensor>> where;
                for (std::size_t d = 0; d < action.places.size(); ++d) {
                    auto places = action.places[d]
                                      ? torch::tensor(*action.places[d], torch::kLong)
                                      : torch::arange(value.size(static_cast<std::int64_t>(d)));
                    std::vector<std::int64_t> shape(action.places.size(), 1);
                    shape[d] = -1;
                    where.push_back(places.view(shape));
                }
                return torch::index_put(value, where, part);
            }
            case ServedAction::Do::Read:
            case ServedAction::Do::Exchange:
                break;
        }
        const bool waits = action.what == ServedAction::Do::Exchange;
        ++(waits ? m_twin.exchanged : m_twin.read);
        std::optional<ServedTensor> result;
        {
            // The asking side has hooks of its own on this thread.
            const HookScope none(nullptr);
            result = m_met(point.name, sent(value), waits);
        }
        if (waits && result) value = tensorOf(*result).clone();
        if (action.gradient) {
            if (!value.requires_grad()) value = value.detach().requires_grad_();
            m_twin.m_leaves[point.name] = value;
        }
        return value;
    }

    NativeTwin& m_twin;
    const ServedPass& m_pass;
    const ServedPointMet& m_met;
    std::map<std::string, std::vector<const ServedAction*>, std::less<>> m_actions;
    std::set<std::string> m_seen;
};

torch::Tensor NativeTwin::inputOf(const ServedPass& pass) const {
    if (pass.input) return tensorOf(*pass.input).clone();
    return makeBatch(*m_data, pass.indices.data(), std::ssize(pass.indices)).inputs;
}

ServedScores NativeTwin::forward(const ServedPass& pass, const ServedPointMet& met) {
    const std::lock_guard lock(m_mutex);
    if (pass.version && *pass.version != m_version)
        throw Error("The weights of " + m_name + " have changed since; ask again.");
    ++passes;
    m_leaves.clear();
    // What wants to read after the asking side's hooks belongs to it.
    Hooks* const asking = activeHooks();
    const ServedPointMet there = [&](const std::string& name, const ServedTensor& value,
                                     bool waits) {
        const torch::AutoGradMode gradients(pass.gradients);
        const HookScope its(asking);
        return met(name, value, waits);
    };
    Answering hooks(*this, pass, there);
    const torch::AutoGradMode gradients(pass.gradients);
    const HookScope scope(&hooks);
    const RecordingScope unrecorded(nullptr);
    const EvaluationMode evaluation(*m_model);
    m_scores = m_model->forward(inputOf(pass));
    for (const auto& name : hooks.unseen()) throw Error("the pass did not meet " + name);
    return {servedTensor(m_scores.detach().contiguous().clone()), ++m_pass};
}

std::map<std::string, ServedTensor> NativeTwin::backward(std::uint64_t pass,
                                                         const ServedTensor& gradient) {
    const std::lock_guard lock(m_mutex);
    if (pass != m_pass) throw Error("the pass is gone");
    std::vector<std::string> names;
    std::vector<torch::Tensor> leaves;
    for (const auto& [name, tensor] : m_leaves) names.push_back(name), leaves.push_back(tensor);
    const auto found =
        torch::autograd::grad({m_scores}, leaves, {tensorOf(gradient).clone()}, false, false, true);
    std::map<std::string, ServedTensor> all;
    for (std::size_t k = 0; k < names.size(); ++k)
        if (found[k].defined()) all[names[k]] = servedTensor(found[k].contiguous());
    return all;
}

ServedExamples NativeTwin::examples(const std::string&, std::span<const std::int64_t> indices,
                                    bool all) {
    const std::lock_guard lock(m_mutex);
    ServedExamples examples;
    const auto batch = makeBatch(*m_data, indices.data(), std::ssize(indices));
    examples.about.resize(indices.size());
    auto labels = batch.targets;
    if (labels.dim() == 2 && m_options.input() != InputKind::Tokens) labels = labels.select(1, 0);
    examples.tensors["labels"] = servedTensor(labels.to(torch::kLong).contiguous().clone());
    // People see tokens where the model reads them.
    if (m_options.input() == InputKind::Tokens)
        examples.tensors["tokens"] = servedTensor(batch.inputs.clone());
    if (!all) return examples;
    if (m_options.input() == InputKind::Images) {
        auto pictures = (batch.inputs * 255).round().to(torch::kByte).permute({0, 2, 3, 1});
        examples.tensors["pictures"] = servedTensor(pictures.contiguous());
    }
    if (m_options.input() == InputKind::Objects)
        examples.tensors["vectors"] = servedTensor(batch.inputs.clone());
    return examples;
}

}  // namespace relascope::testing_support
