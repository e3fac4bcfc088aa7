// SPDX-License-Identifier: GPL-3.0-or-later
// The words of Model::head: where the classes of a model come from whose answer are features.
#pragma once

#include <charconv>
#include <string>

#include "types/error.h"

namespace relascope {

struct HeadChoice {
    enum class Kind {
        Automatic,  ///< means where there are labelled pictures, else none
        None,       ///< the answer are features
        Means,      ///< the nearest mean of labelled pictures
        Ridge,      ///< regression of their classes
        Texts,      ///< the names of their classes, read by the model's text tower
        File        ///< a head, features of texts, or texts
    };
    Kind kind = Kind::Automatic;
    double ridge = 1.0;  ///< the penalty; 0: the best on a fifth of the pictures
    std::string file;

    bool isFile() const { return kind == Kind::File; }
    /// Whether it is fitted on labelled pictures.
    bool isFitted() const { return kind == Kind::Means || kind == Kind::Ridge; }
};

/// "", "none", "means", "ridge", "ridge:0.1", "ridge:best", "texts", or the name of a file. Throws
/// OptionError for a penalty that is no number above 0.
inline HeadChoice headChoice(const std::string& word) {
    using Kind = HeadChoice::Kind;
    if (word.empty()) return {};
    if (word == "none") return {Kind::None};
    if (word == "means") return {Kind::Means};
    if (word == "texts") return {Kind::Texts};
    if (word == "ridge") return {Kind::Ridge};
    const std::string ridge = "ridge:";
    if (!word.starts_with(ridge)) return {Kind::File, 1.0, word};
    if (word == ridge + "best") return {Kind::Ridge, 0.0};
    HeadChoice choice{Kind::Ridge};
    const auto* end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data() + ridge.size(), end, choice.ridge);
    if (error != std::errc() || rest != end || !(choice.ridge > 0.0 && choice.ridge < 1e12))
        throw OptionError("head", "'" + word.substr(0, 60) +
                                      "' has no penalty above 0; give ridge:0.1, ridge:best, or a "
                                      "file as ./" +
                                      word.substr(0, 60));
    return choice;
}

}  // namespace relascope
