// SPDX-License-Identifier: GPL-3.0-or-later
#include "types/generate_options.h"

#include "types/error.h"

namespace relascope {

std::vector<FieldProblem> GenerateOptions::problems() const {
    std::vector<FieldProblem> found;
    const auto refuse = [&](const char* field, const std::string& message) {
        found.push_back({field, message});
    };
    if (tokens < 1 || tokens > 1000000)
        refuse("tokens", std::to_string(tokens) + " is not between 1 and 1000000");
    if (!(temperature >= 0.0 && temperature <= 100.0))
        refuse("temperature", "must be between 0 (greedy decoding) and 100");
    if (top_k < 0) refuse("top-k", "cannot be negative; 0 means all tokens");
    if (!(top_p > 0.0 && top_p <= 1.0)) refuse("top-p", "must be above 0 and at most 1");
    if (alternatives < 0 || alternatives > 1000)
        refuse("alternatives", std::to_string(alternatives) + " is not between 0 and 1000");
    return found;
}

void GenerateOptions::check() const {
    const auto found = problems();
    if (!found.empty()) throw OptionError(found[0].field, found[0].message);
}

}  // namespace relascope
