// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/image_processor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "types/error.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;

std::string shownValue(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60);
}

[[noreturn]] void refuseKey(const std::string& key, const Json& value, const std::string& wanted) {
    throw OptionError(key, "is " + shownValue(value) + ", which is not supported; " + wanted);
}

const Json* valueOf(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? nullptr : &*found;
}

bool flag(const Json& json, const char* key, bool absent) {
    const auto* value = valueOf(json, key);
    if (!value) return absent;
    if (!value->is_boolean()) refuseKey(key, *value, "true or false would open");
    return value->get<bool>();
}

constexpr int kLargestSide = 16384;

int pixels(const std::string& key, const Json& value) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
        value.get<std::uint64_t>() > kLargestSide)
        refuseKey(key, value,
                  "a whole number from 1 to " + std::to_string(kLargestSide) + " would open");
    return value.get<int>();
}

int pixelsOr(const Json& json, const char* key, int absent) {
    const auto* value = valueOf(json, key);
    return value ? pixels(key, *value) : absent;
}

// {"height", "width"}, or a number for both.
void sizeOf(const Json& json, const char* key, int& height, int& width) {
    const auto* value = valueOf(json, key);
    if (!value) return;
    if (value->is_number()) {
        height = width = pixels(key, *value);
        return;
    }
    const auto* high = value->is_object() ? valueOf(*value, "height") : nullptr;
    const auto* wide = value->is_object() ? valueOf(*value, "width") : nullptr;
    if (!high || !wide) refuseKey(key, *value, "a number, or height and width, would open");
    height = pixels(std::string(key) + ".height", *high);
    width = pixels(std::string(key) + ".width", *wide);
}

std::vector<double> numbersOf(const Json& json, const char* key, std::vector<double> absent) {
    const auto* value = valueOf(json, key);
    if (!value) return absent;
    if (value->is_number()) return {value->get<double>()};
    std::vector<double> numbers;
    if (value->is_array())
        for (const auto& number : *value)
            if (number.is_number() && std::isfinite(number.get<double>()))
                numbers.push_back(number.get<double>());
    if (numbers.size() != value->size() || (numbers.size() != 3 && numbers.size() != 1))
        refuseKey(key, *value, "three numbers would open");
    return numbers;
}

using Filter = ImageProcessor::Filter;
using Fit = ImageProcessor::Fit;
struct Statistics {
    std::vector<double> mean, deviation;
};
const Statistics kHalves{{0.5}, {0.5}};
const Statistics kImageNet{{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
const Statistics kClip{{0.48145466, 0.4578275, 0.40821073}, {0.26862954, 0.26130258, 0.27577711}};

/// What a class of processors does where its file says nothing.
struct ProcessorClass {
    std::string_view name;
    Filter filter = Filter::Bilinear;
    const Statistics& statistics = kHalves;
    bool crops = false;
    Fit fit = Fit::Exact;  ///< of a `size` that is one number
};

const ProcessorClass& classOf(const Json& json) {
    static const std::array<ProcessorClass, 7> classes = {
        {{""},
         {"CLIP", Filter::Bicubic, kClip, true, Fit::Cover},
         {"Bit", Filter::Bicubic, kClip, true, Fit::Cover},
         {"Beit", Filter::Bicubic, kHalves, true},
         {"DINOv3ViT", Filter::Bilinear, kImageNet},
         {"Siglip", Filter::Bicubic},
         {"Siglip2", Filter::Bilinear, kHalves, false, Fit::Patches}}};
    for (const char* key : {"image_processor_type", "feature_extractor_type"}) {
        const auto* value = valueOf(json, key);
        if (!value || !value->is_string()) continue;
        std::string name = *value;
        for (const std::string_view end : {"Fast", "ImageProcessor", "FeatureExtractor"})
            if (name.ends_with(end)) name.erase(name.size() - end.size());
        for (const auto& one : classes)
            if (one.name == name) return one;
    }
    return classes[0];
}

// A number, {"height", "width"} or {"shortest_edge"}.
void readSize(const Json& json, ImageProcessor& p) {
    const auto* value = valueOf(json, "size");
    const auto* edge = value && value->is_object() ? valueOf(*value, "shortest_edge") : nullptr;
    if (!edge) {
        if (value && value->is_object()) p.fit = Fit::Exact;
        return sizeOf(json, "size", p.height, p.width);
    }
    for (const char* other : {"longest_edge", "height", "width"})
        if (valueOf(*value, other))
            refuseKey("size", *value, "shortest_edge alone, or height and width, would open");
    p.fit = Fit::Cover;
    p.height = p.width = pixels("size.shortest_edge", *edge);
}

void readPatches(const Json& json, ImageProcessor& p) {
    p.fit = Fit::Patches;
    p.width = p.height = 0;
    p.patch = pixelsOr(json, "patch_size", 16);
    p.mostPatches = pixelsOr(json, "max_num_patches", 256);
    if (std::int64_t{p.patch} * p.mostPatches > kLargestSide)
        throw OptionError("max_num_patches",
                          "is " + std::to_string(p.mostPatches) + " and patch_size is " +
                              std::to_string(p.patch) + ", so a picture could be more than " +
                              std::to_string(kLargestSide) + " pixels wide; give fewer patches");
}

void requireAboveZero(const char* key, const std::vector<double>& deviations) {
    for (const auto deviation : deviations)
        if (!(deviation > 0)) refuseKey(key, deviation, "numbers above 0 would open");
}

// Values that are nested deeper are refused, since walking them would recurse deeply.
Json objectIn(const std::string& text, const std::string& wayOut) {
    bool deep = false;
    auto json = Json::parse(
        text,
        [&deep](int depth, Json::parse_event_t, Json&) {
            deep = deep || depth > 32;
            return !deep;
        },
        false);
    if (deep) throw Error("is nested more than 32 deep; " + wayOut);
    if (!json.is_object()) throw Error("is not a JSON object; " + wayOut);
    return json;
}

}  // namespace

ImageProcessor usualImageProcessor(int width, int height, int channels) {
    ImageProcessor p;
    p.width = width, p.height = height;
    p.mean.assign(static_cast<std::size_t>(channels), 0.5);
    p.deviation = p.mean;
    return p;
}

ImageProcessor imageProcessorOf(const std::string& text, int width, int height) {
    const auto json = objectIn(text, "save the image processor again");
    const auto& kind = classOf(json);
    ImageProcessor p;
    if (flag(json, "do_resize", true)) {
        p.width = width, p.height = height, p.fit = kind.fit;
        if (p.fit == Fit::Patches || valueOf(json, "max_num_patches"))
            readPatches(json, p);
        else
            readSize(json, p);
    }
    p.filter = kind.filter;
    if (const auto* filter = valueOf(json, "resample")) {
        if (!filter->is_number_unsigned() || (*filter != 0 && *filter != 2 && *filter != 3))
            refuseKey("resample", *filter, "0, 2 or 3 would open");
        p.filter = static_cast<Filter>(filter->get<int>());
    }
    if (flag(json, "do_center_crop", kind.crops)) {
        p.cropWidth = width, p.cropHeight = height;
        sizeOf(json, "crop_size", p.cropHeight, p.cropWidth);
    }
    if (p.width == 0 && p.cropWidth == 0 && p.fit != Fit::Patches)
        p.width = width, p.height = height, p.scales = false;
    // (x 255 factor - mean) / deviation of pixels x in 0..1.
    double factor = 1.0 / 255.0;
    if (const auto* given = valueOf(json, "rescale_factor")) {
        if (!given->is_number() || !(given->get<double>() > 0))
            refuseKey("rescale_factor", *given, "a number above 0 would open");
        factor = given->get<double>();
    }
    const double scale = flag(json, "do_rescale", true) ? 255.0 * factor : 255.0;
    const bool normalised = flag(json, "do_normalize", true);
    p.mean =
        normalised ? numbersOf(json, "image_mean", kind.statistics.mean) : std::vector<double>{0.0};
    p.deviation = normalised ? numbersOf(json, "image_std", kind.statistics.deviation)
                             : std::vector<double>{1.0};
    requireAboveZero("image_std", p.deviation);
    // 255 / 255 is 1 but for rounding, and most files have that factor.
    if (std::abs(scale - 1.0) > 1e-12)
        for (std::size_t c = 0; c < p.mean.size(); ++c) p.mean[c] /= scale;
    if (std::abs(scale - 1.0) > 1e-12)
        for (auto& deviation : p.deviation) deviation /= scale;
    return p;
}

ImageProcessor timmImageProcessor(const std::string& text) {
    const auto json = objectIn(text, "save the model again");
    const auto* inside = valueOf(json, "pretrained_cfg");
    if (inside && !inside->is_object())
        refuseKey("pretrained_cfg", *inside, "an object would open");
    const Json& given = inside ? *inside : json;
    ImageProcessor p;
    p.cropHeight = p.cropWidth = 224;
    if (const auto* size = valueOf(given, "input_size")) {
        if (!size->is_array() || size->size() != 3)
            refuseKey("input_size", *size, "channels, height and width would open");
        p.cropHeight = pixels("input_size", (*size)[1]);
        p.cropWidth = pixels("input_size", (*size)[2]);
    }
    double part = 0.875;
    if (const auto* value = valueOf(given, "crop_pct")) {
        part = value->is_number() ? value->get<double>() : -1.0;
        if (part == 0.0) part = 0.875;
    }
    const double high = std::floor(p.cropHeight / part), wide = std::floor(p.cropWidth / part);
    if (!(part > 0.0) || !(std::min(high, wide) >= 1.0) || std::max(high, wide) > kLargestSide)
        refuseKey("crop_pct", *valueOf(given, "crop_pct"), "a number such as 0.875 would open");
    p.height = static_cast<int>(high), p.width = static_cast<int>(wide);
    const auto choice = [&given](const char* key, const char* absent) {
        const auto* value = valueOf(given, key);
        return value ? *value : Json(absent);
    };
    const auto mode = choice("crop_mode", "center"), filter = choice("interpolation", "bicubic");
    if (mode != "center" && mode != "squash")
        refuseKey("crop_mode", mode, "'center' or 'squash' would open");
    p.fit = mode == "squash" ? Fit::Exact : Fit::Cover;
    if (filter == "bicubic")
        p.filter = Filter::Bicubic;
    else if (filter == "bilinear")
        p.filter = Filter::Bilinear;
    else if (filter == "nearest")
        p.filter = Filter::Nearest;
    else
        refuseKey("interpolation", filter, "'bicubic', 'bilinear' or 'nearest' would open");
    // timm hands its filter only to the scaling by the shortest side.
    if (p.fit == Fit::Cover && p.height != p.width) p.filter = Filter::Bilinear;
    p.halvesToEven = true;
    p.mean = numbersOf(given, "mean", kImageNet.mean);
    p.deviation = numbersOf(given, "std", kImageNet.deviation);
    requireAboveZero("std", p.deviation);
    return p;
}

std::string imageProcessorText(const ImageProcessor& p) {
    Json json = {{"size", {p.width, p.height}},
                 {"resample", static_cast<int>(p.filter)},
                 {"crop", {p.cropWidth, p.cropHeight}},
                 {"mean", p.mean},
                 {"deviation", p.deviation}};
    if (!p.scales) json["scales"] = false;
    if (p.fit == Fit::Cover) json["fit"] = "cover";
    if (p.fit == Fit::Patches) json["patches"] = {p.patch, p.mostPatches};
    if (p.halvesToEven) json["halves_to_even"] = true;
    return json.dump();
}

ImageProcessor imageProcessorFrom(const std::string& text) {
    if (text.empty()) return {};
    try {
        const auto json = Json::parse(text);
        ImageProcessor p;
        const auto side = [](const Json& value) {
            return std::clamp(value.get<int>(), 0, kLargestSide);
        };
        p.width = side(json.at("size").at(0)), p.height = side(json.at("size").at(1));
        p.scales = json.value("scales", true);
        if (json.value("fit", "") == "cover") p.fit = Fit::Cover;
        if (const auto patches = json.find("patches"); patches != json.end()) {
            p.fit = Fit::Patches;
            p.patch = std::max(1, side(patches->at(0)));
            p.mostPatches =
                std::clamp(side(patches->at(1)), 1, std::max(1, kLargestSide / p.patch));
        }
        p.halvesToEven = json.value("halves_to_even", false);
        p.filter = static_cast<Filter>(json.at("resample").get<int>());
        p.cropWidth = side(json.at("crop").at(0)), p.cropHeight = side(json.at("crop").at(1));
        p.mean = json.at("mean").get<std::vector<double>>();
        p.deviation = json.at("deviation").get<std::vector<double>>();
        return p;
    } catch (const nlohmann::json::exception&) {
        throw OptionError("model.preprocessor",
                          "'" + text.substr(0, 60) + "' does not describe how pictures are read");
    }
}

}  // namespace relascope::core
