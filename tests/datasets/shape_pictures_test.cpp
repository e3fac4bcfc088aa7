// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures with masks: those that are generated, and folders of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "datasets/generators/shape_pictures.h"
#include "datasets/readers/masked_pictures.h"
#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/error.h"

namespace relascope {
namespace {

using datasets::ShapePictures;
namespace fs = std::filesystem;

bool occursTwice(const datasets::ShapeScene& scene) {
    for (std::size_t a = 0; a < scene.shapes.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (scene.shapes[a].sameKind(scene.shapes[b])) return true;
    return false;
}

TEST(ShapePictures, LabelsAreTrue) {
    for (const char* task : {"same-different", "same-different-anywhere"}) {
        const ShapePictures data({task, 300, 3, 0, false});
        int right = 0, yes = 0;
        for (std::int64_t k = 0; k < 300; ++k) {
            const auto scene = data.scene(k);
            EXPECT_GE(scene.shapes.size(), 2u);
            EXPECT_LE(scene.shapes.size(), 4u);
            right += occursTwice(scene) == (scene.label == 1), yes += scene.label;
        }
        EXPECT_EQ(right, 300) << task;
        EXPECT_EQ(yes, 150);
    }
    const ShapePictures pairs({"rmts", 300, 3, 0, false});
    for (std::int64_t k = 0; k < 300; ++k) {
        const auto s = pairs.scene(k);
        ASSERT_EQ(s.shapes.size(), 4u);
        EXPECT_EQ(s.label == 1,
                  s.shapes[0].sameKind(s.shapes[1]) == s.shapes[2].sameKind(s.shapes[3]));
        for (const auto& one : s.shapes)
            EXPECT_EQ(one.pair, one.x < ShapePictures::kSide / 2 ? 0 : 1);
    }
    EXPECT_THROW(ShapePictures({"other", 10, 0, 0, false}), OptionError);
}

TEST(ShapePictures, MasksAreOfTheirPixels) {
    for (const char* task : {"same-different", "rmts-anywhere"}) {
        const ShapePictures data({task, 40, 1, 0, false});
        std::vector<std::uint8_t> pixels(data.pixelBytes()), again(data.pixelBytes());
        for (std::int64_t k = 0; k < 40; ++k) {
            const auto label = data.read(k, pixels);
            EXPECT_EQ(data.read(k, again), label);
            EXPECT_EQ(pixels, again);
            const auto mask = data.mask(k);
            ASSERT_EQ(mask.numbers.size() * 3, pixels.size());
            std::set<std::uint16_t> shown;
            for (std::size_t p = 0; p < mask.numbers.size(); ++p) {
                const bool dark =
                    std::max({pixels[3 * p], pixels[3 * p + 1], pixels[3 * p + 2]}) == 0;
                EXPECT_EQ(mask.numbers[p] == 0, dark);
                shown.insert(mask.numbers[p]);
            }
            EXPECT_EQ(shown.size(), mask.objects.size() + 1) << "shapes hide none of the others";
        }
    }
}

TEST(ShapePictures, KeepsKindsForTesting) {
    DataOptions options;
    options.kind = "shape-pictures", options.task = "same-different";
    options.train_size = options.validation_size = options.test_size = 200;
    const auto splits = datasets::openData(options);
    const auto kindsOf = [&](const core::DatasetPtr& data) {
        std::set<std::vector<std::int32_t>> kinds;
        for (std::int64_t k = 0; k < data->size(); ++k)
            for (const auto& object : core::asImages(data)->mask(k).objects)
                kinds.insert(object.facts);
        return kinds;
    };
    const auto trained = kindsOf(splits.train), kept = kindsOf(splits.find("new-kinds"));
    EXPECT_EQ(trained.size(), 30u);
    EXPECT_EQ(kept.size(), 6u);
    for (const auto& kind : kept) EXPECT_FALSE(trained.contains(kind));
    EXPECT_EQ(kindsOf(splits.find("test")), trained);
}

/// A copy of the pictures of a golden case.
struct Pictures : testing_support::TemporaryFolder {
    Pictures() : TemporaryFolder("masks") {
        fs::copy(std::string(RELASCOPE_FIXTURES) + "/golden/fitted-relations/same_kind/pictures",
                 path(), fs::copy_options::recursive);
    }
    void rows(const std::string& text) const { core::writeTextFile(*this / "objects.csv", text); }
    core::ImageDatasetPtr read() const { return datasets::readMaskedPictures(path(), 24, 24, {}); }
    void refused(const std::string& words) const {
        try {
            read();
            ADD_FAILURE() << "was read; expected: " << words;
        } catch (const FileError& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    }
};

TEST(MaskedPictures, AreReadWithTheirFacts) {
    const Pictures folder;
    EXPECT_TRUE(datasets::isMaskedFolder(folder.path()));
    const auto data = folder.read();
    ASSERT_EQ(data->size(), 3);
    const auto* facts = data->maskFacts();
    ASSERT_TRUE(facts);
    ASSERT_EQ(facts->facts.size(), 2u);
    EXPECT_EQ(facts->facts[1].name, "shape");
    EXPECT_EQ(facts->facts[1].values.front(), "square");
    const auto mask = data->mask(0);
    EXPECT_EQ(mask.objects.size(), 4u);
    EXPECT_EQ(mask.objects[2].facts, mask.objects[3].facts);
    const std::set<std::uint16_t> shown(mask.numbers.begin(), mask.numbers.end());
    EXPECT_EQ(shown, (std::set<std::uint16_t>{0, 1, 2, 3, 4}));
    // The same tree under masks/.
    fs::create_directory(folder / "masks");
    for (const char* name : {"0", "1", "2"})
        fs::rename(folder / (std::string(name) + ".mask.png"),
                   folder / ("masks/" + std::string(name) + ".png"));
    EXPECT_EQ(folder.read()->mask(0), mask);
    // Scaled by the nearest pixel, as the picture.
    const auto large = datasets::readMaskedPictures(folder.path(), 48, 48, {})->mask(0);
    EXPECT_EQ(large.numbers[48 * 20 + 31], mask.numbers[24 * 10 + 15]);
}

TEST(MaskedPictures, RefuseWhatDoesNotFit) {
    const Pictures folder;
    const auto rows = core::readTextFile(folder / "objects.csv");
    folder.rows(rows.substr(0, rows.find("0.png,4")) + rows.substr(rows.find("1.png,1")));
    folder.refused("no row for it: add one for 0.png");
    folder.rows("picture,object\n0.png,1\n0.png,1\n");
    folder.refused("named twice");
    folder.rows("picture,object\n0.png,0\n");
    folder.refused("not a number from 1");
    folder.rows("name,object\n0.png,1\n");
    folder.refused("picture, object and any facts");
    folder.rows(rows);
    fs::copy_file(folder / "0.png", folder / "0.mask.png", fs::copy_options::overwrite_existing);
    folder.refused("is a colour picture");
    core::writeTextFile(folder / "0.mask.png", "no PNG");
    folder.refused("is no PNG");
    fs::remove(folder / "0.mask.png");
    folder.refused("needs a mask");
}

}  // namespace
}  // namespace relascope
