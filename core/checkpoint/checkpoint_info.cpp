// readCheckpointInfo() of checkpoint.h.
#include <filesystem>

#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"

namespace relascope {

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
    const auto folder = fs::is_directory(absolute) ? absolute : absolute.parent_path();
    info.hasReference = fs::is_regular_file(folder / "io.safetensors");
    return info;
}

}  // namespace relascope
