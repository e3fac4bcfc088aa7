// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/token_hidden.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace relascope::core {

HiddenWords::HiddenWords(std::shared_ptr<const TokenDataset> text, std::int64_t mask)
    : m_text(std::move(text)), m_mask(mask) {}

std::int64_t HiddenWords::hiddenEach() const {
    return (15 * context() + 99) / 100;
}

std::vector<std::size_t> HiddenWords::placesOf(std::int64_t index) const {
    // Whole numbers alone, so that every library draws the same.
    std::mt19937_64 draw(static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15ULL);
    std::vector<std::size_t> places(static_cast<std::size_t>(context()));
    std::iota(places.begin(), places.end(), std::size_t{0});
    const auto count = static_cast<std::size_t>(hiddenEach());
    for (std::size_t i = 0; i < count; ++i)
        std::swap(places[i], places[i + draw() % (places.size() - i)]);
    places.resize(count);
    return places;
}

void HiddenWords::readHidden(std::int64_t index, std::span<std::int64_t> tokens,
                             std::span<std::int64_t> targets) const {
    std::vector<std::int64_t> window(static_cast<std::size_t>(context()) + 1);
    m_text->read(index, window);
    std::copy_n(window.begin(), tokens.size(), tokens.begin());
    std::fill(targets.begin(), targets.end(), -1);
    for (const auto place : placesOf(index)) targets[place] = tokens[place], tokens[place] = m_mask;
}

ProbeSample HiddenWords::sample(std::int64_t index) const {
    auto sample = m_text->sample(index);
    auto& source = sample.source;
    const auto name = tokenizer()
                          ? std::string(tokenizer()->piece(static_cast<std::int32_t>(m_mask)))
                          : std::to_string(m_mask);
    for (const auto place : placesOf(index)) {
        if (place < source.tokens.size()) source.tokens[place] = m_mask;
        if (place < source.labels.size()) source.labels[place] = name;
    }
    return sample;
}

}  // namespace relascope::core
