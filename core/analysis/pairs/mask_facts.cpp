// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/mask_facts.h"

#include <algorithm>
#include <map>

#include "types/error.h"
#include "types/option_groups.h"

namespace relascope::core {
namespace {

constexpr std::size_t kSameObject = 0, kSameKind = 1, kFirstFact = 2;  // of maskFactNames()

const ObjectMask::Object* objectOf(const std::vector<ObjectMask::Object>& objects,
                                   std::uint16_t number) {
    const auto found = std::find_if(objects.begin(), objects.end(),
                                    [&](const auto& one) { return one.number == number; });
    return found == objects.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::uint16_t> objectsOfPatches(const ObjectMask& mask, std::size_t rows,
                                            std::size_t columns) {
    const auto wide = static_cast<std::size_t>(mask.width) / columns,
               high = static_cast<std::size_t>(mask.height) / rows;
    std::vector<std::uint16_t> objects;
    for (std::size_t patch = 0; patch < rows * columns; ++patch) {
        std::map<std::uint16_t, std::size_t> pixels;
        for (std::size_t y = 0; y < high; ++y)
            for (std::size_t x = 0; x < wide; ++x)
                ++pixels[mask.numbers[(patch / columns * high + y) *
                                          static_cast<std::size_t>(mask.width) +
                                      patch % columns * wide + x]];
        std::uint16_t object = 0;
        for (const auto& [number, count] : pixels)
            if (number != ObjectMask::kNotCounted && 2 * count > wide * high) object = number;
        objects.push_back(object);
    }
    return objects;
}

std::vector<std::string> maskFactNames(const MaskFacts& about) {
    std::vector<std::string> names = {"same object"};
    if (!about.facts.empty()) names.emplace_back("same kind");
    for (const auto& fact : about.facts) names.push_back("same " + fact.name);
    return names;
}

std::vector<std::string> maskFactNames(const Dataset& data) {
    const auto* images = dynamic_cast<const ImageDataset*>(&data);
    return images && images->maskFacts() ? maskFactNames(*images->maskFacts())
                                         : std::vector<std::string>();
}

void maskTruth(std::size_t fact, std::int64_t example, const std::vector<std::uint16_t>& numbers,
               const std::vector<ObjectMask::Object>& objects, std::uint8_t* truth) {
    std::vector<const ObjectMask::Object*> shown;
    for (const auto number : numbers) {
        const auto* object = objectOf(objects, number);
        if (number > 0 && !object)
            throw OptionError("data", "example " + std::to_string(example) + " has the object " +
                                          std::to_string(number) +
                                          " in its mask and no row for it");
        shown.push_back(object);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i)
        for (std::size_t j = 0; j < numbers.size(); ++j) {
            if (i == j || numbers[i] == 0 || numbers[j] == 0) continue;
            bool yes = numbers[i] == numbers[j];
            if (fact != kSameObject) {
                if (yes) continue;
                const auto &a = shown[i]->facts, &b = shown[j]->facts;
                yes =
                    fact == kSameKind ? a == b : a.at(fact - kFirstFact) == b.at(fact - kFirstFact);
            }
            truth[i * numbers.size() + j] = yes ? kPairYes : kPairNo;
        }
}

void addMaskFacts(PairAttributes& attributes, const PairObjects& objects, const ModelOptions& model,
                  const Dataset& data, const std::string& name) {
    const auto names = maskFactNames(data);
    const auto* grid = model.find<ImageInput>();
    if (names.empty() || !grid) return;
    const auto& images = dynamic_cast<const ImageDataset&>(data);
    const auto rows = static_cast<std::size_t>(grid->gridRows()),
               columns = static_cast<std::size_t>(grid->gridColumns());
    const auto cells = objects.shape.objects * objects.shape.objects;
    for (std::size_t fact = 0; fact < names.size(); ++fact) {
        if (!name.empty() && name != names[fact]) continue;
        PairAttribute attribute{names[fact], false, {}, {}};
        attribute.truth.assign(objects.shape.values(), kPairUndefined);
        for (std::size_t e = 0; e < objects.examples.size(); ++e) {
            const auto mask = images.mask(objects.examples[e]);
            maskTruth(fact, objects.examples[e], objectsOfPatches(mask, rows, columns),
                      mask.objects, attribute.truth.data() + e * cells);
        }
        attributes.all.push_back(std::move(attribute));
    }
}

}  // namespace relascope::core
