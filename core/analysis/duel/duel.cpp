// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/duel/duel.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "analysis/duel/duel_answers.h"
#include "analysis/duel/examples.h"
#include "analysis/duel/numbers.h"
#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/pairs/claims.h"
#include "analysis/pairs/pair_map_tensor.h"
#include "analysis/pairs/pair_moments.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/pairs/relation_matching.h"
#include "analysis/pairs/sentence_batches.h"
#include "analysis/parts/basis.h"
#include "analysis/run_analysis.h"
#include "hub/hub_cache.h"
#include "interventions/edit_words.h"
#include "model/architecture.h"
#include "train/out_of_memory.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kRowsOfStreams = 1024;
constexpr std::int64_t kUntrainedExamples = 250, kUntrainedTexts = 8;
constexpr std::uint64_t kFirstUntrained = 1000003;
constexpr std::chrono::milliseconds kReportEvery(500);

/// The layer of a hook point: "blocks.1.hook_attn_out" -> "layer 2", "encoder.0..." -> "encoder 1".
std::string layerOfPoint(const std::string& point) {
    std::string words;
    std::size_t begin = 0;
    while (begin < point.size()) {
        const auto end = std::min(point.find('.', begin), point.size());
        const auto word = point.substr(begin, end - begin);
        begin = end + 1;
        if (word.starts_with("hook_") || word == "rel" || word == "attn") break;
        const bool number = word.find_first_not_of("0123456789") == std::string::npos;
        words += (words.empty() ? "" : " ") + (word == "blocks" ? "layer"
                                               : number ? std::to_string(std::stoi(word) + 1)
                                                        : word);
    }
    return words;
}

/// The maps of one kind of a model, layer after layer, and the names of the layers.
struct KindMaps {
    std::vector<PairMap> maps;
    LayeredMaps layers;
    std::vector<std::string> names;
};

KindMaps mapsOfKind(const std::vector<PairMap>& all, bool heads) {
    KindMaps kind;
    for (const auto& map : all) {
        if (map.head != heads) continue;
        // Maps of a layer may have others between them.
        const auto found = std::find(kind.names.begin(), kind.names.end(), map.layer);
        const auto layer = found - kind.names.begin();
        if (found == kind.names.end())
            kind.names.push_back(map.layer), kind.layers.layers.push_back(0);
        ++kind.layers.layers[static_cast<std::size_t>(layer)];
        const auto end = kind.layers.first(static_cast<std::size_t>(layer)) +
                         kind.layers.layers[static_cast<std::size_t>(layer)] - 1;
        kind.maps.insert(kind.maps.begin() + end, map);
    }
    return kind;
}

// In the inspector, from 0; -1: it has no such layer.
std::int64_t layerIn(const OpenedModel& model, const PairMap& map) {
    const auto layers = model.options().info().layers(model.options());
    for (std::size_t k = 0; k < layers.size(); ++k)
        if (layers[k].layer.name == map.layer) return static_cast<std::int64_t>(k);
    return -1;
}

/// What is read of one of the two.
struct SidePlan {
    std::vector<std::string> streams;  // hook points
    KindMaps kinds[2];                 // relations, attention
    std::vector<std::string> points() const {
        std::vector<std::string> all = streams;
        for (const auto& kind : kinds)
            for (const auto& map : kind.maps) all.push_back(map.point);
        return all;
    }
};

SidePlan planOf(const std::vector<PointInfo>& points, std::int64_t positions,
                const std::vector<std::string>& what, bool maps) {
    SidePlan plan;
    for (const auto& point : points) {
        const int d = point.dimension("position");
        if (point.name.ends_with(".hook_resid_post") && !point.name.starts_with("decoder.") &&
            d >= 0 && point.shape[static_cast<std::size_t>(d)] == positions)
            plan.streams.push_back(point.name);
    }
    const auto asked = [&](const char* word) {
        return maps && std::find(what.begin(), what.end(), word) != what.end();
    };
    const auto all = pairMaps(points, positions, asked("relations"), asked("heads"));
    for (const bool heads : {false, true}) plan.kinds[heads ? 1 : 0] = mapsOfKind(all, heads);
    return plan;
}

/// What two models give on the same examples, but for their answers.
struct PairSums {
    std::optional<PairMoments> moments[2];            // of relations, of attention
    std::vector<std::vector<torch::Tensor>> rows[2];  // of each stream of A, of B

    PairSums(const PairShape& shape, const SidePlan& a, const SidePlan& b) {
        for (std::size_t k = 0; k < 2; ++k)
            if (!a.kinds[k].maps.empty() && !b.kinds[k].maps.empty())
                moments[k].emplace(shape, a.kinds[k].layers, b.kinds[k].layers);
        rows[0].resize(a.streams.size()), rows[1].resize(b.streams.size());
    }
    /// [streams of A, of B]
    std::vector<double> alignment() const {
        std::vector<torch::Tensor> grams[2];
        for (std::size_t side = 0; side < 2; ++side)
            for (const auto& stream : rows[side])
                grams[side].push_back(centredGram(torch::cat(stream)));
        std::vector<double> cka;
        for (const auto& a : grams[0])
            for (const auto& b : grams[1]) cka.push_back(linearCka(a, b));
        return cka;
    }
};

class DuelRun {
public:
    DuelRun(AnalysisSubject& subject, const DuelOptions& options, const Watch<Duel>& watch)
        : m_subject(subject),
          m_options(options),
          m_watch(watch),
          m_other(*subject.other->model),
          m_edits(subject.other->interventions),
          m_examples(*subject.model, m_other, subject.data, wanted(), options.tokens) {
        const auto one = m_examples.slice(0, 1);
        m_a = subject.model->edited(subject.interventions);
        m_b = m_other.edited(m_edits);
        const auto pointsA = m_a->points(one.batches[0]), pointsB = m_b->points(one.batches[1]);
        const bool maps = m_examples.shape().objects > 0;
        m_plans[0] = planOf(pointsA, one.positions[0], options.what, maps);
        m_plans[1] = planOf(pointsB, one.positions[1], options.what, maps);
        describe();
    }

    Duel run() {
        resume();
        const auto count = static_cast<double>(m_examples.size());
        m_all = count + static_cast<double>(m_options.untrained * untrainedCount());
        if (!m_wasRead) {
            if (m_subject.pairs) comparePairs();
            read();
        }
        m_done = count;
        compareUntrained();
        m_duel.sentences = duelSentences(m_duel);
        m_duel.complete = true;
        return std::move(m_duel);
    }

private:
    std::int64_t wanted() const {
        const bool text = m_subject.model->options().input() == InputKind::Tokens;
        return text ? std::max<std::int64_t>(2, m_options.examples / DuelOptions::kText)
                    : m_options.examples;
    }
    std::int64_t untrainedCount() const {
        return std::min(m_examples.size(),
                        m_examples.isText() ? kUntrainedTexts : kUntrainedExamples);
    }

    bool advance(double examples) const {
        return !m_watch.stop.stop_requested() &&
               (!m_watch.progress || m_watch.progress(std::min(1.0, (m_done + examples) / m_all)));
    }
    void report() {
        m_reported = Clock::now();
        m_duel.sentences = duelSentences(m_duel);
        if (m_watch.partial) m_watch.partial(m_duel);
    }

    std::string nameOf(const std::string& path, const OpenedModel& model,
                       const EditList& edits) const {
        auto name = hubNameOf(path);
        if (name.empty()) name = std::filesystem::path(path).lexically_normal().filename().string();
        if (name.empty())
            name = std::filesystem::path(path).lexically_normal().parent_path().filename().string();
        if (name.empty()) name = model.options().architecture();
        if (model.isRun()) name += ", step " + std::to_string(model.step());
        if (edits.anyEnabled()) name += ", edited: " + wordsOf(edits);
        return name;
    }

    void describe() {
        auto& a = *m_subject.model;
        m_duel.a.name = nameOf(ownPath(), a, m_subject.interventions.edits);
        m_duel.b.name = nameOf(m_subject.other->path, m_other, m_edits.edits);
        m_duel.a.architecture = a.options().architecture();
        m_duel.b.architecture = m_other.options().architecture();
        for (const auto& point : m_plans[0].streams)
            m_duel.a.streams.push_back(layerOfPoint(point));
        for (const auto& point : m_plans[1].streams)
            m_duel.b.streams.push_back(layerOfPoint(point));
        m_duel.same = a.options() == m_other.options() && a.checksum() == m_other.checksum() &&
                      m_subject.interventions.edits.edits == m_edits.edits.edits &&
                      a.trainingEdits() == m_other.trainingEdits();
        m_duel.data = m_subject.data->info().name;
        m_duel.basis = basisOf(a, *m_subject.data, m_examples.examples()) + "; weights " +
                       std::to_string(m_other.checksum());
        m_duel.noun = m_examples.noun(), m_duel.text = m_examples.isText();
        m_duel.objects = static_cast<std::int64_t>(m_examples.shape().objects);
        m_duel.whyNot = m_examples.whyNot();
    }

    // What both give
    // ---------------------------------------------------------------------------------------------

    /// Reads examples first .. first + count - 1 of both.
    void readPart(EditedModel& a, EditedModel& b, const DuelExamples::Slice& part,
                  std::int64_t first, PairSums& sums, DuelAnswers* answers) {
        EditedModel* const models[] = {&a, &b};
        torch::Tensor scores[2], maps[2][2];
        for (std::size_t side = 0; side < 2; ++side) {
            const auto& plan = m_plans[side];
            ObjectReader reader(plan.points(), part.objects[side], part.positions[side]);
            scores[side] =
                models[side]->answers(part.batches[side], m_examples.data(), part.indices, &reader);
            for (std::size_t kind = 0; kind < 2; ++kind) {
                if (!sums.moments[kind]) continue;
                std::vector<torch::Tensor> all;
                for (const auto& map : plan.kinds[kind].maps) all.push_back(mapOf(reader, map));
                maps[side][kind] = torch::stack(all, 1);
                if (!maps[side][kind].isfinite().all().item<bool>())
                    throw OptionError(side == 0 ? "path" : "other",
                                      "its maps have values that are not finite; choose an "
                                      "earlier step");
            }
            if (first < untrainedCount()) keepRows(reader, plan, first, sums.rows[side]);
        }
        for (std::size_t kind = 0; kind < 2; ++kind)
            if (sums.moments[kind]) sums.moments[kind]->add(maps[0][kind], maps[1][kind], first);
        if (answers) answers->add(part, scores[0], scores[1]);
    }

    // Some objects of each example, others in the next.
    void keepRows(const ObjectReader& reader, const SidePlan& plan, std::int64_t first,
                  std::vector<std::vector<torch::Tensor>>& rows) const {
        const auto most = untrainedCount();
        for (std::size_t s = 0; s < plan.streams.size(); ++s) {
            const auto stream = reader.tensors().at(plan.streams[s]).to(torch::kCPU);  // [b, n, d]
            const auto n = stream.size(1), each = std::min(n, (kRowsOfStreams + most - 1) / most);
            for (std::int64_t e = 0; e < stream.size(0) && first + e < most; ++e) {
                std::vector<std::int64_t> places;
                for (std::int64_t k = 0; k < each; ++k)
                    places.push_back((first + e + k * n / each) % n);
                rows[s].push_back(stream[e].index_select(0, torch::tensor(places, torch::kLong)));
            }
        }
    }

    const std::string& ownPath() const {
        return m_subject.path.empty() ? m_subject.run : m_subject.path;
    }

    void readAll(EditedModel& a, EditedModel& b, std::int64_t count, PairSums& sums,
                 DuelAnswers* answers) {
        for (std::int64_t first = 0; first < count; first += m_examples.batchSize()) {
            const auto part =
                m_examples.slice(first, std::min(m_examples.batchSize(), count - first));
            readPart(a, b, part, first, sums, answers);
            const auto done = first + std::ssize(part.indices);
            if (answers) {
                m_duel.examples = done;
                // A part with all examples is one that was matched, too (resume()).
                if (m_watch.partial && done < count && Clock::now() - m_reported > kReportEvery) {
                    answers->fill(m_duel);
                    report();
                }
            }
            if (!advance(static_cast<double>(done))) throw Cancelled();
        }
    }

    void read() {
        const auto& a = m_subject.model->options();
        auto classNames =
            m_subject.classNames.empty() ? m_subject.data->info().classNames : m_subject.classNames;
        DuelAnswers answers(m_examples, a.ignoredTarget(),
                            AnswerNames(a, m_subject.model->tokenizer(), std::move(classNames)),
                            m_options.show);
        PairSums sums(m_examples.shape(), m_plans[0], m_plans[1]);
        readAll(*m_a, *m_b, m_examples.size(), sums, &answers);
        answers.fill(m_duel);
        m_duel.cka = sums.alignment();
        for (const auto& one :
             sums.rows[0].empty() ? std::vector<torch::Tensor>() : sums.rows[0][0])
            m_duel.rows += one.size(0);
        match(sums);
        claim();
        report();
    }

    /// The scores of the minimal pairs by one of the two, by their number.
    struct ScoredPairs {
        struct Pair {
            std::string phenomenon;
            std::size_t words = 0;
            PairScore score;
        };
        std::map<std::int64_t, Pair> pairs;
        std::map<std::string, PairPreference> accuracies;  ///< beside untrained models; "all"
    };
    ScoredPairs pairScoresOf(AnalysisSubject subject) const {
        subject.data = m_subject.pairs;
        const SentenceBatches batches(subject, 0);
        const auto model = subject.model->edited(subject.interventions);
        const auto stop = [this](double) {
            if (m_watch.stop.stop_requested()) throw Cancelled();
        };
        const auto each = batches.scoreAll(*model, false, stop);
        const auto scores = pairScores(batches.tokens(), each);
        ScoredPairs found;
        for (std::size_t k = 0; k < scores.size(); ++k)
            found.pairs[batches.tokens().pairs[k].index] = {
                batches.phenomena()[batches.phenomenonOf()[k]], batches.wordsOf()[k], scores[k]};
        auto accuracies = pairAccuracies(batches, each);
        compareWithChance(accuracies, batches, m_options.untrained, false, stop);
        found.accuracies["all"] = accuracies.first;
        for (const auto& one : accuracies.second) found.accuracies.emplace(one.phenomenon, one);
        return found;
    }

    void comparePairs() {
        const auto ours = pairScoresOf(m_subject), theirs = pairScoresOf(*m_subject.other);
        struct Values {
            std::array<std::vector<double>, 2> right = {}, difference = {};
            std::vector<std::size_t> words = {};
        };
        std::vector<std::pair<std::string, Values>> all = {{"all", {}}};
        for (const auto& [index, a] : ours.pairs) {
            const auto b = theirs.pairs.find(index);
            if (b == theirs.pairs.end()) continue;  // too long for B
            auto own = std::find_if(all.begin() + 1, all.end(),
                                    [&](const auto& one) { return one.first == a.phenomenon; });
            if (own == all.end()) own = all.insert(all.end(), {a.phenomenon, {}});
            for (auto* values : {&all.front().second, &own->second}) {
                for (const std::size_t side : {0U, 1U}) {
                    const auto& score = side == 0 ? a.score : b->second.score;
                    values->right[side].push_back(score.right() ? 1.0 : 0.0);
                    values->difference[side].push_back(score.difference());
                }
                values->words.push_back(a.words);
            }
        }
        for (const auto& [name, values] : all) {
            const auto& [a, b] = values.right;
            if (a.empty()) continue;
            Duel::PairChange change;
            change.phenomenon = name, change.pairs = std::ssize(a);
            change.words = std::ssize(std::set(values.words.begin(), values.words.end()));
            change.accuracy = changeByWords("pair_accuracy", a, b, values.words);
            change.difference = changeByWords("difference", values.difference[0],
                                              values.difference[1], values.words);
            for (std::size_t k = 0; k < a.size(); ++k)
                change.onlyA += a[k] > b[k], change.onlyB += b[k] > a[k];
            const auto most = [](const PairPreference& one) {
                return one.untrained.empty()
                           ? std::numeric_limits<double>::quiet_NaN()
                           : *std::max_element(one.untrained.begin(), one.untrained.end());
            };
            const auto &first = ours.accuracies.at(name), &second = theirs.accuracies.at(name);
            change.untrainedA = most(first), change.untrainedB = most(second);
            change.prefersA = prefersGood(first), change.prefersB = prefersGood(second);
            m_duel.pairs.push_back(std::move(change));
        }
    }

    // Which part is which
    // ---------------------------------------------------------------------------------------------

    void match(const PairSums& sums) { m_duel.matches = matchesOf(sums, &m_duel.partners); }

    std::vector<Duel::Match> matchesOf(const PairSums& sums,
                                       std::vector<Duel::Partner>* partners) const {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        std::vector<Duel::Match> matches;
        for (std::size_t k = 0; k < 2; ++k) {
            if (!sums.moments[k]) continue;
            const auto &ours = m_plans[0].kinds[k], &theirs = m_plans[1].kinds[k];
            const auto correlation = sums.moments[k]->correlation();
            const auto columns = theirs.maps.size();
            const auto add = [&](const std::string& a, const std::string& b, std::size_t rowsFrom,
                                 std::size_t rows, std::size_t columnsFrom, std::size_t width) {
                std::vector<double> block;
                for (std::size_t r = 0; r < rows; ++r)
                    for (std::size_t c = 0; c < width; ++c)
                        block.push_back(correlation[(rowsFrom + r) * columns + columnsFrom + c]);
                auto found = matchRelations(block, rows, width);
                Duel::Match match;
                match.a = a, match.b = b, match.heads = k == 1;
                match.ours = static_cast<std::int64_t>(rows);
                match.theirs = static_cast<std::int64_t>(width);
                match.matched = found.matched, match.meanOfAllPairs = found.meanOfAllPairs;
                match.explained = match.back = unknown;
                matches.push_back(std::move(match));
                return found;
            };
            const auto whole = add("", "", 0, ours.maps.size(), 0, columns);
            for (std::size_t r = 0; partners && r < ours.maps.size(); ++r) {
                const auto c = whole.partner[r];
                const auto& map = ours.maps[r];
                Duel::Partner partner{map.name, "", k == 1, unknown};
                partner.layerA = layerIn(*m_subject.model, map), partner.indexA = map.index;
                if (c != RelationMatching::kNone) {
                    partner.b = theirs.maps[c].name;
                    partner.correlation = correlation[r * columns + c];
                    partner.layerB = layerIn(m_other, theirs.maps[c]);
                    partner.indexB = theirs.maps[c].index;
                }
                partners->push_back(std::move(partner));
            }
            for (std::size_t a = 0; a < ours.names.size(); ++a)
                for (std::size_t b = 0; b < theirs.names.size(); ++b) {
                    add(ours.names[a], theirs.names[b],
                        static_cast<std::size_t>(ours.layers.first(a)),
                        static_cast<std::size_t>(ours.layers.layers[a]),
                        static_cast<std::size_t>(theirs.layers.first(b)),
                        static_cast<std::size_t>(theirs.layers.layers[b]));
                    matches.back().explained = sums.moments[k]->explained(a, b);
                    matches.back().back = sums.moments[k]->explained(a, b, true);
                }
        }
        return matches;
    }

    void claim() {
        for (auto& match : m_duel.matches) {
            const auto levels = untrainedLevels(m_duel, match);
            if (!levels.empty()) match.level = *std::max_element(levels.begin(), levels.end());
            // The best of an assignment is compared with nothing but the best of others.
            match.better = beyondUntrained(match.matched, levels);
        }
        m_duel.alike.clear();
        const std::size_t cells = m_duel.untrainedCka.size();
        for (std::size_t k = 0; k < cells; ++k) {
            std::vector<double> pairs;
            for (std::size_t at = k; at < m_duel.untrainedCkas.size(); at += cells)
                pairs.push_back(m_duel.untrainedCkas[at]);
            m_duel.alike.push_back(beyondUntrained(m_duel.cka[k], pairs));
        }
    }

    // Chance
    // ---------------------------------------------------------------------------------------------

    void compareUntrained() {
        const auto& a = *m_subject.model;
        while (m_duel.untrained < m_options.untrained) {
            const auto seed = kFirstUntrained + 2 * static_cast<std::uint64_t>(m_duel.untrained);
            const auto first = untrainedTwin(a, seed, m_subject.device),
                       second = untrainedTwin(m_other, seed + 1, m_subject.device);
            EditedModel ours(*first, a.options()), theirs(*second, m_other.options());
            PairSums sums(m_examples.shape(), m_plans[0], m_plans[1]);
            m_done = static_cast<double>(m_examples.size() + m_duel.untrained * untrainedCount());
            readAll(ours, theirs, untrainedCount(), sums, nullptr);
            const auto matches = matchesOf(sums, nullptr);
            for (std::size_t k = 0; k < std::min(matches.size(), m_duel.matches.size()); ++k) {
                m_duel.matches[k].untrained.push_back(matches[k].matched);
                m_duel.matches[k].untrainedExplained.push_back(matches[k].explained);
            }
            const auto cka = sums.alignment();
            m_duel.untrainedCka.resize(cka.size(), 0.0);
            for (std::size_t k = 0; k < cka.size(); ++k)
                m_duel.untrainedCka[k] = std::max(m_duel.untrainedCka[k], cka[k]);
            m_duel.untrainedCkas.insert(m_duel.untrainedCkas.end(), cka.begin(), cka.end());
            ++m_duel.untrained;
            claim();
            report();
        }
    }

    // A part of the same duel: the stages that were whole.
    void resume() {
        const auto& known = m_watch.known;
        if (!known) return;
        if (known->rows + known->answers == 0 || known->a.name != m_duel.a.name ||
            known->b.name != m_duel.b.name || known->basis != m_duel.basis)
            return;
        if (known->examples != m_examples.size()) return;
        m_duel = *known;
        m_wasRead = true;
    }

    AnalysisSubject& m_subject;
    const DuelOptions& m_options;
    const Watch<Duel>& m_watch;
    OpenedModel& m_other;
    const Interventions& m_edits;  // of B
    DuelExamples m_examples;
    std::unique_ptr<EditedModel> m_a, m_b;
    SidePlan m_plans[2];
    double m_all = 1.0, m_done = 0.0;
    Clock::time_point m_reported = Clock::now();
    bool m_wasRead = false;  // by the duel that is continued
    Duel m_duel;
};

Duel runDuel(AnalysisSubject& subject, const DuelOptions& options, const Watch<Duel>& watch) {
    if (!subject.other) throw Error("No second model is given.");
    return withinMemory(
        subject.device, [&] { return DuelRun(subject, options, watch).run(); },
        [] { return std::string("; compare fewer tokens, or on another device"); });
}

}  // namespace

// Of AnalysisSubject::other as B. Throws OptionError where its data or edits do not fit; Cancelled.
// What is measured is handed to Watch::partial after each stage; Watch::known may be such a part of
// the same subjects and options.
const RegisterRunner kDuelRunner("duel", [] {
    return makeRunner(duelFields(), runDuel, answerOf, duelOf);
});

}  // namespace relascope::core
