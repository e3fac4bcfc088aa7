// SPDX-License-Identifier: GPL-3.0-or-later
// parts: the parts of a model with their parameters, as the outline has them (model/outline.h).
#include <cstdlib>
#include <string>
#include <vector>

#include "answers/column_table.h"
#include "checkpoint/checkpoint.h"
#include "model/outline.h"
#include "model/recorded/recorded_options.h"
#include "model/shapes.h"
#include "question/table_command.h"
#include "run/run_folder.h"
#include "types/error.h"

namespace relascope::core {
namespace {

struct ModelPart {
    std::string name;  ///< what the names of its tensors begin with
    std::string kind;
    int layer = -1;  ///< from 0; -1: of no layer
    std::int64_t parameters = 0;
    double share = 0.0;
};

struct PartedModel {
    std::string title;
    std::int64_t parameters = 0, trainable = 0;
    std::vector<ModelPart> parts;
};

/// N - 1 of "block N" and "layer N"; -1 for other titles.
int layerOfTitle(const std::string& title) {
    for (const std::string word : {"block ", "layer "})
        if (title.starts_with(word)) return std::atoi(title.c_str() + word.size()) - 1;
    return -1;
}

/// Lists the parts below a node: those of a layer, and elsewhere what has no parts itself; and what
/// a node has beside its parts. `kind`: the title above, for nodes that are named by a number
/// alone.
void listParts(const OutlineNode& node, const std::string& kind, int layer,
               std::vector<ModelPart>& parts) {
    const int own = layerOfTitle(node.title);
    const auto& title = own < 0 ? node.title : kind;
    if (node.children.empty() || (own < 0 && layer >= 0)) {
        // "norm2" is the second of its block.
        parts.push_back({node.prefix, title.starts_with("norm") ? "norm" : title,
                         own < 0 ? layer : own, node.parameters});
        return;
    }
    auto others = node.parameters;
    for (const auto& child : node.children) {
        listParts(child, title, own, parts);
        others -= child.parameters;
    }
    if (others > 0) parts.push_back({node.prefix, "others", own, others});
}

ModelOptions modelOptionsAt(const std::string& path) {
    if (isRunFolder(path)) {
        auto model = readRunOptions(path).model;
        if (isRecorded(model)) throw OptionError("path", path + " " + kNoModel);
        return model;
    }
    auto info = readCheckpointInfo(path);
    if (!info.model)
        throw OptionError("path", path +
                                      " has no configuration that says what model it is of; put "
                                      "its config.json beside it");
    return std::move(*info.model);
}

Answer partsOf(const Question& asked) {
    const auto options = modelOptionsAt(asked.subjects.front().path);
    const auto outline = modelOutline(options);
    PartedModel model{outline.title, outline.parameters, countParameters(options).trainable, {}};
    listParts(outline, outline.title, -1, model.parts);
    for (auto& part : model.parts)
        part.share = static_cast<double>(part.parameters) / static_cast<double>(model.parameters);
    const ColumnTable<PartedModel> facts = {
        columns::text(&PartedModel::title, "model", {"Model"}),
        columns::integer(&PartedModel::parameters, "parameters", {"Parameters"}),
        columns::integer(&PartedModel::trainable, "trainable", {"Trainable"})};
    const ColumnTable<ModelPart> parts = {
        columns::text(&ModelPart::name, "name",
                      {"Name", {}, "What the names of its tensors begin with"}),
        columns::text(&ModelPart::kind, "kind", {"Part"}),
        columns::counted(&ModelPart::layer, "layer",
                         {"Layer", {}, "From 1, counted in its own stack"}),
        columns::integer(&ModelPart::parameters, "parameters", {"Parameters"}),
        columns::number(&ModelPart::share, "share",
                        {"Share", {1, true}, "Of the parameters of the model"})};
    return {{factsOf(facts, model), tableOf("parts", "Parts", parts, model.parts)}};
}

const AddTableCommand kAddParts("parts", "Parts of a model",
                                "lists the parts of a model with their parameters", partsOf);

}  // namespace
}  // namespace relascope::core
