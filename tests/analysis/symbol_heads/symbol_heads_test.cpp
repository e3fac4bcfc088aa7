// SPDX-License-Identifier: GPL-3.0-or-later
// Rules in context, and symbol heads: the prompts, patching against a plain computation with edits,
// and the decisions on numbers that are known in advance.
#include "analysis/symbol_heads/symbol_heads.h"
#include "analysis/analysis.h"
#include "analysis/parts/part_rows.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "analysis/ablate/options.h"
#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "data/rule_prompts.h"
#include "evaluate/pair_scores.h"
#include "interventions/editor.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "support/zoo.h"
#include "types/error.h"

namespace relascope {
namespace {

const char* const kLetters = "abcdefghijklmnopqrstuvwxyz^\n";

std::string publicModel(const std::string& name) {
    return std::string(RELASCOPE_FIXTURES) + "/golden/public/" + name;
}

template <class Call>
std::string refusal(Call&& call) {
    try {
        call();
    } catch (const OptionError& error) {
        return error.what();
    }
    return "";
}

// Prompts
// -------------------------------------------------------------------------------------------------

TEST(RulePrompts, FollowTheirRuleWithItemsThatDiffer) {
    const core::RulePrompts prompts(core::characterTokenizer(kLetters), -1, {.examples = 4}, 0);
    EXPECT_EQ(prompts.examples(), 4);
    EXPECT_EQ(prompts.itemKind(), "letters");
    EXPECT_EQ(prompts.items().size(), 26u);
    std::map<std::int64_t, int> answers;
    int firstAnswers = 0;
    for (std::int64_t draw = 0; draw < 200; ++draw) {
        std::map<std::pair<bool, bool>, core::RulePrompts::Prompt> all;
        for (const bool abb : {false, true})
            for (const bool exchanged : {false, true})
                all[{abb, exchanged}] = prompts.prompt(
                    draw, abb ? core::PromptRule::ABB : core::PromptRule::ABA, exchanged);
        const auto& aba = all[{false, false}];
        const auto text = prompts.text(aba.ids);
        ASSERT_EQ(text.size(), static_cast<std::size_t>(prompts.length()));
        std::set<char> seen;
        for (std::size_t k = 0; k < 5; ++k) {
            const auto line = text.substr(6 * k, 6);
            seen.insert({line[0], line[2]});
            EXPECT_EQ(line[1], '^');
            EXPECT_EQ(line[3], '^');
            if (k == 4) continue;
            EXPECT_EQ(line[4], line[0]);
            EXPECT_EQ(line[5], '\n');
            const auto third = prompts.thirdItems()[k];
            EXPECT_EQ(static_cast<std::size_t>(third), 6 * k + 4);
            EXPECT_EQ(prompts.text(all[{true, false}].ids)[static_cast<std::size_t>(third)],
                      line[2]);
        }
        EXPECT_EQ(seen.size(), 10u) << text;
        EXPECT_EQ(prompts.text({aba.answer}), text.substr(24, 1));
        EXPECT_EQ(prompts.text({aba.other}), text.substr(26, 1));
        // The four contexts of a draw: two answers, each by both rules.
        EXPECT_EQ((all[{true, true}].answer), aba.answer);
        EXPECT_EQ((all[{true, false}].answer), aba.other);
        EXPECT_EQ((all[{false, true}].answer), aba.other);
        ++answers[aba.answer];
        firstAnswers += aba.answer < aba.other;
    }
    // Every letter answers, about as often as any other; neither answer is the earlier letter.
    EXPECT_EQ(answers.size(), 26u);
    for (const auto& [id, count] : answers) EXPECT_LT(count, 24) << id;
    EXPECT_NEAR(firstAnswers, 100, 30);
}

TEST(RulePrompts, AreTheSameForASeedAndOthersForAnother) {
    const auto tokenizer = core::gpt2Tokenizer();
    const auto begin = core::beginningToken(*tokenizer);
    const core::RulePrompts one(tokenizer, begin, {.seed = 3}, 0),
        again(tokenizer, begin, {.seed = 3}, 0), other(tokenizer, begin, {.seed = 4}, 0);
    for (std::int64_t draw = 0; draw < 5; ++draw) {
        EXPECT_EQ(one.prompt(draw, core::PromptRule::ABB).ids,
                  again.prompt(draw, core::PromptRule::ABB).ids);
        EXPECT_NE(one.prompt(draw, core::PromptRule::ABB).ids,
                  other.prompt(draw, core::PromptRule::ABB).ids);
        EXPECT_NE(one.prompt(draw, core::PromptRule::ABB).ids,
                  one.prompt(draw + 1, core::PromptRule::ABB).ids);
    }
    EXPECT_EQ(one.itemKind(), "words");
    EXPECT_EQ(one.items().size(), 1000u);
}

TEST(RulePrompts, OfEveryTokenizerReadBackAsTheirTokens) {
    for (const std::string name : {"gpt2", "gpt_neox", "llama3", "qwen2", "smollm2"}) {
        SCOPED_TRACE(name);
        const auto tokenizer = core::openTokenizer(
            name == "gpt2" ? name
                           : std::string(RELASCOPE_FIXTURES) + "/golden/public-tokenizers/" + name);
        const auto begin = core::beginningToken(*tokenizer);
        const core::RulePrompts prompts(tokenizer, begin, {}, 0);
        std::set<std::int32_t> special;
        for (const auto id : tokenizer->ends()) special.insert(id);
        for (std::int64_t draw = 0; draw < 20; ++draw) {
            auto ids = prompts.prompt(draw, core::PromptRule::ABA).ids;
            EXPECT_EQ(std::ssize(ids), prompts.length());
            const auto text = prompts.text(ids);
            if (begin >= 0) ids.erase(ids.begin());
            const auto again = tokenizer->encode(text);
            EXPECT_TRUE(std::equal(ids.begin(), ids.end(), again.begin(), again.end())) << text;
        }
        for (const auto item : prompts.items())
            EXPECT_FALSE(special.contains(static_cast<std::int32_t>(item)));
    }
}

TEST(RulePrompts, FitTheContextAndTheTokensOrAreRefused) {
    const auto letters = core::characterTokenizer(kLetters);
    const auto made = [&](const core::RulePromptOptions& options, std::int64_t context,
                          const core::TokenizerPtr& tokenizer) {
        return core::RulePrompts(tokenizer, -1, options, context);
    };
    EXPECT_EQ(made({}, 30, letters).examples(), 4);  // 6 tokens each and 4
    EXPECT_EQ(made({}, 30, letters).length(), 28);
    EXPECT_EQ(made({.examples = 100}, 0, letters).examples(), 12);  // of 26 letters
    EXPECT_NE(refusal([&] { made({}, 9, letters); }).find("a prompt of one example has 10"),
              std::string::npos);
    EXPECT_NE(refusal([&] { made({.examples = 0}, 0, letters); }).find("examples"),
              std::string::npos);
    EXPECT_NE(refusal([&] { made({.tokens = "words"}, 0, letters); }).find("rule_tokens: "),
              std::string::npos);
    EXPECT_NE(refusal([&] { made({.separator = "#"}, 0, letters); }).find("separator: "),
              std::string::npos);
    EXPECT_NE(refusal([&] { made({.separator = ""}, 0, letters); }).find("is empty"),
              std::string::npos);
    EXPECT_NE(refusal([&] { made({.separator = "\\n"}, 0, letters); }).find("end: "),
              std::string::npos);
    EXPECT_NE(refusal([&] { made({}, 0, core::characterTokenizer("abc^\n")); }).find("3 such"),
              std::string::npos);
    EXPECT_NE(refusal([&] { made({}, 0, core::characterTokenizer("abcdef")); }).find("separator"),
              std::string::npos);
    // Without the usual separators others stand in their place; without letters, signs.
    const auto signs = made({}, 0, core::characterTokenizer("+*=%&,;"));
    EXPECT_EQ(signs.itemKind(), "any");
    EXPECT_EQ(signs.examples(), 1);
    const auto text = signs.text(signs.prompt(0, core::PromptRule::ABA).ids);
    EXPECT_EQ(std::count(text.begin(), text.end(), ','), 4) << text;
    // Separators of several tokens, written with \n.
    const auto longer = made({.examples = 2, .separator = "^^", .end = "\\n\\n"}, 0, letters);
    EXPECT_EQ(longer.text(longer.prompt(0, core::PromptRule::ABB).ids).substr(7, 2), "\n\n");
}

TEST(RulePrompts, AreMinimalPairs) {
    const core::RulePrompts prompts(core::gpt2Tokenizer(), -1, {.examples = 3}, 0);
    const auto pairs = core::rulePairs(prompts, 5);
    ASSERT_EQ(pairs.size(), 10u);
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto& pair = pairs[k];
        EXPECT_TRUE(pair.good.starts_with(pair.prefix));
        EXPECT_TRUE(pair.bad.front().starts_with(pair.prefix));
        EXPECT_NE(pair.good, pair.bad.front());
        EXPECT_EQ(pair.phenomenon, k < 5 ? "rule_aba" : "rule_abb");
    }
    // One token is scored.
    const core::ListedPairs data(DatasetInfo{"rules"}, pairs);
    const auto tokens = core::tokenizePairs(data, {0, 7}, *prompts.tokenizer(), 1000);
    for (const auto& sentence : tokens.sentences)
        EXPECT_EQ(std::ssize(sentence.ids), sentence.from + 1);
}

// Patching
// -------------------------------------------------------------------------------------------------

/// A language model whose tokens are letters.
class LetterModel {
public:
    LetterModel(ModelOptions options, std::uint64_t seed, double larger = 1.0) {
        put(options, "vocab_size", 30), put(options, "max_block_size", 40);
        put(options, "sequence_len", 40), put(options, "max_rel_pos", 40);
        put(options, "dropout_rate", 0.0);
        model = std::make_unique<core::OpenedModel>(options, seed, "cpu");
        const auto path = m_home / "tokenizer.json";
        std::filesystem::create_directories(m_home.path());
        core::writeTokenizer(*core::characterTokenizer(kLetters), path);
        model->setTokenizer(path);
        subject.model = model.get();
        if (larger == 1.0) return;
        // Fresh weights are so small that patching hardly changes an answer.
        const torch::NoGradGuard noGrad;
        for (auto& parameter : model->edited({})->model().parameters())
            if (parameter.dim() > 1) parameter.mul_(larger);
    }
    Answer ask(core::OptionValues values = {}) {
        return core::runnerOf(core::analysisNamed("symbol-heads")).run(subject, values, {});
    }

private:
    testing_support::TemporaryFolder m_home{"letter-model"};

public:
    std::unique_ptr<core::OpenedModel> model;
    core::AnalysisSubject subject;
};

/// A language model with sensory and relational heads.
ModelOptions dualModel() {
    for (auto& [name, options] : smallModels())
        if (options.input() == InputKind::Tokens && options.info().dual) return options;
    throw Error("there is none");
}

/// The score of an effect by a pass for each prompt, with the values of the other context set by
/// edits.
class PlainPatching {
public:
    PlainPatching(core::OpenedModel& model, std::int64_t examples, core::Interventions base = {})
        : m_model(model),
          m_prompts(model.tokenizer(), core::beginningToken(*model.tokenizer()),
                    {.examples = examples}, model.options().tokens()),
          m_base(std::move(base)) {}

    std::array<double, 2> scores(const AblationRow& row, bool last, bool otherRule,
                                 std::int64_t draws) {
        std::array<double, 2> sums{};
        for (std::int64_t k = 0; k < draws; ++k)
            for (const bool abb : {false, true}) {
                const auto rule = [](bool second) {
                    return second ? core::PromptRule::ABB : core::PromptRule::ABA;
                };
                const auto to = m_prompts.prompt(k, rule(abb)),
                           from = m_prompts.prompt(k, rule(abb != otherRule), true);
                const auto edits = editsOf(row, from.ids, last);
                sums[abb] +=
                    (difference(to, edits) - difference(to, {})) / static_cast<double>(draws);
            }
        return sums;
    }

private:
    static core::Batch batchOf(const std::vector<std::int64_t>& ids) {
        core::Batch batch;
        batch.kind = TargetKind::Tokens;
        batch.inputs = torch::tensor(ids).unsqueeze(0), batch.targets = batch.inputs;
        return batch;
    }
    double difference(const core::RulePrompts::Prompt& prompt, const std::vector<Edit>& edits) {
        auto all = m_base;
        all.edits.edits.insert(all.edits.edits.end(), edits.begin(), edits.end());
        const auto scores = m_model.edited(all)->answers(batchOf(prompt.ids), nullptr, {});
        const auto row = scores[0][-1].to(torch::kDouble);
        return row[prompt.other].item<double>() - row[prompt.answer].item<double>();
    }
    std::vector<Edit> editsOf(const AblationRow& row, const std::vector<std::int64_t>& from,
                              bool last) {
        core::PointReader reader({row.edit.point});
        m_model.edited(m_base)->answers(batchOf(from), nullptr, {}, &reader);
        const auto point = reader.points().front();
        const bool cells = point.dimension("position") < 0;
        const auto* axis = cells ? "i" : "position";
        auto places = m_prompts.thirdItems();
        if (last) places = {m_prompts.length() - 1};
        std::vector<Edit> edits;
        for (const auto place : places) {
            auto values =
                reader.tensors().at(row.edit.point).narrow(point.dimension(axis), place, 1);
            for (const auto& [name, selection] : row.edit.selection)
                values = values.narrow(point.dimension(name), selection.places.front(), 1);
            Edit edit = row.edit;
            edit.op = EditOp::Set;
            edit.selection[axis].places = {place};
            const auto flat = values.flatten().to(torch::kDouble).contiguous();
            for (std::size_t d = 0; d < point.axes.size(); ++d)
                if (point.axes[d] != "batch" && !edit.selection.contains(point.axes[d]))
                    edit.values.shape.push_back(values.size(static_cast<std::int64_t>(d)));
            edit.values.numbers = std::vector<double>(flat.const_data_ptr<double>(),
                                                      flat.const_data_ptr<double>() + flat.size(0));
            edits.push_back(std::move(edit));
        }
        return edits;
    }

    core::OpenedModel& m_model;
    core::RulePrompts m_prompts;
    core::Interventions m_base;
};

/// Compares every `step`th effect of an answer.
void expectPlain(core::OpenedModel& model, const Answer& answer, std::size_t step,
                 const core::Interventions& base = {}) {
    const auto& effects = answer.table("effects");
    ASSERT_GT(effects.rows(), 0u);
    const auto draws = static_cast<std::int64_t>(answer.number("pairs")) / 2;
    const auto examples = static_cast<std::int64_t>(answer.number("examples"));
    PlainPatching plain(model, examples, base);
    const core::RulePrompts prompts(model.tokenizer(), core::beginningToken(*model.tokenizer()),
                                    {.examples = examples}, model.options().tokens());
    ProbeSample sample;
    sample.source.tokens = prompts.prompt(0, core::PromptRule::ABA).ids;
    const auto rows =
        core::partRows(model.points(sample), {"heads", "relations", "columns", "paths", "mlp"});
    double most = 0.0;
    for (std::size_t e = 0; e < effects.rows(); e += step) {
        const auto& part = effects.texts("part")[e];
        const auto row = std::find_if(rows.begin(), rows.end(),
                                      [&](const auto& one) { return one.part == part; });
        ASSERT_NE(row, rows.end()) << part;
        const auto scores = plain.scores(*row, effects.texts("place")[e] == "last",
                                         effects.texts("differs")[e] == "rule", draws);
        SCOPED_TRACE(part + ", " + effects.texts("differs")[e] + ", " + effects.texts("place")[e]);
        EXPECT_NEAR(effects.numbers("in_aba")[e], scores[0], 2e-5);
        EXPECT_NEAR(effects.numbers("in_abb")[e], scores[1], 2e-5);
        EXPECT_NEAR(effects.numbers("score")[e], 0.5 * (scores[0] + scores[1]), 2e-5);
        most = std::max(most, std::abs(scores[0]));
    }
    EXPECT_GT(most, 1e-3);
}

TEST(SymbolHeads, ArePatchedAsByHandInEveryLanguageModel) {
    for (const auto& [name, options] : smallModels()) {
        if (options.input() != InputKind::Tokens) continue;
        SCOPED_TRACE(name);
        LetterModel letters(options, 5, 12.0);
        const auto answer = letters.ask(
            {{"pairs", std::int64_t{5}},  // rounded up
             {"examples", std::int64_t{3}},
             {"what", std::vector<std::string>{"heads", "relations", "columns", "paths", "mlp"}}});
        EXPECT_EQ(answer.number("pairs"), 6.0);
        expectPlain(*letters.model, answer, 5);
    }
}

TEST(SymbolHeads, ArePatchedAsByHandInPublicModelsAndWithEdits) {
    for (const std::string name : {"gpt2_tied", "llama3_scaled_tied"}) {
        SCOPED_TRACE(name);
        core::OpenedModel model(publicModel(name), "", "cpu");
        core::AnalysisSubject subject;
        subject.model = &model;
        const core::OptionValues values = {{"pairs", std::int64_t{4}},
                                           {"examples", std::int64_t{3}}};
        const auto& runner = core::runnerOf(core::analysisNamed("symbol-heads"));
        const auto answer = runner.run(subject, values, {});
        expectPlain(model, answer, 3);
        // With an edit in force, which is in force in the context that is patched from, too.
        Edit edit;
        edit.point = "blocks.0.hook_mlp_out";
        subject.interventions.edits.edits = {edit};
        const auto edited = runner.run(subject, values, {});
        EXPECT_NE(edited.table("effects").numbers("score"),
                  answer.table("effects").numbers("score"));
        expectPlain(model, edited, 5, subject.interventions);
    }
}

TEST(SymbolHeads, FindTheHeadThatWasPlanted) {
    // Head 1 of layer 1 tells which item a third one repeats (tests/make_rules_model.py); training
    // has made head 1 of layer 2 bring that to the last position.
    core::OpenedModel model(std::string(RELASCOPE_FIXTURES) + "/rules", "", "cpu");
    core::AnalysisSubject subject;
    subject.model = &model;
    const auto answer = core::runnerOf(core::analysisNamed("symbol-heads"))
                            .run(subject, {{"what", std::vector<std::string>{"heads", "mlp"}}}, {});
    EXPECT_EQ(answer.number("examples"), 5.0);  // of ten, by the context
    for (const auto accuracy : answer.table("rules").numbers("accuracy")) EXPECT_GT(accuracy, 0.95);
    const auto& parts = answer.table("parts");
    for (std::size_t k = 0; k < parts.rows(); ++k) {
        const auto& part = parts.texts("part")[k];
        const auto& carries = parts.texts("carries")[k];
        if (part == "layer 1 sensory head 1")
            EXPECT_EQ(carries, "rule (examples)");
        else if (part == "layer 2 sensory head 1")
            EXPECT_EQ(carries, "rule (last)");
        else if (part.ends_with("feed-forward") && part >= "layer 3")
            EXPECT_EQ(carries, "token (last)") << part;
        else
            EXPECT_EQ(carries, "") << part;
    }
    const auto& effects = answer.table("effects");
    EXPECT_GT(effects.numbers("share")[0], 0.9);  // the whole of the way
    EXPECT_NEAR(effects.numbers("share")[1], 0.0, 0.02);
}

TEST(SymbolHeads, TakeAnyNumberOfPairsAtATime) {
    // 33 draws are three batches, the last one of one draw.
    LetterModel letters(dualModel(), 1, 12.0);
    const auto answer = letters.ask({{"pairs", std::int64_t{66}}, {"examples", std::int64_t{2}}});
    expectPlain(*letters.model, answer, 7);
    const auto& rules = answer.table("rules");
    EXPECT_EQ(rules.numbers("prompts"), (std::vector<double>{33.0, 33.0}));
    EXPECT_EQ(answer.table("findings").texts("finding").front(),
              "66 pairs of contexts are too few for a sentence; 100 or more are needed.");
}

TEST(SymbolHeads, AreClaimedOfNoFreshModel) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        LetterModel letters(dualModel(), seed, seed % 2 == 0 ? 1.0 : 12.0);
        const auto answer = letters.ask({{"pairs", std::int64_t{100}},
                                         {"examples", std::int64_t{2}},
                                         {"permutations", std::int64_t{200}},
                                         {"seed", static_cast<std::int64_t>(seed)}});
        for (const auto& text : answer.table("parts").texts("carries")) EXPECT_EQ(text, "") << seed;
        EXPECT_EQ(answer.table("findings").rows(), 1u);
    }
}

TEST(SymbolHeads, RefuseWhatCannotBeAsked) {
    core::OpenedModel gpt2(publicModel("gpt2_tied"), "", "cpu");
    core::AnalysisSubject subject;
    subject.model = &gpt2;
    const auto& runner = core::runnerOf(core::analysisNamed("symbol-heads"));
    const auto refused = [&](core::OptionValues values) {
        return refusal([&] { runner.run(subject, values, {}); });
    };
    const auto words = [](std::vector<std::string> all) { return all; };
    EXPECT_TRUE(refused({{"pairs", std::int64_t{1}}}).starts_with("pairs: "));
    EXPECT_TRUE(refused({{"what", words({})}}).starts_with("what: "));
    EXPECT_TRUE(refused({{"what", words({"symbols"})}}).starts_with("what: "));
    EXPECT_TRUE(refused({{"what", words({"relations"})}}).starts_with("what: this model has no"));
    EXPECT_TRUE(refused({{"where", words({})}}).starts_with("where: "));
    EXPECT_TRUE(refused({{"where", words({"first"})}}).starts_with("where: "));
    EXPECT_TRUE(refused({{"rule_tokens", std::string("digits")}}).starts_with("rule_tokens: "));
    EXPECT_TRUE(refused({{"separator", std::string()}}).starts_with("separator: is empty"));
    EXPECT_TRUE(refused({{"end", std::string(100, '^')}}).starts_with("path: the context of 48"));
    core::OpenedModel unknown(publicModel("mistral_window"), "", "cpu");
    subject.model = &unknown;
    EXPECT_TRUE(refused({}).starts_with("tokenizer: "));
    core::OpenedModel image(std::string(RELASCOPE_FIXTURES) + "/golden/vit_relational_games", "",
                            "cpu");
    subject.model = &image;
    EXPECT_TRUE(refused({}).starts_with("text: is for language models only"));
    // Stopped, nothing is returned.
    subject.model = &gpt2;
    core::AnalysisWatch watch;
    watch.progress = [](double) { return false; };
    EXPECT_THROW(runner.run(subject, {}, watch), Cancelled);
}

TEST(SymbolHeads, SayWhatTheyCost) {
    core::OpenedModel gpt2(publicModel("gpt2_tied"), "", "cpu");
    core::AnalysisSubject subject;
    subject.model = &gpt2;
    const auto& analysis = core::analysisNamed("symbol-heads");
    const auto cost = core::runnerOf(analysis).cost(subject, {});
    EXPECT_EQ(cost.parts.at("heads"), 8);
    EXPECT_GT(cost.seconds, 0.0);
    EXPECT_TRUE(analysis.costText(cost, {}).starts_with("8 parts on 2 x 100 pairs of contexts: "))
        << analysis.costText(cost, {});
    EXPECT_EQ(analysis.costText(cost, {{"what", std::vector<std::string>{"relations"}}}),
              "this model has no such parts; choose others");
    EXPECT_EQ(analysis.costText(cost, {{"where", std::vector<std::string>{}}}),
              "choose where they are patched");
}

// Decisions
// -------------------------------------------------------------------------------------------------

/// Effects whose values are drawn around known means, for prompts of ABA and of ABB.
class Planted {
public:
    explicit Planted(std::int64_t draws = 50, std::uint64_t seed = 0) : m_random(seed) {
        found.draws = draws, found.permutations = 1000;
        found.followed = {SymbolHeads::Followed{"ABA", draws, 0, 0.94, 0.83, 0.99, 0.9, 4.0},
                          SymbolHeads::Followed{"ABB", draws, 0, 0.9, 0.78, 0.97, 0.9, 4.0}};
        // One always takes the item of ABA, and none follows both rules.
        found.followed[0].untrained = {1.0, 0.5, 0.45, 0.6};
        found.followed[1].untrained = {0.0, 0.5, 0.55, 0.4};
    }
    /// Means of nats: of the other rule in ABA and ABB, then of other tokens.
    void add(double ruleAba, double ruleAbb, double tokenAba, double tokenAbb,
             double spread = 1.0) {
        const auto part = static_cast<int>(found.parts.size());
        found.parts.push_back({"layer 1 head " + std::to_string(part + 1), "heads", {}});
        effect(part, SymbolHeads::Differs::Rule, ruleAba, ruleAbb, spread);
        effect(part, SymbolHeads::Differs::Tokens, tokenAba, tokenAbb, spread);
    }
    std::string carries(std::size_t part) {
        return core::answerOf(found).table("parts").texts("carries")[part];
    }
    std::string findings() const {
        std::string all;
        for (const auto& one : found.findings) all += one + "\n";
        return all;
    }
    SymbolHeads found;

private:
    void effect(int part, SymbolHeads::Differs differs, double aba, double abb, double spread) {
        SymbolHeads::Effect one{part, differs};
        std::normal_distribution<double> noise(0.0, spread);
        std::vector<double> mean(static_cast<std::size_t>(found.draws));
        for (auto& value : mean) {
            one.values[0].push_back(aba + noise(m_random));
            one.values[1].push_back(abb + noise(m_random));
            value = 0.5 * (one.values[0].back() + one.values[1].back());
        }
        one.all = interval(mean);
        for (std::size_t rule = 0; rule < 2; ++rule) one.ofRule[rule] = interval(one.values[rule]);
        found.effects.push_back(std::move(one));
    }
    static PairedChange interval(const std::vector<double>& values) {
        double sum = 0.0, squares = 0.0;
        for (const auto value : values) sum += value, squares += value * value;
        const auto n = static_cast<double>(values.size());
        const double mean = sum / n, half = 1.96 * std::sqrt((squares / n - mean * mean) / n);
        return {"difference", 0.0, mean, mean, mean - half, mean + half};
    }
    std::mt19937_64 m_random;
};

TEST(SymbolHeads, CarryWhatMovesTheAnswerInOneKindOfPairs) {
    Planted planted;
    planted.add(3.0, 2.0, 0.0, 0.0);       // the rule
    planted.add(0.0, 0.0, 2.0, 2.5);       // the token
    planted.add(2.0, 2.0, 2.0, 2.0);       // either
    planted.add(4.0, -4.0, -4.0, 4.0);     // copies a place: in one rule for, in the other against
    planted.add(0.2, 0.2, 0.0, 0.0, 0.1);  // sure, and 2.5 % of the way
    planted.add(0.0, 0.0, 0.0, 0.0);
    planted.add(-3.0, -3.0, -3.0, -3.0);  // works against both
    core::findSymbolHeads(planted.found, 0);
    EXPECT_EQ(planted.carries(0), "rule (last)");
    EXPECT_EQ(planted.carries(1), "token (last)");
    EXPECT_EQ(planted.carries(2), "rule or token (last)");
    for (std::size_t part = 3; part < 7; ++part) EXPECT_EQ(planted.carries(part), "") << part;
    EXPECT_NEAR(planted.found.effects[0].share, 2.5 / 8.0, 0.06);
    EXPECT_NEAR(planted.found.effects[0].p, 1.0 / 1001, 1e-12);
    EXPECT_EQ(planted.found.effects[12].p, 1.0);
    const auto text = planted.findings();
    EXPECT_NE(text.find("The model prefers the item of the rule in 94.0 %"), std::string::npos);
    EXPECT_NE(text.find("Layer 1 head 1 carries the rule at the last position: "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("Layer 1 head 2 carries the token at the last position: "),
              std::string::npos);
    EXPECT_NE(text.find("so it cannot be said which of the two it carries"), std::string::npos);
    EXPECT_NE(text.find("Looked at 14 effects"), std::string::npos) << text;
}

TEST(SymbolHeads, SayNothingOfFewPairsOrAModelThatDoesNotFollow) {
    Planted few(49);
    few.add(3.0, 3.0, 0.0, 0.0);
    core::findSymbolHeads(few.found, 0);
    EXPECT_EQ(few.findings(),
              "98 pairs of contexts are too few for a sentence; 100 or more are needed.\n");
    EXPECT_EQ(few.carries(0), "");
    Planted other;
    other.add(3.0, 3.0, 0.0, 0.0);
    other.found.followed[1].accuracy = 0.6, other.found.followed[1].low = 0.45;
    core::findSymbolHeads(other.found, 0);
    EXPECT_TRUE(other.findings().starts_with("The model does not follow the rules: "))
        << other.findings();
    EXPECT_EQ(other.found.findings.size(), 1u);
    EXPECT_EQ(other.carries(0), "");
    Planted three;
    three.add(3.0, 3.0, 0.0, 0.0);
    three.found.followed[0].untrained.pop_back();
    core::findSymbolHeads(three.found, 0);
    EXPECT_NE(three.findings().find("whether untrained models do as well takes 4 of them"),
              std::string::npos)
        << three.findings();
    EXPECT_EQ(three.carries(0), "");
    Planted none;
    none.add(0.0, 0.0, 0.0, 0.0);
    core::findSymbolHeads(none.found, 0);
    EXPECT_NE(none.findings().find("No part is shown to carry the rule at the last position: "),
              std::string::npos)
        << none.findings();
    // A way that leads nowhere has no share.
    none.found.followed[0].margin = none.found.followed[1].margin = -1.0;
    core::findSymbolHeads(none.found, 0);
    EXPECT_TRUE(std::isnan(none.found.effects[0].share));
}

TEST(SymbolHeads, SayThatTooFewSignsCanShowNothing) {
    for (const std::int64_t signs : {1, 99}) {
        Planted few;
        few.add(4.0, 4.0, 0.0, 0.0);
        few.found.permutations = signs;
        core::findSymbolHeads(few.found, 1);
        EXPECT_TRUE(few.found.carried.empty());
        EXPECT_NE(few.findings().find("random signs are too few to say what a part carries"),
                  std::string::npos)
            << few.findings();
        EXPECT_NE(few.findings().find("take 100 or more"), std::string::npos);
        EXPECT_EQ(few.findings().find("No part is shown"), std::string::npos);
    }
    Planted enough;
    enough.add(4.0, 4.0, 0.0, 0.0);
    enough.found.permutations = 100;
    core::findSymbolHeads(enough.found, 1);
    EXPECT_FALSE(enough.found.carried.empty()) << enough.findings();
}

TEST(SymbolHeads, AreClaimedOfNoModelThatUntrainedOnesEqual) {
    Planted planted;
    planted.add(3.0, 2.0, 0.0, 0.0);
    core::findSymbolHeads(planted.found, 0);
    EXPECT_EQ(planted.carries(0), "rule (last)");
    // An untrained model that follows both rules by 78 %, where this one's interval begins.
    planted.found.followed[0].untrained[3] = planted.found.followed[1].untrained[3] = 0.79;
    core::findSymbolHeads(planted.found, 0);
    EXPECT_EQ(planted.carries(0), "");
    EXPECT_NE(planted.findings().find("an untrained model may do as well"), std::string::npos)
        << planted.findings();
    EXPECT_NE(planted.findings().find("4 untrained models have 45.0 to 100.0 %"), std::string::npos)
        << planted.findings();
}

TEST(SymbolHeads, AreSeldomClaimedOfNoise) {
    int claimed = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Planted noise(50, seed);
        noise.found.permutations = 200;
        for (int part = 0; part < 20; ++part) noise.add(0.0, 0.0, 0.0, 0.0, 8.0);
        core::findSymbolHeads(noise.found, static_cast<std::int64_t>(seed));
        claimed += !noise.found.carried.empty();
    }
    EXPECT_LE(claimed, 3);  // 1 in 100 at most by the level
}

TEST(SymbolHeads, HaveTheSameNumbersForASeed) {
    Planted one, again;
    for (auto* planted : {&one, &again}) {
        planted->add(0.4, 0.4, 0.3, 0.2);
        core::findSymbolHeads(planted->found, 7);
    }
    EXPECT_EQ(one.found.effects[0].p, again.found.effects[0].p);
    core::findSymbolHeads(again.found, 8);
    EXPECT_NEAR(one.found.effects[1].p, again.found.effects[1].p, 0.06);
}

}  // namespace
}  // namespace relascope
