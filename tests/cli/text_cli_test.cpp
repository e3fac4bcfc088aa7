// SPDX-License-Identifier: GPL-3.0-or-later
// The command line over texts: train, eval, inspect --text, generate; and published checkpoints of
// every form with a tokenizer beside them.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;

// One run for all tests: sixty characters, so that its tokenizer fits the golden vocabulary of 61.
class TextCli : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        s_home = new TemporaryFolder("text-cli");
        fs::create_directories(s_home->path());
        ::setenv("XDG_CACHE_HOME", (*s_home / "cache").c_str(), 1);
        std::string alphabet;
        for (char c = 'a'; c <= 'z'; ++c) alphabet += c;
        for (char c = 'A'; c <= 'Z'; ++c) alphabet += c;
        alphabet += "0123456 ";
        std::ofstream text(*s_home / "text.txt");
        for (int i = 0; i < 60; ++i) text << alphabet << "the cat sat on the mat ";
        text.close();
        s_trained = runCli("train text --json --steps 4 --device cpu --out " + run() +
                           " --set data.path=" + *s_home / "text.txt" +
                           " --set data.context=16 --set data.validation_size=4 "
                           "--set model.d_model=16 --set model.dff=16 --set model.n_layers=2 "
                           "--set model.n_heads_sa=2 --set model.n_heads_ra=2 "
                           "--set model.n_relations=4 --set model.n_symbols=5 "
                           "--set model.symbol_heads=2 --set train.batch_size=4 "
                           "--set data.sample_tokens=4 2>/dev/null");
    }
    static void TearDownTestSuite() {
        ::unsetenv("XDG_CACHE_HOME");
        delete s_home;
    }
    static std::string run() { return *s_home / "run"; }
    static TemporaryFolder* s_home;
    static decltype(runCli("")) s_trained;
};
TemporaryFolder* TextCli::s_home = nullptr;
decltype(runCli("")) TextCli::s_trained;

TEST_F(TextCli, TrainsAndEvaluates) {
    ASSERT_EQ(s_trained.code, 0);
    const auto trained = json(s_trained);
    EXPECT_NEAR(trained["perplexity"].get<double>(), std::exp(trained["loss"].get<double>()), 1e-6);
    const auto again = json(runCli("eval --json " + run()));
    EXPECT_NEAR(again["loss"].get<double>(), trained["loss"].get<double>(), 1e-6);
    EXPECT_EQ(again["examples"], 4);
    // Another text, by the run's own characters: what it never saw counts as unknown.
    std::ofstream(*s_home / "other.txt") << std::string(400, 'x') + "\xF0\x9F\x98\x80\n???";
    const auto other = json(runCli("eval --json " + run() + " --data " + *s_home / "other.txt"));
    EXPECT_GT(other["perplexity"].get<double>(), 1.0);
    expectRefused("eval " + run() + " --data /nonexistent.txt", 1, "/nonexistent.txt");
}

// A character that the tokenizer does not know is one token, whatever it was: no bits of a byte.
TEST_F(TextCli, UnknownCharactersHaveNoBitsPerByte) {
    const auto own = json(runCli("eval --json " + run()));
    EXPECT_GT(own["bits_per_byte"].get<double>(), 0.0);
    EXPECT_FALSE(own.contains("unknown_characters"));
    std::string text;
    for (int i = 0; i < 20; ++i) text += "the cat \xD0\xBA\xD0\xBE\xD1\x82 ";
    std::ofstream(*s_home / "cyrillic.txt") << text;
    const std::string command = "eval " + run() + " --data " + *s_home / "cyrillic.txt";
    const auto other = json(runCli(command + " --json"));
    EXPECT_FALSE(other.contains("bits_per_byte"));
    // Three letters in each twelve characters, of which all but the first are predicted.
    const auto tokens = other["tokens"].get<double>();
    EXPECT_NEAR(other["unknown_characters"].get<double>(), tokens / 4, 3);
    EXPECT_GT(other["perplexity"].get<double>(), 1.0);
    const auto line = runCli(command).out;
    EXPECT_NE(line.find(" characters unknown to the tokenizer: no bits per byte"),
              std::string::npos)
        << line;
    EXPECT_EQ(line.find("0 characters unknown"), std::string::npos) << line;
}

TEST_F(TextCli, LensAndAttributionNameTokens) {
    const auto lens =
        json(runCli("lens --json " + run() + " --text 'the cat' --answer a --answer ' ' --top 2"));
    EXPECT_EQ(lens["layers"].size(), 3u);
    ASSERT_EQ(lens["answers"].size(), 7u);
    std::string inputs;
    for (const auto& answer : lens["answers"]) inputs += answer["input"].get<std::string>();
    EXPECT_EQ(inputs, "the cat");
    const auto& cells = lens["cells"];
    ASSERT_EQ(cells.size(), 3u * 7u * 4u) << "two likeliest answers and two that were asked for";
    EXPECT_EQ(cells[cells.size() - 4]["answer"], lens["answers"][6]["name"]);
    EXPECT_EQ(cells[3]["answer"], " ");
    const auto table = runCli("lens " + run() + " --text 'the cat'");
    EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 8) << table.out;
    const auto bars = runCli("lens " + run() + " --text 'the cat' --position -1 --answer a");
    for (const char* part : {"position 6, 't', answer '", "embedding", "layer 2", "'a'\n", "%"})
        EXPECT_NE(bars.out.find(part), std::string::npos) << part << "\n" << bars.out;

    const std::string attribute = "attribute --json " + run() + " --text 'the cat' --logit a";
    const auto parts = json(runCli(attribute + " --minus ' '"));
    EXPECT_EQ(parts["answer"], "a");
    EXPECT_EQ(parts["minus"], " ");
    EXPECT_EQ(parts["position"], 6);
    EXPECT_NEAR(parts["sum"].get<double>(), parts["logit"].get<double>(), 1e-4);
    const auto id = std::to_string(parts["answer_id"].get<int>());
    EXPECT_EQ(json(runCli("attribute --json " + run() + " --text 'the cat' --logit id:" + id)),
              json(runCli(attribute)));
    expectRefused("attribute " + run() + " --text cat --logit cat", 2,
                  "--logit: 'cat' is 3 tokens; give the text of one token, or its id as id:N");
    expectRefused("attribute " + run() + " --text cat --logit a --minus id:900", 2,
                  "--minus: there is no answer 900");
    expectRefused("lens " + run() + " --text cat --position 3", 2,
                  "--position: 3 is out of range: the input has 3 positions, 0 to 2");
    expectRefused("lens " + run() + " --image x.png", 2, "--image: is for models of images");
    expectRefused("lens " + run() + " --text cat --checkpoint 7", 1, "'7'");
}

TEST_F(TextCli, InspectsTypedText) {
    const auto table = runCli("inspect " + run() + " --text 'the \"cat\"' --layer 2 --index 3");
    EXPECT_EQ(table.code, 0);
    EXPECT_EQ(table.out.rfind("i\\j,t,h,e,\" \"", 0), 0u) << table.out;
    const auto o = json(runCli("inspect --json " + run() + " --text cat"));
    EXPECT_EQ(o["rows"], 3);
    EXPECT_EQ(o["values"].size(), 9u);
    EXPECT_EQ(json(runCli("inspect --json " + run()))["rows"], 16);  // the run's own first window
}

TEST_F(TextCli, GeneratesTheSameTextForASeed) {
    const std::string words =
        "generate --json " + run() + " --prompt 'the cat' --tokens 12 --seed ";
    const auto one = json(runCli(words + "1")), same = json(runCli(words + "1")),
               other = json(runCli(words + "2"));
    EXPECT_EQ(one["text"], same["text"]);
    EXPECT_NE(one["text"], other["text"]);
    EXPECT_EQ(one["tokens"].size(), 12u);
    EXPECT_EQ(one["end"], "length");
    const double p = one["tokens"][0]["probability"].get<double>();
    EXPECT_GT(p, 0.0);
    EXPECT_LT(p, 1.0);
    const auto plain = runCli("generate " + run() + " --prompt 'the cat' --tokens 12 --seed 1");
    EXPECT_EQ(plain.out, "the cat" + one["text"].get<std::string>() + "\n");
    EXPECT_EQ(json(runCli(words + "1 --temperature 0 --bf16"))["tokens"].size(), 12u);
    // A prompt longer than the context, with what is no text in it.
    std::ofstream(*s_home / "prompt.txt") << std::string(3000, 'a') + std::string("\0\xFF", 2);
    const auto longPrompt = json(
        runCli("generate --json " + run() + " --tokens 3 --prompt-file " + *s_home / "prompt.txt"));
    EXPECT_EQ(longPrompt["tokens"].size(), 3u);
    expectRefused("generate " + run() + " --prompt ''", 2, "prompt: is empty");
    expectRefused("generate " + run() + " --prompt '' --edit 'layer 1 relation 1 zero'", 2,
                  "prompt: is empty");
    expectRefused("generate " + run() + " --prompt a --temperature -1", 2, "temperature");
    expectRefused("generate " + run() + " --prompt a --top-p 0", 2, "top-p");
    expectRefused("generate " + run() + " --prompt a --tokenizer gpt2", 2,
                  "gpt2 has 50257 tokens, but the model's vocabulary has 61");
    expectRefused("generate " + *s_home / "none --prompt a", 1, "none");
}

TEST_F(TextCli, ResumesWithItsOwnTokenizerAndRefusesADeepOne) {
    fs::copy(run(), *s_home / "again", fs::copy_options::recursive);
    const std::string text = slurp(*s_home / "text.txt");
    // The same text but for one letter: characters made anew would all be others.
    std::string other = text;
    std::replace(other.begin(), other.end(), 'a', 'c');
    std::ofstream(*s_home / "text.txt") << other;
    const auto resumed = json(runCli("train --json --resume " + *s_home / "again --steps 6"));
    const auto measured = json(runCli("eval --json " + *s_home / "again"));
    std::ofstream(*s_home / "text.txt") << text;
    EXPECT_NEAR(resumed["loss"].get<double>(), measured["loss"].get<double>(), 1e-6);

    const std::string deep(100000, '[');
    std::ofstream(*s_home / "deep.json")
        << R"({"model":{"type":"BPE","vocab":)" + deep + std::string(100000, ']') + "}}";
    expectRefused("generate " + run() + " --prompt a --tokenizer " + *s_home / "deep.json", 1,
                  "nested deeper");
}

TEST_F(TextCli, PublishedFormsOpenShowAndGenerate) {
    const fs::path golden = std::string(RELASCOPE_FIXTURES) + "/golden/checkpoints";
    expectRefused("generate " + (golden / "hub_dat_lm").string() + " --prompt a", 2,
                  "the vocabulary size 61");
    const auto tokenizer = run() + "/tokenizer.json";
    const std::string forms[] = {*s_home / "hub", *s_home / "hub/model.safetensors",
                                 *s_home / "pt/checkpoint.pt", *s_home / "copy",
                                 *s_home / "copy.pt"};
    fs::copy(golden / "hub_dat_lm", *s_home / "hub");
    fs::copy(golden / "research_pt", *s_home / "pt");
    fs::copy(tokenizer, *s_home / "hub/tokenizer.json");
    fs::copy(tokenizer, *s_home / "pt/tokenizer.json");
    fs::copy(tokenizer, *s_home / "tokenizer.json");
    EXPECT_EQ(runCli("convert " + *s_home / "hub " + *s_home / "copy").code, 0);
    EXPECT_TRUE(fs::exists(*s_home / "copy/tokenizer.json"));  // a folder takes its tokenizer along
    EXPECT_EQ(runCli("convert " + *s_home / "hub " + *s_home / "copy.pt").code, 0);
    for (const auto& form : forms) {
        const auto looked = json(runCli("inspect --json " + form + " --text 'the cat'"));
        EXPECT_EQ(looked["rows"], 7) << form;
        const auto text = json(runCli("generate --json " + form + " --prompt 'the' --tokens 40"));
        EXPECT_EQ(text["tokens"].size(), 40u) << form;  // beyond the context of 24
    }
    const auto plain = (golden / "hub_transformer_lm").string();
    EXPECT_EQ(json(runCli("generate --json " + plain + " --prompt the --tokens 30 --tokenizer " +
                          tokenizer))["tokens"]
                  .size(),
              30u);
}

}  // namespace
}  // namespace relascope
