// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/symbol_heads/symbol_heads.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/parts/part_rows.h"
#include "analysis/run_analysis.h"
#include "answers/column_table.h"
#include "data/continue_text.h"
#include "data/rule_prompts.h"
#include "data/text_tokens.h"
#include "evaluate/example_scores.h"
#include "evaluate/pair_scores.h"
#include "interventions/editor.h"
#include "model/decode/generate.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using Place = SymbolHeads::Place;
using Differs = SymbolHeads::Differs;

constexpr std::int64_t kDrawsABatch = 16;
constexpr std::int64_t kMostScores = std::int64_t{1} << 24;  // floats, 64 MiB
constexpr std::size_t kRules = 2;
constexpr std::uint64_t kFreshReader = 3000017;
constexpr PromptRule kRuleOf[kRules] = {PromptRule::ABA, PromptRule::ABB};

RulePrompts promptsOf(const OpenedModel& model, const SymbolHeadOptions& options) {
    const auto tokenizer = model.tokenizer();
    requireTokenizer(tokenizer, model.options());
    requireVocabulary(*tokenizer, model.options().outputs());
    return {tokenizer, beginningToken(*tokenizer),
            RulePromptOptions{options.examples, options.rule_tokens, options.separator, options.end,
                              static_cast<std::uint64_t>(options.seed)},
            model.options().tokens()};
}

/// The prompts of some draws: those that are patched, first all of ABA and then all of ABB, and
/// those that are patched from, which have the items exchanged.
struct PromptBatch {
    Batch to, from;
    std::vector<std::int64_t> toIndices, fromIndices;
    torch::Tensor answers, others;  ///< of `to`, [2 draws, 1]
};

/// The prompts as examples, each with its answer behind it: of draw k at 4 k first the prompts of
/// both rules, then those with exchanged items.
class PromptTexts {
public:
    PromptTexts(const RulePrompts& prompts, std::int64_t draws) {
        for (std::int64_t k = 0; k < draws; ++k)
            for (const bool exchanged : {false, true})
                for (const auto rule : kRuleOf) {
                    auto prompt = prompts.prompt(k, rule, exchanged);
                    m_others.push_back(prompt.other);
                    prompt.ids.push_back(prompt.answer);
                    m_tokens.pairs.push_back({k, m_tokens.sentences.size()});
                    m_tokens.sentences.push_back({std::move(prompt.ids)});
                }
        m_data = groupedSentences(m_tokens, prompts.tokenizer()).front().data;
        m_text = goodText(m_tokens, prompts.tokenizer());
    }

    const DatasetPtr& data() const { return m_data; }
    const DatasetPtr& text() const { return m_text; }

    PromptBatch batch(std::int64_t first, std::int64_t end) const {
        PromptBatch all;
        std::vector<std::int64_t> others;
        for (std::size_t rule = 0; rule < kRules; ++rule)
            for (auto k = first; k < end; ++k) {
                const auto at = 4 * k + static_cast<std::int64_t>(rule);
                all.toIndices.push_back(at);
                all.fromIndices.push_back(at + 2);
                others.push_back(m_others[static_cast<std::size_t>(at)]);
            }
        const auto made = [&](const std::vector<std::int64_t>& indices) {
            return makeBatch(*m_data, indices.data(), std::ssize(indices));
        };
        all.to = made(all.toIndices), all.from = made(all.fromIndices);
        all.answers = all.to.targets.slice(1, -1).clone();
        all.others = torch::tensor(others, torch::kLong).unsqueeze(1);
        return all;
    }

private:
    TokenizedPairs m_tokens;
    std::vector<std::int64_t> m_others;
    DatasetPtr m_data, m_text;
};

/// What the last positions of prompts answer.
struct LastAnswers {
    std::vector<double> difference;  ///< logit(item of the rule) - logit(of the other rule)
    std::vector<bool> first;         ///< the item of the rule is the likeliest of all tokens
};

class SymbolHeadRun {
public:
    SymbolHeadRun(AnalysisSubject& subject, const SymbolHeadOptions& options)
        : m_options(options),
          m_prompts(promptsOf(*subject.model, options)),
          m_draws((options.pairs + 1) / 2),
          m_texts(m_prompts, m_draws),
          m_interventions(subject.interventions),
          m_trained(*subject.model),
          m_device(subject.device),
          m_last(m_prompts.length() - 1) {
        if (options.what.empty()) throw OptionError("what", "names no group of parts");
        if (options.where.empty()) throw OptionError("where", "names no position");
        m_interventions.data = withOwnExamples(m_interventions.data, m_texts.text());
        m_model = subject.model->edited(m_interventions);
        const auto one = m_texts.batch(0, 1);
        m_points = m_model->points(one.to);
        // In full, so that numbers that are not finite are named.
        m_model->answers(one.to, m_texts.data(), one.toIndices);
        const bool edited = m_model->edits() || !subject.model->trainingEdits().edits.empty();
        m_plain = !edited;
        m_continues = m_plain && canCache(subject.model->options());
        const auto scores = 2 * m_prompts.length() * subject.model->options().outputs();
        m_step = m_plain ? kDrawsABatch
                         : std::clamp<std::int64_t>(kMostScores / scores, 1, kDrawsABatch);
        for (const auto& point : m_points)
            if (point.name.ends_with(".hook_resid_post")) m_streams.push_back(point.name);
        for (auto& row : partRows(m_points, options.what))
            if (!axisOf(row).empty()) m_rows.push_back(std::move(row));
        if (m_rows.empty())
            throw OptionError("what", "this model has no such parts; `points` lists what it has");
        m_places = placesOf(options.where);
    }

    const std::vector<AblationRow>& rows() const { return m_rows; }
    std::int64_t examples() const { return m_prompts.examples(); }

    Answer run(const Watch<Answer>& watch) {
        SymbolHeads found;
        describe(found);
        const auto batches = (m_draws + m_step - 1) / m_step;
        // An untrained model reads each prompt once; a part is read from and patched.
        const double fresh = 0.3 * static_cast<double>(batches * m_options.untrained);
        const auto passes = fresh + static_cast<double>(batches) *
                                        static_cast<double>(m_rows.size()) *
                                        static_cast<double>(m_places.size());
        double done = 0.0;
        const auto advance = [&](double by) {
            done += by;
            if (watch.stop.stop_requested() || (watch.progress && !watch.progress(done / passes)))
                throw Cancelled();
        };
        for (std::int64_t first = 0; first < m_draws; first += m_step) {
            const auto batch = m_texts.batch(first, std::min(m_draws, first + m_step));
            const auto before = begin(batch);
            take(found, before);
            for (std::size_t r = 0; r < m_rows.size(); ++r) {
                readFrom(batch, m_rows[r].edit.point);
                for (std::size_t w = 0; w < m_places.size(); ++w) {
                    for (const auto differs : {Differs::Rule, Differs::Tokens})
                        add(found.effects[(r * m_places.size() + w) * 2 +
                                          static_cast<std::size_t>(differs)],
                            before, patched(batch, m_rows[r], m_places[w], differs));
                    advance(1.0);
                }
            }
        }
        compareUntrained(found, [&] { advance(0.3); });
        finish(found);
        return answerOf(found, facts());
    }

    /// Seconds of a prompt with a part in the middle patched, at the examples and at the end.
    std::pair<double, double> secondsAPrompt(const std::stop_token& stop) {
        const auto batch = m_texts.batch(0, std::min<std::int64_t>(m_draws, 4));
        begin(batch);
        const auto& row = m_rows[m_rows.size() / 2];
        readFrom(batch, row.edit.point);
        const auto time = [&](Place place) {
            using Clock = std::chrono::steady_clock;
            patched(batch, row, place, Differs::Tokens);  // the first pass of a length is slower
            if (stop.stop_requested()) throw Cancelled();
            const auto began = Clock::now();
            patched(batch, row, place, Differs::Tokens);
            return std::chrono::duration<double>(Clock::now() - began).count() /
                   static_cast<double>(batch.toIndices.size());
        };
        return {time(Place::Examples), time(Place::Last)};
    }

private:
    static std::vector<Place> placesOf(const std::vector<std::string>& where) {
        std::vector<Place> places;
        for (const auto& [name, place] :
             {std::pair("examples", Place::Examples), std::pair("last", Place::Last)})
            if (std::find(where.begin(), where.end(), name) != where.end()) places.push_back(place);
        return places;
    }

    /// The axis along which the positions of a part lie; empty where it has none.
    std::string axisOf(const AblationRow& row) const {
        for (const auto& point : m_points)
            if (point.name == row.edit.point)
                for (const char* axis : {"position", "i"})
                    if (point.dimension(axis) >= 0) return axis;
        return {};
    }

    void describe(SymbolHeads& found) const {
        found.draws = m_draws;
        found.parts = m_rows;
        found.permutations = m_options.permutations;
        for (std::size_t r = 0; r < m_rows.size(); ++r)
            for (const auto place : m_places)
                for (const auto differs : {Differs::Rule, Differs::Tokens})
                    found.effects.push_back({static_cast<int>(r), differs, place});
        for (std::size_t rule = 0; rule < kRules; ++rule)
            found.followed[rule].rule = promptRuleName(kRuleOf[rule]);
    }

    Table facts() const {
        using columns::fact;
        const auto shown = m_prompts.prompt(0, PromptRule::ABA);
        return tableWith("", "",
                         fact("pairs", 2 * m_draws,
                              {"Pairs", {}, "Pairs of contexts, of each of the two kinds"}),
                         fact("examples", m_prompts.examples(), {"Examples in a context"}),
                         fact("tokens", m_prompts.length(), {"Tokens of a context"}),
                         fact("items", std::ssize(m_prompts.items()), {"Different items"}),
                         fact("rule_tokens", m_prompts.itemKind()),
                         fact("prompt", m_prompts.text(shown.ids)),
                         fact("answer", m_prompts.text({shown.answer})),
                         fact("other", m_prompts.text({shown.other})),
                         fact("permutations", m_options.permutations));
    }

    /// The answers of a batch as it is, and what its patched passes continue from.
    LastAnswers begin(const PromptBatch& batch) {
        m_from.clear();
        PointReader streams(m_streams);
        auto answers = answersOf(batch, batch.to, batch.toIndices, &streams);
        m_kept.clear(), m_keptLast.clear();
        for (const auto& [name, tensor] : streams.tensors()) {
            const auto block = name.substr(0, name.rfind('.'));
            m_kept[block] = tensor;
            m_keptLast[block] = tensor.slice(1, -1);
        }
        m_cache.reset();
        if (!m_continues) return answers;
        auto start = batch.to;
        start.inputs = batch.to.inputs.slice(1, 0, m_last);
        m_cache = std::make_unique<DecodingCache>(m_prompts.length());
        const CacheScope scope(*m_cache);
        m_model->answers(start, m_texts.data(), batch.toIndices);
        if (m_cache->past() != m_last) m_continues = false, m_cache.reset();
        return answers;
    }

    /// The values of a point in the prompts that are patched from.
    void readFrom(const PromptBatch& batch, const std::string& point) {
        if (m_from.contains(point)) return;
        m_from.clear();  // maps of all points at once would take much memory
        PointReader reader({point});
        answersOf(batch, batch.from, batch.fromIndices, &reader);
        m_from = reader.take();
    }

    LastAnswers patched(const PromptBatch& batch, const AblationRow& row, Place place,
                        Differs differs) {
        Edit edit = row.edit;
        edit.op = EditOp::Patch;
        const bool last = place == Place::Last;
        edit.selection[axisOf(row)].places =
            last ? std::vector<std::int64_t>{m_last} : m_prompts.thirdItems();
        EditList list;
        list.edits = {std::move(edit)};
        Editor editor(list);
        // Each prompt's own rule with exchanged items, or the other rule's.
        auto values = m_from.at(row.edit.point);
        if (differs == Differs::Rule) values = values.roll(values.size(0) / 2, 0);
        editor.setValues(0, std::move(values));
        if (!last || !m_continues) {
            editor.keepStreams(m_kept, m_points);
            return answersOf(batch, batch.to, batch.toIndices, &editor);
        }
        editor.keepStreams(m_keptLast, m_points);
        auto end = batch.to;
        end.inputs = batch.to.inputs.slice(1, m_last);
        const CacheScope scope(*m_cache);
        const auto scores = m_model->answers(end, m_texts.data(), batch.toIndices, &editor);
        m_cache->advance(-1);  // the next one writes in the same place
        return lastOf(batch, scores);
    }

    /// How often models with fresh weights find the item of the rule likelier.
    void compareUntrained(SymbolHeads& found, const std::function<void()>& report) {
        for (std::int64_t m = 0; m < m_options.untrained; ++m) {
            const auto fresh =
                untrainedTwin(m_trained, kFreshReader + static_cast<std::uint64_t>(m), m_device);
            EditedModel model(*fresh, m_trained.options());
            SymbolHeads counts;
            for (std::int64_t first = 0; first < m_draws; first += m_step) {
                const auto batch = m_texts.batch(first, std::min(m_draws, first + m_step));
                DecodingCache cache(m_prompts.length());
                const CacheScope scope(cache);
                take(counts,
                     lastOf(batch, model.answers(batch.to, m_texts.data(), batch.toIndices)));
                report();
            }
            for (std::size_t rule = 0; rule < kRules; ++rule) {
                const auto& one = counts.followed[rule];
                found.followed[rule].untrained.push_back(static_cast<double>(one.right) /
                                                         static_cast<double>(one.prompts));
            }
        }
    }

    /// The answers of whole prompts; a cache makes the model give the scores of the last position
    /// alone.
    LastAnswers answersOf(const PromptBatch& batch, const Batch& prompts,
                          const std::vector<std::int64_t>& indices, Hooks* above) {
        DecodingCache cache(m_prompts.length());
        std::optional<CacheScope> scope;
        if (m_plain) scope.emplace(cache);
        return lastOf(batch, m_model->answers(prompts, m_texts.data(), indices, above));
    }

    static LastAnswers lastOf(const PromptBatch& batch, const torch::Tensor& scores) {
        const auto last = scores.select(1, -1).to(torch::kCPU, torch::kDouble);
        const auto right = last.gather(1, batch.answers);
        const auto difference = (right - last.gather(1, batch.others)).squeeze(1).contiguous();
        const auto first = (right.squeeze(1) >= std::get<0>(last.max(1))).contiguous();
        LastAnswers all;
        for (std::int64_t k = 0; k < difference.size(0); ++k) {
            all.difference.push_back(difference.const_data_ptr<double>()[k]);
            all.first.push_back(first.const_data_ptr<bool>()[k]);
        }
        return all;
    }

    static void take(SymbolHeads& found, const LastAnswers& answers) {
        const auto draws = answers.difference.size() / kRules;
        for (std::size_t k = 0; k < answers.difference.size(); ++k) {
            auto& one = found.followed[k / draws];
            ++one.prompts;
            one.right += answers.difference[k] > 0;
            one.margin += answers.difference[k];
            one.first += answers.first[k];
        }
    }

    static void add(SymbolHeads::Effect& effect, const LastAnswers& before,
                    const LastAnswers& after) {
        const auto draws = before.difference.size() / kRules;
        for (std::size_t k = 0; k < before.difference.size(); ++k) {
            effect.values[k / draws].push_back(before.difference[k] - after.difference[k]);
            effect.changed += before.difference[k] > 0 && after.difference[k] < 0;
        }
    }

    void finish(SymbolHeads& found) const {
        std::int64_t right = 0;
        for (auto& one : found.followed) {
            const auto n = static_cast<double>(one.prompts);
            right += one.right;
            one.accuracy = static_cast<double>(one.right) / n;
            std::tie(one.low, one.high) = proportionInterval(one.right, one.prompts);
            one.margin /= n, one.first /= n;
        }
        const std::vector<double> none(static_cast<std::size_t>(m_draws), 0.0),
            weights(none.size(), 1.0);
        for (auto& effect : found.effects) {
            auto mean = effect.values[0];
            for (std::size_t k = 0; k < mean.size(); ++k)
                mean[k] = 0.5 * (mean[k] + effect.values[1][k]);
            effect.all = pairedChange("difference", none, mean, weights);
            for (std::size_t rule = 0; rule < kRules; ++rule)
                effect.ofRule[rule] =
                    pairedChange("difference", none, effect.values[rule], weights);
            effect.changed = right > 0 ? effect.changed / static_cast<double>(right) : std::nan("");
        }
        findSymbolHeads(found, m_options.seed);
    }

    const SymbolHeadOptions m_options;
    RulePrompts m_prompts;
    std::int64_t m_draws;
    PromptTexts m_texts;
    Interventions m_interventions;
    const OpenedModel& m_trained;
    const std::string m_device;
    std::int64_t m_last, m_step = kDrawsABatch;
    std::unique_ptr<EditedModel> m_model;
    std::vector<PointInfo> m_points;
    std::vector<std::string> m_streams;
    std::vector<AblationRow> m_rows;
    std::vector<Place> m_places;
    bool m_plain = false;      ///< no edits are in force, which may take values of whole prompts
    bool m_continues = false;  ///< the last token alone is read anew
    std::map<std::string, torch::Tensor> m_from, m_kept, m_keptLast;
    std::unique_ptr<DecodingCache> m_cache;  ///< of a batch, without its last tokens
};

Answer runSymbolHeads(AnalysisSubject& subject, const SymbolHeadOptions& options,
                      const Watch<Answer>& watch) {
    return SymbolHeadRun(subject, options).run(watch);
}

AnalysisCost symbolHeadCost(AnalysisSubject& subject, const std::stop_token& stop) {
    SymbolHeadOptions options;
    options.what = {"heads", "relations", "columns", "paths", "mlp"};
    options.pairs = 8;
    SymbolHeadRun run(subject, options);
    AnalysisCost cost;
    cost.noun = "pairs of contexts";
    cost.examples = run.examples();
    for (const auto& row : run.rows()) ++cost.parts[row.group];
    std::tie(cost.seconds, cost.more) = run.secondsAPrompt(stop);
    return cost;
}

}  // namespace

const RegisterRunner kSymbolHeadsRunner("symbol-heads", [] {
    auto r = makeRunner(symbolHeadFields(), runSymbolHeads);
    r.cost = symbolHeadCost;
    r.ownText = [](const OpenedModel& model, const OptionValues& values) {
        const auto prompts = promptsOf(model, structOf(symbolHeadFields(), values));
        return tokenSample(model.tokenizer().get(), prompts.prompt(0, PromptRule::ABA).ids,
                           "rules in context");
    };
    return r;
});

}  // namespace relascope::core
