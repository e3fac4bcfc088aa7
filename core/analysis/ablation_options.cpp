// SPDX-License-Identifier: GPL-3.0-or-later
// Which parts of a model an ablation takes out, and what it may be asked for.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "analysis/ablation_options.h"
#include "interventions/edit_words.h"
#include "types/error.h"
#include "types/metric.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

const std::vector<std::string> kGroups = {"heads", "relations", "columns",
                                          "paths", "mlp",       "symbols"};
const std::vector<std::string> kMetrics = {"accuracy", "loss", "mean_error"};
// What a point is made of, by the end of its name.
struct PartKind {
    const char* end;
    const char* group;
    std::vector<const char*> axes;  // one part for each combination of their places
};

const std::vector<PartKind>& partKinds() {
    static const std::vector<PartKind> kinds = {
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
    const auto add = [&](const PartKind& kind, const PointInfo& point) {
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
        for (const auto& kind : partKinds())
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

namespace {

std::string number(double value, int digits) {
    if (std::isnan(value)) return "";
    std::array<char, 48> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   std::chars_format::fixed, digits)
                         .ptr;
    return {text.data(), end};
}

std::string quoted(const std::string& text) {
    return text.find_first_of(",\"\n") == std::string::npos ? text : "\"" + text + "\"";
}

std::string texText(const std::string& text) {
    std::string escaped;
    for (const char c : text)
        escaped += c == '_' || c == '%' || c == '#' ? std::string("\\") + c : std::string(1, c);
    return escaped;
}

}  // namespace

std::string ablationCsv(const AblationTable& table) {
    std::string text =
        "part,group,point,how,metric,base,edited,change,low,high,changed_answers,part_norm,"
        "stream_norm,examples\n";
    for (const auto& row : table.rows)
        for (const auto& way : row.ways) {
            const auto& c = way.change;
            text += quoted(row.part) + "," + row.group + "," + row.edit.point + "," +
                    editOpName(way.how) + "," + table.metric;
            for (const double value : {c.base, c.edited, c.change, c.low, c.high,
                                       way.changedAnswers, row.partNorm, row.streamNorm})
                text += "," + number(value, 6);
            text += "," + std::to_string(table.examples) + "\n";
        }
    if (!table.cumulative.empty()) {
        text += "\nremoved,part,how,metric,edited\n";
        int removed = 0;
        for (const auto& [part, value] : table.cumulative)
            text += std::to_string(++removed) + "," + quoted(part) + "," +
                    editOpName(table.cumulativeWay) + "," + table.metric + "," + number(value, 6) +
                    "\n";
    }
    if (!table.pairs.empty()) {
        text += "\nfirst,second,metric,joint_change,interaction\n";
        for (const auto& pair : table.pairs)
            text += quoted(pair.first) + "," + quoted(pair.second) + "," + table.metric + "," +
                    number(pair.joint, 6) + "," + number(pair.interaction, 6) + "\n";
    }
    return text;
}

std::string ablationLatex(const AblationTable& table) {
    std::vector<EditOp> ways;
    for (const auto& row : table.rows)
        if (row.ways.size() > ways.size()) {
            ways.clear();
            for (const auto& way : row.ways) ways.push_back(way.how);
        }
    const bool percent = metricInfo(table.metric).format == MetricFormat::Percent;
    const auto value = [&](double x) { return number(percent ? 100.0 * x : x, percent ? 1 : 3); };
    std::string text =
        "% change of " + table.metric + " (" + (percent ? "points" : "absolute") + ") over " +
        std::to_string(table.examples) + " examples, 95 % intervals; base " + value(table.base) +
        "\n\\begin{tabular}{l" + std::string(ways.size(), 'r') + "}\n\\toprule\npart";
    for (const auto way : ways) text += " & " + std::string(editOpName(way));
    text += " \\\\\n\\midrule\n";
    for (const auto& row : table.rows) {
        text += texText(row.part);
        for (const auto wanted : ways) {
            text += " & ";
            for (const auto& way : row.ways)
                if (way.how == wanted)
                    text += "$" + value(way.change.change) + "$ {\\scriptsize $[" +
                            value(way.change.low) + ", " + value(way.change.high) + "]$}";
        }
        text += " \\\\\n";
    }
    return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace relascope::core
