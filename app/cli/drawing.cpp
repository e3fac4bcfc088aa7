// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/drawing.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "train/open_model.h"

namespace relascope::cli {
namespace {

const std::vector<std::string> kPictures = {".png", ".svg", ".pdf"};

}  // namespace

bool isPicture(const std::string& path) {
    return std::find(kPictures.begin(), kPictures.end(),
                     std::filesystem::path(path).extension().string()) != kPictures.end();
}

std::string endingOf(const std::string& out, std::initializer_list<const char*> known) {
    const auto ending = std::filesystem::path(out).extension().string();
    auto all = kPictures;
    all.insert(all.end(), known.begin(), known.end());
    std::string list;
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (all[k] == ending) return ending;
        list += (k == 0 ? "" : k + 1 == all.size() ? " or " : ", ") + all[k];
    }
    throw OptionError("--out", "'" + out + "' must end in " + list);
}

std::string folderName(const std::string& path) {
    auto folder = std::filesystem::absolute(path).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    return folder.filename().string();
}

std::string captionOf(const std::string& path, const core::OpenedModel& model,
                      const std::string& more) {
    std::string caption = folderName(path);
    if (model.isRun()) caption += ", step " + std::to_string(model.step());
    return more.empty() ? caption : caption + ", " + more;
}

}  // namespace relascope::cli
