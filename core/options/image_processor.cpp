// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/image_processor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

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

int pixels(const std::string& key, const Json& value) {
    constexpr int most = 16384;
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
        value.get<std::uint64_t>() > most)
        refuseKey(key, value, "a whole number from 1 to " + std::to_string(most) + " would open");
    return value.get<int>();
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
    if (!high || !wide) refuseKey(key, *value, "height and width would open");
    height = pixels(std::string(key) + ".height", *high);
    width = pixels(std::string(key) + ".width", *wide);
}

std::vector<double> numbersOf(const Json& json, const char* key, double absent) {
    const auto* value = valueOf(json, key);
    if (!value) return {absent};
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

}  // namespace

ImageProcessor usualImageProcessor(int width, int height, int channels) {
    ImageProcessor p;
    p.width = width, p.height = height;
    p.mean.assign(static_cast<std::size_t>(channels), 0.5);
    p.deviation = p.mean;
    return p;
}

ImageProcessor imageProcessorOf(const std::string& text, int width, int height) {
    // Values that are nested deeper are refused, since walking them would recurse deeply.
    bool deep = false;
    const auto json = Json::parse(
        text,
        [&deep](int depth, Json::parse_event_t, Json&) {
            deep = deep || depth > 32;
            return !deep;
        },
        false);
    if (deep) throw Error("is nested more than 32 deep; save the image processor again");
    if (!json.is_object()) throw Error("is not a JSON object; save the image processor again");
    ImageProcessor p;
    if (flag(json, "do_resize", true)) {
        p.width = width, p.height = height;
        sizeOf(json, "size", p.height, p.width);
    }
    if (const auto* filter = valueOf(json, "resample")) {
        if (!filter->is_number_unsigned() || (*filter != 0 && *filter != 2 && *filter != 3))
            refuseKey("resample", *filter, "0, 2 or 3 would open");
        p.filter = static_cast<ImageProcessor::Filter>(filter->get<int>());
    }
    if (flag(json, "do_center_crop", false)) {
        p.cropWidth = width, p.cropHeight = height;
        sizeOf(json, "crop_size", p.cropHeight, p.cropWidth);
    }
    if (p.width == 0 && p.cropWidth == 0) p.width = width, p.height = height, p.scales = false;
    // (x 255 factor - mean) / deviation of pixels x in 0..1.
    double factor = 1.0 / 255.0;
    if (const auto* given = valueOf(json, "rescale_factor")) {
        if (!given->is_number() || !(given->get<double>() > 0))
            refuseKey("rescale_factor", *given, "a number above 0 would open");
        factor = given->get<double>();
    }
    const double scale = flag(json, "do_rescale", true) ? 255.0 * factor : 255.0;
    const bool normalised = flag(json, "do_normalize", true);
    p.mean = normalised ? numbersOf(json, "image_mean", 0.5) : std::vector<double>{0.0};
    p.deviation = normalised ? numbersOf(json, "image_std", 0.5) : std::vector<double>{1.0};
    for (const auto deviation : p.deviation)
        if (!(deviation > 0)) refuseKey("image_std", deviation, "numbers above 0 would open");
    // 255 / 255 is 1 but for rounding, and most files have that factor.
    if (std::abs(scale - 1.0) > 1e-12)
        for (std::size_t c = 0; c < p.mean.size(); ++c) p.mean[c] /= scale;
    if (std::abs(scale - 1.0) > 1e-12)
        for (auto& deviation : p.deviation) deviation /= scale;
    return p;
}

std::string imageProcessorText(const ImageProcessor& p) {
    Json json = {{"size", {p.width, p.height}},
                 {"resample", static_cast<int>(p.filter)},
                 {"crop", {p.cropWidth, p.cropHeight}},
                 {"mean", p.mean},
                 {"deviation", p.deviation}};
    if (!p.scales) json["scales"] = false;
    return json.dump();
}

ImageProcessor imageProcessorFrom(const std::string& text) {
    if (text.empty()) return {};
    try {
        const auto json = Json::parse(text);
        ImageProcessor p;
        const auto side = [](const Json& value) { return std::clamp(value.get<int>(), 0, 16384); };
        p.width = side(json.at("size").at(0)), p.height = side(json.at("size").at(1));
        p.scales = json.value("scales", true);
        p.filter = static_cast<ImageProcessor::Filter>(json.at("resample").get<int>());
        p.cropWidth = side(json.at("crop").at(0)), p.cropHeight = side(json.at("crop").at(1));
        p.mean = json.at("mean").get<std::vector<double>>();
        p.deviation = json.at("deviation").get<std::vector<double>>();
        return p;
    } catch (const nlohmann::json::exception&) {
        throw OptionError("model.preprocessor",
                          "'" + text.substr(0, 60) + "' does not describe how pictures are read");
    }
}

namespace {

double weightAt(ImageProcessor::Filter filter, double x) {
    x = std::abs(x);
    if (filter == ImageProcessor::Filter::Bilinear) return std::max(0.0, 1.0 - x);
    constexpr double a = -0.5;  // Keys's cubic
    if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
    return 0.0;
}

// The pixels that one pixel of the result is a weighted sum of, in steps of 2^-22.
struct Taps {
    int first = 0;
    std::vector<std::int64_t> weights;
};
constexpr int kBits = 22;

std::vector<Taps> tapsOf(int from, int to, ImageProcessor::Filter filter) {
    const double scale = static_cast<double>(from) / to, widened = std::max(scale, 1.0),
                 reach = (filter == ImageProcessor::Filter::Bilinear ? 1.0 : 2.0) * widened;
    std::vector<Taps> all(static_cast<std::size_t>(to));
    for (int place = 0; place < to; ++place) {
        auto& taps = all[static_cast<std::size_t>(place)];
        const double centre = (place + 0.5) * scale;
        if (filter == ImageProcessor::Filter::Nearest) {
            taps.first = std::min(from - 1, static_cast<int>(centre));
            taps.weights = {std::int64_t{1} << kBits};
            continue;
        }
        taps.first = std::max(0, static_cast<int>(centre - reach + 0.5));
        const int end = std::min(from, static_cast<int>(centre + reach + 0.5));
        std::vector<double> weights;
        double sum = 0.0;
        for (int at = taps.first; at < end; ++at) {
            weights.push_back(weightAt(filter, (at - centre + 0.5) / widened));
            sum += weights.back();
        }
        for (const auto weight : weights)
            taps.weights.push_back(std::llround(weight / sum * (std::int64_t{1} << kBits)));
    }
    return all;
}

std::uint8_t rounded(std::int64_t sum) {
    return static_cast<std::uint8_t>(
        std::clamp<std::int64_t>((sum + (std::int64_t{1} << (kBits - 1))) >> kBits, 0, 255));
}

// One pass along rows (`across`) or columns.
Image scaledAlong(const Image& in, int to, ImageProcessor::Filter filter, bool across) {
    Image out = in;
    (across ? out.width : out.height) = to;
    out.pixels.assign(static_cast<std::size_t>(out.width) * out.height * out.channels, 0);
    const auto taps = tapsOf(across ? in.width : in.height, to, filter);
    const auto at = [](const Image& image, int x, int y, int c) {
        return (static_cast<std::size_t>(y) * image.width + x) * image.channels + c;
    };
    for (int y = 0; y < out.height; ++y)
        for (int x = 0; x < out.width; ++x) {
            const auto& tap = taps[static_cast<std::size_t>(across ? x : y)];
            for (int c = 0; c < out.channels; ++c) {
                std::int64_t sum = 0;
                for (std::size_t i = 0; i < tap.weights.size(); ++i) {
                    const int place = tap.first + static_cast<int>(i);
                    sum += tap.weights[i] *
                           in.pixels[across ? at(in, place, y, c) : at(in, x, place, c)];
                }
                out.pixels[at(out, x, y, c)] = rounded(sum);
            }
        }
    return out;
}

// The middle; black where the picture is smaller.
Image croppedTo(const Image& in, int width, int height) {
    Image out = in;
    out.width = width, out.height = height;
    out.pixels.assign(static_cast<std::size_t>(width) * height * in.channels, 0);
    const auto floorHalf = [](int n) { return n >= 0 ? n / 2 : -((1 - n) / 2); };
    const int left = floorHalf(in.width - width), top = floorHalf(in.height - height);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const int fromX = x + left, fromY = y + top;
            if (fromX < 0 || fromY < 0 || fromX >= in.width || fromY >= in.height) continue;
            for (int c = 0; c < in.channels; ++c)
                out.pixels[(static_cast<std::size_t>(y) * width + x) * in.channels + c] =
                    in.pixels[(static_cast<std::size_t>(fromY) * in.width + fromX) * in.channels +
                              c];
        }
    return out;
}

}  // namespace

Image prepared(const Image& image, const ImageProcessor& p) {
    Image out = image;
    if (p.scales && p.width > 0 && p.width != out.width)
        out = scaledAlong(out, p.width, p.filter, true);
    if (p.scales && p.height > 0 && p.height != out.height)
        out = scaledAlong(out, p.height, p.filter, false);
    if (p.cropWidth > 0 && (p.cropWidth != out.width || p.cropHeight != out.height))
        out = croppedTo(out, p.cropWidth, p.cropHeight);
    return out;
}

}  // namespace relascope::core
