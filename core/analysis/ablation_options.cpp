// SPDX-License-Identifier: GPL-3.0-or-later
// Which parts of a model an ablation takes out, and what it may be asked for.
#include <algorithm>
#include <map>
#include <set>

#include "analysis/ablation_options.h"
#include "interventions/edit_words.h"
#include "types/error.h"
#include "types/metric.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

const std::vector<std::string> kGroups = {"heads", "relations", "columns",
                                          "paths", "mlp",       "symbols"};
const std::vector<std::string> kMetrics = {"accuracy", "loss", "mean_error"};
// What a point is made of, by the end of its name.
struct AblatedParts {
    const char* end;
    const char* group;
    std::vector<const char*> axes;  // one part for each combination of their places
};

const std::vector<AblatedParts>& ablatedParts() {
    static const std::vector<AblatedParts> kinds = {
        {".hook_z", "heads", {"head"}},
        {"rel.hook_r", "relations", {"relation"}},
        {"rca.hook_r", "relations", {"relation"}},
        {"relation.hook_r", "relations", {"relation"}},
        {"predinet.hook_r", "relations", {"relation"}},
        {"binding.hook_r", "relations", {"relation"}},
        {".hook_attended_r", "columns", {"head", "relation"}},
        {".hook_z_rel", "paths", {}},
        {".hook_z_sym", "paths", {}},
        {".hook_attn_out", "paths", {}},
        {".hook_cross_attn_out", "paths", {}},
        {".hook_mlp_out", "mlp", {}},
        {"sym.hook_library", "symbols", {"symbol"}},
    };
    return kinds;
}

}  // namespace

void AblationOptions::check() const {
    for (const auto& group : what)
        if (std::find(kGroups.begin(), kGroups.end(), group) == kGroups.end())
            throw OptionError("--what", unknownName("group of parts", group, kGroups));
    if (std::find(kMetrics.begin(), kMetrics.end(), metric) == kMetrics.end())
        throw OptionError("--metric", unknownName("metric", metric, kMetrics));
    if (how.empty()) throw OptionError("--how", "names no operation; give zero, mean or resample");
    for (const auto op : how)
        if (op != EditOp::Zero && op != EditOp::Mean && op != EditOp::Resample)
            throw OptionError("--how",
                              unknownName("way", editOpName(op), {"zero", "mean", "resample"}));
    if (examples < 1) throw OptionError("--examples", std::to_string(examples) + " is below 1");
}

std::vector<AblationRow> ablationRows(const std::vector<PointInfo>& points,
                                      const std::vector<std::string>& what) {
    std::vector<AblationRow> rows;
    const auto add = [&](const AblatedParts& kind, const PointInfo& point) {
        std::vector<std::map<std::string, AxisSelection>> places(1);
        for (const char* axis : kind.axes) {
            const int d = point.dimension(axis);
            if (d < 0) return;
            std::vector<std::map<std::string, AxisSelection>> more;
            for (const auto& place : places)
                for (std::int64_t i = 0; i < point.shape[static_cast<std::size_t>(d)]; ++i) {
                    more.push_back(place);
                    more.back()[axis] = {{i}, {}, {}};
                }
            places = std::move(more);
        }
        for (auto& place : places) {
            AblationRow row;
            row.group = kind.group;
            row.edit.point = point.name;
            row.edit.selection = std::move(place);
            const auto words = wordsOf(row.edit);
            row.part = words.substr(0, words.rfind(' '));  // without "zero"
            rows.push_back(std::move(row));
        }
    };
    std::set<std::string> withRelations;  // modules whose relations are apart from their pattern
    for (const auto& point : points)
        if (point.name.ends_with(".hook_r"))
            withRelations.insert(point.name.substr(0, point.name.rfind('.')));
    for (const auto& point : points) {
        for (const auto& kind : ablatedParts())
            if (point.name.ends_with(kind.end) &&
                std::find(what.begin(), what.end(), kind.group) != what.end())
                add(kind, point);
        // Relational cross-attention: the pattern is the relation.
        const auto module = point.name.substr(0, point.name.rfind('.'));
        const bool relational = module.ends_with("rel") || module.ends_with("rca");
        if (relational && point.name.ends_with(".hook_pattern") &&
            !withRelations.contains(module) &&
            std::find(what.begin(), what.end(), "relations") != what.end())
            add({".hook_pattern", "relations", {"head"}}, point);
    }
    return rows;
}

}  // namespace relascope::core
