// SPDX-License-Identifier: GPL-3.0-or-later
// Every model of every preset starts and takes two steps at a reduced size: with the options that
// the command line makes of its arguments, and with those that the form of the window holds.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "datasets/registry.h"
#include "files/processor.h"
#include "model/architecture.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "options/run_settings.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "train/execute_run.h"
#include "types/data_kind.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;
using Settings = std::vector<std::pair<std::string, std::string>>;

// One layer, narrow, a handful of examples; what the model has not is left out.
Settings reduced(const RunOptions& preset, const std::string& text) {
    const auto& m = preset.model;
    const auto number = [&m](const char* field, std::int64_t otherwise) {
        return m.has(field) ? std::max<std::int64_t>(1, m.number(field)) : otherwise;
    };
    std::int64_t width =
        2 * std::lcm(std::max<std::int64_t>(1, m.info().work(m).heads), number("symbol_heads", 1));
    width = std::lcm(width, number("n_heads_cross", 1));
    width = std::lcm(width, number("n_heads_sa", 1));
    width = std::lcm(width, number("rel_n_heads", 1));
    if (m.has("decoder.n_heads_sa"))
        width = std::lcm(width, number("decoder.n_heads_sa", 1) +
                                    (m.info().dual ? m.number("decoder.n_heads_ra") : 0));
    if (m.has("n_relations") && !m.info().dual) width = std::lcm(width, number("n_relations", 1));
    Settings all = {{"model.d_model", std::to_string(width)},
                    {"model.dff", "8"},
                    {"model.n_layers", "1"},
                    {"model.n_layers_dec", "1"},
                    {"data.train_size", "6"},
                    {"data.validation_size", "4"},
                    {"data.test_size", "4"},
                    {"train.batch_size", "2"},
                    {"train.tokens_per_step", "0"},
                    {"train.steps", "2"},
                    {"train.decode_examples", "0"},
                    {"train.capture_samples", "0"},
                    {"train.device", "cpu"},
                    {"train.precision", "float32"},
                    {"data.sample_tokens", "0"}};
    if (m.has("n_layers_enc") && m.number("n_layers_enc") > 0)
        all.emplace_back("model.n_layers_enc", "1");
    if (m.has("residual_gate_channels")) all.emplace_back("model.residual_gate_channels", "1");
    if (m.info().dual)
        for (const char* field : {"model.n_relations", "model.rel_proj_dim"})
            all.emplace_back(field,
                             m.get<BlockOptions>().ra_type == "relational_attention" ? "4" : "0");
    if (preset.data.isText()) {
        all.insert(all.end(), {{"data.path", text},
                               {"data.tokenizer", "characters"},
                               {"data.context", "8"},
                               {"model.max_block_size", "8"}});
    }
    return all;
}

TrainResult trained(const std::string& path, const RunOptions& options) {
    Control control;
    return executeRun(
        {path, options, 0},
        [](const RunOptions& o, std::stop_token stop) { return openRunData(o, {}, stop); }, control,
        [](const TrainEvent&) {}, {});
}

class EveryPreset : public testing::TestWithParam<std::string> {};

TEST_P(EveryPreset, TakesTwoStepsEitherWay) {
    TemporaryFolder home("every-preset");
    fs::create_directories(home.path());
    const std::string text = home / "text.txt";
    for (int i = 0; i < 40; ++i)
        std::ofstream(text, std::ios::app) << "The model of a state machine is one, too: " << i;
    for (const auto& variant : findPreset(GetParam())->variants) {
        SCOPED_TRACE(variant);
        const auto form = presetOptions(GetParam(), variant);
        if (!form.data.isText()) try {  // files that only the user has
                openData(form.data);
            } catch (const Error& error) {
                ASSERT_NE(std::string(error.what()).find("data.path"), std::string::npos);
                continue;
            }
        // The window: the preset's form, edited field by field.
        auto edited = form;
        setOptions(edited, reduced(form, text), OtherArchitectures::Ignore);
        fitToData(edited);
        // The command line: --set KEY=VALUE.
        RunSettings settings;
        settings.preset = GetParam();
        settings.model = variant;
        for (const auto& [key, value] : reduced(form, text))
            if (RunOptions::field(key).present(form)) settings.set.push_back(key + "=" + value);
        const auto typed = runOptions(settings);
        EXPECT_EQ(typed, edited);
        // The words that train such a run again.
        const auto words = trainWords(edited);
        ASSERT_GT(words.size(), 3U);
        RunSettings again{.preset = words[1], .model = words[3]};
        for (std::size_t k = 5; k < words.size(); k += 2) again.set.push_back(words[k]);
        EXPECT_EQ(runOptions(again), edited);
        // Robust regression has nothing to train and only answers.
        const int steps = countParameters(edited.model).trainable > 0 ? 2 : 0;
        EXPECT_EQ(trained(home / (variant + "-window"), edited).info.step, steps);
        EXPECT_EQ(trained(home / (variant + "-typed"), typed).info.step, steps);
    }
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& preset : presets()) all.push_back(preset.name);
    return all;
}

TEST_P(EveryPreset, TakesTwoStepsInBFloat16) {
    if (!core::hasBFloat16Products()) GTEST_SKIP() << "no avx512_bf16 or amx_bf16";
    TemporaryFolder home("every-preset-bf16");
    fs::create_directories(home.path());
    const std::string text = home / "text.txt";
    for (int i = 0; i < 40; ++i)
        std::ofstream(text, std::ios::app) << "The model of a state machine is one, too: " << i;
    for (const auto& variant : findPreset(GetParam())->variants) {
        SCOPED_TRACE(variant);
        auto options = presetOptions(GetParam(), variant);
        if (!options.data.isText()) try {
                openData(options.data);
            } catch (const Error&) {  // files that only the user has
                continue;
            }
        setOptions(options, reduced(options, text), OtherArchitectures::Ignore);
        fitToData(options);
        options.train.precision = "bfloat16";
        const auto result = trained(home / variant, options);
        EXPECT_EQ(result.info.state, RunState::Done);
    }
}

INSTANTIATE_TEST_SUITE_P(, EveryPreset, testing::ValuesIn(names()), [](const auto& info) {
    std::string name;
    for (const char c : info.param)
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    return name;
});

}  // namespace
}  // namespace relascope
