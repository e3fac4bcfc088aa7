// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures as the image classifiers of public families read them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analysis/open_model.h"
#include "analysis/verify/verify.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "datasets/pictures.h"
#include "datasets/readers/image_folder.h"
#include "model/public/public_options.h"
#include "options/image_processor.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

const std::string kPublic = std::string(RELASCOPE_FIXTURES) + "/golden/public/";

TEST(PublicPictures, ArePreparedAsThePublishedPackageDoes) {
    for (const std::string name : {"vit", "deit_teacher"}) {
        const auto report = verifyFolder(kPublic + name, "cpu", "", readImageFile);
        EXPECT_TRUE(report.ok) << name;
        bool compared = false;
        for (const auto& line : report.lines) {
            EXPECT_TRUE(line.ok) << name << " " << line.name << " " << line.absolute;
            compared = compared || line.name == "preprocess/pixel_values";
        }
        EXPECT_TRUE(compared) << name;
    }
}

TEST(PublicPictures, AreInputsOfTheModelAsStored) {
    core::OpenedModel model(kPublic + "vit", "", "cpu");
    const auto sample = imageSample(kPublic + "vit/image.png", model.options());
    const auto fromFile = model.probe(sample, {});
    const auto stored = model.probe(model.referenceInput(0), {});
    ASSERT_EQ(fromFile.probabilities.size(), 5u);
    EXPECT_EQ(fromFile.classNames.front().size() > 1, true) << "a name, not a number";
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_NEAR(fromFile.probabilities[i], stored.probabilities[i], 0.02);
}

// A photo that lies on its side is the input that every viewer shows.
TEST(PublicPictures, AreInputsAsTheyStandUpright) {
    core::OpenedModel model(kPublic + "vit", "", "cpu");
    testing_support::TemporaryFolder home("upright");
    std::filesystem::create_directories(home.path());
    const auto turned = std::string(RELASCOPE_FIXTURES) + "/pictures/exif6.jpg";
    testing_support::writePng(home / "upright.png", readImageFile(turned));
    EXPECT_EQ(imageSample(turned, model.options()).image,
              imageSample(home / "upright.png", model.options()).image);
}

TEST(PublicPictures, RefuseWhatIsNotComputed) {
    const auto refused = [](const std::string& text, const std::string& key) {
        try {
            imageProcessorOf(text, 24, 24);
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
        }
    };
    refused(R"({"size": {"shortest_edge": 256}})", "size");
    refused(R"({"resample": 1})", "resample");
    refused(R"({"image_std": [0, 1, 1]})", "image_std");
    refused(R"({"size": 0})", "size");
    refused("[1]", "is not a JSON object");
}

// Two pixels with alpha, (200, 100, 50, 0) and (10, 20, 30, 128): as Pillow's convert("RGB").
TEST(PublicPictures, LeaveTransparencyOut) {
    const char png[] =
        "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02"
        "\x00\x00\x00\x01\x08\x06\x00\x00\x00\xf4\x22\x7f\x8a\x00\x00\x00\x11\x49\x44\x41"
        "\x54\x78\xda\x63\x38\x91\x62\xc4\xc0\x25\x22\xd7\x00\x00\x0b\x51\x02\x1b\x23\xeb"
        "\xbb\xf2\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";
    testing_support::TemporaryFolder home("alpha");
    std::filesystem::create_directories(home.path());
    std::ofstream(home / "x.png", std::ios::binary).write(png, sizeof png - 1);
    const auto image = readImageFile(home / "x.png");
    EXPECT_EQ(image.pixels, (std::vector<std::uint8_t>{200, 100, 50, 10, 20, 30}));
}

// A grey value is kept by every filter, and the size is that of the file.
TEST(PublicPictures, KeepEvenPictures) {
    Image even{31, 17, 3, {}};
    even.pixels.assign(std::size_t{31} * 17 * 3, 137);
    for (const int filter : {0, 2, 3})
        for (const int side : {7, 24, 64}) {
            ImageProcessor p;
            p.width = side, p.height = 2 * side,
            p.filter = static_cast<ImageProcessor::Filter>(filter);
            const auto out = prepared(even, p);
            EXPECT_EQ(out.width, side);
            EXPECT_EQ(out.height, 2 * side);
            for (const auto pixel : out.pixels) ASSERT_EQ(pixel, 137);
        }
}

}  // namespace
}  // namespace relascope
