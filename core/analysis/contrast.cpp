// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/contrast.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "analysis/contrast_terms.h"
#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/pair_objects.h"
#include "analysis/pair_reading.h"
#include "analysis/run_analysis.h"
#include "analysis/score_parts.h"
#include "evaluate/example_scores.h"
#include "types/error.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kContrastDraws = 200, kContrastImages = 250, kContrastTexts = 8;
constexpr std::int64_t kLeastPairs = 50;     // of either kind
constexpr std::int64_t kMostSideParts = 64;  // at the grain that is split
constexpr std::int64_t kDrawnPairs = 256;    // pairs of parts of texts that have intervals
constexpr std::int64_t kFreshMaps = 16;      // relations of a layer of an untrained model
constexpr double kNoContrast = std::numeric_limits<double>::quiet_NaN();

class ContrastRun {
public:
    ContrastRun(AnalysisSubject& subject, const ContrastOptions& options,
                const Watch<Contrast>& watch)
        : m_subject(subject),
          m_options(options),
          m_watch(watch),
          m_model(subject.model->edited(subject.interventions)),
          m_streams(m_model->model(), m_model->options()),
          m_parts(m_streams, scoreMap(m_streams, {}, static_cast<int>(options.layer) - 1,
                                      options.kind, static_cast<int>(options.index) - 1)) {
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
        const auto attributes = attributesOf(m_objects, model, *subject.data, options.attributes);
        choose(attributes);
        m_edited =
            subject.interventions.edits.anyEnabled() || subject.model->trainingEdits().anyEnabled();
    }

    Contrast run() {
        Contrast c;
        c.map = m_parts.text(), c.attribute = m_attribute;
        c.data = m_subject.data->info().name, c.noun = m_objects.noun;
        c.byFacts = m_options.by == "facts";
        c.examples = static_cast<std::int64_t>(m_objects.shape.examples);
        c.yes = m_pairs.yes.sum().item<std::int64_t>(),
        c.no = m_pairs.no.sum().item<std::int64_t>();
        const double own = 1.0, fresh = static_cast<double>(m_options.untrained);
        m_all = own + fresh + (m_options.use ? 1.0 : 0.0);
        StreamPart through;
        const StreamPart* split = nullptr;
        if (!m_options.through.empty()) {
            through = partNamed(m_streams, m_options.through, ownStack(), "through");
            split = &through;
        }
        auto read = vectors(*m_model, m_parts, split);
        m_pairs.u = read.u, m_pairs.v = read.v;
        const auto draws = drawn(c.examples);
        const auto terms = contrastTerms(m_pairs, draws, m_text ? kDrawnPairs : 4096);
        c.difference = terms.difference, c.low = terms.low, c.high = terms.high;
        m_done = own;
        for (auto* value : {&c.untrainedLow, &c.untrainedHigh, &c.auc, &c.alone, &c.without,
                            &c.base, &c.change, &c.changeLow, &c.changeHigh, &c.cancellation})
            *value = kNoContrast;
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
        c.split = !(c.low <= 0.0 && c.high >= 0.0);
        if (!c.split) return c;
        fill(c, terms, read);
        const auto at = terms.both.value.abs().flatten().argmax().item<std::int64_t>();
        const auto senders = terms.both.value.size(1), a = at / senders, b = at % senders;
        c.strongestI = read.namesI[static_cast<std::size_t>(a)];
        c.strongestJ = read.namesJ[static_cast<std::size_t>(b)];
        const auto term = termOf(m_pairs, a, b);
        c.alone = placeFixedAucOf(m_pairs, term, m_objects.shape.causal);
        c.without = placeFixedAucOf(m_pairs, scores - term, m_objects.shape.causal);
        if (split) takeThrough(c, read, through.text());
        report(c);
        compareUntrained(c);
        if (m_options.use) measureUse(c, term);
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
    void choose(const PairAttributes& attributes) {
        std::vector<std::string> names;
        const PairAttribute* found = nullptr;
        for (const auto& one : attributes.all) {
            names.push_back(one.name);
            // Attributes that are the same on all pairs are one, by all their names.
            const auto any = " = " + one.name + " = ";
            if (any.find(" = " + m_options.attribute + " = ") != std::string::npos) found = &one;
        }
        if (m_options.attribute.empty())
            throw OptionError("attribute", "choose one of " + joined(names) +
                                               ": contrast says what makes a map tell yes from no");
        if (!found)
            throw OptionError("attribute", unknownName("attribute", m_options.attribute, names));
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
        m_pairs.byOffset = m_objects.shape.byOffset;
        m_pairs.scale = m_parts.scale();
        for (const auto& [pairs, word] : {std::pair{&m_pairs.yes, "yes"}, {&m_pairs.no, "no"}})
            if (const auto count = pairs->sum().item<std::int64_t>(); count < kLeastPairs)
                throw OptionError("attribute", std::to_string(count) + " pairs with " + word +
                                                   " of '" + m_attribute +
                                                   "' are too few; at "
                                                   "least " +
                                                   std::to_string(kLeastPairs) +
                                                   " are needed: choose more examples, or another "
                                                   "attribute");
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

    // The vectors of a map of a model at the objects of all examples.
    PartVectors vectors(EditedModel& model, const ScoreParts& parts, const StreamPart* split) {
        const auto total = std::ssize(m_objects.examples);
        const auto step = m_text ? kContrastTexts : kContrastImages;
        PartVectors all;
        torch::Tensor u, v, ofI, ofJ;  // of all examples
        for (std::int64_t first = 0; first < total; first += step) {
            check(static_cast<double>(first) / static_cast<double>(total));
            const auto count = std::min(step, total - first);
            const std::vector<std::int64_t> indices(m_objects.examples.begin() + first,
                                                    m_objects.examples.begin() + first + count);
            const auto batch = makeBatch(*m_subject.data, indices.data(), count);
            const auto input = inputOf(batch, torch::kCPU);
            const auto objects = m_objects.positions.empty()
                                     ? torch::arange(parts.size(ScoreSide::I, input))
                                     : torch::tensor(m_objects.positions);
            all = partVectors(
                parts, input, objects, m_edited, m_grain, kMostSideParts, split,
                [&](Hooks& reader) { model.answers(batch, m_subject.data, indices, &reader); });
            m_grain = all.grain;
            const auto put = [&](torch::Tensor& to, const torch::Tensor& values) {
                if (!values.defined()) return;
                const auto rows = atStarts(values, first);
                if (!to.defined()) {
                    auto shape = rows.sizes().vec();
                    shape[0] = total;
                    to = torch::empty(shape, rows.options());
                }
                to.slice(0, first, first + count).copy_(rows);
            };
            put(u, all.u), put(v, all.v), put(ofI, all.tokensI), put(ofJ, all.tokensJ);
        }
        all.u = u, all.v = v, all.tokensI = ofI, all.tokensJ = ofJ;
        m_done += 1.0;
        return all;
    }

    // Of texts the block of objects of each example, in values [b, window, ...].
    torch::Tensor atStarts(const torch::Tensor& values, std::int64_t first) const {
        if (!m_objects.positions.empty()) return values;
        std::vector<torch::Tensor> rows;
        for (std::int64_t b = 0; b < values.size(0); ++b) {
            const auto start = m_objects.starts[static_cast<std::size_t>(first + b)];
            rows.push_back(values[b].slice(
                0, start, start + static_cast<std::int64_t>(m_objects.shape.objects)));
        }
        return torch::stack(rows);
    }

    static torch::Tensor drawn(std::int64_t examples) {
        std::mt19937_64 random(0);
        std::uniform_int_distribution<std::int64_t> one(0, examples - 1);
        std::vector<std::int64_t> all(static_cast<std::size_t>(kContrastDraws * examples));
        for (auto& example : all) example = one(random);
        return torch::tensor(all, torch::kLong).view({kContrastDraws, examples});
    }

    void fill(Contrast& c, const ContrastTerms& terms, const PartVectors& read) const {
        c.cancellation = terms.cancellation;
        const auto row = [](const ContrastShares& shares, const char* side, const std::string& i,
                            const std::string& j, const std::vector<std::int64_t>& at) {
            ContrastShare share{side, i, j};
            auto value = shares.value;
            auto interval = shares.interval;
            for (const auto place : at) {
                value = value[place];
                if (interval.defined()) interval = interval.select(1, place);
            }
            share.share = value.item<double>();
            share.low = interval.defined() ? interval[0].item<double>() : kNoContrast;
            share.high = interval.defined() ? interval[1].item<double>() : kNoContrast;
            share.untrainedLow = share.untrainedHigh = kNoContrast;
            return share;
        };
        const auto& i = read.namesI;
        const auto& j = read.namesJ;
        for (std::size_t a = 0; a < i.size(); ++a)
            c.parts.push_back(
                row(terms.receiver, "receiver", i[a], {}, {static_cast<std::int64_t>(a)}));
        for (std::size_t b = 0; b < j.size(); ++b)
            c.parts.push_back(
                row(terms.sender, "sender", {}, j[b], {static_cast<std::int64_t>(b)}));
        for (std::size_t a = 0; a < i.size(); ++a)
            for (std::size_t b = 0; b < j.size(); ++b)
                c.parts.push_back(
                    row(terms.both, "both", i[a], j[b],
                        {static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)}));
        std::stable_sort(c.parts.begin(), c.parts.end(), [](const auto& one, const auto& other) {
            return std::abs(one.share) > std::abs(other.share);
        });
        if (!terms.facts.value.defined()) return;
        auto names = m_facts;
        names.emplace_back("rest");
        for (std::size_t a = 0; a < names.size(); ++a)
            for (std::size_t b = 0; b < names.size(); ++b)
                c.facts.push_back(
                    row(terms.facts, "both", names[a], names[b],
                        {static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)}));
    }

    void takeThrough(Contrast& c, const PartVectors& read, const std::string& part) {
        if (!read.tokensI.defined() || !read.tokensJ.defined())
            throw OptionError("through",
                              "'" + part + "' is no part of both sides of " + m_parts.text());
        const auto places = [&](const torch::Tensor& tokens) {  // those of the objects
            if (!m_objects.positions.empty())
                return tokens.index_select(2, torch::tensor(m_objects.positions));
            std::vector<torch::Tensor> rows;
            for (std::int64_t e = 0; e < tokens.size(0); ++e) {
                const auto start = m_objects.starts[static_cast<std::size_t>(e)];
                rows.push_back(tokens[e].slice(
                    1, start, start + static_cast<std::int64_t>(m_objects.shape.objects)));
            }
            return torch::stack(rows);
        };
        const auto shares =
            throughShares(m_pairs, {places(read.tokensI), read.tokensI.sum(2)},
                          {places(read.tokensJ), read.tokensJ.sum(2)}, c.difference);
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

    // The same shares of models that are not trained: of all relations of the layer, or of the
    // head.
    void compareUntrained(Contrast& c) {
        const auto own = m_pairs;
        std::map<std::string, std::pair<double, double>> ranges;
        const auto widen = [](std::pair<double, double>& range, double value) {
            range.first = std::min(range.first, value);
            range.second = std::max(range.second, value);
        };
        std::pair<double, double> difference = {INFINITY, -INFINITY};
        const auto key = [](const ContrastShare& share) {
            return share.side + "\n" + share.i + "\n" + share.j;
        };
        std::int64_t models = 0;
        try {
            for (std::int64_t seed = 0; seed < m_options.untrained; ++seed) {
                const auto model = untrainedModel(
                    m_model->options(),
                    m_subject.model->isRun() ? m_subject.model->run().train.init : std::string(),
                    static_cast<std::uint64_t>(seed) + 1);
                EditedModel fresh(*model, m_model->options());
                const ModelStreams streams(*model, m_model->options());
                auto map = m_parts.map();
                const bool relations = map.kind == ScoreKind::Relation;
                m_edited = false;
                const double before = m_done;
                for (map.index = relations ? 0 : map.index; map.index < kFreshMaps; ++map.index) {
                    std::unique_ptr<ScoreParts> parts;
                    try {
                        parts = std::make_unique<ScoreParts>(streams, map);
                    } catch (const OptionError&) {
                        break;  // the last relation of the layer was the one before
                    }
                    const auto read = vectors(fresh, *parts, nullptr);
                    m_done = before;
                    m_pairs.u = read.u, m_pairs.v = read.v;
                    const auto terms = contrastTerms(m_pairs, {}, m_text ? kDrawnPairs : 4096);
                    Contrast one;
                    fill(one, terms, read);
                    widen(difference, terms.difference);
                    for (const auto* list : {&one.parts, &one.facts})
                        for (const auto& share : *list) {
                            auto [at, isNew] = ranges.try_emplace(
                                (list == &one.parts ? "" : "fact\n") + key(share), share.share,
                                share.share);
                            if (!isNew) widen(at->second, share.share);
                        }
                    if (!relations) break;
                }
                m_done = before + 1.0;
                ++models;
            }
        } catch (const Cancelled&) {
            m_pairs = own;
            if (models == 0) throw;
        }
        m_pairs = own;
        if (models == 0) return;
        c.untrained = models;
        c.untrainedLow = difference.first, c.untrainedHigh = difference.second;
        for (auto* list : {&c.parts, &c.facts})
            for (auto& share : *list)
                if (const auto at = ranges.find((list == &c.parts ? "" : "fact\n") + key(share));
                    at != ranges.end())
                    share.untrainedLow = at->second.first, share.untrainedHigh = at->second.second;
        report(c);
    }

    // The metric without the term.
    void measureUse(Contrast& c, const torch::Tensor& term) {
        const auto total = std::ssize(m_objects.examples);
        const auto step = m_text ? kContrastTexts : kContrastImages;
        const auto known = hasMean(m_pairs).to(torch::kDouble);
        const auto cells = term * known.unsqueeze(2) * known.unsqueeze(1);
        ExampleScores base, cut;
        const auto ignore = m_model->options().ignoredTarget();
        bool regression = false;
        for (std::int64_t first = 0; first < total; first += step) {
            check(static_cast<double>(first) / static_cast<double>(total));
            const auto count = std::min(step, total - first);
            const std::vector<std::int64_t> indices(m_objects.examples.begin() + first,
                                                    m_objects.examples.begin() + first + count);
            const auto batch = makeBatch(*m_subject.data, indices.data(), count);
            regression = batch.kind == TargetKind::Regression;
            TermCut hook(m_parts.scorePoint(), m_parts.map().index,
                         cells.slice(0, first, first + count), m_objects.positions,
                         m_objects.positions.empty()
                             ? std::vector<std::int64_t>(m_objects.starts.begin() + first,
                                                         m_objects.starts.begin() + first + count)
                             : std::vector<std::int64_t>());
            base.add(m_model->answers(batch, m_subject.data, indices), batch, ignore);
            cut.add(m_model->answers(batch, m_subject.data, indices, &hook), batch, ignore);
        }
        const auto change = pairedChange(regression ? "mean_error" : "accuracy", base.accuracy,
                                         cut.accuracy, base.targets);
        c.metric = change.metric, c.base = change.base, c.change = change.change;
        c.changeLow = change.low, c.changeHigh = change.high;
    }

    AnalysisSubject& m_subject;
    const ContrastOptions& m_options;
    const Watch<Contrast>& m_watch;
    std::unique_ptr<EditedModel> m_model;
    ModelStreams m_streams;
    ScoreParts m_parts;
    PairObjects m_objects;
    ContrastPairs m_pairs;
    std::string m_attribute, m_grain = "all";
    std::vector<std::string> m_facts;
    bool m_text = false, m_edited = false;
    double m_done = 0.0, m_all = 1.0;
};

Contrast runContrast(AnalysisSubject& subject, const ContrastOptions& options,
                     const Watch<Contrast>& watch) {
    return ContrastRun(subject, options, watch).run();
}

}  // namespace

const AnalysisRunner& contrastRunner() {
    static const AnalysisRunner runner = makeRunner(contrastFields(), runContrast, answerOf);
    return runner;
}

}  // namespace relascope::core
