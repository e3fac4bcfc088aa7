#include "options/published.h"

#include <charconv>
#include <map>
#include <sstream>

#include "options/builtin_resources.h"

namespace relascope {
namespace {

using Row = std::vector<std::string>;

// Calls `use` with the cells of each line after the heading.
template <class Use>
void eachRow(const std::string& csv, std::size_t cells, Use use) {
    std::istringstream lines(csv);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        Row row;
        std::istringstream words(line);
        for (std::string cell; std::getline(words, cell, ',');) row.push_back(cell);
        if (row.size() == cells) use(row);
    }
}

double number(const std::string& text) {
    double value = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
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

// The printed names of the models of sorting, as ours.
std::string sortingModel(const std::string& preset, const std::string& printed) {
    static const std::string before = " (Pre-Trained; reshuffled attr)";
    std::string name = printed;
    if (preset == "sort-pretrain") {
        if (name.size() <= before.size() ||
            name.compare(name.size() - before.size(), before.size(), before) != 0)
            return {};
        name.resize(name.size() - before.size());
    }
    static const std::map<std::string, std::string> names = {
        {"Relational Abstractor", "abstractor"},
        {"Simple Abstractor", "abstractor-decoder"},
        {"Ablation Abstractor", "ablation"},
        {"Transformer", "transformer"}};
    const auto found = names.find(name);
    return found == names.end() ? std::string() : found->second;
}

std::string sortingMetric(const std::string& printed) {
    if (printed == "full_sequence_accuracy") return "sequence_accuracy";
    if (printed == "elementwise_accuracy") return "element_accuracy";
    return printed == "teacher_forcing_accuracy" ? "accuracy" : printed;
}

}  // namespace

std::vector<PublishedPoint> publishedPoints(const std::string& preset, const std::string& metric,
                                            const std::string& split) {
    std::vector<PublishedPoint> points;
    if (const auto task = gameOf(preset); !task.empty() && metric == "accuracy") {
        eachRow(builtin::publishedRelationalGames(), 6, [&](const Row& row) {
            if (row[0] == task && row[1] == split)
                points.push_back({row[2], static_cast<std::int64_t>(number(row[3])), number(row[4]),
                                  number(row[5])});
        });
    } else if ((preset == "sort-argsort" || preset == "sort-pretrain") && split == "test") {
        eachRow(builtin::publishedSorting(), 5, [&](const Row& row) {
            const auto model = sortingModel(preset, row[1]);
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
    if (task.empty() || metric != "accuracy") return points;
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
    const auto& m = options.model;
    const auto layers = m.input() == InputKind::Pairs ? m.n_layers_enc : m.n_layers;
    eachRow(builtin::publishedTables(), 5, [&](const Row& row) {
        if (row[0] == options.preset && row[1] == options.variant &&
            static_cast<std::int64_t>(number(row[2])) == layers)
            results.push_back({row[3], number(row[4]), 0.0});
    });
    return results;
}

}  // namespace relascope
