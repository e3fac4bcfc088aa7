// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/spread/spread.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "answers/column_table.h"
#include "interventions/active_edits.h"
#include "model/public/family.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kWindowsOfExamples = 10;

/// What a map says of one example, each a mean over its rows; NaN where no row has it.
struct Spread {
    double entropy = 0.0, ofEven = 0.0, distance = 0.0, first = 0.0;
};

double distanceOf(const PatchGrid& grid, int i, int j) {
    if (grid.rows == 0) return std::abs(i - j);
    const int a = i - grid.firstTokens(), b = j - grid.firstTokens();
    const int patches = grid.rows * grid.columns;
    if (a < 0 || b < 0 || a >= patches || b >= patches) return columns::kNone;
    return std::hypot(a / grid.columns - b / grid.columns, a % grid.columns - b % grid.columns);
}

Spread spreadOf(const RelationMap& map, const PatchGrid& grid) {
    Spread sum;
    double choices = 0.0, distances = 0.0;
    std::vector<float> row(static_cast<std::size_t>(map.columns));
    for (int i = 0; i < map.rows; ++i) {
        map.readRows(i, 1, row.data());
        const int open = map.causal ? i + 1 : map.columns;
        sum.first += row[0];
        if (open > 1) {
            double entropy = 0.0;
            for (int j = 0; j < open; ++j)
                if (const double w = row[static_cast<std::size_t>(j)]; w > 0.0)
                    entropy -= w * std::log(w);
            sum.entropy += entropy, sum.ofEven += entropy / std::log(open);
            ++choices;
        }
        const int most =
            static_cast<int>(std::max_element(row.begin(), row.begin() + open) - row.begin());
        if (const double d = distanceOf(grid, i, most); !std::isnan(d))
            sum.distance += d, ++distances;
    }
    return {sum.entropy / choices, sum.ofEven / choices, sum.distance / distances,
            sum.first / map.rows};
}

/// The mean and the standard deviation of values of examples.
class Moments {
public:
    void add(double value) {
        if (std::isnan(value)) return;
        ++m_count, m_sum += value, m_squares += value * value;
    }
    double mean() const { return m_sum / m_count; }
    double deviation() const {
        return std::sqrt(std::max(0.0, m_squares - m_sum * m_sum / m_count) / (m_count - 1.0));
    }

private:
    double m_count = 0.0, m_sum = 0.0, m_squares = 0.0;
};

Answer runSpread(AnalysisSubject& subject, const SpreadOptions& options,
                 const Watch<Answer>& watch) {
    auto& model = *subject.model;
    if (!subject.data || subject.data->size() == 0)
        throw OptionError("data", "contains nothing to read");
    const bool text = model.options().input() == InputKind::Tokens;
    const auto order = drawnExamples(
        subject.data->size(),
        text ? std::max<std::int64_t>(2, options.examples / kWindowsOfExamples) : options.examples,
        0);
    if (order.size() < 2) throw OptionError("examples", "two examples or more are needed");
    struct Head {
        Moments entropy, ofEven, distance, first;
    };
    // In the order of their layers; of one, sensory heads before relational ones.
    std::map<std::tuple<int, bool, int>, Head> heads;
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (watch.stop.stop_requested() ||
            (watch.progress &&
             !watch.progress(static_cast<double>(k) / static_cast<double>(order.size()))))
            throw Cancelled();
        const auto result =
            model.probe(subject.data->sample(order[k]), subject.classNames, subject.interventions);
        for (const auto& map : result.maps) {
            const bool relational = map.kind == MapKind::RelationalAttention;
            if (!relational && map.kind != MapKind::SensoryAttention) continue;
            if (map.rows != map.columns) continue;  // of other objects: there is no distance
            const auto spread = spreadOf(map, result.grid);
            auto& head = heads[{map.layer, relational, map.index}];
            head.entropy.add(spread.entropy), head.ofEven.add(spread.ofEven);
            head.distance.add(spread.distance), head.first.add(spread.first);
        }
    }
    if (heads.empty())
        throw OptionError("path",
                          modelTitle(model.options()) + " has no attention among its own objects");
    auto answer = emptySpread();
    addRow(answer, "", std::ssize(order));
    for (const auto& [key, head] : heads) {
        const auto [layer, relational, index] = key;
        addRow(answer, "heads", layer + 1,
               relational ? "relational attention" : "sensory attention", index + 1,
               head.entropy.mean(), head.entropy.deviation(), head.ofEven.mean(),
               head.distance.mean(), head.distance.deviation(), head.first.mean(),
               head.first.deviation());
        answer.tables[1].links.push_back(
            {relational ? MapKind::RelationalAttention : MapKind::SensoryAttention, layer, index});
    }
    return answer;
}

}  // namespace

const RegisterRunner kSpreadRunner("spread", [] { return makeRunner(spreadFields(), runSpread); });

}  // namespace relascope::core
