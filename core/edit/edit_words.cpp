// SPDX-License-Identifier: GPL-3.0-or-later
#include "edit/edit_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "types/error.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

constexpr std::size_t kLongestEcho = 200;

[[noreturn]] void refuse(const std::string& message) {
    throw OptionError("--edit", message);
}

std::string cut(const std::string& text) {
    return text.size() > kLongestEcho ? text.substr(0, kLongestEcho - 3) + "..." : text;
}

bool endsWith(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
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

bool hasPrefix(const std::vector<PointInfo>& points, const std::string& prefix) {
    return std::any_of(points.begin(), points.end(),
                       [&](const auto& point) { return point.name.rfind(prefix, 0) == 0; });
}

constexpr std::array kPlaceWords = {"i",        "j",   "position", "head",
                                    "relation", "dim", "symbol",   "slot"};

class Parser {
public:
    Parser(const std::string& words, const std::vector<PointInfo>& points)
        : m_words(words), m_points(points) {}

    Edit parse() {
        if (m_words.done()) refuse("is empty; say what to change, as \"layer 2 relation 3 zero\"");
        if (m_words.peek().find("hook_") != std::string::npos) {
            m_edit.at = m_words.next("a hook point");
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
    void stack() {
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

    std::string inBlock(const std::string& name) const {
        return m_block.empty() ? name : m_block + "." + name;
    }
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
            m_edit.at = firstOf(names, what);
        };
        if (word == "relation") {
            const auto which = m_words.places("the number of a relation", 1);
            if (m_words.take("head") && has("rel.hook_attended_r")) {
                m_edit.at = inBlock("rel.hook_attended_r");
                m_edit.where["head"] = m_words.places("the number of a head", 1);
            } else {
                at({"rel.hook_r", "rca.hook_r", "relation.hook_r", "predinet.hook_r",
                    "binding.hook_r", "rel.hook_pattern", "rca.hook_pattern"},
                   "relations");
            }
            m_edit.where[endsWith(m_edit.at, "hook_pattern") ? "head" : "relation"] = which;
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
            m_edit.at = inBlock(module + ".hook_z");
            m_edit.where["head"] = which;
        } else if (word == "edge") {
            edge(attention(cross, "head"), {});
        } else if (word == "pattern") {
            m_edit.at = inBlock(attention(cross, "head") + ".hook_pattern");
        } else if (word == "symbols") {
            at({"rel.hook_z_sym", "sym.hook_symbols", "hook_symbols"}, "symbols");
            if (m_words.number()) {  // "symbols 2 5 swap"
                m_edit.first = m_words.integer("a position");
                m_edit.second = m_words.integer("a second position");
                m_pair = true;
            }
        } else if (word == "symbol") {
            at({"sym.hook_symbols", "abstractor.hook_symbols"}, "symbols of objects");
            m_edit.where["position"] = m_words.places("a position", 0);
        } else if (word == "library") {
            m_words.take("symbol");
            at({"sym.hook_library"}, "symbol libraries");
            if (m_words.number()) m_edit.where["symbol"] = m_words.places("a symbol", 1);
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
        if (heads != AxisSelection{}) m_edit.where["head"] = heads;
        m_edit.where["i"] = m_words.places("a receiver i", 0);
        m_edit.where["j"] = m_words.places("a sender j", 0);
        m_module = module;  // which of its points depends on the operation
    }

    bool isPlace() const {
        return std::find(kPlaceWords.begin(), kPlaceWords.end(), m_words.peek()) !=
               kPlaceWords.end();
    }

    void place() {
        auto axis = m_words.next("an axis");
        const bool counted = axis == "head" || axis == "relation";
        if (m_edit.where.contains(axis)) refuse("'" + axis + "' is named twice");
        m_edit.where[axis] = m_words.places("a place along " + axis, counted ? m_counted : 0);
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
            e.from = m_words.next("the name of an input");
        } else if (e.op == EditOp::Swap) {
            swap();
        }
        if (m_pair && e.op != EditOp::Swap)
            refuse("two symbols can be exchanged only: end with 'swap', or name one 'symbol'");
        if (!m_module.empty())
            e.at =
                inBlock(m_module + (e.op == EditOp::Mask ? ".hook_attn_scores" : ".hook_pattern"));
        else if (e.op == EditOp::Uniform && endsWith(e.at, ".hook_z"))
            e.at = e.at.substr(0, e.at.size() - 1) + "pattern";
        else if (e.op == EditOp::Mask && endsWith(e.at, "sym.hook_library"))
            e.at = e.at.substr(0, e.at.size() - 7) + "attn_scores";
    }

    void swap() {
        auto& e = m_edit;
        if (m_pair) {
            e.axis = "position";
            // Symbols of objects, not what the heads make of them.
            if (has("sym.hook_symbols")) e.at = inBlock("sym.hook_symbols");
            return;
        }
        e.axis = m_words.number() ? usualAxis() : m_words.next("an axis");
        const std::int64_t counted = e.axis == "head" || e.axis == "relation" ? m_counted
                                     : e.axis == "symbol" && endsWith(e.at, "sym.hook_library")
                                         ? m_counted
                                         : 0;
        e.first = m_words.integer("an entry") - counted;
        e.second = m_words.integer("a second entry") - counted;
    }

    std::string usualAxis() const {
        if (endsWith(m_edit.at, "hook_library")) return "symbol";
        return endsWith(m_edit.at, "hook_r") ? "relation" : "position";
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

}  // namespace relascope::core
