// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/masked_pictures.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "datasets/readers/coco_masks.h"
#include "datasets/readers/image_folder.h"
#include "datasets/readers/loaded_images.h"
#include "datasets/readers/mask_file.h"
#include "datasets/readers/picture_file.h"
#include "datasets/readers/prepared_images.h"
#include "files/atomic_file.h"
#include "files/csv.h"
#include "options/image_processor.h"
#include "types/lower_case.h"
#include "types/text_format.h"

namespace relascope::datasets {
namespace {

namespace fs = std::filesystem;

constexpr const char* kObjectsFile = "objects.csv";

/// The rows of objects.csv.
struct ObjectRowsFile {
    MaskFacts about;
    struct Picture {
        std::string name, source;
        std::vector<ObjectMask::Object> objects;
    };
    std::vector<Picture> pictures;  ///< in the order of their first rows
};

ObjectRowsFile readObjectRows(const std::string& path) {
    const auto text = core::readTextFile(path);
    core::CsvReader csv(text, path);
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t picture = none, object = none, group = none, source = none;
    std::vector<std::size_t> facts;
    ObjectRowsFile file;
    for (std::size_t c = 0; c < csv.columns().size(); ++c) {
        const auto name = lowerCase(csv.columns()[c]);
        if (name == "picture")
            picture = c;
        else if (name == "object")
            object = c;
        else if (name == "group")
            group = c, file.about.groups = true;
        else if (name == "source")
            source = c;
        else
            facts.push_back(c), file.about.facts.push_back({csv.columns()[c]});
    }
    if (picture == none || object == none)
        throw FileError(path, "begins with the columns '" + joined(csv.columns(), ",") +
                                  "'; picture, object and any facts are expected");
    std::map<std::string, std::size_t> number;
    std::map<std::string, std::int32_t> groups;
    std::vector<std::map<std::string, std::int32_t>> values(facts.size());
    while (csv.next()) {
        const auto& name = csv.fields()[picture];
        const auto at = number.emplace(name, file.pictures.size()).first->second;
        if (at == file.pictures.size()) file.pictures.push_back({name, {}, {}});
        auto& one = file.pictures[at];
        if (source != none) one.source = csv.fields()[source];
        const auto value = csv.whole(object);
        if (value < 1 || value >= ObjectMask::kNotCounted)
            throw FileError(path, "line " + std::to_string(csv.line()) + ": object " +
                                      std::to_string(value) + " is not a number from 1 to 65534");
        ObjectMask::Object made{static_cast<std::uint16_t>(value), {}, -1};
        if (std::any_of(one.objects.begin(), one.objects.end(),
                        [&](const auto& other) { return other.number == made.number; }))
            throw FileError(path, "line " + std::to_string(csv.line()) + ": object " +
                                      std::to_string(value) + " of " + name + " is named twice");
        if (group != none)
            made.group =
                groups.emplace(csv.fields()[group], static_cast<std::int32_t>(groups.size()))
                    .first->second;
        for (std::size_t f = 0; f < facts.size(); ++f) {
            const auto& word = csv.fields()[facts[f]];
            const auto [known, fresh] =
                values[f].emplace(word, static_cast<std::int32_t>(values[f].size()));
            if (fresh) file.about.facts[f].values.push_back(word);
            made.facts.push_back(known->second);
        }
        one.objects.push_back(std::move(made));
    }
    if (file.pictures.empty()) throw FileError(path, "names no pictures");
    return file;
}

class MaskedPictures : public LoadedImages {
public:
    MaskedPictures(DatasetInfo info, std::vector<std::uint8_t> pixels,
                   std::vector<std::int32_t> labels, MaskFacts facts, std::vector<ObjectMask> masks,
                   std::vector<std::string> sources)
        : LoadedImages(std::move(info), std::move(pixels), std::move(labels)),
          m_facts(std::move(facts)),
          m_masks(std::move(masks)),
          m_sources(std::move(sources)) {}
    const MaskFacts* maskFacts() const override { return &m_facts; }
    ObjectMask mask(std::int64_t index) const override {
        return m_masks.at(static_cast<std::size_t>(index));
    }
    std::string sourceOf(std::int64_t index) const override {
        return m_sources.at(static_cast<std::size_t>(index));
    }

private:
    MaskFacts m_facts;
    std::vector<ObjectMask> m_masks;
    std::vector<std::string> m_sources;
};

fs::path maskOf(const fs::path& folder, const std::string& name) {
    auto beside = folder / name, apart = folder / "masks" / name;
    beside.replace_extension(".mask.png"), apart.replace_extension(".png");
    for (const auto& path : {beside, apart})
        if (fs::is_regular_file(path)) return path;
    throw FileError(beside.string(), "is not there, and neither is " + apart.string() +
                                         "; each picture of " + kObjectsFile + " needs a mask");
}

void requireRows(const ObjectMask& mask, const fs::path& path, const std::string& picture) {
    std::set<std::uint16_t> shown(mask.numbers.begin(), mask.numbers.end());
    shown.erase(ObjectMask::kBackground), shown.erase(ObjectMask::kNotCounted);
    for (const auto number : shown)
        if (std::none_of(mask.objects.begin(), mask.objects.end(),
                         [&](const auto& object) { return object.number == number; }))
            throw FileError(path.string(), "has the object " + std::to_string(number) + ", and " +
                                               kObjectsFile + " has no row for it: add one for " +
                                               picture);
}

/// Pictures with masks, of whatever form.
struct MaskedFiles {
    MaskFacts about;
    struct Picture {
        std::string name, path, source;
        std::string maskPath;  ///< for errors
        std::function<ObjectMask()> mask;
    };
    std::vector<Picture> pictures;
};

MaskedFiles ownPictures(const fs::path& root) {
    const auto rows =
        std::make_shared<const ObjectRowsFile>(readObjectRows((root / kObjectsFile).string()));
    MaskedFiles files{rows->about, {}};
    for (const auto& picture : rows->pictures) {
        const auto path = maskOf(root, picture.name);
        files.pictures.push_back({picture.name, (root / picture.name).string(), picture.source,
                                  path.string(), [rows, &picture, path] {
                                      auto mask = readMaskFile(path.string());
                                      mask.objects = picture.objects;
                                      requireRows(mask, path, picture.name);
                                      return mask;
                                  }});
    }
    return files;
}

MaskedFiles cocoPictures(const std::string& path) {
    const auto coco = std::make_shared<const CocoPictures>(readCocoFile(path));
    MaskedFiles files{coco->about, {}};
    for (const auto& picture : coco->pictures)
        files.pictures.push_back(
            {picture.name, picture.path, {}, path, [coco, &picture] { return maskOf(picture); }});
    return files;
}

/// A mask scaled and cut as its picture.
ObjectMask preparedMask(ObjectMask mask, const core::ImageProcessor& p, int width, int height) {
    if (p.height > 0 && p.scales) mask = scaledMask(mask, p.width, p.height);
    if (mask.width == width && mask.height == height) return mask;
    if (p.cropWidth == 0) return scaledMask(mask, width, height);
    const int left = (mask.width - width) / 2, top = (mask.height - height) / 2;
    ObjectMask cut{width, height, {}, std::move(mask.objects)};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const int fromX = x + left, fromY = y + top;
            const bool inside =
                fromX >= 0 && fromY >= 0 && fromX < mask.width && fromY < mask.height;
            cut.numbers.push_back(inside ? mask.numbers[static_cast<std::size_t>(fromY) *
                                                            static_cast<std::size_t>(mask.width) +
                                                        static_cast<std::size_t>(fromX)]
                                         : ObjectMask::kBackground);
        }
    return cut;
}

}  // namespace

bool isMaskedFolder(const std::string& path) {
    std::error_code none;
    return fs::is_regular_file(fs::path(path) / kObjectsFile, none) || !cocoFileOf(path).empty();
}

core::ImageDatasetPtr readMaskedPictures(const std::string& folder, int width, int height,
                                         const std::string& preprocessor,
                                         const core::ProgressCallback& progress,
                                         std::stop_token stop) {
    const fs::path root(folder);
    std::error_code none;
    const bool own = fs::is_regular_file(root / kObjectsFile, none);
    const auto file = own ? ownPictures(root) : cocoPictures(cocoFileOf(folder));
    const auto processor = core::imageProcessorFrom(preprocessor);
    const auto size = preparedSize(processor);
    const bool prepares = size.width > 0;
    if (prepares) width = size.width, height = size.height;
    requireMemory(folder, 5ull * file.pictures.size() * static_cast<std::uint64_t>(width) *
                              static_cast<std::uint64_t>(height));
    std::set<std::string> classes;
    const auto classOf = [](const std::string& name) {
        return fs::path(name).parent_path().filename().string();
    };
    for (const auto& picture : file.pictures)
        if (const auto name = classOf(picture.name); !name.empty()) classes.insert(name);
    std::vector<std::uint8_t> pixels;
    std::vector<std::int32_t> labels;
    std::vector<ObjectMask> masks;
    std::vector<std::string> sources;
    for (const auto& picture : file.pictures) {
        if (stop.stop_requested() ||
            (progress && !progress(static_cast<double>(labels.size()) /
                                   static_cast<double>(file.pictures.size()))))
            throw Cancelled();
        const auto image = readImageFile(picture.path);
        auto mask = picture.mask();
        if (mask.width != image.width || mask.height != image.height)
            throw FileError(picture.maskPath,
                            "has " + std::to_string(mask.width) + " x " +
                                std::to_string(mask.height) + " pixels, and its picture " +
                                std::to_string(image.width) + " x " + std::to_string(image.height) +
                                "; a mask has the size of its picture");
        const Image fitted =
            prepares ? core::prepared(image, processor) : fitImage(image, width, height, 3);
        pixels.insert(pixels.end(), fitted.pixels.begin(), fitted.pixels.end());
        masks.push_back(preparedMask(std::move(mask), processor, width, height));
        const auto found = classes.find(classOf(picture.name));
        labels.push_back(found == classes.end()
                             ? -1
                             : static_cast<std::int32_t>(std::distance(classes.begin(), found)));
        sources.push_back(picture.source);
    }
    DatasetInfo info;
    info.name =
        root.has_filename() ? root.filename().string() : root.parent_path().filename().string();
    info.origin = folder, info.task = "folder";
    info.width = width, info.height = height;
    info.classNames.assign(classes.begin(), classes.end());
    return std::make_shared<MaskedPictures>(std::move(info), std::move(pixels), std::move(labels),
                                            file.about, std::move(masks), std::move(sources));
}

}  // namespace relascope::datasets
