// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/parts/part_rows.h"

#include <algorithm>
#include <map>
#include <set>

#include "interventions/edit_words.h"

namespace relascope::core {
namespace {

// The kind of a hook point's parts, by the end of its name.
struct PartsOfPoint {
    const char* end;
    const char* group;
    std::vector<const char*> axes;  // one part for each combination of their places
};

const std::vector<PartsOfPoint>& partsOfPoints() {
    static const std::vector<PartsOfPoint> kinds = {
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

const std::vector<std::string>& partGroups() {
    static const std::vector<std::string> groups = {"heads", "relations", "columns",
                                                    "paths", "mlp",       "symbols"};
    return groups;
}

std::vector<AblationRow> partRows(const std::vector<PointInfo>& points,
                                  const std::vector<std::string>& groups) {
    std::vector<AblationRow> rows;
    const auto add = [&](const PartsOfPoint& kind, const PointInfo& point) {
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
        for (const auto& kind : partsOfPoints())
            if (point.name.ends_with(kind.end) &&
                std::find(groups.begin(), groups.end(), kind.group) != groups.end())
                add(kind, point);
        // Relational cross-attention: the pattern is the relation.
        const auto module = point.name.substr(0, point.name.rfind('.'));
        const bool relational = module.ends_with("rel") || module.ends_with("rca");
        if (relational && point.name.ends_with(".hook_pattern") &&
            !withRelations.contains(module) &&
            std::find(groups.begin(), groups.end(), "relations") != groups.end())
            add({".hook_pattern", "relations", {"head"}}, point);
    }
    return rows;
}

}  // namespace relascope::core
