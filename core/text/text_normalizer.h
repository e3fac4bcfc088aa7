// SPDX-License-Identifier: GPL-3.0-or-later
// The changes of a text by a tokenizer.json before the text is divided (formats.md section 7).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/charsmap.h"
#include "text/split_pattern.h"

namespace relascope::core {

/// One change. Bytes that are not UTF-8 stay as they are.
struct NormalizerStep {
    enum class Kind {
        Nfc,
        Nfd,
        Nfkc,
        Nfkd,
        Lowercase,
        StripAccents,
        Strip,
        Prepend,
        Replace,
        Bert,
        Charsmap
    };
    /// What BERT's normalizer does, by the categories of Unicode 8.
    struct Bert {
        bool clean = true;    ///< takes controls away, and makes white space a blank
        bool chinese = true;  ///< puts blanks around Chinese characters
        bool accents = true;  ///< takes nonspacing marks away, after NFD
        bool lowercase = true;
    };
    Kind kind = Kind::Nfc;
    std::string text = {};                     ///< put before a text, or in place of a match
    std::optional<SplitPattern> pattern = {};  ///< for Replace
    bool left = true, right = true;            ///< the sides of Strip
    Bert bert = {};
    std::shared_ptr<const core::Charsmap> charsmap = {};
};

/// A name with its letters composed (NFC): "a" and a diaeresis behind it are one character, as on
/// Linux and Windows, whatever system packed the files. Bytes that are not UTF-8 stay as they are.
std::string composedName(std::string_view name);

class TextNormalizer {
public:
    TextNormalizer() = default;
    explicit TextNormalizer(std::vector<NormalizerStep> steps) : m_steps(std::move(steps)) {}
    bool empty() const { return m_steps.empty(); }
    /// The text after all steps, in the tables of utf8proc. Throws FileError for a text that a
    /// pattern takes too many steps for, or that gets too long.
    std::string apply(std::string_view text) const;
    /// A key that differs between normalizers that change texts differently.
    std::string key() const;

private:
    std::vector<NormalizerStep> m_steps;
};

}  // namespace relascope::core
