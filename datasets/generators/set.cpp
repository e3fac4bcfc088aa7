// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/set.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "datasets/generators/cards.h"

namespace relascope::datasets {
namespace {

// Independent random streams of one seed. Each example has a stream, from DrawStream on.
enum SetsStream : std::uint64_t {
    KindStream = 201,
    SetStream,
    OtherStream,
    PairStream,
    DrawStream
};

using Triple = std::array<int, 3>;
constexpr std::array<std::array<std::size_t, 2>, 3> kPairsOfThree = {{{0, 1}, {0, 2}, {1, 2}}};

// All triples a < b < c of cards, divided into SETs and others.
struct AllTriples {
    std::vector<Triple> sets, others;
    AllTriples() {
        for (int a = 0; a < kCards; ++a)
            for (int b = a + 1; b < kCards; ++b)
                for (int c = b + 1; c < kCards; ++c)
                    (isSet(a, b, c) ? sets : others).push_back({a, b, c});
    }
};
const AllTriples& allTriples() {
    static const AllTriples all;
    return all;
}

// One of the triples in the range of the split, in the order of a permutation.
const Triple& drawn(const std::vector<Triple>& triples, const Permutation& order,
                    const SetSplit& split, SplitMix& random) {
    const std::uint64_t first = triples.size() * static_cast<std::uint64_t>(split.from) / 100,
                        end = triples.size() * static_cast<std::uint64_t>(split.to) / 100;
    return triples[static_cast<std::size_t>(order(first + random.below64(end - first)))];
}

void putVectors(const core::CardTable& table, std::span<const int> cards,
                std::span<float> objects) {
    auto out = objects.begin();
    for (const int card : cards)
        out = std::copy_n(table.vectors.begin() + card * table.width, table.width, out);
}

// Four bits: which attributes two cards share.
void putShared(int first, int second, std::span<float> bits) {
    for (int a = 0; a < kCardAttributes; ++a)
        bits[static_cast<std::size_t>(a)] =
            cardValue(first, a) == cardValue(second, a) ? 1.0f : 0.0f;
}

DatasetInfo infoOf(const std::string& task, const SetSplit& split, std::uint64_t seed) {
    DatasetInfo info;
    info.task = task;
    info.name = task + ", " + split.name;
    info.origin = "generated, seed " + std::to_string(seed);
    info.size = split.size;
    info.channels = info.height = info.width = 0;
    return info;
}

std::uint64_t numberOf(std::int64_t index, const SetSplit& split, const DatasetInfo& info) {
    if (index < 0 || index >= split.size)
        throw std::out_of_range(info.name + " has no example " + std::to_string(index));
    return static_cast<std::uint64_t>(split.first + index);
}

ObjectFacts factsOfCards(std::int64_t cards) {
    ObjectFacts about;
    for (const auto& name : cardAttributeNames()) about.facts.push_back({name, false});
    about.objects = cards;
    return about;
}

void putFacts(std::span<const int> cards, std::span<std::int32_t> facts) {
    std::size_t at = 0;
    for (const int card : cards)
        for (int a = 0; a < kCardAttributes; ++a) facts[at++] = cardValue(card, a);
}

void showCards(ProbeSequence& source, std::span<const int> cards) {
    for (const int card : cards) {
        source.labels.push_back(cardWord(card));
        source.pictures.push_back(cardPicture(card));
    }
}

}  // namespace

SetTriples::SetTriples(std::shared_ptr<const core::CardTable> table, std::uint64_t seed,
                       SetSplit split)
    : m_table(std::move(table)),
      m_seed(seed),
      m_split(std::move(split)),
      m_info(infoOf("sets", m_split, seed)),
      m_order(kPool, seed, KindStream),
      m_sets(allTriples().sets.size(), seed, SetStream),
      m_others(allTriples().others.size(), seed, OtherStream) {
    m_info.classNames = {"no SET", "SET"};
    m_info.targets = TargetKind::Class;
}

core::ObjectDataset::Shape SetTriples::shape() const {
    return {3, m_table ? m_table->width : kCardAttributes, 1};
}

std::array<int, 3> SetTriples::cards(std::int64_t index) const {
    const auto number = numberOf(index, m_split, m_info);
    SplitMix random(m_seed, DrawStream + number);
    auto cards = m_order(number) < kPool / 2
                     ? drawn(allTriples().sets, m_sets, m_split, random)
                     : drawn(allTriples().others, m_others, m_split, random);
    random.shuffle(cards);
    return cards;
}

void SetTriples::read(std::int64_t index, std::span<float> objects,
                      std::span<float> targets) const {
    const auto three = cards(index);
    targets[0] = isSet(three[0], three[1], three[2]) ? 1.0f : 0.0f;
    if (m_table) return putVectors(*m_table, three, objects);
    for (std::size_t pair = 0; pair < 3; ++pair)
        putShared(three[kPairsOfThree[pair][0]], three[kPairsOfThree[pair][1]],
                  objects.subspan(pair * kCardAttributes, kCardAttributes));
}

const ObjectFacts* SetTriples::objectFacts() const {
    static const ObjectFacts about = factsOfCards(3);
    return m_table ? &about : nullptr;
}
void SetTriples::readFacts(std::int64_t index, std::span<std::int32_t> facts) const {
    putFacts(cards(index), facts);
}

ProbeSample SetTriples::sample(std::int64_t index) const {
    ProbeSample s;
    s.origin = m_split.name + " " + std::to_string(index);
    s.source.width = static_cast<int>(shape().width);
    s.source.vectors.resize(static_cast<std::size_t>(3 * shape().width));
    float label = 0.0f;
    read(index, s.source.vectors, {&label, 1});
    s.label = static_cast<std::int64_t>(label);
    const auto three = cards(index);
    if (m_table) {
        showCards(s.source, three);
        return s;
    }
    for (const auto& [i, j] : kPairsOfThree) {
        s.source.labels.push_back("cards " + std::to_string(i + 1) + " and " +
                                  std::to_string(j + 1));
        s.source.pictures.push_back(cardPairPicture(three[i], three[j]));
    }
    return s;
}

CardPairs::CardPairs(std::shared_ptr<const core::CardTable> table, std::uint64_t seed,
                     SetSplit split)
    : m_table(std::move(table)),
      m_split(std::move(split)),
      m_info(infoOf("attributes", m_split, seed)),
      m_order(kPool, seed, PairStream) {
    m_info.classNames.assign(cardAttributeNames().begin(), cardAttributeNames().end());
    m_info.targets = TargetKind::MultiLabel;
}

core::ObjectDataset::Shape CardPairs::shape() const {
    return {2, m_table->width, kCardAttributes};
}

std::array<int, 2> CardPairs::cards(std::int64_t index) const {
    const auto number = static_cast<int>(m_order(numberOf(index, m_split, m_info)));
    const int first = number / (kCards - 1), second = number % (kCards - 1);
    return {first, second < first ? second : second + 1};
}

void CardPairs::read(std::int64_t index, std::span<float> objects, std::span<float> targets) const {
    const auto two = cards(index);
    putVectors(*m_table, two, objects);
    putShared(two[0], two[1], targets);
}

const ObjectFacts* CardPairs::objectFacts() const {
    static const ObjectFacts about = factsOfCards(2);
    return &about;
}
void CardPairs::readFacts(std::int64_t index, std::span<std::int32_t> facts) const {
    putFacts(cards(index), facts);
}

ProbeSample CardPairs::sample(std::int64_t index) const {
    ProbeSample s;
    s.origin = m_split.name + " " + std::to_string(index);
    s.source.width = static_cast<int>(m_table->width);
    s.source.vectors.resize(static_cast<std::size_t>(2 * m_table->width));
    std::array<float, kCardAttributes> bits{};
    read(index, s.source.vectors, bits);
    showCards(s.source, cards(index));
    return s;
}

}  // namespace relascope::datasets
