// SPDX-License-Identifier: GPL-3.0-or-later
// Encoders of public families, whose numbers are those of golden_test.cpp: how their files may be
// spelled, what is refused and how, hidden words of texts, and minimal pairs against a plain
// computation.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "analysis/attribute/attribution.h"
#include "analysis/edited_model.h"
#include "analysis/heads/head_measures.h"
#include "analysis/open_model.h"
#include "analysis/origins/origins.h"
#include "analysis/pair_accuracy/pair_accuracy.h"
#include "analysis/run_analysis.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/start_from.h"
#include "checkpoint/tensor_io.h"
#include "data/batches.h"
#include "data/token_hidden.h"
#include "data/token_prefix.h"
#include "evaluate/pair_scores.h"
#include "evaluate/pseudo_likelihood.h"
#include "files/atomic_file.h"
#include "model/architecture.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "support/golden_copy.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using Json = nlohmann::ordered_json;
using testing_support::GoldenCopy;

const std::string kFamilies = std::string(RELASCOPE_FIXTURES) + "/golden/families/";

std::string said(const std::function<void()>& what) {
    try {
        what();
        return "nothing";
    } catch (const Error& error) {
        return error.what();
    }
}

void has(const std::string& text, const std::vector<std::string>& parts) {
    for (const auto& part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(PublicEncoders, HaveTheShapesOfTheirModels) {
    for (const char* name : {"bert", "roberta", "modernbert"}) {
        const auto options = checkpointModel(*CheckpointSource::open(kFamilies + name));
        const auto shapes = modelShapes(options);
        const auto state = stateOf(*makeModel(options));
        ASSERT_EQ(shapes.size(), state.size());
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            EXPECT_EQ(shapes[i].name, state[i].name);
            EXPECT_EQ(shapes[i].shape, state[i].tensor.sizes().vec());
            EXPECT_EQ(shapes[i].aliasOf, state[i].aliasOf);
        }
    }
}

// What a model_type alone stands for.
TEST(PublicEncoders, HaveTheDefaultsOfTheirClasses) {
    const auto bert = modelOfFamily(*findFamily("bert"), Json{{"model_type", "bert"}});
    const auto& b = bert.get<PublicEncoderOptions>();
    EXPECT_EQ(b.vocab_size, 30522);
    EXPECT_EQ(b.d_model, 768);
    EXPECT_EQ(b.dff, 3072);
    EXPECT_EQ(b.n_layers, 12);
    EXPECT_EQ(b.max_block_size, 512);
    EXPECT_EQ(b.norm_eps, 1e-12);
    EXPECT_EQ(b.token_types, 2);
    EXPECT_TRUE(b.tie_word_embeddings);
    EXPECT_FALSE(b.norm_first || b.final_norm);
    const auto roberta = modelOfFamily(*findFamily("roberta"), Json{{"hidden_act", "relu"}});
    const auto& r = roberta.get<PublicEncoderOptions>();
    EXPECT_EQ(r.vocab_size, 50265);
    EXPECT_EQ(r.max_block_size, 510);
    EXPECT_EQ(r.position_offset, 2);
    EXPECT_EQ(r.padding_row, 1);
    EXPECT_EQ(r.activation, "relu");
    EXPECT_EQ(r.head_activation, "exact_gelu");
    EXPECT_TRUE(findFamily("xlm-roberta"));
    const auto modern = modelOfFamily(*findFamily("modernbert"), Json{{"num_hidden_layers", 4u}});
    const auto& m = modern.get<PublicEncoderOptions>();
    EXPECT_EQ(m.vocab_size, 50368);
    EXPECT_EQ(m.sliding_window, 65);  // 64 on either side
    EXPECT_EQ(m.layer_kinds, "FWWF");
    EXPECT_EQ(m.rope_theta, 160000.0);
    EXPECT_EQ(m.local_rope_theta, 10000.0);
    EXPECT_EQ(m.norm_type, "layernorm_no_bias");
    EXPECT_TRUE(m.output_bias && !m.head_bias && m.final_norm);
}

TEST(PublicEncoders, AreRefusedByKeyAndValue) {
    const auto with = [](const char* family, const Json& config) {
        return said([&] { modelOfFamily(*findFamily(family), config); });
    };
    has(with("bert", {{"hidden_act", "silu"}}), {"hidden_act", "silu", "gelu"});
    has(with("bert", {{"is_decoder", true}}), {"is_decoder", "true"});
    has(with("bert", {{"position_embedding_type", "relative_key"}}),
        {"position_embedding_type", "relative_key"});
    has(with("bert", {{"architectures", {"BertModel"}}}),
        {"is a BertModel, which has no output layer; BertForMaskedLM and BertForPreTraining open"});
    has(with("bert", {{"architectures", {"BertForSequenceClassification"}}}),
        {"BertForSequenceClassification"});
    has(with("roberta", {{"max_position_embeddings", 2u}}), {"max_position_embeddings", "2"});
    has(with("bert", {{"type_vocab_size", 0}}), {"type_vocab_size", "0"});
    has(with("modernbert", {{"hidden_activation", "silu"}}), {"hidden_activation", "silu"});
    has(with("modernbert", {{"local_attention", 0}}), {"local_attention", "0"});
    has(with("modernbert", {{"num_hidden_layers", 2u}, {"layer_types", {"full_attention"}}}),
        {"layer_types", "2", "1"});
}

TEST(PublicEncoders, FilesMayBeSpelledInSeveralWays) {
    const auto logits = [](const GoldenCopy& copy) {
        const auto source = CheckpointSource::open(copy.path());
        const auto options = checkpointModel(*source);
        const auto model = makeModel(options);
        loadWeights(*model, options, *source);
        model->eval();
        return model->forward(readTensors(kFamilies + "bert/io.safetensors").at("input/tokens"));
    };
    const auto wanted = readTensors(kFamilies + "bert/io.safetensors").at("output/logits");
    const GoldenCopy plain("families/bert");
    plain.rename([](const std::string& name) {
        auto own = name;
        for (const auto& [from, to] : {std::pair{".gamma", ".weight"}, {".beta", ".bias"}})
            if (own.ends_with(from))
                own.replace(own.size() - std::strlen(from), std::string::npos, to);
        return own.starts_with("bert.") ? own.substr(5) : own;
    });
    EXPECT_TRUE(torch::allclose(logits(plain), wanted, 2e-5, 2e-5));
    // decoder.bias is `bias`; where both are there, it counts.
    const GoldenCopy both("families/bert");
    both.tensors([](auto& all) {
        all["cls.predictions.decoder.bias"] = all.at("cls.predictions.bias") + 1;
    });
    EXPECT_TRUE(torch::allclose(logits(both), wanted + 1, 2e-5, 2e-5));
    const GoldenCopy other("families/bert");
    other.rename([](const std::string& name) {
        return name == "cls.predictions.bias" ? "cls.predictions.decoder.bias" : name;
    });
    EXPECT_TRUE(torch::allclose(logits(other), wanted, 2e-5, 2e-5));
    // An output that is stored and differs from the embedding is the output.
    const GoldenCopy untied("families/bert");
    untied.tensors([](auto& all) {
        all["cls.predictions.decoder.weight"] =
            all.at("bert.embeddings.word_embeddings.weight") * 2;
    });
    EXPECT_FALSE(torch::allclose(logits(untied), wanted, 1e-2, 1e-2));
    const GoldenCopy doubled("families/bert");
    doubled.tensors([](auto& all) {
        all["bert.embeddings.LayerNorm.weight"] = all.at("bert.embeddings.LayerNorm.gamma");
    });
    has(doubled.problem(), {"bert.embeddings.LayerNorm.gamma"});
    const GoldenCopy missing("families/bert");
    missing.tensors([](auto& all) { all.erase("cls.predictions.bias"); });
    has(missing.problem(), {"cls.predictions.bias"});
}

class Encoder : public ::testing::Test {
protected:
    Encoder() : m_model(kFamilies + "bert", "", "cpu"), m_forward(m_model.edited({})) {
        m_subject.model = &m_model;
    }

    OpenedModel m_model;
    std::unique_ptr<EditedModel> m_forward;
    AnalysisSubject m_subject;
};

TEST_F(Encoder, RefusesWhatNeedsANextToken) {
    const auto tokenizer = m_model.tokenizer();
    GenerateOptions generate;
    has(said([&] { m_model.generate("a", generate, [](const auto&) { return true; }); }),
        {"a BERT reads in both directions and writes no text; put [MASK] into a text"});
    const auto sample = m_model.textInput("the [MASK] is");
    m_subject.sample = sample;
    has(said([&] { runnerOf(analysisNamed("attribute")).run(m_subject, {}, {}); }),
        {"the output of a BERT passes a gelu", "lens"});
    has(said([&] { runnerOf(analysisNamed("heads")).run(m_subject, {}, {}); }),
        {"head-measures needs a model of next tokens", "BERT"});
    RunOptions run;
    has(said([&] { startFrom(run, kFamilies + "bert"); }),
        {"which reads in both directions", "take a model of next tokens"});
    EXPECT_FALSE(noNextTokenText(m_model.options()).empty());
    EXPECT_TRUE(noNextTokenText(ModelOptions("TransformerLM")).empty());
}

// The mask is a special token of the tokenizer, not any piece of that spelling.
TEST(PublicEncoders, NeedAMaskToHideWords) {
    const GoldenCopy copy("families/bert");
    copy.json("tokenizer.json", [](Json& file) {
        auto& added = file["added_tokens"];
        for (std::size_t i = 0; i < added.size(); ++i)
            if (added[i]["content"] == "[MASK]") added.erase(i--);
    });
    copy.json("tokenizer_config.json", [](Json& file) {
        file.erase("mask_token");
        file["added_tokens_decoder"].erase("4");
    });
    OpenedModel model(copy.path(), "", "cpu");
    has(said([&] { maskToken(model); }), {"tokenizer", "has no mask token, [MASK] or <mask>"});
}

TEST(PublicEncoders, ScoresAreSumsOfParts) {
    for (const char* name : {"bert", "roberta", "modernbert"}) {
        OpenedModel model(kFamilies + name, "", "cpu");
        AnalysisSubject subject;
        subject.model = &model;
        ProbeSample sample;
        sample.source.tokens = {3, 7, 9, 4, 12, 8};
        subject.sample = sample;
        for (const std::int64_t layer : {1, 2, 3}) {
            const auto answer = runnerOf(analysisNamed("qk-attribution"))
                                    .run(subject,
                                         {{"kind", std::string("attention-sa")},
                                          {"layer", layer},
                                          {"index", std::int64_t{2}},
                                          {"source", std::int64_t{3}},
                                          {"to", std::int64_t{2}},
                                          {"against", std::string("none")}},
                                         {});
            const double value = answer.number("value"),
                         size = std::abs(value) * answer.number("cancellation");
            EXPECT_LT(std::abs(answer.number("sum") - value), 1e-5 * size) << name << layer;
        }
    }
}

TEST_F(Encoder, AnswersAtTheMask) {
    const auto sample = m_model.textInput("the [MASK] is true");
    const auto mask = m_model.tokenizer()->maskToken();
    ASSERT_TRUE(mask);
    const auto& tokens = sample.source.tokens;
    const auto place = std::find(tokens.begin(), tokens.end(), *mask) - tokens.begin();
    ASSERT_LT(place, std::ssize(tokens));
    const auto result = m_model.probe(sample, {});
    const torch::NoGradGuard noGrad;
    const auto logits = m_forward->model().forward(torch::tensor(tokens).unsqueeze(0));
    const auto best = torch::softmax(logits[0][place], 0).max().item<double>();
    ASSERT_FALSE(result.probabilities.empty());
    EXPECT_NEAR(result.probabilities.front(), best, 1e-5);
    // Maps have cells on both sides, and the rows of a head add up to 1.
    ASSERT_FALSE(result.maps.empty());
    EXPECT_FALSE(result.maps.front().causal);
}

TEST_F(Encoder, TextsAreEvaluatedByHiddenWords) {
    const testing_support::TemporaryFolder folder("hidden-words");
    makeDirectories(folder.path());
    std::string text;
    for (int i = 0; i < 40; ++i)
        text += "the relation of object " + std::to_string(i) + " is true. ";
    writeTextFile(folder / "text.txt", text);
    const auto path = folder / "text.txt";
    const auto data = std::dynamic_pointer_cast<const HiddenWords>(
        openEvaluationText(m_model, {"", path, "", 0}));
    ASSERT_TRUE(data);
    const auto n = data->context();
    EXPECT_EQ(data->hiddenEach(),
              static_cast<std::int64_t>(std::ceil(0.15 * static_cast<double>(n))));
    const std::vector<std::int64_t> first = {0, 0};
    const auto batch = makeBatch(*data, first.data(), 2);
    EXPECT_TRUE(batch.inputs[0].equal(batch.inputs[1]));  // drawn alike each time
    const auto hidden = batch.targets[0].ne(-1);
    EXPECT_EQ(hidden.sum().item<std::int64_t>(), data->hiddenEach());
    EXPECT_TRUE(batch.inputs[0].masked_select(hidden).eq(data->mask()).all().item<bool>());
    std::vector<std::int64_t> window(static_cast<std::size_t>(n) + 1);
    data->read(0, window);
    const auto whole = torch::tensor(window).slice(0, 0, n);
    EXPECT_TRUE(torch::where(hidden, batch.targets[0], batch.inputs[0]).equal(whole));
    const auto shorter = std::dynamic_pointer_cast<const HiddenWords>(withShorterWindows(data, 9));
    ASSERT_TRUE(shorter);
    EXPECT_EQ(shorter->hiddenEach(), 2);
    // The mean over hidden words.
    const auto result = m_model.evaluate(data, 4);
    double sum = 0.0, count = 0.0;
    const torch::NoGradGuard noGrad;
    for (std::int64_t i = 0; i < data->size(); ++i) {
        const auto one = makeBatch(*data, &i, 1);
        const auto scores = torch::log_softmax(m_forward->model().forward(one.inputs), -1)[0];
        for (std::int64_t k = 0; k < n; ++k)
            if (const auto target = one.targets[0][k].item<std::int64_t>(); target >= 0)
                sum -= scores[k][target].item<double>(), count += 1.0;
    }
    EXPECT_NEAR(result.loss, sum / count, 1e-4);
}

TEST_F(Encoder, WordsAreThoseOfTheGoldenCase) {
    const auto io = readTensors(kFamilies + "bert/io.safetensors");
    std::vector<std::int32_t> ids;
    const auto words = m_model.tokenizer()->wordsOf("unchanged words don't agree.", ids);
    const auto inner = [&](const char* name) {
        const auto row = io.at(name)[0].slice(0, 1, -1).to(torch::kInt).contiguous();
        const auto* first = row.const_data_ptr<std::int32_t>();
        return std::vector<std::int32_t>(first, first + row.numel());
    };
    EXPECT_EQ(ids, inner("pll/tokens"));
    EXPECT_EQ(words, inner("pll/words"));
}

TEST_F(Encoder, PairsAreScoredByHiddenWords) {
    const auto pairs = std::make_shared<ListedPairs>(
        DatasetInfo{"pairs"},
        std::vector<MinimalPair>{{"unbelievable relationships", {"unchanged relationships"}},
                                 {"it isn't true", {"it don't true"}, "it"}});
    const auto& tokenizer = *m_model.tokenizer();
    const auto tokens = tokenizePairs(*pairs, {0, 1}, tokenizer, m_model.options().tokens(), true);
    const auto mask = *tokenizer.maskToken();
    const torch::NoGradGuard noGrad;
    // By the definition: each token with it and the later tokens of its word hidden.
    const auto plain = [&](const std::string& text, std::size_t from) {
        std::vector<std::int32_t> own;
        const auto words = tokenizer.wordsOf(text, own);
        const auto typed = tokenizer.encodeTyped(text);
        double sum = 0.0;
        for (std::size_t t = from; t < own.size(); ++t) {
            std::vector<std::int64_t> row(typed.begin(), typed.end());
            for (auto k = t; k < own.size(); ++k)
                if (words[k] == words[t]) row[k + 1] = mask;
            const auto scores = m_forward->model().forward(torch::tensor(row).unsqueeze(0));
            sum += torch::log_softmax(scores[0][static_cast<std::int64_t>(t) + 1], 0)[own[t]]
                       .item<double>();
        }
        return sum;
    };
    m_subject.data = pairs;
    const auto answer = runnerOf(analysisNamed("pair-accuracy")).run(m_subject, {}, {});
    const auto& table = answer.table("pairs");
    EXPECT_NEAR(table.numbers("good_score")[0], plain("unbelievable relationships", 0), 1e-4);
    EXPECT_NEAR(table.numbers("bad_score")[0], plain("unchanged relationships", 0), 1e-4);
    EXPECT_NEAR(table.numbers("good_score")[1], plain("it isn't true", 1), 1e-4);
    EXPECT_NEAR(table.numbers("bad_score")[1], plain("it don't true", 1), 1e-4);
    EXPECT_EQ(tokens.sentences[0].words.front(), -1);
    EXPECT_EQ(tokens.sentences[0].words.back(), -1);
}

}  // namespace
}  // namespace relascope
