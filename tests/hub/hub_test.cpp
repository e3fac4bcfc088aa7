// SPDX-License-Identifier: GPL-3.0-or-later
// Models by name: what is fetched from a hub on this machine, also from one that fails and lies,
// and what the cache holds then.
#include "hub/hub_fetch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "files/atomic_file.h"
#include "files/sha256.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/text_format.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using core::HubModel;
using core::HubProgress;

class HubTest : public ::testing::Test {
protected:
    void SetUp() override {
        std::mt19937 random(1);
        std::string bytes(200'000, '\0');
        for (auto& c : bytes) c = static_cast<char>(random());
        for (const char* repo : {"org/tiny", "gated/tiny"}) {
            write(repo, "config.json", "{\"model_type\": \"none\"}");
            write(repo, "README.md", "# Tiny");
            write(repo, "model.safetensors", bytes);
            write(repo, "modeling_tiny.py", "print('never fetched')");
            write(repo, "onnx/model.onnx", "never fetched");
        }
        unsetenv("HF_HUB_CACHE");
        setenv("HF_HOME", (home / "hf").c_str(), 1);
        for (const char* name : {"HF_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE"}) unsetenv(name);
        for (const char* name : {"http_proxy", "https_proxy", "all_proxy"}) unsetenv(name);
        begin();
    }
    void TearDown() override {
        if (server) ::pclose(server);
        for (const char* name : {"HF_HOME", "HF_ENDPOINT", "HF_TOKEN", "HF_HUB_OFFLINE"})
            unsetenv(name);
    }
    /// It ends with its standard input, which is that of this process; so it gets one of its own.
    void begin() {
        const std::string out = home / "address";
        fs::remove(out);
        server = ::popen(("python3 " RELASCOPE_FIXTURES "/../hub/hub_server.py " +
                          shellWord(home / "models") + " > " + shellWord(out))
                             .c_str(),
                         "w");
        std::string address;
        for (int i = 0; i < 500 && !address.ends_with('\n'); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (fs::exists(out)) address = core::readTextFile(out);
        }
        ASSERT_TRUE(address.ends_with('\n')) << "the hub does not begin";
        address.pop_back();
        setenv("HF_ENDPOINT", address.c_str(), 1);
    }
    void write(const std::string& repo, const std::string& name, const std::string& text) {
        const fs::path path = fs::path(home / "models") / repo / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
    }
    void behave(const std::string& json) { core::writeTextFile(home / "models/behave.json", json); }
    std::string requests() const {
        const std::string log = home / "models/requests.log";
        return fs::exists(log) ? core::readTextFile(log) : "";
    }
    std::string original(const std::string& name) const {
        return core::readTextFile(home / ("models/org/tiny/" + name));
    }
    /// The sentence with which a fetch is refused; empty if it succeeds.
    std::string fetch(const std::string& name = "org/tiny",
                      const std::function<bool(const HubProgress&)>& progress = {}) {
        try {
            snapshot = core::fetchHubModel(core::hubModel(name), progress);
            return {};
        } catch (const Cancelled&) {
            return "cancelled";
        } catch (const Error& error) {
            return error.what();
        }
    }
    fs::path folder() const { return home / "hf/hub/models--org--tiny"; }
    std::vector<fs::path> parts() const {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator(folder() / "blobs"))
            if (entry.path().extension() == ".incomplete") all.push_back(entry.path());
        return all;
    }
    void expectWhole() {
        for (const char* name : {"config.json", "README.md", "model.safetensors"})
            EXPECT_EQ(core::readTextFile(snapshot + "/" + name), original(name)) << name;
    }

    testing_support::TemporaryFolder home{"hub"};
    FILE* server = nullptr;
    std::string snapshot;
};

TEST(HubNames, AreRead) {
    EXPECT_EQ(core::hubModel("org/name"), (HubModel{"org/name", "main"}));
    EXPECT_EQ(core::hubModel("gpt2@v1.0"), (HubModel{"gpt2", "v1.0"}));
    EXPECT_EQ(core::hubModel("a/b@refs/pr/1").text(), "a/b@refs/pr/1");
    for (const std::string name : {"", "/", "a/", "/a", "a/b/c", "../a", "a/..", "a b/c", "a--b/c",
                                   "a/b@", "a/b@../x", "a/b@/etc", "http://x/y"})
        EXPECT_THROW(core::hubModel(name), OptionError) << name;
    for (const std::string name : {"", "/a", "../a", "a/../b", "./a", "a\\b"})
        EXPECT_FALSE(core::isHubFileName(name)) << name;
    EXPECT_FALSE(core::isHubFileName(std::string("a\0b", 3)));
    EXPECT_TRUE(core::isHubFileName("onnx/model.onnx"));
}

TEST_F(HubTest, OfNanochatTheLargestStepIsFetchedWithItsMetaFile) {
    for (const char* name :
         {"model_000010.pt", "meta_000010.json", "model_000200.pt", "meta_000200.json",
          "model_000300.pt", "optim_000200_rank0.pt", "tokenizer.pkl", "token_bytes.pt"})
        write("org/nano", name, name);
    EXPECT_EQ(fetch("org/nano"), "");
    std::set<std::string> there;
    for (const auto& entry : fs::directory_iterator(snapshot))
        there.insert(entry.path().filename().string());
    EXPECT_EQ(there,
              (std::set<std::string>{"meta_000200.json", "model_000200.pt", "tokenizer.pkl"}));
}

TEST_F(HubTest, AModelIsFetchedAsTheHubsOwnClientLaysItOut) {
    std::int64_t last = 0, total = 0;
    EXPECT_EQ(fetch("org/tiny",
                    [&](const HubProgress& p) {
                        EXPECT_GE(p.done, last);
                        last = p.done, total = p.total;
                        return true;
                    }),
              "");
    EXPECT_EQ(last, total);
    EXPECT_GT(total, 200'000);
    expectWhole();
    for (const char* name : {"modeling_tiny.py", "onnx"})
        EXPECT_FALSE(fs::exists(snapshot + "/" + name)) << "never code, nor other forms";
    const auto link = fs::read_symlink(snapshot + "/model.safetensors");
    EXPECT_EQ(link, "../../blobs/" + core::sha256Of(original("model.safetensors")));
    const auto commit = fs::path(snapshot).filename().string();
    EXPECT_EQ(core::readTextFile((folder() / "refs/main").string()), commit);
    EXPECT_TRUE(parts().empty());
    // What is there is not fetched again, and is found without a connection.
    const auto before = requests().size();
    EXPECT_EQ(fetch(), "");
    EXPECT_EQ(requests().find("/elsewhere/", before), std::string::npos);
    setenv("TRANSFORMERS_OFFLINE", "YES", 1);
    try {
        core::fetchHubModel(core::hubModel("org/tiny"), [](const HubProgress&) { return true; });
        ADD_FAILURE() << "TRANSFORMERS_OFFLINE is not kept";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("TRANSFORMERS_OFFLINE is set"), std::string::npos);
    }
    unsetenv("TRANSFORMERS_OFFLINE");
    setenv("HF_HUB_OFFLINE", "1", 1);
    EXPECT_EQ(fetch(),
              "org/tiny is not fetched: HF_HUB_OFFLINE is set, so that no connection is made");
    EXPECT_EQ(core::hubPath("hub:org/tiny"), snapshot);
    EXPECT_EQ(core::hubPath("hub:org/tiny@" + commit), snapshot);
    EXPECT_EQ(core::hubPath("/a/path"), "/a/path");
    const auto cached = core::cachedModels();
    ASSERT_EQ(cached.size(), 1u);
    EXPECT_EQ(cached[0].name, "org/tiny");
    EXPECT_EQ(cached[0].path, snapshot);
    EXPECT_THROW(core::hubPath("hub:org/other"), Error);
}

TEST_F(HubTest, ShardsAreThoseOfTheIndex) {
    fs::remove(home / "models/org/tiny/model.safetensors");
    write("org/tiny", "a.safetensors", "aaaa");
    write("org/tiny", "b.safetensors", "bb");
    write("org/tiny", "other.safetensors", "not of the model");
    write("org/tiny", "model.safetensors.index.json",
          R"({"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})");
    EXPECT_EQ(fetch(), "");
    EXPECT_TRUE(fs::exists(snapshot + "/a.safetensors"));
    EXPECT_TRUE(fs::exists(snapshot + "/b.safetensors"));
    EXPECT_FALSE(fs::exists(snapshot + "/other.safetensors"));
    write("org/tiny", "model.safetensors.index.json", "{");
    EXPECT_EQ(fetch(),
              "The hub's answer about org/tiny is refused: the index of its weights cannot "
              "be read.");
}

TEST_F(HubTest, ACutConnectionIsContinued) {
    behave(R"({"cut": 30000})");
    EXPECT_EQ(fetch(), "");
    expectWhole();
    EXPECT_NE(requests().find("bytes=30000-"), std::string::npos);
    EXPECT_NE(requests().find("bytes=180000-"), std::string::npos);
}

// As a mirror that sends all of a file when a part is asked for: in pieces, one of which ends where
// the file was cut.
TEST_F(HubTest, AMirrorThatKnowsNoRangesSendsItOnce) {
    behave(R"({"slow": 100000})");
    EXPECT_EQ(fetch("org/tiny", [](const HubProgress& p) { return p.done < 50'000; }), "cancelled");
    ASSERT_EQ(parts().size(), 1u);
    fs::resize_file(parts()[0], 10'000);
    behave(R"({"whole": 10000})");
    EXPECT_EQ(fetch(), "");
    expectWhole();
    const std::string asked = "bytes=10000-";
    const auto first = requests().find(asked);
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(requests().find(asked, first + 1), std::string::npos) << "it was cut again";
}

TEST_F(HubTest, WhatWasCancelledIsContinued) {
    behave(R"({"slow": 100000})");
    EXPECT_EQ(fetch("org/tiny", [](const HubProgress& p) { return p.done < 50'000; }), "cancelled");
    ASSERT_EQ(parts().size(), 1u);
    const auto size = fs::file_size(parts()[0]);
    EXPECT_GT(size, 40'000u);
    behave("{}");
    EXPECT_EQ(fetch(), "");
    expectWhole();
    EXPECT_NE(requests().find("bytes=" + std::to_string(size) + "-"), std::string::npos);
    EXPECT_TRUE(parts().empty());
}

TEST_F(HubTest, ABusyHubIsAskedAgain) {
    behave(R"({"fail": 2})");
    EXPECT_EQ(fetch(), "");
    behave(R"({"fail": 100})");
    EXPECT_NE(fetch().find("answers 503 when asked about org/tiny; try again later."),
              std::string::npos);
}

TEST_F(HubTest, RefusalsSayTheWayOut) {
    const std::string page = std::getenv("HF_ENDPOINT");
    EXPECT_EQ(fetch("org/none"),
              "org/none does not exist, or is private: put your token into HF_TOKEN.");
    EXPECT_EQ(fetch("org/tiny@v2"), "org/tiny has no revision 'v2'; see " + page + "/org/tiny.");
    EXPECT_EQ(fetch("gated/tiny"), "Access to gated/tiny is restricted: ask for it on " + page +
                                       "/gated/tiny, then put your token into HF_TOKEN.");
    setenv("HF_TOKEN", "wrong", 1);
    EXPECT_EQ(fetch("gated/tiny"),
              "Your token gives no access to gated/tiny: ask for it on " + page + "/gated/tiny.");
    EXPECT_EQ(fetch("org/none"), "org/none does not exist, or your token gives no access to it.");
    unsetenv("HF_TOKEN");
    fs::create_directories(home / "hf");
    core::writeTextFile(home / "hf/token", "secret\n");
    EXPECT_EQ(fetch("gated/tiny"), "");
    // Wherever the cache is: a file beside that is none of the hub's.
    unsetenv("HF_HOME");
    setenv("XDG_CACHE_HOME", (home / "").c_str(), 1);
    setenv("HF_HUB_CACHE", (home / "hf/hub").c_str(), 1);
    EXPECT_NE(fetch("gated/tiny"), "") << "the token beside the cache is not the hub's";
    fs::create_directories(home / "huggingface");
    core::writeTextFile(home / "huggingface/token", "secret\n");
    EXPECT_EQ(fetch("gated/tiny"), "");
    unsetenv("HF_HUB_CACHE");
    unsetenv("XDG_CACHE_HOME");
    setenv("HF_HOME", (home / "hf").c_str(), 1);
    EXPECT_EQ(fetch("old/name"), "") << "it was renamed";
    for (const char* name : {"config.json", "README.md"})
        fs::remove(home / "models/org/tiny" / fs::path(name));
    fs::remove(home / "models/org/tiny/model.safetensors");
    const auto said = fetch();
    EXPECT_NE(said.find("none of its files are weights"), std::string::npos) << said;
    setenv("HF_ENDPOINT", "ftp://x", 1);
    EXPECT_NE(fetch().find("HF_ENDPOINT"), std::string::npos);
    setenv("HF_ENDPOINT", "http://127.0.0.1:1", 1);
    setenv("REQUESTS_CA_BUNDLE", "/none.pem", 1);
    try {
        core::fetchHubModel(core::hubModel("org/tiny"), [](const HubProgress&) { return true; });
        ADD_FAILURE() << "certificates that are not there";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("REQUESTS_CA_BUNDLE names it"), std::string::npos)
            << error.what();
    }
    unsetenv("REQUESTS_CA_BUNDLE");
    EXPECT_TRUE(fetch().starts_with("org/tiny cannot be fetched, what has come is kept: "));
}

TEST_F(HubTest, LiesAreRefusedByName) {
    for (const auto& [lie, sentence] :
         {std::pair{"longer", "is longer than its size, 200000 bytes"},
          {"shorter", "is shorter than its size, 200000 bytes"},
          {"hash", "the bytes of model.safetensors do not have its SHA-256"},
          {"headers", "sends headers without end"},
          {"loop", "it is at 'http"},
          {"file", "which is not an address of HTTP"},
          {"names", "a file is named '../../escaped'"},
          {"json", "it is longer than 16 MB"},
          {"etag", "the ETag of model.safetensors is '../../escaped'"}}) {
        fs::remove_all(home / "hf");
        fs::create_directories(home / "hf");
        behave(std::string(R"({"lie": ")") + lie + "\"}");
        const auto said = fetch();
        EXPECT_NE(said.find(std::string(lie) == "loop" ? "leads in a circle" : sentence),
                  std::string::npos)
            << lie << ": " << said;
        EXPECT_EQ(core::findCachedModel({"org/tiny"}), std::nullopt) << lie;
        for (const auto& entry : fs::recursive_directory_iterator(home / "hf"))
            EXPECT_FALSE(entry.path().filename() == "escaped") << entry.path();
        EXPECT_FALSE(fs::exists(home / "escaped"));
    }
    behave("{}");
    EXPECT_EQ(fetch(), "");
    expectWhole();
}

TEST_F(HubTest, ALinkThatLeadsOutOfTheCacheIsRefused) {
    ASSERT_EQ(fetch(), "");
    fs::remove(snapshot + "/config.json");
    fs::create_symlink("/etc/passwd", snapshot + "/config.json");
    EXPECT_THROW(core::hubPath("hub:org/tiny"), FileError);
    core::writeTextFile((folder() / "refs/main").string(), "../../..");
    EXPECT_THROW(core::hubPath("hub:org/tiny"), FileError);
}

TEST_F(HubTest, BlobsMayBeOnAnotherDisk) {
    ASSERT_EQ(fetch(), "");
    const fs::path blobs = folder() / "blobs", other = home / "disk/blobs-of-tiny";
    fs::create_directories(other.parent_path());
    fs::rename(blobs, other);
    fs::create_directory_symlink(other, blobs);
    EXPECT_EQ(core::hubPath("hub:org/tiny"), snapshot);
    fs::remove(snapshot + "/config.json");
    std::ofstream(other.parent_path() / "passwd") << "x";  // beside the blobs
    fs::create_symlink("../../blobs/../passwd", snapshot + "/config.json");
    EXPECT_THROW(core::hubPath("hub:org/tiny"), FileError);
}

TEST_F(HubTest, TwoFetchesAtOnceMakeOneCopy) {
    behave(R"({"slow": 200000})");
    std::string other;
    std::jthread thread([&] {
        try {
            core::fetchHubModel({"org/tiny"}, {});
        } catch (const Error& error) {
            other = error.what();
        }
    });
    EXPECT_EQ(fetch(), "");
    thread.join();
    EXPECT_EQ(other, "");
    expectWhole();
    std::size_t bodies = 0;
    for (std::size_t at = 0; (at = requests().find("GET /elsewhere/", at)) != std::string::npos;
         ++at)
        ++bodies;
    EXPECT_EQ(bodies, 1u);
}

TEST_F(HubTest, ManyFetchesAtOnceLinkTheSameFiles) {
    ASSERT_EQ(fetch(), "");
    for (int round = 0; round < 10; ++round) {
        for (const auto& model : core::cachedModels()) std::filesystem::remove_all(model.path);
        std::array<std::string, 4> said;
        {
            std::vector<std::jthread> threads;
            for (auto& sentence : said)
                threads.emplace_back([&sentence] {
                    try {
                        core::fetchHubModel({"org/tiny"}, {});
                    } catch (const Error& error) {
                        sentence = error.what();
                    }
                });
        }
        for (const auto& sentence : said) ASSERT_EQ(sentence, "");
        expectWhole();
    }
}

// RELASCOPE_KILLS=20 kills at as many moments.
TEST_F(HubTest, AFetchThatIsKilledIsContinued) {
    behave(R"({"slow": 400000})");
    const char* wanted = std::getenv("RELASCOPE_KILLS");
    const int kills = wanted ? std::atoi(wanted) : 3;
    for (int i = 0; i < kills; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::execl(RELASCOPE_BIN "/relascope-cli", "relascope-cli", "fetch", "org/tiny", nullptr);
            _exit(127);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50 + 900 * i / kills));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_NO_THROW(core::cachedModels());
        EXPECT_NO_THROW(core::findCachedModel({"org/tiny"}));
    }
    behave("{}");
    EXPECT_EQ(fetch(), "");
    expectWhole();
    EXPECT_TRUE(parts().empty());
}

TEST_F(HubTest, CommandsTakeModelsByName) {
    for (const char* file : {"config.json", "model.safetensors"})
        write("org/vidat", file,
              core::readTextFile(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed/" +
                                 std::string(file)));
    const auto run = [&](const std::string& arguments) {
        const std::string command = RELASCOPE_BIN "/relascope-cli " + arguments + " > " +
                                    shellWord(home / "out") + " 2> " + shellWord(home / "said");
        const int status = std::system(command.c_str());
        return std::pair(WEXITSTATUS(status), core::readTextFile(home / "said"));
    };
    const auto [absent, sentence] = run("info hub:org/vidat");
    EXPECT_EQ(absent, 1);
    EXPECT_NE(sentence.find("fetch it with: relascope-cli fetch org/vidat"), std::string::npos);
    EXPECT_EQ(requests(), "") << "nothing is fetched without being asked for";
    const auto [fetched, commit] = run("inspect hub:org/vidat --fetch --random 1 --json");
    EXPECT_EQ(fetched, 0) << commit;
    EXPECT_TRUE(commit.starts_with("org/vidat, commit ")) << commit;
    EXPECT_EQ(run("info hub:org/vidat --json").first, 0);
    EXPECT_NE(core::readTextFile(home / "out").find("models--org--vidat"), std::string::npos);
    EXPECT_EQ(run("info hub:../x").first, 2);
    EXPECT_EQ(run("fetch org/vidat --list --json").first, 0);
    EXPECT_EQ(run("fetch --cached").first, 0);
    EXPECT_TRUE(core::readTextFile(home / "out").starts_with("org/vidat "));
}

// A training whose checkpoints are branches opens as one run; each is fetched when it is looked at.
TEST_F(HubTest, RevisionsAreTheStepsOfOneRun) {
    setenv("XDG_CACHE_HOME", (home / "cache").c_str(), 1);
    const std::string golden = RELASCOPE_FIXTURES "/golden/public/gpt2_tied/";
    const auto weights = core::readTextFile(golden + "model.safetensors");
    for (const auto& [revision, last] :
         {std::pair{"chck_1M", '\1'}, {"chck_10M", '\2'}, {"chck_2M", '\3'}}) {
        const auto repo = std::string("org/series@") + revision;
        write(repo, "config.json", core::readTextFile(golden + "config.json"));
        auto other = weights;
        other[other.size() - 3] = last;  // within the last number
        write(repo, "model.safetensors", other);
    }
    write("org/series", "README.md", "# Only revisions");
    const auto run = [&](const std::string& arguments) {
        const std::string command = RELASCOPE_BIN "/relascope-cli " + arguments + " > " +
                                    shellWord(home / "out") + " 2> " + shellWord(home / "said");
        const int status = std::system(command.c_str());
        return std::pair(WEXITSTATUS(status), core::readTextFile(home / "said"));
    };
    const auto bodies = [&](const std::string& revision) {
        const auto log = requests();
        std::size_t count = 0;
        const auto wanted = "GET /elsewhere/org/series%40" + revision;
        const auto plain = "GET /elsewhere/org/series@" + revision;
        for (const auto& word : {wanted, plain})
            for (std::size_t at = 0; (at = log.find(word, at)) != std::string::npos; ++at) ++count;
        return count;
    };
    EXPECT_NE(fetch("org/series")
                  .find("it has the revisions chck_10M, chck_1M, chck_2M, which are "
                        "opened as ORG/NAME@REVISION, or together as ORG/NAME@*"),
              std::string::npos);
    EXPECT_NE(run("info 'hub:org/series@*'").second.find("relascope-cli fetch 'org/series@*'"),
              std::string::npos);
    ASSERT_EQ(run("fetch org/series --revisions --json").first, 0);
    const auto listed = core::readTextFile(home / "out");
    EXPECT_NE(listed.find("\"step\": 10000000"), std::string::npos) << listed;
    EXPECT_EQ(bodies("chck"), 0u);

    const auto [made, said] = run("fetch 'org/series@*'");
    ASSERT_EQ(made, 0) << said;
    EXPECT_NE(said.find("chck_10M is fetched now"), std::string::npos) << said;
    EXPECT_NE(said.find("the other 2 steps"), std::string::npos) << said;
    EXPECT_EQ(bodies("chck_10M"), 1u);
    EXPECT_EQ(bodies("chck_1M") + bodies("chck_2M"), 0u);
    ASSERT_EQ(run("info 'hub:org/series@*' --json").first, 0);
    const auto info = core::readTextFile(home / "out");
    EXPECT_NE(info.find("\"step\": 2000000"), std::string::npos) << info;

    const std::string ids = "--text '1 2 3' --kind attention-sa --json";
    const auto [last, lastSaid] = run("inspect 'hub:org/series@*' " + ids);
    ASSERT_EQ(last, 0) << lastSaid;
    EXPECT_NE(core::readTextFile(home / "out").find("10000000"), std::string::npos);
    const auto along = "inspect 'hub:org/series@*' --along --source 1 --to 0 " + ids;
    const auto [few, fewSaid] = run(along);
    EXPECT_EQ(few, 0) << fewSaid;
    EXPECT_EQ(bodies("chck_1M") + bodies("chck_2M"), 0u) << "nothing is fetched unasked";
    const auto [earlier, earlierSaid] = run("inspect 'hub:org/series@*' --step 1000000 " + ids);
    EXPECT_EQ(earlier, 0) << earlierSaid;
    EXPECT_EQ(bodies("chck_1M"), 1u);

    behave(R"({"gone": "chck_2M"})");
    EXPECT_NE(run("inspect 'hub:org/series@*' --step 2000000 " + ids).second.find("no revision"),
              std::string::npos);
    behave(R"({"lie": "refs"})");
    EXPECT_NE(run("fetch 'org/series@*'").second.find("the commit of main is '../../escaped'"),
              std::string::npos);
    behave("{}");
    EXPECT_NE(run("fetch 'org/tiny@*'").second.find("has no two revisions that are steps"),
              std::string::npos);
    // A new revision is a new step.
    write("org/series@chck_20M", "config.json", core::readTextFile(golden + "config.json"));
    write("org/series@chck_20M", "model.safetensors", weights);
    EXPECT_EQ(run("fetch 'org/series@*'").first, 0);
    ASSERT_EQ(run("info 'hub:org/series@*' --json").first, 0);
    EXPECT_NE(core::readTextFile(home / "out").find("20000000"), std::string::npos);
    unsetenv("XDG_CACHE_HOME");
}

TEST_F(HubTest, ASeriesIsWholeWithoutTheRevisionsThatLackWeights) {
    setenv("XDG_CACHE_HOME", (home / "cache").c_str(), 1);
    const std::string golden = RELASCOPE_FIXTURES "/golden/public/gpt2_tied/";
    const auto weights = core::readTextFile(golden + "model.safetensors");
    char last = 1;
    for (const char* revision :
         {"stage1-step1000-tokens4B", "stage1-step2000-tokens9B", "stage1-step4000-tokens17B",
          "stage2-step1000-tokens4B", "stage2-step2000-tokens9B"}) {
        const auto repo = std::string("org/olmo@") + revision;
        write(repo, "config.json", core::readTextFile(golden + "config.json"));
        auto other = weights;
        other[other.size() - 3] = last++;
        write(repo, "model.safetensors", other);
    }
    write("org/olmo", "README.md", "# Only revisions");
    write("org/olmo@stage1-step3000-tokens13B", "README.md", "Nothing here");
    write("org/olmo@stage1-step5000-tokens22B", "README.md", "Nor here");
    const auto run = [&](const std::string& arguments) {
        const std::string command = RELASCOPE_BIN "/relascope-cli " + arguments + " > " +
                                    shellWord(home / "out") + " 2> " + shellWord(home / "said");
        const int status = std::system(command.c_str());
        return std::pair(WEXITSTATUS(status), core::readTextFile(home / "said"));
    };
    const auto out = [&] { return core::readTextFile(home / "out"); };
    ASSERT_EQ(run("fetch org/olmo --revisions").first, 0);
    EXPECT_NE(out().find("open 'hub:org/olmo@*'"), std::string::npos) << out();
    EXPECT_NE(out().find("open 'hub:org/olmo@stage2-*'"), std::string::npos) << out();

    const auto [made, said] = run("fetch 'org/olmo@*'");
    ASSERT_EQ(made, 0) << said;
    EXPECT_NE(said.find("stage1 (5 steps), stage2 (2 steps); stage1 is opened"), std::string::npos)
        << said;
    EXPECT_NE(said.find("stage1-step5000-tokens22B is left out: "), std::string::npos) << said;
    EXPECT_NE(said.find("stage1-step4000-tokens17B is fetched now"), std::string::npos) << said;

    const std::string cell = " --source 1 --to 0 --text '1 2 3' --kind attention-sa --json";
    const auto [few, fewSaid] = run("along 'hub:org/olmo@*'" + cell);
    ASSERT_EQ(few, 0) << fewSaid;
    EXPECT_NE(fewSaid.find("1 of 4 steps are on this machine"), std::string::npos) << fewSaid;
    EXPECT_NE(fewSaid.find("--fetch fetches the others"), std::string::npos) << fewSaid;
    const auto [all, allSaid] = run("along 'hub:org/olmo@*' --fetch" + cell);
    ASSERT_EQ(all, 0) << allSaid;
    EXPECT_NE(allSaid.find("stage1-step3000-tokens13B is left out: "), std::string::npos)
        << allSaid;
    for (const char* step : {"1000", "2000", "4000"})
        EXPECT_NE(out().find(step), std::string::npos) << step << out();

    // Another group is another run.
    ASSERT_EQ(run("fetch 'org/olmo@stage2-*'").first, 0);
    EXPECT_NE(out().find("org--olmo@stage2"), std::string::npos) << out();
    EXPECT_NE(run("fetch 'org/olmo@stage3-*'").second.find("called stage3; it has stage1 (5"),
              std::string::npos);
    // What a series lacks is said.
    for (const auto& words : {std::string("export 'hub:org/olmo@*' --csv " + (home / "x.csv")),
                              std::string("curves 'hub:org/olmo@*' --out " + (home / "x.csv"))}) {
        const auto [code, why] = run(words);
        EXPECT_NE(code, 0) << words;
        EXPECT_NE(why.find("has no points"), std::string::npos) << words << why;
    }
    const auto [compared, note] = run("compare 'hub:org/olmo@*' 'hub:org/olmo@stage2-*'");
    EXPECT_EQ(compared, 0) << note;
    EXPECT_NE(note.find("a series of checkpoints"), std::string::npos) << note;

    // Without a connection what the cache knows by name is a series, too.
    for (const char* revision : {"stage2-step1000-tokens4B", "stage2-step2000-tokens9B"})
        ASSERT_EQ(fetch(std::string("org/olmo@") + revision), "");
    fs::remove_all(home / "cache");
    setenv("HF_HUB_OFFLINE", "1", 1);
    const auto [offline, why] = run("info 'hub:org/olmo@stage2-*' --json");
    EXPECT_EQ(offline, 0) << why;
    EXPECT_NE(out().find("\"step\": 2000"), std::string::npos) << out();
    const auto [again, sentence] = run("fetch 'org/olmo@*'");
    EXPECT_EQ(again, 0) << sentence;
    EXPECT_NE(sentence.find("HF_HUB_OFFLINE is set"), std::string::npos) << sentence;
    unsetenv("HF_HUB_OFFLINE");
    unsetenv("XDG_CACHE_HOME");
}

// As the hub's Python client finds its cache.
TEST(HubCache, IsWhereTheVariablesSay) {
    const std::vector<const char*> names = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE",
                                            "TRANSFORMERS_CACHE", "HF_HOME", "XDG_CACHE_HOME"};
    for (const char* name : names) unsetenv(name);
    const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
    setenv("HOME", "/home/u", 1);
    setenv("DISK", "/disk", 1);
    const auto folder = [](const char* name, const char* value) {
        setenv(name, value, 1);
        const auto found = core::hubCacheFolder();
        unsetenv(name);
        return found;
    };
    EXPECT_EQ(core::hubCacheFolder(), "/home/u/.cache/huggingface/hub");
    EXPECT_EQ(folder("XDG_CACHE_HOME", "/c"), "/c/huggingface/hub");
    EXPECT_EQ(folder("HF_HOME", "~/hf"), "/home/u/hf/hub");
    EXPECT_EQ(folder("HF_HOME", "$DISK/hf"), "/disk/hf/hub");
    for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE"}) {
        setenv("HF_HOME", "/hf", 1);
        EXPECT_EQ(folder(name, "${DISK}/$NONE/x"), "/disk/$NONE/x") << name;
        EXPECT_EQ(folder(name, "~"), "/home/u") << name;
        EXPECT_EQ(folder(name, "~other/$/${DISK"), "~other/$/${DISK") << name;
        unsetenv("HF_HOME");
    }
    setenv("HUGGINGFACE_HUB_CACHE", "/second", 1);
    EXPECT_EQ(folder("HF_HUB_CACHE", "/first"), "/first");
    unsetenv("HUGGINGFACE_HUB_CACHE");
    unsetenv("HOME");
    EXPECT_THROW(core::hubCacheFolder(), Error);
    EXPECT_EQ(folder("HF_HOME", "/hf"), "/hf/hub");
    if (!home.empty()) setenv("HOME", home.c_str(), 1);
    unsetenv("DISK");
}

TEST(HubCache, CommitsAreFoundByTheirFirstDigits) {
    testing_support::TemporaryFolder home{"hub-commits"};
    setenv("HF_HUB_CACHE", std::string(home / "").c_str(), 1);
    for (const char* commit : {"abcdef0123456789", "abcdef9999999999"}) {
        const fs::path snapshot = home / (std::string("models--org--m/snapshots/") + commit);
        fs::create_directories(snapshot);
        std::ofstream(snapshot / "model.safetensors") << "x";
    }
    const auto commitOf = [](const char* text) {
        const auto found = core::findCachedModel(core::hubModel(text));
        return found ? found->commit : "";
    };
    EXPECT_EQ(commitOf("org/m@abcdef0123456789"), "abcdef0123456789");
    EXPECT_EQ(commitOf("org/m@abcdef0"), "abcdef0123456789");
    EXPECT_EQ(commitOf("org/m@abcdef"), "") << "too short, and of two";
    EXPECT_EQ(commitOf("org/m@main"), "");
    unsetenv("HF_HUB_CACHE");
}

TEST(HubCache, TwoHundredModelsAreListedAtOnce) {
    testing_support::TemporaryFolder home{"hub-cache"};
    setenv("HF_HUB_CACHE", std::string(home / "").c_str(), 1);
    for (int i = 0; i < 200; ++i) {
        const fs::path snapshot = home / ("models--org--m" + std::to_string(i) + "/snapshots/abc");
        fs::create_directories(snapshot);
        std::ofstream(snapshot / "model.safetensors") << "x";
    }
    EXPECT_EQ(core::cachedModels().size(), 200u);
    unsetenv("HF_HUB_CACHE");
}

}  // namespace
}  // namespace relascope
