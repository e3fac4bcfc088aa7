// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/runs_answer.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "answers/column_table.h"
#include "types/error.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

using Compared = ComparedRun;
using RunColumns = ColumnTable<Compared>;

constexpr const char* kNoOption = "\u2014";

/// The name in a file, which does not depend on the folder that a window shows.
std::string nameOf(const RunInfo& info) {
    if (!info.labels.name.empty()) return info.labels.name;
    const std::filesystem::path path(info.path);
    const auto own = path.filename().string();
    if (own.empty()) return info.name;
    return own.starts_with("seed-") ? path.parent_path().filename().string() + " · " + own : own;
}

/// The metric that all runs with a value of validation have; empty if they differ, or none has.
std::string commonMetric(const std::vector<Compared>& runs) {
    std::set<std::string> metrics;
    for (const auto& run : runs)
        if (!std::isnan(keptOf(run.info))) metrics.insert(run.info.metric);
    return metrics.size() == 1 ? *metrics.begin() : std::string();
}

columns::Shown shownMetric(const std::string& before, const std::string& metric) {
    if (metric.empty()) return {before, {4}};
    const auto& info = metricInfo(metric);
    return {before + (before.empty() ? "" : " ") + metricLabel(info.shortTitle),
            {info.isFraction()                         ? 1
             : info.format == MetricFormat::Perplexity ? 2
                                                       : 4,
             info.isFraction()}};
}

/// Every value of every test split that some run has, in the order of appearance.
RunColumns testColumns(const std::vector<Compared>& runs) {
    std::vector<std::pair<std::string, std::string>> tests;
    std::set<std::pair<std::string, std::string>> shown;
    for (const auto& run : runs) {
        for (const auto& result : run.info.results)
            for (const auto& [key, value] : result.values)
                if (std::pair test(result.split, key);
                    std::find(tests.begin(), tests.end(), test) == tests.end())
                    tests.push_back(std::move(test));
        if (const auto* result = shownResult(run.info))
            shown.emplace(result->split, resultMetric(run.info));
    }
    RunColumns all;
    for (const auto& test : tests) {
        const auto title = "Test " + test.first;
        all.push_back(columns::derived<Compared>(
            ColumnKind::Number, "test/" + test.first + "/" + test.second,
            shown.contains(test) ? shownMetric(title, test.second) : columns::Shown(),
            [test](const Compared& run) {
                for (const auto& result : run.info.results)
                    if (result.split == test.first) return result.value(test.second);
                return columns::kNone;
            }));
    }
    return all;
}

RunColumns validationColumns(const std::vector<Compared>& runs) {
    const auto common = commonMetric(runs);
    return {
        columns::derived<Compared>(ColumnKind::Text, "metric", {common.empty() ? "Metric" : ""},
                                   [](const Compared& run) { return run.info.metric; }),
        columns::derived<Compared>(ColumnKind::Number, "validation", shownMetric("Val.", common),
                                   [](const Compared& run) { return keptOf(run.info); })};
}

/// The columns of the table by a name of runColumns().
struct ColumnGroup {
    std::string name;
    std::function<RunColumns(const std::vector<Compared>&)> columns;
};

const std::vector<ColumnGroup>& columnGroups() {
    using Kind = ColumnKind;
    using Run = const Compared&;
    const auto column = [](Kind kind, const char* key, columns::Shown shown, auto get) {
        return columns::derived<Compared>(kind, key, std::move(shown), get);
    };
    const auto group = [](const char* name, const RunColumns& all) {
        return ColumnGroup{name, [all](const std::vector<Compared>&) { return all; }};
    };
    const auto one = [&](const char* name, Kind kind, const columns::Shown& shown, auto get) {
        return group(name, {column(kind, name, shown, get)});
    };
    static const std::vector<ColumnGroup> groups = {
        group("run", {column(Kind::Text, "run", {"Run"}, [](Run run) { return nameOf(run.info); }),
                      column(Kind::Text, "path", {}, [](Run run) { return run.info.path; })}),
        one("model", Kind::Text, {"Model"}, [](Run run) { return run.info.model; }),
        one("parameters", Kind::Integer, {"Parameters"},
            [](Run run) {
                return run.info.parameters > 0 ? static_cast<double>(run.info.parameters)
                                               : columns::kNone;
            }),
        one("seed", Kind::Integer, {"Seed"}, [](Run run) { return run.info.seed; }),
        one("state", Kind::Text, {"State"},
            [](Run run) { return std::string(runStateName(run.info.state)); }),
        one("loss", Kind::Number, {"Val. loss"},
            [](Run run) { return run.info.kept.value("loss"); }),
        {"validation", validationColumns},
        {"test", testColumns},
        one("published", Kind::Number, {"Published", {1, true}},
            [](Run run) { return run.published; }),
        one("difference", Kind::Number, {"Ours − pub.", {1, true, true}},
            [](Run run) {
                // A run that has not ended is not yet comparable with a published result.
                return run.info.state == RunState::Running ? columns::kNone : run.difference();
            }),
        group("time", {column(Kind::Number, "seconds", {"Time, s", {0}},
                              [](Run run) { return run.info.seconds; })}),
        one("tags", Kind::Text, {"Tags"}, [](Run run) { return joined(run.info.labels.tags); }),
        one("note", Kind::Text, {"Note"}, [](Run run) { return run.note; })};
    return groups;
}

/// Names for columns: a name that several runs have is that of none.
std::vector<std::string> distinctNames(const std::vector<RunInfo>& runs) {
    std::map<std::string, int> count = {{"field", 1}};
    for (const auto& run : runs) ++count[nameOf(run)];
    std::vector<std::string> names;
    names.reserve(runs.size());
    for (const auto& run : runs) names.push_back(count[nameOf(run)] > 1 ? run.path : nameOf(run));
    return names;
}

struct OptionCounts {
    std::int64_t differing = 0, fields = 0;
};

}  // namespace

const std::vector<std::string>& runColumns() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> names;
        for (const auto& group : columnGroups()) names.push_back(group.name);
        return names;
    }();
    return all;
}

std::vector<std::string> usualRunColumns(const std::vector<ComparedRun>& runs) {
    auto usual = runColumns();
    if (std::all_of(runs.begin(), runs.end(),
                    [](const auto& run) { return run.info.labels.tags.empty(); }))
        std::erase(usual, "tags");
    return usual;
}

void sortBestFirst(std::vector<ComparedRun>& runs) {
    const auto common = commonMetric(runs);
    const bool lower = !common.empty() && lowerIsBetter(common);
    std::stable_sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) {
        const double x = keptOf(a.info), y = keptOf(b.info);
        if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
        if (common.empty() && a.info.metric != b.info.metric)
            return metricInfo(a.info.metric).shortTitle > metricInfo(b.info.metric).shortTitle;
        return lower ? x < y : x > y;
    });
}

Table runsTable(const std::vector<ComparedRun>& runs, const std::vector<std::string>& columns) {
    RunColumns all;
    for (const auto& name : columns) {
        const auto group = std::find_if(columnGroups().begin(), columnGroups().end(),
                                        [&](const auto& known) { return known.name == name; });
        if (group == columnGroups().end())
            throw OptionError("columns", unknownName("column", name, runColumns()));
        for (auto& column : group->columns(runs)) all.push_back(std::move(column));
    }
    return tableOf("runs", "", all, runs);
}

Table curvesTable(const std::vector<CurvePoint>& points) {
    using Kind = ColumnKind;
    using Point = const CurvePoint&;
    ColumnTable<CurvePoint> all = {
        columns::text(&CurvePoint::run, "run", {"Run"}),
        columns::derived<CurvePoint>(Kind::Integer, "step", {"Step"},
                                     [](Point at) { return at.point.step; }),
        columns::derived<CurvePoint>(Kind::Number, "epoch", {"Epoch", {2}},
                                     [](Point at) { return at.point.epoch; }),
        columns::derived<CurvePoint>(Kind::Number, "seconds", {},
                                     [](Point at) { return at.point.seconds; })};
    std::set<std::string> metrics;
    for (const auto& at : points)
        for (const auto& [key, value] : at.point.values)
            if (metrics.insert(key).second)
                all.push_back(columns::derived<CurvePoint>(
                    Kind::Number, key, shownMetric("", key),
                    [key = key](Point at) { return at.point.value(key); }));
    return tableOf("curves", "", all, points);
}

Answer optionsAnswer(const std::vector<RunInfo>& runs, bool all) {
    // Fields in the order of the first run that has them.
    std::vector<std::string> fields;
    std::set<std::string> known;
    std::vector<std::map<std::string, std::string>> values(runs.size());
    for (std::size_t r = 0; r < runs.size(); ++r) {
        auto options = runs[r].options;
        if (runs[r].parameters > 0)
            options.emplace_back("parameters", groupedNumber(runs[r].parameters));
        for (auto& [key, value] : options) {
            if (known.insert(key).second) fields.push_back(key);
            values[r][key] = std::move(value);
        }
    }
    const auto at = [&](std::size_t r, const std::string& key) -> std::string {
        const auto found = values[r].find(key);
        return found == values[r].end() ? kNoOption : found->second;
    };
    Table table{"options"};
    table.columns.push_back({"field", "Field", {}, ColumnKind::Text});
    const auto names = distinctNames(runs);
    for (std::size_t r = 0; r < runs.size(); ++r)
        table.columns.push_back(
            {names[r], nameOf(runs[r]) + (r == 0 ? " (reference)" : ""), {}, ColumnKind::Text});
    OptionCounts counts{0, static_cast<std::int64_t>(fields.size())};
    for (const auto& field : fields) {
        bool differs = false;
        for (std::size_t r = 1; r < runs.size(); ++r) differs |= at(r, field) != at(0, field);
        counts.differing += differs;
        if (!differs && !all) continue;
        table.columns[0].texts.push_back(field);
        for (std::size_t r = 0; r < runs.size(); ++r)
            table.columns[r + 1].texts.push_back(at(r, field));
    }
    const ColumnTable<OptionCounts> facts = {
        columns::integer(&OptionCounts::differing, "differing", {"Options that differ"}),
        columns::integer(&OptionCounts::fields, "fields", {"Options"})};
    return {{factsOf(facts, counts), std::move(table)}};
}

}  // namespace relascope::core
