// SPDX-License-Identifier: GPL-3.0-or-later
// Collects the problems of options as messages.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "types/field.h"
#include "types/option_groups.h"

namespace relascope::core {

class ProblemList {
public:
    void refuse(std::string field, std::string message) {
        m_found.push_back({std::move(field), std::move(message)});
    }
    void atLeast(const char* field, std::int64_t value, std::int64_t least) {
        if (value < least)
            refuse(field,
                   "needs at least " + std::to_string(least) + ", not " + std::to_string(value));
    }
    void divides(const char* field, std::int64_t heads, std::int64_t width) {
        if (heads < 1 || width % heads != 0)
            refuse(field,
                   std::to_string(heads) + " does not divide the width " + std::to_string(width));
    }
    void evenWidth(std::int64_t d) {
        if (d % 2 != 0)
            refuse("d_model", "sinusoidal positions need an even width, not " + std::to_string(d));
    }
    void add(const std::vector<FieldProblem>& problems, const std::string& prefix = {}) {
        for (const auto& p : problems)
            refuse(p.field == "d_model" ? p.field : prefix + p.field, p.message);
    }
    /// Problems of the sizes in the groups that `Options` inherits; other checks may divide by the
    /// sizes only if there are none.
    template <class Options>
    void groups(const Options& o) {
        if constexpr (std::is_base_of_v<StreamOptions, Options>) atLeast("d_model", o.d_model, 1);
        if constexpr (std::is_base_of_v<StackDepth, Options>) atLeast("n_layers", o.n_layers, 1);
        if constexpr (std::is_base_of_v<ImageInput, Options>) images(o);
        if constexpr (std::is_base_of_v<TokenInput, Options>) tokens(o);
        if constexpr (std::is_base_of_v<PairInput, Options>) pairs(o);
        if constexpr (std::is_base_of_v<ObjectInput, Options>) objects(o);
    }
    void images(const ImageInput& o);
    void tokens(const TokenInput& o) {
        atLeast("vocab_size", o.vocab_size, 1);
        atLeast("max_block_size", o.max_block_size, 1);
    }
    void pairs(const PairInput& o) {
        atLeast("input_size", o.input_size, 1);
        atLeast("output_size", o.output_size, 1);
        atLeast("out_dim", o.out_dim, 1);
        atLeast("in_block_size", o.in_block_size, 1);
        atLeast("out_block_size", o.out_block_size, 1);
    }
    void objects(const ObjectInput& o) {
        atLeast("n_objects", o.n_objects, 1);
        atLeast("object_dim", o.object_dim, 1);
        atLeast("out_dim", o.out_dim, 1);
    }
    /// Adds the problems of symbols. `fixedLength`: every input has that many objects, and each
    /// needs its own row.
    void symbols(const SymbolOptions& o, std::int64_t d, std::int64_t fixedLength = 0);
    /// symbols() of models without an Abstractor.
    void blockSymbols(const SymbolOptions& o, std::int64_t d, std::int64_t fixedLength = 0);

    bool empty() const { return m_found.empty(); }
    std::vector<FieldProblem> take() { return std::move(m_found); }

private:
    std::vector<FieldProblem> m_found;
};

}  // namespace relascope::core
