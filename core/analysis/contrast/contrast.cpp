// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/contrast/contrast.h"

#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/contrast/terms.h"
#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/pairs/claims.h"
#include "analysis/pairs/mask_facts.h"
#include "analysis/pairs/pair_objects.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/parts/score_parts.h"
#include "analysis/run_analysis.h"
#include "checkpoint/kept_weights.h"
#include "data/batches.h"
#include "evaluate/example_scores.h"
#include "evaluate/scoring.h"
#include "types/error.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kContrastImages = 100, kContrastTexts = 8;
constexpr std::int64_t kContrastBlocks = 50;  // that are left out one by one
constexpr std::int64_t kLeastPairs = 50;      // of either kind
constexpr std::int64_t kMostSideParts = 64;   // at the grain that is split
constexpr std::int64_t kDrawnPairs = 256;     // pairs of parts of texts that have intervals
constexpr std::int64_t kFreshMaps = 16;       // relations of a layer of an untrained model
constexpr std::int64_t kFreshBlocks = 10;     // of an untrained model, which has no intervals
constexpr double kNoContrast = std::numeric_limits<double>::quiet_NaN();

class ContrastRun {
public:
    ContrastRun(AnalysisSubject& subject, const ContrastOptions& options,
                const Watch<Contrast>& watch)
        : m_subject(subject),
          m_options(options),
          m_watch(watch),
          m_model(subject.model->edited(subject.interventions)),
          m_streams(m_model->model(), m_model->options(), featureNamesOf(subject)),
          m_parts(scorePartsOf(m_streams, options.relation, [&] {
              return scoreMap(m_streams, {}, static_cast<int>(options.layer) - 1, options.kind,
                              static_cast<int>(options.index) - 1);
          })) {
        if (!options.relation.empty()) {
            if (options.use)
                throw OptionError("use",
                                  "takes a term off the scores of the model, of which a "
                                  "fitted relation is no part; take the relation out");
            m_options.untrained = 0, m_options.layer = m_parts.map().layer + 1;
        }
        if (!subject.data || subject.data->size() == 0)
            throw OptionError("data", "contains nothing to compare");
        const auto& name = m_streams.stacks()[static_cast<std::size_t>(m_parts.map().stack)].name;
        if (name == "decoder" || m_parts.map().kind == ScoreKind::Cross)
            throw OptionError(
                "layer",
                "is of the decoder, whose objects are no pairs of the input; choose a "
                "layer of the encoder");
        const auto& model = m_model->options();
        m_text = model.input() == InputKind::Tokens;
        m_objects = pairObjects(model, *subject.data, options.examples, options.attributes);
        m_objects.shape.causal = m_parts.isCausal();
        auto attributes = attributesOf(m_objects, model, *subject.data, options.attributes);
        addMaskFacts(attributes, m_objects, model, *subject.data, options.attribute);
        choose(attributes);
        m_edited =
            subject.interventions.edits.anyEnabled() || subject.model->trainingEdits().anyEnabled();
    }

    Contrast run() {
        Contrast c;
        c.map = m_parts.text(), c.attribute = m_attribute, c.layer = m_options.layer;
        c.softmax = m_parts.softmax();
        const auto input = m_model->options().input();
        c.things = m_text ? "tokens" : input == InputKind::Images ? "patches" : "objects";
        c.data = m_subject.data->info().name, c.noun = m_objects.noun;
        c.byFacts = m_options.by == "facts";
        c.examples = static_cast<std::int64_t>(m_objects.shape.examples);
        const auto groups = contentGroups(*m_subject.data, m_objects.examples);
        c.different = groups.count;
        m_groups = torch::tensor(std::vector<std::int64_t>(groups.of.begin(), groups.of.end()));
        m_content.assign(groups.of.begin(), groups.of.end());
        c.yes = m_pairs.yes.sum().item<std::int64_t>(),
        c.no = m_pairs.no.sum().item<std::int64_t>();
        const double own = 1.0, fresh = static_cast<double>(m_options.untrained);
        m_all = own + fresh + (uses() ? 1.0 : 0.0);
        StreamPart through;
        const StreamPart* split = nullptr;
        if (!m_options.through.empty()) {
            through = partNamed(m_streams, m_options.through, ownStack(), "through");
            split = &through;
        }
        const auto read = vectors(*m_model, m_parts, split, &m_answers);
        m_pairs.u = read.u, m_pairs.v = read.v;
        for (auto* value : {&c.untrainedLow, &c.untrainedHigh, &c.auc, &c.alone, &c.without,
                            &c.base, &c.change, &c.changeLow, &c.changeHigh, &c.cancellation})
            *value = kNoContrast;
        const auto shares = measured(c, read, kContrastBlocks);
        m_done = own;
        const auto scores = scoresOf(m_pairs);
        if (!scores.isfinite().all().item<bool>())
            throw Error(c.map +
                        " has values that are not finite on these data; look at an earlier "
                        "step");
        c.auc = placeFixedAucOf(m_pairs, scores, m_objects.shape.causal);
        if (std::isnan(c.difference))
            throw OptionError("attribute", "'" + m_attribute +
                                               "' follows from the place: no place has pairs with "
                                               "yes and pairs with no; choose another");
        if (!c.split) return c;
        const auto at = shares.both.abs().flatten().argmax().item<std::int64_t>();
        const auto senders = shares.both.size(1), a = at / senders, b = at % senders;
        c.strongestI = read.namesI[static_cast<std::size_t>(a)];
        c.strongestJ = read.namesJ[static_cast<std::size_t>(b)];
        const auto means = meansOf(m_pairs);
        const auto term = termOf(m_pairs, means, a, b);
        c.alone = placeFixedAucOf(m_pairs, term, m_objects.shape.causal);
        c.without = placeFixedAucOf(m_pairs, scores - term, m_objects.shape.causal);
        if (split) takeThrough(c, through.text());
        report(c);
        if (uses()) {
            chooseUsed(c, shares.facts, read);
            measureUse(c, means, read);
            report(c);
        }
        compareUntrained(c);
        return c;
    }

private:
    const std::string& ownStack() const {
        return m_streams.stacks()[static_cast<std::size_t>(m_parts.map().stack)].name;
    }
    void check(double part) {
        if (m_watch.stop.stop_requested() ||
            (m_watch.progress && !m_watch.progress((m_done + part) / m_all)))
            throw Cancelled();
    }
    void report(const Contrast& c) {
        if (m_watch.partial) m_watch.partial(c);
    }

    // Finds the attribute, and the pairs with yes and no.
    void choose(PairAttributes& attributes) {
        if (m_options.attribute.empty()) {
            std::vector<std::string> names;
            for (const auto& one : attributes.all) names.push_back(one.name);
            throw OptionError("attribute", "choose one of " + joined(names) +
                                               ": contrast says what makes a map tell yes from no");
        }
        const auto* found =
            &attributeFor(attributes, m_objects, *m_subject.data, m_options.attribute);
        if (found->ordered)
            throw OptionError("attribute",
                              "'" + found->name + "' has values, not yes and no; choose another");
        m_attribute = found->name;
        const auto e = static_cast<std::int64_t>(m_objects.shape.examples),
                   n = static_cast<std::int64_t>(m_objects.shape.objects);
        const auto truth = torch::tensor(found->truth, torch::kByte).view({e, n, n});
        auto open = torch::ones({n, n}, torch::kBool).logical_xor(torch::eye(n, torch::kBool));
        if (m_objects.shape.causal) open = open.tril(-1);
        m_pairs.yes = truth.eq(kPairYes).logical_and(open).to(torch::kDouble);
        m_pairs.no = truth.eq(kPairNo).logical_and(open).to(torch::kDouble);
        m_with = takesPart(m_pairs);
        m_objectsWith = m_with.sum().item<std::int64_t>();
        m_pairs.byOffset = m_objects.shape.byOffset;
        m_pairs.scale = m_parts.scale();
        for (const auto& [pairs, word] : {std::pair{&m_pairs.yes, "yes"}, {&m_pairs.no, "no"}})
            if (const auto count = pairs->sum().item<std::int64_t>(); count < kLeastPairs)
                throw OptionError("attribute",
                                  std::to_string(count) + " pairs with " + word + " of '" +
                                      m_attribute + "' are too few; at least " +
                                      std::to_string(kLeastPairs) +
                                      " are needed: choose more examples, or another attribute");
        readFacts();
    }

    void readFacts() {
        auto table = factsOfObjects(m_objects, *m_subject.data);
        if (table.names.empty()) return;
        m_facts = std::move(table.names);
        m_pairs.facts =
            torch::tensor(table.values, torch::kLong)
                .view({static_cast<std::int64_t>(m_objects.shape.examples),
                       static_cast<std::int64_t>(m_objects.shape.objects), std::ssize(m_facts)});
    }

    struct ContrastBatch {
        std::int64_t first, count;  // of the examples
        std::vector<std::int64_t> indices;
        Batch data;
    };
    // Adds answers to a batch, of data whose labels the model has.
    void score(ExampleScores& to, const torch::Tensor& answers, const ContrastBatch& batch) {
        const auto& model = m_model->options();
        m_regression = batch.data.kind == TargetKind::Regression;
        try {
            requireLabels(batch.data, model.outputs(), model.ignoredTarget());
        } catch (const OptionError&) {
            m_labelled = false;
        }
        if (m_labelled) to.add(answers, batch.data, model.ignoredTarget());
    }
    const char* metric() const { return m_regression ? "mean_error" : "accuracy"; }
    template <class Work>
    void eachBatch(Work work) {
        const auto total = std::ssize(m_objects.examples);
        const auto step = m_text ? kContrastTexts : kContrastImages;
        for (std::int64_t first = 0; first < total; first += step) {
            check(static_cast<double>(first) / static_cast<double>(total));
            ContrastBatch batch{first, std::min(step, total - first), {}, {}};
            batch.indices.assign(m_objects.examples.begin() + first,
                                 m_objects.examples.begin() + first + batch.count);
            batch.data = makeBatch(*m_subject.data, batch.indices.data(), batch.count);
            work(batch);
        }
    }
    // The objects of a batch that are true in `some` [examples of the batch, n]: their examples,
    // and their positions.
    std::pair<torch::Tensor, torch::Tensor> rowsOf(const ContrastBatch& batch,
                                                   const torch::Tensor& some) const {
        const auto at = some.nonzero();
        const auto example = at.select(1, 0).contiguous(), object = at.select(1, 1);
        const auto position =
            m_objects.positions.empty()
                ? torch::tensor(m_objects.starts).index_select(0, example + batch.first) + object
                : torch::tensor(m_objects.positions).index_select(0, object);
        return {example, position};
    }

    // The vectors of a map of a model at the objects that take part. They are kept in float32, as
    // the model computes; terms of them are centred in double.
    // `answers`: gets what the model answered; or null.
    PartVectors vectors(EditedModel& model, const ScoreParts& parts, const StreamPart* split,
                        ExampleScores* answers) {
        const auto total = std::ssize(m_objects.examples);
        PartVectors all;
        torch::Tensor u, v;
        std::int64_t row = 0;
        eachBatch([&](const ContrastBatch& batch) {
            const auto with = m_with.slice(0, batch.first, batch.first + batch.count);
            const auto [example, position] = rowsOf(batch, with);
            const auto answer = [&](Hooks* reader) {
                const auto given = model.answers(batch.data, m_subject.data, batch.indices, reader);
                if (answers) score(*answers, given, batch);
            };
            if (example.size(0) == 0) return answers ? answer(nullptr) : void();
            const auto input = inputOf(batch.data, torch::kCPU);
            // Tokens are those of whole examples.
            const auto whole = split ? torch::arange(parts.size(ScoreSide::I, input)) : position;
            all = partVectors(parts, input, whole, split ? torch::Tensor() : example, m_edited,
                              m_grain, kMostSideParts, split,
                              [&](Hooks& reader) { answer(&reader); });
            m_grain = all.grain;
            const auto put = [&](torch::Tensor& to, const torch::Tensor& values) {
                const auto own = split ? values.index({example, position}) : values[0];
                if (!to.defined()) {
                    auto shape = own.sizes().vec();
                    shape[0] = m_objectsWith;
                    to = torch::empty(shape, torch::kFloat);
                }
                to.slice(0, row, row + own.size(0)).copy_(own);
            };
            put(u, all.u);
            if (all.v.is_same(all.u))
                v = u;
            else
                put(v, all.v);
            row += example.size(0);
            if (!split) return;
            const auto every = rowsOf(batch, torch::ones_like(with));
            const auto n = with.size(1);
            const auto objects = every.second.view({batch.count, n});
            const auto b = torch::arange(batch.count).view({-1, 1});
            for (auto [tokens, to] :
                 {std::pair{&all.tokensI, &m_tokensI}, {&all.tokensJ, &m_tokensJ}}) {
                if (!tokens->defined()) continue;
                const auto own = tokens->index({b, objects});  // [b, n, tokens, k]
                const auto k = own.size(3);
                if (!to->tokens.defined()) {
                    to->tokens = torch::empty({total, n, n, k}, torch::kFloat);
                    to->whole = torch::empty({total, n, k}, torch::kFloat);
                }
                to->whole.slice(0, batch.first, batch.first + batch.count).copy_(own.sum(2));
                to->tokens.slice(0, batch.first, batch.first + batch.count)
                    .copy_(own.index(
                        {b.unsqueeze(2), torch::arange(n).view({1, n, 1}), objects.unsqueeze(1)}));
            }
        });
        all.u = u, all.v = v;
        m_done += 1.0;
        return all;
    }

    /// The shares of pairs of parts and of facts, less what they owe to the examples being few.
    struct PairShares {
        torch::Tensor both, facts;
    };

    // The difference of the vectors of m_pairs and, where it is shown to differ from 0, its shares,
    // with intervals by leaving blocks of examples out.
    PairShares measured(Contrast& c, const PartVectors& read, std::int64_t blocks) const {
        const auto counts = withoutBlocks(m_groups, blocks);
        const auto terms = contrastTerms(m_pairs, counts, m_text ? kDrawnPairs : 4096);
        const auto difference = jackknifed(terms.difference, counts);
        c.difference = terms.difference[0].item<double>();
        c.low = difference.low.item<double>(), c.high = difference.high.item<double>();
        c.split = c.low > 0.0 || c.high < 0.0;
        if (!c.split) return {};
        c.cancellation = terms.cancellation;
        const auto row = [](const JackknifeEstimate& shares, const char* side, const std::string& i,
                            const std::string& j, const std::vector<std::int64_t>& at) {
            ContrastShare share{side, i, j};
            const auto number = [&](torch::Tensor values) {
                for (const auto place : at) values = values[place];
                return values.item<double>();
            };
            share.share = number(shares.value);
            share.low = number(shares.low), share.high = number(shares.high);
            share.untrainedLow = share.untrainedHigh = kNoContrast;
            return share;
        };
        // All pairs of two lists of names.
        const auto pairs = [&](const JackknifeEstimate& shares, const std::vector<std::string>& i,
                               const std::vector<std::string>& j, std::vector<ContrastShare>& to) {
            for (std::size_t a = 0; a < i.size(); ++a)
                for (std::size_t b = 0; b < j.size(); ++b)
                    to.push_back(row(shares, "both", i[a], j[b],
                                     {static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)}));
        };
        const auto &i = read.namesI, &j = read.namesJ;
        const auto receiver = jackknifed(terms.receiver, counts),
                   sender = jackknifed(terms.sender, counts), both = jackknifed(terms.both, counts),
                   whole = jackknifed(terms.sides, counts);
        for (std::size_t a = 0; a < i.size(); ++a)
            c.parts.push_back(row(receiver, "receiver", i[a], {}, {static_cast<std::int64_t>(a)}));
        for (std::size_t b = 0; b < j.size(); ++b)
            c.parts.push_back(row(sender, "sender", {}, j[b], {static_cast<std::int64_t>(b)}));
        pairs(both, i, j, c.parts);
        std::stable_sort(c.parts.begin(), c.parts.end(), [](const auto& one, const auto& other) {
            return std::abs(one.share) > std::abs(other.share);
        });
        static constexpr std::array sides = {"receiver", "sender", "both"};
        for (std::int64_t side = 0; side < 3; ++side)
            c.sides.push_back(row(whole, sides[static_cast<std::size_t>(side)], {}, {}, {side}));
        if (!terms.facts.defined()) return {both.value, {}};
        const auto facts = jackknifed(terms.facts, counts);
        auto names = m_facts;
        names.emplace_back("rest");
        pairs(facts, names, names, c.facts);
        return {both.value, facts.value};
    }

    void takeThrough(Contrast& c, const std::string& part) {
        if (!m_tokensI.tokens.defined() || !m_tokensJ.tokens.defined())
            throw OptionError("through",
                              "'" + part + "' is no part of both sides of " + m_parts.text());
        const auto shares = throughShares(m_pairs, m_tokensI, m_tokensJ, c.difference);
        m_tokensI = m_tokensJ = {};
        c.throughOf = part;
        static constexpr std::array names = {"itself", "the other", "the rest"};
        for (std::int64_t s = 0; s < 3; ++s)
            for (std::int64_t t = 0; t < 3; ++t) {
                ContrastShare share{"both", names[static_cast<std::size_t>(s)],
                                    names[static_cast<std::size_t>(t)]};
                share.share = shares[s][t].item<double>();
                share.low = share.high = share.untrainedLow = share.untrainedHigh = kNoContrast;
                c.through.push_back(share);
            }
    }

    // The least and the most of untrained models.
    class Untrained {
    public:
        void widen(const Contrast& one) {
            widen(m_difference, one.difference);
            if (!one.split) return;
            for (const auto* list : {&one.parts, &one.facts, &one.sides})
                for (const auto& share : *list)
                    widen(m_shares.try_emplace(keyOf(share, list == &one.facts), kNothing)
                              .first->second,
                          share.share);
        }
        void put(Contrast& c) const {
            c.untrainedLow = m_difference.first, c.untrainedHigh = m_difference.second;
            for (auto* list : {&c.parts, &c.facts, &c.sides})
                for (auto& share : *list)
                    if (const auto at = m_shares.find(keyOf(share, list == &c.facts));
                        at != m_shares.end())
                        share.untrainedLow = at->second.first,
                        share.untrainedHigh = at->second.second;
        }

    private:
        using Range = std::pair<double, double>;
        static constexpr Range kNothing = {INFINITY, -INFINITY};
        static std::string keyOf(const ContrastShare& share, bool fact) {
            return (fact ? "fact\n" : "") + share.side + "\n" + share.i + "\n" + share.j;
        }
        static void widen(Range& range, double value) {
            range = {std::min(range.first, value), std::max(range.second, value)};
        }
        Range m_difference = kNothing;
        std::map<std::string, Range> m_shares;
    };

    // The shares of a map of another model.
    Contrast sharesOf(EditedModel& model, const ScoreParts& parts,
                      ExampleScores* answers = nullptr) {
        const double before = m_done;
        const auto read = vectors(model, parts, nullptr, answers);
        m_done = before;
        m_pairs.u = read.u, m_pairs.v = read.v;
        Contrast one;
        measured(one, read, kFreshBlocks);
        return one;
    }

    // The same shares of models that are not trained, of all relations of the layer or of the head;
    // and of the weights that the run began with.
    void compareUntrained(Contrast& c) {
        m_pairs.u = m_pairs.v = torch::Tensor();
        m_edited = false;
        Untrained range;
        std::vector<double> scores;
        const auto scoreOf = [&](const ExampleScores& answers) {
            return pairedChange(metric(), answers.accuracy, answers.accuracy, answers.targets).base;
        };
        const bool run = m_subject.model->isRun();
        try {
            if (m_options.untrained > 0 && hasFirst()) {
                OpenedModel first(m_subject.run, "0", "cpu", m_watch.stop);
                const auto edited = first.edited({});
                const ModelStreams streams(edited->model(), edited->options(),
                                           featureNamesOf(m_subject));
                const auto one = sharesOf(*edited, ScoreParts(streams, m_parts.map()));
                range.widen(one);
                c.first = true, c.untrainedSplit += one.split;
            }
            for (std::int64_t seed = 0; seed < m_options.untrained; ++seed) {
                // Other seeds than those of runs.
                const auto fresh =
                    untrainedTwin(*m_subject.model,
                                  static_cast<std::uint64_t>(seed) + (run ? 1000003 : 1), "cpu");
                EditedModel edited(*fresh, m_model->options());
                const ModelStreams streams(*fresh, m_model->options(), featureNamesOf(m_subject));
                auto map = m_parts.map();
                const bool relations = map.kind == ScoreKind::Relation;
                bool split = false;
                ExampleScores answers;
                for (map.index = relations ? 0 : map.index; map.index < kFreshMaps; ++map.index) {
                    std::unique_ptr<ScoreParts> parts;
                    try {
                        parts = std::make_unique<ScoreParts>(streams, map);
                    } catch (const OptionError&) {
                        break;  // the last relation of the layer was the one before
                    }
                    const auto one =
                        sharesOf(edited, *parts, answers.accuracy.empty() ? &answers : nullptr);
                    range.widen(one);
                    split = split || one.split;
                    if (!relations) break;
                }
                m_done += 1.0;
                c.untrainedSplit += split;
                ++c.untrained;
                if (m_labelled) scores.push_back(scoreOf(answers));
            }
        } catch (const Cancelled&) {
            if (c.untrained == 0) throw;
        }
        if (c.untrained == 0) return;
        range.put(c);
        if (m_labelled) {
            const double own = scoreOf(m_answers);
            const bool single = m_answers.right.size() == m_answers.accuracy.size();
            if (!answersBetter(metric(), own, scores, single ? c.different : 0))
                c.guard = noBetterText(metric(), own, scores);
        }
        report(c);
    }
    bool hasFirst() const {
        if (m_subject.run.empty() || m_subject.model->step() <= 0) return false;
        const auto here = KeptWeights(m_subject.run).localSteps();
        return !here.empty() && here.front().step == 0;
    }

    bool uses() const { return m_options.use || !m_options.use_of.empty(); }

    // Names the pair that is taken off: the one that was asked for, or the strongest of parts, or
    // of facts.
    void chooseUsed(Contrast& c, const torch::Tensor& facts, const PartVectors& read) const {
        const auto has = [](const std::vector<std::string>& names, const std::string& name) {
            return std::find(names.begin(), names.end(), name) != names.end();
        };
        if (const auto& text = m_options.use_of; !text.empty()) {
            const auto between = text.find(" x ");
            c.usedI = text.substr(0, between);
            c.usedJ = between == std::string::npos ? text : text.substr(between + 3);
            const bool parts = has(read.namesI, c.usedI) && has(read.namesJ, c.usedJ);
            if (parts || (has(m_facts, c.usedI) && has(m_facts, c.usedJ))) return;
            auto names = read.namesI;
            names.insert(names.end(), m_facts.begin(), m_facts.end());
            throw OptionError("use_of", unknownName("part or fact", text, names));
        }
        c.usedI = c.strongestI, c.usedJ = c.strongestJ;
        if (!c.byFacts || m_facts.empty()) return;
        // The rest is no fact.
        const auto count = static_cast<std::int64_t>(m_facts.size());
        const auto shares = facts.slice(0, 0, count).slice(1, 0, count).abs();
        const auto at = shares.flatten().argmax().item<std::int64_t>();
        c.usedI = m_facts[static_cast<std::size_t>(at / count)];
        c.usedJ = m_facts[static_cast<std::size_t>(at % count)];
    }

    // The metric without the term of that pair.
    void measureUse(Contrast& c, const PartMeans& means, const PartVectors& of) {
        const auto at = [](const std::vector<std::string>& names, const std::string& name) {
            return std::find(names.begin(), names.end(), name) - names.begin();
        };
        const auto a = at(of.namesI, c.usedI), b = at(of.namesJ, c.usedJ);
        torch::Tensor facts;  // [e, n, n]
        if (a == std::ssize(of.namesI))
            facts = factTermOf(m_pairs, means, at(m_facts, c.usedI), at(m_facts, c.usedJ));
        ExampleScores cut;
        eachBatch([&](const ContrastBatch& batch) {
            requireLabels(batch.data, m_model->options().outputs(),
                          m_model->options().ignoredTarget());
            const auto n = m_with.size(1);
            const auto [example, position] = rowsOf(batch, torch::ones({batch.count, n}));
            const auto read = partVectors(
                m_parts, inputOf(batch.data, torch::kCPU), position, example, m_edited, m_grain,
                kMostSideParts, nullptr, [&](Hooks& reader) {
                    m_model->answers(batch.data, m_subject.data, batch.indices, &reader);
                });
            const auto of = [&](const torch::Tensor& rows) {
                return rows[0].unflatten(0, {batch.count, n});
            };
            TermCut hook(m_parts,
                         facts.defined()
                             ? facts.slice(0, batch.first, batch.first + batch.count)
                             : termOf(of(read.u), of(read.v), means, a, b, m_pairs.scale),
                         m_objects.positions,
                         m_objects.positions.empty()
                             ? std::vector<std::int64_t>(
                                   m_objects.starts.begin() + batch.first,
                                   m_objects.starts.begin() + batch.first + batch.count)
                             : std::vector<std::int64_t>());
            score(cut, m_model->answers(batch.data, m_subject.data, batch.indices, &hook), batch);
        });
        const auto change =
            pairedChange(metric(), m_answers.accuracy, cut.accuracy, m_answers.targets, m_content);
        c.metric = change.metric, c.base = change.base, c.change = change.change;
        c.changeLow = change.low, c.changeHigh = change.high;
    }

    AnalysisSubject& m_subject;
    ContrastOptions m_options;
    const Watch<Contrast>& m_watch;
    std::unique_ptr<EditedModel> m_model;
    ModelStreams m_streams;
    ScoreParts m_parts;
    PairObjects m_objects;
    ContrastPairs m_pairs;
    torch::Tensor m_with;  // [e, n]: which objects take part, and how many they are
    std::int64_t m_objectsWith = 0;
    PartTokens m_tokensI, m_tokensJ;
    std::string m_attribute, m_grain = "all";
    std::vector<std::string> m_facts;
    torch::Tensor m_groups;  // [e]: examples of the same content
    std::vector<std::uint64_t> m_content;
    ExampleScores m_answers;
    bool m_text = false, m_edited = false, m_regression = false, m_labelled = true;
    double m_done = 0.0, m_all = 1.0;
};

}  // namespace

Contrast contrastOf(AnalysisSubject& subject, const ContrastOptions& options,
                    const Watch<Contrast>& watch) {
    return ContrastRun(subject, options, watch).run();
}

// Throws OptionError for a map or an attribute that is not there, and for fewer than 50 pairs of
// either kind; Cancelled.
const RegisterRunner kContrastRunner("contrast", [] {
    return makeRunner(contrastFields(), contrastOf, answerOf);
});

}  // namespace relascope::core
