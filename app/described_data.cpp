// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/described_data.h"

#include <filesystem>

#include "app/pages/data_source.h"
#include "options/import_data.h"
#include "options/shown_data.h"
#include "question/question_words.h"
#include "widgets/data/sample_grid.h"
#include "wire/host.h"

namespace relascope::app {
namespace {

/// The data and their split.
std::optional<View> describeSplit(const DataSource& source) {
    using Kind = DataChoice::Kind;
    const auto& choice = source.choice();
    const auto& options = choice.options;
    if (!source.info()) return std::nullopt;
    View view;
    view.command = "data";
    view.saved = false;
    std::vector<std::string> settings;
    if (choice.kind == Kind::Generated) {
        view.subjects.push_back({options.kind, {}, {}, {}, {}});
        if (!options.path.empty())
            core::addOption(view, "data", std::filesystem::absolute(options.path).string());
        settings = core::dataSettings(options);
    } else {
        const auto path = choice.path.toStdString();
        if (wire::farPathOf(path)) return std::nullopt;
        view.subjects.push_back({path, {}, {}, {}, {}});
    }
    if (choice.kind == Kind::File) {
        const auto form = core::importIdOf(options);
        core::addOption(view, "form", form);
        if (options.task != core::importOptions(form, {}, options.path).task)
            settings.push_back("data.task=" + options.task);
    }
    if (!settings.empty()) core::addOption(view, "set", settings);
    if (choice.kind == Kind::Generated && choice.epoch > 0 &&
        (options.streaming || options.augment != "none"))
        core::addOption(view, "epoch", std::int64_t{choice.epoch});
    core::addOption(view, "split", source.split().toStdString());
    return view;
}

}  // namespace

std::optional<View> describeStatistics(const DataSource& source) {
    auto view = describeSplit(source);
    if (view) core::addOption(*view, "statistics", true);
    return view;
}

std::optional<View> describeSample(const DataSource& source, qint64 index) {
    auto view = describeSplit(source);
    if (view) core::addOption(*view, "sample", std::int64_t{index});
    return view;
}

std::optional<View> describeGrid(const DataSource& source, const widgets::SampleGrid& grid) {
    auto view = describeSplit(source);
    if (!view || grid.countShown() == 0 || !grid.isFilled()) return std::nullopt;
    if (source.label() >= 0)
        core::addOption(*view, "label", source.labels().value(source.label()).toStdString());
    core::addOption(*view, "grid", true);
    if (grid.firstShown() > 0) core::addOption(*view, "first", std::int64_t{grid.firstShown()});
    core::addOption(*view, "count", std::int64_t{grid.countShown()});
    core::addOption(*view, "columns", std::int64_t{grid.columns()});
    return view;
}

}  // namespace relascope::app
