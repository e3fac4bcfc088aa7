// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/example_text.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;

/// Nine digits give a float back.
std::string floatText(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    return text;
}

std::string objectsCsv(const ProbeSequence& source) {
    std::string text = "object";
    for (int k = 0; k < source.width; ++k) text += ",x" + std::to_string(k + 1);
    text += '\n';
    const auto width = static_cast<std::size_t>(source.width);
    for (std::size_t i = 0; i < static_cast<std::size_t>(source.size()); ++i) {
        text += i < source.labels.size() ? csvField(source.labels[i]) : std::to_string(i + 1);
        for (std::size_t k = 0; k < width; ++k)
            text += "," + floatText(source.vectors[i * width + k]);
        text += '\n';
    }
    return text;
}

std::string piecesCsv(const ProbeSequence& source) {
    std::string text = "id,text\n";
    for (std::size_t k = 0; k < source.tokens.size(); ++k) {
        const bool named = k < source.labels.size();
        if (source.text && named && source.labels[k].empty()) continue;  // padding
        text += std::to_string(source.tokens[k]) + "," +
                (named ? csvField(shownPiece(source.labels[k])) : std::string()) + "\n";
    }
    return text;
}

std::string pixelsCsv(const Image& image) {
    std::string text = "row,column,channel,value\n";
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            for (int c = 0; c < image.channels; ++c)
                text += std::to_string(y) + "," + std::to_string(x) + "," + std::to_string(c) +
                        "," + std::to_string(image.pixels[image.index(y, x, c)]) + "\n";
    return text;
}

Json imageJson(const Image& image) {
    return {{"height", image.height},
            {"width", image.width},
            {"channels", image.channels},
            {"pixels", image.pixels}};
}

Json textsJson(const std::vector<std::string>& texts) {
    Json all = Json::array();
    for (const auto& text : texts) all.push_back(validUtf8(text));
    return all;
}

}  // namespace

std::string shownPiece(std::string_view bytes) {
    if (bytes.empty()) return "\u2205";
    if (bytes.find_first_not_of(' ') == std::string_view::npos) {
        std::string blanks;
        for (std::size_t k = 0; k < bytes.size(); ++k) blanks += "\u2423";
        return blanks;
    }
    const bool valid = isUtf8(bytes);
    if (bytes.front() == ' ') bytes.remove_prefix(1);
    if (!valid) return pieceText(bytes).text;
    std::string text;
    // Line ends and tabs are shown as symbols, as any text may contain a backslash and an n.
    while (!bytes.empty()) {
        const auto plain = std::min(bytes.find_first_of("\n\t"), bytes.size());
        text += pieceText(bytes.substr(0, plain)).text;
        bytes.remove_prefix(plain);
        if (bytes.empty()) break;
        text += bytes.front() == '\n' ? "\u21b5" : "\u21e5";
        bytes.remove_prefix(1);
    }
    return text;
}

std::string csvOf(const DataStatistics& statistics) {
    std::string text = csvField(statistics.what) + ",count\n";
    for (const auto& [name, count] : statistics.bars)
        text += csvField(statistics.pieces ? shownPiece(name) : name) + "," +
                std::to_string(count) + "\n";
    for (const auto& [name, value] : statistics.rows)
        text += csvField(name) + "," + csvField(value) + "\n";
    return text;
}

std::string csvOf(const ProbeSample& sample) {
    if (sample.source.width > 0) return objectsCsv(sample.source);
    return sample.source.size() > 0 ? piecesCsv(sample.source) : pixelsCsv(sample.image);
}

std::string answerOf(const DataExample& example, const std::vector<std::string>& classNames) {
    const auto label = example.sample.label;
    if (!example.answer.empty() || label < 0) return example.answer;
    return label < std::ssize(classNames) ? classNames[static_cast<std::size_t>(label)]
                                          : std::to_string(label);
}

std::string inputText(const ProbeSample& sample) {
    const auto& source = sample.source;
    if (!sample.image.empty())
        return std::to_string(sample.image.width) + " x " + std::to_string(sample.image.height) +
               " pixels";
    std::string text;
    if (source.text) {
        for (const auto& piece : source.labels) text += piece;
        return plainName(validUtf8(text));
    }
    for (std::size_t k = 0; k < static_cast<std::size_t>(source.size()); ++k)
        text += (k > 0 ? ", " : "") + (k < source.labels.size()   ? source.labels[k]
                                       : k < source.tokens.size() ? std::to_string(source.tokens[k])
                                                                  : std::to_string(k + 1));
    return plainName(validUtf8(text));
}

std::string plainText(const DataStatistics& statistics) {
    constexpr std::size_t names = 24, counts = 10;
    constexpr int bars = 40;
    std::int64_t most = 1;
    for (const auto& bar : statistics.bars) most = std::max(most, bar.second);
    std::string text = statistics.bars.empty() ? "" : statistics.what + "\n";
    for (const auto& [name, count] : statistics.bars) {
        const auto share = static_cast<double>(count) / static_cast<double>(most);
        text += "  " + cellText(statistics.pieces ? shownPiece(name) : plainName(name), names) +
                cellText(groupedNumber(count), counts, true);
        const auto bar = barText('#', share, bars);
        text += (bar.empty() ? "" : "  " + bar) + "\n";
    }
    for (const auto& [name, value] : statistics.rows)
        text += cellText(name, names + 2) + "  " + plainName(value) + "\n";
    return text;
}

Json jsonOf(const DataStatistics& statistics) {
    Json counts = Json::array(), facts = Json::array();
    for (const auto& [name, count] : statistics.bars)
        counts.push_back({{"name", validUtf8(name)}, {"count", count}});
    for (const auto& [name, value] : statistics.rows)
        facts.push_back({{"name", name}, {"value", validUtf8(value)}});
    return {{"counted", statistics.counted},
            {"what", statistics.what},
            {"counts", counts},
            {"facts", facts}};
}

Json jsonOf(const DataExample& example, const std::vector<std::string>& classNames) {
    const auto& [sample, answer, order] = example;
    Json object = Json::object();
    if (const auto text = answerOf(example, classNames); !text.empty())
        object[answer.empty() ? "label" : "answer"] = validUtf8(text);
    object["origin"] = validUtf8(sample.origin);
    if (!sample.image.empty()) object["image"] = imageJson(sample.image);
    const auto& source = sample.source;
    if (source.width > 0) {
        Json objects = Json::array();
        const auto width = static_cast<std::ptrdiff_t>(source.width);
        for (int i = 0; i < source.size(); ++i) {
            const auto from = source.vectors.begin() + i * width;
            const auto at = static_cast<std::size_t>(i);
            objects.push_back({{"name", at < source.labels.size() ? validUtf8(source.labels[at])
                                                                  : std::to_string(i + 1)},
                               {"values", std::vector<float>(from, from + width)}});
        }
        object["objects"] = objects;
    } else if (source.size() > 0) {
        object["tokens"] = source.tokens;
        object["pieces"] = textsJson(source.labels);
    }
    if (!order.empty()) object["order"] = order;
    return object;
}

}  // namespace relascope::core
