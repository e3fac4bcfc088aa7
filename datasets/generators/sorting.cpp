// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/sorting.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "datasets/generators/figures.h"

namespace relascope::datasets {
namespace {

// Independent random streams of one seed.
enum SortingStream : std::uint64_t {
    SortingObjectStream = 1,
    OrderStream,
    PoolStream,
    RestStream,
    TrialStream
};

// The number of ordered choices of more objects does not fit into 62 bits; the rest of a sequence
// is random, as its beginning is already unique.
constexpr int kCounted = 11;

std::uint64_t choices(int length) {
    std::uint64_t count = 1;
    for (int i = 0; i < std::min(length, kCounted); ++i)
        count *= static_cast<std::uint64_t>(SortingObjects::kCount - i);
    return count;
}

std::string ordinal(std::int64_t n) {
    const char* ending = n % 10 == 1 && n % 100 != 11   ? "st"
                         : n % 10 == 2 && n % 100 != 12 ? "nd"
                         : n % 10 == 3 && n % 100 != 13 ? "rd"
                                                        : "th";
    return std::to_string(n) + ending;
}

}  // namespace

SortingObjects::SortingObjects(std::uint64_t seed, bool permuted) {
    SplitMix random(seed, SortingObjectStream);
    std::array<float, kValuesOfA * kWidthOfA> a{};
    std::array<float, kValuesOfB*(kWidth - kWidthOfA)> b{};
    for (auto& x : a) x = static_cast<float>(random.gaussian());
    for (auto& x : b) x = static_cast<float>(random.gaussian());
    for (std::size_t object = 0; object < kCount; ++object) {
        float* out = &m_vectors[object * kWidth];
        out = std::copy_n(&a[object / kValuesOfB * kWidthOfA], kWidthOfA, out);
        std::copy_n(&b[object % kValuesOfB * (kWidth - kWidthOfA)], kWidth - kWidthOfA, out);
    }
    std::iota(m_placeOfA.begin(), m_placeOfA.end(), 0);
    SplitMix order(seed, OrderStream);
    while (permuted && std::is_sorted(m_placeOfA.begin(), m_placeOfA.end()))
        order.shuffle(m_placeOfA);
}

std::string SortingObjects::word(int object) {
    return "A" + std::to_string(object / kValuesOfB + 1) + " B" +
           std::to_string(object % kValuesOfB + 1);
}

Image SortingObjects::picture(int object) {
    return objectTile(object / kValuesOfB, std::to_string(object % kValuesOfB + 1));
}

std::string SortingObjects::order() const {
    std::string text;
    for (int place = 0; place < kValuesOfA; ++place)
        for (std::size_t a = 0; a < kValuesOfA; ++a)
            if (m_placeOfA[a] == place)
                text += (text.empty() ? "A" : " < A") + std::to_string(a + 1);
    return text;
}

void SortingObjects::transform(double strength, SplitMix& random) {
    std::array<double, kWidth * kWidth> phi{};
    for (auto& x : phi) x = strength * random.gaussian();
    for (std::size_t object = 0; object < kCount; ++object) {
        float* o = &m_vectors[object * kWidth];
        std::array<double, kWidth> image{};
        for (std::size_t i = 0; i < kWidth; ++i)
            for (std::size_t j = 0; j < kWidth; ++j)
                image[i] += phi[i * kWidth + j] * static_cast<double>(o[j]);
        std::transform(image.begin(), image.end(), o,
                       [](double x) { return static_cast<float>(x); });
    }
}

void SortingObjects::disturb(double strength, SplitMix& random) {
    for (auto& x : m_vectors)
        x = static_cast<float>(static_cast<double>(x) + strength * random.gaussian());
}

Sorting::Sorting(SortingOptions options)
    : m_options(std::move(options)),
      m_pool(choices(m_options.length), m_options.seed, PoolStream + 16 * m_options.pool) {
    if (m_options.length < 1 || m_options.length > SortingObjects::kCount ||
        m_options.vocabulary <= m_options.length)
        throw std::invalid_argument("a sequence has 1 to 48 objects and one token for each");
    const SortingObjects plain(m_options.seed, m_options.permuted);
    using Corruption = SortingOptions::Corruption;
    const int trials = m_options.corruption == Corruption::None ? 1 : SortingOptions::kTrials;
    for (int trial = 0; trial < trials; ++trial) {
        m_objects.push_back(plain);
        // Every trial of every level has its own draw.
        const auto level = static_cast<std::uint64_t>(std::llround(1000.0 * m_options.strength));
        SplitMix random(m_options.seed + 2 * level + (m_options.corruption == Corruption::Linear),
                        TrialStream + 16 * static_cast<std::uint64_t>(trial));
        if (m_options.corruption == Corruption::Linear)
            m_objects.back().transform(m_options.strength, random);
        else if (m_options.corruption == Corruption::Noise)
            m_objects.back().disturb(m_options.strength, random);
    }
    m_info.task = m_options.permuted ? "permuted-argsort" : "argsort";
    m_info.name = m_info.task + ", " + m_options.name;
    m_info.origin = "generated, seed " + std::to_string(m_options.seed);
    m_info.size = m_options.size;
    m_info.channels = m_info.height = m_info.width = 0;
    m_info.targets = TargetKind::Tokens;
    m_facts.facts = {{"A", true}, {"B", true}, {"order", true}};
    m_facts.objects = m_options.length;
    if (m_options.permuted) m_info.note = "The order of A is " + plain.order() + ".";
}

core::SequenceDataset::Shape Sorting::shape() const {
    Shape s;
    s.source = s.target = m_options.length;
    s.width = SortingObjects::kWidth;
    s.targetVocabulary = m_options.vocabulary;
    s.start = m_options.vocabulary - 1;
    return s;
}

std::vector<int> Sorting::sequence(std::int64_t index) const {
    if (index < 0 || index >= m_info.size)
        throw std::out_of_range(m_info.name + " has no sequence " + std::to_string(index));
    const auto number = static_cast<std::uint64_t>(m_options.first + index);
    std::vector<int> objects(SortingObjects::kCount);
    std::iota(objects.begin(), objects.end(), 0);
    // The choice with that number, object by object from the remaining ones.
    std::uint64_t choice = m_pool(number);
    SplitMix random(m_options.seed ^ (number << 20), RestStream + 16 * m_options.pool);
    for (int i = 0; i < m_options.length; ++i) {
        const auto left = static_cast<std::uint64_t>(SortingObjects::kCount - i);
        const std::uint64_t next = i < kCounted ? choice % left : random.below64(left);
        choice /= left;
        const auto at = static_cast<std::size_t>(i);
        std::swap(objects[at], objects[at + static_cast<std::size_t>(next)]);
    }
    objects.resize(static_cast<std::size_t>(m_options.length));
    return objects;
}

const SortingObjects& Sorting::objects(std::int64_t index) const {
    const auto trials = static_cast<std::int64_t>(m_objects.size());
    return m_objects[static_cast<std::size_t>(index * trials / m_info.size)];
}

std::vector<std::int64_t> Sorting::answerTo(const std::vector<int>& sequence) const {
    std::vector<std::int64_t> answer(sequence.size());
    std::iota(answer.begin(), answer.end(), 0);
    const auto place = [&](std::int64_t position) {
        return m_objects[0].place(sequence[static_cast<std::size_t>(position)]);
    };
    std::sort(answer.begin(), answer.end(),
              [&](std::int64_t a, std::int64_t b) { return place(a) < place(b); });
    return answer;
}

void Sorting::read(std::int64_t index, std::span<float> vectors, std::span<std::int64_t>,
                   std::span<std::int64_t> answer) const {
    const auto objects = sequence(index);
    const auto& all = this->objects(index);
    for (std::size_t i = 0; i < objects.size(); ++i)
        std::ranges::copy(
            all.vector(objects[i]),
            vectors.begin() + static_cast<std::ptrdiff_t>(i * SortingObjects::kWidth));
    std::ranges::copy(answerTo(objects), answer.begin());
}

void Sorting::readFacts(std::int64_t index, std::span<std::int32_t> facts) const {
    const auto& places = objects(index);
    std::size_t at = 0;
    for (const int object : sequence(index)) {
        const int place = places.place(object);
        facts[at++] = place / SortingObjects::kValuesOfB;
        facts[at++] = place % SortingObjects::kValuesOfB;
        facts[at++] = place;
    }
}

ProbeSample Sorting::sample(std::int64_t index) const {
    ProbeSample s;
    s.origin = m_options.name + " " + std::to_string(index);
    const auto objects = sequence(index);
    s.source.width = SortingObjects::kWidth;
    for (const int object : objects) {
        const auto vector = this->objects(index).vector(object);
        s.source.vectors.insert(s.source.vectors.end(), vector.begin(), vector.end());
        s.source.labels.push_back(SortingObjects::word(object));
        s.source.pictures.push_back(SortingObjects::picture(object));
    }
    const auto answer = answerTo(objects);
    s.target.tokens.push_back(m_options.vocabulary - 1);
    s.target.labels.emplace_back("start");
    for (std::size_t i = 0; i + 1 < answer.size(); ++i) {
        s.target.tokens.push_back(answer[i]);
        s.target.labels.push_back(ordinal(answer[i] + 1));
    }
    return s;
}

}  // namespace relascope::datasets
