// SPDX-License-Identifier: GPL-3.0-or-later
// The words that hypotheses are made of.
#include <algorithm>

#include "analysis/pairs/hypothesis.h"
#include "files/atomic_file.h"
#include "files/csv.h"
#include "types/lower_case.h"
#include "types/text_piece.h"

namespace relascope::core {

bool beginsWord(char c) {
    const auto u = static_cast<unsigned char>(c);
    return u >= 0x80 || std::isalpha(u) != 0 || c == '_';
}

namespace {
const char* const kSameToken = "token(i) = token(j)";
}  // namespace

std::vector<std::string> hypothesisWords(const HypothesisTerms& terms) {
    std::vector<std::string> words;
    const auto quoted = [](const std::string& name) {
        const bool plain = !name.empty() && beginsWord(name.front()) &&
                           std::all_of(name.begin(), name.end(), [](char c) {
                               return beginsWord(c) || (c >= '0' && c <= '9');
                           });
        return plain ? name : '"' + name + '"';
    };
    for (const auto& fact : terms.facts) {
        const auto name = quoted(fact.name);
        words.push_back("same(" + name + ")");
        if (fact.ordered)
            for (const char* how : {"less(", "greater("}) words.push_back(how + name + ")");
        if (fact.ordered) words.push_back("near(" + name + ", 1)");
        for (const auto& value : fact.values)
            for (const char* object : {"(i) = ", "(j) = "})
                words.push_back(name + object + quoted(value));
    }
    if (terms.columns > 0) words.insert(words.end(), {"same row", "same column"});
    words.insert(words.end(), {"adjacent", "j - i = 1", "i - j = 1", "abs(i - j) <= 2"});
    if (terms.tokens) {
        words.insert(words.end(), {kSameToken, "token(i) = \"", "token(j) = \""});
        for (const auto& name : terms.classes)
            for (const char* object : {"class(i) = ", "class(j) = "})
                words.push_back(object + quoted(name));
    }
    for (const auto& label : terms.labels) words.push_back("label = " + quoted(label));
    words.insert(words.end(), {"and", "or", "not"});
    return words;
}

std::vector<std::string> attributesAmong(const std::vector<std::string>& words) {
    std::vector<std::string> names;
    const std::string same = "same(";
    for (const auto& word : words) {
        if (!word.starts_with(same)) continue;
        auto fact = word.substr(same.size(), word.size() - same.size() - 1);
        std::erase(fact, '"');
        names.push_back("same " + fact);
    }
    if (std::any_of(words.begin(), words.end(),
                    [&](const auto& word) { return word.starts_with(same); }))
        names.insert(names.begin(), "same object");
    if (std::find(words.begin(), words.end(), kSameToken) != words.end())
        names.insert(names.begin(),
                     {"same token", "induction", "previous token", "first token", "same word"});
    return names;
}

std::map<std::string, std::string> readTokenClasses(const std::string& path) {
    const auto text = readTextFile(path);
    CsvReader csv(text, path);
    const auto column = [&](const char* name) {
        const auto& all = csv.columns();
        const auto at = std::find_if(all.begin(), all.end(),
                                     [&](const auto& one) { return lowerCase(one) == name; });
        if (at == all.end())
            throw FileError(path, std::string("has no column '") + name +
                                      "'; give a table with the columns token and class");
        return static_cast<std::size_t>(at - all.begin());
    };
    const auto token = column("token"), kind = column("class");
    std::map<std::string, std::string> classes;
    while (csv.next()) {
        const auto& name = csv.fields()[kind];
        if (name.empty())
            throw FileError(path, "line " + std::to_string(csv.line()) + " has no class");
        const auto [at, fresh] = classes.try_emplace(plainToken(csv.fields()[token]), name);
        if (!fresh && at->second != name)
            throw FileError(path, "line " + std::to_string(csv.line()) + " gives '" +
                                      printable(at->first) + "' another class than before");
    }
    if (classes.empty()) throw FileError(path, "names no token");
    return classes;
}

std::string plainToken(std::string_view piece) {
    const auto from = piece.find_first_not_of(' '), to = piece.find_last_not_of(' ');
    return std::string(from == std::string_view::npos ? piece : piece.substr(from, to - from + 1));
}

}  // namespace relascope::core
