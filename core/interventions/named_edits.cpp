// SPDX-License-Identifier: GPL-3.0-or-later
#include "interventions/named_edits.h"

#include <algorithm>
#include <filesystem>

#include "interventions/edit_json.h"
#include "interventions/edit_words.h"
#include "types/error.h"

namespace relascope::core {

EditList editsNamed(const std::vector<std::string>& arguments, const std::vector<PointInfo>& points,
                    EditUse use, const std::string& option) {
    EditList all;
    for (const auto& argument : arguments) {
        if (argument == "none") continue;
        std::error_code none;  // words may be longer than a name can be
        const bool file =
            argument.ends_with(".json") || std::filesystem::is_regular_file(argument, none);
        if (!file) {
            all.edits.push_back(editFromWords(argument, points));
            continue;
        }
        const auto list = readEdits(argument);
        // In the list of all, "edits[3]" would not say of which file.
        if (arguments.size() > 1) try {
                checkEdits(list, points, use);
            } catch (const OptionError& error) {
                throw FileError(argument, error.what());
            }
        if (all.name.empty()) all.name = list.name;
        for (const auto& [name, input] : list.inputs)
            if (!all.inputs.emplace(name, input).second && all.inputs.at(name) != input)
                throw OptionError(option, argument + " has another input '" + name +
                                              "' than a file before it; rename one");
        all.edits.insert(all.edits.end(), list.edits.begin(), list.edits.end());
    }
    return all;
}

bool namesNone(const std::vector<std::string>& arguments) {
    return std::find(arguments.begin(), arguments.end(), "none") != arguments.end();
}

}  // namespace relascope::core
