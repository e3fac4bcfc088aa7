// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/results.h"

#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

#include "types/metric.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

std::string fixed(double value, int digits) {
    if (std::isnan(value)) return "";
    std::array<char, 48> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   std::chars_format::fixed, digits)
                         .ptr;
    return {text.data(), end};
}

// Nothing where there is no number.
std::string shortest(double value) {
    return std::isnan(value) ? "" : shortestText(value == 0.0 ? 0.0 : value);  // not -0
}

std::string csvOf(const AblationTable& table) {
    std::string text =
        "part,group,point,how,metric,base,edited,change,low,high,changed_answers,part_norm,"
        "stream_norm,examples\n";
    for (const auto& row : table.rows)
        for (const auto& way : row.ways) {
            const auto& c = way.change;
            text += csvField(row.part) + "," + row.group + "," + row.edit.point + "," +
                    editOpName(way.how) + "," + table.metric;
            for (const double value : {c.base, c.edited, c.change, c.low, c.high,
                                       way.changedAnswers, row.partNorm, row.streamNorm})
                text += "," + fixed(value, 6);
            text += "," + std::to_string(table.examples) + "\n";
        }
    if (!table.cumulative.empty()) {
        text += "\nremoved,part,how,metric,edited\n";
        int removed = 0;
        for (const auto& [part, value] : table.cumulative)
            text += std::to_string(++removed) + "," + csvField(part) + "," +
                    editOpName(table.cumulativeWay) + "," + table.metric + "," + fixed(value, 6) +
                    "\n";
    }
    if (!table.pairs.empty()) {
        text += "\nfirst,second,metric,joint_change,interaction\n";
        for (const auto& pair : table.pairs)
            text += csvField(pair.first) + "," + csvField(pair.second) + "," + table.metric + "," +
                    fixed(pair.joint, 6) + "," + fixed(pair.interaction, 6) + "\n";
    }
    return text;
}

std::string csvOf(const PatchResult& result) {
    std::string text = "map,point,row,column,estimate,exact\n";
    for (const auto& map : result.maps)
        for (std::size_t r = 0; r < map.rows.size(); ++r)
            for (std::size_t c = 0; c < map.columns.size(); ++c) {
                const auto at = r * map.columns.size() + c;
                text += map.over + "," + map.point + "," + map.rows[r] + "," + map.columns[c] +
                        "," + shortest(map.estimate[at]) + "," + shortest(map.exact[at]) + "\n";
            }
    return text;
}

std::string csvOf(const LensResult& r) {
    std::ostringstream text;
    text.precision(9);
    text << "after,position,input,own_id,own,own_probability,own_rank,entropy,k,id,answer,logit,"
            "probability\n";
    for (std::size_t row = 0; row < r.rows.size(); ++row)
        for (std::size_t c = 0; c < r.columns(); ++c) {
            const auto& at = r.cell(row, c);
            const auto line = [&](const std::string& k, const LensAnswer& answer) {
                text << r.rows[row] << ',' << (r.whole ? "" : std::to_string(r.positions[c])) << ','
                     << (c < r.inputs.size() ? csvField(r.inputs[c]) : "") << ',' << r.answers[c].id
                     << ',' << csvField(r.answers[c].name) << ',' << at.probability << ','
                     << at.rank << ',' << at.entropy << ',' << k << ',' << answer.id << ','
                     << csvField(answer.name) << ',' << answer.logit << ',' << answer.probability
                     << "\n";
            };
            for (std::size_t k = 0; k < at.top.size(); ++k) line(std::to_string(k + 1), at.top[k]);
            for (const auto& answer : at.asked) line("asked", answer);
        }
    return text.str();
}

std::string csvOf(const Attribution& r) {
    std::ostringstream text;
    text.precision(9);
    text << "part,kind,layer,head,relation,inside,value\n";
    const auto counted = [](int at) { return at < 0 ? std::string() : std::to_string(at + 1); };
    for (const auto& part : r.parts)
        text << csvField(part.text()) << ',' << csvField(partKindName(part.kind)) << ','
             << counted(part.layer) << ',' << counted(part.head) << ',' << counted(part.relation)
             << ',' << part.inside() << ',' << part.value << "\n";
    return text.str();
}

std::string csvOf(const AlongTraining& along) {
    std::ostringstream text;
    text.precision(9);
    text << "step,value,probability" << (along.edited ? ",value_before,probability_before" : "")
         << "\n";
    const auto number = [&](double value) {
        text << ',';
        if (std::isfinite(value)) text << value;
    };
    for (const auto& at : along.steps) {
        text << at.step;
        number(at.now.value), number(at.now.probability);
        if (along.edited) number(at.before.value), number(at.before.probability);
        text << "\n";
    }
    return text.str();
}

std::string csvOf(const HeadMeasures& result) {
    std::string text = "layer,kind,head";
    for (const auto& name : result.measures) text += "," + csvField(name);
    text += "\n";
    for (const auto& head : result.heads) {
        text += std::to_string(head.layer + 1) + "," + mapKindName(head.kind) + "," +
                std::to_string(head.index + 1);
        for (const double value : head.values) text += "," + shortest(value);
        text += "\n";
    }
    text += ",even attention,";
    for (const double value : result.even) text += "," + shortest(value);
    return text + "\n";
}

}  // namespace

std::string csvOf(const AnalysisResult& result) {
    return std::visit([](const auto& one) { return csvOf(one); }, result);
}

std::string latexOf(const AblationTable& table) {
    std::vector<EditOp> ways;
    for (const auto& row : table.rows)
        if (row.ways.size() > ways.size()) {
            ways.clear();
            for (const auto& way : row.ways) ways.push_back(way.how);
        }
    const bool percent = metricInfo(table.metric).format == MetricFormat::Percent;
    const auto value = [&](double x) { return fixed(percent ? 100.0 * x : x, percent ? 1 : 3); };
    std::string text =
        "% change of " + table.metric + " (" + (percent ? "points" : "absolute") + ") over " +
        std::to_string(table.examples) + " examples, 95 % intervals; base " + value(table.base) +
        "\n\\begin{tabular}{l" + std::string(ways.size(), 'r') + "}\n\\toprule\npart";
    for (const auto way : ways) text += " & " + std::string(editOpName(way));
    text += " \\\\\n\\midrule\n";
    for (const auto& row : table.rows) {
        text += latexText(row.part);
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
