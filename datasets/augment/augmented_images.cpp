// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/augment/augmented_images.h"

#include <algorithm>
#include <cmath>

namespace relascope::datasets {
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
