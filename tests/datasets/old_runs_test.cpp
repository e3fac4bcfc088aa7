// SPDX-License-Identifier: GPL-3.0-or-later
// Run folders made by earlier versions of the program (make_old_runs.sh) open, can be looked into
// and resume: with the same losses, up to rounding, where their data are still drawn the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis/open_model.h"
#include "datasets/registry.h"
#include "model/architecture.h"
#include "options/field_text.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "train/checkpoints.h"
#include "train/devices.h"
#include "train/execute_run.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;

std::vector<std::string> oldRuns() {
    std::vector<std::string> runs;
    for (const auto& version : fs::directory_iterator(RELASCOPE_FIXTURES "/runs"))
        for (const auto& run : fs::directory_iterator(version.path()))
            runs.push_back(version.path().filename().string() + "/" +
                           run.path().filename().string());
    std::sort(runs.begin(), runs.end());
    return runs;
}

class OldRun : public testing::TestWithParam<std::string> {
protected:
    OldRun() : m_home("old-run"), m_run(m_home / "run") {
        fs::create_directories(m_home.path());
        fs::copy(RELASCOPE_FIXTURES "/runs/" + GetParam(), m_run, fs::copy_options::recursive);
    }

    // Robust regression has nothing to train.
    std::int64_t taken(std::int64_t steps) const {
        return countParameters(readRunOptions(m_run).model).trainable > 0 ? steps : 0;
    }

    TemporaryFolder m_home;
    std::string m_run;
};

TEST_P(OldRun, OpensWithTheOptionsOfItsFields) {
    const auto info = readRunInfo(m_run);
    const auto options = readRunOptions(m_run);
    EXPECT_EQ(info.step, taken(2));
    EXPECT_EQ(options.preset, info.preset);
    EXPECT_TRUE(options.model.problems().empty());
    // What stood in the list of runs is what the options say now.
    for (const auto& [key, text] : info.options)
        if (const auto& field = RunOptions::field(key); field.present(options)) {
            EXPECT_EQ(fieldValueText(field.get(options)), text) << key;
        }
    EXPECT_FALSE(readMetrics(m_run).empty());
    // They do not say which weights they keep: their points and checkpoints do.
    std::int64_t opened = -1;
    checkpointWeights(m_run, info.restoresBest ? "best" : "last", &opened);
    EXPECT_EQ(info.kept.step, opened);
    EXPECT_FALSE(std::isnan(info.kept.value(info.metric))) << info.metric;
    EXPECT_FALSE(std::isnan(info.kept.value("loss")));
}

TEST_P(OldRun, CanBeLookedInto) {
    OpenedModel opened(m_run, "last", "cpu");
    EXPECT_EQ(opened.step(), taken(2));
    const auto seen = opened.probe(opened.randomInput(1), {});
    EXPECT_EQ(seen.maps.empty(), opened.options().info().layers(opened.options()).empty());
    for (const auto step : captureSteps(m_run)) {
        const auto capture = loadCapture(m_run, step, 0);
        EXPECT_EQ(capture.step, step);
        EXPECT_FALSE(capture.maps.empty());
    }
}

TEST_P(OldRun, ResumesWhereItStood) {
    initDevices(1);
    RunRequest request{m_run, readRunOptions(m_run), 0};
    request.resume = true;
    request.options.train.steps = 4;
    // Of text, the file that it was trained on is not there any more; the others are drawn anew.
    if (request.options.data.isText()) return;
    Control control;
    bool drawnAnew = false;
    const auto result = executeRun(
        request, [](const RunOptions& o, std::stop_token stop) { return openRunData(o, {}, stop); },
        control,
        [&](TrainEvent event) {
            if (const auto* note = std::get_if<Note>(&event))
                drawnAnew = drawnAnew || note->text.find("generator") != std::string::npos;
        },
        {});
    EXPECT_EQ(result.info.step, taken(4));
    if (drawnAnew) return;
    std::ifstream expected(m_run + "/resumed.jsonl"), found(m_run + "/metrics.jsonl");
    std::stringstream then, now;
    then << expected.rdbuf(), now << found.rdbuf();
    const auto losses = [](const std::string& text) {  // the times differ
        std::vector<double> all;
        constexpr std::string_view key = "\"loss\":";
        for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += key.size())
            all.push_back(std::stod(text.substr(at + key.size())));
        return all;
    };
    const auto before = losses(then.str()), after = losses(now.str());
    ASSERT_EQ(after.size(), before.size());
    // Later versions add in another order (tiled attention, products by oneDNN), so that losses
    // differ by the rounding of a few steps; another batch or mask would change the second digit.
    // The vectors of cards come from a network trained here, which each processor rounds otherwise.
    const double bound = request.options.data.kind == "set" ? 3e-2 : 3e-6;
    for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_NEAR(after[i], before[i], bound * std::max(1.0, std::abs(before[i])))
            << "loss " << i;
}

INSTANTIATE_TEST_SUITE_P(, OldRun, testing::ValuesIn(oldRuns()), [](const auto& info) {
    std::string name;
    for (const char c : info.param) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return name;
});

}  // namespace
}  // namespace relascope
