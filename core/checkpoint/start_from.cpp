// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/start_from.h"

#include <algorithm>
#include <filesystem>

#include "checkpoint/checkpoint.h"
#include "hub/hub_cache.h"
#include "model/architecture.h"
#include "model/nanochat/nanochat_options.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "options/field_text.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
constexpr const char* kOption = "train.init_from";

// The fields that may differ in a run: dropout concerns training alone, and a new classifier is
// drawn.
const std::vector<std::string>& freeFields() {
    static const std::vector<std::string> names = {"dropout_rate", "num_classes"};
    return names;
}

ModelOptions withFreeFields(ModelOptions model, const ModelOptions& of) {
    for (const auto& name : freeFields())
        if (model.has(name) && of.has(name)) model.set(name, of.value(name));
    return model;
}

// Throws OptionError for the first field that differs: "model.d_model is 64, and that of PATH 32".
void requireEqual(const ModelOptions& model, const ModelOptions& own, const std::string& from) {
    if (model.architecture() != own.architecture())
        throw OptionError(kOption, from + " is a " + modelTitle(own) + ", and the run a " +
                                       modelTitle(model) +
                                       "; give it with --init-from, which takes its model");
    for (const auto& field : model.info().fields)
        if (field.get(model) != field.get(own))
            throw OptionError("model." + field.spec.name,
                              "is " + fieldValueText(field.get(model)) + ", and " +
                                  fieldValueText(field.get(own)) + " in " + from +
                                  ", which the run starts from; leave it out");
}

}  // namespace

TokenizerPtr StartCheckpoint::tokenizer() const {
    return tokenizerBeside(weights, knownVocabulary(model));
}

StartCheckpoint openStart(const std::string& from) {
    auto opened = openCheckpoint(hubPath(from));
    const auto& info = opened.info;
    for (const auto& problem : info.problems)
        if (problem.kind != ProblemKind::NotFinite)
            throw FileError(info.path, (problem.subject.empty() ? "" : problem.subject + ": ") +
                                           problem.message);
    StartCheckpoint start{info.files.at(0), *info.model, CheckpointSource::open(info.path),
                          info.configFrom == "run.json"};
    return start;
}

void startFrom(RunOptions& options, const std::string& from) {
    const auto start = openStart(from);
    if (const auto why = noTrainingText(start.model); !why.empty()) throw OptionError(kOption, why);
    options.train.init_from =
        from.starts_with(kHubPrefix) ? from : fs::absolute(from).lexically_normal().string();
    options.model = start.model;
    if (options.model.input() == InputKind::Tokens) {
        const auto tokenizer = start.tokenizer();
        options.data.tokenizer = tokenizer ? tokenizer->name() : std::string();
        // Each machine that takes part has its own cache.
        if (from.starts_with(kHubPrefix) && options.data.tokenizer.starts_with(hubPath(from)))
            options.data.tokenizer = from;
        // nanochat trains on texts of one window, although longer ones can be read.
        const auto* nanochat = options.model.find<NanochatOptions>();
        options.data.context = std::min(options.data.context,
                                        nanochat ? nanochat->sequence_len : options.model.tokens());
    }
    const auto* images = options.model.find<PublicImageOptions>();
    options.data.preprocessor = images ? images->preprocessor : std::string();
    options.train.learning_rate = kStartRate, options.train.min_learning_rate = 0.0;
}

void requireStart(const RunOptions& options, const StartCheckpoint& start) {
    if (const auto why = noTrainingText(start.model); !why.empty()) throw OptionError(kOption, why);
    const auto own = withFreeFields(start.model, options.model);
    // The configuration of another model does not tell everything: shapes are compared instead.
    if (start.ofRun || familyOf(own) || familyOf(options.model)) {
        requireEqual(options.model, own, options.train.init_from);
        return;
    }
    const auto shapes = modelShapes(options.model), theirs = modelShapes(own);
    const bool same =
        std::equal(shapes.begin(), shapes.end(), theirs.begin(), theirs.end(),
                   [](const TensorShape& a, const TensorShape& b) {
                       return a.name == b.name && a.shape == b.shape && a.aliasOf == b.aliasOf;
                   });
    if (!same) requireEqual(options.model, own, options.train.init_from);
}

}  // namespace relascope::core
