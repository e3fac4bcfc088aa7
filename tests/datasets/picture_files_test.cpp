// SPDX-License-Identifier: GPL-3.0-or-later
// Picture files of every kind against Pillow's pixels (tests/make_picture_golden.py).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "datasets/pictures.h"
#include "datasets/readers/image_folder.h"
#include "datasets/registry.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;

std::string pictureFolder() {
    const char* other = std::getenv("RELASCOPE_PICTURES");
    return other ? other : std::string(RELASCOPE_FIXTURES) + "/pictures";
}

Image expectedPicture(const nlohmann::json& of) {
    Image image{of["width"], of["height"], 3, {}};
    const auto digits = of["pixels"].get<std::string>();
    for (std::size_t at = 0; at + 1 < digits.size(); at += 2)
        image.pixels.push_back(
            static_cast<std::uint8_t>(std::stoi(digits.substr(at, 2), nullptr, 16)));
    return image;
}

std::string whyNoPicture(const std::string& path) {
    try {
        readImageFile(path);
    } catch (const FileError& error) {
        EXPECT_EQ(error.path(), path);
        return std::string(error.what()).substr(path.size() + 2);
    }
    return "";
}

// Every difference counts: the decoders are those of Pillow, and so is all that is done after them.
TEST(PictureFiles, HaveThePixelsOfPillow) {
    const auto folder = pictureFolder();
    const auto all = nlohmann::json::parse(std::ifstream(folder + "/pictures.json"));
    ASSERT_GE(all.size(), 97u);
    std::map<std::string, int> compared;
    for (const auto& [name, expected] : all.items()) {
        const auto wanted = expectedPicture(expected);
        Image image;
        ASSERT_NO_THROW(image = readImageFile(folder + "/" + name)) << name;
        ASSERT_EQ(image.width, wanted.width) << name;
        ASSERT_EQ(image.height, wanted.height) << name;
        ASSERT_EQ(image.pixels.size(), wanted.pixels.size()) << name;
        int largest = 0;
        for (std::size_t i = 0; i < wanted.pixels.size(); ++i)
            largest = std::max(largest, std::abs(image.pixels[i] - wanted.pixels[i]));
        EXPECT_EQ(largest, 0) << name;
        ++compared[fs::path(name).extension().string()];
    }
    EXPECT_GE(compared[".png"], 60);
    EXPECT_GE(compared[".jpg"], 32);
}

// The upper byte of 16 bits, of grey as of RGB: no colour chunk means no correction.
TEST(PictureFiles, Of16BitsAreThoseOf8) {
    TemporaryFolder home("sixteen");
    fs::create_directories(home.path());
    for (const int channels : {1, 3}) {
        Image narrow{32, 32, channels, {}};
        std::vector<std::uint16_t> wide;
        for (int i = 0; i < 32 * 32 * channels; ++i) {
            narrow.pixels.push_back(static_cast<std::uint8_t>(i / channels / 8 * 37 + i % 3 * 70));
            wide.push_back(static_cast<std::uint16_t>(narrow.pixels.back() * 257));
        }
        writePng(home / "8.png", narrow);
        writePng16(home / "16.png", 32, 32, channels, wide);
        EXPECT_EQ(readImageFile(home / "16.png"), readImageFile(home / "8.png")) << channels;
    }
}

TEST(PictureFiles, OfOtherFormatsAreRefusedByName) {
    TemporaryFolder home("others");
    fs::create_directories(home.path());
    const auto why = [&](const std::string& bytes) {
        writeBytes(home / "x.png", bytes);
        return whyNoPicture(home / "x.png");
    };
    using namespace std::string_literals;
    EXPECT_EQ(why("GIF89a" + std::string(20, '\0')),
              "is a GIF picture; PNG and JPEG are read, convert it to PNG");
    for (const auto& [bytes, name] : std::vector<std::pair<std::string, std::string>>{
             {"RIFF\x20\0\0\0WEBPVP8 "s, "WebP"},
             {"BM" + std::string(60, '\0'), "BMP"},
             {"II*\0\x08\0\0\0"s, "TIFF"},
             {"\0\0\0\x20"s + "ftypheic", "HEIC"},
             {"\0\0\0\x20"s + "ftypavif", "AVIF"},
             {"\0\0\0\x0cJXL \r\n"s, "JPEG XL"},
             {"P6\n2 2\n255\n", "PNM"},
             {std::string(128, '\0') + "DICM", "DICOM"}})
        EXPECT_NE(why(bytes).find(name), std::string::npos) << name << ": " << why(bytes);
    EXPECT_EQ(why("\1\2\3"), "is neither PNG nor JPEG; convert it to one of them");
    EXPECT_NE(why("<?xml version=\"1.0\"?>\n<svg xmlns=\"x\"></svg>").find("SVG"),
              std::string::npos);
    // What servers answer in place of a picture.
    EXPECT_NE(why("<!DOCTYPE html><html>404</html>").find("is a web page"), std::string::npos);
    EXPECT_EQ(why("Entry not found"),
              "is text and no picture: 'Entry not found'; download the file again");
    writeBytes(home / "notes.txt", "words");
    EXPECT_EQ(whyNoPicture(home / "notes.txt"),
              "is neither PNG nor JPEG; convert it to one of them");
    EXPECT_EQ(why(""), "is an empty file");
    EXPECT_NE(why("version https://git-lfs.github.com/spec/v1\n").find("git lfs pull"),
              std::string::npos);
}

// A file that was cut short is named, wherever it was cut.
TEST(PictureFiles, CutShortAreRefused) {
    TemporaryFolder home("cut");
    fs::create_directories(home.path());
    for (const char* name : {"rgb_420.jpg", "rgb_444_progressive.jpg", "cmyk.jpg", "rgb16_iccp.png",
                             "palette4_trns_interlaced.png", "exif_behind.png"}) {
        const auto whole = std::string(RELASCOPE_FIXTURES) + "/pictures/" + name;
        const auto size = fs::file_size(whole);
        for (std::uintmax_t left = 8; left + 2 < size; left += 1 + size / 97) {
            fs::copy_file(whole, home / name, fs::copy_options::overwrite_existing);
            fs::resize_file(home / name, left);
            EXPECT_NE(whyNoPicture(home / name), "") << name << " of " << left;
        }
    }
}

class PictureFolders : public testing::Test {
protected:
    void SetUp() override {
        for (int i = 0; i < 6; ++i) {
            add("a/" + std::to_string(i) + ".png", picture(8, 8, 1, 2, 3));
            add("b/" + std::to_string(i) + ".png", picture(8, 8, 3, 2, 1));
        }
    }
    std::string pathOf(const std::string& name) {
        fs::create_directories(fs::path(m_folder / name).parent_path());
        return m_folder / name;
    }
    void add(const std::string& name, const Image& image) { writePng(pathOf(name), image); }
    void expectNote(const core::ImageDatasetPtr& data, const std::string& words) {
        EXPECT_NE(data->info().note.find(words), std::string::npos)
            << "'" << data->info().note << "' lacks " << words;
    }

    TemporaryFolder m_folder{"folders"};
};

TEST_F(PictureFolders, CountByReasonWhatTheyLeaveOut) {
    EXPECT_EQ(readImageFolder(m_folder.path(), 8).train->info().note, "");
    writeBytes(pathOf("a/.DS_Store"), "x");
    writeBytes(pathOf("b/Thumbs.db"), "x");
    writeBytes(pathOf("b/notes.txt"), "x");
    writeBytes(pathOf("b/x.gif"), "GIF89a");
    writeBytes(pathOf("README"), "x");
    add("b/1.mask.png", picture(8, 8, 1, 2, 3));
    writeBytes(pathOf("a/cut.png"), "\x89PNG\r\n\x1a\n");
    fs::create_directories(m_folder / "empty");
    fs::create_symlink("nowhere", m_folder / "a/link.png");
    const auto data = readImageFolder(m_folder.path(), 8).train;
    EXPECT_EQ(data->size(), 12);
    EXPECT_EQ(data->info().classNames, (std::vector<std::string>{"a", "b"}));
    for (const char* words :
         {"8 of 20 files were skipped", "1 mask of objects (b/1.mask.png)",
          "1 hidden (a/.DS_Store)", "1 GIF picture (b/x.gif)",
          "2 neither PNG nor JPEG (b/Thumbs.db and 1 more)", "1 in the folder of no class",
          "1 damaged PNG (a/cut.png: ", "1 link to nothing, or no file (a/link.png)",
          "folders without files are no classes: empty", "PNG and JPEG are read"})
        expectNote(data, words);
}

TEST_F(PictureFolders, SayThatTheyScale) {
    const auto data = readImageFolder(m_folder.path(), 32).train;
    EXPECT_EQ(data->info().width, 32);
    EXPECT_EQ(data->info().note,
              "pictures of 8 x 8 pixels were scaled to 32 x 32; data.image_side 8 leaves them");
    add("a/large.png", picture(20, 10, 1, 2, 3));
    EXPECT_EQ(readImageFolder(m_folder.path(), 32).train->info().note, "")
        << "of several sizes, as photographs are";
}

TEST_F(PictureFolders, ReadSubFoldersOnce) {
    add("a/more/deep/7.png", picture(8, 8, 1, 2, 3));
    fs::create_directory_symlink("..", m_folder / "a/more/back");
    const auto data = readImageFolder(m_folder.path(), 8).train;
    EXPECT_EQ(data->size(), 13);
    EXPECT_EQ(data->info().note, "");
}

TEST_F(PictureFolders, OfTrainAndValAreNoClasses) {
    TemporaryFolder parted("val");
    fs::create_directories(parted.path());
    fs::copy(m_folder.path(), parted / "train", fs::copy_options::recursive);
    fs::copy(m_folder.path(), parted / "val", fs::copy_options::recursive);
    auto parts = readImageFolder(parted.path(), 8);
    EXPECT_EQ(parts.train->info().classNames, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(parts.train->size(), 12);
    ASSERT_TRUE(parts.test);
    EXPECT_EQ(parts.test->size(), 12);
    fs::copy(m_folder.path(), parted / "Test", fs::copy_options::recursive);
    parts = readImageFolder(parted.path(), 8);
    expectNote(parts.train, "left out: val");
}

// CMYK, EXIF and 16 bits in a folder are those of single pictures.
TEST_F(PictureFolders, ReadWhatSinglePicturesRead) {
    for (const char* name : {"exif6.jpg", "cmyk.jpg", "grey16.png", "palette2.png"}) {
        fs::copy_file(std::string(RELASCOPE_FIXTURES) + "/pictures/" + name,
                      pathOf(std::string("c/") + name));
        const auto parts = readImageFolder(m_folder.path(), 32);
        Image image{32, 32, 3, std::vector<std::uint8_t>(32 * 32 * 3)};
        EXPECT_EQ(parts.train->read(12, image.pixels), 2);
        EXPECT_EQ(image, fitImage(readImageFile(m_folder / ("c/" + std::string(name))), 32, 32, 3))
            << name;
        fs::remove(m_folder / ("c/" + std::string(name)));
    }
}

}  // namespace
}  // namespace relascope
