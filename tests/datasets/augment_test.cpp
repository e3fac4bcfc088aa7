// SPDX-License-Identifier: GPL-3.0-or-later
// Augmentation: each operation against a plain expression of it, and what is drawn.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "datasets/augment/augmented_images.h"
#include "datasets/registry.h"
#include "support/rooms.h"

namespace relascope {
namespace {

Image randomImage(int width, int height, int channels, std::uint64_t seed) {
    SplitMix random(seed, 0);
    Image image{width, height, channels, {}};
    // Not the whole range, so that stretching and evening out have something to do.
    for (int i = 0; i < width * height * channels; ++i)
        image.pixels.push_back(static_cast<std::uint8_t>(40 + random.below(120 + 10 * (i % 3))));
    return image;
}
Image after(Image image, ImageOperation operation, double amount) {
    applyOperation(image, operation, amount);
    return image;
}
int at(const Image& image, int y, int x, int c) {
    return image.pixels[image.index(y, x, c)];
}

// An operation compared with a function of (image, y, x, channel).
template <class Function>
void expectPixels(ImageOperation operation, double amount, Function&& expected) {
    for (const int channels : {1, 3}) {
        const auto image = randomImage(17, 12, channels, 5);
        const auto made = after(image, operation, amount);
        for (int y = 0; y < 12; ++y)
            for (int x = 0; x < 17; ++x)
                for (int c = 0; c < channels; ++c)
                    ASSERT_EQ(at(made, y, x, c), expected(image, y, x, c))
                        << "row " << y << ", column " << x << ", channel " << c << ", amount "
                        << amount;
    }
}
int inside(const Image& image, double y, double x, int c) {
    const auto row = static_cast<int>(std::floor(y)), column = static_cast<int>(std::floor(x));
    return row < 0 || column < 0 || row >= image.height || column >= image.width
               ? 128
               : at(image, row, column, c);
}

TEST(ImageOperations, MoveToTheNearestPixel) {
    for (const double m : {0.3, -0.2, 0.0}) {
        expectPixels(ImageOperation::ShearX, m, [m](const Image& i, int y, int x, int c) {
            return inside(i, y + 0.5, x + 0.5 + m * (y + 0.5), c);
        });
        expectPixels(ImageOperation::ShearY, m, [m](const Image& i, int y, int x, int c) {
            return inside(i, y + 0.5 + m * (x + 0.5), x + 0.5, c);
        });
    }
    for (const double m : {3.0, -7.0, 14.5}) {
        expectPixels(ImageOperation::TranslateX, m, [m](const Image& i, int y, int x, int c) {
            return inside(i, y + 0.5, x + 0.5 + m, c);
        });
        expectPixels(ImageOperation::TranslateY, m, [m](const Image& i, int y, int x, int c) {
            return inside(i, y + 0.5 + m, x + 0.5, c);
        });
    }
}

TEST(ImageOperations, RotateAgainstTheClock) {
    const auto image = randomImage(9, 9, 3, 6);
    const auto quarter = after(image, ImageOperation::Rotate, 90.0);
    for (int y = 0; y < 9; ++y)
        for (int x = 0; x < 9; ++x)
            ASSERT_EQ(at(quarter, y, x, 1), at(image, x, 8 - y, 1)) << "a quarter to the left";
    EXPECT_EQ(after(image, ImageOperation::Rotate, 0.0), image);
    EXPECT_EQ(after(after(image, ImageOperation::Rotate, 90.0), ImageOperation::Rotate, -90.0),
              image);
    expectPixels(ImageOperation::Rotate, 20.0, [](const Image& i, int y, int x, int c) {
        const double angle = 20.0 * M_PI / 180.0, dy = y + 0.5 - 6.0, dx = x + 0.5 - 8.5;
        return inside(i, 6.0 + std::sin(angle) * dx + std::cos(angle) * dy,
                      8.5 + std::cos(angle) * dx - std::sin(angle) * dy, c);
    });
}

TEST(ImageOperations, ChangePixelsOnTheirOwn) {
    expectPixels(ImageOperation::Invert, 0,
                 [](const Image& i, int y, int x, int c) { return 255 - at(i, y, x, c); });
    for (const double threshold : {256.0, 100.0, 0.0})
        expectPixels(ImageOperation::Solarize, threshold,
                     [threshold](const Image& i, int y, int x, int c) {
                         const int p = at(i, y, x, c);
                         return p >= threshold ? 255 - p : p;
                     });
    for (const int bits : {4, 5, 8})
        expectPixels(ImageOperation::Posterize, bits, [bits](const Image& i, int y, int x, int c) {
            const int step = 1 << (8 - bits);
            return at(i, y, x, c) / step * step;
        });
}

TEST(ImageOperations, BlendAwayFromADullerImage) {
    const auto mixed = [](double dull, double pixel, double factor) {
        return static_cast<int>(std::clamp(dull + factor * (pixel - dull), 0.0, 255.0));
    };
    const auto grey = [](const Image& i, int y, int x) {
        if (i.channels == 1) return at(i, y, x, 0);
        const double sum = 0.299 * at(i, y, x, 0) + 0.587 * at(i, y, x, 1) + 0.114 * at(i, y, x, 2);
        return static_cast<int>(std::floor(sum + 0.5));
    };
    for (const double f : {0.1, 1.0, 1.9}) {
        expectPixels(ImageOperation::Brightness, f, [&](const Image& i, int y, int x, int c) {
            return mixed(0, at(i, y, x, c), f);
        });
        expectPixels(ImageOperation::Color, f, [&](const Image& i, int y, int x, int c) {
            return mixed(grey(i, y, x), at(i, y, x, c), f);
        });
        expectPixels(ImageOperation::Contrast, f, [&](const Image& i, int y, int x, int c) {
            double sum = 0;
            for (int row = 0; row < i.height; ++row)
                for (int column = 0; column < i.width; ++column) sum += grey(i, row, column);
            return mixed(std::floor(sum / (i.height * i.width) + 0.5), at(i, y, x, c), f);
        });
        expectPixels(ImageOperation::Sharpness, f, [&](const Image& i, int y, int x, int c) {
            if (y == 0 || x == 0 || y == i.height - 1 || x == i.width - 1) return at(i, y, x, c);
            double sum = 5 * at(i, y, x, c);
            for (const auto& [dy, dx] :
                 {std::pair{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}})
                sum += at(i, y + dy, x + dx, c);
            return mixed(std::floor(sum / 13 + 0.5), at(i, y, x, c), f);
        });
    }
}

TEST(ImageOperations, StretchAndEvenOutEachChannel) {
    expectPixels(ImageOperation::AutoContrast, 0, [](const Image& i, int y, int x, int c) {
        int low = 255, high = 0;
        for (int row = 0; row < i.height; ++row)
            for (int column = 0; column < i.width; ++column)
                low = std::min(low, at(i, row, column, c)),
                high = std::max(high, at(i, row, column, c));
        const double scale = 255.0 / (high - low);
        return static_cast<int>(at(i, y, x, c) * scale - low * scale);
    });
    // A flat image stays.
    const Image flat{4, 4, 3, std::vector<std::uint8_t>(48, 77)};
    EXPECT_EQ(after(flat, ImageOperation::AutoContrast, 0), flat);
    EXPECT_EQ(after(flat, ImageOperation::Equalize, 0), flat);

    // 64 x 64 values from a narrow range become an even spread over all.
    const auto image = randomImage(64, 64, 3, 9);
    const auto even = after(image, ImageOperation::Equalize, 0);
    for (int c = 0; c < 3; ++c) {
        std::vector<int> before, made;
        for (std::size_t i = static_cast<std::size_t>(c); i < image.pixels.size(); i += 3)
            before.push_back(image.pixels[i]), made.push_back(even.pixels[i]);
        const int brightest = *std::max_element(before.begin(), before.end());
        const auto total = static_cast<int>(before.size()),
                   step = (total -
                           static_cast<int>(std::count(before.begin(), before.end(), brightest))) /
                          255;
        ASSERT_GT(step, 1);
        std::map<int, int> darker;  // pixels below each value
        for (const int value : std::set<int>(before.begin(), before.end()))
            darker[value] = static_cast<int>(
                std::count_if(before.begin(), before.end(), [value](int p) { return p < value; }));
        for (std::size_t i = 0; i < before.size(); ++i)
            ASSERT_EQ(made[i], std::min(255, (step / 2 + darker[before[i]]) / step));
    }
}

TEST(CropAndFlip, IsUniformOverOffsetsAndSides) {
    // Each pixel says where it came from; black is the border.
    Image image{16, 16, 3, {}};
    for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x)
            for (const int value : {10 + y, 10 + x, 200})
                image.pixels.push_back(static_cast<std::uint8_t>(value));
    std::map<std::pair<int, int>, int> offsets;
    int flips = 0;
    constexpr int count = 16200;
    for (int i = 0; i < count; ++i) {
        Image made = image;
        SplitMix random(3, static_cast<std::uint64_t>(i));
        cropAndFlip(made, random);
        const bool flipped = at(made, 8, 7, 1) > at(made, 8, 8, 1);
        const int down = at(made, 8, 8, 0) - 10 - 8, right = at(made, 8, flipped ? 7 : 8, 1) - 18;
        flips += flipped;
        ++offsets[{down, right}];
        for (int y = 0; y < 16; ++y)
            for (int x = 0; x < 16; ++x) {
                const int sy = y + down, sx = (flipped ? 15 - x : x) + right;
                const bool in = sy >= 0 && sx >= 0 && sy < 16 && sx < 16;
                ASSERT_EQ(at(made, y, x, 0), in ? 10 + sy : 0);
                ASSERT_EQ(at(made, y, x, 1), in ? 10 + sx : 0);
                ASSERT_EQ(at(made, y, x, 2), in ? 200 : 0);
            }
    }
    EXPECT_NEAR(flips, count / 2, 320);
    EXPECT_EQ(offsets.size(), 81u);
    for (const auto& [offset, n] : offsets) {
        EXPECT_LE(std::max(std::abs(offset.first), std::abs(offset.second)), 4);
        EXPECT_NEAR(n, count / 81, 70);
    }
}

TEST(AutoAugment, HasThePublishedPolicyAndRanges) {
    const auto& policy = cifarPolicy();
    double probabilities = 0;
    std::map<ImageOperation, int> uses;
    for (const auto& pair : policy)
        for (const auto& step : pair) {
            probabilities += step.probability, ++uses[step.operation];
            ASSERT_TRUE(step.level >= 0 && step.level <= 9);
        }
    EXPECT_NEAR(probabilities, 26.5, 1e-9) << "the sum of the table";
    EXPECT_EQ(uses[ImageOperation::Equalize], 9);
    EXPECT_EQ(uses[ImageOperation::AutoContrast], 7);
    EXPECT_EQ(uses.count(ImageOperation::ShearX), 0u);
    using Op = ImageOperation;
    EXPECT_DOUBLE_EQ(amountOf({Op::ShearY, 1, 9}, 32, false), -0.3);
    EXPECT_NEAR(amountOf({Op::TranslateX, 1, 9}, 32, true), 14.5, 0.01);
    EXPECT_NEAR(amountOf({Op::Rotate, 1, 3}, 32, true), 10.0, 1e-9);
    EXPECT_DOUBLE_EQ(amountOf({Op::Solarize, 1, 0}, 32, true), 256.0);
    EXPECT_DOUBLE_EQ(amountOf({Op::Posterize, 1, 7}, 32, true), 5.0);
    EXPECT_DOUBLE_EQ(amountOf({Op::Contrast, 1, 9}, 32, false), 0.1);
    EXPECT_DOUBLE_EQ(amountOf({Op::Color, 1, 0}, 32, false), 1.0);
}

TEST(AutoAugment, AppliesItsStepsAsOftenAsItSays) {
    // Of an image without contrast, only what changes bytes one by one can be told apart: the
    // expected fraction of inverted images is that of Invert alone.
    const Image flat{8, 8, 1, std::vector<std::uint8_t>(64, 20)};
    int inverted = 0;
    constexpr int count = 50000;
    for (int i = 0; i < count; ++i) {
        Image made = flat;
        SplitMix random(8, static_cast<std::uint64_t>(i));
        autoAugment(made, random);
        inverted += made.pixels[27] == 235;
    }
    // Pairs 0, 14 and 23: 0.1 + 0.0 + 0.1; and Solarize begins at 28 or above.
    EXPECT_NEAR(inverted / double(count), 0.2 / 25, 0.0015);
}

class FewImages : public ImageDataset {
public:
    FewImages() {
        m_info.name = "few", m_info.size = 50;
        m_info.height = m_info.width = 16;
        m_info.classNames = {"a", "b", "c"};
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        const auto image = randomImage(16, 16, 3, static_cast<std::uint64_t>(index) + 100);
        std::copy(image.pixels.begin(), image.pixels.end(), pixels.begin());
        return index % 3;
    }

private:
    DatasetInfo m_info;
};

TEST(AugmentedImages, DependOnSeedPassAndIndexAlone) {
    const auto few = std::make_shared<FewImages>();
    for (const auto how : {Augmentation::CropFlip, Augmentation::AutoAugment}) {
        const AugmentedImages first(few, how, 1, 0), again(few, how, 1, 0), second(few, how, 1, 1),
            other(few, how, 2, 0);
        int sameEpoch = 0, sameSeed = 0, unchanged = 0;
        for (std::int64_t i = 49; i >= 0; --i) {
            ASSERT_EQ(first.sample(i), again.sample(i));
            ASSERT_EQ(first.sample(i).label, i % 3);
            sameEpoch += first.sample(i).image == second.sample(i).image;
            sameSeed += first.sample(i).image == other.sample(i).image;
            unchanged += first.sample(i).image == few->sample(i).image;
        }
        EXPECT_LT(sameEpoch, 5);
        EXPECT_LT(sameSeed, 5);
        EXPECT_LT(unchanged, 5);
        EXPECT_EQ(first.info().classNames, few->info().classNames);
    }
}

}  // namespace
}  // namespace relascope
