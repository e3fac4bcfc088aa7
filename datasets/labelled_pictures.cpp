// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/labelled_pictures.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "datasets/readers/image_folder.h"
#include "datasets/readers/masked_pictures.h"
#include "datasets/readers/npz.h"
#include "datasets/readers/prepared_images.h"
#include "model/public/public_options.h"

namespace relascope::datasets {

namespace {

class Relabelled : public core::ImageDataset {
public:
    Relabelled(core::ImageDatasetPtr images, std::vector<std::string> classes,
               std::vector<std::int64_t> classOf)
        : m_images(std::move(images)), m_classOf(std::move(classOf)), m_info(m_images->info()) {
        m_info.classNames = std::move(classes);
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        const auto label = m_images->read(index, pixels);
        return label < 0 ? label : m_classOf.at(static_cast<std::size_t>(label));
    }
    const MaskFacts* maskFacts() const override { return m_images->maskFacts(); }
    ObjectMask mask(std::int64_t index) const override { return m_images->mask(index); }
    std::string sourceOf(std::int64_t index) const override { return m_images->sourceOf(index); }

private:
    core::ImageDatasetPtr m_images;
    std::vector<std::int64_t> m_classOf;
    DatasetInfo m_info;
};

}  // namespace

core::ImageDatasetPtr inClassesOf(const std::vector<std::string>& classes,
                                  const core::ImageDatasetPtr& pictures) {
    const auto& own = pictures->info().classNames;
    if (own == classes) return pictures;
    std::vector<std::int64_t> classOf;
    std::size_t known = 0;
    for (const auto& name : own) {
        const auto found = std::find(classes.begin(), classes.end(), name);
        classOf.push_back(found == classes.end() ? -1 : std::distance(classes.begin(), found));
        known += found != classes.end();
    }
    if (known < own.size() && own.size() == classes.size())
        std::iota(classOf.begin(), classOf.end(), 0);
    return std::make_shared<Relabelled>(pictures, classes, std::move(classOf));
}

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
    const int side = images ? static_cast<int>(images->image_shape[1]) : kFolderSide;
    const auto preprocessor = images ? images->preprocessor : std::string();
    if (isMaskedFolder(path))
        return {readMaskedPictures(path, side, side, preprocessor, progress, std::move(stop)), {}};
    if (fs::is_directory(path))
        return readImageFolder(path, side, progress, std::move(stop), preprocessor);
    if (!fs::is_regular_file(path)) throw FileError(path, "does not exist");
    if (!path.ends_with(".npz"))
        throw OptionError("--data", path +
                                        " holds no labelled pictures; give a folder with one "
                                        "folder for each class, or a .npz file");
    const auto read = readNpz(path, "", progress, std::move(stop));
    return {read.images, read.test};
}

}  // namespace relascope::datasets
