// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/labelled_pictures.h"

#include <filesystem>
#include <utility>

#include "datasets/readers/image_folder.h"
#include "datasets/readers/npz.h"
#include "datasets/readers/prepared_images.h"
#include "model/public/public_options.h"

namespace relascope::datasets {

core::DatasetPtr readyFor(const ModelOptions& model, const core::DatasetPtr& data) {
    const auto* images = model.find<core::PublicImageOptions>();
    if (!images || !data) return data;
    DataOptions options;
    options.preprocessor = images->preprocessor;
    return preparedImages(data, options);
}

ImageSplits openLabelledPictures(const std::string& path, const ModelOptions& model,
                                 const core::ProgressCallback& progress, std::stop_token stop) {
    namespace fs = std::filesystem;
    const auto* images = model.find<core::PublicImageOptions>();
    if (fs::is_directory(path))
        return readImageFolder(
            path, images ? static_cast<int>(images->image_shape[1]) : kFolderSide, progress,
            std::move(stop), images ? images->preprocessor : std::string());
    if (!fs::is_regular_file(path)) throw FileError(path, "does not exist");
    if (!path.ends_with(".npz"))
        throw OptionError("--data", path +
                                        " holds no labelled pictures; give a folder with one "
                                        "folder for each class, or a .npz file");
    const auto read = readNpz(path, "", progress, std::move(stop));
    return {read.images, read.test};
}

}  // namespace relascope::datasets
