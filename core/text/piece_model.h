// SPDX-License-Identifier: GPL-3.0-or-later
// Models of pieces besides byte pairs: how a word is cut into pieces of a vocabulary.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/piece_trie.h"

namespace relascope::core {

/// Immutable, for all threads. Takes any bytes.
class PieceModel {
public:
    virtual ~PieceModel() = default;
    /// Appends the ids of a word, which is not empty.
    virtual void encode(std::string_view word, std::vector<std::int32_t>& ids) const = 0;
    /// The id of what has no piece; none where bytes stand for all of it.
    virtual std::optional<std::int32_t> unknown() const = 0;
    /// Differs between models of the same pieces that cut words differently.
    virtual std::string key() const = 0;
};

/// The longest piece each time (Schuster and Nakajima, "Japanese and Korean Voice Search", 2012, as
/// BERT reads it): a word that cannot be cut so, or is too long, is one unknown token.
class WordPieces : public PieceModel {
public:
    struct Parts {
        std::vector<std::string> pieces;  ///< by id; empty for an id without one
        std::string prefix = "##";        ///< begins the pieces inside of words
        std::int32_t unknown = 0;
        std::size_t longest = 100;  ///< characters of a word
    };
    explicit WordPieces(Parts parts);
    void encode(std::string_view word, std::vector<std::int32_t>& ids) const override;
    std::optional<std::int32_t> unknown() const override { return m_unknown; }
    std::string key() const override;

private:
    PieceTrie m_begin, m_inside;  // pieces inside a word are without their prefix
    std::string m_prefix;
    std::int32_t m_unknown;
    std::size_t m_longest;
};

/// The cut with the best sum of scores (Kudo, "Subword Regularization", 2018): scores are
/// logarithms of probabilities. Linear in the length of the word, in time and memory.
class Unigram : public PieceModel {
public:
    struct Parts {
        std::vector<std::string> pieces;  ///< by id
        std::vector<double> scores;       ///< finite
        std::optional<std::int32_t> unknown;
        /// The ids of "<0x00>" to "<0xFF>", which stand for what has no piece; -1 for none.
        std::optional<std::array<std::int32_t, 256>> bytes;
    };
    explicit Unigram(Parts parts);
    void encode(std::string_view word, std::vector<std::int32_t>& ids) const override;
    std::optional<std::int32_t> unknown() const override {
        const bool all = m_bytes && *std::min_element(m_bytes->begin(), m_bytes->end()) >= 0;
        return all ? std::nullopt : m_unknown;
    }
    std::string key() const override;

private:
    void putUnknown(std::string_view text, std::vector<std::int32_t>& ids) const;

    PieceTrie m_trie;
    std::vector<double> m_scores;
    double m_unknownScore = 0.0;
    std::optional<std::int32_t> m_unknown;
    std::optional<std::array<std::int32_t, 256>> m_bytes;
};

}  // namespace relascope::core
