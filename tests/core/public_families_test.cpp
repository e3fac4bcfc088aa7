// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints of public families: what opens, what is refused and how, and that they are written
// as they were read. Their numbers are those of golden_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "analysis/verify/verify.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "files/memory.h"
#include "files/safetensors.h"
#include "model/architecture.h"
#include "model/blocks/parameters.h"
#include "model/decode/generate.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "support/golden_copy.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using Json = nlohmann::ordered_json;
using testing_support::TemporaryFolder;
namespace fs = std::filesystem;

const std::string kPublic = std::string(RELASCOPE_FIXTURES) + "/golden/public/";

std::string textOf(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> cases() {
    std::vector<std::string> names;
    for (const std::string folder : {"", "../families/"})
        for (const auto& entry : fs::directory_iterator(kPublic + folder))
            names.push_back(folder + entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

// A copy of the golden folder of a public family.
struct Copy : testing_support::GoldenCopy {
    explicit Copy(const std::string& name) : GoldenCopy("public/" + name) {}
    void config(const std::function<void(Json&)>& change) const { json("config.json", change); }
};

void expectParts(const std::string& text, const std::vector<std::string>& parts) {
    for (const auto& part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(PublicFamilies, HaveTheShapesOfTheirModels) {
    for (const auto& name : cases()) {
        SCOPED_TRACE(name);
        const auto options = checkpointModel(*CheckpointSource::open(kPublic + name));
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

TEST(PublicFamilies, AreDescribedWithTheNamesOfTheirFiles) {
    const auto gpt2 = readCheckpointInfo(kPublic + "gpt2_hub_names");
    EXPECT_EQ(gpt2.title, "GPT-2");
    EXPECT_TRUE(gpt2.loads());
    EXPECT_TRUE(gpt2.unusedKeys.empty());
    const auto tensor = [](const CheckpointInfo& info, const std::string& name) {
        const auto found = std::find_if(info.tensors.begin(), info.tensors.end(),
                                        [&](const auto& t) { return t.name == name; });
        return found == info.tensors.end() ? StoredTensor{} : *found;
    };
    EXPECT_EQ(tensor(gpt2, "h.0.attn.c_attn.weight").note, "queries, keys and values");
    expectParts(tensor(gpt2, "h.0.attn.bias").note, {"not used"});
    const auto& blocks = gpt2.outline.children.at(2);
    EXPECT_EQ(blocks.children.at(0).prefix, "h.0");
    // A tied Llama has "model." before every name, and keeps it.
    const auto llama = readCheckpointInfo(kPublic + "llama3_scaled_tied");
    EXPECT_EQ(llama.tensors.front().name.substr(0, 6), "model.");
    EXPECT_TRUE(llama.loads());
    const auto deit = readCheckpointInfo(kPublic + "deit_teacher");
    EXPECT_EQ(deit.classNames.size(), 5u);
}

TEST(PublicFamilies, ListUnusedKeysAndRefuseOthers) {
    Copy llama("llama_gqa_untied");
    llama.config([](Json& c) { c["brand_new_key"] = 3; });
    EXPECT_EQ(readCheckpointInfo(llama.path()).unusedKeys,
              std::vector<std::string>{"brand_new_key"});

    struct Refused {
        const char *name, *key;
        Json value;
        std::vector<std::string> parts;
    };
    const std::vector<Refused> all = {
        {"gpt2_tied", "model_type", "t5", {"t5", "gpt2", "qwen2"}},
        {"gpt2_tied", "activation_function", "relu", {"activation_function", "relu", "gelu_new"}},
        {"gpt2_tied", "scale_attn_weights", false, {"scale_attn_weights", "false"}},
        {"gpt2_tied", "scale_attn_by_inverse_layer_idx", true, {"inverse_layer_idx", "true"}},
        {"gpt2_tied", "add_cross_attention", true, {"add_cross_attention"}},
        {"gpt2_tied", "architectures", {"GPT2Model"}, {"GPT2Model", "GPT2LMHeadModel"}},
        {"gpt2_tied", "n_head", 5, {"n_embd", "32", "5"}},
        {"gpt2_tied", "n_layer", 1000000000, {"n_layer", "1000"}},
        {"gpt2_tied", "vocab_size", 1000000000, {"vocab_size"}},
        {"llama_gqa_untied", "hidden_act", "gelu", {"hidden_act", "gelu", "silu"}},
        {"llama_gqa_untied", "num_key_value_heads", 3, {"num_key_value_heads", "3", "4"}},
        {"llama_gqa_untied", "head_dim", 0, {"head_dim", "0"}},
        {"llama_gqa_untied", "head_dim", 7, {"head_dim", "7"}},
        {"llama_gqa_untied", "partial_rotary_factor", 0.5, {"partial_rotary_factor", "0.5"}},
        {"llama_gqa_untied", "rope_scaling", {{"rope_type", "yarn"}}, {"rope_type", "yarn"}},
        {"llama_gqa_untied", "rope_scaling", {{"type", "linear"}}, {"type", "linear"}},
        {"llama_gqa_untied", "rope_scaling", {{"rope_type", "llama3"}}, {"factor", "missing"}},
        {"llama_gqa_untied", "quantization_config", {{"bits", 4}}, {"quantization_config"}},
        {"qwen2_biases", "use_sliding_window", true, {"use_sliding_window"}},
        {"qwen2_biases", "layer_types", {"sliding_attention"}, {"layer_types"}},
        {"gpt_neox_parallel", "rotary_pct", 0.01, {"rotary_pct", "0.01", "16"}},
        {"gpt_neox_parallel", "num_attention_heads", 3, {"hidden_size", "32", "3"}},
        {"vit", "patch_size", 7, {"patch_size", "7", "24"}},
        {"vit", "hidden_act", "relu", {"hidden_act", "relu"}},
    };
    for (const auto& refused : all) {
        SCOPED_TRACE(std::string(refused.name) + " " + refused.key);
        const Copy copy(refused.name);
        copy.config([&](Json& c) { c[refused.key] = refused.value; });
        const auto problem = copy.problem();
        expectParts(problem, refused.parts);
        EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
        EXPECT_THROW(core::OpenedModel(copy.path(), "", "cpu"), Error);
    }
    Copy code("gpt2_tied");
    code.config([](Json& c) {
        c["model_type"] = "mine";
        c["auto_map"] = {{"AutoModel", "code.Model"}};
    });
    expectParts(code.problem(), {"mine", "never run"});
    Copy deep("vit");
    std::ofstream(deep.path() + "/config.json")
        << "{\"model_type\":\"vit\",\"a\":" << std::string(100, '[') << std::string(100, ']')
        << "}";
    expectParts(deep.problem(), {"nested"});
}

TEST(PublicFamilies, SayWhatIsWrongWithTheirTensors) {
    const std::string norm = "model.norm.weight";
    Copy missing("llama_gqa_untied");
    missing.tensors([&](auto& all) { all.erase(norm); });
    expectParts(missing.problem(), {norm, "[32]"});
    Copy untied("llama_gqa_untied");
    untied.tensors([&](auto& all) { all.erase("lm_head.weight"); });
    expectParts(untied.problem(), {"lm_head.weight"});
    Copy wrong("llama_gqa_untied");
    wrong.tensors([&](auto& all) { all[norm] = torch::ones({31}); });
    expectParts(wrong.problem(), {norm, "[31]", "[32]"});
    Copy integers("llama_gqa_untied");
    integers.tensors([&](auto& all) { all[norm] = torch::ones({32}, torch::kChar); });
    expectParts(integers.problem(), {norm, "I8"});
    Copy unexpected("llama_gqa_untied");
    unexpected.tensors([&](auto& all) { all["model.layers.9.extra"] = torch::ones({2}); });
    expectParts(unexpected.problem(), {"model.layers.9.extra"});
    // A bias of the attention's output is a weight and no buffer of old versions.
    Copy bias("gpt_neox_parallel");
    bias.tensors([](auto& all) { all.erase("gpt_neox.layers.0.attention.dense.bias"); });
    expectParts(bias.problem(), {"gpt_neox.layers.0.attention.dense.bias"});
    Copy mask("gpt_neox_parallel");
    mask.tensors([](auto& all) { all["gpt_neox.layers.0.attention.bias"] = torch::ones({96}); });
    expectParts(mask.problem(), {"gpt_neox.layers.0.attention.bias"});
}

TEST(PublicFamilies, RefuseDamagedShards) {
    const std::string shard = "/model-00003-of-00010.safetensors";
    const Copy absent("gpt2_sharded_bf16");
    fs::remove(absent.path() + shard);
    expectParts(absent.problem(), {"model-00003-of-00010", "missing"});
    const Copy cut("gpt2_sharded_bf16");
    fs::resize_file(cut.path() + shard, 500);
    expectParts(cut.problem(), {"model-00003-of-00010"});
    const Copy outside("gpt2_sharded_bf16");
    const auto index = outside.path() + "/model.safetensors.index.json";
    auto json = Json::parse(textOf(index));
    json["weight_map"]["transformer.ln_f.bias"] = "../model.safetensors";
    std::ofstream(index) << json.dump();
    expectParts(outside.problem(), {"transformer.ln_f.bias", "../model.safetensors"});
    const Copy twice("gpt2_sharded_bf16");  // one shard in the place of another
    fs::copy_file(twice.path() + "/model-00004-of-00010.safetensors", twice.path() + shard,
                  fs::copy_options::overwrite_existing);
    expectParts(twice.problem(),
                {"puts it into 'model-00003-of-00010.safetensors', which lacks it"});
    const Copy lacking("gpt2_sharded_bf16");
    const auto list = lacking.path() + "/model.safetensors.index.json";
    json = Json::parse(textOf(list));
    json["weight_map"]["transformer.more"] = shard.substr(1);
    std::ofstream(list) << json.dump();
    EXPECT_EQ(lacking.problem(), "") << "what the model does not need may be absent";
}

TEST(PublicFamilies, RefuseHostileFiles) {
    const Copy deep("gpt2_tied");
    std::ofstream(deep.path() + "/config.json") << "{\"model_type\": " + std::string(100'000, '[');
    EXPECT_NE(deep.problem(), "");
    const Copy large("gpt2_tied");
    std::ofstream(large.path() + "/config.json") << std::string((4u << 20) + 1, ' ');
    expectParts(large.problem(), {"config.json", "is larger than allowed"});
    // A pickle that would run a command is not run, and says what it asked for.
    const Copy hostile("gpt2_pytorch_bin");
    const auto file = hostile.path() + "/pytorch_model.bin";
    auto bytes = textOf(file);
    const auto at = bytes.find("torch._utils\n_rebuild_tensor_v2");
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, 32, "posix\nsystem\n                  ");
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_NE(hostile.problem(), "");
    // More words in the tokenizer than in the model.
    Copy words("gpt2_tied");
    words.config([](Json& json) { json["vocab_size"] = 96; });
    words.tensors([](auto& all) {
        for (auto& [name, tensor] : all)
            if (name.ends_with("wte.weight")) tensor = tensor.slice(0, 0, 96).contiguous();
    });
    EXPECT_EQ(words.problem(), "");
    core::OpenedModel opened(words.path(), "", "cpu");
    try {
        opened.textInput("a text");
        FAIL() << "a tokenizer of 400 words for a model of 96";
    } catch (const Error& error) {
        expectParts(error.what(), {"399", "96"});  // one of the 400 is an added one
    }
}

// A model that no machine has the memory for is refused with both figures, before it is made.
TEST(PublicFamilies, RefuseWhatDoesNotFitIntoMemory) {
    if (core::availableMemory() > std::uint64_t{90} << 30) GTEST_SKIP() << "it fits here";
    const Copy huge("llama_gqa_untied");
    huge.config([](Json& json) {
        json["hidden_size"] = 65536, json["intermediate_size"] = 65536, json["head_dim"] = 64;
    });
    const auto options = core::modelOfFamily(*core::findFamily("llama"),
                                             Json::parse(textOf(huge.path() + "/config.json")));
    // A sparse file of the size that its header says.
    const std::vector<StoredTensor> none;
    const core::FamilyFile file(options, none);
    Json header;
    std::uint64_t end = 0;
    for (const auto& tensor : file.tensors()) {
        std::uint64_t bytes = 4;
        for (const auto n : tensor.shape) bytes *= static_cast<std::uint64_t>(n);
        header[file.nameOf(tensor)] = {
            {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {end, end + bytes}}};
        end += bytes;
    }
    const auto path = huge.path() + "/model.safetensors";
    const auto text = header.dump();
    const std::uint64_t length = text.size();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(&length), 8)
        .write(text.data(), static_cast<std::streamsize>(text.size()));
    std::error_code sparse;
    fs::resize_file(path, 8 + length + end, sparse);
    if (sparse) GTEST_SKIP() << "no sparse files of " << end << " bytes here";
    try {
        core::OpenedModel opened(huge.path(), "", "cpu");
        FAIL() << end << " bytes of weights";
    } catch (const Error& error) {
        expectParts(error.what(), {core::byteText(end), "are available"});
    }
}

TEST(PublicFamilies, UseAStoredOutputThatDiffersFromTheEmbedding) {
    const Copy same("gpt2_tied"), differs("gpt2_tied");
    same.tensors([](auto& all) { all["lm_head.weight"] = all.at("transformer.wte.weight"); });
    EXPECT_TRUE(checkpointModel(*CheckpointSource::open(same.path()))
                    .get<PublicDecoderOptions>()
                    .tie_word_embeddings);
    EXPECT_TRUE(verifyFolder(same.path()).ok);
    differs.tensors(
        [](auto& all) { all["lm_head.weight"] = all.at("transformer.wte.weight") + 1; });
    const auto info = readCheckpointInfo(differs.path());
    EXPECT_TRUE(info.loads());
    EXPECT_FALSE(info.model->get<PublicDecoderOptions>().tie_word_embeddings);
    for (const auto& tensor : info.tensors)
        if (tensor.name == "lm_head.weight") expectParts(tensor.note, {"differs"});
}

TEST(PublicFamilies, AreConvertedToTheBit) {
    for (const auto& name : cases()) {
        SCOPED_TRACE(name);
        const TemporaryFolder home("convert");
        fs::create_directories(home.path());
        const auto before = CheckpointSource::open(kPublic + name);
        convertCheckpoint(kPublic + name, home / "folder");
        convertCheckpoint(home / "folder", home / "one.safetensors");
        convertCheckpoint(home / "one.safetensors", home / "one.pt");
        for (const std::string path : {"folder", "one.safetensors", "one.pt"}) {
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
        }
        for (const char* file : {"config.json", "generation_config.json", "tokenizer.json",
                                 "tokenizer_config.json", "preprocessor_config.json"}) {
            if (!fs::exists(kPublic + name + "/" + file)) continue;
            EXPECT_EQ(textOf(home / (std::string("folder/") + file)),
                      textOf(kPublic + name + "/" + file))
                << file;
        }
    }
}

TEST(PublicFamilies, OpenShardsOfPyTorchArchives) {
    // Two archives that an index names hold what one does.
    const TemporaryFolder home("bin");
    fs::create_directories(home.path());
    Json map;
    for (const int part : {0, 1}) {
        const auto name = "pytorch_model-0000" + std::to_string(part + 1) + "-of-00002";
        std::vector<std::pair<std::string, torch::Tensor>> tensors;
        const SafetensorsFile file(kPublic + "gpt2_tied/model.safetensors");
        int at = 0;
        for (const auto& entry : file.header().tensors)
            if (at++ % 2 == part) {
                tensors.emplace_back(entry.name, readTensor(file, entry));
                map[entry.name] = name + ".bin";
            }
        saveTensors(home / (name + ".safetensors"), tensors);
        convertCheckpoint(home / (name + ".safetensors"), home / (name + ".pt"));
        fs::rename(home / (name + ".pt"), home / (name + ".bin"));
        fs::remove(home / (name + ".safetensors"));
    }
    std::ofstream(home / "pytorch_model.bin.index.json") << Json{{"weight_map", map}}.dump();
    for (const char* file : {"config.json", "io.safetensors"})
        fs::copy(kPublic + "gpt2_tied/" + file, home / file);
    EXPECT_EQ(readCheckpointInfo(home.path()).form, "sharded PyTorch archive");
    EXPECT_TRUE(verifyFolder(home.path()).ok);
    fs::remove(home / "pytorch_model-00002-of-00002.bin");
    EXPECT_THROW(readCheckpointInfo(home.path()), FileError);
}

// Greedy tokens with the cache, one row at a time, are those of whole passes.
TEST(PublicFamilies, GenerateTheSameWithAndWithoutTheCache) {
    for (const auto& name : cases()) {
        SCOPED_TRACE(name);
        const auto source = CheckpointSource::open(kPublic + name);
        const auto options = checkpointModel(*source);
        if (options.input() != InputKind::Tokens || readsBothWays(options)) continue;
        auto model = makeModel(options);
        loadWeights(*model, options, *source);
        model->eval();
        const auto io = readTensors(kPublic + name + "/io.safetensors");
        const auto prompt = io.at("generate/prompt"), greedy = io.at("generate/greedy");
        LanguageReader reader(*model, options);
        std::vector<std::int64_t> next(prompt.const_data_ptr<std::int64_t>(),
                                       prompt.const_data_ptr<std::int64_t>() + prompt.numel());
        auto all = next;
        for (auto at = prompt.size(1); at < greedy.size(1); ++at) {
            const auto logits = reader.read(next);
            const auto seen = torch::tensor(all).slice(0, -options.tokens());
            const auto whole = model->forward(seen.unsqueeze(0)).select(1, -1)[0].detach();
            EXPECT_LT((logits - whole).abs().max().item<float>(), 2e-5F) << at;
            next = {logits.argmax().item<std::int64_t>()};
            all.push_back(next[0]);
            EXPECT_EQ(next[0], greedy[0][at].item<std::int64_t>());
        }
    }
}

TEST(PublicFamilies, VerifyTheirTokenizers) {
    const Copy copy("llama3_scaled_tied");
    const auto lineOf = [&] {
        for (const auto& line : core::verifyFolder(copy.path()).lines)
            if (line.name == "tokenizer_cases.json") return line;
        return VerifyLine();
    };
    EXPECT_TRUE(lineOf().ok);
    const auto file = copy.path() + "/tokenizer_cases.json";
    auto all = Json::parse(textOf(file));
    all[5]["ids"] = {1, 2, 3};
    std::ofstream(file) << all.dump();
    EXPECT_FALSE(lineOf().ok);
    EXPECT_EQ(lineOf().absolute, 1.0);
    EXPECT_FALSE(core::verifyFolder(copy.path()).ok);
    for (const char* text : {"[{}]", "[]", "1"}) {
        std::ofstream(file) << text;
        EXPECT_THROW(core::verifyFolder(copy.path()), FileError) << text;
    }
    // A tokenizer without a model.
    const auto alone =
        core::verifyFolder(std::string(RELASCOPE_FIXTURES) + "/golden/public-tokenizers/qwen2");
    EXPECT_TRUE(alone.ok);
    EXPECT_EQ(alone.lines.size(), 1u);
}

// A family's model as OpenedModel has it, its files mapped or not.
struct InFile {
    explicit InFile(const std::string& path, std::uint64_t mappedFrom)
        : source(CheckpointSource::open(path)), options(checkpointModel(*source)) {
        const core::ParameterScope scope(core::ParameterFill::Uninitialised);
        model = makeModel(options);
        mapped = keepFileTypes(*model, options, *source, mappedFrom);
        report = loadWeights(*model, options, *source, {}, {}, mapped);
        model->beforePass = [this] { mapped.requireUnchanged(); };
        model->eval();
    }
    torch::Tensor pass(const std::map<std::string, torch::Tensor>& io) {
        const torch::NoGradGuard noGrad;
        const auto images = io.find("input/images");
        return model->forward(images == io.end() ? io.at("input/tokens") : images->second);
    }

    std::unique_ptr<CheckpointSource> source;
    ModelOptions options;
    ModelPtr model;
    core::MappedWeights mapped;
    LoadReport report;
};

TEST(PublicFamilies, UseTheirFilesWithoutACopy) {
    for (const auto& name : cases()) {
        SCOPED_TRACE(name);
        const auto io = readTensors(kPublic + name + "/io.safetensors");
        InFile read(kPublic + name, core::kMappedFrom), inFile(kPublic + name, 0);
        EXPECT_TRUE(read.mapped.empty());
        // Archives of PyTorch are read, and tensors that do not begin at a multiple of 4 bytes: all
        // of those behind a bias of 61 numbers of 16 bits.
        const bool odd =
            name.ends_with("/gptj") || name.ends_with("/roberta") || name.ends_with("/modernbert");
        EXPECT_EQ(inFile.mapped.empty(), fs::exists(kPublic + name + "/pytorch_model.bin") || odd);
        EXPECT_TRUE(torch::equal(read.pass(io), inFile.pass(io)));
        const core::FamilyFile file(inFile.options, inFile.source->tensors());
        std::map<std::string, torch::Tensor> weights;
        for (const auto& entry : stateOf(*inFile.model)) weights[entry.name] = entry.tensor;
        for (const auto& tensor : file.tensors()) {
            if (tensor.optional || !file.find(tensor) || inFile.mapped.empty()) continue;
            const bool view = tensor.form == core::StoredForm::Plain ||
                              tensor.form == core::StoredForm::Patches ||
                              tensor.form == core::StoredForm::Rows;
            const auto& weight = weights.at(tensor.parts.front());
            const bool sameType = *scalarType(file.find(tensor)->dtype) == weight.scalar_type();
            const auto place = inFile.source->placeOf(*file.find(tensor));
            const bool aligned = place && place->at % 4 == 0;
            EXPECT_EQ(inFile.mapped.hold(weight), view && tensor.index < 0 && sameType && aligned)
                << tensor.name;
        }
    }
}

TEST(PublicFamilies, KeepTheirFilesWhenAWeightIsChanged) {
    const Copy copy("llama_gqa_untied");
    const auto file = copy.path() + "/model.safetensors", before = textOf(file);
    InFile opened(copy.path(), 0);
    const torch::NoGradGuard noGrad;
    for (auto& weight : opened.model->parameters()) weight.add_(1.0);
    EXPECT_EQ(textOf(file), before);
}

TEST(PublicFamilies, SayThatAFileInUseWasTruncatedOrChanged) {
    const auto io = readTensors(kPublic + "llama_gqa_untied/io.safetensors");
    const auto expectRefused = [&](const auto& change, const char* how) {
        const Copy copy("llama_gqa_untied");
        const auto file = copy.path() + "/model.safetensors";
        InFile opened(copy.path(), 0);
        opened.pass(io);
        LanguageReader reader(*opened.model, opened.options);
        const std::vector<std::int64_t> token = {1};
        reader.read(token);
        change(file);
        for (const auto& use : std::vector<std::function<void()>>{[&] { opened.pass(io); },
                                                                  [&] { reader.read(token); }}) {
            try {
                use();
                ADD_FAILURE() << how;
            } catch (const FileError& error) {
                expectParts(error.what(), {file, how, "open it again"});
            }
        }
    };
    expectRefused([](const auto& file) { fs::resize_file(file, fs::file_size(file) - 4096); },
                  "truncated");
    expectRefused([](const auto& file) { std::ofstream(file, std::ios::app) << "more"; },
                  "changed");
    // One that is replaced or removed stays whole for those who have it open.
    const Copy removed("llama_gqa_untied");
    InFile opened(removed.path(), 0);
    const auto before = opened.pass(io);
    fs::remove(removed.path() + "/model.safetensors");
    EXPECT_TRUE(torch::equal(opened.pass(io), before));
}

// float16 weights stay so, as those of bfloat16 do.
TEST(PublicFamilies, ComputeWithFloat16AsItIs) {
    Copy narrow("gpt_neox_parallel"), wide("gpt_neox_parallel");
    const auto round = [](auto& all) {
        for (auto& [name, tensor] : all) tensor = tensor.to(torch::kHalf);
    };
    narrow.tensors(round);
    wide.tensors([&](auto& all) {
        round(all);
        for (auto& [name, tensor] : all) tensor = tensor.to(torch::kFloat);
    });
    const auto io = readTensors(kPublic + "gpt_neox_parallel/io.safetensors");
    InFile half(narrow.path(), 0), full(wide.path(), 0);
    std::map<std::string, torch::Tensor> weights;
    for (const auto& entry : stateOf(*half.model)) weights[entry.name] = entry.tensor;
    EXPECT_EQ(weights.at("layers.final_out.weight").scalar_type(), torch::kHalf);
    EXPECT_LT((half.pass(io) - full.pass(io)).abs().max().item<float>(), 1e-6F);
    EXPECT_LT(2 * core::keptBytes(half.options, *half.source),
              core::keptBytes(full.options, *full.source) * 11 / 10);
    const auto prompt = io.at("generate/prompt");
    std::vector<std::int64_t> next(prompt.const_data_ptr<std::int64_t>(),
                                   prompt.const_data_ptr<std::int64_t>() + prompt.numel());
    LanguageReader narrowReader(*half.model, half.options), wideReader(*full.model, full.options);
    for (int i = 0; i < 8; ++i) {
        const auto a = narrowReader.read(next), b = wideReader.read(next);
        EXPECT_LT((a - b).abs().max().item<float>(), 2e-5F) << i;
        next = {b.argmax().item<std::int64_t>()};
    }
}

TEST(PublicFamilies, TypeTokensWhereThereIsNoTokenizer) {
    core::OpenedModel model(kPublic + "mistral_window", "", "cpu");
    EXPECT_EQ(model.tokenizer(), nullptr);
    EXPECT_EQ(model.textInput("5 6, 7").source.tokens, (std::vector<std::int64_t>{5, 6, 7}));
    EXPECT_THROW(model.textInput("five"), OptionError);
    EXPECT_THROW(model.textInput("67"), OptionError);
    GenerateOptions how;
    how.tokens = 4, how.temperature = 0.0;
    std::string text;
    model.generate("5 6 7", how, [&](const GeneratedToken& token) {
        text += token.chosen.piece;
        return true;
    });
    EXPECT_TRUE(text.starts_with("[")) << text;
    // A longer text than its positions is refused with both numbers.
    std::string many;
    for (int i = 0; i < 65; ++i) many += "1 ";
    try {
        model.probe(model.textInput(many), {});
        FAIL() << "a text of 65 tokens";
    } catch (const Error& error) {
        expectParts(error.what(), {"65", "64"});
    }
}

TEST(PublicFamilies, HaveNoNameOutsideOfTheirTables) {
    const fs::path sources = fs::path(RELASCOPE_FIXTURES) / "../..";
    std::vector<std::string> found;
    for (const char* room : {"core", "app", "widgets", "datasets"})
        for (const auto& entry : fs::recursive_directory_iterator(sources / room)) {
            const auto name = entry.path().filename().string();
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
            // A folder of a tokenizer says by the same word which one it has.
            if (name.ends_with("_families_config.cpp")) continue;
            if (name == "tokenizer_folder.cpp" || name == "tokenizer_classes.h") continue;
            if (name.starts_with("nanochat_")) continue;  // its files and its descriptor
            const auto text = textOf(entry.path());
            for (const auto& family : families())
                // GPT-2's tokenizer has that name, models of presets have the next two, and the
                // last is a scale of tints.
                if (family.type != "gpt2" && family.type != "dat" && family.type != "transformer" &&
                    family.type != "clip" &&
                    text.find("\"" + family.type + "\"") != std::string::npos)
                    found.push_back(name + " has \"" + family.type + "\"");
        }
    EXPECT_EQ(found, std::vector<std::string>());
}

}  // namespace
}  // namespace relascope
