// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/attribute_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "files/atomic_file.h"
#include "files/csv.h"
#include "types/lower_case.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

void checkRows(const std::string& path, const AttributeFile& file, std::int64_t examples,
               std::int64_t objects) {
    for (const auto& row : file.rows) {
        if (row.example < 0 || row.example >= examples)
            throw FileError(path, "there is no example " + std::to_string(row.example) +
                                      ": the split has " + std::to_string(examples));
        for (const auto place : {row.i, row.j})
            if (place < 0 || place >= objects)
                throw FileError(path, "example " + std::to_string(row.example) + " has no object " +
                                          std::to_string(place) + ": its objects are 0 to " +
                                          std::to_string(objects - 1));
    }
    std::vector<const AttributeFile::Row*> sorted;
    for (const auto& row : file.rows) sorted.push_back(&row);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->pair() < b->pair(); });
    const auto twice =
        std::adjacent_find(sorted.begin(), sorted.end(),
                           [](const auto* a, const auto* b) { return a->pair() == b->pair(); });
    if (twice != sorted.end())
        throw FileError(path, "line " + std::to_string(twice[1]->line) +
                                  " names the same pair as line " + std::to_string(twice[0]->line));
}

}  // namespace

AttributeFile readAttributes(const std::string& path) {
    const std::string text = readTextFile(path);
    CsvReader csv(text, path);
    AttributeFile file;
    constexpr std::array places = {"example", "i", "j"};
    std::array<std::size_t, 3> at{};
    std::vector<std::size_t> others;
    std::size_t found = 0;
    for (std::size_t c = 0; c < csv.columns().size(); ++c) {
        const auto place = std::find(places.begin(), places.end(), lowerCase(csv.columns()[c]));
        if (place != places.end())
            at[static_cast<std::size_t>(place - places.begin())] = c, ++found;
        else
            others.push_back(c), file.names.push_back(csv.columns()[c]);
    }
    if (found != places.size() || others.empty())
        throw FileError(path, "begins with the columns '" + joined(csv.columns(), ",") +
                                  "'; example, i, j and a column for each attribute are expected");
    while (csv.next()) {
        AttributeFile::Row row{
            csv.whole(at[0]), csv.whole(at[1]), csv.whole(at[2]), csv.line(), {}};
        for (const auto c : others) row.values.push_back(static_cast<float>(csv.number(c)));
        file.rows.push_back(std::move(row));
    }
    if (file.rows.empty()) throw FileError(path, "names no pairs");
    return file;
}

void addAttributes(PairAttributes& attributes, const PairObjects& objects, const std::string& path,
                   std::int64_t size) {
    const auto file = readAttributes(path);
    checkRows(path, file, size, static_cast<std::int64_t>(objects.shape.objects));
    std::map<std::int64_t, std::size_t> place;
    for (std::size_t e = 0; e < objects.examples.size(); ++e) place[objects.examples[e]] = e;
    const std::size_t n = objects.shape.objects;
    for (std::size_t a = 0; a < file.names.size(); ++a) {
        PairAttribute one{file.names[a], false, {}, {}};
        for (const auto& row : file.rows)
            one.ordered = one.ordered || (!std::isnan(row.values[a]) && row.values[a] != 0.0F &&
                                          row.values[a] != 1.0F);
        if (one.ordered)
            one.values.assign(objects.shape.values(), std::numeric_limits<float>::quiet_NaN());
        else
            one.truth.assign(objects.shape.values(), kPairUndefined);
        for (const auto& row : file.rows) {
            const auto found = place.find(row.example);
            if (found == place.end()) continue;
            const auto at = (found->second * n + static_cast<std::size_t>(row.i)) * n +
                            static_cast<std::size_t>(row.j);
            const float value = row.values[a];
            if (one.ordered)
                one.values[at] = value;
            else if (!std::isnan(value))
                one.truth[at] = value > 0 ? kPairYes : kPairNo;
        }
        attributes.all.push_back(std::move(one));
    }
}

void addAttributes(PairAttributes& attributes, const PairObjects& objects, const ServedSet& data) {
    const std::size_t n = objects.shape.objects;
    for (const auto& name : data.pairAttributes()) {
        std::vector<float> values;
        for (const auto example : objects.examples) {
            const auto own = data.pairAttribute(name, example, static_cast<std::int64_t>(n));
            values.insert(values.end(), own.begin(), own.end());
        }
        PairAttribute one{name, false, {}, {}};
        one.ordered = std::any_of(values.begin(), values.end(), [](float value) {
            return !std::isnan(value) && value != 0.0F && value != 1.0F;
        });
        if (!one.ordered)
            for (const float value : values)
                one.truth.push_back(std::isnan(value) ? kPairUndefined
                                    : value > 0       ? kPairYes
                                                      : kPairNo);
        else
            one.values = std::move(values);
        attributes.all.push_back(std::move(one));
    }
}

}  // namespace relascope::core
