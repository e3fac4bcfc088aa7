// SPDX-License-Identifier: GPL-3.0-or-later
#include "interventions/relation_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <span>

#include "files/safetensors.h"
#include "types/error.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kMostRelationNumbers = std::int64_t{1} << 24;  // of one tensor: 64 MiB
constexpr std::int64_t kMostFirstTokens = 100'000;
constexpr const char* kRelationEnding = ".safetensors";

/// The metadata's entry of that name; empty where there is none.
std::string entryOf(const std::map<std::string, std::string>& metadata, const char* name) {
    const auto found = metadata.find(name);
    return found == metadata.end() ? std::string() : found->second;
}

void requireFormat(const SafetensorsFile& file) {
    const auto format = entryOf(file.header().metadata, "format");
    if (format != kRelationFormat)
        throw FileError(
            file.path(),
            "is not a fitted relation: its metadata 'format' is " +
                (format.empty() ? std::string("absent") : "'" + format.substr(0, 80) + "'") +
                ", not '" + kRelationFormat + "'; fit-relation --save writes such files");
}

const TensorEntry& relationTensor(const SafetensorsFile& file, const char* name, std::size_t axes) {
    const auto* entry = file.find(name);
    const auto refuse = [&](const std::string& what) {
        throw FileError(file.path(), std::string("tensor '") + name + "' " + what +
                                         "; fit-relation --save writes F32 tensors A, B, mean and "
                                         "bias");
    };
    if (!entry) refuse("is missing");
    if (entry->dtype != "F32") refuse("is " + entry->dtype);
    if (entry->shape.size() != axes)
        refuse("has " + std::to_string(entry->shape.size()) + " axes, not " + std::to_string(axes));
    std::int64_t numbers = 1;
    for (const auto size : entry->shape) {
        if (size < 1 || size > kMostRelationNumbers / numbers)
            refuse("is empty, or has over " + groupedNumber(kMostRelationNumbers) + " numbers");
        numbers *= size;
    }
    return *entry;
}

std::vector<float> relationNumbers(const SafetensorsFile& file, const TensorEntry& entry) {
    std::vector<float> numbers(static_cast<std::size_t>(entry.bytes() / sizeof(float)));
    file.read(entry, std::span(reinterpret_cast<std::uint8_t*>(numbers.data()),
                               numbers.size() * sizeof(float)));
    if (!std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); }))
        throw FileError(
            file.path(),
            "tensor '" + entry.name + "' has numbers that are not finite; fit the relation anew");
    return numbers;
}

std::int64_t wholeEntry(const SafetensorsFile& file, const char* name, std::int64_t usual,
                        std::int64_t least, std::int64_t most) {
    const auto text = entryOf(file.header().metadata, name);
    if (text.empty()) return usual;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        throw FileError(file.path(), std::string("metadata '") + name + "' is '" +
                                         text.substr(0, 80) + "', not an integer from " +
                                         std::to_string(least) + " to " + std::to_string(most));
    return value;
}

}  // namespace

RelationFile readRelation(const std::string& path) {
    const SafetensorsFile file(path);
    requireFormat(file);
    const auto &a = relationTensor(file, "A", 2), &b = relationTensor(file, "B", 2),
               &mean = relationTensor(file, "mean", 2), &bias = relationTensor(file, "bias", 1);
    RelationFile relation;
    relation.rank = a.shape[0], relation.width = a.shape[1], relation.places = mean.shape[0];
    if (b.shape != a.shape)
        throw FileError(path, "tensor 'B' is not [" + std::to_string(a.shape[0]) + ", " +
                                  std::to_string(a.shape[1]) + "], as 'A' is");
    if (mean.shape[1] != relation.width)
        throw FileError(path, "tensor 'mean' has rows of " + std::to_string(mean.shape[1]) +
                                  " numbers, and 'A' of " + std::to_string(relation.width));
    if (bias.shape[0] != 1)
        throw FileError(path,
                        "tensor 'bias' has " + std::to_string(bias.shape[0]) + " numbers, not one");
    if (relation.rank > relation.width)
        throw FileError(path, "tensor 'A' has more rows (" + std::to_string(relation.rank) +
                                  ") than columns (" + std::to_string(relation.width) + ")");
    relation.metadata = file.header().metadata;
    relation.point = entryOf(relation.metadata, "point");
    relation.fact = entryOf(relation.metadata, "fact");
    relation.form = entryOf(relation.metadata, "form");
    if (relation.point.empty())
        throw FileError(path, "metadata 'point', the hook point of the stream, is missing");
    relation.firstTokens = wholeEntry(file, "first_tokens", 0, 0, kMostFirstTokens);
    wholeEntry(file, "rank", relation.rank, relation.rank, relation.rank);
    relation.a = relationNumbers(file, a), relation.b = relationNumbers(file, b);
    relation.mean = relationNumbers(file, mean);
    relation.bias = relationNumbers(file, bias).front();
    return relation;
}

void requireRelationFile(const std::string& path) {
    std::error_code none;
    if (std::filesystem::exists(path, none)) {
        try {
            requireFormat(SafetensorsFile(path));
        } catch (const FileError&) {
            throw FileError(path,
                            "exists and is no fitted relation; save the relation under another "
                            "name");
        }
    }
    AtomicFile(path).write(kRelationFormat);  // a temporary file, which is removed
}

void writeRelation(const RelationFile& relation, const std::string& path) {
    requireRelationFile(path);
    auto metadata = relation.metadata;
    metadata["format"] = kRelationFormat;
    metadata["point"] = relation.point, metadata["fact"] = relation.fact;
    metadata["form"] = relation.form, metadata["rank"] = std::to_string(relation.rank);
    metadata["first_tokens"] = std::to_string(relation.firstTokens);
    const auto tensor = [](const char* name, std::vector<std::int64_t> shape,
                           std::span<const float> numbers) {
        return TensorToWrite{name, "F32", std::move(shape),
                             std::span(reinterpret_cast<const std::uint8_t*>(numbers.data()),
                                       numbers.size() * sizeof(float))};
    };
    writeSafetensors(path,
                     {tensor("A", {relation.rank, relation.width}, relation.a),
                      tensor("B", {relation.rank, relation.width}, relation.b),
                      tensor("mean", {relation.places, relation.width}, relation.mean),
                      tensor("bias", {1}, std::span(&relation.bias, 1))},
                     metadata);
}

std::string relationFileOf(const std::string& name) {
    return name.ends_with(kRelationEnding) ? name : name + kRelationEnding;
}

std::string relationState(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code none;
    const auto size = fs::file_size(path, none);
    if (none) return path;
    const auto time = fs::last_write_time(path, none).time_since_epoch().count();
    return path + " " + std::to_string(size) + " " + std::to_string(time);
}

std::vector<std::string> relationStates(const EditList& edits) {
    auto states = edits.relations();
    for (auto& file : states) file = relationState(file);
    return states;
}

}  // namespace relascope::core
