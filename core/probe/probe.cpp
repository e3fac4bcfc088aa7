// SPDX-License-Identifier: GPL-3.0-or-later
#include "probe/probe.h"

#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "model/architecture.h"
#include "model/finite_outputs.h"
#include "model/model.h"
#include "model/public/public_options.h"
#include "model/served/served_model.h"
#include "model/served/served_options.h"
#include "probe/layers.h"
#include "probe/map_collector.h"
#include "probe/probe_memory.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr std::size_t kShownOutputs = 256, kLikeliest = 12;

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
        for (std::size_t i = 0; i < s.tokens.size(); ++i)
            if (s.tokens[i] < 0 || s.tokens[i] >= size)
                throw OptionError(
                    what,
                    outsideVocabulary(s.tokens[i], i < s.labels.size() ? s.labels[i] : "", size) +
                        "; leave it out");
        if (s.width != 0) throw OptionError(what, "contains vectors, but the model expects tokens");
        return torch::tensor(s.tokens).unsqueeze(0);  // [1, n]
    }
    if (s.width != size)
        throw OptionError(what, "contains vectors of " + std::to_string(s.width) +
                                    " values, but the model expects " + std::to_string(size));
    return torch::tensor(s.vectors).view({1, s.size(), s.width});
}

// The place whose answer is shown: the first hidden word of a model that reads in both directions,
// else the last element.
std::int64_t answeredPlace(const ModelOptions& o, const ProbeSequence& text) {
    if (readsBothWays(o))
        for (std::size_t i = 0; i < text.labels.size(); ++i)
            if (text.labels[i].ends_with("[MASK]") || text.labels[i].ends_with("<mask>"))
                return static_cast<std::int64_t>(i);
    return -1;
}

void addProbabilities(ProbeResult& result, torch::Tensor logits, const ModelOptions& o,
                      const std::vector<std::string>& classNames) {
    result.features = takesHead(o) && answersNumbers(o);
    if (answersNumbers(o)) return;
    logits = logits.detach().to(torch::kCPU, torch::kFloat);
    const auto place = answeredPlace(o, result.sample.source);
    logits = (logits.dim() == 3 ? logits.select(1, place) : logits)[0];
    if (o.input() == InputKind::Objects && o.outputs() == 1) {
        const float yes = torch::sigmoid(logits)[0].item<float>();
        result.probabilities = {1.0F - yes, yes};
        result.classNames =
            classNames.size() == 2 ? classNames : std::vector<std::string>{"no", "yes"};
        return;
    }
    const auto all =
        (answersEach(o) ? torch::sigmoid(logits) : torch::softmax(logits, 0)).contiguous();
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
    if (isServed(o))
        if (auto example = servedExample(o, sample.origin); example.defined()) return example;
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

namespace {

/// The members of a result that are known before the model runs.
ProbeResult emptyResult(const ModelOptions& options, const ProbeSample& sample, std::int64_t step) {
    ProbeResult result;
    result.step = step;
    result.sample = sample;
    const auto* served = options.find<ServedImageOptions>();
    if (const auto* images = options.find<ImageInput>(); images && !(served && !served->cut())) {
        const auto* family = options.find<PublicImageOptions>();
        const bool first = family   ? family->first_tokens > 0
                           : served ? served->first_tokens > 0
                                    : options.info().classToken;
        result.grid = {static_cast<int>(images->gridRows()),
                       static_cast<int>(images->gridColumns()), first,
                       static_cast<int>(options.tokens() - images->patches()) - (first ? 1 : 0),
                       family ? static_cast<int>(family->registers) : 0};
    }
    result.sides = probeSides(options, sample);
    for (const auto& place : options.info().layers(options)) result.layers.push_back(place.layer);
    return result;
}

/// Reports what a collector has so far.
class Watcher {
public:
    Watcher(const ProbeWatch& watch, const ProbeResult& empty) : m_watch(watch), m_empty(empty) {}

    void layerDone(const MapCollector& collector, int layer) {
        const auto layers = static_cast<double>(std::max<std::size_t>(1, m_empty.layers.size()));
        if (m_watch.stop.stop_requested() ||
            (m_watch.progress && !m_watch.progress((layer + 1) / layers)))
            throw Cancelled();
        if (!m_watch.partial || m_watch.shownLayer < 0) return;
        m_shown = m_shown || layer == m_watch.shownLayer;
        const auto now = Clock::now();
        if (!m_shown || now - m_begin < m_watch.delay ||
            now - m_last < std::chrono::milliseconds(500))
            return;
        m_last = now;
        ProbeResult part = m_empty;
        part.maps = collector.maps();
        part.partial = true;
        m_watch.partial(std::move(part));
    }

private:
    using Clock = std::chrono::steady_clock;
    const ProbeWatch& m_watch;
    const ProbeResult& m_empty;
    bool m_shown = false;
    Clock::time_point m_begin = Clock::now(), m_last = {};
};

}  // namespace

ProbeResult probeModel(ModelImpl& model, const ModelOptions& options, const ProbeSample& sample,
                       std::int64_t step, const std::vector<std::string>& classNames,
                       const ProbeWatch& watch) {
    const auto input = inputOf(sample, options).to(model.device());
    if (options.input() == InputKind::Tokens) requireProbeMemory(options, sample.source.size());
    ProbeResult result = emptyResult(options, sample, step);
    Watcher watcher(watch, result);
    MapCollector collector(options, [&watcher](const MapCollector& seen, int layer) {
        watcher.layerDone(seen, layer);
    });
    const torch::NoGradGuard noGrad;
    const EvaluationMode evaluation(model);
    const RecordingScope scope(collector);
    const auto outputs = model.forward(input);
    // The maps are still shown: they are where the cause is looked for.
    result.notFinite = whyNotFinite(outputs, model, input);
    if (result.notFinite.empty()) addProbabilities(result, outputs, options, classNames);
    result.maps = collector.maps();
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
