// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints of Relational BabyLM: what is refused and how, documents, and the sizes of the
// published models. Their numbers are those of golden_test.cpp.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "analysis/verify/verify.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "model/architecture.h"
#include "model/attention/relational_attention.h"
#include "model/decode/generate.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "support/golden_copy.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using Json = nlohmann::ordered_json;

struct RelationalCopy : testing_support::GoldenCopy {
    explicit RelationalCopy(const std::string& name) : GoldenCopy("public/" + name) {}
    void config(const std::function<void(Json&)>& change) const { json("config.json", change); }
};

void expectAll(const std::string& text, const std::vector<std::string>& parts) {
    for (const auto& part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

ModelOptions datOf(const Json& config) {
    // As it is read from a file, where whole numbers have no sign.
    return core::modelOfFamily(*core::findFamily("dat"), Json::parse(config.dump()));
}

TEST(RelationalFamilies, HaveTheDefaultsOfTheirClasses) {
    const auto dat = datOf(Json::object());
    const auto& o = dat.get<PublicDualDecoderOptions>();
    EXPECT_EQ(o.vocab_size, 16384);
    EXPECT_EQ(o.max_block_size, 513);
    EXPECT_EQ(o.d_model, 256);
    EXPECT_EQ(o.dff, 1024);
    EXPECT_EQ(o.activation, "exact_gelu");
    EXPECT_EQ(o.n_symbols, 513);
    EXPECT_EQ(o.symbol_heads, 4);
    EXPECT_FALSE(o.symbol_bias);
    EXPECT_EQ(o.document_start, 2);
    EXPECT_EQ(o.padding, 0);
    EXPECT_TRUE(o.tie_word_embeddings);
    EXPECT_EQ(
        datOf({{"symbol_retrieval", "relative"}, {"max_rel_pos", nullptr}}).number("max_rel_pos"),
        256);
    const auto plain = core::modelOfFamily(*core::findFamily("transformer"), Json::object());
    EXPECT_EQ(plain.number("d_model"), 192);
    EXPECT_EQ(plain.number("dff"), 768);
    EXPECT_EQ(plain.number("max_block_size"), 514);
}

// Of the two published models nothing but their configuration is here.
TEST(RelationalFamilies, CountTheParametersOfThePublishedModels) {
    Json config = {{"vocab_size", 16384},
                   {"max_seq_len", 514},
                   {"max_rel_pos", 512},
                   {"norm_type", "layernorm"},
                   {"ffn_activation", "swiglu"},
                   {"use_bias_out", false},
                   {"tie_lm_head", false},
                   {"symbol_retrieval", "relative"},
                   {"relative_symbols_rope", true},
                   {"sequence_boundary_policy", "document_boundary"}};
    auto large = config, small = config;
    large.update({{"n_layers", 16},
                  {"hidden_dim", 1024},
                  {"n_heads_sa", 12},
                  {"n_heads_ra", 4},
                  {"ra_n_relations", 4}});
    small.update({{"n_layers", 18},
                  {"hidden_dim", 768},
                  {"n_heads_sa", 9},
                  {"n_heads_ra", 3},
                  {"ra_type", "rca"}});
    EXPECT_EQ(countParameters(datOf(large)).total, 304'318'464);
    EXPECT_EQ(countParameters(datOf(small)).total, 191'235'072);
}

TEST(RelationalFamilies, RefuseWhatTheyDoNotCompute) {
    struct Refused {
        const char *name, *key;
        Json value;
        std::vector<std::string> parts;
    };
    const std::vector<Refused> all = {
        {"dat_ra_rope_symbols", "pe_type", "alibi", {"pe_type", "alibi", "rope"}},
        {"dat_ra_rope_symbols", "ffn_activation", "relu", {"ffn_activation", "relu", "swiglu"}},
        {"dat_ra_rope_symbols", "ffn_hidden_dim_mode", "two_thirds", {"ffn_hidden_dim_mode"}},
        {"dat_ra_rope_symbols", "norm_type", "none", {"norm_type", "none", "rmsnorm"}},
        {"dat_ra_rope_symbols", "symbol_retrieval", "random", {"symbol_retrieval", "random"}},
        {"dat_ra_rope_symbols", "ra_type", "hadamard", {"ra_type", "hadamard", "disrca"}},
        {"dat_ra_rope_symbols", "ra_rel_activation", "relu", {"ra_rel_activation", "relu"}},
        {"dat_ra_rope_symbols", "sequence_boundary_policy", "x", {"sequence_boundary_policy"}},
        {"dat_ra_rope_symbols", "n_heads_sa", 0, {"n_heads_sa", "0", "1"}},
        {"dat_ra_rope_symbols", "n_heads_ra", 0, {"n_heads_ra", "0", "1"}},
        {"dat_ra_rope_symbols", "n_heads_sa", 3, {"hidden_dim", "48", "5"}},
        {"dat_ra_rope_symbols", "hidden_dim", 44, {"hidden_dim", "44", "11", "even"}},
        {"dat_ra_rope_symbols", "ra_n_relations", 5, {"ra_n_relations", "5", "24"}},
        {"dat_rca_rope_symbols", "ra_n_relations", 4, {"ra_n_relations", "4", "ra_type ra"}},
        {"dat_rca_rope_symbols", "ra_symmetric_rels", true, {"ra_symmetric_rels", "ra_type ra"}},
        {"dat_ra_rope_symbols", "symbol_dim", 15, {"symbol_dim", "15", "even"}},
        {"dat_disrca_sinusoidal_padding", "symbol_dim", 15, {"symbol_dim", "15", "even"}},
        {"dat_disrca_sinusoidal_padding",
         "relative_symbols_rope",
         true,
         {"relative_symbols_rope", "symbol_retrieval relative"}},
        {"dat_ra_rope_symbols",
         "positional_symbols_sinusoidal",
         true,
         {"positional_symbols_sinusoidal", "symbol_retrieval positional"}},
        {"dat_ra_symbolic_symmetric",
         "symbolic_attn_n_heads",
         5,
         {"symbolic_attn_n_heads", "5", "36"}},
        {"dat_ra_symbolic_symmetric", "symbol_dim", 21, {"symbolic_attn_n_heads", "2", "21"}},
        {"dat_ra_relsymbolic", "relsymbolic_rel_n_heads", 5, {"relsymbolic_rel_n_heads", "5"}},
        {"dat_ra_relsymbolic", "relsymbolic_rel_scale", -1.0, {"relsymbolic_rel_scale", "-1"}},
        {"dat_ra_relsymbolic", "relsymbolic_neighborhood_size", 0, {"neighborhood_size", "0"}},
        {"dat_ra_rope_symbols", "n_layers", 1000000000, {"n_layers", "1000"}},
        {"dat_ra_rope_symbols", "vocab_size", 1000000000, {"vocab_size"}},
        {"dat_ra_rope_symbols", "max_rel_pos", 1000000000, {"max_rel_pos"}},
        {"dat_ra_rope_symbols", "dff_factor", 1000000000, {"dff_factor"}},
        {"dat_ra_rope_symbols", "pad_token_id", -3, {"pad_token_id", "-3"}},
        {"dat_ra_rope_symbols",
         "architectures",
         {"DatForSequenceClassification"},
         {"DatForSequenceClassification", "DatForCausalLM"}},
        {"transformer_baseline", "ffn_activation", "swiglu", {"ffn_activation", "swiglu"}},
        {"transformer_baseline", "n_heads", 5, {"hidden_dim", "32", "5"}},
    };
    for (const auto& refused : all) {
        SCOPED_TRACE(std::string(refused.name) + " " + refused.key);
        const RelationalCopy copy(refused.name);
        copy.config([&](Json& c) { c[refused.key] = refused.value; });
        expectAll(copy.problem(), refused.parts);
        EXPECT_THROW(core::OpenedModel(copy.path(), "", "cpu"), Error);
    }
    // Of symbols that are not chosen, nothing counts.
    const RelationalCopy other("dat_ra_rope_symbols");
    other.config([](Json& c) {
        c["relsymbolic_rel_n_heads"] = 5, c["relsymbolic_rel_scale"] = -1.0, c["n_symbols"] = -1;
        c["architectures"] = "DatForCausalLM";
        c["tie_word_embeddings"] = true;  // tie_lm_head decides
    });
    EXPECT_EQ(other.problem(), "");
    EXPECT_TRUE(readCheckpointInfo(other.path()).unusedKeys.empty());
    EXPECT_TRUE(verifyFolder(other.path()).ok);
    // Others use the model_type of the baseline.
    const RelationalCopy named("transformer_baseline");
    named.config([](Json& c) { c.erase("architectures"), c.erase("auto_map"); });
    expectAll(named.problem(), {"transformer"});
}

TEST(RelationalFamilies, SayWhatIsWrongWithTheirTensors) {
    const RelationalCopy output("dat_ra_rope_symbols");
    output.tensors([](auto& all) { all.erase("model.lm_head.weight"); });
    expectAll(output.problem(), {"model.lm_head.weight", "not in the file"});

    const RelationalCopy symmetric("dat_ra_symbolic_symmetric");
    const std::string at = "model.layers.0.relational_attention.";
    symmetric.tensors([&](auto& all) { all[at + "wq_rel.weight"] = all.at(at + "wk_rel.weight"); });
    EXPECT_EQ(symmetric.problem(), "") << "both names, and equal";
    EXPECT_TRUE(verifyFolder(symmetric.path()).ok);
    symmetric.tensors(
        [&](auto& all) { all[at + "wq_rel.weight"] = all.at(at + "wk_rel.weight") + 1; });
    expectAll(symmetric.problem(), {at + "wq_rel.weight", at + "wk_rel.weight", "differs"});
    EXPECT_THROW(core::OpenedModel(symmetric.path(), "", "cpu"), Error);

    const RelationalCopy tied("dat_ra_symbolic_symmetric");
    tied.tensors([](auto& all) {
        all["model.lm_head.weight"] = all.at("model.token_embeddings.weight") + 1;
    });
    expectAll(tied.problem(), {"lm_head", "token_embeddings", "differs"});

    const RelationalCopy rows("dat_rca_tanh_learned_relative");
    rows.config([](Json& c) { c["max_rel_pos"] = 6; });
    expectAll(rows.problem(), {"rel_pos_embeddings_table.weight", "11", "13", "max_rel_pos"});
}

TEST(RelationalFamilies, OpenWithoutAPrefix) {
    const RelationalCopy copy("dat_rca_sigmoid_rope_symbols");
    copy.rename([](const std::string& name) { return name.substr(6); });  // "model."
    EXPECT_TRUE(verifyFolder(copy.path()).ok);
}

// Which cells a text leaves open: an end begins the next document, and padding is closed.
TEST(Documents, CloseCellsOfOtherDocumentsAndOfPadding) {
    const DocumentOptions options{2, 3};
    EXPECT_FALSE(core::documentsOf(torch::tensor({{5, 6, 7}}), options));
    EXPECT_FALSE(core::documentsOf(torch::tensor({{2, 6, 7}}), options)) << "begins there anyway";
    const auto documents = core::documentsOf(torch::tensor({{5, 2, 7, 3, 2, 8}}), options);
    ASSERT_TRUE(documents);
    const auto open =
        core::closedCells(6, 6, 0, torch::kCPU, 0, documents).logical_not()[0][0].to(torch::kLong);
    const auto expected = torch::tensor({{1, 0, 0, 0, 0, 0},
                                         {0, 1, 0, 0, 0, 0},
                                         {0, 1, 1, 0, 0, 0},
                                         {0, 0, 0, 0, 0, 0},
                                         {0, 0, 0, 0, 1, 0},
                                         {0, 0, 0, 0, 1, 1}});
    EXPECT_TRUE(open.equal(expected)) << open;
}

struct Loaded {
    explicit Loaded(const std::string& path)
        : source(CheckpointSource::open(path)), options(checkpointModel(*source)) {
        model = makeModel(options);
        loadWeights(*model, options, *source);
        model->eval();
    }
    torch::Tensor logits(const std::vector<std::int64_t>& tokens) const {
        const torch::NoGradGuard noGrad;
        return model->forward(torch::tensor(tokens).unsqueeze(0))[0];
    }
    std::unique_ptr<CheckpointSource> source;
    ModelOptions options;
    ModelPtr model;
};

// Behind an end token a model with symbols by offset or by content computes what it computes for
// the text that begins there: in one pass, and token by token.
TEST(Documents, BehindAnEndEqualTheTextThatBeginsThere) {
    const std::vector<std::int64_t> before = {11, 12, 13, 14, 3, 15}, text = {2, 20, 21, 22, 23};
    auto both = before;
    both.insert(both.end(), text.begin(), text.end());
    for (const std::string name :
         {"dat_rca_rope_symbols", "dat_ra_rope_symbols", "dat_rca_sigmoid_rope_symbols",
          "dat_rca_tanh_learned_relative", "dat_ra_symbolic_symmetric", "transformer_baseline"}) {
        SCOPED_TRACE(name);
        const Loaded loaded(std::string(RELASCOPE_FIXTURES) + "/golden/public/" + name);
        const auto alone = loaded.logits(text);
        const auto behind = loaded.logits(both).slice(0, static_cast<std::int64_t>(before.size()));
        EXPECT_LT((alone - behind).abs().max().item<float>(), 2e-5F);
        LanguageReader reader(*loaded.model, loaded.options);
        reader.read(before);
        for (std::size_t i = 0; i < text.size(); ++i) {
            const auto row = reader.read(std::span(text).subspan(i, 1));
            EXPECT_LT((row - alone[static_cast<std::int64_t>(i)]).abs().max().item<float>(), 2e-5F)
                << i;
        }
    }
}

// Every form of attention computes documents and padding alike, also in blocks of rows.
TEST(Documents, AreTheSameInEveryForm) {
    for (const std::string name : {"dat_ra_rope_symbols", "dat_rca_sigmoid_rope_symbols",
                                   "dat_ra_softmax_positional_postnorm",
                                   "dat_disrca_sinusoidal_padding", "transformer_baseline"}) {
        SCOPED_TRACE(name);
        const RelationalCopy copy(name);
        copy.config([](Json& c) { c["max_seq_len"] = 400; });
        if (readCheckpointInfo(copy.path()).problems.empty()) {
            const Loaded loaded(copy.path());
            const auto vocabulary = loaded.options.outputs();
            torch::manual_seed(3);
            auto tokens = torch::randint(4, vocabulary, {2, 300}, torch::kLong);
            tokens[0][90] = 2, tokens[0][200] = 2, tokens[1][140] = 2;
            if (name.ends_with("padding")) tokens[1][141] = 3;
            const torch::NoGradGuard noGrad;
            torch::Tensor first;
            for (const auto form :
                 {AttentionForm::Explicit, AttentionForm::Automatic, AttentionForm::Chunked,
                  AttentionForm::Fused, AttentionForm::Tiled, AttentionForm::Factored}) {
                for (const auto& module : loaded.model->modules(false)) {
                    if (auto* sensory = module->as<AttentionImpl>()) sensory->form = form;
                    if (auto* heads = dynamic_cast<RelationalHeadsImpl*>(module.get()))
                        heads->form = form;
                }
                const auto logits = loaded.model->forward(tokens);
                if (!first.defined()) first = logits;
                EXPECT_LT((logits - first).abs().max().item<float>(), 5e-5F)
                    << core::attentionFormName(form);
                EXPECT_TRUE(torch::isfinite(logits).all().item<bool>());
            }
        }
    }
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)

// The most memory of this process since the last call with `reset`, in MiB; -1: not known here.
std::int64_t peakMemory(bool reset) {
    if (reset) {
        std::ofstream clear("/proc/self/clear_refs");
        if (!(clear << 5 << std::flush)) return -1;
    }
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) / 1024;
    return -1;
}

// 2,048 tokens with 16 relations of width 4 and rotary symbols of width 64: a tensor of n x n x 16
// would take 256 MiB, and one of n x n x 64 a gigabyte.
TEST(RelationalFamilies, KeepNothingOfTheSizeOfAllRelations) {
    Json config = {{"vocab_size", 50},     {"max_seq_len", 2048},
                   {"hidden_dim", 64},     {"n_layers", 2},
                   {"n_heads_sa", 2},      {"n_heads_ra", 2},
                   {"ra_n_relations", 16}, {"symbol_retrieval", "relative"},
                   {"max_rel_pos", 512},   {"relative_symbols_rope", true},
                   {"symbol_dim", 64},     {"ffn_activation", "swiglu"}};
    const auto model = makeModel(datOf(config));
    model->eval();
    const torch::NoGradGuard noGrad;
    auto tokens = torch::randint(4, 50, {1, 2048}, torch::kLong);
    for (const bool documents : {false, true}) {
        if (documents) tokens[0][700] = 2;
        model->forward(tokens.slice(1, 0, 64));
        const auto before = peakMemory(true);
        if (before < 0) GTEST_SKIP() << "the peak of memory is not known here";
        EXPECT_TRUE(torch::isfinite(model->forward(tokens)).all().item<bool>());
        EXPECT_LT(peakMemory(false) - before, 150) << (documents ? "two documents" : "one");
    }
}

#endif

}  // namespace
}  // namespace relascope
