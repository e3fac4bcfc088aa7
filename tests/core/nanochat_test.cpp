// SPDX-License-Identifier: GPL-3.0-or-later
// nanochat's checkpoints, plain ones and those with Hadamard relations: what opens, what is refused
// and how, that they are written as they were read, and what only their form has. Their numbers are
// those of golden_test.cpp.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/attribute/attribution.h"
#include "analysis/verify/verify.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/family_form.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "interventions/edited_run.h"
#include "interventions/editor.h"
#include "model/architecture.h"
#include "model/blocks/parameters.h"
#include "model/decode/generate.h"
#include "model/decode/row_decoder.h"
#include "model/nanochat/nanochat_options.h"
#include "model/public/family.h"
#include "options/published_config.h"
#include "support/golden_copy.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/small_memory.h"
#include "text/tokenizer.h"

namespace relascope {
namespace {

using namespace testing_support;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const std::vector<std::string> kNanochats = {
    "nanochat_hadamard_all_relational", "nanochat_hadamard_half", "nanochat_hadamard_half_of_five",
    "nanochat_standard_old"};

std::string golden(const std::string& name) {
    return std::string(RELASCOPE_FIXTURES) + "/golden/" + name;
}

std::string allOf(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

struct Opened {
    explicit Opened(const std::string& path)
        : source(CheckpointSource::open(path)), options(checkpointModel(*source)) {
        model = makeModel(options);
        loadWeights(*model, options, *source);
        model->eval();
    }
    std::unique_ptr<CheckpointSource> source;
    ModelOptions options;
    ModelPtr model;
};

void expectSaid(const std::string& text, const std::vector<std::string>& parts) {
    for (const auto& part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(Nanochat, HasTheShapesOfItsModels) {
    std::vector<ModelOptions> all;
    for (const auto& name : kNanochats) all.push_back(Opened(golden(name)).options);
    ModelOptions own(core::kHadamardLM);
    put(own, "d_model", 36), put(own, "n_heads_sa", 4), put(own, "n_heads_ra", 2);
    put(own, "n_kv_heads", 2), put(own, "vocab_size", 70), put(own, "window_pattern", "sL");
    all.push_back(own);
    put(own, "use_residual_augmentation", false);
    all.push_back(own);
    for (const auto& options : all) {
        const auto shapes = modelShapes(options);
        const auto state = stateOf(*makeModel(options));
        ASSERT_EQ(shapes.size(), state.size());
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            EXPECT_EQ(shapes[i].name, state[i].name);
            EXPECT_EQ(shapes[i].shape, state[i].tensor.sizes().vec()) << shapes[i].name;
        }
    }
}

TEST(Nanochat, OpensTheLargestNumberOfAFolderOrAFileByItsName) {
    const GoldenCopy copy("nanochat_hadamard_all_relational");
    EXPECT_EQ(fs::path(CheckpointSource::open(copy.path())->files().at(0)).filename(),
              "model_000200.pt");
    EXPECT_EQ(fs::path(CheckpointSource::open(copy.path() + "/model_000010.pt")->files().at(0))
                  .filename(),
              "model_000010.pt");
    const auto info = readCheckpointInfo(copy.path());
    EXPECT_TRUE(info.loads());
    EXPECT_EQ(info.title, "nanochat with Hadamard relations");
    EXPECT_EQ(info.configFrom, "meta_000200.json");
    EXPECT_EQ(info.tensors.at(0).name, "resid_lambdas");

    fs::rename(copy.path() + "/meta_000200.json", copy.path() + "/other.json");
    expectSaid(copy.problem(), {"model_000200.pt", "needs meta_000200.json", "meta_000010.json"});
    fs::remove(copy.path() + "/meta_000010.json");
    expectSaid(copy.problem(), {"needs meta_000200.json", "copy it there"});
}

TEST(Nanochat, RefusesByKeyAndValue) {
    struct Refused {
        const char* key;
        Json value;
        std::vector<std::string> parts;
    };
    const std::vector<Refused> all = {
        {"attention_impl", "abstractor_reference", {"abstractor_reference", "hadamard_dual"}},
        {"window_pattern", "SXL", {"window_pattern", "SXL"}},
        {"window_pattern", "", {"window_pattern"}},
        {"n_kv_head", 3, {"n_kv_head", "3"}},
        {"n_embd", 36 + 12, {}},
        {"n_embd", 20, {"n_embd", "even"}},
        {"n_embd", 41, {"n_embd", "41"}},
        {"dual_rel_head_proportion", 1.5, {"dual_rel_head_proportion", "1.5"}},
        {"dual_rel_head_proportion", -0.5, {"dual_rel_head_proportion", "-0.5"}},
        {"residual_stride", 0, {"residual_stride", "0"}},
        {"residual_gate_channels", 41, {"residual_gate_channels", "41", "40"}},
        {"residual_gate_channels", 1000000000, {"residual_gate_channels"}},
        {"n_layer", 1000000000, {"n_layer", "1000"}},
        {"vocab_size", 1000000000, {"vocab_size"}},
        {"sequence_len", 1000000000, {"sequence_len"}},
        {"sequence_len", nullptr, {"sequence_len", "null"}},
        {"n_layer", "four", {"n_layer"}},
        {"brand_new_key", 3, {"brand_new_key", "later ones compute otherwise"}}};
    for (const auto& one : all) {
        if (one.parts.empty()) continue;
        const GoldenCopy copy("nanochat_hadamard_half");
        copy.json("meta_000020.json",
                  [&](Json& meta) { meta["model_config"][one.key] = one.value; });
        const auto said = copy.problem();
        EXPECT_NE(said, "") << one.key;
        expectSaid(said, {"meta_000020.json"});
        expectSaid(said, one.parts);
    }
    for (const char* key :
         {"sequence_len", "vocab_size", "n_layer", "n_head", "n_kv_head", "n_embd"}) {
        const GoldenCopy copy("nanochat_standard_old");
        copy.json("meta_000020.json", [&](Json& meta) { meta["model_config"].erase(key); });
        expectSaid(copy.problem(), {key, "is missing"});
    }
    const GoldenCopy copy("nanochat_standard_old");
    for (const char* text : {"{}", "[]", "{\"model_config\": 3}", "no JSON"}) {
        copy.write("meta_000020.json", text);
        expectSaid(copy.problem(), {"meta_000020.json"});
    }
}

TEST(Nanochat, NeedsEveryTensorButTheLambdas) {
    const GoldenCopy copy("nanochat_hadamard_half");
    convertCheckpoint(copy.path(), copy.path() + "/folder");
    const auto weights = copy.path() + "/folder/model.safetensors";
    const auto without = [&](const std::string& name) {
        auto all = readTensors(weights);
        EXPECT_EQ(all.erase(name), 1u) << name;
        saveTensors(copy.path() + "/one.safetensors", {all.begin(), all.end()});
        fs::copy(copy.path() + "/folder/config.json", copy.path() + "/config.json",
                 fs::copy_options::overwrite_existing);
        const auto info = readCheckpointInfo(copy.path() + "/one.safetensors");
        return info.problems.empty() ? std::string() : info.problems.front().subject;
    };
    EXPECT_EQ(without("x0_lambdas"), "");
    EXPECT_EQ(without("lm_head.weight"), "lm_head.weight");
    EXPECT_EQ(without("value_embeds.1.weight"), "value_embeds.1.weight");
    EXPECT_EQ(without("transformer.h.1.attn.impl.ra_residual_gate.weight"),
              "transformer.h.1.attn.impl.ra_residual_gate.weight");
    EXPECT_EQ(without("transformer.h.0.attn.impl.c_xk_rel.weight"),
              "transformer.h.0.attn.impl.c_xk_rel.weight");
}

TEST(Nanochat, IsConvertedToTheBit) {
    for (const auto& name : kNanochats) {
        SCOPED_TRACE(name);
        const TemporaryFolder home("nanochat");
        fs::create_directories(home / "again");
        const auto before = CheckpointSource::open(golden(name));
        convertCheckpoint(golden(name), home / "folder");
        convertCheckpoint(home / "folder", home / "one.safetensors");
        convertCheckpoint(home / "one.safetensors", home / "one.pt");
        convertCheckpoint(home / "folder", home / "again/model_000123.pt");
        for (const std::string path : {"folder", "one.safetensors", "one.pt", "again"}) {
            const auto after = CheckpointSource::open(home / path);
            ASSERT_EQ(after->tensors().size(), before->tensors().size()) << path;
            for (const auto& tensor : before->tensors()) {
                const auto* found = after->find(tensor.name);
                ASSERT_NE(found, nullptr) << path << " " << tensor.name;
                EXPECT_EQ(found->dtype, tensor.dtype);
                EXPECT_EQ(found->shape, tensor.shape);
                std::vector<std::uint8_t> a(tensor.bytes), b(tensor.bytes);
                before->read(tensor, a);
                after->read(*found, b);
                EXPECT_EQ(a, b) << path << " " << tensor.name;
            }
            EXPECT_TRUE(readCheckpointInfo(home / path).loads()) << path;
        }
        const auto meta = fs::path(before->files().back());
        EXPECT_EQ(allOf(home / ("folder/" + meta.filename().string())), allOf(meta));
        EXPECT_EQ(allOf(home / "again/meta_000123.json"), allOf(meta));
        for (const char* file : {"tokenizer.pkl", "tokenizer.json"})
            if (fs::exists(golden(name) + "/" + file)) {
                EXPECT_EQ(allOf(home / (std::string("folder/") + file)),
                          allOf(golden(name) + "/" + file));
            }
    }
}

// What a run writes again: the names and types of the file, and the lambdas, which it trains.
TEST(Nanochat, RunsKeepTheFormOfTheFile) {
    for (const std::string name : {"nanochat_hadamard_all_relational", "nanochat_standard_old"}) {
        SCOPED_TRACE(name);
        const TemporaryFolder run("nanochat-run");
        const Opened opened(golden(name));
        writeFamilyForm(*opened.source, opened.options, {}, run.path());
        const auto form = readFamilyForm(run.path(), opened.options);
        ASSERT_TRUE(form);
        std::map<std::string, std::string> types;
        for (const auto& tensor : form->tensors) types[tensor.name] = tensor.dtype;
        EXPECT_EQ(types.at("resid_lambdas"), "F32");
        EXPECT_EQ(types.at("x0_lambdas"), "F32");
        EXPECT_EQ(types.at("transformer.wte.weight"),
                  name == "nanochat_standard_old" ? "F32" : "BF16");
        EXPECT_EQ(types.size(), core::fileTensors(opened.options).size());
        const auto config = allOf(familyFolder(run.path()) + "/config.json");
        EXPECT_EQ(modelFromPublishedConfig(config), opened.options);
    }
}

// Greedy tokens with the cache are those of whole passes, also beyond the windows.
TEST(Nanochat, GeneratesTheSameWithAndWithoutTheCache) {
    for (const auto& name : kNanochats) {
        SCOPED_TRACE(name);
        const Opened opened(golden(name));
        EXPECT_FALSE(RowDecoder::takes(*opened.model, opened.options));
        const auto io = readTensors(golden(name) + "/io.safetensors");
        const auto prompt = io.at("generate/prompt"), greedy = io.at("generate/greedy");
        LanguageReader reader(*opened.model, opened.options);
        std::vector<std::int64_t> next(prompt.const_data_ptr<std::int64_t>(),
                                       prompt.const_data_ptr<std::int64_t>() + prompt.numel());
        auto all = next;
        for (auto at = prompt.size(1); at < greedy.size(1); ++at) {
            const auto logits = reader.read(next);
            EXPECT_EQ(logits.size(0), opened.options.outputs());
            const auto whole =
                opened.model->forward(torch::tensor(all).unsqueeze(0)).select(1, -1)[0].detach();
            EXPECT_LT((logits - whole).abs().max().item<float>(), 2e-5F) << at;
            next = {logits.argmax().item<std::int64_t>()};
            all.push_back(next[0]);
            EXPECT_EQ(next[0], greedy[0][at].item<std::int64_t>());
        }
        const auto longest = opened.options.tokens();
        EXPECT_THROW(opened.model->forward(torch::zeros({1, longest + 1}, torch::kLong)),
                     OptionError);
    }
}

// The parts of a logit add up to what the soft cap is applied to, with every lambda in its place.
TEST(Nanochat, LogitsAreTheSumsOfTheirParts) {
    for (const auto& name : kNanochats) {
        SCOPED_TRACE(name);
        const Opened opened(golden(name));
        const auto io = readTensors(golden(name) + "/io.safetensors");
        const auto tokens = io.at("input/tokens").slice(0, 0, 1);
        AttributionOptions what;
        what.answer = 7, what.position = 5;
        const auto parts = attributeLogit(*opened.model, opened.options, tokens, what);
        EXPECT_NEAR(parts.sum(), parts.logit, 2e-4);
        const double capped = 15.0 * std::tanh(parts.logit / 15.0);
        EXPECT_NEAR(capped, io.at("output/logits")[0][5][7].item<double>(), 1e-4);
        // The relations of width 1 are inside their heads.
        double heads = 0.0, relations = 0.0;
        for (const auto& part : parts.parts) {
            if (part.kind == PartKind::RelationalHead) heads += part.value;
            if (part.kind == PartKind::Relation) relations += part.value;
        }
        EXPECT_NEAR(heads, relations, 1e-6);
    }
}

torch::Tensor editedLogits(const Opened& opened, const ModelInput& input, const Edit& edit) {
    EditList list;
    list.edits = {edit};
    Editor editor(list);
    return forwardEdited(*opened.model, input, editor);
}

// Relations that are only scaled are so without r; the result is that of r itself.
TEST(Nanochat, EditsOfRelationsAreThoseOfTheirFactors) {
    const Opened opened(golden("nanochat_hadamard_half"));
    const torch::NoGradGuard noGrad;
    const auto io = readTensors(golden("nanochat_hadamard_half") + "/io.safetensors");
    const ModelInput input = io.at("input/tokens");
    const auto plain = opened.model->forward(input);
    Edit zero;
    zero.op = EditOp::Zero, zero.point = "blocks.1.rel.hook_r";
    zero.selection["relation"].places = {3, 17};
    auto set = zero;
    set.op = EditOp::Set, set.values.numbers = {0.0};
    const auto byFactors = editedLogits(opened, input, zero),
               whole = editedLogits(opened, input, set);
    EXPECT_GT((plain - whole).abs().max().item<double>(), 5e-5);
    EXPECT_LT((byFactors - whole).abs().max().item<double>(), 1e-5);
    // So is one factor, and the output of all heads without their relations.
    zero.point = "blocks.1.rel.hook_rel_q";
    EXPECT_LT((editedLogits(opened, input, zero) - whole).abs().max().item<double>(), 1e-5);
    zero.point = "blocks.1.rel.hook_rel_k";
    EXPECT_LT((editedLogits(opened, input, zero) - whole).abs().max().item<double>(), 1e-5);
    zero.point = "blocks.1.rel.hook_r", zero.selection.clear();
    auto heads = zero;
    heads.point = "blocks.1.rel.hook_z";
    EXPECT_LT((editedLogits(opened, input, zero) - editedLogits(opened, input, heads))
                  .abs()
                  .max()
                  .item<double>(),
              1e-5);
}

TEST(Nanochat, HasThePointsOfItsForm) {
    const Opened opened(golden("nanochat_hadamard_half"));
    const auto points = pointsOf(*opened.model, torch::tensor({{1, 2, 3}}));
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (const auto& point : points) shapes[point.name] = point.shape;
    using Shape = std::vector<std::int64_t>;
    EXPECT_EQ(shapes.at("blocks.0.rel.hook_r"), (Shape{1, 3, 3, 20}));
    EXPECT_EQ(shapes.at("blocks.0.rel.hook_rel_q"), (Shape{1, 3, 20, 1}));
    EXPECT_EQ(shapes.at("blocks.0.rel.hook_rel_k"), (Shape{1, 3, 20, 1}));
    EXPECT_EQ(shapes.at("blocks.0.rel.hook_z"), (Shape{1, 3, 2, 10}));
    EXPECT_EQ(shapes.at("blocks.0.attn.hook_pattern"), (Shape{1, 2, 3, 3}));
    for (const char* name : {"hook_embed", "blocks.0.hook_resid_pre", "blocks.0.attn.hook_rot_q",
                             "blocks.0.attn.hook_v", "blocks.3.hook_resid_post", "hook_logits"})
        EXPECT_TRUE(shapes.count(name)) << name;
}

// A pass without a recorder has no tensor of n x n x d_h.
TEST(Nanochat, HadamardHeadsNeedNoRelations) {
    ModelOptions options(core::kHadamardLM);
    put(options, "d_model", 256), put(options, "n_heads_sa", 1), put(options, "n_heads_ra", 1);
    put(options, "n_layers", 1), put(options, "max_block_size", 2048);
    put(options, "vocab_size", 64);
    const auto model = makeModel(options);
    model->eval();
    const torch::NoGradGuard noGrad;
    SmallMemory memory;
    model->forward(torch::zeros({1, 2048}, torch::kLong));
    // n x n x d_h takes 2 GiB; what is there is the stream, the projections and the feed-forward.
    EXPECT_LT(memory.peak.load(), std::uint64_t{64} << 20);
}

TEST(Nanochat, TokenizersEndTextsAndArePlainData) {
    const GoldenCopy copy("nanochat_hadamard_half");
    const auto tokenizer = openTokenizer(copy.path());
    EXPECT_EQ(tokenizer->ends().size(), 2u);
    EXPECT_EQ(tokenizer->encodeTyped("<|bos|>").size(), 2u);
    EXPECT_GT(tokenizer->encode("<|bos|>").size(), 2u);
    // As a run keeps it.
    writeTokenizer(*tokenizer, copy.path() + "/tokenizer.json");
    const auto kept = openTokenizer(copy.path() + "/tokenizer.json");
    EXPECT_EQ(kept->fingerprint(), tokenizer->fingerprint());
    EXPECT_EQ(kept->ends(), tokenizer->ends());
    fs::remove(copy.path() + "/tokenizer.json");
    // Two folders above the weights, as nanochat has it.
    const auto weights = copy.path() + "/base/d4";
    fs::create_directories(weights);
    fs::create_directories(copy.path() + "/tokenizer");
    fs::rename(copy.path() + "/tokenizer.pkl", copy.path() + "/tokenizer/tokenizer.pkl");
    EXPECT_EQ(tokenizerBeside(weights, 0)->fingerprint(), tokenizer->fingerprint());
}

// A pickle of protocol 4 with an object of that class and the state that `state` spells.
std::string pickled(const std::string& module, const std::string& name, const std::string& state) {
    const auto text = [](const std::string& of) {
        return std::string("\x8c") + static_cast<char>(of.size()) + of;
    };
    return "\x80\x04" + text(module) + text(name) + "\x93)\x81" + state + "b.";
}

// A state with so many bytes as tokens, and the entries of `more` behind them.
std::string rankState(int bytes, const std::string& more, const std::string& special = "") {
    const auto key = [](const std::string& of) {
        return std::string("\x8c") + static_cast<char>(of.size()) + of;
    };
    std::string ranks = "}(";
    for (int byte = 0; byte < bytes; ++byte)
        ranks += std::string("C\x01") + static_cast<char>(byte) + "K" + static_cast<char>(byte);
    return "}(" + key("pat_str") + key(" ?\\w+|.") + key("mergeable_ranks") + ranks + more + "u" +
           key("special_tokens") + "}(" + special + "uu";
}

TEST(Nanochat, RefusesOtherPicklesAndDamagedRanks) {
    const TemporaryFolder home("pickle");
    fs::create_directories(home.path());
    const auto said = [&](const std::string& bytes) -> std::string {
        std::ofstream(home / "tokenizer.pkl", std::ios::binary) << bytes;
        try {
            openTokenizer(home.path());
        } catch (const FileError& error) {
            return error.what();
        }
        return {};
    };
    const std::string core = "tiktoken.core", encoding = "Encoding";
    const std::string next = std::string("C\x02") + "abM" + std::string("\x00\x01", 2),
                      special = std::string("\x8c\x07") + "<|bos|>M" + "\x01\x01";
    EXPECT_EQ(said(pickled(core, encoding, rankState(256, next, special))), "");
    expectSaid(said(pickled("os", "system", "}")), {"os.system", "only a tokenizer of tiktoken"});
    expectSaid(said(pickled("torch._utils", "_rebuild_tensor_v2", "}")), {"_rebuild_tensor_v2"});
    expectSaid(said(pickled(core, encoding, "\x8c\x04gpt2")), {"public encoding, 'gpt2'"});
    expectSaid(said(pickled(core, encoding, "N")), {"without its state"});
    expectSaid(said("\x80\x04}."), {"a dict", "no tokenizer"});
    expectSaid(said(pickled(core, encoding, "}")), {"has no pat_str"});
    expectSaid(said(pickled(core, encoding, rankState(255, ""))), {"lacks the byte 255"});
    expectSaid(said(pickled(core, encoding,
                            rankState(256,
                                      "C\x02"
                                      "abK\x07"))),
               {"the id 7 twice"});
    expectSaid(said(pickled(core, encoding,
                            rankState(256,
                                      "C\x01"
                                      "aM\x01\x01"))),
               {"a token twice"});
    expectSaid(said(pickled(core, encoding,
                            rankState(256,
                                      "C\x02"
                                      "abM\x01\x01"))),
               {"no token of the id 256"});
    expectSaid(
        said(pickled(core, encoding, rankState(256, "", std::string("\x8c\x07") + "<|bos|>K\x07"))),
        {"<|bos|>", "the id 7"});
    expectSaid(said(pickled(core, encoding, rankState(256, "")).substr(0, 900)), {"truncated"});
    expectSaid(said(""), {"tokenizer.pkl"});
}

}  // namespace
}  // namespace relascope
