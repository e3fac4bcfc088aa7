// SPDX-License-Identifier: GPL-3.0-or-later
// Hypotheses of the command line: refused with a sentence, or read; what is read says yes, no or
// nothing of every pair, and its own words give the same again.
#include <cmath>
#include <cstdlib>

#include "analysis/pairs/hypothesis.h"
#include "support/rooms.h"
#include "types/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace relascope;
    HypothesisTerms terms;
    terms.facts = {{"colour", false, {"blue", "red"}}, {"size", true}};
    terms.columns = 2, terms.tokens = true;
    terms.classes = {"noun", "verb"}, terms.labels = {"none", "occurs"};
    HypothesisValues values;
    values.objects = 3;
    values.facts = {0.0, 3.0, 1.0, 2.5, std::nan(""), std::nan("")};
    values.tokens = {"the", "cat", "("}, values.classes = {"", "noun", ""};
    values.starts = {4}, values.labels = {1};
    const std::string text(reinterpret_cast<const char*>(data), size);
    try {
        for (const auto& one : parseHypotheses(text, terms)) {
            const auto again = parseHypotheses(one.text, terms);
            if (again.size() != 1) std::abort();
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j < 3; ++j) {
                    const HypothesisPair pair{terms, values, 0, i, j};
                    const float truth = one.holds(pair), other = again[0].holds(pair);
                    if (!std::isnan(truth) && truth != 0.0F && truth != 1.0F) std::abort();
                    if (std::isnan(truth) != std::isnan(other)) std::abort();
                    if (!std::isnan(truth) && truth != other) std::abort();
                }
        }
    } catch (const Error&) {
    }
    return 0;
}
