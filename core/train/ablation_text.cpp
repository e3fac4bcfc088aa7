// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>
#include <charconv>
#include <cmath>

#include "train/ablation_options.h"
#include "types/metric.h"

namespace relascope::core {
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
            text += quoted(row.part) + "," + row.group + "," + row.edit.at + "," +
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
