// SPDX-License-Identifier: GPL-3.0-or-later
// The 81 cards of the game SET, drawn by this program (ABS 4.5).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "train/card_network.h"
#include "types/image.h"

namespace relascope::datasets {

// The vectors of the 81 cards from the card network (ABS 4.5).

/// The table of that seed and width. It is trained on first use and kept while the program runs;
/// concurrent callers wait for it. Throws as trainCardNetwork().
std::shared_ptr<const core::CardTable> cardTable(std::int64_t width, std::uint64_t seed,
                                                 const core::ProgressCallback& progress = {},
                                                 std::stop_token stop = {});

inline constexpr int kCards = 81;
/// A card is in landscape format, with upright symbols next to each other.
inline constexpr int kCardWidth = 70, kCardHeight = 50;

/// Attributes, in this order: number (1, 2, 3), colour (red, green, purple), pattern (solid,
/// striped, open), shape (oval, squiggle, diamond).
inline constexpr int kCardAttributes = 4, kCardValues = 3;
/// The pools of data sets: triples of one seed, and ordered pairs of different cards.
inline constexpr std::int64_t kTriplePool = 10000, kCardPairs = 81 * 80;
/// The names of the attributes: "number", "colour", "pattern", "shape".
const std::array<std::string, kCardAttributes>& cardAttributeNames();

/// The value, 0 .. 2, of attribute 0 .. 3. A card's number is 27 number + 9 colour + 3 pattern +
/// shape, in these values.
int cardValue(int card, int attribute);
int cardOf(const std::array<int, kCardAttributes>& values);

/// The picture of a card, [50, 70, 3], drawn once. Throws std::out_of_range for an invalid card.
const Image& cardPicture(int card);
/// Two cards next to each other, [50, 142, 3].
Image cardPairPicture(int first, int second);
/// A card in words: "2 red striped squiggles".
std::string cardWord(int card);

/// The card that makes a SET with two different ones.
int thirdCard(int first, int second);
/// Whether each attribute is equal on all three cards or different on all, for three different
/// cards.
bool isSet(int a, int b, int c);

}  // namespace relascope::datasets
