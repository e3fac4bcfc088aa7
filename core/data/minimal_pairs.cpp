// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/minimal_pairs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "data/text_files.h"
#include "types/lower_case.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

using PairJson = nlohmann::ordered_json;

constexpr std::size_t kNamedFields = 8;          // in errors
constexpr std::size_t kLongestLine = 64u << 20;  // bytes; a file without lines is no JSON lines

std::string firstWord(const std::string& text) {
    return pieceText(text.substr(0, 40)).text;
}

/// One file of JSON lines.
class PairReader {
public:
    PairReader(const std::string& path, const PairFields& fields, std::vector<MinimalPair>& pairs)
        : m_path(path), m_fields(fields), m_pairs(pairs) {
        const std::filesystem::path named = path;
        m_name = named.filename().string();
        m_stem = named.stem().string();
        if (m_stem.ends_with(".jsonl") || m_stem.ends_with(".json"))  // the name ended in .jsonl.gz
            m_stem = m_stem.substr(0, m_stem.rfind('.'));
    }

    void read(const std::function<void(std::uint64_t consumed)>& tick,
              const std::stop_token& stop) {
        TextBytes bytes(openFileBytes(m_path), stop);
        std::string held;
        bool begun = false;
        for (std::string_view piece; !(piece = bytes.next()).empty();) {
            held += piece;
            if (!begun) requireCorpus(m_path, held);
            begun = true;
            std::size_t from = 0;
            for (std::size_t end; (end = held.find('\n', from)) != std::string::npos;
                 from = end + 1)
                line(std::string_view(held).substr(from, end - from));
            held.erase(0, from);
            if (held.size() > kLongestLine) fail("is longer than 64 MiB; give JSON lines");
            tick(bytes.consumed());
        }
        line(held);
        if (m_found == 0) throw FileError(m_path, "is empty; give JSON lines, a pair a line");
    }

    /// What to know of the prefixes; empty: nothing.
    std::string note() const {
        if (m_joined == 0) return {};
        return "In " + groupedNumber(m_joined) + (m_joined == 1 ? " pair (" : " pairs (first: ") +
               plainName(m_note) +
               ") a prefix and what follows it are joined within a word, as the file has no blank "
               "between them; where two words meet, begin the sentences with a blank.";
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        throw FileError(m_path, "line " + std::to_string(m_line) + " " + why);
    }

    void line(std::string_view text) {
        ++m_line;
        if (m_line == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
        if (std::all_of(text.begin(), text.end(),
                        [](char c) { return std::isspace(static_cast<unsigned char>(c)); }))
            return;
        PairJson json;
        try {
            json = PairJson::parse(text);
        } catch (const PairJson::exception& error) {
            if (std::string(error.what()).find("UTF-8") != std::string::npos)
                fail("is not UTF-8; convert the file, as in iconv -f WINDOWS-1252 -t UTF-8");
            fail("is not JSON; give JSON lines, an object with a sentence and a wrong one a line");
        }
        if (!json.is_object())
            fail("is no object; give JSON lines, an object with a sentence and a wrong one a line");
        add(json);
    }

    void add(const PairJson& json) {
        MinimalPair pair;
        pair.place = m_name + ", line " + std::to_string(m_line);
        pair.good = sentence(field(json, m_fields.good), m_fields.good);
        const auto& wrong = field(json, m_fields.bad);
        if (wrong.is_array())
            for (const auto& one : wrong) pair.bad.push_back(sentence(one, m_fields.bad));
        else
            pair.bad.push_back(sentence(wrong, m_fields.bad));
        if (pair.bad.empty()) fail("has no sentence in '" + m_fields.bad + "'");
        if (!m_fields.prefix.empty())
            pair.prefix = text(field(json, m_fields.prefix), m_fields.prefix);
        else
            pair.prefix = optional(json, "prefix");
        if (!pair.prefix.empty()) addPrefix(pair);
        pair.field = optional(json, "field"), pair.term = optional(json, "linguistics_term");
        if (!m_fields.phenomenon.empty())
            pair.phenomenon = text(field(json, m_fields.phenomenon), m_fields.phenomenon);
        else
            pair.phenomenon = optional(json, "UID");
        for (const auto& other : {pair.term, pair.field, m_stem, m_name})
            if (pair.phenomenon.empty()) pair.phenomenon = other;
        m_pairs.push_back(std::move(pair));
        ++m_found;
    }

    const PairJson& field(const PairJson& json, const std::string& name) const {
        if (const auto at = json.find(name); at != json.end()) return *at;
        std::string has;
        std::size_t named = 0;
        for (const auto& [key, value] : json.items())
            if (named++ < kNamedFields) has += (has.empty() ? "" : ", ") + firstWord(key);
        fail("has no '" + name + "'" + (has.empty() ? "" : "; it has " + has) +
             ": name the fields as GOOD,BAD (--fields, data.text_field)");
    }
    std::string text(const PairJson& value, const std::string& name) const {
        if (!value.is_string())
            fail(std::string("has ") + value.type_name() + " as '" + name + "'; expected a string");
        return value.get<std::string>();
    }
    std::string sentence(const PairJson& value, const std::string& name) const {
        auto found = text(value, name);
        if (found.empty()) fail("has an empty '" + name + "'");
        return found;
    }
    static std::string optional(const PairJson& json, const char* name) {
        const auto at = json.find(name);
        return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
    }
    /// Sentences that are given without their prefix get it, with nothing between that the file
    /// does not have: whether a blank belongs there, a language and a tokenizer decide.
    void addPrefix(MinimalPair& pair) {
        const auto whole = [&](const std::string& one) { return one.starts_with(pair.prefix); };
        if (whole(pair.good) && std::all_of(pair.bad.begin(), pair.bad.end(), whole)) return;
        const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
        if (letter(pair.prefix.back()) && letter(pair.good.front()) && m_joined++ == 0)
            m_note = pair.place;
        pair.good = pair.prefix + pair.good;
        for (auto& bad : pair.bad) bad = pair.prefix + bad;
    }

    const std::string m_path;
    const PairFields& m_fields;
    std::vector<MinimalPair>& m_pairs;
    std::string m_name, m_stem;
    std::string m_note;  ///< where the first of them is
    std::int64_t m_line = 0, m_found = 0, m_joined = 0;
};

/// Words with the blanks before them.
std::vector<std::string> blankWords(const std::string& sentence) {
    std::vector<std::string> words;
    for (std::size_t from = 0; from < sentence.size();) {
        auto end = sentence.find_first_not_of(' ', from);
        end = sentence.find(' ', std::min(end, sentence.size()));
        words.push_back(sentence.substr(from, end - from));
        from = end == std::string::npos ? sentence.size() : end;
    }
    return words;
}

/// Words without blanks, and without capitals and marks at their ends.
std::vector<std::string> plainWords(const std::string& sentence) {
    std::vector<std::string> words;
    for (const auto& word : blankWords(sentence)) {
        const auto mark = [](char c) {
            return std::isspace(static_cast<unsigned char>(c)) != 0 ||
                   std::ispunct(static_cast<unsigned char>(c)) != 0;
        };
        const auto first = std::find_if_not(word.begin(), word.end(), mark);
        const auto last = std::find_if_not(word.rbegin(), word.rend(), mark).base();
        if (first < last) words.push_back(lowerCase(std::string(first, last)));
    }
    return words;
}

/// Adds the words that two sentences do not share.
void addDifference(std::vector<std::string> good, std::vector<std::string> bad,
                   std::set<std::string>& words) {
    const auto ends = std::mismatch(good.begin(), good.end(), bad.begin(), bad.end());
    good.erase(good.begin(), ends.first), bad.erase(bad.begin(), ends.second);
    while (!good.empty() && !bad.empty() && good.back() == bad.back())
        good.pop_back(), bad.pop_back();
    std::vector<std::string> own, moved;
    for (std::size_t k = 0; k < std::min(good.size(), bad.size()); ++k)
        if (good[k] != bad[k]) moved.push_back(good[k]);
    std::sort(good.begin(), good.end()), std::sort(bad.begin(), bad.end());
    std::set_symmetric_difference(good.begin(), good.end(), bad.begin(), bad.end(),
                                  std::back_inserter(own));
    if (own.empty()) own = std::move(moved);  // the same words in another order
    words.insert(own.begin(), own.end());
}

}  // namespace

std::string differingWords(const MinimalPair& pair) {
    std::set<std::string> words;
    const auto good = plainWords(pair.good);
    for (const auto& bad : pair.bad) addDifference(good, plainWords(bad), words);
    std::string text;
    for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

PairFields PairFields::of(std::string_view names, const std::string& option) {
    PairFields fields;
    std::string* const to[] = {&fields.good, &fields.bad, &fields.prefix, &fields.phenomenon};
    std::size_t count = 0;
    for (std::size_t from = 0; from <= names.size() && !names.empty(); ++count) {
        if (count == std::size(to))
            throw OptionError(option, "names more than GOOD,BAD,PREFIX,PHENOMENON");
        const auto end = std::min(names.find(',', from), names.size());
        if (end > from) *to[count] = names.substr(from, end - from);
        from = end + 1;
    }
    if (count == 1)
        throw OptionError(option, "names one field; give two, as sentence_good,sentence_bad");
    return fields;
}

ListedPairs::ListedPairs(DatasetInfo info, std::vector<MinimalPair> pairs)
    : m_info(std::move(info)), m_pairs(std::move(pairs)) {
    m_info.size = std::ssize(m_pairs);
    m_info.channels = m_info.width = m_info.height = 0;
    m_info.targets = TargetKind::Tokens;
}

ProbeSample ListedPairs::sample(std::int64_t index) const {
    ProbeSample sample;
    sample.origin = m_info.name + " " + std::to_string(index);
    sample.source.text = true;
    sample.source.labels = blankWords(pair(index).good);
    // A model reads the text in tokens of its own (inTokensOf()).
    sample.source.tokens.assign(sample.source.labels.size(), -1);
    return sample;
}

PairDatasetPtr readMinimalPairs(const std::string& path, const PairFields& fields,
                                const ProgressCallback& progress, std::stop_token stop) {
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(path, ignored);
    std::vector<TextFile> files;
    for (auto& file : listTextFiles(path))
        if (!folder || file.form == TextForm::Json) files.push_back(std::move(file));
    if (files.empty())
        throw FileError(path, "has no JSON lines (.jsonl); give a file of minimal pairs");
    double all = 1.0, before = 0.0;
    for (const auto& file : files) all += static_cast<double>(file.bytes);
    std::vector<MinimalPair> pairs;
    DatasetInfo info;
    for (const auto& file : files) {
        PairReader reader(file.path, fields, pairs);
        reader.read(
            [&](std::uint64_t consumed) {
                if (progress && !progress((before + static_cast<double>(consumed)) / all))
                    throw Cancelled();
            },
            stop);
        if (info.note.empty()) info.note = reader.note();
        before += static_cast<double>(file.bytes);
    }
    const std::filesystem::path named = path;
    info.name = (named.has_filename() ? named : named.parent_path()).filename().string();
    info.origin = path;
    return std::make_shared<ListedPairs>(std::move(info), std::move(pairs));
}

PairDatasetPtr asPairs(const DatasetPtr& data) {
    auto pairs = std::dynamic_pointer_cast<const PairDataset>(data);
    if (!pairs)
        throw OptionError("data", (data ? data->info().name : "") + " are no minimal pairs");
    return pairs;
}

std::string pairLine(const MinimalPair& pair, std::int64_t number) {
    PairJson json = {{"sentence_good", pair.good}};
    if (pair.bad.size() == 1)
        json["sentence_bad"] = pair.bad.front();
    else
        json["sentence_bad"] = pair.bad;
    if (!pair.prefix.empty()) json["prefix"] = pair.prefix;
    json["field"] = pair.field;
    json["linguistics_term"] = pair.term;
    json["UID"] = pair.phenomenon;
    json["pairID"] = std::to_string(number);
    return json.dump(-1, ' ', false, PairJson::error_handler_t::replace);
}

std::vector<std::pair<std::string, std::vector<std::int64_t>>> byPhenomenon(const PairDataset& data,
                                                                            std::int64_t most) {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> all;
    std::map<std::string, std::size_t> places;
    for (std::int64_t i = 0; i < data.size(); ++i) {
        const auto& name = data.pair(i).phenomenon;
        const auto [at, fresh] = places.emplace(name, all.size());
        if (fresh) all.emplace_back(name, std::vector<std::int64_t>());
        auto& indices = all[at->second].second;
        if (most <= 0 || std::ssize(indices) < most) indices.push_back(i);
    }
    return all;
}

}  // namespace relascope::core
