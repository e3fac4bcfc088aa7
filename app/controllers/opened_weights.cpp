// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/opened_weights.h"

#include <charconv>
#include <filesystem>

#include "run/run_folder.h"

namespace relascope::app {

namespace fs = std::filesystem;

void OpenedWeights::load(const std::string& from, const std::string& device, std::stop_token stop,
                         const core::ProgressCallback& progress, const std::string& step) {
    auto fresh = std::make_unique<core::OpenedModel>(from, step, device, std::move(stop), progress);
    // The tokenizer of a run is in the run folder, not next to the weights.
    const std::string run = runOfWeights(from), own = run + "/tokenizer.json";
    if (fresh->options().input() == InputKind::Tokens) {
        if (from == path && !tokenizer.empty())
            fresh->setTokenizer(tokenizer);
        else if (!run.empty() && fs::exists(own))
            fresh->setTokenizer(own);
    }
    if (from != path) tokenizer.clear();
    if (!model || !(model->options() == fresh->options())) points.reset();
    base.reset();
    model = std::move(fresh);
    path = from;
    which = step;
    bfloat16 = false;
}

core::OpenedModel& OpenedWeights::as(bool rounded, std::stop_token stop,
                                     const core::ProgressCallback& progress) {
    if (!model) throw Cancelled();
    if (bfloat16 && !rounded) load(std::string(path), "auto", std::move(stop), progress);
    if (rounded && !bfloat16) {
        model->narrow();
        base.reset();
        bfloat16 = true;
    }
    return *model;
}

void OpenedWeights::setTokenizer(const std::string& nameOrPath) {
    if (!model) throw Cancelled();
    model->setTokenizer(nameOrPath);
    tokenizer = nameOrPath;
}

std::string runOfWeights(const std::string& path) {
    fs::path folder = fs::absolute(path).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    if (!fs::is_directory(folder)) folder = folder.parent_path();
    if (folder.parent_path().filename() != "checkpoints") return {};
    const std::string run = folder.parent_path().parent_path().string();
    return core::isRunFolder(run) ? run : std::string();
}

std::string newestWeights(const std::string& run) {
    std::int64_t newest = -1;
    std::string found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(fs::path(run) / "checkpoints", none)) {
        const std::string name = entry.path().filename().string();
        std::int64_t step = -1;
        if (name.rfind("step-", 0) != 0 || !fs::exists(entry.path() / "manifest.json")) continue;
        std::from_chars(name.data() + 5, name.data() + name.size(), step);
        if (step > newest) newest = step, found = entry.path().string();
    }
    if (found.empty())
        throw FileError(run,
                        "has no checkpoint yet; checkpoints are written during and after training");
    return found;
}

}  // namespace relascope::app
