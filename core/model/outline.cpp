// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/outline.h"

#include "model/architecture.h"
#include "model/public/family.h"

namespace relascope::core {

std::string countText(std::int64_t n, const std::string& one) {
    return std::to_string(n) + " " + one + (n == 1 ? "" : "s");
}

OutlineBuilder::OutlineBuilder(const ModelOptions& options) : m_shapes(modelShapes(options)) {
    const auto* stream = options.find<StreamOptions>();
    m_root = {modelTitle(options),
              stream ? "width " + std::to_string(stream->d_model) : std::string(),
              "",
              parametersUnder(""),
              {}};
}

std::int64_t OutlineBuilder::parametersUnder(const std::string& prefix) const {
    std::int64_t count = 0;
    for (const auto& shape : m_shapes)
        if (shape.aliasOf.empty() && !shape.buffer &&
            (prefix.empty() || shape.name == prefix || shape.name.starts_with(prefix + ".")))
            count += shape.count();
    return count;
}

bool OutlineBuilder::exists(const std::string& prefix) const {
    for (const auto& shape : m_shapes)
        if (shape.name == prefix || shape.name.starts_with(prefix + ".")) return true;
    return false;
}

OutlineNode* OutlineBuilder::add(OutlineNode& parent, const std::string& title,
                                 const std::string& name, const std::string& detail) {
    const std::string prefix = parent.prefix.empty() ? name : parent.prefix + "." + name;
    if (!exists(prefix)) return nullptr;
    parent.children.push_back({title, detail, prefix, parametersUnder(prefix), {}});
    return &parent.children.back();
}

OutlineNode modelOutline(const ModelOptions& options) {
    OutlineBuilder builder(options);
    options.info().outline(options, builder);
    return std::move(builder.root());
}

std::string objectText(const ObjectInput& o) {
    return countText(o.n_objects, "object") + " of " + std::to_string(o.object_dim) + " numbers";
}

void addHiddenOutline(OutlineBuilder& builder, std::int64_t hidden, std::int64_t outputs) {
    builder.add("hidden layer", "hidden", std::to_string(hidden) + " wide, relu");
    builder.add("output", "final_out", countText(outputs, "score"));
}

}  // namespace relascope::core
