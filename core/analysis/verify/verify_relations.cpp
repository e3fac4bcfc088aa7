// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/verify/verify_relations.h"

#include <torch/utils.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/pairs/relation_statistics.h"
#include "analysis/verify/verify_lines.h"
#include "checkpoint/tensor_io.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kStatisticsTolerance = 1e-5;

struct StoredRelations {
    PairShape shape;
    std::size_t relations = 0;
    std::vector<std::vector<float>> values;  // values of each relation
    std::vector<std::uint8_t> truth;
    torch::Tensor query, key;  // [relation, width, d], double
};

StoredRelations readRelations(const std::string& file) {
    auto io = readTensors(file);
    const auto tensor = [&](const char* name, std::int64_t dims) {
        const auto found = io.find(name);
        if (found == io.end() || found->second.dim() != dims)
            throw FileError(file, std::string(name) + ": a tensor of " + std::to_string(dims) +
                                      " dimensions is expected");
        return found->second;
    };
    const auto r = tensor("r", 4);
    StoredRelations all;
    all.shape.examples = static_cast<std::size_t>(r.size(0));
    all.shape.objects = static_cast<std::size_t>(r.size(1));
    all.relations = static_cast<std::size_t>(r.size(3));
    const auto attribute = tensor("attribute", 3), defined = tensor("defined", 3);
    all.query = tensor("wq_rel", 3).to(torch::kDouble).contiguous();
    all.key = tensor("wk_rel", 3).to(torch::kDouble).contiguous();
    if (r.size(2) != r.size(1) || attribute.sizes() != r.sizes().slice(0, 3) ||
        defined.sizes() != attribute.sizes() || all.query.size(0) != r.size(3) ||
        all.key.sizes() != all.query.sizes() || r.numel() == 0)
        throw FileError(file, "the shapes of r, attribute, defined, wq_rel and wk_rel do not fit");
    for (std::int64_t l = 0; l < r.size(3); ++l) {
        const auto one = r.select(3, l).to(torch::kFloat).contiguous();
        const float* data = one.const_data_ptr<float>();
        all.values.emplace_back(data, data + one.numel());
    }
    const auto yes = attribute.ne(0).to(torch::kByte).contiguous();
    const auto no = defined.eq(0).to(torch::kByte).contiguous();
    for (std::int64_t k = 0; k < yes.numel(); ++k)
        all.truth.push_back(no.const_data_ptr<std::uint8_t>()[k]    ? kPairUndefined
                            : yes.const_data_ptr<std::uint8_t>()[k] ? kPairYes
                                                                    : kPairNo);
    return all;
}

std::span<const double> rowsOf(const torch::Tensor& weights, std::size_t relation) {
    const auto size = static_cast<std::size_t>(weights.size(1) * weights.size(2));
    return {weights.const_data_ptr<double>() + relation * size, size};
}

/// The numbers of an atlas, under the names of expected.json.
std::map<std::string, std::vector<double>> statisticsOf(const StoredRelations& all,
                                                        std::size_t relation) {
    const PairValues values = all.values[relation];
    const auto places = pairPlaces(all.shape);
    const SortedPairs sorted(all.shape, places, values);
    const auto distribution = distributionOf(all.shape, values);
    const auto shares = varianceShares(all.shape, values);
    const auto weights = weightMatrixFacts(rowsOf(all.query, relation), rowsOf(all.key, relation),
                                           static_cast<std::size_t>(all.query.size(1)),
                                           static_cast<std::size_t>(all.query.size(2)));
    return {{"auc", {plainAuc(sorted, all.truth)}},
            {"auc_place_fixed", {placeFixedAuc(sorted, all.truth)}},
            {"share_place_example_receiver_sender_pair", {shares.begin(), shares.end()}},
            {"symmetry", {symmetryRatio(all.shape, values)}},
            {"effective_rank_of_weights", {weights.effectiveRank}},
            {"mean", {distribution.mean}},
            {"sd", {distribution.sd}}};
}

// null stands for a symmetric relation.
std::vector<double> numbersOf(const Json& json) {
    if (json.is_null()) return {std::numeric_limits<double>::infinity()};
    if (json.is_array()) return json.get<std::vector<double>>();
    return {json.get<double>()};
}

VerifyLine compared(const std::string& name, const std::vector<double>& ours,
                    const std::vector<double>& theirs) {
    VerifyLine line{name};
    if (ours.size() != theirs.size()) {
        line.note = ours.empty() ? "not computed" : "different shape";
        return line;
    }
    line.ok = true;
    for (std::size_t k = 0; k < ours.size(); ++k) {
        if (ours[k] == theirs[k]) continue;
        const double by = std::abs(ours[k] - theirs[k]);
        line.absolute = std::max(line.absolute, by);
        line.relative = std::max(line.relative, by / std::max(1e-12, std::abs(theirs[k])));
        line.ok = line.ok && by <= kStatisticsTolerance * (1.0 + std::abs(theirs[k]));
    }
    if (!std::isfinite(line.absolute)) line.note = "not finite";
    return line;
}

}  // namespace

VerifyReport verifyRelations(const std::string& folder) {
    const std::string file = folder + "/expected.json";
    const auto all = readRelations(folder + "/io.safetensors");
    VerifyReport report;
    report.ok = true;
    const auto add = [&](VerifyLine line) { addLine(report, std::move(line)); };
    try {
        const auto expected = Json::parse(std::ifstream(file));
        const auto& relations = expected.at("relations");
        if (relations.size() != all.relations)
            throw FileError(file, "relations: " + std::to_string(relations.size()) + " of " +
                                      std::to_string(all.relations) + " are described");
        for (std::size_t l = 0; l < all.relations; ++l) {
            const auto ours = statisticsOf(all, l);
            for (const auto& [name, value] : relations.at(l).items()) {
                const auto found = ours.find(name);
                add(compared("relations/" + std::to_string(l) + "/" + name,
                             found == ours.end() ? std::vector<double>() : found->second,
                             numbersOf(value)));
            }
        }
        if (const auto found = expected.find("correlation_place_removed");
            found != expected.end()) {
            std::vector<double> theirs;
            for (const auto& row : *found)
                for (const auto& value : row) theirs.push_back(value.get<double>());
            const std::vector<PairValues> values(all.values.begin(), all.values.end());
            add(compared("correlation_place_removed", correlationWithoutPlace(all.shape, values),
                         theirs));
        }
    } catch (const nlohmann::json::exception& error) {
        throw FileError(file,
                        std::string("is not of the form of expected statistics: ") + error.what());
    }
    if (report.lines.empty()) throw FileError(file, "contains nothing to compare");
    return report;
}

}  // namespace relascope::core
