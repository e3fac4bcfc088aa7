// SPDX-License-Identifier: GPL-3.0-or-later
// Annotations of COCO as masks of objects.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "datasets/readers/coco_masks.h"
#include "datasets/readers/masked_pictures.h"
#include "files/atomic_file.h"
#include "support/temporary_folder.h"
#include "types/error.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Two pictures of 24 x 24 as COCO has them: one with a polygon below a crowd below runs, one with
/// nothing.
struct Coco : testing_support::TemporaryFolder {
    Json file = {{"categories", {{{"id", 7}, {"name", "cat"}}, {{"id", 3}, {"name", "dog"}}}},
                 {"images",
                  {{{"id", 10}, {"file_name", "0.png"}, {"width", 24}, {"height", 24}},
                   {{"id", 11}, {"file_name", "1.png"}, {"width", 24}, {"height", 24}}}},
                 {"annotations",
                  {{{"image_id", 10},
                    {"category_id", 3},
                    {"iscrowd", 0},
                    {"segmentation", {{2.0, 2.0, 10.0, 2.0, 10.0, 10.0, 2.0, 10.0}}}},
                   {{"image_id", 10},
                    {"category_id", 7},
                    {"iscrowd", 1},
                    {"segmentation", {{"size", {24, 24}}, {"counts", {24 * 8 + 4, 2, 22, 2}}}}},
                   {{"image_id", 10},
                    {"category_id", 7},
                    {"iscrowd", 0},
                    {"segmentation", {{"size", {24, 24}}, {"counts", {24 * 20, 24, 24, 24}}}}}}}};

    Coco() : TemporaryFolder("coco") {
        const fs::path from =
            std::string(RELASCOPE_FIXTURES) + "/golden/fitted-relations/same_kind/pictures";
        fs::create_directories(*this / "annotations");
        fs::create_directories(*this / "val2017");
        for (const char* name : {"0.png", "1.png"})
            fs::copy_file(from / name, *this / (std::string("val2017/") + name));
    }
    std::string path() const { return *this / "annotations/instances_val2017.json"; }
    void write() const { core::writeTextFile(path(), file.dump()); }
    void refused(const std::string& words) const {
        write();
        try {
            datasets::readCocoFile(path());
            ADD_FAILURE() << "was read; expected: " << words;
        } catch (const FileError& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    }
};

TEST(CocoMasks, AreReadWithTheirCategories) {
    const Coco folder;
    folder.write();
    const auto& root = folder.TemporaryFolder::path();
    EXPECT_TRUE(datasets::isMaskedFolder(root));
    EXPECT_TRUE(datasets::isMaskedFolder(folder.path()));
    const auto data = datasets::readMaskedPictures(root, 24, 24, {});
    ASSERT_EQ(data->size(), 1);  // the other has no objects
    ASSERT_EQ(data->maskFacts()->facts.size(), 1u);
    EXPECT_EQ(data->maskFacts()->facts[0].values, (std::vector<std::string>{"cat", "dog"}));
    const auto mask = data->mask(0);
    ASSERT_EQ(mask.objects.size(), 2u);
    EXPECT_EQ(mask.objects[0].facts, (std::vector<std::int32_t>{1}));
    EXPECT_EQ(mask.objects[1].facts, (std::vector<std::int32_t>{0}));
    const auto at = [&](int x, int y) {
        return mask.numbers[static_cast<std::size_t>(24 * y + x)];
    };
    constexpr auto none = ObjectMask::kNotCounted;
    for (const auto& [x, y, number] : {std::tuple<int, int, int>{2, 2, 1},
                                       {9, 9, 1},
                                       {10, 9, 0},
                                       {1, 2, 0},
                                       {8, 4, none},
                                       {8, 5, none},
                                       {9, 4, none},
                                       {8, 6, 1},
                                       {20, 0, 3},
                                       {20, 23, 3},
                                       {21, 0, 0},
                                       {22, 5, 3}})
        EXPECT_EQ(at(x, y), number) << x << " " << y;
}

TEST(CocoMasks, PolygonsAreFilledByTheMiddlesOfPixels) {
    datasets::CocoPictures::Picture picture;
    picture.width = 8, picture.height = 4;
    // A triangle, and a ring of two polygons that go beyond the picture.
    picture.outlines.push_back({{{0.0, 0.0, 4.0, 0.0, 0.0, 4.0}}, {}, 0, true});
    picture.outlines.push_back({{{6.0, -5.0, 20.0, -5.0, 20.0, 9.0, 6.0, 9.0}}, {}, 0, true});
    const auto mask = datasets::maskOf(picture);
    const std::vector<std::uint16_t> expected = {1, 1, 1, 0, 0, 0, 2, 2,  //
                                                 1, 1, 0, 0, 0, 0, 2, 2,  //
                                                 1, 0, 0, 0, 0, 0, 2, 2,  //
                                                 0, 0, 0, 0, 0, 0, 2, 2};
    EXPECT_EQ(mask.numbers, expected);
}

/// The text of runs, from the description of the form.
std::string packed(const std::vector<std::uint32_t>& runs) {
    std::string text;
    for (std::size_t k = 0; k < runs.size(); ++k) {
        std::int64_t left = runs[k];
        if (k > 2) left -= runs[k - 2];
        for (bool more = true; more;) {
            auto code = left & 0x1f;
            left >>= 5;
            more = (code & 0x10) ? left != -1 : left != 0;
            if (more) code |= 0x20;
            text += static_cast<char>(code + 48);
        }
    }
    return text;
}

TEST(CocoMasks, PackedRunsAreUnpacked) {
    for (const std::vector<std::uint32_t>& runs : {std::vector<std::uint32_t>{},
                                                   {5},
                                                   {0, 16, 15, 31, 32, 33, 1, 1'000'000, 3},
                                                   {480, 24, 24, 24},
                                                   {1u << 30, 0, 7, 1u << 30}})
        EXPECT_EQ(datasets::cocoRuns(packed(runs)), runs);
    for (const char* text : {"o", " ", "\x7f", "ooooooooo0", "00000@"})
        EXPECT_THROW(datasets::cocoRuns(text), Error) << text;
    Coco folder;
    folder.file["annotations"][2]["segmentation"]["counts"] = packed({480, 24, 24, 24});
    folder.write();
    const auto mask = datasets::maskOf(datasets::readCocoFile(folder.path()).pictures[0]);
    EXPECT_EQ(mask.numbers[20], 3);
    EXPECT_EQ(mask.numbers[21], 0);
}

TEST(CocoMasks, RefuseWhatDoesNotFit) {
    Coco folder;
    const auto whole = folder.file;
    const auto with = [&](const char* at, const Json& value) {
        folder.file = whole;
        folder.file[Json::json_pointer(at)] = value;
    };
    with("/categories", 3), folder.refused("no list 'categories'");
    with("/images/0/width", "24"), folder.refused("image 1: 'width'");
    with("/images/0/width", 1 << 20), folder.refused("1048576 x 24 pixels");
    with("/images/1/id", 10), folder.refused("image 2: has the 'id' of another");
    with("/images/0/file_name", "none.png"), folder.refused("names the picture none.png");
    with("/annotations/0/image_id", 12), folder.refused("annotation 1: is of an image");
    with("/annotations/0/category_id", 12), folder.refused("annotation 1: is of a category");
    with("/annotations/0/segmentation", Json::array({Json::array({1, 2, 3})}));
    folder.refused("annotation 1: a polygon of 'segmentation' has 3 numbers");
    with("/annotations/0/segmentation", Json::array({Json::array({1, 2, 3, "4", 5, 6})}));
    folder.refused("holds no number");
    with("/annotations/1/segmentation/size", Json::array({24, 25})),
        folder.refused("annotation 2: 'size'");
    with("/annotations/1/segmentation/counts", Json::array({24, 1000})),
        folder.refused("more pixels");
    with("/annotations/1/segmentation/counts", Json::array({-1, 5})), folder.refused("");
    with("/annotations/1/segmentation/counts", "ooo"), folder.refused("ends within a number");
    with("/annotations", Json::array()), folder.refused("no image with annotations");
    core::writeTextFile(folder.path(), "{");
    EXPECT_THROW(datasets::readCocoFile(folder.path()), FileError);
    core::writeTextFile(folder / "annotations/instances_train2017.json", "{}");
    EXPECT_THROW(datasets::cocoFileOf(folder.TemporaryFolder::path()), FileError);
}

}  // namespace
}  // namespace relascope
