// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/init_from.h"

#include <torch/utils.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "checkpoint/family_form.h"
#include "checkpoint/start_from.h"
#include "checkpoint/tensor_io.h"
#include "files/safetensors.h"
#include "model/shapes.h"
#include "options/published_config.h"
#include "run/run_folder.h"
#include "train/checkpoints.h"

namespace relascope::core {

void initFrom(const std::string& run, const std::string& which, ModelImpl& model) {
    const bool best = readRunOptions(run).train.early_stopping.restore_best;
    const SafetensorsFile file(checkpointWeights(run, best ? "best" : "last"));
    std::map<std::string, torch::Tensor> own;
    for (const auto& entry : stateOf(model))
        if (!entry.buffer) own.emplace(entry.name, entry.tensor);
    std::vector<std::pair<torch::Tensor, const TensorEntry*>> pairs;
    const auto pair = [&](const TensorEntry& entry, const std::string& name) {
        const auto found = own.find(name);
        if (found == own.end())
            throw OptionError("train.start_from",
                              "'" + entry.name + "' of the pretraining stage does not exist as '" +
                                  name + "' in the model");
        if (found->second.sizes().vec() != entry.shape)
            throw OptionError("train.start_from", "'" + name + "' does not have the shape of '" +
                                                      entry.name + "' of the pretraining stage");
        pairs.emplace_back(found->second, &entry);
    };
    std::istringstream words(which);
    for (std::string word; words >> word;) {
        const bool all = word == "all";
        const auto arrow = std::find(word.begin(), word.end(), '>');
        const std::string from = all ? std::string() : std::string(word.begin(), arrow);
        const std::string to =
            all || arrow == word.end() ? from : std::string(arrow + 1, word.end());
        bool any = false;
        for (const auto& entry : file.header().tensors) {
            if (entry.name.rfind(from, 0) != 0) continue;
            if (all && !own.count(entry.name)) continue;  // buffers
            pair(entry, to + entry.name.substr(from.size()));
            any = true;
        }
        if (!any)
            throw OptionError(
                "train.start_from",
                "no weight of the pretraining stage has a name that starts with '" + from + "'");
        if (all && pairs.size() < own.size())
            throw OptionError("train.start_from",
                              "the model has weights that the pretraining stage does not have; "
                              "list the weights to take from it");
    }
    const torch::NoGradGuard noGrad;
    for (auto& [tensor, entry] : pairs) tensor.copy_(readTensor(file, *entry));
}

namespace {

// Puts the rows of a classifier into the order of `names`, from the order of `own`.
void orderClasses(const ModelOptions& options, const std::vector<std::string>& own,
                  const std::vector<std::string>& names, ModelImpl& model) {
    std::vector<std::int64_t> rows;
    for (const auto& name : names)
        rows.push_back(std::find(own.begin(), own.end(), name) - own.begin());
    auto wider = options;  // only its classifiers get another shape
    ++wider.get<ImageInput>().num_classes;
    std::map<std::string, std::vector<std::int64_t>> shapes;
    for (const auto& tensor : modelShapes(wider)) shapes[tensor.name] = tensor.shape;
    const auto order = torch::tensor(rows, torch::kLong);
    const torch::NoGradGuard noGrad;
    for (auto& entry : stateOf(model))
        if (const auto found = shapes.find(entry.name); found != shapes.end() &&
                                                        entry.aliasOf.empty() &&
                                                        found->second != entry.tensor.sizes().vec())
            entry.tensor.copy_(entry.tensor.index_select(0, order));
}

// Arranges the rows of a classifier that is kept, which belong to the classes of the checkpoint.
// Returns a sentence if the classes are others, or "".
std::string keepClasses(const RunOptions& options, const std::vector<std::string>& own,
                        const std::vector<std::string>& names, ModelImpl& model) {
    if (own.empty() || names.empty() || own == names) return {};
    const std::set<std::string> before(own.begin(), own.end()), now(names.begin(), names.end());
    if (before == now && before.size() == own.size() && own.size() == names.size()) {
        orderClasses(options.model, own, names, model);
        return {};
    }
    const auto listed = [](const std::vector<std::string>& all) {
        std::string text;
        for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 3); ++i)
            text += (i > 0 ? ", " : "") + all[i];
        return text + (all.size() > 3 ? ", ..." : "");
    };
    return "the classes are " + listed(own) + " in " + options.train.init_from + " and " +
           listed(names) + " in the data: the classifier starts from the rows of the old classes";
}

}  // namespace

std::string initFromCheckpoint(const RunOptions& options,
                               const std::vector<std::string>& classNames, const std::string& run,
                               ModelImpl& model) {
    const auto start = openStart(options.train.init_from);
    requireStart(options, start);
    std::string said;
    if (start.model.outputs() == options.model.outputs()) {
        loadWeights(model, options.model, *start.source);
        if (options.model.find<ImageInput>())
            said =
                keepClasses(options, classNamesOfConfig(start.source->config()), classNames, model);
    } else {
        auto whole = makeModel(start.model);
        loadWeights(*whole, start.model, *start.source);
        std::map<std::string, torch::Tensor> theirs;
        for (const auto& entry : stateOf(*whole)) theirs[entry.name] = entry.tensor;
        const torch::NoGradGuard noGrad;
        for (auto& entry : stateOf(model))
            if (const auto& from = theirs.at(entry.name); from.sizes() == entry.tensor.sizes())
                entry.tensor.copy_(from);
    }
    writeFamilyForm(*start.source, options.model, classNames, run);
    return said;
}

}  // namespace relascope::core
