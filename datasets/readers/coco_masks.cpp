// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/coco_masks.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "files/atomic_file.h"
#include "types/error.h"

namespace relascope::datasets {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kMostCocoBytes = std::size_t{256} << 20;
constexpr std::int64_t kMostCocoSide = 1 << 14;  // pixels
constexpr const char* kInstances = "instances_";

/// The entry of an object; throws FileError that names it.
class CocoReader {
public:
    explicit CocoReader(std::string path) : m_path(std::move(path)) {}

    [[noreturn]] void refuse(const std::string& what) const { throw FileError(m_path, what); }

    const Json& listOf(const Json& whole, const char* name) const {
        const auto found = whole.find(name);
        if (found == whole.end() || !found->is_array())
            refuse(std::string("has no list '") + name +
                   "'; a file of COCO has images, annotations "
                   "and categories");
        return *found;
    }
    template <class T>
    T get(const Json& entry, const std::string& where, const char* name) const {
        try {
            return entry.at(name).get<T>();
        } catch (const Json::exception&) {
            refuse(where + ": '" + name + "' is missing or of another kind");
        }
    }

    CocoPictures::Outline outline(const Json& entry, const std::string& where, int width,
                                  int height) const {
        CocoPictures::Outline outline;
        outline.counted = entry.value("iscrowd", Json(0)) == Json(0);
        const auto found = entry.find("segmentation");
        if (found == entry.end()) refuse(where + ": 'segmentation' is missing");
        if (found->is_array()) {
            for (const auto& polygon : *found) {
                std::vector<double> points;
                for (const auto& number : polygon) {
                    if (!number.is_number() || !std::isfinite(number.get<double>()))
                        refuse(where + ": a polygon of 'segmentation' holds no number");
                    points.push_back(number.get<double>());
                }
                if (points.size() < 6 || points.size() % 2 != 0)
                    refuse(where + ": a polygon of 'segmentation' has " +
                           std::to_string(points.size()) +
                           " numbers; x and y of three points are "
                           "the least");
                outline.polygons.push_back(std::move(points));
            }
            return outline;
        }
        const auto size = get<std::vector<std::int64_t>>(*found, where + ", segmentation", "size");
        if (size != std::vector<std::int64_t>{height, width})
            refuse(where + ": 'size' of 'segmentation' is not that of the image, " +
                   std::to_string(height) + " x " + std::to_string(width));
        const auto counts = found->find("counts");
        try {
            if (counts != found->end() && counts->is_string())
                outline.runs = cocoRuns(counts->get<std::string>());
            else
                outline.runs = found->at("counts").get<std::vector<std::uint32_t>>();
        } catch (const Json::exception&) {
            refuse(where + ": 'counts' of 'segmentation' is neither a list nor a text");
        } catch (const Error& error) {
            refuse(where + ": 'counts' of 'segmentation' " + error.what());
        }
        std::uint64_t pixels = 0;
        for (const auto run : outline.runs) pixels += run;
        if (pixels > static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height))
            refuse(where + ": 'counts' of 'segmentation' are of more pixels than the image has");
        return outline;
    }

    std::string pictureOf(const std::string& name) const {
        const fs::path file(m_path), beside = file.parent_path();
        const auto root = beside.filename() == "annotations" ? beside.parent_path() : beside;
        const auto stem = file.stem().string();
        const auto split =
            stem.starts_with(kInstances) ? stem.substr(std::string(kInstances).size()) : stem;
        std::error_code none;
        for (const auto& path : {root / name, root / "images" / name, root / split / name})
            if (fs::is_regular_file(path, none)) return path.string();
        refuse("names the picture " + name + ", which is neither in " + root.string() +
               " nor there in images or " + split);
    }

private:
    std::string m_path;
};

/// Marks the pixels of a row whose middle is inside a polygon, by crossings to its left.
void fillRow(const std::vector<double>& points, int y, int width, std::vector<bool>& inside) {
    const double middle = y + 0.5;
    std::vector<double> crossings;
    const auto count = points.size() / 2;
    for (std::size_t k = 0; k < count; ++k) {
        const auto next = (k + 1) % count;
        const double y0 = points[2 * k + 1], y1 = points[2 * next + 1];
        if ((y0 <= middle) == (y1 <= middle)) continue;
        const double x0 = points[2 * k], x1 = points[2 * next];
        crossings.push_back(x0 + (middle - y0) / (y1 - y0) * (x1 - x0));
    }
    std::sort(crossings.begin(), crossings.end());
    for (std::size_t k = 0; k + 1 < crossings.size(); k += 2) {
        const auto at = [&](double x) {
            return static_cast<int>(
                std::clamp(std::ceil(x - 0.5), 0.0, static_cast<double>(width)));
        };
        for (int x = at(crossings[k]); x < at(crossings[k + 1]); ++x)
            inside[static_cast<std::size_t>(x)] = true;
    }
}

}  // namespace

std::string cocoFileOf(const std::string& path) {
    std::error_code none;
    const fs::path root(path);
    if (root.extension() == ".json") return fs::is_regular_file(root, none) ? path : std::string();
    for (const char* name : {"annotations.json", "instances.json"})
        if (fs::is_regular_file(root / name, none)) return (root / name).string();
    std::vector<std::string> found;
    for (fs::directory_iterator at(root / "annotations", none), end; !none && at != end;
         at.increment(none))
        if (at->path().extension() == ".json" && at->path().stem().string().starts_with(kInstances))
            found.push_back(at->path().string());
    if (found.size() > 1)
        throw FileError((root / "annotations").string(),
                        "has " + std::to_string(found.size()) +
                            " files instances_*.json; name one of them in place of the folder");
    return found.empty() ? std::string() : found.front();
}

CocoPictures readCocoFile(const std::string& path) {
    const CocoReader reader(path);
    if (fs::file_size(path) > kMostCocoBytes)
        reader.refuse("is larger than 256 MiB; keep the images and annotations that are wanted");
    Json whole;
    try {
        whole = Json::parse(core::readTextFile(path));
    } catch (const Json::exception& error) {
        reader.refuse(std::string("is no JSON: ") + error.what());
    }
    if (!whole.is_object()) reader.refuse("is no JSON object");
    CocoPictures result;
    result.about.facts.push_back({"category"});
    std::map<std::int64_t, std::int32_t> categories;
    for (const auto& entry : reader.listOf(whole, "categories")) {
        const auto where = "category " + std::to_string(categories.size() + 1);
        auto& names = result.about.facts[0].values;
        categories.emplace(reader.get<std::int64_t>(entry, where, "id"),
                           static_cast<std::int32_t>(names.size()));
        names.push_back(reader.get<std::string>(entry, where, "name"));
    }
    std::map<std::int64_t, std::size_t> places;
    for (const auto& entry : reader.listOf(whole, "images")) {
        const auto where = "image " + std::to_string(result.pictures.size() + 1);
        CocoPictures::Picture picture;
        picture.name = reader.get<std::string>(entry, where, "file_name");
        const auto width = reader.get<std::int64_t>(entry, where, "width"),
                   height = reader.get<std::int64_t>(entry, where, "height");
        if (width < 1 || height < 1 || width > kMostCocoSide || height > kMostCocoSide)
            reader.refuse(where + ": has " + std::to_string(width) + " x " +
                          std::to_string(height) + " pixels");
        picture.width = static_cast<int>(width), picture.height = static_cast<int>(height);
        if (!places.emplace(reader.get<std::int64_t>(entry, where, "id"), result.pictures.size())
                 .second)
            reader.refuse(where + ": has the 'id' of another image");
        result.pictures.push_back(std::move(picture));
    }
    std::size_t number = 0;
    for (const auto& entry : reader.listOf(whole, "annotations")) {
        const auto where = "annotation " + std::to_string(++number);
        const auto image = places.find(reader.get<std::int64_t>(entry, where, "image_id"));
        if (image == places.end())
            reader.refuse(where + ": is of an image that is not in 'images'");
        auto& picture = result.pictures[image->second];
        const auto category =
            categories.find(reader.get<std::int64_t>(entry, where, "category_id"));
        if (category == categories.end())
            reader.refuse(where + ": is of a category that is not in 'categories'");
        auto outline = reader.outline(entry, where, picture.width, picture.height);
        outline.category = category->second;
        picture.outlines.push_back(std::move(outline));
        if (picture.outlines.size() >= ObjectMask::kNotCounted)
            reader.refuse(where + ": is of an image with more than 65,534 objects");
    }
    // What has no objects has no pairs.
    std::erase_if(result.pictures, [](const auto& picture) { return picture.outlines.empty(); });
    if (result.pictures.empty()) reader.refuse("has no image with annotations");
    for (auto& picture : result.pictures) picture.path = reader.pictureOf(picture.name);
    return result;
}

ObjectMask maskOf(const CocoPictures::Picture& picture) {
    const auto width = static_cast<std::size_t>(picture.width);
    ObjectMask mask{picture.width, picture.height, {}, {}};
    mask.numbers.assign(width * static_cast<std::size_t>(picture.height), ObjectMask::kBackground);
    for (std::size_t k = 0; k < picture.outlines.size(); ++k) {
        const auto& outline = picture.outlines[k];
        auto number = ObjectMask::kNotCounted;
        if (outline.counted) {
            number = static_cast<std::uint16_t>(k + 1);
            mask.objects.push_back({number, {outline.category}, -1});
        }
        for (int y = 0; y < picture.height && !outline.polygons.empty(); ++y) {
            std::vector<bool> inside(width, false);
            for (const auto& polygon : outline.polygons) fillRow(polygon, y, picture.width, inside);
            for (std::size_t x = 0; x < width; ++x)
                if (inside[x]) mask.numbers[static_cast<std::size_t>(y) * width + x] = number;
        }
        std::size_t at = 0;
        for (std::size_t r = 0; r < outline.runs.size(); ++r)
            for (std::uint32_t n = 0; n < outline.runs[r]; ++n, ++at)
                if (r % 2 == 1) {
                    const auto height = static_cast<std::size_t>(picture.height);
                    mask.numbers[at % height * width + at / height] = number;
                }
    }
    return mask;
}

std::vector<std::uint32_t> cocoRuns(const std::string& text) {
    constexpr int first = 48, bits = 5, more = 0x20, sign = 0x10, most = 7;
    std::vector<std::uint32_t> runs;
    for (std::size_t at = 0; at < text.size();) {
        std::int64_t value = 0;
        for (int group = 0;; ++group) {
            const int code = at < text.size() ? static_cast<unsigned char>(text[at++]) - first : -1;
            if (code < 0 || code > 63 || group >= most)
                throw Error("ends within a number, or has a character that is none of the form");
            value |= static_cast<std::int64_t>(code & 0x1f) << (bits * group);
            if (code & more) continue;
            if (code & sign) value |= -(std::int64_t{1} << (bits * (group + 1)));
            break;
        }
        if (runs.size() > 2) value += runs[runs.size() - 2];
        if (value < 0 || value > std::int64_t{1} << 31)
            throw Error("has a run of a negative length");
        runs.push_back(static_cast<std::uint32_t>(value));
    }
    return runs;
}

}  // namespace relascope::datasets
