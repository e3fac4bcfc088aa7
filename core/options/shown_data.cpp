// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/shown_data.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "options/pair_data.h"
#include "options/presets.h"
#include "types/data_kind.h"
#include "types/field_text.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

// Fields about the use of the data during training, not about the data.
constexpr const char* kOfTraining[] = {"kind",        "task",          "prompt",
                                       "pinned_text", "sample_tokens", "mix"};

}  // namespace

DataOptions usualData(const std::string& kind, const std::string& task) {
    DataOptions options;
    options.kind = kind;
    options.task = task;
    if (kind == DataOptions().kind) return options;  // the defaults are this kind's
    const auto& known = dataKind(kind);
    if (!known.trains) {  // no preset has them
        options = pairData();
        options.kind = kind;
        options.task = task;
        return options;
    }
    for (const bool exact : {true, false})
        for (const auto& preset : presets()) {
            const DataOptions of = presetOptions(preset.name).data;
            if (of.kind != kind || (exact && of.task != task)) continue;
            options = of;
            options.task = task;
            // Another task of the kind may have fewer examples: use all of them.
            if (!exact && known.generated && !known.tasksAlike)
                options.train_size = options.validation_size = options.test_size = 0;
            return options;
        }
    return options;
}

DataOptions namedData(const std::string& name, const std::string& task) {
    if (findPreset(name)) {
        auto options = presetOptions(name).data;
        if (!task.empty()) options.task = task;
        return options;
    }
    if (const auto* kind = findDataKind(name)) {
        const auto usual = DataOptions().task;
        return usualData(name, !task.empty()           ? task
                               : kind->tasks.empty()   ? std::string()
                               : kind->findTask(usual) ? usual
                                                       : kind->tasks.front().name);
    }
    std::vector<std::string> known;
    for (const auto& preset : presets()) known.push_back(preset.name);
    for (const auto* kind : dataKinds()) known.push_back(kind->name);
    throw OptionError("place", unknownName("experiment or kind of data", name, known));
}

std::vector<std::string> dataFields(const DataOptions& options) {
    std::vector<std::string> names;
    for (const auto& field : DataOptions::fieldTable())
        if (field.applies(options) && std::find(std::begin(kOfTraining), std::end(kOfTraining),
                                                field.spec.name) == std::end(kOfTraining))
            names.push_back(field.spec.name);
    return names;
}

std::vector<std::string> dataSettings(const DataOptions& options) {
    std::vector<std::string> settings;
    if (options.task != namedData(options.kind, "").task)
        settings.push_back("data.task=" + options.task);
    const auto named = namedData(options.kind, options.task);
    const auto names = dataFields(options);
    for (const auto& field : DataOptions::fieldTable()) {
        const auto value = field.get(options);
        if (field.spec.name != "path" && value != field.get(named) &&
            std::find(names.begin(), names.end(), field.spec.name) != names.end())
            settings.push_back("data." + field.spec.name + "=" + fieldValueText(value));
    }
    return settings;
}

std::string titleOfTask(const std::string& kind, const std::string& task) {
    const auto* known = findDataKind(kind);
    if (known && known->tasks.empty()) return known->title;
    if (const auto* found = known ? known->findTask(task) : nullptr) return found->title;
    std::string title = task;
    std::replace(title.begin(), title.end(), '_', ' ');
    if (!title.empty())
        title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
    return title;
}

void addOrigin(DataStatistics& statistics, const DatasetInfo& info, const std::string& name,
               std::int64_t seed, std::int64_t epoch) {
    std::string origin = seed < 0 ? name : info.origin;
    // The seed that was chosen; the generator derives one for each split.
    if (seed >= 0 && origin.starts_with("generated")) {
        origin = "generated, seed " + std::to_string(seed);
        if (epoch >= 0) origin += ", epoch " + std::to_string(epoch);
    }
    statistics.rows.emplace_back("Origin", origin);
}

}  // namespace relascope::core
