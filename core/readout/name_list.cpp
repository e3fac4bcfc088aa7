// SPDX-License-Identifier: GPL-3.0-or-later
#include "readout/name_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

using nlohmann::json;

constexpr std::size_t kMostNames = 100'000;

class NameTaker {
public:
    explicit NameTaker(const std::string& path) : m_path(path) {}
    /// `place`: "line 3".
    void take(std::string name, const std::string& place) {
        if (name.empty() || !isUtf8(name))
            throw FileError(m_path, place + (name.empty() ? " is empty" : " is not UTF-8") +
                                        "; give a name in UTF-8");
        if (!m_taken.insert(name).second)
            throw FileError(m_path, place + " has " + quoted(name.substr(0, 60)) +
                                        " again; give each name once");
        if (m_names.size() == kMostNames)
            throw FileError(m_path, "has more than " + std::to_string(kMostNames) +
                                        " names; give fewer classes");
        m_names.push_back(std::move(name));
    }
    std::vector<std::string> names() { return std::move(m_names); }

private:
    const std::string& m_path;
    std::unordered_set<std::string> m_taken;
    std::vector<std::string> m_names;
};

}  // namespace

std::vector<std::string> namesOfJson(std::string_view text, const std::string& field,
                                     const std::string& path) {
    bool flat = true;  // what is nested deeply is not built
    const auto list = json::parse(
        text,
        [&flat](int depth, json::parse_event_t, json&) {
            flat = flat && depth <= 1;
            return flat;
        },
        false);
    if (!flat || !list.is_array() ||
        !std::all_of(list.begin(), list.end(), [](const json& name) { return name.is_string(); }))
        throw FileError(path, field + " is " + quoted(std::string(text.substr(0, 60))) +
                                  "; expected a list of texts such as [\"cat\", \"dog\"]");
    NameTaker taker(path);
    std::size_t number = 0;
    for (const auto& name : list) taker.take(name, field + " " + std::to_string(++number));
    return taker.names();
}

std::string jsonOfNames(const std::vector<std::string>& names) {
    return json(names).dump();
}

std::vector<std::string> namesOfLines(std::string_view text, const std::string& path) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    NameTaker taker(path);
    for (std::size_t line = 1; !text.empty(); ++line) {
        auto name = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), name.size() + 1));
        constexpr std::string_view blanks = " \t\r";
        const auto first = name.find_first_not_of(blanks);
        if (first == std::string_view::npos) continue;
        name = name.substr(first, name.find_last_not_of(blanks) - first + 1);
        taker.take(std::string(name), "line " + std::to_string(line));
    }
    auto names = taker.names();
    if (names.empty()) throw FileError(path, "has no name; write one a line");
    return names;
}

}  // namespace relascope::core
