// SPDX-License-Identifier: GPL-3.0-or-later
// The changes of a text by a tokenizer.json before the text is divided (formats.md section 7).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/split_pattern.h"

namespace relascope::core {

/// One change. Bytes that are not UTF-8 stay as they are.
struct NormalizerStep {
    enum class Kind { Nfc, Nfd, Nfkc, Nfkd, Lowercase, StripAccents, Strip, Prepend, Replace };
    Kind kind = Kind::Nfc;
    std::string text = {};                     ///< put before a text, or in place of a match
    std::optional<SplitPattern> pattern = {};  ///< for Replace
    bool left = true, right = true;            ///< the sides of Strip
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
    /// pattern takes too many steps for.
    std::string apply(std::string_view text) const;
    /// A key that differs between normalizers that change texts differently.
    std::string key() const;

private:
    std::vector<NormalizerStep> m_steps;
};

}  // namespace relascope::core
