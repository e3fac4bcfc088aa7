// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/pairs.h"

#include <algorithm>
#include <stdexcept>

namespace relascope::datasets {
namespace {

enum PairsStream : std::uint64_t { PairsObjectStream = 101, PairsPairStream };

constexpr std::int64_t kMostNumbers = 100'000'000;

}  // namespace

OrderedObjects randomObjects(std::int64_t count, std::int64_t width, std::uint64_t seed) {
    if (count > kMostNumbers / width)
        throw OptionError("data.objects", std::to_string(count) + " objects of " +
                                              std::to_string(width) +
                                              " values are too many; at most 100 million are "
                                              "supported: lower data.objects or data.dim");
    OrderedObjects objects{count, width, {}, false};
    objects.vectors.resize(static_cast<std::size_t>(count * width));
    SplitMix random(seed, PairsObjectStream);
    for (auto& x : objects.vectors) x = static_cast<float>(random.gaussian());
    return objects;
}

OrderedObjects sortingObjects(std::uint64_t seed) {
    const SortingObjects objects(seed);
    OrderedObjects ordered{SortingObjects::kCount, SortingObjects::kWidth, {}, true};
    // Without a permutation, the position of an object is its number.
    for (int object = 0; object < SortingObjects::kCount; ++object) {
        const auto vector = objects.vector(object);
        ordered.vectors.insert(ordered.vectors.end(), vector.begin(), vector.end());
    }
    return ordered;
}

Pairs::Pairs(std::shared_ptr<const OrderedObjects> objects, std::uint64_t seed, std::int64_t first,
             std::int64_t size, const std::string& split)
    : m_objects(std::move(objects)),
      m_first(first),
      m_split(split),
      m_order(static_cast<std::uint64_t>(m_objects->count * (m_objects->count - 1)), seed,
              PairsPairStream) {
    m_info.task = m_objects->sorting ? "sorting-order" : "order";
    m_info.name = m_info.task + ", " + split;
    m_info.origin = "generated, seed " + std::to_string(seed);
    m_info.size = size;
    m_info.channels = m_info.height = m_info.width = 0;
    m_info.classNames = {"after", "before"};
    m_info.targets = TargetKind::Class;
    m_facts.facts = {{"order", true}};
    if (m_objects->sorting) m_facts.facts.insert(m_facts.facts.end(), {{"A", true}, {"B", true}});
    m_facts.objects = 2;
}

std::pair<std::int64_t, std::int64_t> Pairs::pair(std::int64_t index) const {
    if (index < 0 || index >= m_info.size)
        throw std::out_of_range(m_info.name + " has no pair " + std::to_string(index));
    const auto number =
        static_cast<std::int64_t>(m_order(static_cast<std::uint64_t>(m_first + index)));
    const std::int64_t i = number / (m_objects->count - 1), j = number % (m_objects->count - 1);
    return {i, j < i ? j : j + 1};
}

void Pairs::read(std::int64_t index, std::span<float> objects, std::span<float> targets) const {
    const auto [i, j] = pair(index);
    const auto width = m_objects->width;
    const auto* vectors = m_objects->vectors.data();
    std::copy_n(vectors + i * width, width, objects.begin());
    std::copy_n(vectors + j * width, width, objects.begin() + width);
    targets[0] = i < j ? 1.0f : 0.0f;
}

void Pairs::readFacts(std::int64_t index, std::span<std::int32_t> facts) const {
    const auto [first, second] = pair(index);
    std::size_t at = 0;
    for (const auto rank : {first, second}) {
        facts[at++] = static_cast<std::int32_t>(rank);
        if (!m_objects->sorting) continue;
        facts[at++] = static_cast<std::int32_t>(rank / SortingObjects::kValuesOfB);
        facts[at++] = static_cast<std::int32_t>(rank % SortingObjects::kValuesOfB);
    }
}

ProbeSample Pairs::sample(std::int64_t index) const {
    ProbeSample s;
    s.origin = m_split + " " + std::to_string(index);
    s.source.width = static_cast<int>(m_objects->width);
    s.source.vectors.resize(static_cast<std::size_t>(2 * m_objects->width));
    float label = 0.0f;
    read(index, s.source.vectors, {&label, 1});
    s.label = static_cast<std::int64_t>(label);
    const auto [i, j] = pair(index);
    for (const auto object : {static_cast<int>(i), static_cast<int>(j)}) {
        if (!m_objects->sorting) {
            s.source.labels.push_back("object " + std::to_string(object + 1));
            continue;
        }
        s.source.labels.push_back(SortingObjects::word(object));
        s.source.pictures.push_back(SortingObjects::picture(object));
    }
    return s;
}

}  // namespace relascope::datasets
