// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/dictionary/dictionary.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "analysis/answer_names.h"
#include "analysis/contrast/terms.h"
#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/pairs/pair_objects.h"
#include "analysis/parts/weight_scores.h"
#include "analysis/run_analysis.h"
#include "data/batches.h"
#include "types/error.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kListed = 8;               // tokens of a list
constexpr std::int64_t kMostCounted = 1 << 22;    // tokens of data that are counted
constexpr std::int64_t kNumbersAtOnce = 1 << 22;  // of patches or sets
constexpr std::int64_t kMostShownFeatures = 64, kListedFeatures = 4;
constexpr std::int64_t kFewestDescribed = 50;  // examples from which facts are said to be followed
constexpr double kFollows = 0.25;      // omega^2 from which a component is said to follow a fact
constexpr double kNamesFeature = 0.5;  // and a feature is named after one

double shareOf(const torch::Tensor& scores, const std::vector<std::int64_t>& facts, bool ordered) {
    const auto values = scores.contiguous();
    const auto* first = values.const_data_ptr<double>();
    return factShare({first, first + values.numel()}, facts, ordered);
}

class DictionaryRun {
public:
    DictionaryRun(AnalysisSubject& subject, const DictionaryOptions& options,
                  const Watch<Dictionary>& watch)
        : m_subject(subject),
          m_options(options),
          m_watch(watch),
          m_model(subject.model->edited({})),
          m_streams(m_model->model(), m_model->options()),
          m_parts(m_streams, scoreMap(m_streams, options.stack, static_cast<int>(options.layer) - 1,
                                      options.kind, static_cast<int>(options.index) - 1)) {}

    Dictionary run() {
        const auto input = m_model->options().input();
        const auto place = m_parts.projection(ScoreSide::I).place;
        m_d.map = m_parts.text(), m_d.softmax = m_parts.softmax();
        m_d.direct = place.layer > 0 || place.sub > 0;
        m_d.editsLeftOut = m_subject.interventions.edits.anyEnabled() ||
                           m_subject.model->trainingEdits().anyEnabled();
        const bool objects = input == InputKind::Images || input == InputKind::Objects;
        m_d.objects = input == InputKind::Images ? "patches" : objects ? "objects" : "tokens";
        objects ? ofObjects() : ofTokens();
        return std::move(m_d);
    }

private:
    void check(double done) const {
        if (m_watch.stop.stop_requested() || (m_watch.progress && !m_watch.progress(done)))
            throw Cancelled();
    }

    // Tokens.

    TokenPlaces places() {
        TokenPlaces places;
        places.offset = m_options.offset;
        if (!m_options.at.empty()) {
            std::istringstream numbers(m_options.at);
            char comma = 0;
            if (!(numbers >> places.i >> comma >> places.j) || comma != ',' || places.i < 0 ||
                places.j < 0 || numbers.peek() != std::istringstream::traits_type::eof())
                throw OptionError("at", "'" + m_options.at + "' is not two positions such as 5,3");
            if (m_options.offset != 0 && m_options.offset != places.i - places.j)
                throw OptionError("at", "'" + m_options.at + "' is no offset of " +
                                            std::to_string(m_options.offset) +
                                            "; give one of the two");
            places.offset = places.i - places.j;
        }
        m_d.atI = static_cast<int>(places.i), m_d.atJ = static_cast<int>(places.j);
        m_d.offset = places.offset;
        return places;
    }

    // How often each token is read by the stack of the map: [vocabulary].
    torch::Tensor counted(const Dataset& data, std::int64_t vocabulary) {
        auto counts = torch::zeros({vocabulary}, torch::kDouble);
        auto* count = counts.data_ptr<double>();
        const auto add = [&](std::int64_t id) {
            if (id >= 0 && id < vocabulary) count[id] += 1.0;
        };
        const auto place = m_parts.projection(ScoreSide::I).place;
        const bool answers =
            m_streams.stacks()[static_cast<std::size_t>(place.stack)].name == "decoder";
        std::int64_t each = 1;
        const auto* text = dynamic_cast<const TokenDataset*>(&data);
        const auto* pairs = dynamic_cast<const SequenceDataset*>(&data);
        if (text) each = text->context();
        if (pairs) each = pairs->shape().source + pairs->shape().target;
        const auto windows = std::clamp<std::int64_t>(kMostCounted / each, 1, data.size());
        std::vector<std::int64_t> tokens, answer;
        for (std::int64_t w = 0; w < windows; ++w) {
            if (w % 256 == 0) check(0.2 * static_cast<double>(w) / static_cast<double>(windows));
            const auto index = w * data.size() / windows;  // spread over the data
            if (text) {
                tokens.resize(static_cast<std::size_t>(each) + 1);
                text->read(index, tokens);
                for (std::int64_t k = 0; k < each; ++k) add(tokens[static_cast<std::size_t>(k)]);
            } else if (pairs && pairs->shape().width == 0) {
                const auto shape = pairs->shape();
                tokens.resize(static_cast<std::size_t>(shape.source));
                answer.resize(static_cast<std::size_t>(shape.target));
                pairs->read(index, {}, tokens, answer);
                for (const auto id : answers ? answer : tokens)
                    if (id != shape.padding) add(id);
                if (static_cast<std::int64_t>(m_names.size()) < vocabulary && w < 1000)
                    takeNames(pairs->sample(index), answers);
            }
        }
        return counts;
    }

    // The tokens of sequences are named in their examples alone.
    void takeNames(const ProbeSample& sample, bool answers) {
        const auto& sequence = answers ? sample.target : sample.source;
        for (std::size_t k = 0; k < std::min(sequence.tokens.size(), sequence.labels.size()); ++k)
            m_names.try_emplace(sequence.tokens[k], sequence.labels[k]);
    }

    std::string tokenText(std::int64_t id) const {
        if (const auto& tokenizer = m_subject.model->tokenizer(); tokenizer)
            if (id < tokenizer->size())
                return std::string(tokenizer->piece(static_cast<std::int32_t>(id)));
        const auto found = m_names.find(id);
        return found == m_names.end() ? std::to_string(id) : found->second;
    }

    DatasetPtr textNamed(const std::string& file) const {
        try {
            return openEvaluationText(*m_subject.model, {"", file, "", 0}, {}, m_watch.stop);
        } catch (const OptionError& error) {
            throw OptionError("weights", error.message());
        }
    }

    // The chance of each token, [vocabulary].
    torch::Tensor weights(std::int64_t vocabulary) {
        auto all = torch::ones({vocabulary}, torch::kDouble);
        // Rows behind the tokens of the tokenizer are padding.
        if (const auto tokenizer = m_subject.model->tokenizer())
            if (const auto size = tokenizer->size(); size < vocabulary) all.slice(0, size).zero_();
        const bool even =
            m_options.weights == "even" || (m_options.weights.empty() && !m_subject.data);
        if (!even) {
            auto data = m_subject.data;
            if (!m_options.weights.empty()) data = textNamed(m_options.weights);
            all = all * counted(*data, vocabulary);
            m_d.over = " weighted by " + data->info().name;
            if (all.sum().item<double>() <= 0.0)
                throw OptionError(
                    "weights", data->info().name + " has no token of this vocabulary; choose even");
        }
        const auto seen = all.gt(0).sum().item<std::int64_t>();
        if (seen < 2)
            throw OptionError(even ? "model" : "weights",
                              even ? "the vocabulary of " + m_d.map +
                                         " has one token, so that there is no pair to compare"
                                   : "the text has one token of the vocabulary alone; choose "
                                     "another text, or even");
        m_d.count = seen;
        return all / all.sum();
    }

    void ofTokens() {
        const auto vocabulary = vocabularyOf(m_parts);
        if (!m_options.attribute.empty())
            throw OptionError("attribute",
                              "is for patches and sets of objects; a map of tokens is compared by "
                              "its lists");
        m_d.vocabulary = vocabulary;
        const auto where = places();
        const auto p = weights(vocabulary);
        auto factors = tokenFactors(m_parts, where, [&](double part) { check(0.2 + 0.1 * part); });
        m_d.width = factors.q.size(1);
        const auto components = componentsOf(factors, p, m_options.components);
        requireSpread(components);
        takeShares(components);
        const auto ids = p.gt(0).nonzero().squeeze(1);
        const auto count = std::min(m_options.components, components.values.size(0));
        for (std::int64_t c = 0; c < count; ++c) {
            auto& component = m_d.components.emplace_back(componentAt(components, c));
            for (const bool receiver : {true, false}) {
                const auto scores = (receiver ? components.receiver : components.sender)
                                        .select(1, c)
                                        .index_select(0, ids);
                const auto order = scores.argsort(true, 0, true);
                for (const bool high : {true, false}) {
                    auto& list = receiver ? (high ? component.receiverHigh : component.receiverLow)
                                          : (high ? component.senderHigh : component.senderLow);
                    for (std::int64_t n = 0; n < std::min(kListed, ids.size(0) / 2); ++n) {
                        const auto at = order[high ? n : ids.size(0) - 1 - n].item<std::int64_t>();
                        DictionaryToken one{c + 1, receiver ? "receiver" : "sender",
                                            high ? "high" : "low", ids[at].item<std::int64_t>()};
                        one.text = tokenText(one.token);
                        one.score = scores[at].item<double>();
                        one.weight = p[one.token].item<double>();
                        list += (list.empty() ? "" : " ") + shownToken(one.text);
                        m_d.tokens.push_back(std::move(one));
                    }
                }
            }
        }
        if (m_watch.partial) m_watch.partial(m_d);
        // What follows is of tokens that occur, and of attention less the mean of each row.
        const auto self = selfPreference(factors, p);
        m_d.self = self.value, m_d.selfError = self.error;
        check(0.4);
        if (m_parts.softmax()) factors = lessRowMeans(std::move(factors), p);
        takePartners(factors, ids);
        factors.q = factors.q.index_select(0, ids), factors.k = factors.k.index_select(0, ids);
        const auto extremes =
            extremePairs(factors, m_options.top, [&](double part) { check(0.4 + 0.6 * part); });
        for (const auto* list : {&extremes.highest, &extremes.lowest})
            for (const auto& pair : *list)
                m_d.extremes.push_back(pairOf(ids[pair.receiver].item<std::int64_t>(),
                                              ids[pair.sender].item<std::int64_t>(), pair.score));
    }

    // A list of pieces is text, whatever bytes they are; spaces are seen.
    static std::string shownToken(const std::string& text) {
        const auto shown = pieceText(text).text;
        return shown.find(' ') == std::string::npos && !shown.empty() ? shown : "'" + shown + "'";
    }

    DictionaryPair pairOf(std::int64_t receiver, std::int64_t sender, double score) const {
        return {receiver, sender, shownToken(tokenText(receiver)), shownToken(tokenText(sender)),
                score};
    }

    void takePartners(const ScoreFactors& factors, const torch::Tensor& ids) {
        if (m_options.token.empty()) return;
        ProbeSample sample;
        m_d.token = m_subject.model->answerNames(sample, {}).find(m_options.token, "token");
        if (m_d.token < 0 || m_d.token >= factors.q.size(0))
            throw OptionError("token", "there is no token " + std::to_string(m_d.token) +
                                           " among " + std::to_string(factors.q.size(0)));
        for (const bool receiver : {true, false}) {
            const auto& own = receiver ? factors.q : factors.k;
            const auto& other = receiver ? factors.k : factors.q;
            const auto scores =
                factors.scale * torch::matmul(other.index_select(0, ids), own[m_d.token]);
            const auto n = std::min(m_options.top, ids.size(0));
            for (const bool high : {true, false}) {
                const auto [values, at] = scores.topk(n, 0, high);
                for (std::int64_t k = 0; k < n; ++k) {
                    const auto id = ids[at[k]].item<std::int64_t>();
                    m_d.partners.push_back(receiver
                                               ? pairOf(m_d.token, id, values[k].item<double>())
                                               : pairOf(id, m_d.token, values[k].item<double>()));
                }
            }
        }
    }

    // Both.

    void requireSpread(const ScoreComponents& components) const {
        if (components.constant)
            throw Error(m_d.map + " is the same for every pair of " + m_d.objects +
                        ", up to rounding: it compares nothing");
    }

    void takeShares(const ScoreComponents& components) {
        m_d.deviation = components.deviation;
        m_d.receivers = components.receiverShare, m_d.senders = components.senderShare;
        m_d.pairs = components.pairShare;
        if (!components.oneSided) m_d.symmetric = components.symmetric;
    }

    static DictionaryComponent componentAt(const ScoreComponents& components, std::int64_t c) {
        DictionaryComponent component;
        component.number = c + 1;
        component.value = components.values[c].item<double>();
        component.share = components.values[c].square().item<double>() /
                          components.values.square().sum().item<double>();
        return component;
    }

    // Patches and sets.

    /// Sums over the objects that are not empty, and the projections of all objects.
    struct Read {
        torch::Tensor q, k;            // of the numbers: [e, n, width]
        torch::Tensor wholeQ, wholeK;  // the same of the whole stream
        torch::Tensor sum, byQ, byK;   // [numbers], [numbers, width]
    };

    void ofObjects() {
        if (!m_subject.data || m_subject.data->size() == 0)
            throw OptionError("data", "is missing: what varies in " + m_d.objects +
                                          " is read from examples; open a run, or give --data");
        const LinearScores scores(m_parts);
        const auto& data = *m_subject.data;
        const auto objects = pairObjects(m_model->options(), data, m_options.examples, {});
        m_d.count = static_cast<std::int64_t>(objects.shape.examples);
        m_d.over = objects.noun + " of " + data.info().name;
        const auto facts = factsOfObjects(objects, data);
        const auto read = readAll(scores, objects, facts);
        m_d.width = read.q.size(2);
        for (const auto& values : {read.q, read.k, read.wholeQ, read.wholeK})
            if (!values.isfinite().all().item<bool>())
                throw Error("the scores of " + m_d.map +
                            " hold NaN or infinity, so that nothing can be said of what it "
                            "compares; look at an earlier step");
        const auto taken = m_taken.flatten();
        const auto some = taken.nonzero().squeeze(1);
        const auto count = static_cast<double>(some.size(0));
        if (some.size(0) < 2)
            throw OptionError("examples", "hold fewer than two objects that are not empty");
        const ScoreFactors factors{read.q.flatten(0, 1).index_select(0, some),
                                   read.k.flatten(0, 1).index_select(0, some), scores.scale()};
        const auto even = torch::full({some.size(0)}, 1.0 / count, torch::kDouble);
        const auto components = componentsOf(factors, even, m_options.components);
        requireSpread(components);
        takeShares(components);
        m_d.symmetric = scores.symmetric();  // of the weights alone
        takeExplained(factors,
                      {read.wholeQ.flatten(0, 1).index_select(0, some),
                       read.wholeK.flatten(0, 1).index_select(0, some), scores.scale()},
                      even);
        takeAttribute(read, components, objects);
        if (m_d.objects == "objects") takeForm(scores, objects, facts);
        // The covariance of numbers and scores: what varies as the score rises.
        const auto patternsOf = [&](const torch::Tensor& by, const torch::Tensor& of,
                                    const torch::Tensor& map) {
            const auto moments =
                by / count - (read.sum / count).unsqueeze(1) * of.mean(0).unsqueeze(0);
            return torch::matmul(moments, map).t().contiguous();  // [c, numbers]
        };
        const auto receivers = patternsOf(read.byQ, factors.q, components.receiverOf),
                   senders = patternsOf(read.byK, factors.k, components.senderOf);
        const auto shown = std::min(m_options.components, components.values.size(0));
        for (std::int64_t c = 0; c < shown; ++c) {
            auto& component = m_d.components.emplace_back(componentAt(components, c));
            if (c < std::ssize(m_differences))
                component.difference = m_differences[static_cast<std::size_t>(c)];
            component.receiverFollows =
                follows(c, "receiver", components.receiver.select(1, c), facts, some);
            component.senderFollows =
                follows(c, "sender", components.sender.select(1, c), facts, some);
            takePattern(component, "receiver", receivers[c]);
            takePattern(component, "sender", senders[c]);
            takeExample(component, components.receiver.select(1, c), components.sender.select(1, c),
                        some, objects);
        }
        if (m_options.stack.empty()) m_d.link = shownMap();
    }

    MapLink shownMap() const {
        for (const auto kind :
             {MapKind::Relation, MapKind::RelationalAttention, MapKind::SensoryAttention})
            if (m_options.kind == mapKindName(kind))
                return {kind, static_cast<int>(m_options.layer) - 1,
                        static_cast<int>(m_options.index) - 1};
        return {};
    }

    // The pair of an example that the component gives most.
    void takeExample(DictionaryComponent& component, const torch::Tensor& receiver,
                     const torch::Tensor& sender, const torch::Tensor& some,
                     const PairObjects& objects) const {
        const auto e = m_taken.size(0), n = m_taken.size(1);
        const auto spread = [&](const torch::Tensor& scores) {
            return torch::zeros({e * n}, torch::kDouble).index_put({some}, scores).view({e, n});
        };
        const auto a = spread(receiver), b = spread(sender);
        const auto step = std::max<std::int64_t>(1, kNumbersAtOnce / (n * n));
        double most = 0.0;
        for (std::int64_t first = 0; first < e; first += step) {
            auto products = a.slice(0, first, first + step).unsqueeze(2) *
                            b.slice(0, first, first + step).unsqueeze(1);
            products.diagonal(0, 1, 2).zero_();
            const auto at = products.argmax().item<std::int64_t>();
            const double value = products.flatten()[at].item<double>();
            if (!(value > most)) continue;
            most = value;
            const auto example = static_cast<std::size_t>(first + at / (n * n));
            component.example = objects.examples[example];
            component.i = static_cast<int>(
                positionOf(objects, example, static_cast<std::size_t>(at / n % n)));
            component.j =
                static_cast<int>(positionOf(objects, example, static_cast<std::size_t>(at % n)));
        }
    }

    Read readAll(const LinearScores& scores, const PairObjects& objects, const FactTable& facts) {
        Read read;
        const auto total = std::ssize(objects.examples),
                   n = static_cast<std::int64_t>(objects.shape.objects);
        const auto numbers = scores.filters(ScoreSide::I).size(1);
        const auto step = std::clamp<std::int64_t>(kNumbersAtOnce / (n * numbers), 1, 250);
        // Places that the data say are empty are left out.
        m_taken = torch::ones({total, n}, torch::kBool);
        const auto names = std::ssize(facts.names);
        if (names > 0)
            m_taken =
                torch::tensor(facts.values, torch::kLong).view({total, n, names}).ge(0).any(2);
        std::vector<torch::Tensor> q, k, wholeQ, wholeK;
        for (std::int64_t first = 0; first < total; first += step) {
            check(0.9 * static_cast<double>(first) / static_cast<double>(total));
            const auto count = std::min(step, total - first);
            const auto batch = makeBatch(*m_subject.data, objects.examples.data() + first, count);
            const auto of = scores.read(inputOf(batch, torch::kCPU));
            q.push_back(torch::matmul(of.numbers, scores.filters(ScoreSide::I).t()));
            k.push_back(torch::matmul(of.numbers, scores.filters(ScoreSide::J).t()));
            wholeQ.push_back(of.q), wholeK.push_back(of.k);
            const auto taken = m_taken.slice(0, first, first + count);
            const auto x = of.numbers.index({taken});
            const auto add = [](torch::Tensor& to, const torch::Tensor& more) {
                to = to.defined() ? to + more : more;
            };
            add(read.sum, x.sum(0));
            add(read.byQ, torch::matmul(x.t(), q.back().index({taken})));
            add(read.byK, torch::matmul(x.t(), k.back().index({taken})));
        }
        read.q = torch::cat(q), read.k = torch::cat(k);
        read.wholeQ = torch::cat(wholeQ), read.wholeK = torch::cat(wholeK);
        return read;
    }

    // What the numbers of both objects say of the scores, over the pairs that the other shares of
    // variance are of.
    void takeExplained(const ScoreFactors& numbers, const ScoreFactors& whole,
                       const torch::Tensor& weights) {
        const double all =
            scoreCovariance(numbers, numbers, weights) * scoreCovariance(whole, whole, weights);
        if (!(all > 0.0)) return;
        m_d.correlation = scoreCovariance(numbers, whole, weights) / std::sqrt(all);
        m_d.explained = m_d.correlation * m_d.correlation;
    }

    // What share of the difference by an attribute each component has.
    void takeAttribute(const Read& read, const ScoreComponents& components,
                       const PairObjects& objects) {
        if (m_options.attribute.empty()) return;
        auto attributes = attributesOf(objects, m_model->options(), *m_subject.data, {});
        const auto* found =
            &attributeFor(attributes, objects, *m_subject.data, m_options.attribute);
        if (found->ordered)
            throw OptionError("attribute",
                              "'" + found->name + "' has values, not yes and no; choose another");
        m_d.attribute = found->name;
        const auto e = static_cast<std::int64_t>(objects.shape.examples),
                   n = static_cast<std::int64_t>(objects.shape.objects);
        const auto truth = torch::tensor(found->truth, torch::kByte).view({e, n, n});
        const auto open = torch::eye(n, torch::kBool).logical_not();
        ContrastPairs pairs;
        pairs.yes = truth.eq(kPairYes).logical_and(open).to(torch::kDouble);
        pairs.no = truth.eq(kPairNo).logical_and(open).to(torch::kDouble);
        const auto differenceOf = [&](const torch::Tensor& u, const torch::Tensor& v,
                                      double scale) {
            pairs.u = selectPaired(pairs, u).unsqueeze(1);
            pairs.v = selectPaired(pairs, v).unsqueeze(1);
            pairs.scale = scale;
            return contrastTerms(pairs).difference.item<double>();
        };
        m_d.difference = differenceOf(read.wholeQ, read.wholeK, m_parts.scale());
        if (!std::isfinite(m_d.difference))
            throw OptionError("attribute", "'" + m_d.attribute +
                                               "' follows from the place: no place has pairs with "
                                               "yes and pairs with no; choose another");
        const auto shown = std::min(m_options.components, components.values.size(0));
        const auto centred = [&](const torch::Tensor& x) { return x - x.index({m_taken}).mean(0); };
        const auto a = torch::matmul(centred(read.q), components.receiverOf),
                   b = torch::matmul(centred(read.k), components.senderOf);
        for (std::int64_t c = 0; c < shown; ++c)
            m_differences.push_back(differenceOf(a.slice(2, c, c + 1), b.slice(2, c, c + 1),
                                                 components.values[c].item<double>()) /
                                    m_d.difference);
    }

    bool isOrdered(std::size_t fact) const {
        const auto* about = m_subject.data->objectFacts();
        return about && fact < about->facts.size() && about->facts[fact].ordered;
    }

    static std::vector<std::int64_t> factOf(const FactTable& facts, std::size_t at,
                                            const torch::Tensor& some) {
        std::vector<std::int64_t> values;
        const auto* index = some.const_data_ptr<std::int64_t>();
        for (std::int64_t k = 0; k < some.size(0); ++k)
            values.push_back(
                facts.values[static_cast<std::size_t>(index[k]) * facts.names.size() + at]);
        return values;
    }

    // Notes what a component has of each fact; returns the facts that it follows.
    std::string follows(std::int64_t c, const char* side, const torch::Tensor& scores,
                        const FactTable& facts, const torch::Tensor& some) {
        std::vector<std::pair<double, std::string>> found;
        if (m_d.count < kFewestDescribed) return {};
        for (std::size_t f = 0; f < facts.names.size(); ++f) {
            const double share = shareOf(scores, factOf(facts, f, some), isOrdered(f));
            if (std::isnan(share)) continue;
            m_d.facts.push_back({c + 1, side, facts.names[f], share});
            if (share >= kFollows) found.emplace_back(-share, facts.names[f]);
        }
        std::sort(found.begin(), found.end());
        std::string words;
        for (const auto& [share, name] : found)
            words += (words.empty() ? "" : ", ") + name + " " + numberText("%.2f", -share);
        return words;
    }

    void takePattern(DictionaryComponent& component, const std::string& side,
                     const torch::Tensor& pattern) {
        const bool receiver = side == "receiver";
        const auto* value = pattern.const_data_ptr<double>();
        if (m_d.objects != "patches") {
            std::vector<std::pair<double, std::string>> sorted;
            for (std::size_t f = 0; f < m_d.features.size(); ++f) {
                m_d.numbers.push_back(
                    {component.number, side, m_d.features[f], -1, -1, -1, value[f]});
                sorted.emplace_back(value[f], m_d.features[f]);
            }
            std::sort(sorted.begin(), sorted.end());
            auto& high = receiver ? component.receiverHigh : component.senderHigh;
            auto& low = receiver ? component.receiverLow : component.senderLow;
            const auto add = [](std::string& to, const std::string& name) {
                to += (to.empty() ? "" : ", ") + name;
            };
            for (std::int64_t k = 0; k < std::min(kListedFeatures, std::ssize(sorted)); ++k) {
                const auto& [most, mostName] = *(sorted.rbegin() + k);
                const auto& [least, leastName] = *(sorted.begin() + k);
                if (most > 0.0) add(high, mostName);
                if (least < 0.0) add(low, leastName);
            }
            return;
        }
        const auto& images = m_model->options().get<ImageInput>();
        Image picture{static_cast<int>(images.patch_size.at(0)),
                      static_cast<int>(images.patch_size.at(1)),
                      static_cast<int>(images.channels()),
                      {}};
        const double largest = std::max(pattern.abs().max().item<double>(), 1e-300);
        for (std::int64_t k = 0; k < pattern.size(0); ++k) {
            const auto channel = static_cast<int>(k) % picture.channels,
                       pixel = static_cast<int>(k) / picture.channels;
            m_d.numbers.push_back({component.number,
                                   side,
                                   {},
                                   pixel / picture.width,
                                   pixel % picture.width,
                                   channel,
                                   value[k]});
            picture.pixels.push_back(
                static_cast<std::uint8_t>(std::lround(127.5 + 127.5 * value[k] / largest)));
        }
        if (picture.channels != 1 && picture.channels != 3) return;
        (receiver ? component.receiver : component.sender) = std::move(picture);
    }

    // Names of features that the data have none of: the facts that they follow.
    std::vector<std::string> featuresByFacts(const PairObjects& objects, const FactTable& facts,
                                             std::int64_t count) const {
        const auto batch =
            makeBatch(*m_subject.data, objects.examples.data(), std::ssize(objects.examples));
        const auto inputs = batch.inputs.to(torch::kDouble).flatten(0, 1);  // [objects, features]
        const auto all = torch::arange(inputs.size(0));
        std::vector<std::string> names;
        for (std::int64_t f = 0; f < count; ++f) {
            std::string most;
            double share = kNamesFeature;
            for (std::size_t k = 0; k < facts.names.size() && m_d.count >= kFewestDescribed; ++k)
                if (const double one =
                        shareOf(inputs.select(1, f), factOf(facts, k, all), isOrdered(k));
                    one >= share)
                    share = one, most = facts.names[k];
            names.push_back("feature " + std::to_string(f + 1) +
                            (most.empty() ? most : " (" + most + ")"));
        }
        return names;
    }

    // The form on features.
    void takeForm(const LinearScores& scores, const PairObjects& objects, const FactTable& facts) {
        const auto form = scores.form().contiguous();
        const auto count = form.size(0);
        if (count > kMostShownFeatures)
            throw OptionError("model", "has objects of " + std::to_string(count) +
                                           " numbers; forms on at most " +
                                           std::to_string(kMostShownFeatures) + " are shown");
        m_d.features = featureNamesOf(m_subject);
        if (std::ssize(m_d.features) != count)
            m_d.features = featuresByFacts(objects, facts, count);
        const auto* value = form.const_data_ptr<double>();
        m_d.form.assign(value, value + form.numel());
    }

    AnalysisSubject& m_subject;
    const DictionaryOptions& m_options;
    const Watch<Dictionary>& m_watch;
    std::unique_ptr<EditedModel> m_model;
    ModelStreams m_streams;
    ScoreParts m_parts;
    Dictionary m_d;
    torch::Tensor m_taken;  // [e, n]
    std::vector<double> m_differences;
    std::map<std::int64_t, std::string> m_names;  // of tokens of sequences
};

Dictionary runDictionary(AnalysisSubject& subject, const DictionaryOptions& options,
                         const Watch<Dictionary>& watch) {
    return DictionaryRun(subject, options, watch).run();
}

}  // namespace

// Throws OptionError for a map that is not there or compares no tokens, patches or features, Error
// for weights that are not finite or a map that is the same for all pairs; Cancelled.
const RegisterRunner kDictionaryRunner("qk-components", [] {
    return makeRunner(dictionaryFields(), runDictionary, answerOf);
});

}  // namespace relascope::core
