// SPDX-License-Identifier: GPL-3.0-or-later
// The options of the pretraining stage of a run.
#include <sstream>

#include "options/field_text.h"
#include "options/fit_data.h"
#include "types/run_options.h"

namespace relascope {
namespace {

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
