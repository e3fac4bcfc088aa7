// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/command_line.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <variant>

#include "files/home_folder.h"
#include "types/field_text.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

bool isPlainWord(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return (c < 0x80 && std::isalnum(c)) ||
               std::string_view("_-./:=,@%+").find(static_cast<char>(c)) != std::string_view::npos;
    });
}

/// Line ends and tabs as well: a line end in a paste ends a command. Bytes that are no UTF-8 could
/// be controls of a terminal that reads another encoding.
bool hasTerminalControls(std::string_view text) {
    return !isUtf8(text) || plainName(text) != text;
}

std::string escapedWord(std::string_view text) {
    std::string word = "$'";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\'' || c == '\\')
            word += std::string("\\") + c;
        else if (byte < 0x20 || byte >= 0x7F)
            word += {'\\', static_cast<char>('0' + (byte >> 6)),
                     static_cast<char>('0' + (byte >> 3 & 7)), static_cast<char>('0' + (byte & 7))};
        else
            word += c;
    }
    return word + "'";
}

std::string wordForShell(const std::string& word) {
    const auto home = environment("HOME");
    const bool inHome = home.size() > 1 && word.starts_with(home + "/");
    return inHome ? "~/" + quotedWord(std::string_view(word).substr(home.size() + 1))
                  : quotedWord(word);
}

}  // namespace

std::string quotedWord(std::string_view text) {
    if (isPlainWord(text)) return std::string(text);
    return hasTerminalControls(text) ? escapedWord(text) : shellWord(text);
}

std::string shellText(const std::vector<std::string>& words) {
    std::string line;
    for (const auto& word : words) line += (line.empty() ? "" : " ") + wordForShell(word);
    return line;
}

std::string commandLine(const std::vector<std::string>& words) {
    return words.empty() ? std::string() : "relascope-cli " + shellText(words);
}

std::string optionText(const std::string& option, const std::string& value) {
    std::vector<std::string> words;
    addWords(words, option, value);
    return shellText(words);
}

void addWords(std::vector<std::string>& words, const std::string& option,
              const std::string& value) {
    if (value.starts_with('-')) return words.push_back(option + "=" + value);
    words.insert(words.end(), {option, value});
}

void addField(std::vector<std::string>& words, const std::string& field, const FieldValue& value) {
    std::string option = "--" + field;
    std::replace(option.begin(), option.end(), '_', '-');
    if (const bool* on = std::get_if<bool>(&value)) {
        if (*on) words.push_back(option);
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
        for (const auto& word : *list) addWords(words, option, word);
    } else if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) {
        std::string all;
        for (const auto number : *numbers) all += (all.empty() ? "" : ",") + std::to_string(number);
        if (!all.empty()) addWords(words, option, all);
    } else {
        addWords(words, option, fieldValueText(value));
    }
}

std::string placeWord(const std::string& path) {
    return path.starts_with('-') ? "./" + path : path;
}

std::string folderName(const std::string& path) {
    auto folder = std::filesystem::absolute(path).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    return folder.filename().string();
}

}  // namespace relascope::core
