// SPDX-License-Identifier: GPL-3.0-or-later
// Training that continues from checkpoints: of public families, whose files it writes again, and
// others.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/start_from.h"
#include "checkpoint/tensor_io.h"
#include "data/text.h"
#include "files/atomic_file.h"
#include "model/public/public_options.h"
#include "model/public/stored_form.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/options_json.h"
#include "options/published_config.h"
#include "options/run_settings.h"
#include "run/run_lines.h"
#include "run/run_list.h"
#include "support/tiny_run.h"
#include "train/branch.h"
#include "train/checkpoints.h"
#include "train/execute_run.h"
#include "train/init_from.h"

namespace relascope {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;

const std::string kCases = std::string(RELASCOPE_FIXTURES) + "/golden/public/";

std::vector<std::string> publicCases() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(kCases))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::uint8_t> bytesIn(const CheckpointSource& source, const StoredTensor& tensor) {
    std::vector<std::uint8_t> bytes(tensor.bytes);
    source.read(tensor, bytes);
    return bytes;
}

void expectTheSame(const CheckpointSource& a, const CheckpointSource& b, const FamilyFile& file) {
    for (const auto& tensor : file.tensors()) {
        const auto* theirs = a.find(file.nameOf(tensor));
        if (!theirs) continue;
        const auto* ours = b.find(theirs->name);
        ASSERT_NE(ours, nullptr) << theirs->name;
        EXPECT_EQ(ours->dtype, theirs->dtype) << theirs->name;
        EXPECT_EQ(ours->shape, theirs->shape) << theirs->name;
        EXPECT_EQ(bytesIn(b, *ours), bytesIn(a, *theirs)) << theirs->name;
    }
}

// One text for every window of the golden tokens: the token that follows each but the last.
class GoldenTokens : public TokenDataset {
public:
    explicit GoldenTokens(const torch::Tensor& tokens) : m_tokens(tokens.to(torch::kLong)) {
        m_info.name = "golden";
        m_info.size = m_tokens.size(0);
        m_info.task = "text";
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t context() const override { return m_tokens.size(1) - 1; }
    TokenizerPtr tokenizer() const override { return nullptr; }
    void read(std::int64_t index, std::span<std::int64_t> tokens) const override {
        const auto row = m_tokens[index].contiguous();
        std::copy_n(row.const_data_ptr<std::int64_t>(), tokens.size(), tokens.begin());
    }
    ProbeSample sample(std::int64_t index) const override {
        ProbeSample s;
        s.source.tokens.resize(static_cast<std::size_t>(context() + 1));
        read(index, s.source.tokens);
        s.source.tokens.pop_back();
        return s;
    }

private:
    torch::Tensor m_tokens;
    DatasetInfo m_info;
};

// Images of so many classes, 24 pixels wide.
class Coloured : public ImageDataset {
public:
    explicit Coloured(std::int64_t classes) : Coloured(std::vector<std::string>()) {
        for (std::int64_t i = 0; i < classes; ++i)
            m_info.classNames.push_back("colour " + std::to_string(i));
    }
    explicit Coloured(std::vector<std::string> names) {
        m_info.name = "coloured";
        m_info.size = 12;
        m_info.width = m_info.height = 24;
        m_info.classNames = std::move(names);
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        const auto classes = static_cast<std::int64_t>(m_info.classNames.size());
        for (std::size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<std::uint8_t>(40 * (index % classes) +
                                                  static_cast<std::int64_t>(i * 7 % 31));
        return index % classes;
    }

private:
    DatasetInfo m_info;
};

class PublicTraining : public ::testing::Test {
protected:
    PublicTraining() {
        makeDirectories(m_home.path());
        ::setenv("XDG_CACHE_HOME", (m_home / "cache").c_str(), 1);
        std::string text;
        for (int i = 0; i < 200; ++i)
            text += i % 3 == 0 ? "the cat sat on the mat. " : "a dog ran to the cat. ";
        writeTextFile(m_home / "text.txt", text);
    }
    ~PublicTraining() override { ::unsetenv("XDG_CACHE_HOME"); }

    RunSettings settings(const std::string& from, std::vector<std::string> set = {}) const {
        const bool images =
            from.find("vit") != std::string::npos || from.find("deit") != std::string::npos;
        RunSettings s{images ? "fashion-mnist" : "text"};
        s.set = {"train.batch_size=2",      "train.steps=4",      "train.warmup_steps=0",
                 "train.device=cpu",        "train.keep_mib=0",   "train.checkpoint_every=2",
                 "train.schedule=constant", "data.train_size=12", "data.validation_size=4"};
        if (!images) {
            s.set.insert(s.set.end(),
                         {"data.context=12", "data.pinned_text=the cat", "data.sample_tokens=4"});
            s.data = m_home / "text.txt";
        } else {
            s.set.emplace_back("data.augment=none");
        }
        s.set.insert(s.set.end(), set.begin(), set.end());
        s.begin = [from](RunOptions& o) { startFrom(o, from); };
        return s;
    }
    TrainResult execute(const std::string& name, const RunOptions& options,
                        const DataOpener& open = openTexts(), bool resume = false) {
        RunRequest request{m_home / name, options};
        request.resume = resume;
        Control control;
        return executeRun(request, open, control, [](const TrainEvent&) {}, {});
    }
    static DataOpener openTexts() {
        return [](const RunOptions& o, std::stop_token stop) { return openText(o.data, {}, stop); };
    }
    static DataOpener opened(const DatasetPtr& data) {
        return [data](const RunOptions&, std::stop_token) {
            DataSplits splits;
            splits.train = splits.validation = data;
            return splits;
        };
    }
    // The sentence that refuses it.
    std::string refusal(const RunSettings& s, const DataOpener& open = openTexts()) {
        try {
            execute("refused", runOptions(s), open);
        } catch (const Error& error) {
            EXPECT_FALSE(fs::exists(m_home / "refused"));
            return error.what();
        }
        return "nothing was refused";
    }
    static void expectWords(const std::string& text, const std::vector<std::string>& words) {
        for (const auto& word : words)
            EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' is not in: " << text;
    }

    TemporaryFolder m_home{"public-training"};
};

TEST_F(PublicTraining, UntouchedWeightsAreWrittenToTheBit) {
    std::vector<std::string> folders;
    for (const auto& name : publicCases()) folders.push_back(kCases + name);
    // The cases have no file of halves.
    for (const std::string name : {"gpt_neox_parallel", "gpt2_tied", "vit"}) {
        folders.push_back(m_home / ("half-" + name));
        fs::copy(kCases + name, folders.back());
        auto all = readTensors(folders.back() + "/model.safetensors");
        for (auto& [tensor, values] : all) values = values.to(torch::kHalf);
        saveTensors(folders.back() + "/model.safetensors", {all.begin(), all.end()});
    }
    for (const auto& folder : folders) {
        SCOPED_TRACE(folder);
        const auto source = CheckpointSource::open(folder);
        const auto options = checkpointModel(*source);
        auto model = makeModel(options);
        loadWeights(*model, options, *source);
        const auto run = m_home / ("run-" + fs::path(folder).filename().string());
        makeDirectories(run);
        writeFamilyForm(*source, options, {}, run);
        const auto form = readFamilyForm(run, options);
        ASSERT_TRUE(form);
        const auto saved = run + "/saved";
        makeDirectories(saved);
        saveWeights(*model, *form, saved + "/model.safetensors");
        copyFamilyFiles(form->folder, saved, true);
        EXPECT_EQ(readTextFile(saved + "/config.json"), readTextFile(folder + "/config.json"));
        expectTheSame(*source, *CheckpointSource::open(saved),
                      FamilyFile(options, source->tensors()));
        // Every form has its inverse, also of numbers that no file has.
        for (const auto& tensor : fileTensors(options)) {
            const auto numbers = torch::randn(tensor.shape);
            EXPECT_TRUE(storedOf(tensor, partsOf(tensor, numbers)).equal(numbers)) << tensor.name;
        }
    }
}

TEST_F(PublicTraining, OptionsOfARunKeepItsModel) {
    for (const auto& name : publicCases()) {
        SCOPED_TRACE(name);
        const auto options = runOptions(settings(kCases + name, {"data.tokenizer=gpt2"}));
        EXPECT_EQ(options.train.init_from, kCases + name);
        EXPECT_DOUBLE_EQ(options.train.learning_rate, kStartRate);
        EXPECT_EQ(runOptionsFromJson(runOptionsToJson(options)), options);
        EXPECT_EQ(freshRunPath("runs", options, 3), "runs/" + options.preset + "-" + name + "-s3");
    }
}

TEST_F(PublicTraining, LossesAreThoseOfThePackage) {
    for (const std::string name :
         {"gpt2_tied", "llama_gqa_untied", "gpt_neox_parallel", "dat_rca_rope_symbols",
          "dat_ra_symbolic_symmetric", "transformer_baseline"}) {
        SCOPED_TRACE(name);
        const auto io = readTensors(kCases + name + "/io.safetensors");
        const auto tokens = io.at("input/tokens"), theirs = io.at("train/adamw_losses");
        const auto steps = theirs.size(0);
        const auto options = runOptions(
            settings(kCases + name,
                     {"data.tokenizer=gpt2", "train.batch_size=" + std::to_string(tokens.size(0)),
                      "train.steps=" + std::to_string(steps), "train.evaluate_every=1",
                      "train.learning_rate=1e-3", "train.optimizer=adamw", "train.beta1=0.9",
                      "train.beta2=0.95", "train.eps=1e-8", "train.weight_decay=0.1",
                      "train.weight_decay_on=all", "train.clip_norm=0", "data.sample_tokens=0"}));
        const auto result = execute(name, options, opened(std::make_shared<GoldenTokens>(tokens)));
        ASSERT_EQ(result.info.state, RunState::Done) << result.info.message;
        std::map<std::int64_t, double> losses;
        for (const auto& point : readMetrics(m_home / name))
            if (point.split == Split::Validation) losses[point.step] = point.value("loss");
        for (std::int64_t step = 0; step < steps; ++step) {
            ASSERT_TRUE(losses.count(step)) << step;
            EXPECT_NEAR(losses[step], theirs[step].item<double>(), 1e-4) << step;
        }
    }
}

TEST_F(PublicTraining, SavesTheFormOfTheFamilyAndResumesToTheBit) {
    const auto from = m_home / "half";
    fs::copy(kCases + "gpt2_tied", from);
    auto halves = readTensors(from + "/model.safetensors");
    for (auto& [name, tensor] : halves) tensor = tensor.to(torch::kBFloat16);
    saveTensors(from + "/model.safetensors", {halves.begin(), halves.end()}, {{"format", "pt"}});
    const auto began = OpenedModel(from, "", "cpu").checksum();
    auto options = runOptions(settings(from, {"train.learning_rate=1e-4"}));
    ASSERT_EQ(execute("whole", options).info.state, RunState::Done);
    options.train.steps = 2;
    ASSERT_EQ(execute("parts", options).info.state, RunState::Done);
    fs::remove_all(from);  // a resumed run has all that it needs
    // Also where it was killed while its checkpoint was replaced.
    const auto saved = m_home / "parts/checkpoints/step-2";
    fs::rename(saved, saved + ".tmp-1-0.old");
    options.train.steps = 4;
    ASSERT_EQ(execute("parts", options, openTexts(), true).info.state, RunState::Done);
    const auto weights = readTensors(m_home / "whole/checkpoints/step-4/optimizer.safetensors");
    const auto again = readTensors(m_home / "parts/checkpoints/step-4/optimizer.safetensors");
    ASSERT_EQ(weights.size(), again.size());
    std::size_t whole = 0;
    for (const auto& [name, tensor] : weights) {
        EXPECT_TRUE(tensor.equal(again.at(name))) << name;
        whole += name.starts_with("weights/");
    }
    EXPECT_GT(whole, 20u);  // float32 beside the 16 bits

    // The folder is a checkpoint of the family, with what stood beside it.
    const auto folder = m_home / "whole/checkpoints/step-4";
    for (const char* file :
         {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"})
        EXPECT_TRUE(fs::exists(folder + "/" + file)) << file;
    const auto info = readCheckpointInfo(folder);
    EXPECT_TRUE(info.loads());
    ASSERT_EQ(info.tensors.size(), halves.size());
    for (const auto& tensor : info.tensors) EXPECT_EQ(tensor.dtype, "BF16") << tensor.name;
    // It opens as a run and as a checkpoint, and is converted as any other.
    OpenedModel run(m_home / "whole", "", "cpu"), checkpoint(folder, "", "cpu");
    EXPECT_EQ(run.checksum(), checkpoint.checksum());
    ASSERT_TRUE(run.tokenizer());
    EXPECT_EQ(run.tokenizer()->fingerprint(), checkpoint.tokenizer()->fingerprint());
    convertCheckpoint(folder, m_home / "converted");
    EXPECT_EQ(OpenedModel(m_home / "converted", "", "cpu").checksum(), run.checksum());
    GenerateOptions how;
    how.tokens = 3, how.temperature = 0.0;
    int tokens = 0;
    run.generate("the cat", how, [&](const GeneratedToken&) { return ++tokens < 3; });
    EXPECT_GT(tokens, 0);
    // Training has changed it.
    EXPECT_NE(began, run.checksum());
    EXPECT_EQ(readRunInfo(m_home / "whole").variant, "half");
    // The estimate stands in the notes.
    bool said = false;
    for (const auto& note : readEvents(m_home / "whole"))
        said = said || (note.text.find("training needs about") == 0 &&
                        note.text.find("moments of the optimizer") != std::string::npos);
    EXPECT_TRUE(said);
    // A branch saves in the same form.
    keepCheckpoint(m_home / "whole/checkpoints/step-2", options);
    branchRun(m_home / "whole", 2, m_home / "branch");
    ASSERT_EQ(execute("branch", options, openTexts(), true).info.state, RunState::Done);
    EXPECT_TRUE(
        readTensors(m_home / "branch/checkpoints/step-4/model.safetensors")
            .at("transformer.wte.weight")
            .equal(readTensors(folder + "/model.safetensors").at("transformer.wte.weight")));
}

TEST_F(PublicTraining, SaysThatTheStartHasChangedBeforeTheFirstCheckpoint) {
    const auto from = m_home / "source";
    fs::copy(kCases + "gpt2_tied", from);
    const auto options = runOptions(settings(from));
    const auto said = [&] {
        std::int64_t count = 0;
        for (const auto& note : readEvents(m_home / "run"))
            count += note.text.find("has changed since the run began") != std::string::npos;
        return count;
    };
    for (const bool changed : {false, false, true}) {
        if (changed)
            fs::last_write_time(from + "/model.safetensors",
                                fs::file_time_type::clock::now() + std::chrono::hours(1));
        const bool resume = fs::exists(m_home / "run");
        ASSERT_EQ(execute("run", options, openTexts(), resume).info.state, RunState::Done);
        EXPECT_EQ(said(), changed ? 1 : 0);
        fs::remove_all(m_home / "run/checkpoints");  // killed before the first one
    }
}

TEST_F(PublicTraining, RefusesWhatDoesNotFitTheCheckpoint) {
    const auto gpt2 = kCases + "gpt2_tied", llama = kCases + "llama_gqa_untied";
    expectWords(refusal(settings(gpt2, {"data.tokenizer=gpt2"})), {"data.tokenizer", "gpt2_tied"});
    expectWords(refusal(settings(gpt2, {"data.tokenizer=characters"})),
                {"data.tokenizer", "characters", "gpt2_tied/tokenizer.json"});
    expectWords(refusal(settings(llama)), {"data.tokenizer", "has no tokenizer", "tokenizer.json"});
    expectWords(refusal(settings(llama, {"data.tokenizer=characters"})),
                {"data.tokenizer", "characters", "tokenizer.json of its model"});
    expectWords(refusal(settings(gpt2, {"data.context=49"})), {"data.context", "49", "48"});
    expectWords(refusal(settings(gpt2, {"model.d_model=64"})), {"model.d_model", "64", "32"});
    expectWords(refusal(settings(m_home / "none")), {"none", "does not exist"});
    expectWords(refusal(settings("hub:no-such/model")), {"no-such/model", "fetch"});
    expectWords(refusal(settings(gpt2, {"train.pretrain=train.steps=1", "train.start_from=all"})),
                {"train.init_from", "train.pretrain"});
    // A model of images reads no text.
    auto text = settings(kCases + "vit");
    text.preset = "text", text.set = {}, text.data = m_home / "text.txt";
    expectWords(refusal(text), {"data.kind", "text"});
    // Only the option, without the model of the checkpoint.
    auto alone = settings(gpt2, {"train.init_from=" + gpt2});
    alone.begin = {};
    expectWords(refusal(alone), {"train.init_from", "GPT-2", "--init-from"});
    // More than any machine has.
    expectWords(refusal(settings(gpt2, {"train.batch_size=1000000", "data.context=48"})),
                {"training needs about", "are free"});
    // A damaged checkpoint is refused before anything is made.
    const auto cut = m_home / "cut";
    fs::copy(gpt2, cut);
    fs::resize_file(cut + "/model.safetensors", 5000);
    expectWords(refusal(settings(cut)), {"cut/model.safetensors"});
}

TEST_F(PublicTraining, AModelOfTheHubIsFoundOnEveryMachine) {
    const std::string commit(40, 'a'), model = "/huggingface/hub/models--some--gpt2";
    const auto here = m_home / "cache" + model;
    makeDirectories(here + "/refs");
    makeDirectories(here + "/snapshots");
    writeTextFile(here + "/refs/main", commit);
    fs::copy(kCases + "gpt2_tied", here + "/snapshots/" + commit);
    const auto options = runOptions(settings("hub:some/gpt2"));
    EXPECT_EQ(options.data.tokenizer, "hub:some/gpt2");
    // Another one, with a cache elsewhere, opens the same data.
    fs::rename(m_home / "cache", m_home / "elsewhere");
    ::setenv("XDG_CACHE_HOME", (m_home / "elsewhere").c_str(), 1);
    ASSERT_EQ(execute("run", options).info.state, RunState::Done);
    fs::remove_all(m_home / "elsewhere");  // the run has its tokenizer
    EXPECT_EQ(execute("run", options, openTexts(), true).info.state, RunState::Done);
}

TEST_F(PublicTraining, AStartThatFailsLeavesNothing) {
    // After the weights and the form of the family were taken.
    RunRequest request{m_home / "left", runOptions(settings(kCases + "gpt2_tied"))};
    request.edits = [](const std::vector<PointInfo>&) -> EditList {
        throw OptionError("edits", "do not fit");
    };
    Control control;
    EXPECT_THROW(executeRun(request, openTexts(), control, [](const TrainEvent&) {}, {}),
                 OptionError);
    EXPECT_FALSE(fs::exists(m_home / "left"));
    // What the form of a run says is checked.
    const auto options = checkpointModel(*CheckpointSource::open(kCases + "gpt2_tied"));
    for (const char* text :
         {"{", "{\"tensors\": []}", "{\"tensors\": [{\"name\": 3}]}",
          "{\"tensors\": [{\"name\": \"a\", \"dtype\": \"I64\", \"shape\": []}]}"}) {
        makeDirectories(familyFolder(m_home.path()));
        writeTextFile(familyFolder(m_home.path()) + "/tensors.json", text);
        try {
            readFamilyForm(m_home.path(), options);
            ADD_FAILURE() << text;
        } catch (const FileError& error) {
            expectWords(error.what(), {"family/tensors.json"});
        }
    }
}

TEST_F(PublicTraining, ImageModelsKeepOrChangeTheirClassifier) {
    const auto vit = kCases + "vit";
    const auto own = checkpointModel(*CheckpointSource::open(vit)).get<ImageInput>().num_classes;
    const auto other = own + 2;
    const auto wrong = opened(std::make_shared<Coloured>(other));
    expectWords(refusal(settings(vit), wrong),
                {"model.num_classes", std::to_string(own), std::to_string(other)});
    const auto few = opened(std::make_shared<Coloured>(own - 1));
    expectWords(refusal(settings(vit), few), {"model.num_classes", std::to_string(own - 1)});

    ASSERT_EQ(execute("own", runOptions(settings(vit)), opened(std::make_shared<Coloured>(own)))
                  .info.state,
              RunState::Done);
    const auto config = [&](const std::string& run) {
        return readTextFile(m_home / (run + "/checkpoints/step-4/config.json"));
    };
    const auto said = [&](const std::string& run) {
        for (const auto& note : readEvents(m_home / run))
            if (note.text.find("the classes are ") == 0) return note.text;
        return std::string();
    };
    // The classes are those of the data, even if they are as many.
    EXPECT_EQ(classNamesOfConfig(config("own")).back(), "colour " + std::to_string(own - 1));
    expectWords(said("own"), {"stripes", "vit", "colour 0"});
    // Those of the checkpoint stay as they are, and in another order their rows follow them.
    auto names = classNamesOfConfig(readTextFile(vit + "/config.json"));
    ASSERT_EQ(execute("same", runOptions(settings(vit)), opened(std::make_shared<Coloured>(names)))
                  .info.state,
              RunState::Done);
    EXPECT_EQ(config("same"), readTextFile(vit + "/config.json"));
    EXPECT_EQ(said("same"), "");
    std::reverse(names.begin(), names.end());
    ASSERT_EQ(execute("turned", runOptions(settings(vit, {"train.learning_rate=1e-9"})),
                      opened(std::make_shared<Coloured>(names)))
                  .info.state,
              RunState::Done);
    EXPECT_EQ(classNamesOfConfig(config("turned")), names);
    EXPECT_EQ(said("turned"), "");
    const auto rows = readTensors(vit + "/model.safetensors"),
               turned = readTensors(m_home / "turned/checkpoints/step-4/model.safetensors");
    for (const auto& [tensor, values] : rows)
        EXPECT_TRUE(torch::allclose(
            turned.at(tensor),
            tensor.find("classifier") == std::string::npos ? values : values.flip(0), 1e-5, 1e-6))
            << tensor;
    EXPECT_TRUE(fs::exists(m_home / "own/checkpoints/step-4/preprocessor_config.json"));
    EXPECT_EQ(OpenedModel(m_home / "own", "", "cpu").warning(), "");

    for (const std::string name : {"vit", "deit_teacher"}) {
        SCOPED_TRACE(name);
        const auto from = kCases + name;
        const auto classes = "model.num_classes=" + std::to_string(other);
        const auto options = runOptions(settings(from, {classes, "train.learning_rate=1e-9"}));
        const auto result = execute(name, options, wrong);
        ASSERT_EQ(result.info.state, RunState::Done) << result.info.message;
        const auto folder = m_home / (name + "/checkpoints/step-4");
        const auto info = readCheckpointInfo(folder);
        EXPECT_TRUE(info.loads());
        EXPECT_EQ(info.classNames.size(), static_cast<std::size_t>(other));
        EXPECT_EQ(info.classNames.back(), "colour " + std::to_string(other - 1));
        // All but the classifiers came from the checkpoint.
        const auto theirs = readTensors(from + "/model.safetensors"),
                   ours = readTensors(folder + "/model.safetensors");
        ASSERT_EQ(ours.size(), theirs.size());
        for (const auto& [tensor, values] : theirs) {
            if (tensor.find("classifier") == std::string::npos)
                EXPECT_TRUE(torch::allclose(ours.at(tensor), values, 1e-5, 1e-6)) << tensor;
            else
                EXPECT_EQ(ours.at(tensor).size(0), other) << tensor;
        }
    }
}

TEST_F(PublicTraining, GoesOnFromARunOfAnyModel) {
    RunSettings s{"text"};
    s.data = m_home / "text.txt";
    s.set = {"model.d_model=16",       "model.dff=16",         "model.n_layers=1",
             "model.n_heads_sa=2",     "model.n_heads_ra=2",   "model.n_relations=4",
             "model.n_symbols=4",      "model.symbol_heads=2", "model.max_block_size=16",
             "data.context=12",        "train.steps=2",        "train.batch_size=2",
             "data.validation_size=4", "train.device=cpu"};
    ASSERT_EQ(execute("first", runOptions(s)).info.state, RunState::Done);
    const auto options = runOptions(settings(m_home / "first"));
    EXPECT_EQ(options.model, readRunOptions(m_home / "first").model);
    ASSERT_EQ(execute("second", options).info.state, RunState::Done);
    EXPECT_FALSE(fs::exists(m_home / "second/family"));
    // It began with the weights that the first one ended with.
    const auto loss = [&](const std::string& run, bool last) {
        std::vector<double> all;
        for (const auto& point : readMetrics(m_home / run))
            if (point.split == Split::Validation) all.push_back(point.value("loss"));
        return last ? all.back() : all.front();
    };
    EXPECT_DOUBLE_EQ(loss("second", false), loss("first", true));
    // A run says all of its model, whatever the shapes.
    expectWords(refusal(settings(m_home / "first", {"model.norm_first=false"})),
                {"model.norm_first", "false", "true"});
    // Other widths do not fit.
    expectWords(refusal(settings(m_home / "first", {"model.d_model=32"})),
                {"model.d_model", "32", "16"});
}

TEST_F(PublicTraining, AnOutputStoredApartStaysApart) {
    const auto from = m_home / "apart";
    fs::copy(kCases + "gpt2_tied", from);
    auto all = readTensors(from + "/model.safetensors");
    all["lm_head.weight"] = all.at("transformer.wte.weight") + 0.01;
    saveTensors(from + "/model.safetensors", {all.begin(), all.end()}, {{"format", "pt"}});
    ASSERT_EQ(execute("run", runOptions(settings(from))).info.state, RunState::Done);
    const auto folder = m_home / "run/checkpoints/step-4";
    EXPECT_EQ(nlohmann::json::parse(readTextFile(folder + "/config.json"))["tie_word_embeddings"],
              false);
    EXPECT_TRUE(readCheckpointInfo(folder).loads());
}

}  // namespace
}  // namespace relascope
