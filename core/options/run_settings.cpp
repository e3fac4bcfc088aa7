// SPDX-License-Identifier: GPL-3.0-or-later
#include <filesystem>
#include <sstream>

#include "options/field_text.h"
#include "options/presets.h"
#include "options/run_settings.h"
#include "types/data_kind.h"
#include "types/run_options.h"

namespace relascope::core {

std::string fileSetting(const std::string& key, const std::string& value) {
    for (const auto& field : RunOptions::fieldTable())
        if (field.spec.name == key && field.spec.path) {
            std::error_code none;
            if (value.empty() || !std::filesystem::exists(value, none)) return value;
            return std::filesystem::absolute(value).lexically_normal().string();
        }
    return value;
}

RunOptions runOptions(const RunSettings& s) {
    if (s.preset.empty())
        throw OptionError("preset", "give an experiment; `relascope-cli presets` lists them");
    RunOptions options = presetOptions(s.preset, s.model);
    if (s.begin) s.begin(options);
    std::vector<std::pair<std::string, std::string>> values;
    for (const auto& setting : s.set) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos)
            throw OptionError("--set", "'" + setting + "' is not KEY=VALUE");
        const auto key = setting.substr(0, equals);
        values.emplace_back(key, fileSetting(key, setting.substr(equals + 1)));
    }
    setOptions(options, values);
    if (!s.data.empty()) options.data.path = fileSetting("data.path", s.data);
    if (s.epochs > 0) options.train.epochs = s.epochs, options.train.steps = 0;
    if (s.steps > 0) options.train.steps = s.steps;
    if (s.seed >= 0) options.train.seeds = {s.seed};
    if (s.captureEvery >= 0) options.train.capture_every = s.captureEvery;
    if (!s.device.empty()) options.train.device = s.device;
    fitToData(options);  // sizes of the model follow the data
    options.check();
    return options;
}

std::vector<std::string> trainWords(const RunOptions& options) {
    RunOptions preset;
    try {
        preset = presetOptions(options.preset, options.variant);
        fitToData(preset);
    } catch (const OptionError&) {
        return {};
    }
    std::vector<std::string> words = {"train", options.preset};
    if (!options.variant.empty()) words.insert(words.end(), {"--model", options.variant});
    for (const auto& field : RunOptions::fieldTable()) {
        if (!field.present(options)) continue;
        const auto value = field.get(options);
        if (field.present(preset) && field.get(preset) == value) continue;
        words.insert(words.end(), {"--set", field.spec.name + "=" + fieldValueText(value)});
    }
    return words;
}

void fitToData(RunOptions& options) {
    if (!options.train.init_from.empty()) return;
    const auto& kind = dataKind(options.data.kind);
    if (kind.fit) kind.fit(options.data, options.model);
}

}  // namespace relascope::core

namespace relascope {
namespace {

// The options of the pretraining stage of a run.

// "a | b" -> {"a", "b"}; without a bar {"", "a"}.
std::pair<std::string, std::string> lastStage(const std::string& text) {
    const auto bar = text.rfind('|');
    if (bar == std::string::npos) return {"", text};
    return {text.substr(0, bar), text.substr(bar + 1)};
}

}  // namespace

std::optional<RunOptions> RunOptions::pretraining() const {
    if (train.pretrain.empty()) return std::nullopt;
    RunOptions stage = *this;
    const auto [earlier, own] = lastStage(train.pretrain);
    stage.train.pretrain = earlier;
    stage.train.start_from = lastStage(train.start_from).first;
    std::istringstream words(own);
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        if (equals == std::string::npos)
            throw OptionError("train.pretrain", "'" + word + "' is not key=value");
        try {
            core::setOption(stage, word.substr(0, equals), word.substr(equals + 1));
        } catch (const OptionError& error) {
            throw OptionError("train.pretrain", error.what());
        }
    }
    core::fitToData(stage);
    stage.variant += " before";
    return stage;
}

std::string RunOptions::initFrom() const {
    return lastStage(train.start_from).second;
}

}  // namespace relascope
