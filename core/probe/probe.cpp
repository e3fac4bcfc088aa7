// SPDX-License-Identifier: GPL-3.0-or-later
#include "probe/probe.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <random>

#include "model/architecture.h"
#include "probe/collector.h"
#include "probe/layers.h"
#include "probe/probe_memory.h"

namespace relascope::core {
namespace {

constexpr std::size_t kShownOutputs = 256, kLikeliest = 12;

bool endsWith(const std::string& text, const std::string& tail) {
    return text.size() >= tail.size() &&
           text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// Relational heads mix relations, or symbols weighted by relations; the others mix features.
bool isRelational(const std::string& module, const LayerPlace& place) {
    for (const char* tail : {"relational_attention", ".rca", ".rel_attn"})
        if (endsWith(module, tail)) return true;
    return module == "relation" || module == "regression" ||
           (place.relational && !endsWith(module, "self_attn"));
}

// maps [count, rows, columns], any device and floating type.
void addMaps(ProbeResult& result, MapKind kind, int layer, torch::Tensor maps, bool causal) {
    // Library rows are recorded as integers, weights as floating point.
    const bool libraryRows = kind == MapKind::Symbols && !maps.is_floating_point();
    maps = maps.to(torch::kCPU, torch::kFloat).contiguous();
    const auto rows = maps.size(1), columns = maps.size(2);
    for (std::int64_t index = 0; index < maps.size(0); ++index) {
        const float* values = maps.const_data_ptr<float>() + index * rows * columns;
        result.maps.push_back({kind,
                               layer,
                               static_cast<int>(index),
                               static_cast<int>(rows),
                               static_cast<int>(columns),
                               {values, values + rows * columns},
                               causal,
                               libraryRows});
    }
}

torch::Tensor imageInput(const ProbeSample& sample, const ImageInput& o) {
    const auto& image = sample.image;
    if (image.channels != o.image_shape[0] || image.width != o.image_shape[1] ||
        image.height != o.image_shape[2])
        throw OptionError("image", sample.origin + " is " + std::to_string(image.channels) + " x " +
                                       std::to_string(image.height) + " x " +
                                       std::to_string(image.width) + ", but the model expects " +
                                       std::to_string(o.image_shape[0]) + " x " +
                                       std::to_string(o.image_shape[2]) + " x " +
                                       std::to_string(o.image_shape[1]));
    const auto bytes = torch::tensor(torch::ArrayRef<std::uint8_t>(image.pixels))
                           .view({1, image.height, image.width, image.channels});
    return bytes.permute({0, 3, 1, 2}).to(torch::kFloat) / 255.0f;
}

torch::Tensor sequenceInput(const ProbeSequence& s, bool tokens, std::int64_t size,
                            std::int64_t longest, const std::string& what) {
    if (s.size() < 1) throw OptionError(what, "is empty; give at least one element");
    if (s.size() > longest)
        throw OptionError(what, "has " + std::to_string(s.size()) +
                                    " elements, but the model accepts " + std::to_string(longest));
    if (tokens) {
        for (const auto id : s.tokens)
            if (id < 0 || id >= size)
                throw OptionError(what, "token " + std::to_string(id) +
                                            " is outside the vocabulary of " +
                                            std::to_string(size));
        if (s.width != 0) throw OptionError(what, "contains vectors, but the model expects tokens");
        return torch::tensor(s.tokens).unsqueeze(0);  // [1, n]
    }
    if (s.width != size)
        throw OptionError(what, "contains vectors of " + std::to_string(s.width) +
                                    " values, but the model expects " + std::to_string(size));
    return torch::tensor(s.vectors).view({1, s.size(), s.width});
}

void addProbabilities(ProbeResult& result, torch::Tensor logits, const ModelOptions& o,
                      const std::vector<std::string>& classNames) {
    if (o.info().numbers) return;
    logits = logits.detach().to(torch::kCPU, torch::kFloat);
    logits = (logits.dim() == 3 ? logits.select(1, -1) : logits)[0];  // of the last element
    if (o.input() == InputKind::Objects && o.outputs() == 1) {
        const float yes = torch::sigmoid(logits)[0].item<float>();
        result.probabilities = {1.0F - yes, yes};
        result.classNames =
            classNames.size() == 2 ? classNames : std::vector<std::string>{"no", "yes"};
        return;
    }
    const auto all = torch::softmax(logits, 0).contiguous();
    const auto* p = all.const_data_ptr<float>();
    std::vector<std::size_t> order(static_cast<std::size_t>(all.numel()));
    std::iota(order.begin(), order.end(), std::size_t{0});
    // For a vocabulary only the most likely ones.
    if (order.size() > kShownOutputs ||
        (o.input() == InputKind::Tokens && order.size() > kLikeliest)) {
        std::partial_sort(order.begin(), order.begin() + kLikeliest, order.end(),
                          [p](std::size_t a, std::size_t b) { return p[a] > p[b]; });
        order.resize(kLikeliest);
    }
    for (const auto c : order) {
        result.probabilities.push_back(p[c]);
        result.classNames.push_back(c < classNames.size() ? classNames[c] : std::to_string(c));
    }
}

}  // namespace

ModelInput inputOf(const ProbeSample& sample, const ModelOptions& o) {
    if (const auto* tokens = o.find<TokenInput>())
        return sequenceInput(sample.source, true, tokens->vocab_size, tokens->max_block_size,
                             "tokens");
    if (const auto* pairs = o.find<PairInput>())
        return {sequenceInput(sample.source, pairs->input_type == "token", pairs->input_size,
                              pairs->in_block_size, "source"),
                sequenceInput(sample.target, pairs->output_type == "token", pairs->output_size,
                              pairs->out_block_size, "target")};
    if (const auto* objects = o.find<ObjectInput>()) {
        if (sample.source.size() != objects->n_objects)
            throw OptionError("objects", std::to_string(sample.source.size()) +
                                             " objects, but the model expects " +
                                             std::to_string(objects->n_objects));
        return sequenceInput(sample.source, false, objects->object_dim, objects->n_objects,
                             "objects");
    }
    return imageInput(sample, o.get<ImageInput>());
}

ProbeResult probeModel(ModelImpl& model, const ModelOptions& options, const ProbeSample& sample,
                       std::int64_t step, const std::vector<std::string>& classNames) {
    auto input = inputOf(sample, options);
    if (options.input() == InputKind::Tokens) requireProbeMemory(options, sample.source.size());
    const bool training = model.is_training();
    const auto device = model.parameters().front().device();
    input.x = input.x.to(device);
    if (input.target.defined()) input.target = input.target.to(device);
    const torch::NoGradGuard noGrad;
    model.eval();
    Collector collector;
    torch::Tensor logits;
    try {
        const RecordingScope scope(collector);
        logits = model.forward(input);
    } catch (...) {
        model.train(training);
        throw;
    }
    model.train(training);

    ProbeResult result;
    result.step = step;
    result.sample = sample;
    if (const auto* images = options.find<ImageInput>())
        result.grid = {static_cast<int>(images->gridRows()),
                       static_cast<int>(images->gridColumns()), options.info().classToken};
    result.sides = probeSides(options, sample);
    const auto places = options.info().layers(options);
    for (const auto& place : places) result.layers.push_back(place.layer);
    addProbabilities(result, logits, options, classNames);

    // Recorded as published: [b, i, j, relation], but [b, head, i, j] where each head has its own.
    const auto* block = options.find<BlockOptions>();
    const bool relationsByHead = options.info().dual && block->ra_type == "disrca";
    // Releases each tensor once its maps are copied, as two copies of everything may not fit into
    // memory.
    for (auto& [key, recorded] : collector.take()) {
        const torch::Tensor tensor = std::move(recorded);
        const auto slash = key.find('/');
        const std::string kind = key.substr(0, slash);
        std::string module = key.substr(slash + 1);
        if (kind == "symbols") {
            const auto number = module.rfind('/');
            const int retrieval = std::stoi(module.substr(number + 1));
            module.resize(number);
            if (const int layer = layerOfSymbols(places, options, module, retrieval); layer >= 0)
                addMaps(result, MapKind::Symbols, layer, tensor[0], false);
            continue;
        }
        const int layer = layerOfModule(places, module);
        if (layer < 0) continue;
        const bool causal = places[static_cast<std::size_t>(layer)].causal;
        const bool relational = isRelational(module, places[static_cast<std::size_t>(layer)]);
        if (kind == "scores") {
            addMaps(result, relational ? MapKind::RelationalAttention : MapKind::SensoryAttention,
                    layer, tensor[0], causal);
        } else if (kind == "relations" && relational) {
            addMaps(result, MapKind::Relation, layer,
                    relationsByHead ? tensor[0] : tensor[0].permute({2, 0, 1}), causal);
        }
    }
    std::stable_sort(
        result.maps.begin(), result.maps.end(), [](const RelationMap& a, const RelationMap& b) {
            return std::tie(a.kind, a.layer, a.index) < std::tie(b.kind, b.layer, b.index);
        });
    return result;
}

ProbeSample randomSample(const ModelOptions& o, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    const auto fill = [&engine](ProbeSequence& s, bool tokens, std::int64_t size, std::int64_t n) {
        if (tokens) {
            std::uniform_int_distribution<std::int64_t> id(0, size - 1);
            for (std::int64_t i = 0; i < n; ++i) s.tokens.push_back(id(engine));
            return;
        }
        std::normal_distribution<float> value;
        s.width = static_cast<int>(size);
        for (std::int64_t i = 0; i < n * size; ++i) s.vectors.push_back(value(engine));
    };
    constexpr std::int64_t longest = 24;
    ProbeSample sample;
    sample.origin = "random input, seed " + std::to_string(seed);
    if (const auto* images = o.find<ImageInput>()) {
        auto& image = sample.image;
        image.channels = static_cast<int>(images->image_shape[0]);
        image.width = static_cast<int>(images->image_shape[1]);
        image.height = static_cast<int>(images->image_shape[2]);
        std::uniform_int_distribution<int> byte(0, 255);
        const auto size = static_cast<std::size_t>(image.channels) *
                          static_cast<std::size_t>(image.width) *
                          static_cast<std::size_t>(image.height);
        for (std::size_t i = 0; i < size; ++i)
            image.pixels.push_back(static_cast<std::uint8_t>(byte(engine)));
    } else if (const auto* tokens = o.find<TokenInput>()) {
        fill(sample.source, true, tokens->vocab_size, std::min(longest, tokens->max_block_size));
    } else if (const auto* pairs = o.find<PairInput>()) {
        fill(sample.source, pairs->input_type == "token", pairs->input_size,
             std::min(longest, pairs->in_block_size));
        fill(sample.target, pairs->output_type == "token", pairs->output_size,
             std::min(longest, pairs->out_block_size));
    } else {
        const auto& objects = o.get<ObjectInput>();
        fill(sample.source, false, objects.object_dim, objects.n_objects);
    }
    return sample;
}

}  // namespace relascope::core
