// SPDX-License-Identifier: GPL-3.0-or-later
// The outline of a model for display: encoder, blocks, heads, relations, symbols, with the
// parameters of each. Computed from the options; does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/shapes.h"
#include "types/checkpoint_info.h"
#include "types/model_options.h"

namespace relascope::core {

OutlineNode modelOutline(const ModelOptions& options);

/// Builds nodes with the parameters under a prefix, each tensor counted once.
class OutlineBuilder {
public:
    explicit OutlineBuilder(const ModelOptions& options);

    OutlineNode& root() { return m_root; }
    /// Adds a child if the model has tensors of that name; otherwise returns null.
    OutlineNode* add(OutlineNode& parent, const std::string& title, const std::string& name,
                     const std::string& detail = {});
    OutlineNode* add(const std::string& title, const std::string& name,
                     const std::string& detail = {}) {
        return add(m_root, title, name, detail);
    }
    /// Whether there is a tensor of that name, or under it.
    bool exists(const std::string& prefix) const;

private:
    std::int64_t parametersUnder(const std::string& prefix) const;

    std::vector<TensorShape> m_shapes;
    OutlineNode m_root;
};

/// The objects in words: "3 objects of 8 numbers".
std::string objectText(const ObjectInput& o);
/// Adds the hidden layer between relations and outputs, for models over objects.
void addHiddenOutline(OutlineBuilder& builder, std::int64_t hidden, std::int64_t outputs);
/// A number with its noun: "1 head", "3 heads".
std::string countText(std::int64_t n, const std::string& one);

}  // namespace relascope::core
