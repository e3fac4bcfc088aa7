// SPDX-License-Identifier: GPL-3.0-or-later
// readCheckpointInfo() of checkpoint.h.
#include <filesystem>

#include "checkpoint/checkpoint.h"
#include "checkpoint/checkpoint_model.h"
#include "checkpoint/source.h"

namespace relascope::core {
namespace {

// The model, its outline and the differences between the file and the model.
void describeModel(CheckpointInfo& info, const CheckpointSource& source) {
    try {
        auto model = checkpointModel(source, &info.configFrom);
        info.problems = compareTensors(modelShapes(model), info.tensors);
        info.outline = modelOutline(model);
        const auto count = countParameters(model);
        info.parameters = count.total;
        info.trainable = count.trainable;
        info.model = std::move(model);
    } catch (const FileError& error) {
        info.problems.push_back({ProblemKind::Configuration, info.configFrom, error.what()});
    }
}

}  // namespace

CheckpointInfo readCheckpointInfo(const std::string& path) {
    namespace fs = std::filesystem;
    const auto source = CheckpointSource::open(path);
    CheckpointInfo info;
    const auto absolute = fs::absolute(path).lexically_normal();
    info.path = absolute.string();
    info.name = (absolute.has_filename() ? absolute : absolute.parent_path()).filename().string();
    info.form = source->form();
    info.files = source->files();
    info.bytes = source->bytes();
    info.tensors = source->tensors();
    info.metadata = source->metadata();
    info.config = source->config();
    info.configFrom = source->configFrom();
    for (const auto& t : info.tensors)
        if (t.sameAs.empty()) info.parameters += t.count();
    describeModel(info, *source);
    const auto folder = fs::is_directory(absolute) ? absolute : absolute.parent_path();
    info.hasReference = info.loads() && fs::is_regular_file(folder / "io.safetensors");
    return info;
}

}  // namespace relascope::core
