// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "analysis/contrast/terms.h"
#include "analysis/dictionary/run.h"
#include "analysis/pairs/mask_facts.h"
#include "analysis/pairs/pair_objects.h"
#include "data/batches.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

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

class ObjectRun : DictionaryRun {
public:
    using DictionaryRun::DictionaryRun;

    Answer run() {
        if (!m_subject.data || m_subject.data->size() == 0)
            throw OptionError("data", "is missing: what varies in " + m_objects +
                                          " is read from examples; open a run, or give --data");
        const LinearScores scores(m_parts);
        const auto& data = *m_subject.data;
        const auto objects = pairObjects(m_model->options(), data, m_options.examples, {});
        set("count", objects.shape.examples);
        set("over", objects.noun + " of " + data.info().name);
        m_described = objects.shape.examples >= kFewestDescribed;
        const auto facts = factsOfObjects(objects, data);
        const auto read = readAll(scores, objects, facts);
        set("width", read.q.size(2));
        for (const auto& values : {read.q, read.k, read.wholeQ, read.wholeK})
            if (!values.isfinite().all().item<bool>())
                throw Error("the scores of " + m_parts.text() +
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
        set("symmetric", scores.symmetric());  // of the weights alone
        takeExplained(factors,
                      {read.wholeQ.flatten(0, 1).index_select(0, some),
                       read.wholeK.flatten(0, 1).index_select(0, some), scores.scale()},
                      even);
        takeAttribute(read, components, objects);
        if (m_objects == "objects") takeForm(scores, objects, facts);
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
            const auto receiver = components.receiver.select(1, c),
                       sender = components.sender.select(1, c);
            const auto receiverFollows = follows(c, "receiver", receiver, facts, some),
                       senderFollows = follows(c, "sender", sender, facts, some);
            const auto ofReceiver = takePattern(c, "receiver", receivers[c]),
                       ofSender = takePattern(c, "sender", senders[c]);
            std::vector<double> pictures;  // where those of patches will be in the answer
            if (m_objects == "patches" && m_pictures[0].empty())
                pictures = {columns::kNone, columns::kNone};
            else if (m_objects == "patches")
                pictures = {static_cast<double>(c), static_cast<double>(shown + c)};
            const auto [example, link] = exampleOf(receiver, sender, some, objects);
            m_answer.tables[1].links.push_back(link);
            addRow(m_answer, "components", c + 1, pictures, shareAt(components, c), receiverFollows,
                   senderFollows, ofReceiver.high, ofSender.high, ofReceiver.low, ofSender.low,
                   c < std::ssize(m_differences) ? m_differences[static_cast<std::size_t>(c)]
                                                 : columns::kNone,
                   components.values[c].item<double>(), example, link.i, link.j);
        }
        for (auto& pictures : m_pictures)
            m_answer.pictures.insert(m_answer.pictures.end(), pictures.begin(), pictures.end());
        return dictionaryAnswer(std::move(m_answer), {});
    }

private:
    /// Sums over the objects that are not empty, and the projections of all objects.
    struct Read {
        torch::Tensor q, k;            // of the numbers: [e, n, width]
        torch::Tensor wholeQ, wholeK;  // the same of the whole stream
        torch::Tensor sum, byQ, byK;   // [numbers], [numbers, width]
    };

    MapLink shownMap() const {
        if (!m_options.relation.empty()) return {};
        for (const auto kind :
             {MapKind::Relation, MapKind::RelationalAttention, MapKind::SensoryAttention})
            if (m_options.kind == mapKindName(kind))
                return {kind, static_cast<int>(m_options.layer) - 1,
                        static_cast<int>(m_options.index) - 1};
        return {};
    }

    // The pair of an example that a component gives most; -1: the map has no examples.
    std::pair<std::int64_t, MapLink> exampleOf(const torch::Tensor& receiver,
                                               const torch::Tensor& sender,
                                               const torch::Tensor& some,
                                               const PairObjects& objects) const {
        std::int64_t found = -1;
        auto link = m_options.stack.empty() ? shownMap() : MapLink();
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
            found = objects.examples[example];
            link.i = static_cast<int>(
                positionOf(objects, example, static_cast<std::size_t>(at / n % n)));
            link.j =
                static_cast<int>(positionOf(objects, example, static_cast<std::size_t>(at % n)));
        }
        if (found < 0) link.layer = -1;
        return {found, link};
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
        const double correlation = scoreCovariance(numbers, whole, weights) / std::sqrt(all);
        set("correlation", correlation), set("explained", correlation * correlation);
    }

    // What share of the difference by an attribute each component has.
    void takeAttribute(const Read& read, const ScoreComponents& components,
                       const PairObjects& objects) {
        if (m_options.attribute.empty()) return;
        auto attributes = attributesOf(objects, m_model->options(), *m_subject.data, {});
        addMaskFacts(attributes, objects, m_model->options(), *m_subject.data, m_options.attribute);
        const auto* found =
            &attributeFor(attributes, objects, *m_subject.data, m_options.attribute);
        if (found->ordered)
            throw OptionError("attribute",
                              "'" + found->name + "' has values, not yes and no; choose another");
        set("attribute", found->name);
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
        const double difference = differenceOf(read.wholeQ, read.wholeK, m_parts.scale());
        set("attribute_difference", difference);
        if (!std::isfinite(difference))
            throw OptionError("attribute", "'" + found->name +
                                               "' follows from the place: no place has pairs with "
                                               "yes and pairs with no; choose another");
        const auto shown = std::min(m_options.components, components.values.size(0));
        const auto centred = [&](const torch::Tensor& x) { return x - x.index({m_taken}).mean(0); };
        const auto a = torch::matmul(centred(read.q), components.receiverOf),
                   b = torch::matmul(centred(read.k), components.senderOf);
        for (std::int64_t c = 0; c < shown; ++c)
            m_differences.push_back(differenceOf(a.slice(2, c, c + 1), b.slice(2, c, c + 1),
                                                 components.values[c].item<double>()) /
                                    difference);
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
        if (!m_described) return {};
        for (std::size_t f = 0; f < facts.names.size(); ++f) {
            const double share = shareOf(scores, factOf(facts, f, some), isOrdered(f));
            if (std::isnan(share)) continue;
            addRow(m_answer, "facts", c + 1, side, facts.names[f], share);
            if (share >= kFollows) found.emplace_back(-share, facts.names[f]);
        }
        std::sort(found.begin(), found.end());
        std::string words;
        for (const auto& [share, name] : found)
            words += (words.empty() ? "" : ", ") + name + " " + numberText("%.2f", -share);
        return words;
    }

    /// The features that rise most and fall most.
    struct Listed {
        std::string high, low;
    };
    Listed takePattern(std::int64_t c, const std::string& side, const torch::Tensor& pattern) {
        const auto* value = pattern.const_data_ptr<double>();
        Listed listed;
        if (m_objects != "patches") {
            std::vector<std::pair<double, std::string>> sorted;
            for (std::size_t f = 0; f < m_features.size(); ++f) {
                addRow(m_answer, "numbers", c + 1, side, m_features[f], value[f]);
                sorted.emplace_back(value[f], m_features[f]);
            }
            std::sort(sorted.begin(), sorted.end());
            const auto add = [](std::string& to, const std::string& name) {
                to += (to.empty() ? "" : ", ") + name;
            };
            for (std::int64_t k = 0; k < std::min(kListedFeatures, std::ssize(sorted)); ++k) {
                const auto& [most, mostName] = *(sorted.rbegin() + k);
                const auto& [least, leastName] = *(sorted.begin() + k);
                if (most > 0.0) add(listed.high, mostName);
                if (least < 0.0) add(listed.low, leastName);
            }
            return listed;
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
            addRow(m_answer, "numbers", c + 1, side, pixel / picture.width, pixel % picture.width,
                   channel, value[k]);
            picture.pixels.push_back(
                static_cast<std::uint8_t>(std::lround(127.5 + 127.5 * value[k] / largest)));
        }
        if (picture.channels == 1 || picture.channels == 3)
            m_pictures[side == "sender"].push_back(std::move(picture));
        return listed;
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
            for (std::size_t k = 0; k < facts.names.size() && m_described; ++k)
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
        m_features = featureNamesOf(m_subject);
        if (std::ssize(m_features) != count) m_features = featuresByFacts(objects, facts, count);
        auto& columns = const_cast<Table&>(m_answer.table("form")).columns;
        columns.front().texts = m_features;
        for (std::int64_t b = 0; b < count; ++b) {
            const auto& name = m_features[static_cast<std::size_t>(b)];
            columns.push_back(columns::number(
                name, {name, {3, false, true}, "Score of the receiver's feature with this one"}));
            for (std::int64_t a = 0; a < count; ++a)
                columns.back().numbers.push_back(form[a][b].item<double>());
        }
    }

    bool m_described = false;  // there are examples enough to say what facts are followed
    std::vector<std::string> m_features;  // of sets
    std::vector<Image> m_pictures[2];     // of patches, of receivers and senders
    torch::Tensor m_taken;                // [e, n]
    std::vector<double> m_differences;
};

}  // namespace

Answer dictionaryOfObjects(AnalysisSubject& subject, const DictionaryOptions& options,
                           const Watch<Answer>& watch) {
    return ObjectRun(subject, options, watch).run();
}

}  // namespace relascope::core
