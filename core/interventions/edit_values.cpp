// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "interventions/edit_values.h"
#include "types/error.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostAxes = 4;

// Their number, or -1 if they are more than `most`.
std::int64_t numbersOf(const std::vector<std::int64_t>& shape, std::int64_t most) {
    std::int64_t count = 1;
    for (const auto size : shape) {
        if (size < 1 || count > most / size) return -1;
        count *= size;
    }
    return count;
}

}  // namespace

std::vector<double> storedNumbers(std::span<const float> numbers) {
    std::vector<double> stored;
    stored.reserve(numbers.size());
    for (const float number : numbers) {
        std::array<char, 32> text{};
        const auto* end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
        double value = 0.0;
        std::from_chars(text.data(), end, value);
        stored.push_back(value);
    }
    return stored;
}

EditValues StoredValues::read(const std::string& file, const std::string& tensor,
                              const std::string& field) {
    const auto path = (m_folder / file).lexically_normal().string();
    auto found = m_files.find(path);
    if (found == m_files.end()) {
        if (!fs::is_regular_file(path))
            throw OptionError(field + ".file", "there is no file " + path +
                                                   "; keep it beside the edits, or remove "
                                                   "\"values\" to take the mean again");
        SafetensorsFile opened(path);
        const auto& metadata = opened.header().metadata;
        const auto format = metadata.find("format");
        if (format == metadata.end() || format->second != kEditValuesFormat)
            throw OptionError(
                field + ".file",
                path + " does not hold the values of edits: its metadata 'format' is " +
                    (format == metadata.end() ? "absent"
                                              : "'" + format->second.substr(0, 80) + "'") +
                    ", not '" + kEditValuesFormat + "'");
        found = m_files.emplace(path, std::move(opened)).first;
    }
    const auto& open = found->second;
    const auto* entry = open.find(tensor);
    if (!entry) {
        std::vector<std::string> names;
        for (const auto& there : open.header().tensors) names.push_back(there.name);
        throw OptionError(field + ".tensor", path + " has " + unknownName("tensor", tensor, names));
    }
    if (entry->dtype != "F32")
        throw OptionError(field + ".tensor", "'" + tensor + "' of " + path + " is " + entry->dtype +
                                                 "; values are F32");
    if (entry->shape.size() > kMostAxes)
        throw OptionError(field + ".tensor", "'" + tensor + "' of " + path + " has " +
                                                 std::to_string(entry->shape.size()) +
                                                 " axes; values have at most 4");
    const auto count = numbersOf(entry->shape, kMostStoredNumbers - m_numbers);
    if (count < 0)
        throw OptionError(field + ".tensor",
                          "'" + tensor + "' of " + path +
                              " is empty, or too large: all values of a file have at most " +
                              groupedNumber(kMostStoredNumbers) + " numbers");
    m_numbers += count;
    std::vector<float> numbers(static_cast<std::size_t>(count));
    open.read(*entry, std::span(reinterpret_cast<std::uint8_t*>(numbers.data()),
                                numbers.size() * sizeof(float)));
    if (!std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); }))
        throw OptionError(field + ".tensor",
                          "'" + tensor + "' of " + path + " has numbers that are not finite");
    return {entry->shape, storedNumbers(numbers)};
}

std::string valuesTensor(std::size_t index) {
    return "edits." + std::to_string(index) + ".values";
}

std::string valuesFileOf(const std::string& path) {
    fs::path file(path);
    if (file.extension() == ".json") return file.replace_extension(".safetensors").string();
    return path + ".safetensors";
}

void writeValues(const EditList& list, const std::string& path) {
    std::error_code none;
    if (fs::exists(path, none)) {
        bool own = false;
        try {
            const auto metadata = SafetensorsFile(path).header().metadata;
            const auto format = metadata.find("format");
            own = format != metadata.end() && format->second == kEditValuesFormat;
        } catch (const FileError&) {
            // Not even tensors.
        }
        if (!own)
            throw FileError(path,
                            "exists and holds other things than the values of edits; save the "
                            "edits under another name");
    }
    std::vector<std::vector<float>> numbers;
    std::vector<TensorToWrite> tensors;
    std::int64_t left = kMostStoredNumbers;
    for (std::size_t i = 0; i < list.edits.size(); ++i) {
        const auto& edit = list.edits[i];
        if (edit.op != EditOp::Mean || edit.values.empty()) continue;
        const auto& all = edit.values.numbers.all();
        left -= std::ssize(all);
        if (left < 0)
            throw FileError(path, "would have over " + groupedNumber(kMostStoredNumbers) +
                                      " numbers, the most that the means of a file may have; take "
                                      "means over all places, or save fewer edits");
        auto& floats = numbers.emplace_back(all.begin(), all.end());
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(floats.data());
        tensors.push_back({valuesTensor(i), "F32", edit.values.shape,
                           std::span(bytes, floats.size() * sizeof(float))});
    }
    writeSafetensors(path, std::move(tensors), {{"format", kEditValuesFormat}});
}

EditList withValues(EditList list, const TakenMeans& means) {
    for (const auto& [index, mean] : means) {
        if (index >= list.edits.size()) continue;
        auto& edit = list.edits[index];
        if (edit.op != EditOp::Mean || !edit.values.empty() || mean.values.empty()) continue;
        edit.values = mean.values;
        auto reference = edit.reference.value_or(EditReference{});
        reference.examples = mean.examples;
        reference.over = mean.over;
        edit.reference = reference;
    }
    return list;
}

std::string meanText(const Edit& edit, const TakenMean* taken) {
    constexpr std::int64_t few = 64;
    if (edit.op != EditOp::Mean) return {};
    const bool given = !edit.values.empty();
    if (given && !edit.reference) return "mean as given";
    const auto reference = edit.reference.value_or(EditReference{});
    const auto examples = taken ? taken->examples : reference.examples;
    auto text = "mean of " + groupedNumber(examples) + " examples of " + reference.split;
    if (given) text += ", as saved";
    if (taken && !given) {
        std::array<char, 32> error{};
        std::snprintf(error.data(), error.size(), "%.2g", taken->standardError);
        text += std::string(", standard error ") + error.data();
    }
    if (examples < few) text += ": too few for a steady mean";
    return text;
}

}  // namespace relascope::core
