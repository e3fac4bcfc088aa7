// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/fitted/fitted.h"

#include <torch/utils.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "analysis/edited_model.h"
#include "analysis/fitted/directions_read.h"
#include "analysis/fitted/fit.h"
#include "analysis/fitted/removal.h"
#include "analysis/fitted/stream_reading.h"
#include "analysis/open_model.h"
#include "analysis/pairs/claims.h"
#include "analysis/parts/basis.h"
#include "analysis/run_analysis.h"
#include "answers/column_table.h"
#include "data/example_checksum.h"
#include "files/command_line.h"
#include "files/memory.h"
#include "model/architecture.h"
#include "model/public/public_options.h"
#include "types/error.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kExchanges = 10, kRandomSubspaces = 20;
constexpr std::size_t kFittedDraws = 500;
constexpr std::int64_t kShownRanks = 16;
constexpr std::int64_t kRemovedRanks[] = {1, 2, 3, 4, 6, 8};
constexpr double kHasRelation = 0.5;  // R^2 of a head
constexpr double kFitShare = 0.2;     // of the work, beside reading all streams once
constexpr double kNoFit = std::numeric_limits<double>::quiet_NaN();

/// A fit on one stream.
struct StreamFit {
    StreamAxes axes;
    RidgePath path;
    double chosen = 0.0, auc = 0.0;  ///< on the examples to choose and to test
};

class FittedRun {
public:
    FittedRun(AnalysisSubject& subject, const FittedOptions& options, const Watch<Answer>& watch)
        : m_subject(subject),
          m_options(options),
          m_watch(watch),
          m_form(relationForm(options.form)),
          m_facts(subject.model->options(), requireData(subject), options),
          m_rows(m_facts.pairs()),
          m_fitter(m_facts.pairs(), m_rows, m_form),
          m_sides(m_facts.pairs(), m_rows, RelationForm::OneSide),
          m_model(subject.model->edited(subject.interventions)),
          m_plan(streamPlan(*m_model, m_facts)) {
        chooseLayers();
        requireRoom();
        if (!options.save.empty()) requireRelationFile(relationFileOf(options.save));
        m_all = 1.0 + static_cast<double>(m_layers.size()) * kFitShare + kExchanges * 0.1 +
                static_cast<double>(options.untrained) * 1.5 + (options.remove ? 3.0 : 0.0);
    }

    Answer run() {
        const torch::NoGradGuard noGrad;
        m_answer = emptyFitted(m_facts.masked() != nullptr);
        m_untrained.resize(m_layers.size());
        const bool symmetric = isSymmetric(m_form);
        auto attention = objectAttention();
        m_read = readStreams(*m_model, m_facts, m_rows, m_plan,
                             {m_layers, &m_fitter.pairs(kToTest), symmetric, true,
                              attention ? &*attention : nullptr},
                             [&](double done) { return advance(done); });
        m_done = 1.0;
        for (std::size_t k = 0; k < m_layers.size(); ++k) {
            m_fits.push_back(fitStream(m_read.streams[k], m_fitter, m_facts.pairs(), kFitShare,
                                       kGradientOfRelation));
            if (m_fits[k].chosen > m_fits[m_best].chosen) m_best = k;
            m_done += kFitShare;
            check();
            showSoFar();
        }
        // The streams of a large model take more than the model.
        for (std::size_t k = 0; k < m_layers.size(); ++k)
            if (k != m_best) m_read.streams[k].reset();
        describe();
        exchange();
        pixels();
        untrained();
        writeLayers(m_answer);
        writeHeads();
        if (attention) writeAttention(*attention);
        if (m_options.remove) remove();
        finish();
        return std::move(m_answer);
    }

private:
    static DatasetPtr requireData(const AnalysisSubject& subject) {
        if (!subject.data || subject.data->size() == 0)
            throw OptionError("data", "contains nothing to fit to");
        return subject.data;
    }

    bool advance(double more) const {
        return !m_watch.stop.stop_requested() &&
               (!m_watch.progress || m_watch.progress(std::min(1.0, (m_done + more) / m_all)));
    }
    void check() const {
        if (!advance(0.0)) throw Cancelled();
    }

    void chooseLayers() {
        const auto count = m_plan.streams.size();
        if (m_options.layer == "all" || m_options.layer.empty()) {
            for (std::size_t k = 0; k < count; ++k) m_layers.push_back(k);
            return;
        }
        std::size_t layer = 0;
        const auto& text = m_options.layer;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), layer);
        if (error != std::errc() || end != text.data() + text.size() || layer >= count)
            throw OptionError("layer", "'" + text +
                                           "' is neither all nor a number from 0, before "
                                           "the first layer, to " +
                                           std::to_string(count - 1));
        m_layers = {layer};
    }

    void requireRoom() const {
        const auto bytes = static_cast<std::uint64_t>(m_rows.size()) *
                           static_cast<std::uint64_t>(m_plan.streams[m_layers.front()].width) *
                           sizeof(float) * m_layers.size();
        const auto free = availableMemory();
        if (free > 0 && bytes > free / 2)
            throw OptionError("examples", "the streams of these examples take " +
                                              std::to_string(bytes >> 20) + " MB of " +
                                              std::to_string(free >> 20) +
                                              " MB that are free; take fewer, or one layer");
    }

    std::optional<ObjectAttention> objectAttention() const {
        const auto* masked = m_facts.masked();
        if (!masked) return std::nullopt;
        const auto& pairs = m_facts.pairs();
        const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(pairs.examples),
                                                 static_cast<std::int64_t>(pairs.objects)};
        const std::vector<std::int64_t> numbers(masked->numbers.begin(), masked->numbers.end());
        torch::Tensor groups;
        if (masked->groups) {
            std::vector<std::int64_t> all;
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                const auto& objects = masked->masks[k / pairs.objects].objects;
                const auto found = std::find_if(objects.begin(), objects.end(), [&](const auto& o) {
                    return o.number == numbers[k];
                });
                all.push_back(found == objects.end() ? -1 : found->group);
            }
            groups = torch::tensor(all, torch::kLong).view(shape);
        }
        return ObjectAttention(torch::tensor(numbers, torch::kLong).view(shape), groups,
                               firstTokens());
    }

    std::int64_t firstTokens() const {
        return m_facts.objects().starts.empty() ? m_facts.objects().positions.front() : 0;
    }
    AxesOptions axesOptions() const {
        return {m_options.scale, m_options.directions, 1e-4, !m_facts.objects().starts.empty()};
    }

    // `share`: of the work, for the progress.
    StreamFit fitStream(const torch::Tensor& stream, const PairFitter& fitter,
                        const FactPairs& pairs, double share = 0.0,
                        double gradient = kGradientOfAuc) const {
        StreamFit fit{streamAxes(stream, m_rows, pairs, m_form, axesOptions()), {}, 0.0, 0.0};
        const auto z = coordinates(stream, m_rows, fit.axes);
        fit.path = fitter.path(
            z, usualRidges(),
            [&](double part) {
                if (!advance(share * part)) throw Cancelled();
            },
            gradient);
        fit.chosen = fit.path.steps[fit.path.best].chosen;
        fit.auc = fitter.auc(fitter.scores(z, fit.path.fit(), kToTest), kToTest);
        return fit;
    }
    const StreamFit& best() const { return m_fits[m_best]; }
    const StreamPoint& point() const { return m_plan.streams[m_layers[m_best]]; }

    // The numbers of the chosen layer.
    void describe() {
        const auto& fit = best().path.fit();
        const auto z = coordinates(m_read.streams[m_best], m_rows, best().axes);
        m_scores = m_fitter.scores(z, fit, kToTest);
        const auto& test = m_fitter.pairs(kToTest);
        // What either object says alone, of the pairs that the relation is tested on.
        const auto sides = m_sides.path(z, usualRidges(), {}, kGradientOfAuc).steps.back().fit;
        const auto both = m_sides.scores(z, sides, kToTest);
        auto& f = m_said;
        f.oneSide = m_sides.auc(both, kToTest);
        const auto place = placeScores(m_fitter.pairs(kToFit), test, m_facts.pairs().objects);
        const auto tested =
            testedAucs(m_facts.pairs(), test, {m_scores, place, ofTest(both)}, kFittedDraws, 0);
        f.fact = m_facts.fact(), f.form = m_options.form, f.noun = m_facts.objects().noun;
        f.layer = point().title, f.layers = std::ssize(m_layers);
        f.examples = examplesOf(kToTest);
        f.leftOut = static_cast<std::int64_t>(m_facts.leftOut());
        f.yes = test.count(true), f.no = test.count(false);
        f.auc = tested.all[0].auc, f.low = tested.all[0].low, f.high = tested.all[0].high;
        f.place = tested.all[1].auc;
        f.beyondPlaceLow = tested.difference(0, 1).first;
        f.beyondSideLow = tested.difference(0, 2).first;
        f.converged = fit.converged;
        f.ridgeAtEnd = best().path.best + 1 == usualRidges().size();
        const auto ranked = rankedForm(fit);
        const auto chosen = aucByRank(m_fitter, z, ranked, fit.bias, kToChoose),
                   aucs = aucByRank(m_fitter, z, ranked, fit.bias, kToTest);
        f.keptRank = keptRank(chosen, best().chosen);
        for (std::int64_t r = 1; r <= std::min(kShownRanks, std::ssize(aucs)); ++r)
            addRow(m_answer, "ranks", r, chosen[static_cast<std::size_t>(r - 1)],
                   aucs[static_cast<std::size_t>(r - 1)]);
        m_within = aucWithin(m_scores, test, test.example);
        m_relation = relationOf(f.keptRank);
    }

    // Of the numbers of both orders of the pairs to test those that the relation is tested on.
    std::vector<double> ofTest(const std::vector<double>& both) const {
        if (!isSymmetric(m_form)) return both;
        const auto& all = m_sides.pairs(kToTest);
        std::vector<double> some;
        for (std::size_t p = 0; p < all.size(); ++p)
            if (all.i[p] < all.j[p]) some.push_back(both[p]);
        return some;
    }

    StreamRelation relationOf(std::int64_t rank) const {
        const auto& fit = best().path.fit();
        return streamRelation(best().axes, rankedForm(fit), rank, fit.bias, m_form);
    }
    std::int64_t examplesOf(std::uint8_t split) const {
        const auto& pairs = m_fitter.pairs(split);
        std::int64_t count = 0, last = -1;
        for (const auto e : pairs.example) count += e != last, last = e;
        return count;
    }

    void exchange() {
        for (std::int64_t k = 0; k < kExchanges; ++k) {
            const auto pairs = m_facts.exchanged(static_cast<std::uint64_t>(k) + 1);
            try {
                const PairFitter fitter(pairs, m_rows, m_form);
                const auto auc = fitStream(m_read.streams[m_best], fitter, pairs, 0.1).auc;
                // Not a number: no place to test has both answers.
                if (std::isfinite(auc)) {
                    m_said.exchanged.push_back(auc);
                    addRow(m_answer, "chance", "facts exchanged", k + 1, auc);
                }
            } catch (const OptionError&) {
                // This exchange left one answer alone at each place.
            }
            m_done += 0.1;
            check();
        }
    }

    void pixels() {
        m_said.pixels = kNoFit;
        if (!m_read.input.defined()) return;
        try {
            m_said.pixels = fitStream(m_read.input, m_fitter, m_facts.pairs()).auc;
            addRow(m_answer, "chance", "the input", 1, m_said.pixels);
        } catch (const OptionError&) {
            // The input is the same in all examples.
        }
    }

    void untrained() {
        for (std::int64_t k = 0; k < m_options.untrained; ++k) {
            const auto twin = untrainedTwin(
                *m_subject.model,
                static_cast<std::uint64_t>((m_subject.model->isRun() ? kUntrainedOfRun : 0) + k),
                m_subject.device);
            EditedModel fresh(*twin, m_subject.model->options());
            const auto read = readStreams(
                fresh, m_facts, m_rows, m_plan,
                {m_layers, &m_fitter.pairs(kToTest), isSymmetric(m_form), false, nullptr},
                [&](double done) { return advance(done); });
            m_done += 1.0;
            std::size_t chosen = 0;
            std::vector<StreamFit> fits;
            for (std::size_t l = 0; l < m_layers.size(); ++l) {
                fits.push_back(fitStream(read.streams[l], m_fitter, m_facts.pairs()));
                m_untrained[l].push_back(fits.back().auc);
                if (fits[l].chosen > fits[chosen].chosen) chosen = l;
                check();
            }
            m_done += 0.5;
            m_said.untrained.push_back(fits[chosen].auc);
            addRow(m_answer, "chance", "untrained model, " + m_plan.streams[m_layers[chosen]].title,
                   k + 1, fits[chosen].auc);
            for (const auto& map : read.maps)
                m_untrainedHeads = std::max(m_untrainedHeads, likeness(map));
            showSoFar();
        }
    }

    // The layers that are fitted.
    void showSoFar() const {
        if (!m_watch.partial) return;
        auto answer = m_answer;
        writeLayers(answer);
        m_watch.partial(answer);
    }

    double likeness(const torch::Tensor& map) const {
        const auto values = map.to(torch::kDouble).contiguous();
        const auto* first = values.const_data_ptr<double>();
        return squaredCorrelation({first, first + values.numel()}, m_scores,
                                  m_fitter.pairs(kToTest).stratum);
    }

    void writeLayers(Answer& answer) const {
        for (std::size_t k = 0; k < m_fits.size(); ++k) {
            const auto& fit = m_fits[k];
            const auto& fresh = m_untrained[k];
            const auto ends = fresh.empty()
                                  ? std::pair(kNoFit, kNoFit)
                                  : std::pair(*std::min_element(fresh.begin(), fresh.end()),
                                              *std::max_element(fresh.begin(), fresh.end()));
            const auto& stream = m_plan.streams[m_layers[k]];
            addRow(answer, "layers", stream.title, stream.name, fit.axes.values.size(0), fit.chosen,
                   fit.auc, ends.first, ends.second);
        }
    }

    void writeHeads() {
        auto& table = *std::find_if(m_answer.tables.begin(), m_answer.tables.end(),
                                    [](const auto& one) { return one.key == "heads"; });
        std::vector<std::pair<double, std::size_t>> order;
        for (std::size_t m = 0; m < m_read.maps.size(); ++m)
            order.emplace_back(-likeness(m_read.maps[m]), m);
        std::sort(order.begin(), order.end());
        const auto basis = basisOfRows(torch::cat({m_relation.a, m_relation.b}));
        std::optional<ModelStreams> streams;
        try {
            streams.emplace(m_model->model(), m_model->options());
        } catch (const OptionError&) {
            // A model whose stream is no sum of parts: what heads read has no number.
        }
        for (const auto& [r2, m] : order) {
            const auto fresh = static_cast<std::size_t>(m_options.untrained);
            DirectionsRead read{kNoFit, kNoFit};
            try {
                if (streams) read = directionsRead(*streams, m_plan.maps[m], basis);
            } catch (const OptionError&) {
                // A map that reads something else than the stream.
            }
            addRow(table, m_plan.maps[m].name, -r2, fresh > 0 ? m_untrainedHeads : kNoFit,
                   -r2 > kHasRelation && fresh >= kFewestUntrained && -r2 > m_untrainedHeads,
                   read.share, read.chance);
        }
    }

    void writeAttention(const ObjectAttention& attention) {
        for (const auto& pattern : m_plan.patterns) {
            const auto shares = attention.shares(pattern), alone = attention.placeAlone(pattern);
            const auto difference = shares - alone;  // [examples, heads, kinds]
            const auto n = static_cast<double>(difference.size(0));
            const auto mean = difference.mean(0), error = difference.std(0) / std::sqrt(n);
            const auto share = shares.mean(0), place = alone.mean(0);
            std::int64_t head = 0;
            for (const auto& map : m_plan.maps) {
                if (!map.head || !map.edit.point.starts_with(pattern.substr(0, pattern.rfind('.'))))
                    continue;
                head = map.index;
                for (std::size_t k = 0; k < attention.kinds().size(); ++k) {
                    const auto at = [&](const torch::Tensor& numbers) {
                        return numbers[head][static_cast<std::int64_t>(k)].item<double>();
                    };
                    const double half = 1.959964 * at(error);
                    addRow(m_answer, "attention", map.name, attention.kinds()[k], at(share),
                           at(place), at(mean), at(mean) - half, at(mean) + half);
                }
            }
        }
    }

    StreamProjection projectionOf(const torch::Tensor& basis) const {
        return {basis, best().axes.mean, firstTokens()};
    }
    std::vector<double> metricOf(const ExampleScores& scores) const { return scores.accuracy; }

    // What the model answers without the relation, at several ranks.
    void remove() {
        const auto& options = m_subject.model->options();
        if (takesHead(options) && answersNumbers(options)) {
            m_unmeasured = "its answers are features, and --head gives it classes.";
            return;
        }
        ExampleScores base;
        try {
            base = testScores(*m_model, m_facts, m_plan, nullptr);
        } catch (const OptionError&) {
            m_unmeasured =
                "the right answers of these " + m_facts.objects().noun + " are not known.";
            return;
        }
        m_said.metric = answersNumbers(options) ? "mean_error" : "accuracy";
        const auto plain = metricOf(base);
        m_said.base = pairedChange(m_said.metric, plain, plain, base.targets).base;
        m_said.untrainedMetric =
            m_subject.model->untrainedScores(m_options.untrained, m_subject.data, testExamples(),
                                             m_plan.batch, m_said.metric, m_watch.stop);
        std::vector<std::int64_t> ranks(std::begin(kRemovedRanks), std::end(kRemovedRanks));
        ranks.push_back(m_said.keptRank);
        const auto most = rankedForm(best().path.fit()).terms();
        std::erase_if(ranks, [&](auto rank) { return rank > most; });
        std::sort(ranks.begin(), ranks.end());
        ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
        const RandomSubspaces subspaces(best().axes.covariance);
        for (const auto rank : ranks) {
            removeRank(rank, subspaces, base, plain);
            m_done += 3.0 / static_cast<double>(ranks.size());
            check();
        }
    }

    std::vector<std::int64_t> testExamples() const {
        std::vector<std::int64_t> test;
        for (std::size_t e = 0; e < m_facts.pairs().examples; ++e)
            if (m_facts.pairs().split[e] == kToTest) test.push_back(m_facts.objects().examples[e]);
        return test;
    }

    void removeRank(std::int64_t rank, const RandomSubspaces& subspaces, const ExampleScores& base,
                    const std::vector<double>& plain) {
        const auto relation = relationOf(rank);
        const auto basis = basisOfRows(torch::cat({relation.a, relation.b}));
        FittedFacts::Removal one;
        one.rank = rank, one.dimensions = basis.size(1);
        one.variance = shareOfVariance(best().axes.covariance, basis);
        const auto without = [&](const torch::Tensor& subspace) {
            ProjectOut out(point().name, projectionOf(subspace));
            return metricOf(testScores(*m_model, m_facts, m_plan, &out));
        };
        const auto changeTo = [&](const std::vector<double>& from, const std::vector<double>& to) {
            return pairedChange(m_said.metric, from, to, base.targets);
        };
        const auto edited = without(basis);
        one.change = changeTo(plain, edited);
        std::vector<double> mean(edited.size(), 0.0), changes;
        const double sign = answersNumbers(m_subject.model->options()) ? -1.0 : 1.0;
        for (std::int64_t k = 0; k < kRandomSubspaces; ++k) {
            const auto drawn =
                subspaces.draw(one.dimensions, one.variance, static_cast<std::uint64_t>(k + 1));
            one.randomVariance =
                std::fmin(one.randomVariance, shareOfVariance(best().axes.covariance, drawn));
            const auto random = without(drawn);
            for (std::size_t e = 0; e < mean.size(); ++e)
                mean[e] += random[e] / static_cast<double>(kRandomSubspaces);
            changes.push_back(changeTo(plain, random).change);
            one.cheaper += sign * changes.back() > sign * one.change.change;
            check();
        }
        one.random = kRandomSubspaces;
        const auto [low, high] = std::minmax_element(changes.begin(), changes.end());
        one.randomLow = *low, one.randomHigh = *high;
        one.beyond = changeTo(mean, edited);
        one.randomMean = changeTo(plain, mean).change;
        one.again = fittedBehind(basis);
        addRow(m_answer, "removed", one.rank, one.dimensions, one.variance, one.change.change,
               one.change.low, one.change.high, one.randomVariance, one.randomMean, one.randomLow,
               one.randomHigh, one.beyond.change, one.beyond.low, one.beyond.high, one.again);
        m_said.removals.push_back(one);
    }

    double fittedBehind(const torch::Tensor& basis) const {
        const auto mean = best().axes.meanOf(m_rows);
        const auto x = m_read.streams[m_best].to(torch::kDouble) - mean;
        const auto behind = mean + x - torch::matmul(torch::matmul(x, basis), basis.t());
        try {
            return fitStream(behind, m_fitter, m_facts.pairs()).auc;
        } catch (const OptionError&) {
            return 0.5;  // nothing is left that differs
        }
    }

    std::string command() const {
        std::vector<std::string> words = {"fit-relation", placeWord(m_subject.path)};
        addField(words, "fact", m_facts.fact());
        for (const auto& field : fittedFields())
            for (const char* name : {"layer", "form", "scale", "directions", "examples", "seed"})
                if (field.spec.name == name) addField(words, name, field.get(m_options));
        return shellText(words) + " " + m_subject.where;
    }

    void save() {
        const auto file = relationFileOf(m_options.save);
        RelationFile relation;
        const auto numbers = [](const torch::Tensor& tensor) {
            const auto floats = tensor.to(torch::kFloat).contiguous();
            const auto* first = floats.const_data_ptr<float>();
            return std::vector<float>(first, first + floats.numel());
        };
        relation.rank = m_relation.a.size(0), relation.width = m_relation.a.size(1);
        relation.places = m_relation.mean.size(0);
        relation.a = numbers(m_relation.a), relation.b = numbers(m_relation.b);
        relation.mean = numbers(m_relation.mean);
        relation.bias = static_cast<float>(m_relation.bias);
        relation.firstTokens = firstTokens();
        relation.point = point().name, relation.fact = m_facts.fact();
        relation.form = m_options.form;
        const auto range = [](const std::vector<double>& values) {
            if (values.empty()) return std::string();
            const auto [low, high] = std::minmax_element(values.begin(), values.end());
            return shortestText(*low) + " to " + shortestText(*high);
        };
        relation.metadata = {
            {"scale", m_options.scale},
            {"ridge", shortestText(best().path.fit().ridge)},
            {"model", m_subject.model->weightsText()},
            {"data",
             m_facts.data().info().name + ", examples " +
                 std::to_string(examplesChecksum(m_facts.data(), m_facts.objects().examples))},
            {"test_auc", shortestText(m_said.auc)},
            {"interval", shortestText(m_said.low) + " to " + shortestText(m_said.high)},
            {"untrained", range(m_said.untrained)},
            {"exchanged", range(m_said.exchanged)},
            {"place_alone", shortestText(m_said.place)},
            {"one_side", shortestText(m_said.oneSide)},
            {"seed", std::to_string(m_options.seed)},
            {"command", command()}};
        writeRelation(relation, file);
        m_saved = file;
    }

    void finish() {
        std::string unsaved;
        try {
            if (!m_options.save.empty()) save();
        } catch (const FileError& error) {
            unsaved = error.what();  // what was measured stays
        }
        const auto& f = m_said;
        const auto words = fittedWords(f);
        const char* word = !words.enough   ? ""
                           : words.learned ? "learned"
                           : words.read    ? (f.untrained.size() >= 4 ? "inborn" : "can be read")
                                           : "cannot be read this way";
        const auto& fit = best().path.fit();
        addRow(m_answer, "", f.fact, f.form, f.layer, point().name, word, f.auc, f.low, f.high,
               m_within, f.keptRank, fit.ridge, fit.bias, best().axes.values.size(0), f.place,
               f.oneSide, f.pixels, examplesOf(kToFit), examplesOf(kToChoose), f.examples,
               f.leftOut, f.yes, f.no, m_saved);
        for (const auto& sentence : fittedSentences(f)) addRow(m_answer, "sentences", sentence);
        if (!m_unmeasured.empty())
            addRow(m_answer, "sentences",
                   "What the model answers without it was not measured: " + m_unmeasured);
        if (!unsaved.empty())
            addRow(m_answer, "sentences", "The relation was not saved: " + unsaved + ".");
    }

    AnalysisSubject& m_subject;
    const FittedOptions& m_options;
    const Watch<Answer>& m_watch;
    RelationForm m_form;
    FactSubject m_facts;
    ObjectRows m_rows;
    PairFitter m_fitter, m_sides;
    std::unique_ptr<EditedModel> m_model;
    StreamPlan m_plan;
    std::vector<std::size_t> m_layers;  // of the plan
    StreamsRead m_read;
    std::vector<StreamFit> m_fits;
    std::size_t m_best = 0;
    std::vector<double> m_scores;  // of the pairs to test
    StreamRelation m_relation;
    std::vector<std::vector<double>> m_untrained;  // AUCs by layer
    double m_untrainedHeads = 0.0, m_within = 0.0;
    FittedFacts m_said;
    std::string m_saved, m_unmeasured;  // why nothing was taken out
    Answer m_answer;
    double m_done = 0.0, m_all = 1.0;
};

Answer runFitted(AnalysisSubject& subject, const FittedOptions& options,
                 const Watch<Answer>& watch) {
    return FittedRun(subject, options, watch).run();
}

}  // namespace

const RegisterRunner kFittedRunner("fit-relation",
                                   [] { return makeRunner(fittedFields(), runFitted); });

}  // namespace relascope::core
