// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures as the image classifiers of public families read them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analysis/open_model.h"
#include "analysis/verify/verify.h"
#include "analysis/verify/verify_public.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "datasets/pictures.h"
#include "datasets/readers/image_folder.h"
#include "files/atomic_file.h"
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
    refused(R"({"size": {"longest_edge": 256}})", "size");
    refused(R"({"size": {"shortest_edge": 256, "longest_edge": 300}})", "size");
    refused(R"({"size": {"shortest_edge": 100000}})", "size.shortest_edge");
    refused(R"({"max_num_patches": 4096, "patch_size": 16})", "max_num_patches");
    refused(R"({"do_center_crop": true, "crop_size": {"shortest_edge": 24}})", "crop_size");
    refused(R"({"resample": 1})", "resample");
    refused(R"({"image_std": [0, 1, 1]})", "image_std");
    refused(R"({"size": 0})", "size");
    refused("[1]", "is not a JSON object");
}

// Golden cases of vision families: of transformers by preprocessor_config.json, of timm by
// config.json.
TEST(VisionFamilies, ArePreparedAsThePublishedPackagesDo) {
    const std::string folder = std::string(RELASCOPE_FIXTURES) + "/golden/vision-families/";
    int cases = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (!entry.is_directory()) continue;
        const auto name = entry.path().filename().string(), path = entry.path().string();
        SCOPED_TRACE(name);
        const auto file = path + "/preprocessor_config.json";
        const bool timm = !std::filesystem::exists(file);
        const auto processor =
            timm ? core::timmImageProcessor(core::readTextFile(path + "/config.json"))
                 : core::imageProcessorOf(core::readTextFile(file), 24, 24);
        EXPECT_EQ(core::imageProcessorFrom(core::imageProcessorText(processor)), processor);
        const auto image = readImageFile(path + "/image.png");
        const auto io = core::readTensors(path + "/io.safetensors");
        const auto& theirs = io.at("preprocess/pixel_values");
        const auto size = core::preparedSize(processor, image.width, image.height);
        ASSERT_EQ(size, (core::PreparedSize{static_cast<int>(theirs.size(3)),
                                            static_cast<int>(theirs.size(2))}));
        if (const auto grid = io.find("preprocess/grid"); grid != io.end()) {
            EXPECT_EQ(size.height / processor.patch, grid->second[0].item<int>());
            EXPECT_EQ(size.width / processor.patch, grid->second[1].item<int>());
        }
        const auto ours = core::pixelValues(core::prepared(image, processor), processor);
        // The package scales those of DINOv3 in floats.
        const double deviation =
            *std::min_element(processor.deviation.begin(), processor.deviation.end());
        const double tolerance = name == "dinov3" ? 2.0 / 255.0 / deviation : 1e-6;
        EXPECT_LE((ours - theirs).abs().max().item<double>(), tolerance);
        ++cases;
    }
    EXPECT_EQ(cases, 15);
}

core::PreparedSize sizeOf(const core::ImageProcessor& p, int width, int height) {
    const auto said = core::preparedSize(p, width, height);
    Image image{width, height, 3, {}};
    image.pixels.resize(static_cast<std::size_t>(width) * height * 3);
    const auto made = core::prepared(image, p);
    EXPECT_EQ(said, (core::PreparedSize{made.width, made.height}));
    return said;
}

TEST(VisionFamilies, ProcessorsSayTheSizeThatTheyMake) {
    using Size = core::PreparedSize;
    const auto edge = imageProcessorOf(R"({"size": {"shortest_edge": 24}})", 32, 32);
    EXPECT_EQ(sizeOf(edge, 52, 40), (Size{31, 24}));  // 31.2, cut off
    EXPECT_EQ(sizeOf(edge, 40, 79), (Size{24, 47}));
    EXPECT_EQ(core::preparedSize(edge), Size{});
    EXPECT_THROW(core::preparedSize(edge, 2, 4000), Error);
    // What a number means depends on the class; that of CLIP cuts where the file does not say.
    const auto number = [](const std::string& type) {
        return imageProcessorOf(
            R"({"size": 24, "crop_size": 20, "image_processor_type": ")" + type + "\"}", 32, 32);
    };
    EXPECT_EQ(sizeOf(number("ViTImageProcessor"), 52, 40), (Size{24, 24}));
    EXPECT_EQ(sizeOf(number("CLIPImageProcessorFast"), 52, 40), (Size{20, 20}));
    EXPECT_EQ(number("BitImageProcessor").fit, core::ImageProcessor::Fit::Cover);
    EXPECT_EQ(core::preparedSize(number("CLIPFeatureExtractor")), (Size{20, 20}));
    // A long picture takes no more memory than what is kept of it.
    EXPECT_EQ(sizeOf(number("CLIPImageProcessor"), 2, 100000), (Size{20, 20}));
    const auto flexible = imageProcessorOf(
        R"({"image_processor_type": "Siglip2ImageProcessor", "patch_size": 8,
            "max_num_patches": 14})",
        24, 24);
    EXPECT_EQ(sizeOf(flexible, 52, 40), (Size{32, 24}));
    EXPECT_EQ(sizeOf(flexible, 32, 24), (Size{32, 24}));  // again
    EXPECT_EQ(sizeOf(flexible, 4000, 2), (Size{112, 8}));
    EXPECT_EQ(core::preparedSize(flexible), Size{});
}

// Columns that say their number: which of them the middle has.
int firstKept(const core::ImageProcessor& p, int side) {
    Image image{side, 8, 3, {}};
    for (int i = 0; i < side * 8 * 3; ++i)
        image.pixels.push_back(static_cast<std::uint8_t>(i / 3 % side + 1));
    return core::prepared(image, p).pixels.front();
}

TEST(VisionFamilies, HalvesBeforeTheMiddleAreRounded) {
    core::ImageProcessor p;
    p.cropWidth = p.cropHeight = 8;
    EXPECT_EQ(firstKept(p, 11), 2);  // 1.5, down
    EXPECT_EQ(firstKept(p, 13), 3);  // 2.5
    EXPECT_EQ(firstKept(p, 7), 0);   // a black column before
    p.halvesToEven = true;
    EXPECT_EQ(firstKept(p, 11), 3);
    EXPECT_EQ(firstKept(p, 13), 3);
    EXPECT_EQ(firstKept(p, 7), 1);  // behind
}

TEST(VisionFamilies, TimmsKeysAreRead) {
    using core::timmImageProcessor;
    using Fit = core::ImageProcessor::Fit;
    using Filter = core::ImageProcessor::Filter;
    const auto usual = timmImageProcessor(R"({"architecture": "vit_base_patch16_224"})");
    EXPECT_EQ(usual.height, 256);  // 224 / 0.875
    EXPECT_EQ(usual.cropWidth, 224);
    EXPECT_EQ(usual.fit, Fit::Cover);
    EXPECT_EQ(usual.filter, Filter::Bicubic);
    EXPECT_EQ(usual.mean.front(), 0.485);
    // Keys of old files, and a picture that is not square, which timm always scales bilinearly.
    const auto wide = timmImageProcessor(
        R"({"input_size": [3, 20, 30], "crop_pct": 0.9, "crop_mode": null, "pool_size": null})");
    EXPECT_EQ(wide.height, 22);
    EXPECT_EQ(wide.width, 33);
    EXPECT_EQ(wide.filter, Filter::Bilinear);
    auto whole = wide;
    whole.cropWidth = whole.cropHeight = 0;
    EXPECT_EQ(sizeOf(whole, 52, 40), (core::PreparedSize{33, 25}));  // 25.4
    EXPECT_EQ(sizeOf(whole, 40, 79), (core::PreparedSize{33, 65}));  // 65.2
    EXPECT_EQ(sizeOf(wide, 40, 79), (core::PreparedSize{30, 20}));
    const auto refused = [](const std::string& text, const std::string& key) {
        try {
            timmImageProcessor(text);
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
        }
    };
    refused(R"({"pretrained_cfg": {"crop_mode": "border"}})", "crop_mode");
    refused(R"({"pretrained_cfg": {"interpolation": "lanczos"}})", "interpolation");
    refused(R"({"pretrained_cfg": {"crop_pct": 1e-9}})", "crop_pct");
    refused(R"({"pretrained_cfg": {"crop_pct": -1}})", "crop_pct");
    refused(R"({"pretrained_cfg": {"crop_pct": "1"}})", "crop_pct");
    refused(R"({"pretrained_cfg": {"crop_pct": 1e300}})", "crop_pct");
    refused(R"({"pretrained_cfg": {"input_size": [3, 24]}})", "input_size");
    refused(R"({"pretrained_cfg": {"std": [1, 1, 0]}})", "std");
    refused(R"({"pretrained_cfg": 3})", "pretrained_cfg");
}

// A batch has one size.
TEST(VisionFamilies, PicturesOfAFolderGetOneSize) {
    testing_support::TemporaryFolder home("sizes");
    const auto put = [&](const std::string& name, int width, int height) {
        std::filesystem::create_directories(home / name.substr(0, 1));
        Image image{width, height, 3, {}};
        image.pixels.assign(static_cast<std::size_t>(width) * height * 3, 90);
        testing_support::writePng(home / name, image);
    };
    put("a/1.png", 52, 40), put("a/2.png", 40, 52), put("b/1.png", 52, 40), put("b/2.png", 26, 20);
    put("b/3.png", 2, 3000);
    const auto edge =
        core::imageProcessorText(imageProcessorOf(R"({"size": {"shortest_edge": 24}})", 24, 24));
    const auto all = datasets::readImageFolder(home.path(), 32, {}, {}, edge).train;
    EXPECT_EQ(all->size(), 4);
    EXPECT_EQ(all->info().width, 31);
    EXPECT_EQ(all->info().height, 24);
    for (const char* said :
         {"1 picture of other proportions was scaled to 31 x 24", "would become 24 x 36000 pixels"})
        EXPECT_NE(all->info().note.find(said), std::string::npos) << all->info().note;
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
