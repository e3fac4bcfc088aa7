// The stage before a run, as options of its own.
#include <sstream>

#include "options/field_text.h"
#include "types/run_options.h"

namespace relascope {

std::optional<RunOptions> RunOptions::pretraining() const {
    if (train.pretrain.empty()) return std::nullopt;
    RunOptions stage = *this;
    stage.train.pretrain.clear();
    stage.train.start_from.clear();
    std::istringstream words(train.pretrain);
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        if (equals == std::string::npos)
            throw OptionError("train.pretrain", "'" + word + "' is no key=value");
        try {
            setOption(stage, word.substr(0, equals), word.substr(equals + 1));
        } catch (const OptionError& error) {
            throw OptionError("train.pretrain", error.what());
        }
    }
    stage.variant += " before";
    return stage;
}

}  // namespace relascope
