// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/checkpoint_answer.h"

#include <algorithm>
#include <cmath>

#include "answers/column_table.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

/// A tensor with what is known of its values.
struct MeasuredTensor {
    const StoredTensor* tensor = nullptr;
    const TensorStatistics* statistics = nullptr;
};
using TensorColumns = ColumnTable<MeasuredTensor>;

struct HistogramBin {
    double from = 0, to = 0;
    std::int64_t count = 0;
};

std::string sizesOf(const StoredTensor& tensor) {
    std::vector<std::string> sizes;
    for (const auto size : tensor.shape) sizes.push_back(std::to_string(size));
    return "[" + joined(sizes) + "]";
}

bool hasFiniteValues(const TensorStatistics& s) {
    return s.notFinite < s.count;
}

/// Digits after the point that give the largest value six significant ones.
int digitsOf(const TensorStatistics& s) {
    const double largest = std::max(std::abs(s.minimum), std::abs(s.maximum));
    if (!(largest > 0.0)) return 0;
    return static_cast<int>(std::clamp(5.0 - std::floor(std::log10(largest)), 0.0, 15.0));
}

TensorColumns storedColumns() {
    using Row = MeasuredTensor;
    using Kind = ColumnKind;
    return {columns::derived<Row>(Kind::Text, "name", {"Name"},
                                  [](const Row& r) { return r.tensor->name; }),
            columns::derived<Row>(Kind::Text, "shape", {"Shape"},
                                  [](const Row& r) { return sizesOf(*r.tensor); }),
            columns::derived<Row>(Kind::Text, "type", {"Type"},
                                  [](const Row& r) { return r.tensor->dtype; }),
            columns::derived<Row>(
                Kind::Integer, "bytes", {"Bytes"},
                [](const Row& r) { return r.tensor->sameAs.empty() ? r.tensor->bytes : 0; }),
            columns::derived<Row>(Kind::Text, "same_as", {"Same as"},
                                  [](const Row& r) { return r.tensor->sameAs; })};
}

/// `digits` are those that people see.
TensorColumns measuredColumns(int digits) {
    using Row = MeasuredTensor;
    const auto finite = [digits](const char* key, const char* title,
                                 double TensorStatistics::*member) {
        return columns::derived<Row>(
            ColumnKind::Number, key, {title, {digits}}, [member](const Row& r) {
                return r.statistics && hasFiniteValues(*r.statistics) ? r.statistics->*member
                                                                      : columns::kNone;
            });
    };
    return {
        finite("minimum", "Minimum", &TensorStatistics::minimum),
        finite("maximum", "Maximum", &TensorStatistics::maximum),
        finite("mean", "Mean", &TensorStatistics::mean),
        finite("deviation", "Deviation", &TensorStatistics::deviation),
        columns::derived<Row>(ColumnKind::Integer, "not_finite", {"Not finite"}, [](const Row& r) {
            return r.statistics ? static_cast<double>(r.statistics->notFinite) : columns::kNone;
        })};
}

}  // namespace

Table tensorsTable(
    const std::vector<StoredTensor>& tensors,
    const std::function<const TensorStatistics*(const std::string& name)>& statistics) {
    auto all = storedColumns();
    for (auto& column : measuredColumns(6)) all.push_back(std::move(column));
    std::vector<MeasuredTensor> rows;
    rows.reserve(tensors.size());
    for (const auto& tensor : tensors) rows.push_back({&tensor, statistics(tensor.name)});
    return tableOf("tensors", "", all, rows);
}

Table histogramTable(const TensorStatistics& statistics) {
    std::vector<HistogramBin> bins;
    const auto count = hasFiniteValues(statistics) ? statistics.histogram.size() : 0;
    const double step =
        count > 0 ? (statistics.maximum - statistics.minimum) / static_cast<double>(count) : 0.0;
    for (std::size_t k = 0; k < count; ++k)
        bins.push_back({statistics.minimum + static_cast<double>(k) * step,
                        statistics.minimum + static_cast<double>(k + 1) * step,
                        statistics.histogram[k]});
    const int digits = digitsOf(statistics);
    const ColumnTable<HistogramBin> shown = {
        columns::number(&HistogramBin::from, "from", {"From", {digits}}),
        columns::number(&HistogramBin::to, "to", {"To", {digits}}),
        columns::integer(&HistogramBin::count, "count", {"Values"})};
    return tableOf("histogram", "", shown, bins);
}

Answer tensorAnswer(const StoredTensor& tensor, const TensorStatistics& statistics) {
    auto facts = storedColumns();
    for (auto& fact : facts)
        if (fact.column.kind == ColumnKind::Text &&
            std::get<std::string>(fact.get({&tensor})).empty())
            fact.column.title.clear();
    facts.push_back(columns::derived<MeasuredTensor>(
        ColumnKind::Integer, "numbers", {"Numbers"},
        [](const MeasuredTensor& r) { return r.statistics->count; }));
    for (auto& column : measuredColumns(digitsOf(statistics))) facts.push_back(std::move(column));
    return {{factsOf(facts, MeasuredTensor{&tensor, &statistics}), histogramTable(statistics)}};
}

}  // namespace relascope::core
