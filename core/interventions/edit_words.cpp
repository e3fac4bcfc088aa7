// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "interventions/edit_words.h"
#include "interventions/map_edits.h"
#include "interventions/relation_file.h"
#include "types/error.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::size_t kLongestEcho = 200;

[[noreturn]] void refuse(const std::string& message) {
    throw OptionError("--edit", message);
}

std::string cut(const std::string& text) {
    return text.size() > kLongestEcho ? text.substr(0, kLongestEcho - 3) + "..." : text;
}

/// Words one after another.
class Words {
public:
    explicit Words(const std::string& text) : m_text(text) {
        std::istringstream in(text);
        for (std::string word; in >> word; m_words.push_back(word))
            if (word.size() > kLongestEcho)
                refuse("'" + cut(word) + "' is longer than any word of an edit");
    }
    bool done() const { return m_at >= m_words.size(); }
    const std::string& peek() const {
        static const std::string none;
        return done() ? none : m_words[m_at];
    }
    bool take(const std::string& word) {
        if (peek() != word) return false;
        ++m_at;
        return true;
    }
    std::string next(const std::string& wanted) {
        if (done()) refuse("'" + cut(m_text) + "' ends where " + wanted + " should follow");
        return m_words[m_at++];
    }
    bool number() const {
        const auto& word = peek();
        return !word.empty() && (std::isdigit(static_cast<unsigned char>(word[0])) != 0 ||
                                 ((word[0] == '-' || word[0] == ':') && word.size() > 1));
    }
    double real(const std::string& wanted) {
        const auto word = next(wanted);
        double value = 0.0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size())
            refuse("'" + cut(word) + "' is not " + wanted);
        if (!(std::abs(value) <= std::numeric_limits<float>::max()))
            refuse("'" + cut(word) + "' is beyond the numbers of float32, up to 3.4e38");
        return value;
    }
    std::int64_t integer(const std::string& wanted) { return integer(next(wanted), wanted); }
    static std::int64_t integer(const std::string& word, const std::string& wanted) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (error != std::errc() || end != word.data() + word.size() ||
            std::abs(value) > 1'000'000'000)
            refuse("'" + cut(word) + "' is not " + wanted);
        return value;
    }
    /// Places as placesText() writes them, `counted` from 0 or 1.
    AxisSelection places(const std::string& wanted, std::int64_t counted) {
        const auto word = next(wanted);
        AxisSelection s;
        const auto place = [&](const std::string& part) {
            const auto value = integer(part, wanted);
            if (counted == 1 && value < 1)
                refuse("'" + part + "' is not " + wanted + ", which count from 1");
            return value - counted;
        };
        if (const auto colon = word.find(':'); colon != std::string::npos) {
            const auto low = word.substr(0, colon), high = word.substr(colon + 1);
            if (!low.empty()) s.low = place(low);
            if (!high.empty()) s.high = place(high);
            if (s.low && s.high && *s.low >= *s.high) refuse("'" + cut(word) + "' selects nothing");
            return s;
        }
        std::istringstream parts(word);
        for (std::string part; std::getline(parts, part, ',');) s.places.push_back(place(part));
        if (s.places.empty()) refuse("'" + cut(word) + "' is not " + wanted);
        return s;
    }
    const std::string& text() const { return m_text; }

private:
    std::string m_text;
    std::vector<std::string> m_words;
    std::size_t m_at = 0;
};

// Words for heads, and the modules that may have them. `named`: the word "head" follows.
struct HeadWord {
    std::vector<const char*> modules;
    bool named;
};
const std::map<std::string, HeadWord>& headWords() {
    static const std::map<std::string, HeadWord> words = {{"head", {{"attn", "rel", "rca"}, false}},
                                                          {"sensory", {{"attn"}, true}},
                                                          {"relational", {{"rel", "rca"}, true}}};
    return words;
}
const std::set<std::string>& feedForwardWords() {
    static const std::set<std::string> words = {"feed-forward", "mlp"};
    return words;
}

bool hasPoint(const std::vector<PointInfo>& points, const std::string& name) {
    return std::any_of(points.begin(), points.end(),
                       [&](const auto& point) { return point.name == name; });
}

constexpr std::array kPlaceWords = {"i",   "j",      "position", "head",  "relation",
                                    "dim", "symbol", "slot",     "expert"};

class Parser {
public:
    Parser(const std::string& words, const std::vector<PointInfo>& points)
        : m_words(words), m_points(points) {}

    Edit parse() {
        if (m_words.done()) refuse("is empty; say what to change, as \"layer 2 relation 3 zero\"");
        if (m_words.take("fitted")) return fitted();
        if (m_words.peek().find("hook_") != std::string::npos) {
            m_edit.point = m_words.next("a hook point");
            m_counted = 0;
        } else {
            stack();
            part();
        }
        while (isPlace()) place();
        operation();
        if (!m_words.done())
            refuse("'" + cut(m_words.peek()) + "' follows the operation in '" +
                   cut(m_words.text()) + "'");
        return m_edit;
    }

private:
    // "fitted same-kind out": where and on which positions says the relation's file. "shown": it
    // has a map and stays.
    Edit fitted() {
        m_edit.op = EditOp::Project;
        m_edit.relation = relationFileOf(m_words.next("the name of a relation's file"));
        m_edit.enabled = !m_words.take("shown");
        if ((m_edit.enabled && !m_words.take("out")) || !m_words.done())
            refuse(
                "'out' or 'shown' should follow the file of the relation, and nothing else, in "
                "'" +
                cut(m_words.text()) + "'");
        const auto relation = readRelation(m_edit.relation);
        m_edit.point = relation.point;
        if (relation.firstTokens > 0) m_edit.selection["position"].low = relation.firstTokens;
        return m_edit;
    }

    void stack() {
        if (hasPrefix(m_points, "pool.") && m_words.take("query")) {
            m_block = "pool";
            return;
        }
        for (const auto& [word, prefix] :
             std::array<std::pair<const char*, const char*>, 4>{{{"layer", "blocks"},
                                                                 {"encoder", "encoder"},
                                                                 {"decoder", "decoder"},
                                                                 {"abstractor", "abstractor"}}}) {
            if (!m_words.take(word)) continue;
            const auto layer = m_words.integer("the number of a layer");
            std::string found = prefix;
            // An Abstractor's layers are "layer" as well where it is the only stack.
            if (std::string(word) == "layer" && !hasPrefix(m_points, "blocks."))
                found = "abstractor";
            m_block = found + "." + std::to_string(layer - 1);
            if (layer < 1 || !hasPrefix(m_points, m_block + "."))
                refuse("there is no " + std::string(word) + " " + std::to_string(layer) +
                       layersThere(found));
            return;
        }
    }

    std::string layersThere(const std::string& stack) const {
        int count = 0;
        while (hasPrefix(m_points, stack + "." + std::to_string(count) + ".")) ++count;
        if (count > 0) return "; there are " + std::to_string(count);
        std::string known;
        for (const char* other : {"blocks", "encoder", "decoder", "abstractor"})
            if (hasPrefix(m_points, std::string(other) + "."))
                known += (known.empty() ? "" : " and ") +
                         std::string(std::string(other) == "blocks" ? "layer" : other);
        return known.empty() ? "; this model has no layers" : "; this model has " + known + " N";
    }

    std::string inBlock(const std::string& name) const { return pointIn(m_block, name); }
    bool has(const std::string& name) const { return hasPoint(m_points, inBlock(name)); }

    /// The first of the names that the model has.
    std::string firstOf(std::initializer_list<const char*> names, const std::string& what) const {
        for (const char* name : names)
            if (has(name)) return inBlock(name);
        refuse((m_block.empty() ? "this model" : cut(m_words.text())) + ": there are no " + what +
               (m_block.empty() ? "; name a layer, as \"layer 1\"" : " there"));
    }

    void part() {
        const bool cross = m_words.take("cross");
        const auto word = m_words.next("what to change");
        const auto at = [&](std::initializer_list<const char*> names, const std::string& what) {
            m_edit.point = firstOf(names, what);
        };
        if (word == "relation") {
            const auto which = m_words.places("the number of a relation", 1);
            if (m_words.take("head") && has("rel.hook_attended_r")) {
                m_edit.point = inBlock("rel.hook_attended_r");
                m_edit.selection["head"] = m_words.places("the number of a head", 1);
            } else {
                at({"rel.hook_r", "rca.hook_r", "relation.hook_r", "predinet.hook_r",
                    "binding.hook_r", "rel.hook_pattern", "rca.hook_pattern"},
                   "relations");
            }
            m_edit.selection[m_edit.point.ends_with("hook_pattern") ? "head" : "relation"] = which;
        } else if (word == "relations") {
            at({"rel.hook_z_rel", "rel.hook_r", "rca.hook_r", "relation.hook_r", "predinet.hook_r",
                "rel.hook_pattern", "rca.hook_pattern"},
               "relations");
        } else if (const auto heads = headWords().find(word); heads != headWords().end()) {
            if (heads->second.named && !m_words.take("head"))
                refuse("'head N' should follow '" + cut(word) + "'");
            const auto which = m_words.places("the number of a head", 1);
            const auto module = attention(cross, word);
            if (m_words.take("edge")) return edge(module, which);
            m_edit.point = inBlock(module + ".hook_z");
            m_edit.selection["head"] = which;
        } else if (word == "edge") {
            edge(attention(cross, "head"), {});
        } else if (word == "pattern") {
            m_edit.point = inBlock(attention(cross, "head") + ".hook_pattern");
        } else if (word == "symbols") {
            at({"rel.hook_z_sym", "sym.hook_symbols", "hook_symbols"}, "symbols");
            if (m_words.number()) {  // "symbols 2 5 swap"
                m_edit.first = m_words.integer("a position");
                m_edit.second = m_words.integer("a second position");
                m_pair = true;
            }
        } else if (word == "symbol") {
            at({"sym.hook_symbols", "abstractor.hook_symbols"}, "symbols of objects");
            m_edit.selection["position"] = m_words.places("a position", 0);
        } else if (word == "library") {
            m_words.take("symbol");
            at({"sym.hook_library"}, "symbol libraries");
            if (m_words.number()) m_edit.selection["symbol"] = m_words.places("a symbol", 1);
        } else if (word == "attention") {
            at({cross ? "hook_cross_attn_out" : "hook_attn_out"}, "attention outputs");
        } else if (feedForwardWords().contains(word)) {
            at({"hook_mlp_out"}, "feed-forward outputs");
        } else if (word == "stream") {
            at({"hook_resid_pre"}, "streams");
        } else {
            refuse(
                unknownName("part", word,
                            {"relation", "relations", "head", "sensory", "relational", "edge",
                             "pattern", "symbols", "symbol", "library", "attention", "feed-forward",
                             "stream", "layer", "encoder", "decoder", "abstractor", "cross"}));
        }
    }

    /// The module of heads: "attn", "rel", "cross_attn", "rca".
    std::string attention(bool cross, const std::string& kind) const {
        const auto there = [&](const char* name) { return has(std::string(name) + ".hook_z"); };
        const auto names =
            cross ? std::vector<const char*>{"cross_attn"} : headWords().at(kind).modules;
        for (const char* name : names)
            if (there(name)) return name;
        refuse("there are no such heads in '" + cut(m_words.text()) + "'");
    }

    void edge(const std::string& module, const AxisSelection& heads) {
        if (heads != AxisSelection{}) m_edit.selection["head"] = heads;
        m_edit.selection["i"] = m_words.places("a receiver i", 0);
        m_edit.selection["j"] = m_words.places("a sender j", 0);
        m_module = module;  // which of its points is meant depends on the operation
    }

    bool isPlace() const {
        return std::find(kPlaceWords.begin(), kPlaceWords.end(), m_words.peek()) !=
               kPlaceWords.end();
    }

    void place() {
        auto axis = m_words.next("an axis");
        const bool counted = axis == "head" || axis == "relation";
        if (m_edit.selection.contains(axis)) refuse("'" + axis + "' is named twice");
        m_edit.selection[axis] = m_words.places("a place along " + axis, counted ? m_counted : 0);
    }

    void operation() {
        const auto word = m_words.next("an operation, as zero or scale 0.5,");
        auto& e = m_edit;
        std::vector<std::string> names = {"invert"};
        for (int i = 0; i < kEditOps; ++i) names.emplace_back(editOpName(static_cast<EditOp>(i)));
        if (word == "invert") {
            e.op = EditOp::Scale, e.factor = -1.0;
        } else {
            const auto found = std::find(names.begin() + 1, names.end(), word);
            if (found == names.end()) refuse(unknownName("operation", word, names));
            e.op = static_cast<EditOp>(found - names.begin() - 1);
        }
        if (e.op == EditOp::Set || e.op == EditOp::Add) {
            e.values.numbers = {m_words.real("a number")};
        } else if (e.op == EditOp::Scale && word == "scale") {
            e.factor = m_words.real("a factor");
        } else if (e.op == EditOp::Resample && m_words.number()) {
            e.shift = m_words.integer("a shift");
            if (e.shift < 1) refuse("a shift of " + std::to_string(e.shift) + " is below 1");
        } else if (e.op == EditOp::Patch) {
            e.input = m_words.next("the name of an input");
        } else if (e.op == EditOp::Swap) {
            swap();
        } else if (e.op == EditOp::Project) {
            e.relation = relationFileOf(m_words.next("the name of a relation's file"));
        }
        if (m_pair && e.op != EditOp::Swap)
            refuse("two symbols can be exchanged only: end with 'swap', or name one 'symbol'");
        if (!m_module.empty())
            e.point =
                inBlock(m_module + (e.op == EditOp::Mask ? ".hook_attn_scores" : ".hook_pattern"));
        else if (e.op == EditOp::Uniform && e.point.ends_with(".hook_z"))
            e.point = e.point.substr(0, e.point.size() - 1) + "pattern";
        else if (e.op == EditOp::Mask && e.point.ends_with("sym.hook_library"))
            e.point = e.point.substr(0, e.point.size() - 7) + "attn_scores";
    }

    void swap() {
        auto& e = m_edit;
        if (m_pair) {
            e.axis = "position";
            // Symbols of objects, not what the heads make of them.
            if (has("sym.hook_symbols")) e.point = inBlock("sym.hook_symbols");
            return;
        }
        e.axis = m_words.number() ? usualAxis() : m_words.next("an axis");
        const std::int64_t counted = e.axis == "head" || e.axis == "relation" ? m_counted
                                     : e.axis == "symbol" && e.point.ends_with("sym.hook_library")
                                         ? m_counted
                                         : 0;
        e.first = m_words.integer("an entry") - counted;
        e.second = m_words.integer("a second entry") - counted;
    }

    std::string usualAxis() const {
        if (m_edit.point.ends_with("hook_library")) return "symbol";
        return m_edit.point.ends_with("hook_r") ? "relation" : "position";
    }

    Words m_words;
    const std::vector<PointInfo>& m_points;
    Edit m_edit;
    std::string m_block, m_module;
    std::int64_t m_counted = 1;
    bool m_pair = false;
};

}  // namespace

Edit editFromWords(const std::string& words, const std::vector<PointInfo>& points) {
    return Parser(words, points).parse();
}

namespace {

// The words of an edit, which editFromWords() parses.

// The words for the heads of a module.
const std::map<std::string, std::string>& kindWords() {
    static const std::map<std::string, std::string> words = {{"attn", "sensory head "},
                                                             {"cross_attn", "cross head "},
                                                             {"rel", "relational head "},
                                                             {"rca", "relational head "}};
    return words;
}

std::string operationText(const Edit& edit, std::int64_t counted) {
    std::string text = editOpName(edit.op);
    switch (edit.op) {
        case EditOp::Set:
        case EditOp::Add:
            if (edit.values.numbers.size() == 1)
                return text + " " + shortestText(edit.values.numbers[0]);
            return text + " " + std::to_string(edit.values.numbers.size()) + " numbers";
        case EditOp::Scale:
            return edit.factor == -1.0 ? "invert" : text + " " + shortestText(edit.factor);
        case EditOp::Resample:
            return edit.shift == 1 ? text : text + " " + std::to_string(edit.shift);
        case EditOp::Patch:
            return text + " " + edit.input;
        case EditOp::Project:
            return text + " " + edit.relation;
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
    if (edit.op == EditOp::Project && !edit.enabled) return "fitted " + edit.relation + " shown";
    // Names of files count from 0 and end in the point; the words of a part are shorter.
    std::string stack, name = edit.point;
    for (const auto& [prefix, word] :
         std::array<std::pair<std::string, std::string>, 4>{{{"blocks.", "layer"},
                                                             {"encoder.", "encoder"},
                                                             {"decoder.", "decoder"},
                                                             {"abstractor.", "abstractor"}}}) {
        const auto dot = edit.point.find('.', prefix.size());
        if (edit.point.rfind(prefix, 0) != 0 || dot == std::string::npos) continue;
        const auto number = edit.point.substr(prefix.size(), dot - prefix.size());
        if (number.empty() || number.size() > 9 ||
            number.find_first_not_of("0123456789") != std::string::npos)
            continue;
        stack = word + " " + std::to_string(std::stoll(number) + 1) + " ";
        name = edit.point.substr(dot + 1);
        break;
    }
    if (name.starts_with("pool.")) {
        name.erase(0, 5), stack = "query ";
        if (!name.ends_with("_out")) name = "attn." + name;
    }
    auto where = edit.selection;
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
    if (simple && edit.textPart.empty()) {
        if (name.ends_with("hook_attended_r") && has("head") && has("relation") && !stack.empty())
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
        part = edit.point;
        stack.clear();
        counted = 0;
    }
    std::string text = stack + part;
    for (const auto& [axis, selection] : where) {
        const bool fromOne = counted == 1 && (axis == "head" || axis == "relation");
        text += " " + axis + " " + placesText(selection, fromOne ? 1 : 0);
    }
    const bool entries = edit.axis == "head" || edit.axis == "relation" ||
                         (edit.axis == "symbol" && edit.point.ends_with("sym.hook_library"));
    text += " " + operationText(edit, entries ? counted : 0);
    if (!edit.textPart.empty()) text += " (" + edit.textPart + " only)";
    return text;
}

std::string wordsOf(const EditList& list) {
    std::string text;
    for (const auto& edit : list.edits)
        if (edit.enabled) text += (text.empty() ? "" : "; ") + wordsOf(edit);
    return text;
}

}  // namespace relascope::core
