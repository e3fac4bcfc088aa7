// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures scaled and cut as an image processor says.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "options/image_processor.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using Filter = ImageProcessor::Filter;
using Fit = ImageProcessor::Fit;

/// Sides of a picture before it is cut, which may be longer than any that is made.
struct ScaledSize {
    std::int64_t width, height;
};

std::int64_t halfToEven(double number) {
    return static_cast<std::int64_t>(std::nearbyint(number));
}

// The sides that have as many patches as are allowed, in about the proportions of the picture.
ScaledSize patchedSize(const ImageProcessor& p, int width, int height) {
    const auto patches = [&](int side, double factor) {
        return std::max(std::int64_t{1},
                        static_cast<std::int64_t>(std::ceil(side * factor / p.patch)));
    };
    double low = 1e-6, high = 100.0;
    while (high - low >= 1e-5) {
        const double factor = (low + high) / 2.0;
        const bool fits = patches(width, factor) * patches(height, factor) <= p.mostPatches;
        (fits ? low : high) = factor;
    }
    return {patches(width, low) * p.patch, patches(height, low) * p.patch};
}

ScaledSize scaledSize(const ImageProcessor& p, int width, int height) {
    if (!p.scales) return {width, height};
    if (p.fit == Fit::Patches) return patchedSize(p, width, height);
    if (p.width == 0 || p.height == 0) return {width, height};
    if (p.fit == Fit::Exact) return {p.width, p.height};
    if (p.width == p.height) {
        const std::int64_t side = p.width;
        return width <= height ? ScaledSize{side, side * height / width}
                               : ScaledSize{side * width / height, side};
    }
    const double factor =
        std::min(static_cast<double>(width) / p.width, static_cast<double>(height) / p.height);
    return {halfToEven(width / factor), halfToEven(height / factor)};
}

/// What is kept of one side: pixels from `first` on, behind `before` black ones.
struct KeptPart {
    std::int64_t first, before;
    int count, whole;
};

KeptPart keptOf(std::int64_t side, int crop, bool halvesToEven) {
    if (crop == 0) return {0, 0, static_cast<int>(side), static_cast<int>(side)};
    const auto over = side - crop;
    if (over < 0)
        return {0, halvesToEven ? -over / 2 : (1 - over) / 2, static_cast<int>(side), crop};
    return {halvesToEven ? halfToEven(static_cast<double>(over) / 2.0) : over / 2, 0, crop, crop};
}

struct KeptMiddle {
    ScaledSize scaled;
    KeptPart across, down;
};

KeptMiddle keptOf(const ImageProcessor& p, int width, int height) {
    const auto size = scaledSize(p, width, height);
    constexpr std::int64_t most = 16384;
    if ((p.cropWidth == 0 && size.width > most) || (p.cropHeight == 0 && size.height > most))
        throw Error("would become " + std::to_string(size.width) + " x " +
                    std::to_string(size.height) + " pixels; at most " + std::to_string(most) +
                    " on a side are read, so cut the picture");
    return {size, keptOf(size.width, p.cropWidth, p.halvesToEven),
            keptOf(size.height, p.cropHeight, p.halvesToEven)};
}

double weightAt(Filter filter, double x) {
    x = std::abs(x);
    if (filter == Filter::Bilinear) return std::max(0.0, 1.0 - x);
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

// For the pixels `kept` of a side of `from` pixels that is scaled to `to`.
std::vector<Taps> tapsOf(int from, std::int64_t to, const KeptPart& kept, Filter filter) {
    const double scale = static_cast<double>(from) / static_cast<double>(to),
                 widened = std::max(scale, 1.0),
                 reach = (filter == Filter::Bilinear ? 1.0 : 2.0) * widened;
    std::vector<Taps> all(static_cast<std::size_t>(kept.count));
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto& taps = all[i];
        const auto place = kept.first + static_cast<std::int64_t>(i);
        const double centre = (static_cast<double>(place) + 0.5) * scale;
        if (filter == Filter::Nearest || from == to) {
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

// One pass along rows (`across`) or columns, of which only the pixels that are kept are made.
Image scaledAlong(const Image& in, std::int64_t to, const KeptPart& kept, Filter filter,
                  bool across) {
    const int from = across ? in.width : in.height;
    if (to == from && kept.count == from && kept.whole == from) return in;
    Image out = in;
    (across ? out.width : out.height) = kept.whole;
    out.pixels.assign(static_cast<std::size_t>(out.width) * out.height * out.channels, 0);
    const auto taps = tapsOf(from, to, kept, filter);
    const auto at = [](const Image& image, int x, int y, int c) {
        return (static_cast<std::size_t>(y) * image.width + x) * image.channels + c;
    };
    const int rows = across ? in.height : kept.count, columns = across ? kept.count : in.width,
              before = static_cast<int>(kept.before);
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) {
            const auto& tap = taps[static_cast<std::size_t>(across ? x : y)];
            for (int c = 0; c < out.channels; ++c) {
                std::int64_t sum = 0;
                for (std::size_t i = 0; i < tap.weights.size(); ++i) {
                    const int place = tap.first + static_cast<int>(i);
                    sum += tap.weights[i] *
                           in.pixels[across ? at(in, place, y, c) : at(in, x, place, c)];
                }
                out.pixels[across ? at(out, x + before, y, c) : at(out, x, y + before, c)] =
                    rounded(sum);
            }
        }
    return out;
}

}  // namespace

PreparedSize preparedSize(const ImageProcessor& p, int width, int height) {
    const auto kept = keptOf(p, width, height);
    return {kept.across.whole, kept.down.whole};
}

PreparedSize preparedSize(const ImageProcessor& p) {
    if (p.cropWidth > 0 && p.cropHeight > 0) return {p.cropWidth, p.cropHeight};
    return p.fit == Fit::Exact ? PreparedSize{p.width, p.height} : PreparedSize{};
}

Image prepared(const Image& image, const ImageProcessor& p) {
    const auto kept = keptOf(p, image.width, image.height);
    const auto across = scaledAlong(image, kept.scaled.width, kept.across, p.filter, true);
    return scaledAlong(across, kept.scaled.height, kept.down, p.filter, false);
}

}  // namespace relascope::core
