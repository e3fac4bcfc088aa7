// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/published.h"

#include <charconv>
#include <cmath>
#include <map>

#include "files/csv.h"
#include "options/builtin_resources.h"
#include "options/field_text.h"
#include "types/error.h"
#include "types/metric.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

using Row = std::vector<std::string>;

// Calls `use` with the cells of each line after the heading.
template <class Use>
void eachRow(const std::string& csv, std::size_t cells, Use use) {
    CsvReader rows(csv, "a built-in table");
    if (rows.columns().size() != cells) return;
    while (rows.next()) use(rows.fields());
}

double number(const std::string& text) {
    double value = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// Only the accuracy was published for the games.
bool isAccuracy(const std::string& metric) {
    return metricInfo(metric).id == Metric::Accuracy;
}

// "relational-games-match-pattern" -> "match_pattern"; empty for other presets.
std::string gameOf(const std::string& preset) {
    const std::string prefix = "relational-games-";
    if (preset.rfind(prefix, 0) != 0) return {};
    std::string task = preset.substr(prefix.size());
    for (auto& c : task)
        if (c == '-') c = '_';
    return task;
}

// The sorting presets with published curves, and the suffixes of their model names there.
const std::string* sortingSuffix(const std::string& preset) {
    static const std::map<std::string, std::string> suffixes = {
        {"sort-argsort", ""}, {"sort-pretrain", " (Pre-Trained; reshuffled attr)"}};
    const auto found = suffixes.find(preset);
    return found == suffixes.end() ? nullptr : &found->second;
}

// Converts published names of the sorting models to the preset's; empty for names of another
// preset.
std::string sortingModel(const std::string& suffix, const std::string& printed) {
    if (!printed.ends_with(suffix)) return {};
    const std::string name = printed.substr(0, printed.size() - suffix.size());
    static const std::map<std::string, std::string> names = {
        {"Relational Abstractor", "abstractor"},
        {"Simple Abstractor", "abstractor-decoder"},
        {"Ablation Abstractor", "ablation"},
        {"Transformer", "transformer"}};
    const auto found = names.find(name);
    return found == names.end() ? std::string() : found->second;
}

// Converts published names of the sorting metrics.
std::string_view sortingMetric(std::string_view printed) {
    static const std::map<std::string_view, Metric> names = {
        {"full_sequence_accuracy", Metric::SequenceAccuracy},
        {"elementwise_accuracy", Metric::ElementAccuracy},
        {"teacher_forcing_accuracy", Metric::Accuracy}};
    const auto found = names.find(printed);
    return found == names.end() ? printed : metricInfo(found->second).key;
}

}  // namespace

std::vector<PublishedPoint> publishedPoints(const std::string& preset, const std::string& metric,
                                            const std::string& split) {
    std::vector<PublishedPoint> points;
    if (const auto task = gameOf(preset); !task.empty() && isAccuracy(metric)) {
        eachRow(builtin::publishedRelationalGames(), 6, [&](const Row& row) {
            if (row[0] == task && row[1] == split)
                points.push_back({row[2], static_cast<std::int64_t>(number(row[3])), number(row[4]),
                                  number(row[5])});
        });
    } else if (const auto* suffix = sortingSuffix(preset); suffix && split == "test") {
        eachRow(builtin::publishedSorting(), 5, [&](const Row& row) {
            const auto model = sortingModel(*suffix, row[1]);
            if (!model.empty() && sortingMetric(row[0]) == metric)
                points.push_back({model, static_cast<std::int64_t>(number(row[2])), number(row[3]),
                                  number(row[4])});
        });
    }
    return points;
}

std::vector<PublishedPoint> referencePoints(const std::string& preset, const std::string& metric,
                                            const std::string& split) {
    std::vector<PublishedPoint> points;
    const auto task = gameOf(preset);
    if (task.empty() || !isAccuracy(metric)) return points;
    eachRow(builtin::referenceRelationalGames(), 10, [&](const Row& row) {
        if (row[0] == task && row[1] == split)
            points.push_back({row[2], static_cast<std::int64_t>(number(row[3])), number(row[4]),
                              number(row[5]), CurveSource::Relascope});
    });
    return points;
}

std::vector<PublishedResult> publishedResults(const RunOptions& options) {
    std::vector<PublishedResult> results;
    for (const char* split : {"pentos", "hexos", "stripes", "test"})
        for (const auto& point : publishedPoints(options.preset, "accuracy", split))
            if (point.series == options.variant && point.size == options.data.train_size)
                results.push_back({split, point.mean, point.error});
    const auto* pairs = options.model.find<EncoderDecoderDepth>();
    const auto* stack = options.model.find<StackDepth>();
    const auto layers = pairs ? pairs->n_layers_enc : stack ? stack->n_layers : 0;
    eachRow(builtin::publishedTables(), 5, [&](const Row& row) {
        if (row[0] == options.preset && row[1] == options.variant &&
            static_cast<std::int64_t>(number(row[2])) == layers)
            results.push_back({row[3], number(row[4]), 0.0});
    });
    return results;
}

std::vector<PublishedResult> publishedResults(const RunInfo& info) {
    // A run that is being created has no options yet.
    if (info.options.empty()) return {};
    RunOptions options;
    options.preset = info.preset;
    options.variant = info.variant;
    try {
        std::vector<std::pair<std::string, std::string>> values;
        for (const auto& option : info.options)
            if (!option.first.starts_with("train.")) values.push_back(option);
        setOptions(options, values, OtherArchitectures::Ignore);
        return publishedResults(options);
    } catch (const Error&) {
        return {};
    }
}

ComparedRun comparedRun(const RunInfo& info, const std::vector<PublishedResult>& published) {
    ComparedRun run{info};
    if (published.empty()) return run;
    std::string family;
    for (const auto& [key, text] : info.options)
        if (key == "data.family") family = text;
    const auto percent = [](double fraction) { return numberText("%.1f", 100.0 * fraction); };
    const PublishedResult* shown = nullptr;
    for (const auto& printed : published) {
        std::string line = printed.split + ": accuracy " + percent(printed.accuracy) + "%";
        if (printed.standardError > 0) line += " ± " + percent(printed.standardError) + " (s.e.)";
        for (const auto& result : info.results) {
            const double accuracy = result.value("accuracy");
            if (result.split != printed.split || std::isnan(accuracy)) continue;
            line += ", ours " + percent(accuracy) + "%";
            // The result of the training family is first if several were published.
            if (!shown || printed.split == family) {
                shown = &printed;
                run.ours = accuracy;
            }
        }
        run.publishedText += line + "\n";
    }
    if (!shown)
        for (const auto& printed : published)
            if (printed.split == family || published.size() == 1) shown = &printed;
    if (shown) run.published = shown->accuracy;
    run.publishedText += shown && !std::isnan(run.ours)
                             ? "compared on " + shown->split
                             : "compared with the accuracy on validation";
    return run;
}

}  // namespace relascope::core
