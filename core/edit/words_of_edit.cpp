// SPDX-License-Identifier: GPL-3.0-or-later
// The words of an edit, which editFromWords() parses.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "edit/edit_words.h"

namespace relascope::core {
namespace {

bool endsWith(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The words for the heads of a module.
const std::map<std::string, std::string>& kindWords() {
    static const std::map<std::string, std::string> words = {{"attn", "sensory head "},
                                                             {"cross_attn", "cross head "},
                                                             {"rel", "relational head "},
                                                             {"rca", "relational head "}};
    return words;
}

std::string numberText(double value) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

std::string operationText(const Edit& edit, std::int64_t counted) {
    std::string text = editOpName(edit.op);
    switch (edit.op) {
        case EditOp::Set:
        case EditOp::Add:
            if (edit.values.numbers.size() == 1)
                return text + " " + numberText(edit.values.numbers[0]);
            return text + " " + std::to_string(edit.values.numbers.size()) + " numbers";
        case EditOp::Scale:
            return edit.factor == -1.0 ? "invert" : text + " " + numberText(edit.factor);
        case EditOp::Resample:
            return edit.shift == 1 ? text : text + " " + std::to_string(edit.shift);
        case EditOp::Patch:
            return text + " " + edit.from;
        case EditOp::Swap:
            return text + " " + edit.axis + " " + std::to_string(edit.first + counted) + " " +
                   std::to_string(edit.second + counted);
        default:
            return text;
    }
}

}  // namespace

std::string placesText(const AxisSelection& s, std::int64_t counted) {
    std::string text;
    if (s.isRange())
        return (s.low ? std::to_string(*s.low + counted) : "") + ":" +
               (s.high ? std::to_string(*s.high + counted) : "");
    for (const auto place : s.places)
        text += (text.empty() ? "" : ",") + std::to_string(place + counted);
    return text;
}

std::string wordsOf(const Edit& edit) {
    // Names of files count from 0 and end in the point; the words of a part are shorter.
    std::string stack, name = edit.at;
    for (const auto& [prefix, word] :
         std::array<std::pair<std::string, std::string>, 4>{{{"blocks.", "layer"},
                                                             {"encoder.", "encoder"},
                                                             {"decoder.", "decoder"},
                                                             {"abstractor.", "abstractor"}}}) {
        const auto dot = edit.at.find('.', prefix.size());
        if (edit.at.rfind(prefix, 0) != 0 || dot == std::string::npos) continue;
        const auto number = edit.at.substr(prefix.size(), dot - prefix.size());
        if (number.empty() || number.size() > 9 ||
            number.find_first_not_of("0123456789") != std::string::npos)
            continue;
        stack = word + " " + std::to_string(std::stoll(number) + 1) + " ";
        name = edit.at.substr(dot + 1);
        break;
    }
    auto where = edit.where;
    const bool simple = std::all_of(where.begin(), where.end(), [](const auto& item) {
        const auto& s = item.second;
        const auto negative = [](std::int64_t n) { return n < 0; };
        return std::none_of(s.places.begin(), s.places.end(), negative) && s.low.value_or(0) >= 0 &&
               s.high.value_or(0) >= 0;
    });
    const auto taken = [&](const char* axis, std::int64_t counted) {
        const auto found = where.find(axis);
        if (found == where.end()) return std::string();
        auto text = placesText(found->second, counted);
        where.erase(found);
        return text;
    };
    std::string part;
    const auto has = [&](const char* axis) { return where.contains(axis); };
    std::int64_t counted = 1;
    if (simple && edit.when.empty()) {
        if (endsWith(name, "hook_attended_r") && has("head") && has("relation") && !stack.empty())
            part = "relation " + taken("relation", 1) + " head " + taken("head", 1);
        else if ((name == "rel.hook_r" || name == "rca.hook_r" || name == "relation.hook_r") &&
                 has("relation"))
            part = "relation " + taken("relation", 1);
        else if (name == "rel.hook_z_rel" && where.empty() && edit.op != EditOp::Swap)
            part = "relations";
        else if (name == "rel.hook_z_sym" && where.empty() && edit.op != EditOp::Swap)
            part = "symbols";
        else if (name == "sym.hook_symbols" && has("position") && where.size() == 1)
            part = "symbol " + taken("position", 0);
        else if (name == "sym.hook_symbols" && where.empty() && edit.op == EditOp::Swap &&
                 edit.axis == "position")
            return stack + "symbols " + std::to_string(edit.first) + " " +
                   std::to_string(edit.second) + " swap";
        else if (name == "sym.hook_library" && (has("symbol") || edit.op == EditOp::Swap))
            part = has("symbol") ? "library symbol " + taken("symbol", 1) : "library";
        else if (name == "hook_attn_out" && !stack.empty())
            part = "attention";
        else if (name == "hook_cross_attn_out" && stack.rfind("decoder", 0) == 0)
            part = "cross attention";
        else if (name == "hook_mlp_out" && !stack.empty())
            part = "feed-forward";
        else if (name == "hook_resid_pre" && !stack.empty())
            part = "stream";
        else {
            const auto dot = name.find('.');
            const auto module = name.substr(0, dot);
            const auto point = dot == std::string::npos ? "" : name.substr(dot + 1);
            const bool known = kindWords().contains(module);
            const auto head = [&] { return kindWords().at(module) + taken("head", 1); };
            const bool cell = has("i") && has("j") && has("head");
            const bool edges = (point == "hook_attn_scores" && edit.op == EditOp::Mask) ||
                               (point == "hook_pattern" && edit.op != EditOp::Mask);
            const bool uniform = edit.op == EditOp::Uniform;
            const bool whole =
                (point == "hook_z" && has("head") && !uniform) ||
                (point == "hook_pattern" && has("head") && where.size() == 1 && uniform);
            if (known && whole)
                part = head();
            else if (known && cell && edges && edit.op != EditOp::Swap) {
                part = head();
                part += " edge " + taken("i", 0);
                part += " " + taken("j", 0);
            }
        }
    }
    if (part.empty()) {
        part = edit.at;
        stack.clear();
        counted = 0;
    }
    std::string text = stack + part;
    for (const auto& [axis, selection] : where) {
        const bool fromOne = counted == 1 && (axis == "head" || axis == "relation");
        text += " " + axis + " " + placesText(selection, fromOne ? 1 : 0);
    }
    const bool entries = edit.axis == "head" || edit.axis == "relation" ||
                         (edit.axis == "symbol" && endsWith(edit.at, "sym.hook_library"));
    text += " " + operationText(edit, entries ? counted : 0);
    if (!edit.when.empty()) text += " (" + edit.when + " only)";
    return text;
}

std::string wordsOf(const EditList& list) {
    std::string text;
    for (const auto& edit : list.edits)
        if (edit.enabled) text += (text.empty() ? "" : "; ") + wordsOf(edit);
    return text;
}

}  // namespace relascope::core
