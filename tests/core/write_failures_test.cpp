// SPDX-License-Identifier: GPL-3.0-or-later
// Files that cannot be written, at every place where a run writes one: no run and no checkpoint is
// lost, and the run resumes to the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "checkpoint/tensor_io.h"
#include "support/failing_calls.h"
#include "support/rank_threads.h"
#include "support/trained.h"
#include "train/checkpoints.h"
#include "train/execute_run.h"
#include "train/rank_run.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

/// What a run has told, and how it ended.
struct Outcome {
    RunState state = RunState::Failed;
    std::string message;  ///< of the run, or what was thrown
    bool threw = false;
    std::vector<std::string> notes;

    /// Steps of the checkpoints that were reported.
    std::vector<std::int64_t> saved() const {
        std::vector<std::int64_t> steps;
        const std::string said = "checkpoint at step ";
        for (const auto& note : notes)
            if (note.starts_with(said)) steps.push_back(std::stoll(note.substr(said.size())));
        return steps;
    }
};

/// Sees each event of a run, and may stop it.
using Watch = std::function<void(const TrainEvent&, std::stop_source&)>;

class WriteFailures : public testing::Test {
protected:
    WriteFailures() {
        fs::create_directories(m_home.path());
        m_options = tinyOptions();
        m_options.model.set("dropout_rate", 0.0);
        m_options.train.steps = 8, m_options.train.checkpoint_every = 2;
        m_options.train.evaluate_every = 4, m_options.train.capture_every = 4;
        m_options.train.keep_mib = 1;
    }

    // Runs or resumes it, alone or with as many ranks.
    Outcome run(const std::string& name, bool resume, int ranks = 1, const Watch& watch = {}) {
        Outcome outcome;
        const DataOpener open = [](const RunOptions&, std::stop_token) { return tinyData(); };
        const auto lead = [&](RankGroup* group) {
            RunRequest request{m_home / name, m_options, 3, resume};
            request.ranks.launched = group;
            std::stop_source stop;
            Control control;
            try {
                const auto result = executeRun(
                    request, open, control,
                    [&](const TrainEvent& event) {
                        if (const auto* note = std::get_if<Note>(&event))
                            outcome.notes.push_back(note->text);
                        if (watch) watch(event, stop);
                    },
                    stop.get_token());
                outcome.state = result.info.state;
                outcome.message = result.info.message;
            } catch (const std::exception& error) {
                outcome.threw = true;
                outcome.message = error.what();
                if (group) group->leave(error.what());
            }
            if (group) endRanks(*group);
        };
        if (ranks == 1)
            lead(nullptr);
        else
            onRanks(
                ranks,
                [&](RankGroup& group) { group.leads() ? lead(&group) : followRuns(group, open); },
                std::chrono::seconds(4));
        return outcome;
    }

    /// A run that was stopped after step 3, in a folder of its own.
    std::string begun(const std::string& name) {
        if (!fs::exists(m_home / "begun")) run("begun", false, 1, stopAfter(3));
        fs::remove_all(m_home / name);
        fs::copy(m_home / "begun", m_home / name, fs::copy_options::recursive);
        return m_home / name;
    }

    std::string path(const std::string& name) const { return m_home / name; }

    /// A run that nothing has disturbed. Ranks that are threads draw their first weights from one
    /// generator, so that only runs with the same beginning can be compared.
    const std::string& reference(bool resumed, int ranks) {
        auto& name = m_references[{resumed, ranks}];
        if (name.empty()) {
            name = "reference-" + std::to_string(resumed) + std::to_string(ranks);
            if (resumed) begun(name);
            EXPECT_EQ(run(name, resumed, ranks).state, RunState::Done);
        }
        return name;
    }

    /// Every checkpoint that the run reported is there, and resuming it ends with the same bits.
    void expectKept(const std::string& name, const Outcome& outcome, bool resumed, int ranks = 1) {
        const auto saved = outcome.saved();
        if (!resumed && outcome.threw && saved.empty() && !fs::exists(path(name))) return;
        ASSERT_TRUE(isRunFolder(path(name))) << outcome.message;
        if (outcome.threw && !resumed) {
            EXPECT_TRUE(saved.empty()) << outcome.message;
        }
        const auto steps = checkpointSteps(path(name) + "/checkpoints");
        if (!saved.empty()) {
            ASSERT_FALSE(steps.empty()) << outcome.message;
            EXPECT_GE(steps.back(), saved.back());
        }
        for (const auto step : steps)
            EXPECT_EQ(checkpointProblem(path(name) + "/checkpoints/step-" + std::to_string(step)),
                      "");
        const auto end = run(name, true, ranks);
        ASSERT_EQ(end.state, RunState::Done) << end.message << "\nafter: " << outcome.message;
        for (const auto& entry : fs::recursive_directory_iterator(path(name)))
            EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << entry.path();
        if (ranks > 1 && !resumed) return;
        // From an older checkpoint, of one process, two ranks compute step 3 once more.
        const auto isOlder = [](const std::string& note) {
            return note.ends_with("an older checkpoint is used");
        };
        if (ranks > 1 && std::any_of(outcome.notes.begin(), outcome.notes.end(), isOlder)) return;
        const auto& whole = reference(resumed, ranks);
        EXPECT_EQ(losses(path(name)), losses(path(whole)));
        EXPECT_EQ(weights(name), weights(whole));
    }

    std::map<std::string, std::vector<float>> weights(const std::string& name) const {
        std::map<std::string, std::vector<float>> all;
        for (const auto& [key, tensor] :
             readTensors(newestCheckpoint(path(name) + "/checkpoints") + "/model.safetensors")) {
            const auto flat = tensor.to(torch::kFloat).contiguous();
            all[key].assign(flat.const_data_ptr<float>(),
                            flat.const_data_ptr<float>() + flat.numel());
        }
        return all;
    }

    TemporaryFolder m_home{"write-failures"};
    RunOptions m_options;
    std::map<std::pair<bool, int>, std::string> m_references;
};

// From the moment that step 5 is known nothing can be written any more, and the run is stopped.
Watch failAndStop(std::optional<FailureScope>& failure, const FailingCalls& calls) {
    return [&failure, calls](const TrainEvent& event, std::stop_source& stop) {
        const auto* point = std::get_if<MetricPoint>(&event);
        if (!point || point->split != Split::Train || point->step != 5 || failure) return;
        failure.emplace(calls);
        stop.request_stop();
    };
}

TEST_F(WriteFailures, ARunThatIsStoppedOnAFullDiskIsKept) {
    for (const int ranks : {1, 2})
        for (const bool resumed : {false, true}) {
            SCOPED_TRACE(std::to_string(ranks) + (resumed ? " ranks, resumed" : " ranks, new"));
            const auto name = "full-" + std::to_string(ranks) + (resumed ? "r" : "n");
            if (resumed) begun(name);
            std::optional<FailureScope> failure;
            const auto outcome =
                run(name, resumed, ranks, failAndStop(failure, {m_home.path(), "", ENOSPC}));
            failure.reset();
            EXPECT_FALSE(outcome.threw) << outcome.message;
            EXPECT_EQ(outcome.state, RunState::Interrupted) << outcome.message;
            // Of several ranks the others hear of the stop with the next step.
            EXPECT_NE(outcome.message.find("no checkpoint of step " + std::to_string(ranks + 4)),
                      std::string::npos)
                << outcome.message;
            EXPECT_NE(outcome.message.find("resumes from step 4"), std::string::npos)
                << outcome.message;
            EXPECT_EQ(readRunInfo(path(name)).state, RunState::Interrupted);
            expectKept(name, outcome, resumed, ranks);
        }
}

TEST_F(WriteFailures, ARunThatIsStoppedWithLessThanACheckpointFreeIsKept) {
    for (const int ranks : {1, 2})
        for (const bool resumed : {false, true}) {
            const auto name = "short-" + std::to_string(ranks) + (resumed ? "r" : "n");
            if (resumed) begun(name);
            std::optional<LittleSpace> little;
            const auto outcome =
                run(name, resumed, ranks, [&](const TrainEvent& event, std::stop_source& stop) {
                    const auto* point = std::get_if<MetricPoint>(&event);
                    if (!point || point->split != Split::Train || point->step != 5) return;
                    little.emplace(10000);
                    stop.request_stop();
                });
            little.reset();
            EXPECT_EQ(outcome.state, RunState::Interrupted) << outcome.message;
            EXPECT_NE(outcome.message.find("resumes from step 4"), std::string::npos)
                << outcome.message;
            const auto info = readRunInfo(path(name));
            EXPECT_EQ(info.message, outcome.message) << "run.json is small enough";
            expectKept(name, outcome, resumed, ranks);
        }
}

TEST_F(WriteFailures, ARunWhoseInformationCannotBeReplacedKeepsItsCheckpoints) {
    for (const bool resumed : {false, true})
        for (const int first : {1, 2, 3, 4}) {
            const auto name = "info-" + std::to_string(first) + (resumed ? "r" : "n");
            if (resumed) begun(name);
            std::optional<FailureScope> failure(
                std::in_place, FailingCalls{m_home.path(), "/run.json", EPERM, false, first});
            const auto outcome = run(name, resumed);
            failure.reset();
            expectKept(name, outcome, resumed);
        }
}

// A checkpoint of the step that was saved last is saved once more at the end: what was there stays
// until the new one is complete.
TEST_F(WriteFailures, ACheckpointIsNeverLostToOneOfTheSameStep) {
    begun("again");
    const auto before = weights("again");
    std::optional<FailureScope> failure;
    const auto outcome =
        run("again", true, 1, [&](const TrainEvent& event, std::stop_source& stop) {
            const auto* note = std::get_if<Note>(&event);
            if (!note || note->text != "resumed from step 3") return;
            stop.request_stop();
            failure.emplace(FailingCalls{m_home.path(), "/state.json", ENOSPC});
        });
    failure.reset();
    EXPECT_EQ(checkpointSteps(path("again") + "/checkpoints").back(), 3) << outcome.message;
    EXPECT_EQ(weights("again"), before);
    expectKept("again", outcome, true);
}

TEST_F(WriteFailures, ARunWithoutAUsableCheckpointIsNotBegunAgain) {
    begun("damaged");
    const auto checkpoints = path("damaged") + "/checkpoints";
    for (const auto step : checkpointSteps(checkpoints))
        fs::resize_file(checkpoints + "/step-" + std::to_string(step) + "/model.safetensors", 100);
    const auto before = losses(path("damaged"));
    const auto outcome = run("damaged", true);
    EXPECT_TRUE(outcome.threw);
    EXPECT_NE(outcome.message.find("model.safetensors does not have the size"), std::string::npos)
        << outcome.message;
    EXPECT_EQ(losses(path("damaged")), before);
}

TEST_F(WriteFailures, AFileThatCannotBeReadIsNotAnEmptyOne) {
    begun("unread");
    for (const std::string file : {"/metrics.jsonl", "/manifest.json", "/run.json"}) {
        const auto before = losses(path("unread"));
        std::optional<FailureScope> failure(std::in_place,
                                            FailingCalls{m_home.path(), file, EMFILE, true});
        const auto outcome = run("unread", true);
        failure.reset();
        EXPECT_TRUE(outcome.threw) << file;
        EXPECT_NE(outcome.message.find("Too many open files"), std::string::npos)
            << outcome.message;
        EXPECT_EQ(losses(path("unread")), before) << file;
    }
    expectKept("unread", {}, true);
}

class WriteFailuresAt : public WriteFailures, public testing::WithParamInterface<int> {};

TEST_P(WriteFailuresAt, TwiceInARow) {
    const int error = GetParam();
    const bool opens = error == EMFILE;
    for (const int ranks : {1, 2})
        for (const bool resumed : {false, true}) {
            int calls = 0;
            {
                const auto name = "counted-" + std::to_string(ranks) + std::to_string(resumed);
                if (resumed) begun(name);
                const FailureScope counting({m_home.path(), "", 0, opens});
                run(name, resumed, ranks);
                calls = counting.counted();
            }
            ASSERT_GT(calls, 40);
            // Primes, so that all kinds of calls and files are met. All places take some minutes.
            const bool all = std::getenv("RELASCOPE_EVERY_PLACE") != nullptr;
            const int stride = all ? 1 : ranks == 2 ? 97 : error == EIO ? 13 : 29;
            for (int first = 1 + (error + ranks) % stride; first <= calls; first += stride) {
                SCOPED_TRACE("call " + std::to_string(first) + " of " + std::to_string(calls) +
                             ", " + std::to_string(ranks) + " ranks" +
                             (resumed ? ", resumed" : ""));
                const std::string name = "run";
                fs::remove_all(path(name));
                if (resumed) begun(name);
                std::optional<FailureScope> failure(
                    std::in_place, FailingCalls{m_home.path(), "", error, opens, first, 2});
                const auto outcome = run(name, resumed, ranks);
                failure.reset();
                expectKept(name, outcome, resumed, ranks);
                if (HasFailure()) return;
            }
        }
}

INSTANTIATE_TEST_SUITE_P(Errors, WriteFailuresAt, testing::Values(EIO, ESTALE, EMFILE),
                         [](const auto& info) { return std::string(strerrorname_np(info.param)); });

}  // namespace
}  // namespace relascope
