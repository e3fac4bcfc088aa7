// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/tokenizer_folder.h"
#include "text/tokenizer_classes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "text/tokenizer_json.h"
#include "text/tokenizer_steps.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

using nlohmann::json;
using namespace nlohmann::literals;

std::string shownValue(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 60);
}

bool isId(const json& value) {
    return value.is_number_integer() && value >= 0 && value < INT32_MAX;
}

std::string textIn(const json& object, const char* field) {
    const auto found = object.find(field);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string modelType(const json& model) {
    const auto type = textIn(model, "model_type");
    const auto listed = model.find("architectures");
    if (!type.empty() || listed == model.end() || !listed->is_array() || listed->empty())
        return type;
    for (const auto& [architecture, known] : kModelOfArchitecture)
        if ((*listed)[0] == architecture) return known;
    return (*listed)[0].is_string() ? (*listed)[0].get<std::string>() : "";
}

/// The part and, where it is a sequence, all parts in it.
template <class Json>
void visit(Json& part, const std::function<void(Json&)>& take) {
    if (!part.is_object()) return;
    take(part);
    for (const char* list : {"normalizers", "pretokenizers", "processors"})
        if (const auto inside = part.find(list); inside != part.end() && inside->is_array())
            for (auto& one : *inside) visit(one, take);
}

/// The special tokens that files name, in the order in which transformers adds those that are new.
constexpr std::array<const char*, 7> kRoles = {"bos_token", "eos_token", "unk_token", "sep_token",
                                               "pad_token", "cls_token", "mask_token"};

struct Named {
    std::string role, content;
    json flags;  ///< lstrip, rstrip, single_word, normalized
};

class FolderReader {
public:
    explicit FolderReader(const TokenizerFolder& folder)
        : m_folder(folder),
          m_settings(folder.settings ? parsedJson(folder.settings->text, folder.settings->path)
                                     : json::object()) {}

    TokenizerPtr read() {
        const bool lines = !m_folder.tokenizer && m_folder.lines;
        const auto& file = m_folder.tokenizer ? *m_folder.tokenizer
                           : lines            ? *m_folder.lines
                                              : m_folder.vocabulary.value();
        m_named = file.path;
        if (lines)
            fromLines(file);
        else
            m_file = parsedJson(file.text, file.path);
        if (!m_folder.tokenizer && !lines) fromPair();
        const json before = withoutModel();
        indexTokens();
        if (const auto found = m_settings.find("split_special_tokens");
            found != m_settings.end() && *found == true)
            refuse("split_special_tokens", "true",
                   "remove it: names of special tokens are always "
                   "read as these in texts that are typed");
        readSpecialTokens();
        if (lines) addBertTokens();
        addListedTokens();
        addSpecialTokens();
        if (lines) setBertEnds();
        setPrefixSpace();
        setEnds();
        if (!m_added.empty()) m_file["added_tokens"] = m_added;
        const bool changed = !m_folder.tokenizer || withoutModel() != before;
        return tokenizerOf(
            m_file,
            changed ? m_file.dump(-1, ' ', false, json::error_handler_t::replace) : file.text,
            file.path, m_folder.merges ? m_folder.merges->path : file.path);
    }

private:
    [[noreturn]] void refuse(const std::string& field, const std::string& value,
                             const std::string& wayOut) const {
        throw FileError(m_folder.settings->path, field + " is " + value + "; " + wayOut);
    }

    json withoutModel() const {
        json parts = json::object();
        for (const auto& [name, part] : m_file.items())
            if (name != "model") parts[name] = part;
        return parts;
    }

    // A tokenizer.json from vocab.json and merges.txt, as transformers makes it of the class.
    void fromPair() {
        json vocabulary = std::move(m_file);
        const auto& kind = pairClass(vocabulary);
        m_class = &kind;
        json bytes = {{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", true},
                      {"use_regex", kind.pattern == nullptr}};
        const json decoder = bytes;
        if (kind.pattern)
            bytes = {{"type", "Sequence"},
                     {"pretokenizers",
                      {{{"type", "Split"},
                        {"pattern", {{"Regex", kind.pattern}}},
                        {"behavior", "Isolated"},
                        {"invert", false}},
                       bytes}}};
        m_file = {{"version", "1.0"},
                  {"truncation", nullptr},
                  {"padding", nullptr},
                  {"added_tokens", json::array()},
                  {"normalizer", kind.nfc ? json{{"type", "NFC"}} : json()},
                  {"pre_tokenizer", std::move(bytes)},
                  {"post_processor", nullptr},
                  {"decoder", decoder},
                  {"model",
                   {{"type", "BPE"},
                    {"ignore_merges", kind.llama},
                    {"vocab", std::move(vocabulary)},
                    {"merges", mergesOf(*m_folder.merges)}}}};
    }

    // A tokenizer.json from vocab.txt, as transformers makes it of BertTokenizer.
    void fromLines(const TokenizerFolder::File& file) {
        const auto [name, from] = namedClass();
        std::string_view plain = name;
        if (plain.ends_with("Fast")) plain.remove_suffix(4);
        if (!name.empty() &&
            std::find(kLineClasses.begin(), kLineClasses.end(), plain) == kLineClasses.end())
            refuseClass(from, name, "vocab.txt");
        json vocabulary = json::object();
        std::int64_t id = 0;
        for (std::string_view rest = file.text; !rest.empty(); ++id) {
            auto piece = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
            if (piece.ends_with('\r')) piece.remove_suffix(1);
            if (!isUtf8(piece))
                throw FileError(file.path, "line " + std::to_string(id + 1) + " is not UTF-8");
            vocabulary[std::string(piece)] = id;
        }
        m_file = {{"version", "1.0"},
                  {"truncation", nullptr},
                  {"padding", nullptr},
                  {"added_tokens", json::array()},
                  {"normalizer",
                   {{"type", "BertNormalizer"},
                    {"clean_text", true},
                    {"handle_chinese_chars", setting("tokenize_chinese_chars").value_or(true)},
                    {"strip_accents", nullptr},
                    {"lowercase", setting("do_lower_case").value_or(true)}}},
                  {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                  {"post_processor", nullptr},
                  {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
                  {"model",
                   {{"type", "WordPiece"},
                    {"unk_token", "[UNK]"},
                    {"continuing_subword_prefix", "##"},
                    {"max_input_chars_per_word", 100},
                    {"vocab", std::move(vocabulary)}}}};
        if (const auto strip = setting("strip_accents"))
            m_file["normalizer"]["strip_accents"] = *strip;
    }

    // Adds the tokens of BertTokenizer that no file names.
    void addBertTokens() {
        for (const auto& [role, content] : kBertTokens)
            if (m_roles.emplace(role, m_special.size()).second)
                m_special.push_back({role, content, json::object()});
        const auto unknown = namedAs("unk_token");
        if (!m_ids.contains(unknown))
            throw FileError(m_named, "has no line " + quoted(unknown.substr(0, 60)) +
                                         ", so it is no vocabulary of WordPiece");
        m_file["model"]["unk_token"] = unknown;
    }
    void setBertEnds() {
        json ends = {{"type", "BertProcessing"}};
        for (const auto& [field, role] : {std::pair{"sep", "sep_token"}, {"cls", "cls_token"}})
            ends[field] = {namedAs(role), m_ids.at(namedAs(role))};
        m_file["post_processor"] = std::move(ends);
    }

    static json mergesOf(const TokenizerFolder::File& file) {
        json merges = json::array();
        std::string_view rest = file.text;
        if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
        for (int line = 1; !rest.empty(); ++line) {
            auto text = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(rest.size(), text.size() + 1));
            if (text.ends_with('\r')) text.remove_suffix(1);
            if (text.empty() || (line == 1 && text.starts_with("#version"))) continue;
            const auto space = text.find(' ');
            if (space == std::string_view::npos ||
                text.find(' ', space + 1) != std::string_view::npos)
                throw FileError(file.path, "line " + std::to_string(line) + " is " +
                                               quoted(std::string(text.substr(0, 60))) +
                                               "; expected two pieces separated by a space");
            // Pairs, as a piece of a merge could be no UTF-8 for the JSON library.
            merges.push_back(json::array(
                {std::string(text.substr(0, space)), std::string(text.substr(space + 1))}));
        }
        return merges;
    }

    /// The class of the tokenizer, or the model type where no file names a class, and where it
    /// stands: "tokenizer_config.json: tokenizer_class".
    struct ClassPlace {
        std::string path, field;
    };
    std::pair<std::string, ClassPlace> namedClass() const {
        if (auto name = textIn(m_settings, "tokenizer_class"); !name.empty())
            return {name, {m_folder.settings->path, "tokenizer_class"}};
        if (!m_folder.model) return {};
        const auto& path = m_folder.model->path;
        const json model = parsedJson(m_folder.model->text, path);
        if (auto name = textIn(model, "tokenizer_class"); !name.empty())
            return {name, {path, "tokenizer_class"}};
        return {modelType(model), {path, "model_type"}};
    }
    [[noreturn]] static void refuseClass(const ClassPlace& from, const std::string& name,
                                         const std::string& files) {
        throw FileError(from.path, from.field + " is " + quoted(name.substr(0, 60)) +
                                       ", of which " + files +
                                       " is not read; give its tokenizer.json, which transformers "
                                       "writes with "
                                       "AutoTokenizer.from_pretrained(FOLDER).save_pretrained("
                                       "FOLDER)");
    }

    const PairClass& pairClass(const json& vocabulary) const {
        const auto [name, from] = namedClass();
        std::string_view plain;
        if (from.field == "model_type")
            for (const auto& [known, its] : kClassOfModel)
                if (name == known) plain = its;
        // The files of GPT-2 itself name no class.
        if (name.empty()) return kPairClasses[0];
        if (plain.empty()) plain = name;
        if (plain.ends_with("Fast")) plain.remove_suffix(4);
        if (plain == "CodeGenTokenizer") plain = kPairClasses[0].name;
        // Classes that say nothing of the tokenizer: Llama 3's is known by its first token.
        if (plain == "PreTrainedTokenizer" || plain == "TokenizersBackend" ||
            plain == "LlamaTokenizer") {
            const std::string first = kPairClasses[3].begin;
            if (vocabulary.contains(first) || isListed(first)) return kPairClasses[3];
        }
        for (const auto& kind : kPairClasses)
            if (plain == kind.name) return kind;
        refuseClass(from, name, "vocab.json with merges.txt");
    }

    bool isListed(const std::string& content) const {
        const auto listed = m_settings.find("added_tokens_decoder");
        if (listed != m_settings.end() && listed->is_object())
            for (const auto& token : *listed)
                if (token.is_object() && textIn(token, "content") == content) return true;
        if (!m_folder.addedTokens) return false;
        return parsedJson(m_folder.addedTokens->text, m_folder.addedTokens->path).contains(content);
    }

    // Values that are no list or no id are refused where the tokens are read.
    void indexTokens() {
        const auto take = [&](const std::string& content, const json& id) {
            if (!isId(id)) return;
            m_ids.emplace(content, id.get<std::int64_t>());
            m_contents.emplace(id.get<std::int64_t>(), content);
        };
        if (const auto all = "/model/vocab"_json_pointer; m_file.contains(all)) {
            if (m_file[all].is_object())
                for (const auto& [content, id] : m_file[all].items()) take(content, id), ++m_pieces;
            else if (m_file[all].is_array())  // Unigram's pieces with their scores
                for (const auto& entry : m_file[all]) {
                    if (entry.is_array() && !entry.empty() && entry[0].is_string())
                        take(entry[0], m_pieces);
                    ++m_pieces;
                }
        }
        if (!m_file.contains("added_tokens") || !m_file["added_tokens"].is_array()) return;
        m_added = m_file["added_tokens"];
        for (std::size_t i = 0; i < m_added.size(); ++i) {
            if (!m_added[i].is_object() || !m_added[i].contains("id")) continue;
            take(textIn(m_added[i], "content"), m_added[i]["id"]);
            if (isId(m_added[i]["id"]))
                m_mostAdded = std::max(m_mostAdded, m_added[i]["id"].get<std::int64_t>());
            m_listed.emplace(textIn(m_added[i], "content"), i);
        }
    }

    // Reads bos_token and other roles of tokenizer_config.json and special_tokens_map.json.
    void readSpecialTokens() {
        const auto take = [&](const json& from, const std::string& path) {
            const auto one = [&](const std::string& role, const json& token) {
                Named named{role, token.is_string() ? token.get<std::string>() : "",
                            json::object()};
                if (token.is_object())
                    named.content = textIn(token, "content"), named.flags = token;
                if (token.is_null() || token == false || token == "") return;
                if (named.content.empty())
                    throw FileError(
                        path, role + " is " + shownValue(token) + "; expected a token, or null");
                m_specialNames.insert(named.content);
                // If both files name a token for a role, the second file counts.
                const auto [known, isNew] = m_roles.emplace(role, m_special.size());
                if (isNew || !role.ends_with("_token"))
                    m_special.push_back(std::move(named));
                else
                    m_special[known->second] = std::move(named);
            };
            for (const char* role : kRoles)
                if (const auto found = from.find(role); found != from.end()) one(role, *found);
            // A model's own, image_token.
            for (const auto& [role, token] : from.items())
                if (role.ends_with("_token") && (token.is_string() || token.is_object()) &&
                    std::find(kRoles.begin(), kRoles.end(), role) == kRoles.end())
                    one(role, token);
            for (const char* list : {"additional_special_tokens", "extra_special_tokens"}) {
                const auto found = from.find(list);
                if (found == from.end() || found->is_null()) continue;
                if (!found->is_array() && !found->is_object())
                    throw FileError(path, std::string(list) + " is " + shownValue(*found) +
                                              "; expected a list");
                for (const auto& token : *found) one(list, token);
            }
        };
        if (m_folder.settings) take(m_settings, m_folder.settings->path);
        // As in transformers, a tokenizer_config.json that lists the tokens itself counts alone.
        if (m_folder.specialTokens && !m_settings.contains("added_tokens_decoder"))
            take(parsedJson(m_folder.specialTokens->text, m_folder.specialTokens->path),
                 m_folder.specialTokens->path);
    }

    std::string namedAs(const char* role) const {
        if (const auto known = m_roles.find(role); known != m_roles.end())
            return m_special[known->second].content;
        if (m_class && role == std::string_view("bos_token") && m_class->begin)
            return m_class->begin;
        if (m_class && role == std::string_view("eos_token") && m_class->end) return m_class->end;
        return "";
    }

    // added_tokens_decoder of tokenizer_config.json, else added_tokens.json: ids of tokens.
    void addListedTokens() {
        if (const auto listed = m_settings.find("added_tokens_decoder");
            listed != m_settings.end()) {
            if (!listed->is_object())
                refuse("added_tokens_decoder", shownValue(*listed), "expected ids with tokens");
            std::map<std::int64_t, const json*> sorted;
            for (const auto& [spelled, token] : listed->items()) {
                std::int64_t id = -1;
                const auto* end = spelled.data() + spelled.size();
                const auto [rest, error] = std::from_chars(spelled.data(), end, id);
                if (error != std::errc() || rest != end || !isId(id) || !token.is_object() ||
                    textIn(token, "content").empty())
                    refuse("added_tokens_decoder",
                           "not a token with its id at " + quoted(spelled.substr(0, 60)),
                           "expected {\"50256\": {\"content\": \"<|endoftext|>\"}}");
                sorted[id] = &token;
            }
            for (const auto& [id, token] : sorted)
                addToken(textIn(*token, "content"), id, *token, m_folder.settings->path,
                         "added_tokens_decoder");
        } else if (m_folder.addedTokens) {
            const auto& path = m_folder.addedTokens->path;
            std::map<std::int64_t, std::string> sorted;
            const json tokens = parsedJson(m_folder.addedTokens->text, path);
            for (const auto& [content, id] : tokens.items()) {
                if (!isId(id))
                    throw FileError(path, quoted(content.substr(0, 60)) + " has the id " +
                                              shownValue(id) + "; expected a number");
                if (!sorted.emplace(id.get<std::int64_t>(), content).second)
                    throw FileError(path, "the id " + shownValue(id) + " is given twice");
            }
            for (const auto& [id, content] : sorted) {
                const bool special = m_specialNames.contains(content);
                // Tokens of tokenizer.json have flags, which this file does not hold.
                const auto known = m_listed.find(content);
                addToken(
                    content, id,
                    known != m_listed.end() ? m_added[known->second] : json{{"special", special}},
                    path, "the file");
            }
        }
    }

    // Named tokens are found in texts; tokens without an id get the next one.
    void addSpecialTokens() {
        auto all = m_special;
        for (const char* role : {"bos_token", "eos_token"})
            if (const auto content = namedAs(role); !content.empty() && m_ids.contains(content))
                all.push_back({role, content, json::object()});
        if (m_class && m_ids.contains(m_class->other))
            all.push_back({"", m_class->other, json::object()});
        std::stable_sort(all.begin(), all.end(), [](const Named& a, const Named& b) {
            const auto rank = [](const Named& named) {
                return std::find(kRoles.begin(), kRoles.end(), named.role) - kRoles.begin();
            };
            return rank(a) < rank(b);
        });
        for (const auto& named : all) {
            if (const auto known = m_listed.find(named.content); known != m_listed.end()) {
                m_added[known->second]["special"] = true;
                continue;
            }
            const auto id = m_ids.find(named.content);
            auto flags = named.flags;
            flags["special"] = true;
            addToken(named.content, id != m_ids.end() ? id->second : nextId(), flags, m_named,
                     named.role);
        }
    }

    std::int64_t nextId() const { return nextAddedId(m_pieces, m_mostAdded); }

    void addToken(const std::string& content, std::int64_t id, const json& flags,
                  const std::string& path, const std::string& field) {
        const auto fail = [&](const std::string& why) {
            throw FileError(path,
                            field + " gives " + quoted(content.substr(0, 60)) + " the id " +
                                std::to_string(id) + ", but in " + m_named + " " + why +
                                "; the files are of different tokenizers: correct one of them");
        };
        if (const auto known = m_ids.find(content); known != m_ids.end() && known->second != id)
            fail("it has the id " + std::to_string(known->second));
        if (const auto other = m_contents.find(id);
            other != m_contents.end() && other->second != content)
            fail("that id is of " + quoted(other->second.substr(0, 60)));
        if (!m_ids.contains(content) && id != nextId())
            throw FileError(path, field + " gives " + quoted(content.substr(0, 60)) + " the id " +
                                      std::to_string(id) + otherId(nextId()));
        json token = {{"id", id}, {"content", content}};
        for (const char* flag : {"single_word", "lstrip", "rstrip", "special", "normalized"}) {
            const auto given = flags.find(flag);
            const bool otherwise = flag == std::string_view("normalized") && !token["special"];
            token[flag] = given != flags.end() ? *given : json(otherwise);
            if (!token[flag].is_boolean())
                throw FileError(path, field + ": " + flag + " of " + quoted(content.substr(0, 60)) +
                                          " is " + shownValue(token[flag]) +
                                          "; expected true or false");
        }
        m_ids.emplace(content, id);
        m_contents.emplace(id, content);
        m_mostAdded = std::max(m_mostAdded, id);
        const auto [known, isNew] = m_listed.emplace(content, m_added.size());
        if (isNew)
            m_added.push_back(std::move(token));
        else
            m_added[known->second] = std::move(token);
    }

    std::optional<bool> setting(const char* field) const {
        const auto found = m_settings.find(field);
        if (found == m_settings.end() || found->is_null()) return std::nullopt;
        if (!found->is_boolean()) refuse(field, shownValue(*found), "expected true or false");
        return found->get<bool>();
    }

    json& partOf(const char* name) {
        static thread_local json nothing;
        nothing = nullptr;
        return m_file.contains(name) ? m_file[name] : nothing;
    }

    // add_prefix_space is ByteLevel's, wherever that stands.
    void setPrefixSpace() {
        const auto wanted = setting("add_prefix_space");
        if (!wanted) return;
        bool found = false, puts = false;
        visit<json>(partOf("pre_tokenizer"), [&](json& part) {
            if (typeOf(part) == "ByteLevel") part["add_prefix_space"] = *wanted, found = true;
            puts = puts ||
                   (typeOf(part) == "Metaspace" && part.value("prepend_scheme", json()) != "never");
        });
        visit<json>(partOf("normalizer"),
                    [&](json& part) { puts = puts || typeOf(part) == "Prepend"; });
        if (!found && !*wanted && puts)
            refuse("add_prefix_space", "false",
                   "but " + m_named + " puts one before texts: remove it, or write that file anew");
    }

    // add_bos_token and add_eos_token, where tokenizer.json has no template of its own.
    void setEnds() {
        bool own = false;
        visit<json>(partOf("post_processor"), [&](json& part) {
            own = own || (typeOf(part) != "ByteLevel" && typeOf(part) != "Sequence");
        });
        if (own) return;
        json single = json::array({{{"Sequence", {{"id", "A"}, {"type_id", 0}}}}});
        json tokens = json::object();
        const auto put = [&](const char* field, const char* role, bool otherwise) -> json {
            if (!setting(field).value_or(otherwise)) return {};
            const auto content = namedAs(role);
            const auto id = m_ids.find(content);
            if (content.empty() || id == m_ids.end())
                throw FileError(
                    m_folder.settings ? m_folder.settings->path : m_named,
                    std::string(field) + " is true, but " + role + " is " +
                        (content.empty() ? "missing" : quoted(content) + ", which has no id") +
                        "; name one");
            tokens[content] = {{"id", content}, {"ids", {id->second}}, {"tokens", {content}}};
            return {{"SpecialToken", {{"id", content}, {"type_id", 0}}}};
        };
        if (const auto begin = put("add_bos_token", "bos_token", m_class && m_class->llama);
            !begin.is_null())
            single.insert(single.begin(), begin);
        if (const auto end = put("add_eos_token", "eos_token", false); !end.is_null())
            single.push_back(end);
        if (single.size() == 1) return;
        json pair = single;
        for (const auto& one : single) pair.push_back(one);
        for (std::size_t i = single.size(); i < pair.size(); ++i)
            for (auto& item : pair[i]) {
                item["type_id"] = 1;
                if (item["id"] == "A") item["id"] = "B";
            }
        m_file["post_processor"] = {{"type", "TemplateProcessing"},
                                    {"single", single},
                                    {"pair", pair},
                                    {"special_tokens", tokens}};
    }

    const TokenizerFolder& m_folder;
    json m_settings, m_file;
    json m_added = json::array();
    std::string m_named;                 ///< the file with the vocabulary
    const PairClass* m_class = nullptr;  ///< without a tokenizer.json
    std::vector<Named> m_special;
    std::unordered_map<std::string, std::size_t> m_roles;  ///< places in m_special
    std::unordered_set<std::string> m_specialNames;
    std::unordered_map<std::string, std::int64_t> m_ids;
    std::unordered_map<std::string, std::size_t> m_listed;  ///< places in m_added
    std::map<std::int64_t, std::string> m_contents;
    std::int64_t m_pieces = 0, m_mostAdded = -1;  ///< size of the vocabulary; largest id in m_added
};

}  // namespace

TokenizerPtr tokenizerOf(const TokenizerFolder& folder) {
    if (folder.tokenizer && !folder.settings && !folder.specialTokens && !folder.addedTokens)
        return parseTokenizerJson(folder.tokenizer->text, folder.tokenizer->path);
    return FolderReader(folder).read();
}

}  // namespace relascope::core
