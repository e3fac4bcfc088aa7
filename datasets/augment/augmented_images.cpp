// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "datasets/augment/augmented_images.h"

namespace relascope::datasets {
namespace {

constexpr std::uint8_t kUncovered = 128;

using Table = std::array<std::uint8_t, 256>;
using Histogram = std::array<int, 256>;

std::uint8_t clamped(double value) {
    return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
}

// The source position of the pixel at (x, y): a x + b y + c, d x + e y + f, in pixels from the
// corner.
struct Affine {
    double a = 1.0, b = 0.0, c = 0.0, d = 0.0, e = 1.0, f = 0.0;
};

void move(Image& image, const Affine& from) {
    Image moved = image;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const double px = x + 0.5, py = y + 0.5;
            const auto sx = static_cast<int>(std::floor(from.a * px + from.b * py + from.c)),
                       sy = static_cast<int>(std::floor(from.d * px + from.e * py + from.f));
            const bool inside = sx >= 0 && sy >= 0 && sx < image.width && sy < image.height;
            for (int c = 0; c < image.channels; ++c)
                moved.pixels[image.index(y, x, c)] =
                    inside ? image.pixels[image.index(sy, sx, c)] : kUncovered;
        }
    image = std::move(moved);
}

Affine rotation(const Image& image, double degrees) {
    const double angle = degrees * std::numbers::pi / 180.0, cosine = std::cos(angle),
                 sine = std::sin(angle), x = image.width / 2.0, y = image.height / 2.0;
    // Rows run down, so this rotates counter-clockwise.
    return {cosine, -sine, x - cosine * x + sine * y, sine, cosine, y - sine * x - cosine * y};
}

template <class Function>
void mapChannels(Image& image, Function&& tableOf) {
    const auto channels = static_cast<std::size_t>(image.channels);
    for (std::size_t c = 0; c < channels; ++c) {
        Histogram histogram{};
        for (std::size_t i = c; i < image.pixels.size(); i += channels)
            ++histogram[image.pixels[i]];
        const Table table = tableOf(histogram);
        for (std::size_t i = c; i < image.pixels.size(); i += channels)
            image.pixels[i] = table[image.pixels[i]];
    }
}

template <class Function>
void mapPixels(Image& image, Function&& value) {
    for (auto& pixel : image.pixels) pixel = value(pixel);
}

Table identity() {
    Table table{};
    for (std::size_t i = 0; i < 256; ++i) table[i] = static_cast<std::uint8_t>(i);
    return table;
}

Table stretched(const Histogram& histogram) {
    const auto used = [](int n) { return n > 0; };
    const auto low = std::find_if(histogram.begin(), histogram.end(), used) - histogram.begin(),
               high = 255 - (std::find_if(histogram.rbegin(), histogram.rend(), used) -
                             histogram.rbegin());
    if (high <= low) return identity();
    const double scale = 255.0 / static_cast<double>(high - low);
    Table table{};
    for (std::size_t i = 0; i < 256; ++i)
        table[i] = clamped(static_cast<double>(i) * scale - static_cast<double>(low) * scale);
    return table;
}

Table equalized(const Histogram& histogram) {
    int count = 0, last = 0;
    for (const int n : histogram)
        if (n > 0) count += n, last = n;
    const int step = (count - last) / 255;
    if (step == 0) return identity();
    Table table{};
    int below = step / 2;
    for (std::size_t i = 0; i < 256; ++i) {
        table[i] = static_cast<std::uint8_t>(std::min(255, below / step));
        below += histogram[i];
    }
    return table;
}

// Interpolates between a degenerate image (factor 0) and this one (1), or beyond.
void blend(Image& image, const std::vector<std::uint8_t>& dull, double factor) {
    for (std::size_t i = 0; i < image.pixels.size(); ++i)
        image.pixels[i] = clamped(dull[i] + factor * (image.pixels[i] - dull[i]));
}

std::vector<std::uint8_t> greyImage(const Image& image) {
    auto grey = image.pixels;
    if (image.channels == 3)
        for (std::size_t i = 0; i < grey.size(); i += 3)
            std::fill_n(grey.begin() + static_cast<std::ptrdiff_t>(i), 3, greyOf(&image.pixels[i]));
    return grey;
}

std::vector<std::uint8_t> meanGrey(const Image& image) {
    const auto grey = greyImage(image);
    double sum = 0.0;
    for (const auto value : grey) sum += value;
    const auto mean = clamped(sum / static_cast<double>(grey.size()) + 0.5);
    return std::vector<std::uint8_t>(grey.size(), mean);
}

// Weight 5 for each pixel and 1 for its eight neighbours, divided by 13.
std::vector<std::uint8_t> smoothed(const Image& image) {
    auto smooth = image.pixels;
    for (int y = 1; y + 1 < image.height; ++y)
        for (int x = 1; x + 1 < image.width; ++x)
            for (int c = 0; c < image.channels; ++c) {
                int sum = 4 * image.pixels[image.index(y, x, c)];
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx)
                        sum += image.pixels[image.index(y + dy, x + dx, c)];
                smooth[image.index(y, x, c)] = clamped(sum / 13.0 + 0.5);
            }
    return smooth;
}

}  // namespace

std::uint8_t greyOf(const std::uint8_t* rgb) {
    return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >>
                                     16);
}

void applyOperation(Image& image, ImageOperation operation, double amount) {
    switch (operation) {
        case ImageOperation::ShearX:
            return move(image, {1.0, amount, 0.0, 0.0, 1.0, 0.0});
        case ImageOperation::ShearY:
            return move(image, {1.0, 0.0, 0.0, amount, 1.0, 0.0});
        case ImageOperation::TranslateX:
            return move(image, {1.0, 0.0, amount, 0.0, 1.0, 0.0});
        case ImageOperation::TranslateY:
            return move(image, {1.0, 0.0, 0.0, 0.0, 1.0, amount});
        case ImageOperation::Rotate:
            return move(image, rotation(image, amount));
        case ImageOperation::AutoContrast:
            return mapChannels(image, stretched);
        case ImageOperation::Invert:
            return mapPixels(image, [](int p) { return static_cast<std::uint8_t>(255 - p); });
        case ImageOperation::Equalize:
            return mapChannels(image, equalized);
        case ImageOperation::Solarize:
            return mapPixels(image, [amount](int p) {
                return static_cast<std::uint8_t>(p < amount ? p : 255 - p);
            });
        case ImageOperation::Posterize: {
            const int mask = 0xff << (8 - static_cast<int>(amount));
            return mapPixels(image, [mask](int p) { return static_cast<std::uint8_t>(p & mask); });
        }
        case ImageOperation::Contrast:
            return blend(image, meanGrey(image), amount);
        case ImageOperation::Color:
            return blend(image, greyImage(image), amount);
        case ImageOperation::Brightness:
            return blend(image, std::vector<std::uint8_t>(image.pixels.size()), amount);
        case ImageOperation::Sharpness:
            return blend(image, smoothed(image), amount);
    }
}

namespace {

constexpr int kBorder = 4;

using enum ImageOperation;

}  // namespace

void cropAndFlip(Image& image, SplitMix& random) {
    const int down = random.below(2 * kBorder + 1) - kBorder,
              right = random.below(2 * kBorder + 1) - kBorder;
    const bool flip = random.below(2) == 1;
    if (down == 0 && right == 0 && !flip) return;
    Image made = image;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const int sy = y + down, sx = (flip ? image.width - 1 - x : x) + right;
            const bool inside = sx >= 0 && sy >= 0 && sx < image.width && sy < image.height;
            for (int c = 0; c < image.channels; ++c)
                made.pixels[image.index(y, x, c)] =
                    inside ? image.pixels[image.index(sy, sx, c)] : std::uint8_t{0};
        }
    image = std::move(made);
}

const std::array<std::array<PolicyStep, 2>, 25>& cifarPolicy() {
    static const std::array<std::array<PolicyStep, 2>, 25> policy = {{
        {{{Invert, 0.1, 7}, {Contrast, 0.2, 6}}},
        {{{Rotate, 0.7, 2}, {TranslateX, 0.3, 9}}},
        {{{Sharpness, 0.8, 1}, {Sharpness, 0.9, 3}}},
        {{{ShearY, 0.5, 8}, {TranslateY, 0.7, 9}}},
        {{{AutoContrast, 0.5, 8}, {Equalize, 0.9, 2}}},
        {{{ShearY, 0.2, 7}, {Posterize, 0.3, 7}}},
        {{{Color, 0.4, 3}, {Brightness, 0.6, 7}}},
        {{{Sharpness, 0.3, 9}, {Brightness, 0.7, 9}}},
        {{{Equalize, 0.6, 5}, {Equalize, 0.5, 1}}},
        {{{Contrast, 0.6, 7}, {Sharpness, 0.6, 5}}},
        {{{Color, 0.7, 7}, {TranslateX, 0.5, 8}}},
        {{{Equalize, 0.3, 7}, {AutoContrast, 0.4, 8}}},
        {{{TranslateY, 0.4, 3}, {Sharpness, 0.2, 6}}},
        {{{Brightness, 0.9, 6}, {Color, 0.2, 8}}},
        {{{Solarize, 0.5, 2}, {Invert, 0.0, 3}}},
        {{{Equalize, 0.2, 0}, {AutoContrast, 0.6, 0}}},
        {{{Equalize, 0.2, 8}, {Equalize, 0.6, 4}}},
        {{{Color, 0.9, 9}, {Equalize, 0.6, 6}}},
        {{{AutoContrast, 0.8, 4}, {Solarize, 0.2, 8}}},
        {{{Brightness, 0.1, 3}, {Color, 0.7, 0}}},
        {{{Solarize, 0.4, 5}, {AutoContrast, 0.9, 3}}},
        {{{TranslateY, 0.9, 9}, {TranslateY, 0.7, 9}}},
        {{{AutoContrast, 0.9, 2}, {Solarize, 0.8, 3}}},
        {{{Equalize, 0.8, 8}, {Invert, 0.1, 3}}},
        {{{TranslateY, 0.7, 9}, {AutoContrast, 0.9, 1}}},
    }};
    return policy;
}

double amountOf(const PolicyStep& step, int side, bool positive) {
    const double magnitude = step.level / 9.0, sign = positive ? 1.0 : -1.0;
    switch (step.operation) {
        case ShearX:
        case ShearY:
            return sign * magnitude * 0.3;
        case TranslateX:
        case TranslateY:
            return sign * magnitude * side * 150.0 / 331.0;
        case Rotate:
            return sign * magnitude * 30.0;
        case Solarize:
            return 256.0 * (1.0 - magnitude);
        case Posterize:
            return std::round(8.0 - 4.0 * magnitude);
        case Contrast:
        case Color:
        case Brightness:
        case Sharpness:
            return 1.0 + sign * magnitude * 0.9;
        case AutoContrast:
        case Invert:
        case Equalize:
            break;
    }
    return 0.0;
}

void autoAugment(Image& image, SplitMix& random) {
    const auto& policy = cifarPolicy();
    const auto chosen = static_cast<std::size_t>(random.below(static_cast<int>(policy.size())));
    for (const auto& step : policy[chosen]) {
        // Always drawn, so that each step uses the same number of draws.
        const bool applied = random.uniform() < step.probability, positive = random.below(2) == 1;
        const int side = step.operation == TranslateY ? image.height : image.width;
        if (applied) applyOperation(image, step.operation, amountOf(step, side, positive));
    }
}

AugmentedImages::AugmentedImages(core::ImageDatasetPtr images, Augmentation how, std::uint64_t seed,
                                 std::int64_t epoch)
    : m_images(std::move(images)),
      m_how(how),
      m_seed(SplitMix(seed, static_cast<std::uint64_t>(epoch)).next()) {}

std::int64_t AugmentedImages::read(std::int64_t index, std::span<std::uint8_t> pixels) const {
    const auto& i = m_images->info();
    Image image{i.width, i.height, i.channels, std::vector<std::uint8_t>(pixelBytes())};
    const auto label = m_images->read(index, image.pixels);
    SplitMix random(m_seed, static_cast<std::uint64_t>(index));
    cropAndFlip(image, random);
    if (m_how == Augmentation::AutoAugment) autoAugment(image, random);
    std::copy(image.pixels.begin(), image.pixels.end(), pixels.begin());
    return label;
}

}  // namespace relascope::datasets
