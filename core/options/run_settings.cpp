// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/run_settings.h"

#include "options/field_text.h"
#include "options/fit_data.h"
#include "options/presets.h"

namespace relascope::core {

RunOptions runOptions(const RunSettings& s) {
    if (s.preset.empty())
        throw OptionError("preset", "give an experiment; `relascope-cli presets` lists them");
    RunOptions options = presetOptions(s.preset, s.model);
    std::vector<std::pair<std::string, std::string>> values;
    for (const auto& setting : s.set) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos)
            throw OptionError("--set", "'" + setting + "' is not KEY=VALUE");
        values.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
    }
    setOptions(options, values);
    if (!s.data.empty()) options.data.path = s.data;
    if (s.epochs > 0) options.train.epochs = s.epochs, options.train.steps = 0;
    if (s.steps > 0) options.train.steps = s.steps;
    if (s.seed >= 0) options.train.seeds = {s.seed};
    if (s.captureEvery >= 0) options.train.capture_every = s.captureEvery;
    if (!s.device.empty()) options.train.device = s.device;
    fitToData(options);  // sizes of the model follow the data
    options.check();
    return options;
}

}  // namespace relascope::core
