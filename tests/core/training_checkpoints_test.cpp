// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints as training scripts leave them: wrapped names, tensors beside the model, indices that
// say more or less than their shards, configurations without a type. What nanoGPT saves is that of
// make_training_checkpoints.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "analysis/verify/verify.h"
#include "checkpoint/adapter.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "files/safetensors.h"
#include "model/blocks/parameters.h"
#include "model/decode/generate.h"
#include "model/public/family.h"
#include "model/public/stored_form.h"
#include "support/golden_copy.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using Settings = nlohmann::ordered_json;
using testing_support::TemporaryFolder;
namespace fs = std::filesystem;
using testing_support::NamedTensors;
using Left = testing_support::GoldenCopy;

const std::string kFixtures = RELASCOPE_FIXTURES;

const std::vector<std::string> kCases = {
    "lm_symbolic_rope_gqa",      "vidat_relational_games_mixed", "seq2seq_transformer_math",
    "public/gpt2_tied",          "public/gpt2_hub_names",        "public/llama_gqa_untied",
    "public/llama3_scaled_tied", "public/gpt_neox_parallel",     "public/vit",
    "public/deit_teacher"};

TEST(TrainingCheckpoints, OpenWithTheNamesOfTheirWrappers) {
    for (const auto& name : kCases)
        for (const char* prefix : {"module.", "_orig_mod.module.", "module._orig_mod.", "model.",
                                   "base_model.model.", "net._fsdp_wrapped_module."}) {
            SCOPED_TRACE(name + " " + prefix);
            const Left left(name);
            left.rename([&](const auto& own) { return prefix + own; });
            EXPECT_EQ(left.problem(), "");
            EXPECT_TRUE(verifyFolder(left.path()).ok);
        }
}

TEST(TrainingCheckpoints, LeaveOutWhatStandsBesideTheModel) {
    for (const auto& name : kCases) {
        SCOPED_TRACE(name);
        const Left left(name);
        left.rename([](const auto& own) { return "model." + own; },
                    {{"n_averaged", torch::tensor(3)},
                     {"train_acc.correct", torch::ones({2})},
                     {"loss_fn.weight", torch::ones({4})}});
        const auto info = readCheckpointInfo(left.path());
        EXPECT_TRUE(info.loads());
        ASSERT_EQ(info.leftOut.size(), 3u);
        for (const char* name : {"loss_fn.weight", "n_averaged", "train_acc.correct"})
            EXPECT_TRUE(std::any_of(info.leftOut.begin(), info.leftOut.end(),
                                    [&](const auto& t) { return t.stored == name; }));
        EXPECT_TRUE(verifyFolder(left.path()).ok);
    }
}

TEST(TrainingCheckpoints, SayHowNamesDifferWhereTheyDo) {
    for (const auto& name : kCases) {
        SCOPED_TRACE(name);
        const Left left(name);
        left.rename([](const auto& own) { return "student." + own; });
        EXPECT_NE(left.problem().find("names would fit without the prefix 'student.'"),
                  std::string::npos)
            << left.problem();
        try {
            core::OpenedModel opened(left.path(), "", "cpu");
            FAIL() << "opened";
        } catch (const Error& error) {
            const std::string text = error.what();
            const auto how = text.find("names would fit without the prefix 'student.'; missing: ");
            EXPECT_NE(how, std::string::npos) << text;
        }
    }
}

TEST(TrainingCheckpoints, OfNanoGptComputeWhatTheyDid) {
    for (const std::string name : {"nanogpt", "nanogpt_biases"}) {
        SCOPED_TRACE(name);
        const auto folder = kFixtures + "/training-checkpoints/" + name;
        const auto info = readCheckpointInfo(folder);
        EXPECT_TRUE(info.loads()) << info.problems.front().message;
        EXPECT_EQ(info.title, "nanoGPT");
        EXPECT_EQ(info.configFrom, "model_args");
        const auto report = verifyFolder(folder);
        EXPECT_TRUE(report.ok) << report.worst;

        const auto source = CheckpointSource::open(folder);
        const auto options = checkpointModel(*source);
        auto model = makeModel(options);
        loadWeights(*model, options, *source);
        model->eval();
        // The decoder of single tokens has its own form of each norm.
        const torch::NoGradGuard noGrad;
        LanguageReader reader(*model, options);
        std::vector<std::int64_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6};
        std::vector<std::int64_t> read;
        for (const auto token : tokens) {
            read.push_back(token);
            const auto whole = model->forward(torch::tensor(read).view({1, -1}));
            EXPECT_TRUE(torch::allclose(reader.read(std::vector<std::int64_t>{token}), whole[0][-1],
                                        1e-4, 1e-5));
        }
        // Fused tensors are written as they were read.
        std::map<std::string, torch::Tensor> state;
        for (const auto& entry : stateOf(*model)) state[entry.name] = entry.tensor;
        const FamilyFile file(options, source->tensors());
        for (const auto& tensor : file.tensors()) {
            const auto* stored = file.find(tensor);
            if (!stored || tensor.optional) continue;
            std::vector<torch::Tensor> parts;
            for (const auto& part : tensor.parts) parts.push_back(state.at(part));
            std::vector<float> bytes(static_cast<std::size_t>(stored->count()));
            source->read(*stored, {reinterpret_cast<std::uint8_t*>(bytes.data()), stored->bytes});
            EXPECT_TRUE(
                torch::equal(storedOf(tensor, parts).contiguous().view(-1), torch::tensor(bytes)))
                << tensor.name;
        }
    }
}

TEST(TrainingCheckpoints, OfLlmcComputeWhatTheyDid) {
    for (const std::string name : {"llmc", "llmc_bfloat16"}) {
        SCOPED_TRACE(name);
        const auto folder = kFixtures + "/training-checkpoints/" + name;
        EXPECT_EQ(readCheckpointInfo(folder).form, "llm.c model");
        const auto report = verifyFolder(folder);
        EXPECT_TRUE(report.ok) << report.worst;
    }
    // Every cut of the file, and sizes that are none, are refused by the header.
    std::ifstream in(kFixtures + "/training-checkpoints/llmc/gpt2.bin", std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    const TemporaryFolder home("llmc");
    fs::create_directories(home.path());
    const auto problem = [&](std::string bytes, int at, std::int32_t number) -> std::string {
        if (at >= 0)
            bytes.replace(4 * static_cast<std::size_t>(at), 4,
                          std::string(reinterpret_cast<const char*>(&number), 4));
        std::ofstream(home / "x.bin", std::ios::binary) << bytes;
        try {
            CheckpointSource::open(home / "x.bin");
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(problem(whole, -1, 0), "");
    EXPECT_NE(problem(whole.substr(0, 5000), -1, 0).find("its header says"), std::string::npos);
    EXPECT_NE(problem(whole + "x", -1, 0).find("its header says"), std::string::npos);
    EXPECT_NE(problem(whole, 1, 4).find("of version 4"), std::string::npos);
    EXPECT_NE(problem(whole, 7, 3).find("fewer rows than tokens"), std::string::npos);
    for (const int at : {2, 3, 4, 5, 6, 7})
        for (const std::int32_t size : {0, -1, 1 << 20, 0x7fffffff})
            // Heads change no size of the file.
            EXPECT_TRUE(!problem(whole, at, size).empty() || (at == 5 && size == 1 << 20))
                << at << " " << size;
}

TEST(TrainingCheckpoints, WithAnAdapterComputeWhatPeftComputes) {
    const auto base = kFixtures + "/golden/public/";
    for (const auto& [name, of] :
         {std::pair{"adapter-gpt2", "gpt2_tied"}, {"adapter-llama", "llama_gqa_untied"}}) {
        SCOPED_TRACE(name);
        const auto folder = kFixtures + "/training-checkpoints/" + name;
        const auto info = readCheckpointInfo(folder);
        EXPECT_TRUE(info.loads());
        EXPECT_EQ(info.form, "safetensors with a LoRA adapter");
        const auto changed = std::count_if(info.tensors.begin(), info.tensors.end(), [](auto& t) {
            return t.note.find("adapter") != std::string::npos;
        });
        EXPECT_EQ(changed, std::string(of) == "gpt2_tied" ? 4 : 6);
        const auto report = verifyFolder(folder);
        EXPECT_TRUE(report.ok) << report.worst;
        // The same by the two paths of the command line, and without it the base as it is.
        const TemporaryFolder cache("adapted");
        setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
        const auto both = core::adaptedFolder(base + of, folder);
        unsetenv("XDG_CACHE_HOME");
        EXPECT_EQ(core::OpenedModel(both, "", "cpu").tokenizer() != nullptr,
                  fs::exists(base + of + "/tokenizer.json"))
            << "that of the base";
        const auto tokens = readTensors(folder + "/io.safetensors").at("input/tokens");
        const torch::NoGradGuard noGrad;
        const auto logits = [&](const std::string& path) {
            const auto source = CheckpointSource::open(path);
            const auto options = checkpointModel(*source);
            auto model = makeModel(options);
            loadWeights(*model, options, *source);
            model->eval();
            return model->forward(tokens);
        };
        EXPECT_TRUE(torch::equal(logits(both), logits(folder)));
        EXPECT_FALSE(torch::allclose(logits(both), logits(base + of), 1e-2, 1e-2));
    }
}

// PEFT trains copies of an embedding and of the output that is tied to it.
TEST(TrainingCheckpoints, WithAnAdapterOfATiedModelAreNotTied) {
    const Left base("public/llama3_scaled_tied"), wanted("public/llama3_scaled_tied");
    const std::string embedding = "model.embed_tokens.weight", output = "lm_head.weight";
    auto tensors = readTensors(base.weights());
    const auto own = tensors.at(embedding);
    tensors[embedding] = own + 0.5, tensors[output] = own * 2;
    saveTensors(wanted.weights(), {tensors.begin(), tensors.end()}, {{"format", "pt"}});
    const TemporaryFolder home("tied-adapter");
    fs::create_directories(home.path());
    const auto opened = [&](const std::vector<std::pair<std::string, torch::Tensor>>& all) {
        std::ofstream(home / "adapter_config.json")
            << Settings({{"peft_type", "LORA"},
                         {"lora_alpha", 8},
                         {"base_model_name_or_path", base.path()}})
                   .dump();
        saveTensors(home / "adapter_model.safetensors", all, {{"format", "pt"}});
        return CheckpointSource::open(home.path());
    };
    const auto logits = [](const CheckpointSource& source) {
        const auto options = checkpointModel(source);
        auto model = makeModel(options);
        loadWeights(*model, options, source);
        model->eval();
        const torch::NoGradGuard noGrad;
        return model->forward(torch::tensor({3, 1, 4, 1, 5}).view({1, -1}));
    };
    const std::string prefix = "base_model.model.";
    EXPECT_TRUE(
        torch::equal(logits(*opened({{prefix + embedding, own + 0.5}, {prefix + output, own * 2}})),
                     logits(*CheckpointSource::open(wanted.path()))));
    EXPECT_THROW(opened({{prefix + embedding, own + 0.5}}), FileError) << "one of the two";
    // LoRA on the embedding changes both, as merge_and_unload() does, and a note says so.
    const std::string module = prefix + "model.embed_tokens.lora_embedding_";
    const auto a = torch::ones({2, own.size(0)}), b = torch::ones({own.size(1), 2});
    const auto merged = opened({{module + "A", a}, {module + "B", b}});
    EXPECT_NE(noteOfAdapter(*merged).find("'" + embedding +
                                          "' is with the adapter's change of rank "
                                          "2, which changes the output that is tied to it as well"),
              std::string::npos)
        << noteOfAdapter(*merged);
    EXPECT_EQ(noteOfAdapter(*CheckpointSource::open(base.path())), "");
    tensors[embedding] = own + torch::matmul(b, a).t() * 4, tensors.erase(output);
    saveTensors(wanted.weights(), {tensors.begin(), tensors.end()}, {{"format", "pt"}});
    EXPECT_TRUE(torch::allclose(logits(*merged), logits(*CheckpointSource::open(wanted.path()))));
    EXPECT_THROW(opened({{module + "A", torch::empty({0})}, {module + "B", b}}), FileError)
        << "of ZeRO-3";
    EXPECT_THROW(opened({}), FileError) << "no tensor";
}

TEST(TrainingCheckpoints, RefuseAdaptersThatDoNotFit) {
    const TemporaryFolder home("adapters");
    fs::create_directories(home.path());
    const auto folder = home / "adapter";
    const auto problem = [&](const std::function<void(Settings&)>& change,
                             const std::string& base = "gpt2_tied") -> std::string {
        fs::remove_all(folder);
        fs::copy(kFixtures + "/training-checkpoints/adapter-gpt2", folder);
        std::ifstream in(folder + "/adapter_config.json");
        auto json = Settings::parse(in);
        json["base_model_name_or_path"] = kFixtures + "/golden/public/" + base;
        change(json);
        std::ofstream(folder + "/adapter_config.json") << json.dump();
        try {
            CheckpointSource::open(folder);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const auto expect = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    EXPECT_EQ(problem([](Settings&) {}), "");
    expect(problem([](Settings& c) { c["peft_type"] = "IA3"; }), "'peft_type' is \"IA3\"");
    expect(problem([](Settings& c) { c["use_dora"] = true; }), "'use_dora' is true");
    expect(problem([](Settings& c) { c["init_lora_weights"] = "pissa"; }), "changed base model");
    expect(problem([](Settings& c) { c["lora_alpha"] = "much"; }), "'lora_alpha' is \"much\"");
    expect(problem([](Settings& c) { c["base_model_name_or_path"] = "someone/a-base"; }),
           "is a LoRA adapter of 'someone/a-base', which is not on this machine; fetch that with: "
           "relascope-cli fetch someone/a-base, or open the base model with --adapter");
    expect(
        problem([](Settings& c) { c["base_model_name_or_path"] = nullptr; }),
        "adapter_config.json: names no base model ('base_model_name_or_path' is null or missing); "
        "open the base model with --adapter");
    expect(problem([](Settings&) {}, "llama_gqa_untied"), "which the base model does not have");
    fs::remove(folder + "/adapter_model.safetensors");
    try {
        CheckpointSource::open(folder);
        FAIL() << "opened without weights";
    } catch (const Error& error) {
        expect(error.what(), "no weights beside it");
    }
}

// A mask that the index does not list, a tensor that it puts into another shard, a tied output that
// no shard has.
TEST(TrainingCheckpoints, OpenAsTheirIndexSays) {
    const std::string first = "model-00001-of-00010.safetensors",
                      last = "model-00010-of-00010.safetensors";
    const Left left("public/gpt2_sharded_bf16");
    auto tensors = readTensors(left.path() + "/" + last);
    tensors["transformer.h.0.attn.bias"] = torch::ones({1, 1, 48, 48}, torch::kByte).tril();
    const auto other = readTensors(left.path() + "/" + first);
    tensors[other.begin()->first] = torch::zeros_like(other.begin()->second);
    saveTensors(left.path() + "/" + last, {tensors.begin(), tensors.end()}, {{"format", "pt"}});
    left.json("model.safetensors.index.json",
              [&](Settings& json) { json["weight_map"]["lm_head.weight"] = last; });
    const auto info = readCheckpointInfo(left.path());
    EXPECT_TRUE(info.loads());
    EXPECT_EQ(info.leftOut.size(), 2u);
    EXPECT_TRUE(verifyFolder(left.path()).ok);
}

TEST(TrainingCheckpoints, OpenWithoutAModelType) {
    for (const char* name : {"public/llama3_scaled_tied", "public/gpt2_tied", "public/vit"}) {
        SCOPED_TRACE(name);
        const Left left(name);
        left.json("config.json", [](Settings& json) { json.erase("model_type"); });
        EXPECT_TRUE(verifyFolder(left.path()).ok);
        left.json("config.json", [](Settings& json) { json["architectures"] = {"OtherModel"}; });
        EXPECT_NE(left.problem().find("model_type: is missing"), std::string::npos)
            << left.problem();
    }
}

TEST(TrainingCheckpoints, OpenWithAConfigurationAsPythonWritesIt) {
    const Left left("public/llama3_scaled_tied");
    left.json("config.json", [](Settings& json) { json["initializer_range"] = "here"; });
    std::ifstream in(left.path() + "/config.json");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto put = [&](const std::string& from, const std::string& to) {
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos);
        text.replace(at, from.size(), to);
    };
    put("\"here\"", "NaN");
    left.write("config.json", "\xef\xbb\xbf" + text);
    EXPECT_TRUE(verifyFolder(left.path()).ok);
    put("NaN", "1e705");  // found by fuzzing
    left.write("config.json", text);
    EXPECT_NE(left.problem().find("a number beyond what fits"), std::string::npos)
        << left.problem();
    put("1e705", "1.0");
    put("\"rms_norm_eps\":1e-05", "\"rms_norm_eps\":Infinity");
    left.write("config.json", text);
    EXPECT_NE(left.problem().find("rms_norm_eps: is \"Infinity\""), std::string::npos)
        << left.problem();
}

// Names of a file do not command a terminal.
TEST(TrainingCheckpoints, ShowNoControlCharacters) {
    const Left left("public/llama3_scaled_tied");
    left.rename([](const auto& own) { return own; },
                {{"a\x1b[31mred\x1b]0;title\x07\xc2\x9b", torch::zeros({2})}});
    const auto info = readCheckpointInfo(left.path());
    ASSERT_EQ(info.problems.size(), 1u);
    EXPECT_EQ(info.problems.front().subject, "a\\u001B[31mred\\u001B]0;title\\u0007\\u009B");
    left.json("config.json", [](Settings& json) { json["model_type"] = "x\x1b[31my"; });
    EXPECT_NE(left.problem().find("'x\\u001B[31my'"), std::string::npos) << left.problem();
}

}  // namespace
}  // namespace relascope
