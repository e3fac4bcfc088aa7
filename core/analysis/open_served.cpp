// SPDX-License-Identifier: GPL-3.0-or-later
// A model that another program serves, opened as a checkpoint is.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/opened_parts.h"
#include "data/served_data.h"
#include "model/served/served_model.h"
#include "model/served/served_options.h"
#include "types/error.h"

namespace relascope::core {
namespace {

// The kept step of that number, with its checksum. Throws OptionError where the program keeps no
// such one.
std::pair<std::int64_t, std::uint32_t> servedStep(const std::string& name,
                                                  const ServedWeights& weights,
                                                  const std::string& checkpoint) {
    const auto& steps = weights.steps;
    const auto found = std::ranges::find_if(
        steps, [&](const auto& kept) { return std::to_string(kept.first) == checkpoint; });
    if (found != steps.end()) return *found;
    throw OptionError("step",
                      "'" + checkpoint + "' is none of the steps that " + name + " has kept (" +
                          (steps.empty() ? std::string("it has kept none")
                                         : std::to_string(steps.size()) + " from " +
                                               std::to_string(steps.front().first) + " to " +
                                               std::to_string(steps.back().first)) +
                          "); leave it out for the weights as they are");
}

}  // namespace

void OpenedModel::Parts::openServed(const std::string& named, const std::string& wanted) {
    const auto link = servedLink(doorOf(named));
    options = servedOptions(link->declaration());
    run.model = options;
    run.data.kind = kServedData, run.data.path = named;
    path = named, checkpoint = wanted, device = "cpu";
    const auto declared = declarationOf(options);
    const auto weights = link->weights();
    ServedChoice choice;
    step = weights.step;
    // Names of checkpoints stand for the weights as they are.
    if (wanted.empty() || wanted == "last" || wanted == "best") {
        choice.version = weights.version;
        checksum = weights.crc32;
        served = [link, before = weights.version] { return link->version() == before; };
    } else {
        std::tie(step, checksum) = servedStep(declared.name, weights, wanted);
        choice.step = step;
    }
    model = std::make_shared<ServedModelImpl>(options, link, choice);
    classNames = declared.classNames;
    if (!declared.tokenizer.empty()) try {
            tokenizer = openTokenizer(declared.tokenizer);
            ends.clear();
            takeEnds({});
        } catch (const Error& error) {
            warning = error.what();  // the ids of tokens are shown
        }
    model->eval();
    probes = std::make_unique<EditProbes>(*model, options);
}

const DatasetPtr& OpenedModel::Parts::servedExamples() {
    if (!examples) examples = servedSplits(servedLink(doorOf(path))).validation;
    return examples;
}

}  // namespace relascope::core
