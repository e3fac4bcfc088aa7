// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions as processes: what they answer is what the program itself computes, and what they are
// sent ends at most them.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <random>
#include <thread>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "answers/answer_text.h"
#include "answers/evaluation_answer.h"
#include "app/cli/question_arguments.h"
#include "cli/command_line.h"
#include "datasets/registry.h"
#include "files/command_line.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "train/devices.h"
#include "wire/requests.h"

namespace relascope {
namespace {

const std::string kStoredRuns = RELASCOPE_FIXTURES "/runs/0.5/";

wire::Asked askedOf(const std::string& command, const std::string& run,
                    std::vector<Option> options = {}) {
    return wire::Asked(
        Question{command, {{kStoredRuns + run, {}, {}, {}, {}, "cpu"}}, std::move(options)});
}

DataOptions dataOf(const std::string& run) {
    return core::runData(kStoredRuns + run, core::readRunOptions(kStoredRuns + run).data);
}

void expectSame(const ProbeResult& a, const ProbeResult& b) {
    EXPECT_EQ(a.probabilities, b.probabilities);
    ASSERT_EQ(a.maps.size(), b.maps.size());
    for (std::size_t k = 0; k < a.maps.size(); ++k)
        for (int i = 0; i < a.maps[k].rows; ++i)
            for (int j = 0; j < a.maps[k].columns; ++j)
                ASSERT_EQ(a.maps[k].at(i, j), b.maps[k].at(i, j)) << k;
}

/// With as many threads as a session has, results are the same to the last bit.
void computeAsASession() {
    core::initDevices(std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1));
}

wire::Frame command(wire::Session& session, std::vector<std::string> words,
                    const std::string& folder = {}) {
    return session.ask("command", {{"words", std::move(words)}, {"folder", folder}});
}

TEST(SessionProcess, RunsACommandAsTheCommandLineDoes) {
    wire::Session session;
    const auto text = [](const wire::Frame& frame) {
        return std::string(frame.blob.begin(), frame.blob.end());
    };
    // Twice with --threads, which is of one command alone; relative paths begin at the folder.
    const auto printed = runCli("heads --json --device=cpu --threads=1 " + kStoredRuns + "vision");
    for (int k = 0; k < 2; ++k) {
        const auto answer =
            command(session, {"heads", "vision", "--device=cpu", "--threads=1"}, kStoredRuns);
        EXPECT_EQ(answer.message["code"], 0);
        EXPECT_EQ(text(answer), printed.out);
    }
    // A command by its name of earlier versions.
    std::vector<std::string> words = {"dictionary", kStoredRuns + "vision", "--layer=1",
                                      "--split=validation"};
    const auto former = text(command(session, words));
    words[0] = "qk-components";
    EXPECT_EQ(former, text(command(session, words)));
    const auto sentence = [&](std::vector<std::string> words) -> std::string {
        try {
            command(session, std::move(words));
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(sentence({"heads", "--lyer=3"}).find("unknown option '--lyer'"), std::string::npos);
    EXPECT_NE(sentence({"session"}).find("unknown command 'session'"), std::string::npos);
    EXPECT_NE(sentence({}).find("subcommand"), std::string::npos);
    EXPECT_NE(sentence({"eval", kStoredRuns + "vision", "--split=tst"}).find("unknown split 'tst'"),
              std::string::npos);
    EXPECT_NE(sentence({"info", kStoredRuns + "none"}).find("none"), std::string::npos);
    // A prompt from the standard input is empty: the pipe has requests.
    EXPECT_NE(sentence({"generate", kStoredRuns + "language", "--prompt-file=-"}).find("is empty"),
              std::string::npos);
    EXPECT_EQ(
        text(command(session, {"heads", kStoredRuns + "vision", "--device=cpu", "--threads=1"})),
        printed.out);
}

TEST(SessionProcess, AnswersWhatTheModelComputes) {
    computeAsASession();
    wire::Session session;
    wire::Prober prober;
    core::OpenedModel model(kStoredRuns + "vision", "", "cpu");
    const auto opened = wire::openWeights(session, askedOf("inspect", "vision"), {});
    EXPECT_EQ(opened.model, model.options());
    const auto splits = datasets::openData(dataOf("vision"));
    auto asked = askedOf("inspect", "vision");
    asked.sample = splits.validation->sample(2);
    asked.classNames = splits.validation->info().classNames;
    asked.set("split", std::string("validation")), asked.set("sample", std::int64_t{2});
    const auto plain = prober.probe(session, asked, {});
    const auto expected = model.probe(*asked.sample, asked.classNames);
    expectSame(*plain.result, expected);
    EXPECT_EQ(*plain.points, model.points(*asked.sample));
    // The same input by its number, with the data of the run.
    auto named = askedOf("inspect", "vision", {{"sample", std::int64_t{2}}});
    expectSame(*wire::probeOnce(session, named, {}), expected);
    named.set("sample", std::int64_t{1} << 20);
    EXPECT_THROW(wire::probeOnce(session, named, {}), OptionError);

    // With an edit that takes values of other examples, which the session reads itself.
    Edit edit;
    edit.point = plain.points->at(1).name;
    edit.op = EditOp::Mean;
    asked.edits.resize(1);
    asked.edits[0].edits = {edit};
    core::Interventions interventions{asked.edits[0], {}};
    interventions.data.split = [&](const std::string& name) { return splits.find(name); };
    interventions.data.exampleSplit = "validation", interventions.data.example = 2;
    const auto edited = prober.probe(session, asked, {});
    EXPECT_EQ(edited.problem, "");
    EXPECT_EQ(edited.before, plain.result) << "not sent twice";
    expectSame(*edited.result, model.probe(*asked.sample, asked.classNames, interventions));
    EXPECT_EQ(edited.means, model.takenMeans());
    const auto effects = wire::effectsAlone(session, asked, {});
    ASSERT_EQ(effects.size(), 1U);
    ASSERT_TRUE(effects[0]);
    EXPECT_GT(effects[0]->before, 0.0);
    asked.edits[0].edits[0].point = "nowhere";
    EXPECT_NE(prober.probe(session, asked, {}).problem, "");

    auto effect = askedOf("eval", "vision", {{"split", std::string("validation")}});
    effect.edits = {interventions.edits};
    const auto measured = core::editEffectOf(wire::ask(session, effect, {}));
    const auto here = model.effect(splits.validation, 250, interventions);
    EXPECT_EQ(measured.changes, here.changes);
    effect.set("split", std::string("nowhere"));
    EXPECT_THROW(wire::ask(session, effect, {}), Error);
}

// A run that trains, and one whose weights were overwritten: what is asked for the last checkpoint
// is answered by the last one, and says which it is.
TEST(SessionProcess, ReadsTheNewestWeights) {
    testing_support::TemporaryFolder home("session-newest");
    const std::string run = home / "run";
    const std::string tiny = " --threads 1 --set data.train_size=64 --set data.validation_size=16" +
                             std::string(" --set data.test_size=16");
    const auto begin = [&](int seed) {
        const auto said =
            runCli("train quick --steps 2 --seed " + std::to_string(seed) + " --out " + run + tiny);
        ASSERT_EQ(said.code, 0) << said.err;
    };
    begin(1);
    wire::Session session;
    auto asked = askedOf("inspect", "", {{"random", std::int64_t{0}}});
    asked.subjects[0].path = run;
    const auto probed = [&](const std::string& checkpoint) {
        asked.subjects[0].checkpoint = checkpoint;
        return *wire::probeOnce(session, asked, {});
    };
    const auto first = probed("last");
    EXPECT_EQ(first.step, 2);
    EXPECT_EQ(probed("last").probabilities, first.probabilities);
    const auto more = runCli("train --steps 4 --threads 1 --resume " + run);
    ASSERT_EQ(more.code, 0) << more.err;
    const auto newest = probed("last");
    EXPECT_EQ(newest.step, 4);
    EXPECT_NE(newest.probabilities, first.probabilities);
    const auto fourth = probed("4");
    EXPECT_EQ(fourth.probabilities, newest.probabilities);
    std::filesystem::remove_all(run);
    begin(2);
    const auto other = probed("last");
    EXPECT_EQ(other.step, 2);
    EXPECT_NE(other.probabilities, first.probabilities);
}

// Words, opened by the command line and by a session: the same numbers, or the same sentence.
TEST(SessionProcess, AnswersQuestionsAsTheCommandLineDoes) {
    using Words = std::vector<std::string>;
    const std::string vision = kStoredRuns + "vision", language = kStoredRuns + "language";
    const std::vector<Words> all = {
        {"ablate", vision, "--examples", "8", "--split", "train", "--edit",
         "layer 1 relations zero"},
        {"ablate", vision, "--split", "tst"},
        {"lens", vision, "--sample", "3", "--split", "train"},
        {"lens", vision, "--random", "5"},
        {"lens", vision, "--sample", "100000"},
        {"lens", vision, "--text", "a word"},
        {"lens", language, "--text", "the cat sat", "--edit", "layer 1 zero"},
        {"lens", language, "--tokens", "1,2,3"},
        {"attribute", vision, "--sample", "2", "--edit", "layer 2 relation 1 mean"},
        {"patch", vision, "--clean", "sample:1", "--corrupt", "sample:2"},
        {"patch", language, "--clean", "text:a cat sat", "--corrupt", "text:a dog sat"},
        {"heads", vision, "--sample", "1"},
        {"heads", language},
        {"origins", vision, "--sample", "1"},
        {"symbol-heads", language, "--examples", "3"},
        {"duel", vision, vision, "--examples", "8", "--other-edit", "layer 1 zero"},
        {"duel", vision, kStoredRuns + "none"},
        {"shares", vision, "--examples", "8"},
        {"contrast", vision, "--examples", "8"},
        {"dictionary", vision},
        {"phenomena", language, "--pairs", "minimal-pairs", "--examples", "12"},
        {"along", vision, "--sample", "1", "--source", "1", "--to", "2"}};
    const auto threads =
        std::to_string(std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1));
    wire::Session session;
    int answered = 0;
    for (const auto& words : all) {
        auto typed = words;
        typed.insert(typed.end(), {"--device", "cpu"});
        const wire::Asked asked(cli::questionOf(typed));
        typed.insert(typed.end(), {"--json", "--threads", threads});
        const auto line = core::shellText(typed);
        const auto printed = runCli(line);
        try {
            const auto answer = wire::ask(session, asked, {});
            ASSERT_EQ(printed.code, 0) << line << "\n" << printed.err;
            auto json = nlohmann::json::parse(printed.out);
            for (const char* name : {"step", "sample", "edits", "means"}) json.erase(name);
            const auto* analysis = core::findAnalysis(words[0]);
            auto here = nlohmann::json::parse(analysis->json(answer).dump());
            for (const char* name : {"step", "sample", "edits", "means"}) here.erase(name);
            EXPECT_EQ(here, json) << line;
            ++answered;
        } catch (const Error& error) {
            EXPECT_NE(printed.code, 0) << line << "\n" << error.what();
            EXPECT_NE(printed.err.find(error.what()), std::string::npos)
                << line << "\n"
                << printed.err << error.what();
        }
    }
    EXPECT_GE(answered, 10);
}

TEST(SessionProcess, AnalysesAndGeneratesAsTheProgramDoes) {
    computeAsASession();
    wire::Session session;
    core::OpenedModel model(kStoredRuns + "language", "", "cpu");
    auto question = askedOf("lens", "language");
    const auto sample = model.textInput("a text to read");
    question.sample = sample;
    const auto lens = wire::ask(session, question, {});
    core::AnalysisSubject subject;
    subject.model = &model;
    subject.sample = sample;
    const auto& runner = core::runnerOf(*core::findAnalysis("lens"));
    const auto here = runner.run(subject, {}, {});
    EXPECT_EQ(core::jsonOf(lens), core::jsonOf(here));
    question.set("top", std::int64_t{-3});
    EXPECT_THROW(wire::ask(session, question, {}), OptionError);
    question.subjects.clear();
    EXPECT_THROW(wire::ask(session, question, {}), Error);

    const auto asked = askedOf("generate", "language",
                               {{"prompt", std::string("ab")}, {"tokens", std::int64_t{12}}});
    GenerateOptions options;
    options.tokens = 12;
    std::vector<GeneratedToken> written, expected;
    std::vector<std::string> pieces;
    int looks = 0;
    wire::GenerateWatch watch;
    watch.prompt = [&](std::vector<std::string> p, const std::vector<std::int64_t>&) {
        pieces = std::move(p);
    };
    watch.tokens = [&](const std::vector<GeneratedToken>& t) {
        written.insert(written.end(), t.begin(), t.end());
    };
    watch.result = [&](const ProbeResult&, int) { ++looks; };
    watch.follows = [] { return true; };
    EXPECT_EQ(wire::generate(session, asked, watch, {}), TextEnd::Length);
    model.generate("ab", options, [&](const GeneratedToken& token) {
        expected.push_back(token);
        return true;
    });
    EXPECT_EQ(written, expected);
    EXPECT_FALSE(pieces.empty());
    EXPECT_GE(looks, 1);
}

// What a process of its own answers is read until it has ended.
struct StartedSession {
    wire::SessionProcess started = wire::startSession();
    int status() {
        const auto ended = started.process->status(std::chrono::seconds(20));
        return ended ? *ended : -1;
    }
    bool send(const wire::Bytes& bytes) {
        return ::send(started.connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(bytes.size());
    }
};

TEST(SessionProcess, EndsWithItsConnectionWhereverThatIsCut) {
    wire::Bytes bytes = wire::frameBytes(wire::sessionHello());
    wire::Json open{{"id", 1}, {"m", "open"}, {"asked", askedOf("inspect", "vision")}};
    const auto request = wire::frameBytes(open);
    bytes.insert(bytes.end(), request.begin(), request.end());
    // The start of a process takes half a second: not at every byte.
    for (const double share : {0.0, 0.03, 0.1, 0.4, 0.9, 1.0}) {
        StartedSession session;
        const auto count = static_cast<std::ptrdiff_t>(share * static_cast<double>(bytes.size()));
        ASSERT_TRUE(session.send({bytes.begin(), bytes.begin() + count}));
        session.started.connection = {};
        EXPECT_EQ(session.status(), 0) << share;
    }
}

TEST(SessionProcess, StrangeFramesEndItAndDamageNothing) {
    const std::string http = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    wire::Bytes large = wire::frameBytes({{"m", "hello"}});
    large[8] = large[9] = large[10] = large[11] = 0xff;  // a blob of exabytes
    large[12] = large[13] = 0xff;
    for (const auto& bytes : {wire::Bytes(http.begin(), http.end()), large,
                              wire::frameBytes({{"m", "hello"}, {"version", "1"}})}) {
        StartedSession session;
        ASSERT_TRUE(session.send(bytes));
        EXPECT_EQ(session.status(), 0);
    }
    wire::Session session;
    EXPECT_THROW(session.ask("nonsense", wire::Json::object()), Error);
    EXPECT_THROW(session.ask("probe", {{"asked", 3}}), Error);
    EXPECT_TRUE(session.isRunning());
    EXPECT_EQ(wire::openWeights(session, askedOf("inspect", "vision"), {}).references, 0);
}

/// Every place of a message that a change can be made at.
std::vector<wire::Json::json_pointer> placesOf(const wire::Json& message) {
    std::vector<wire::Json::json_pointer> places;
    std::vector<wire::Json::json_pointer> open = {wire::Json::json_pointer()};
    while (!open.empty()) {
        const auto at = open.back();
        open.pop_back();
        const auto& value = message.at(at);
        if (!at.empty()) places.push_back(at);
        if (value.is_object())
            for (const auto& item : value.items()) open.push_back(at / item.key());
        else if (value.is_array() && !value.empty())
            open.push_back(at / std::size_t{0});
    }
    return places;
}

// A window of another build, or a confused one: the sentence comes, the session stays.
TEST(SessionProcess, DamagedRequestsAreErrors) {
    using wire::Json;
    const wire::Data data{dataOf("vision"), false, -1, {}};
    auto probe = askedOf("inspect", "vision", {{"sample", std::int64_t{2}}});
    probe.data = data;
    const Json probed = {
        {"asked", probe}, {"base", 0}, {"pointsKnown", 0}, {"compare", true}, {"shownLayer", -1}};
    const Json text = {
        {"asked", askedOf("generate", "language",
                          {{"prompt", std::string("ab")}, {"tokens", std::int64_t{2}}})},
        {"follow", false}};
    auto evaluate = askedOf("eval", "vision", {{"split", std::string("validation")}});
    evaluate.data = data;
    auto effect = evaluate;
    effect.edits.resize(1);
    const std::vector<std::pair<const char*, Json>> messages = {
        {"open", {{"asked", askedOf("inspect", "vision")}}},
        {"probe", probed},
        {"generate", text},
        {"ask", {{"asked", evaluate}}},
        {"ask", {{"asked", effect}}},
        {"data", {{"data", data}}},
        {"statistics", {{"data", data}, {"split", "validation"}, {"most", 4}}},
        {"labelled", {{"data", data}, {"split", "validation"}, {"label", 1}, {"most", 4}}},
        {"find",
         {{"from", wire::Example{data, "validation", 0}},
          {"label", 1},
          {"forward", true},
          {"before", 0}}},
        {"devices", {{"wanted", "cpu"}, {"memory", true}}}};
    const std::vector<Json> strange = {nullptr,
                                       true,
                                       -1,
                                       std::int64_t{1} << 62,
                                       1e300,
                                       "strange\xff",
                                       Json::array({}),
                                       Json::object(),
                                       Json::array({Json::array({3}), "x"})};
    std::optional<wire::ChildProcess> process;
    int started = 0;
    wire::Session session([&] {
        auto one = wire::startSession();
        process = one.process;
        ++started;
        return one;
    });
    std::mt19937 random(11);
    int refused = 0;
    for (const auto& [what, message] : messages) {
        auto places = placesOf(message);
        std::shuffle(places.begin(), places.end(), random);
        places.resize(std::min<std::size_t>(places.size(), 24));
        for (const auto& place : places) {
            Json damaged = message;
            const auto choice = random() % (strange.size() + 1);
            if (choice == strange.size())
                damaged.at(place.parent_pointer()).erase(place.back());
            else
                damaged[place] = strange[choice];
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
            try {
                // Some are only large, and are given up.
                session.ask(what, damaged,
                            [&](double) { return std::chrono::steady_clock::now() < end; });
            } catch (const Cancelled&) {
            } catch (const Error&) {
                ++refused;
            }
            ASSERT_FALSE(process && process->status())
                << what << " " << place.to_string() << " " << choice;
        }
    }
    EXPECT_GT(refused, 50);
    EXPECT_EQ(started, 1);
    EXPECT_EQ(wire::openWeights(session, askedOf("inspect", "vision"), {}).references, 0);
}

TEST(SessionProcess, AKilledOneSaysHowAndTheSameRequestWorksAgain) {
    std::optional<wire::ChildProcess> process;
    wire::Session session([&] {
        auto started = wire::startSession();
        process = started.process;
        return started;
    });
    wire::openWeights(session, askedOf("inspect", "language"), {});
    const auto asked = askedOf("generate", "language",
                               {{"prompt", std::string("ab")}, {"tokens", std::int64_t{100000}}});
    for (const int signal : {SIGKILL, SIGSEGV}) {
        wire::GenerateWatch watch;
        bool killed = false;
        watch.prompt = [](std::vector<std::string>, std::vector<std::int64_t>) {};
        watch.tokens = [&](const std::vector<GeneratedToken>&) {
            if (!std::exchange(killed, true)) ::kill(process->id(), signal);
        };
        watch.follows = [] { return false; };
        try {
            wire::generate(session, asked, watch, {});
            ADD_FAILURE() << "it wrote all tokens";
        } catch (const Error& error) {
            const std::string sentence = error.what();
            EXPECT_TRUE(sentence.starts_with("The model is not open any more: the pro"));
            EXPECT_NE(sentence.find(signal == SIGKILL ? "process was ended from outside; try again"
                                                      : "program crashed (SIGSEGV); try again"),
                      std::string::npos)
                << sentence;
        }
        EXPECT_EQ(
            wire::openWeights(session, askedOf("inspect", "language"), {}).model.architecture(),
            core::readRunOptions(kStoredRuns + "language").model.architecture());
    }
}

// In every phase: starting, loading, reading data, computing, idle.
TEST(SessionProcess, KilledAtTwentyMomentsTheNextRequestIsAnswered) {
    std::optional<wire::ChildProcess> process;
    std::mutex mutex;
    wire::Session session([&] {
        auto started = wire::startSession();
        std::lock_guard lock(mutex);
        process = started.process;
        return started;
    });
    const auto asked = askedOf("inspect", "vision", {{"sample", std::int64_t{2}}});
    const auto ask = [&] { return wire::probeOnce(session, asked, {}); };
    const auto expected = ask();
    std::mt19937 random(7);
    int failed = 0;
    for (int kill = 0; kill < 20; ++kill) {
        if (kill % 2 == 0) session.end();  // the next request starts one
        std::atomic<bool> stopped = false;
        std::optional<wire::ChildProcess> killed;
        std::jthread killer([&, after = std::chrono::milliseconds(random() % 900)] {
            const auto end = std::chrono::steady_clock::now() + after;
            std::this_thread::sleep_until(end);
            std::lock_guard lock(mutex);
            killed = process;
            if (killed) ::kill(killed->id(), SIGKILL);
            stopped = true;
        });
        const auto begun = std::chrono::steady_clock::now();
        try {
            while (!stopped) expectSame(*ask(), *expected);  // until it is killed
        } catch (const Error& error) {
            ++failed;
            const std::string sentence = error.what();
            EXPECT_NE(sentence.find("was ended from outside"), std::string::npos) << sentence;
        }
        EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
        killer.join();
        ASSERT_TRUE(killed && killed->status(std::chrono::seconds(5)));
        expectSame(*ask(), *expected);
    }
    EXPECT_GT(failed, 2) << "some were killed while they worked";
}

TEST(SessionProcess, ReadsDataAndDevices) {
    wire::Session session;
    const wire::Data data{dataOf("vision"), false, -1, {}};
    const auto opened = wire::openData(session, data, {});
    const auto splits = datasets::openData(data.options);
    ASSERT_EQ(opened.splits.size(), splits.names().size());
    const auto& validation = opened.at("validation");
    EXPECT_EQ(validation.info.size, splits.validation->size());
    EXPECT_EQ(validation.first.sample.image, splits.validation->sample(0).image);
    const auto some = wire::examples(session, data, "validation", {3, 1}, {});
    ASSERT_EQ(some.size(), 2U);
    EXPECT_EQ(some[1].sample.image, splits.validation->sample(1).image);
    EXPECT_EQ(some[0].sample.label, splits.validation->sample(3).label);
    EXPECT_THROW(wire::examples(session, data, "validation", {-1}, {}), Error);
    EXPECT_THROW(wire::examples(session, data, "nowhere", {0}, {}), Error);
    const auto ones = wire::labelled(session, data, "validation", 1, 1000, {});
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 0; i < splits.validation->size(); ++i)
        if (splits.validation->sample(i).label == 1) expected.push_back(i);
    EXPECT_EQ(ones, expected);
    const auto found = wire::findLabel(session, {data, "validation", 0}, 1, true, 0, {});
    ASSERT_TRUE(found.index);
    EXPECT_EQ(*found.index, expected[0] > 0 ? expected[0] : expected.at(1));
    EXPECT_TRUE(wire::findLabel(session, {data, "validation", 0}, 77, true, 0, {}).all);
    EXPECT_EQ(wire::statistics(session, data, "validation", 10, {}).counted,
              std::min<std::int64_t>(10, splits.validation->size()));
    const auto cpu = wire::devices(session, "cpu", true, {});
    EXPECT_EQ(cpu.names, std::vector<std::string>{"cpu"});
    EXPECT_GT(cpu.free, 0U);
    const auto wrong = wire::devices(session, "cuda:99", true, {});
    EXPECT_TRUE(wrong.names.empty());
    EXPECT_NE(wrong.facts.find("cuda:99"), std::string::npos);
}

// A measurement lets what is looked at go first, and gives the numbers that it would have given.
// It takes seconds, so that there is time between its steps on every machine.
TEST(SessionProcess, LooksBetweenTheStepsOfAMeasurement) {
    const auto example = [](const char* command, Option option) {
        return wire::Asked(
            Question{command,
                     {{RELASCOPE_FIXTURES "/../../resources/example/run", {}, {}, {}, {}, "cpu"}},
                     {std::move(option)}});
    };
    wire::Session session;
    auto measured = example("ablate", {"examples", std::int64_t{300}});
    measured.lane = wire::Lane::Long;
    const auto alone = wire::ask(session, measured, {});
    const auto looked = example("inspect", {"sample", std::int64_t{1}});
    auto quick = example("lens", {"sample", std::int64_t{2}});
    quick.lane = wire::Lane::Quick;
    const auto map = wire::probeOnce(session, looked, {});
    const auto lens = wire::ask(session, quick, {});
    std::atomic<bool> begun = false, ended = false;
    int between = 0;
    Answer disturbed;
    std::jthread measuring([&] {
        disturbed = wire::ask(session, measured, [&](double done) {
            begun = begun || done > 0.0;
            return true;
        });
        ended = true;
    });
    while (!begun && !ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (!ended && between < 8) {
        expectSame(*wire::probeOnce(session, looked, {}), *map);
        EXPECT_EQ(core::jsonOf(wire::ask(session, quick, {})), core::jsonOf(lens));
        if (!ended) ++between;
    }
    measuring.join();
    EXPECT_GT(between, 0) << "the measurement is over before anything was looked at";
    EXPECT_EQ(core::jsonOf(disturbed), core::jsonOf(alone));
    // One that is given up while others look leaves nothing behind.
    EXPECT_THROW(wire::ask(session, measured, [](double done) { return done == 0.0; }), Cancelled);
    EXPECT_EQ(core::jsonOf(wire::ask(session, measured, {})), core::jsonOf(alone));
}

// The request is given up at once, and the next one is answered although the first had years to go.
TEST(SessionProcess, CancelsWithinAStep) {
    wire::Session session;
    const auto asked = askedOf("generate", "language",
                               {{"prompt", std::string("ab")}, {"tokens", std::int64_t{100000}}});
    wire::GenerateWatch watch;
    bool wrote = false;
    watch.prompt = [](std::vector<std::string>, std::vector<std::int64_t>) {};
    watch.tokens = [&](const std::vector<GeneratedToken>&) { wrote = true; };
    watch.follows = [] { return false; };
    EXPECT_THROW(wire::generate(session, asked, watch, [&](double) { return !wrote; }), Cancelled);
    EXPECT_NO_THROW(wire::openWeights(session, askedOf("inspect", "language"), {}));
}

}  // namespace
}  // namespace relascope
