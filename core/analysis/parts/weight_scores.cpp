// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/parts/weight_scores.h"
#include "analysis/parts/block_parts.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/architecture.h"
#include "model/public/family.h"
#include "model/vision/vision.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kTokensAtOnce = 4096;
// What the embedding that is computed here may differ from the model's by, of its length.
constexpr double kEmbeddingRest = 1e-3;

/// The embedding of an input, and its positions.
struct StreamStart {
    torch::Tensor embedding, positions;  // [b, n, d]; positions may be undefined
};

/// Ends a pass as soon as it is known.
struct StartReached {};

class StartReader : public Hooks {
public:
    explicit StartReader(const StreamStack& stack)
        : m_embed(stack.start + "hook_embed"), m_places(stack.start + "hook_pos_embed") {}
    bool takes(std::string_view) const override { return true; }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        if (point.name == m_embed)
            m_start.embedding = value;
        else if (point.name == m_places)
            m_start.positions = value;
        else if (m_start.embedding.defined())
            throw StartReached();
        return value;
    }
    StreamStart start() const {
        StreamStart start{precise(m_start.embedding), {}};
        if (m_start.positions.defined()) start.positions = precise(m_start.positions);
        return start;
    }

private:
    std::string m_embed, m_places;
    StreamStart m_start;
};

StreamStart startOf(const ModelStreams& streams, const StreamStack& stack,
                    const ModelInput& input) {
    const torch::NoGradGuard noGrad;
    auto& model = streams.model();
    const auto device = model.device();
    const auto there = [&](const torch::Tensor& x) { return x.defined() ? x.to(device) : x; };
    StartReader reader(stack);
    {
        const EvaluationMode evaluation(model);
        const HookScope scope(&reader);
        const RecordingScope unrecorded(nullptr);
        try {
            model.forward(ModelInput(there(input.x), there(input.target)));
        } catch (const StartReached&) {
        }
    }
    auto start = reader.start();
    if (const auto& type = streams.tokenType(); type.defined())
        start.embedding = start.embedding + type;
    if (start.positions.defined()) return start;
    // Abstractors have no point there.
    StreamRows rows;
    rows.rows = torch::arange(start.embedding.size(1));
    start.positions = streams.positions(stack, rows);
    return start;
}

/// x behind a norm, and what it was divided by (undefined: nothing).
torch::Tensor normed(const NormImpl& norm, const torch::Tensor& x, torch::Tensor* gain = nullptr) {
    const auto held = heldNorm(norm, x);
    if (!held.scale.defined()) return x;
    if (gain) *gain = *gain / held.scale;
    auto y = (held.centres ? x - x.mean(-1, true) : x) / held.scale.unsqueeze(-1);
    if (held.weights.defined()) y = y * held.weights;
    return held.bias.defined() ? y + held.bias : y;
}

/// The linear map m [k, d] behind the norm as one before it, without what it divides by.
torch::Tensor before(const NormImpl& norm, const torch::Tensor& m) {
    return heldNorm(norm, torch::zeros({1, 1, m.size(1)}, torch::kDouble)).back(m);
}

/// What a stream passes on its way to a place where no layer adds to it.
struct DirectStep {
    const NormImpl* norm = nullptr;  ///< null: x = stay x + again embedding
    double stay = 1.0, again = 0.0;
};

std::vector<DirectStep> directWay(const ModelStreams& streams, const StreamPlace& place) {
    std::vector<DirectStep> way;
    if (const auto* norm = streams.embedNorm()) way.push_back({norm});
    const auto& blocks = streams.stacks()[static_cast<std::size_t>(place.stack)].blocks;
    for (std::size_t layer = 0; layer <= place.layer && layer < blocks.size(); ++layer) {
        const auto& block = blocks[layer];
        if (!streams.mixing().empty()) {
            const auto [stay, again] = streams.mixing()[layer];
            way.push_back({nullptr, stay, again});
        }
        const auto subs = layer < place.layer ? block.subs.size() : place.sub;
        for (std::size_t s = 0; s < subs && !block.normFirst; ++s)
            if (const auto* norm = block.subs[s].norm; norm && !norm->isNone())
                way.push_back({norm});
    }
    return way;
}

torch::Tensor passed(const std::vector<DirectStep>& way, torch::Tensor x,
                     const torch::Tensor& embedding, torch::Tensor* gain = nullptr) {
    for (const auto& step : way)
        x = step.norm ? normed(*step.norm, x, gain) : x * step.stay + embedding * step.again;
    return x;
}

const StreamStack& stackOf(const ScoreParts& parts, const StreamPlace& place) {
    return parts.streams().stacks()[static_cast<std::size_t>(place.stack)];
}

bool samePlace(const StreamPlace& a, const StreamPlace& b) {
    return a.stack == b.stack && a.layer == b.layer && a.sub == b.sub;
}

/// Both sides, which read the same stream.
std::pair<ScoreParts::Projection, ScoreParts::Projection> sidesOf(const ScoreParts& parts) {
    const auto i = parts.projection(ScoreSide::I), j = parts.projection(ScoreSide::J);
    const auto& stack = stackOf(parts, i.place);
    if (stack.symbols || stackOf(parts, j.place).symbols)
        throw OptionError("kind", parts.text() +
                                      " compares symbols, which stand for no object; ask for a map "
                                      "of the encoder, or for --kind relation");
    if (!samePlace(i.place, j.place))
        throw OptionError("kind", parts.text() +
                                      " compares objects of two streams, so that there is no one "
                                      "list of them; ask for a map within one stack");
    return {i, j};
}

torch::Tensor projected(const ScoreParts::Projection& side, const torch::Tensor& x) {
    const auto read = side.norm ? normed(*side.norm, x) : x;
    if (side.head) return side.head->of(read);
    const auto y = torch::matmul(read, side.weight.t());
    return side.bias.defined() ? y + side.bias : y;
}

/// How many tokens there are, and how many positions; 0: no tokens.
std::pair<std::int64_t, std::int64_t> tokenSizes(const ModelOptions& options,
                                                 const StreamStack& stack) {
    if (const auto* text = options.find<TokenInput>())
        return {text->vocab_size, text->max_block_size};
    const auto* pairs = options.find<PairInput>();
    if (!pairs) return {0, 0};
    if (stack.name == "decoder")
        return {pairs->output_type == "token" ? pairs->output_size : 0, pairs->out_block_size};
    return {pairs->input_type == "token" ? pairs->input_size : 0, pairs->in_block_size};
}

}  // namespace

std::int64_t vocabularyOf(const ScoreParts& parts) {
    const auto sides = sidesOf(parts);
    const auto& stack = stackOf(parts, sides.first.place);
    const auto count = stack.raw ? 0 : tokenSizes(parts.options(), stack).first;
    if (count == 0)
        throw OptionError("model",
                          modelTitle(parts.options()) + " reads no tokens in " + parts.text());
    return count;
}

ScoreFactors tokenFactors(const ScoreParts& parts, const TokenPlaces& places,
                          const std::function<void(double)>& progress) {
    const torch::NoGradGuard noGrad;
    const auto sides = sidesOf(parts);
    const auto& streams = parts.streams();
    const auto& stack = stackOf(parts, sides.first.place);
    const auto vocabulary = vocabularyOf(parts),
               positions = tokenSizes(parts.options(), stack).second;
    const bool pairs = parts.options().find<PairInput>() != nullptr;
    // A batch of tokens as an input of the model, whose other sequence is one token.
    const auto inputOf = [&](const torch::Tensor& tokens) {
        if (!pairs) return ModelInput(tokens);
        const auto other = torch::zeros({tokens.size(0), 1}, torch::kLong);
        return stack.name == "decoder" ? ModelInput(other, tokens) : ModelInput(tokens, other);
    };
    // What the positions add: [d], or undefined.
    torch::Tensor addsI, addsJ;
    const auto zeros = [](std::int64_t n) { return torch::zeros({1, n}, torch::kLong); };
    for (const auto at : {places.i, places.j})
        if (at >= positions)
            throw OptionError("at", std::to_string(at) + " is out of range: the model has " +
                                        std::to_string(positions) + " positions, from 0");
    if (startOf(streams, stack, inputOf(zeros(1))).positions.defined()) {
        const auto table = startOf(streams, stack, inputOf(zeros(positions))).positions[0];
        addsI = places.i < 0 ? table.mean(0) : table[places.i];
        addsJ = places.j < 0 ? table.mean(0) : table[places.j];
    }
    const auto way = directWay(streams, sides.first.place);
    const double factor = streams.embeddingScale();
    ScoreFactors factors;
    factors.scale = parts.scale();
    const auto width = sides.first.weight.size(0);
    factors.q = torch::empty({vocabulary, width}, torch::kDouble);
    factors.k = torch::empty({vocabulary, width}, torch::kDouble);
    const auto at = [&](const torch::Tensor& start, const torch::Tensor& adds) {
        return passed(way, adds.defined() ? start * factor + adds : start * factor, start);
    };
    // A fitted relation has a mean of each position, or one of all.
    const auto centreAt = [&](ScoreSide side, std::int64_t place) {
        return parts.centre(side, place < 0 ? torch::Tensor() : torch::tensor({place}));
    };
    const auto centreI = centreAt(ScoreSide::I, places.i),
               centreJ = centreAt(ScoreSide::J, places.j);
    for (std::int64_t first = 0; first < vocabulary;) {
        if (progress) progress(static_cast<double>(first) / static_cast<double>(vocabulary));
        // As many whole rows of the context as there are, or what is left of one.
        const auto left = vocabulary - first, n = std::min({left, positions, kTokensAtOnce});
        const auto b = std::clamp<std::int64_t>(kTokensAtOnce / n, 1, left / n);
        const auto tokens = torch::arange(first, first + b * n).view({b, n});
        const auto start = startOf(streams, stack, inputOf(tokens)).embedding;
        const auto x = at(start, addsI), y = addsJ.defined() ? at(start, addsJ) : x;
        auto q = projected(sides.first, x), k = projected(sides.second, y);
        if (centreI.defined()) q = q + centreI, k = k + centreJ;
        if (const auto more = parts.keyEmbedding(y, tokens); more.defined()) k = k + more;
        factors.q.slice(0, first, first + b * n).copy_(q.flatten(0, 1));
        factors.k.slice(0, first, first + b * n).copy_(k.flatten(0, 1));
        first += b * n;
    }
    factors.q = parts.atPosition(factors.q, std::max<std::int64_t>(places.offset, 0));
    factors.k = parts.atPosition(factors.k, std::max<std::int64_t>(-places.offset, 0));
    for (const auto& [x, name] : {std::pair{&factors.q, "queries"}, {&factors.k, "keys"}})
        if (!x->isfinite().all().item<bool>())
            throw Error("the " + std::string(name) + " of " + parts.text() +
                        " hold NaN or infinity, so that nothing can be said of what it compares; "
                        "look at an earlier step");
    // b is a product of two numbers more.
    if (const double b = parts.constant(); b != 0.0) {
        const auto numbers = [&](double value) {
            return torch::full({vocabulary, 1}, value, torch::kDouble);
        };
        factors.q = torch::cat({factors.q, numbers(b)}, 1);
        factors.k = torch::cat({factors.k, numbers(1.0)}, 1);
    }
    return factors;
}

// Patches and sets of objects.

LinearScores::LinearScores(const ScoreParts& parts) : m_parts(parts) {
    const torch::NoGradGuard noGrad;
    std::tie(m_queries, m_keys) = sidesOf(parts);
    if (m_queries.norm != m_keys.norm)
        throw OptionError("kind", parts.text() + " has another norm for either side");
    const auto& streams = parts.streams();
    const auto& stack = stackOf(parts, m_queries.place);
    m_embedder.factor = stack.raw ? 1.0 : streams.embeddingScale();
    if (parts.options().input() == InputKind::Images) {
        const PatchEmbeddingImpl* patches = nullptr;
        for (const auto& module : streams.model().modules(false))
            if (const auto* found = dynamic_cast<PatchEmbeddingImpl*>(module.get()))
                patches = found;
        if (patches) {
            m_embedder.weight = precise(patches->pixelWeight());
            m_embedder.bias = patches->projection()->bias;
            const auto norm = [](const Norm& n) { return n.is_empty() ? nullptr : n.ptr().get(); };
            m_embedder.before = norm(patches->patchNorm()),
            m_embedder.after = norm(patches->norm());
        }
    } else if (stack.raw) {
        m_embedder.weight = torch::eye(m_queries.weight.size(1), torch::kDouble);
    } else {
        m_embedder.weight = streams.featureWeight(), m_embedder.bias = streams.featureBias();
    }
    if (!m_embedder.weight.defined())
        throw OptionError("model", modelTitle(parts.options()) +
                                       " embeds its objects by no linear map of at most 64 "
                                       "features, so that there is no form on them");
    if (m_embedder.bias.defined()) m_embedder.bias = precise(m_embedder.bias);
    const auto way = directWay(streams, m_queries.place);
    const auto filters = [&](const ScoreParts::Projection& side) {
        auto m = side.norm ? before(*side.norm, side.weight) : side.weight;
        for (auto step = way.rbegin(); step != way.rend(); ++step)
            m = step->norm ? before(*step->norm, m) : m * step->stay;
        m = m * m_embedder.factor;
        if (m_embedder.after) m = before(*m_embedder.after, m);
        m = torch::matmul(m, m_embedder.weight);
        if (m_embedder.before) {
            const auto held =
                heldNorm(*m_embedder.before, torch::zeros({1, 1, m.size(1)}, torch::kDouble));
            m_centres = held.centres;
            if (held.weights.defined()) m = m * held.weights;
        }
        return m;
    };
    m_i = filters(m_queries), m_j = filters(m_keys);
    if (!m_i.isfinite().all().item<bool>() || !m_j.isfinite().all().item<bool>())
        throw Error("the weights of " + parts.text() +
                    " hold NaN or infinity, so that nothing can be said of what it compares; look "
                    "at an earlier step");
}

namespace {

torch::Tensor lessMean(const torch::Tensor& x, bool centres) {
    return centres ? x - x.mean(-1, true) : x;
}

}  // namespace

torch::Tensor LinearScores::form() const {
    return scale() * torch::matmul(lessMean(m_i, m_centres).t(), lessMean(m_j, m_centres));
}

double LinearScores::symmetric() const {
    const auto &a = m_i, &b = m_j;
    const double whole = (torch::matmul(a, a.t()) * torch::matmul(b, b.t())).sum().item<double>();
    const auto crossed = torch::matmul(b, a.t());
    if (!(whole > 0.0)) return std::numeric_limits<double>::quiet_NaN();
    return 0.5 + 0.5 * (crossed * crossed.t()).sum().item<double>() / whole;
}

torch::Tensor LinearScores::numbersOf(const ModelInput& input) const {
    auto& model = m_parts.streams().model();
    if (m_parts.options().input() != InputKind::Images) return precise(input.x);
    auto images = input.x;
    if (auto* vision = dynamic_cast<VisionModelImpl*>(&model))
        images = vision->standardised(images);
    for (const auto& module : model.modules(false))
        if (const auto* patches = dynamic_cast<PatchEmbeddingImpl*>(module.get()))
            return precise(patches->cut(images));
    throw Error("a model of images has no patches");  // the constructor has found them
}

LinearScores::Objects LinearScores::read(const ModelInput& input) const {
    const torch::NoGradGuard noGrad;
    const auto& streams = m_parts.streams();
    const auto& stack = stackOf(m_parts, m_queries.place);
    const auto raw = numbersOf(input);
    const auto n = raw.size(1);
    std::int64_t firstObject = 0;
    auto gain = torch::ones({raw.size(0), n}, torch::kDouble);
    auto x = m_embedder.before ? normed(*m_embedder.before, raw, &gain) : raw;
    x = torch::matmul(x, m_embedder.weight.t());
    if (m_embedder.bias.defined()) x = x + m_embedder.bias;
    if (m_embedder.after) x = normed(*m_embedder.after, x, &gain);
    if (!stack.raw) {
        // Patches stand behind the tokens that classify.
        const auto start = startOf(streams, stack, input);
        const auto first = firstObject = start.embedding.size(1) - n;
        const auto model = start.embedding.slice(1, first);
        if ((model - x).norm().item<double>() > kEmbeddingRest * model.norm().item<double>())
            throw Error("the embedding of " + modelTitle(m_parts.options()) +
                        " is not the linear map that this program takes it for; please report it "
                        "with the model's options");
        x = model * m_embedder.factor;
        if (start.positions.defined()) x = x + start.positions.slice(1, first);
    }
    x = passed(directWay(streams, m_queries.place), x, {}, &gain);
    if (m_queries.norm) {
        const auto held = heldNorm(*m_queries.norm, x);
        if (held.scale.defined()) gain = gain / held.scale;
    }
    Objects objects;
    objects.gain = gain;
    objects.numbers = lessMean(raw, m_centres) * gain.unsqueeze(-1);
    objects.q = projected(m_queries, x), objects.k = projected(m_keys, x);
    const auto places = torch::arange(firstObject, firstObject + n);
    if (const auto centre = m_parts.centre(ScoreSide::I, places); centre.defined()) {
        objects.q = objects.q + centre;
        objects.k = objects.k + m_parts.centre(ScoreSide::J, places);
    }
    return objects;
}

torch::Tensor LinearScores::pixels(const Objects& objects) const {
    return scale() * torch::matmul(torch::matmul(objects.numbers, m_i.t()),
                                   torch::matmul(objects.numbers, m_j.t()).transpose(1, 2));
}

torch::Tensor LinearScores::scores(const Objects& objects) const {
    return scale() * torch::matmul(objects.q, objects.k.transpose(1, 2)) + m_parts.constant();
}

}  // namespace relascope::core
