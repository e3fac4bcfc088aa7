// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/tokenizer_steps.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "text/base64.h"
#include "text/unicode_8.h"
#include "text/words.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::core {

const char* const kTokenizersRead =
    "; BPE, WordPiece and Unigram, as in GPT-2, Llama, BERT and T5, are supported: choose gpt2 or "
    "characters, or give another tokenizer.json";

std::string typeOf(const nlohmann::json& part) {
    const auto found = part.is_object() ? part.find("type") : part.end();
    return part.is_object() && found != part.end() && found->is_string() ? found->get<std::string>()
                                                                         : "unknown";
}

namespace {

using nlohmann::json;
using Step = SplitStep::Kind;

// Joiners, which the regular expressions of Rust count as parts of words besides letters.
constexpr const char* kJoiners = "\\x{200C}\\x{200D}";

/// A part of the file, with its name for messages.
class Part {
public:
    Part(const json& value, std::string name, const std::string& path)
        : m_value(value), m_name(std::move(name)), m_path(path) {}
    [[noreturn]] void fail(const std::string& field, const std::string& why) const {
        throw FileError(m_path, m_name + "." + field + " is " + why);
    }
    [[noreturn]] void refuse(const std::string& field, const std::string& value) const {
        fail(field, quoted(value.substr(0, 60)) + kTokenizersRead);
    }
    std::string type() const { return typeOf(m_value); }
    bool flag(const char* field, bool otherwise) const {
        const auto found = m_value.find(field);
        if (found == m_value.end() || found->is_null()) return otherwise;
        if (!found->is_boolean())
            fail(field, found->dump().substr(0, 40) + "; expected true or false");
        return *found;
    }
    std::string text(const char* field, std::optional<std::string> otherwise = {}) const {
        const auto found = m_value.find(field);
        if (found == m_value.end() && otherwise) return *otherwise;
        if (found == m_value.end()) fail(field, "missing; expected a text");
        if (!found->is_string()) fail(field, found->dump().substr(0, 40) + "; expected a text");
        return *found;
    }
    const json& list(const char* field) const {
        const auto found = m_value.find(field);
        if (found == m_value.end() || !found->is_array()) fail(field, "not a list");
        return *found;
    }
    /// {"Regex": "..."} or {"String": "..."}.
    SplitPattern pattern(SplitBehavior behavior = SplitBehavior::Isolated,
                         bool invert = false) const {
        const auto found = m_value.find("pattern");
        if (found != m_value.end() && found->is_object() && found->size() == 1 &&
            found->begin()->is_string()) {
            const std::string text = *found->begin();
            if (found->begin().key() == "Regex") return spelled(text, behavior, invert);
            if (found->begin().key() == "String") return literal(text, behavior, invert);
        }
        fail("pattern", "neither a Regex nor a String");
    }
    SplitPattern literal(const std::string& spelled, SplitBehavior behavior,
                         bool invert = false) const {
        return {literalPattern(spelled), m_path, behavior, invert};
    }
    SplitPattern spelled(const std::string& pattern, SplitBehavior behavior,
                         bool invert = false) const {
        return {pattern, m_path, behavior, invert};
    }
    std::shared_ptr<const Charsmap> charsmap() const {
        auto bytes = fromBase64(text("precompiled_charsmap"));
        if (!bytes) fail("precompiled_charsmap", "not in base64");
        return std::make_shared<Charsmap>(std::move(*bytes), m_path);
    }
    SplitPattern punctuation(SplitBehavior behavior) const {
        return {punctuation8Class(), m_path, behavior, false};
    }
    SplitBehavior behavior(std::optional<std::string> otherwise = {}) const {
        static constexpr std::array<const char*, 5> names = {
            "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
        const std::string name = text("behavior", std::move(otherwise));
        for (std::size_t i = 0; i < names.size(); ++i)
            if (name == names[i]) return static_cast<SplitBehavior>(i);
        refuse("behavior", name);
    }
    Part inside(const json& value) const { return {value, m_name, m_path}; }

private:
    const json& m_value;
    std::string m_name;
    const std::string& m_path;
};

void addNormalizer(const Part& part, std::vector<NormalizerStep>& steps) {
    using Kind = NormalizerStep::Kind;
    const std::string type = part.type();
    static constexpr std::array<std::pair<const char*, Kind>, 6> kPlain = {
        {{"NFC", Kind::Nfc},
         {"NFD", Kind::Nfd},
         {"NFKC", Kind::Nfkc},
         {"NFKD", Kind::Nfkd},
         {"Lowercase", Kind::Lowercase},
         {"StripAccents", Kind::StripAccents}}};
    for (const auto& [name, kind] : kPlain)
        if (type == name) return steps.push_back({kind});
    if (type == "Sequence") {
        for (const auto& one : part.list("normalizers")) addNormalizer(part.inside(one), steps);
    } else if (type == "Strip") {
        NormalizerStep step{Kind::Strip};
        step.left = part.flag("strip_left", true), step.right = part.flag("strip_right", true);
        steps.push_back(step);
    } else if (type == "Prepend") {
        steps.push_back({Kind::Prepend, part.text("prepend")});
    } else if (type == "Replace") {
        steps.push_back({Kind::Replace, part.text("content"), part.pattern()});
    } else if (type == "BertNormalizer") {
        NormalizerStep step{Kind::Bert};
        step.bert.lowercase = part.flag("lowercase", true);
        step.bert.clean = part.flag("clean_text", true);
        step.bert.chinese = part.flag("handle_chinese_chars", true);
        step.bert.accents = part.flag("strip_accents", step.bert.lowercase);
        steps.push_back(step);
    } else if (type == "Precompiled") {
        NormalizerStep step{Kind::Charsmap};
        step.charsmap = part.charsmap();
        steps.push_back(step);
    } else {
        part.refuse("type", type);
    }
}

class SplitterReader {
public:
    ReadSplitter read;

    void add(const Part& part) {
        const std::string type = part.type();
        if (type == "Sequence") {
            for (const auto& one : part.list("pretokenizers")) add(part.inside(one));
            return;
        }
        if (read.bytes && !m_spelled && type != "ByteLevel") spellBytes();
        if (type == "ByteLevel") {
            addBytes(part);
        } else if (type == "Metaspace") {
            addMetaspace(part);
        } else if (type == "Split") {
            put(part.pattern(part.behavior(), part.flag("invert", false)));
        } else if (type == "Digits") {
            put(part.spelled(part.flag("individual_digits", false) ? "\\p{N}" : "\\p{N}+",
                             SplitBehavior::Isolated));
        } else if (type == "Punctuation") {
            put(part.punctuation(part.behavior("Isolated")));
        } else if (type == "Whitespace") {
            const std::string word = std::string("[:word:]") + kJoiners + "]+";
            put(part.spelled("[" + word + "|[^\\s" + word, SplitBehavior::Removed, true));
        } else if (type == "WhitespaceSplit") {
            put(part.spelled("\\s", SplitBehavior::Removed));
        } else if (type == "BertPreTokenizer") {
            put(part.spelled("\\s", SplitBehavior::Removed));
            put(part.punctuation(SplitBehavior::Isolated));
        } else if (type == "CharDelimiterSplit") {
            const std::string delimiter = part.text("delimiter");
            if (utf8Length(delimiter) == 0 || utf8Length(delimiter) != delimiter.size())
                part.fail("delimiter",
                          quoted(delimiter.substr(0, 40)) + "; expected one character");
            put(part.literal(delimiter, SplitBehavior::Removed));
        } else {
            part.refuse("type", type);
        }
        read.words = read.words || !read.steps.empty();
    }

private:
    void put(SplitPattern pattern) { read.steps.push_back({Step::Pattern, std::move(pattern)}); }

    // A single ByteLevel does the same as a tokenizer without steps.
    void addBytes(const Part& part) {
        if (read.bytes)
            part.fail("type", "'ByteLevel' twice, so bytes would be spelled twice; leave one out");
        read.bytes = true;
        const bool space = part.flag("add_prefix_space", true);
        const bool regex = part.flag("use_regex", true);
        if (read.steps.empty()) {
            read.prefixSpace = space, read.words = regex;
            m_words = part.spelled(gpt2Pattern(), SplitBehavior::Isolated);
            return;
        }
        if (space) read.steps.push_back({Step::Prefix, {}, " "});
        if (regex) put(part.spelled(gpt2Pattern(), SplitBehavior::Isolated));
    }
    // The steps behind ByteLevel see the letters that it writes for bytes.
    void spellBytes() {
        if (read.prefixSpace) read.steps.push_back({Step::Prefix, {}, " "});
        if (m_words && read.words) put(*m_words);
        read.prefixSpace = false;
        read.steps.push_back({Step::Spell});
        m_spelled = true;
    }
    void addMetaspace(const Part& part) {
        const std::string mark = part.text("replacement", "\u2581");
        const bool prefix = part.flag("add_prefix_space", true);
        const std::string scheme = part.text("prepend_scheme", prefix ? "always" : "never");
        if (scheme != "always" && scheme != "never" && scheme != "first")
            part.refuse("prepend_scheme", scheme);
        if (utf8Length(mark) == 0 || utf8Length(mark) != mark.size())
            part.fail("replacement", quoted(mark.substr(0, 40)) + "; expected one character");
        read.steps.push_back({Step::Replace, part.literal(" ", SplitBehavior::Isolated), mark});
        if (scheme != "never") read.steps.push_back({Step::Prefix, {}, mark, scheme == "first"});
        if (part.flag("split", true)) put(part.literal(mark, SplitBehavior::MergedWithNext));
    }

    bool m_spelled = false;
    std::optional<SplitPattern> m_words;  ///< GPT-2's, of a ByteLevel that is the first
};

// Each step calls the next one.
void requireFew(std::size_t steps, const std::string& name, const std::string& path) {
    constexpr std::size_t kMost = 100;
    if (steps > kMost)
        throw FileError(path, name + " has " + std::to_string(steps) + " steps; at most " +
                                  std::to_string(kMost) + " are read");
}

}  // namespace

TextNormalizer readNormalizer(const json& normalizer, const std::string& path) {
    std::vector<NormalizerStep> steps;
    if (!normalizer.is_null()) addNormalizer({normalizer, "normalizer", path}, steps);
    requireFew(steps.size(), "normalizer", path);
    return TextNormalizer(std::move(steps));
}

ReadSplitter readSplitter(const json& splitter, const std::string& path) {
    SplitterReader reader;
    if (!splitter.is_null()) reader.add({splitter, "pre_tokenizer", path});
    requireFew(reader.read.steps.size(), "pre_tokenizer", path);
    return std::move(reader.read);
}

}  // namespace relascope::core
