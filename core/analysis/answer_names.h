// SPDX-License-Identifier: GPL-3.0-or-later
// The answers of a model by name: classes, tokens, elements of a sequence. Does not include torch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "text/tokenizer.h"
#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope::core {

class AnswerNames {
public:
    /// `classNames` by id, from the data, and `tokenizer` may be empty. A sample of two sequences
    /// gives the names of the elements that occur in it.
    AnswerNames(const ModelOptions& options, TokenizerPtr tokenizer,
                std::vector<std::string> classNames, const ProbeSample& sample = {});

    std::int64_t size() const { return m_size; }
    /// The class's name, or the token's text (pieceText); the id where none have one, "id:N" where
    /// others do.
    std::string of(std::int64_t id) const;
    /// The id of a class name, of the text of one token, of a number or of "id:N", in this order.
    /// Throws OptionError(`option`, ...) naming what there is.
    std::int64_t find(const std::string& word, const std::string& option) const;

private:
    std::int64_t m_size;
    TokenizerPtr m_tokenizer;
    std::map<std::int64_t, std::string> m_names;
};

/// The input at each position that is answered, as text (a token, an element of a sequence); empty
/// for images and sets of objects.
std::vector<std::string> answeredInputs(const ModelOptions& options, const ProbeSample& sample,
                                        const TokenizerPtr& tokenizer);

}  // namespace relascope::core
