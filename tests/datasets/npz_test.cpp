// SPDX-License-Identifier: GPL-3.0-or-later
// The .npz reader against real-shaped, odd and hostile files.
#include "datasets/readers/npz.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "datasets/generators/relational_games.h"
#include "files/npy.h"
#include "support/npz_file.h"
#include "support/rooms.h"

namespace relascope {
namespace {

std::string temporary(const std::string& name) {
    return testing::TempDir() + name;
}

// A zip of the given members, as bytes.
std::vector<std::uint8_t> zipOf(const std::vector<std::pair<std::string, std::string>>& members,
                                bool deflate = true) {
    const std::string path = temporary("made.npz");
    testing_support::writeNpzFile(path, members, deflate);
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string little(std::int64_t value, int width) {
    std::string bytes;
    for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i));
    return bytes;
}

std::string array(const std::string& descr, const std::vector<std::int64_t>& shape,
                  const std::string& data) {
    return makeNpyHeader(descr, shape) + data;
}

const std::string kImage(12, 'A');  // one 2 x 2 RGB image

std::string reasonOf(const std::vector<std::uint8_t>& bytes) {
    try {
        readNpzImages(bytes, "f.npz");
    } catch (const FileError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("f.npz", 0), 0u) << error.what();
        return error.what();
    }
    return "";
}
void expectRefused(const std::string& images, const std::string& labels,
                   const std::string& message) {
    const auto reason = reasonOf(zipOf({{"images.npy", images}, {"labels.npy", labels}}));
    EXPECT_NE(reason.find(message), std::string::npos)
        << "'" << reason << "' should say '" << message << "'";
}
const std::string kLabels = array("<i8", {1, 1}, little(1, 8));

TEST(Npz, ReadsEveryIntegerType) {
    for (const auto& [descr, width] : {std::pair{"|u1", 1},
                                       {"|i1", 1},
                                       {"<i2", 2},
                                       {"<u2", 2},
                                       {"<i4", 4},
                                       {"<u4", 4},
                                       {"<i8", 8},
                                       {"<u8", 8}}) {
        std::string data;
        for (int v = 0; v < 12; ++v) data += little(v * 10, width);
        const auto table = readNpzImages(
            zipOf({{"images.npy", array(descr, {1, 2, 2, 3}, data)}, {"labels.npy", kLabels}}),
            "f.npz");
        ASSERT_EQ(table->size(), 1);
        EXPECT_EQ(table->sample(0).image.pixels[11], 110);
        EXPECT_EQ(table->sample(0).label, 1);
    }
    std::string big;
    for (int v = 0; v < 12; ++v) big += std::string(3, '\0') + static_cast<char>(v);
    EXPECT_EQ(readNpzImages(
                  zipOf({{"images.npy", array(">i4", {1, 2, 2, 3}, big)}, {"labels.npy", kLabels}},
                        false),
                  "f.npz")
                  ->sample(0)
                  .image.pixels[11],
              11);
}

TEST(Npz, GreyImagesNeedNoChannelAndYesIsWhite) {
    const auto read = [](const std::string& images) {
        return readNpzImages(zipOf({{"images.npy", images}, {"labels.npy", kLabels}}), "f.npz");
    };
    const auto grey = read(array("|u1", {1, 3, 4}, kImage));
    EXPECT_EQ(grey->info().channels, 1);
    EXPECT_EQ(grey->info().height, 3);
    EXPECT_EQ(grey->sample(0).image.pixels[11], 'A');
    EXPECT_EQ(grey->info().note, "");
    const auto yes = read(array("|b1", {1, 2, 2, 3}, std::string(11, '\1') + '\0'));
    EXPECT_EQ(yes->sample(0).image.pixels[0], 255);
    EXPECT_EQ(yes->sample(0).image.pixels[11], 0);
    EXPECT_EQ(yes->info().note, "");
    const auto dark = read(array("|u1", {1, 2, 2, 3}, std::string(11, '\1') + '\0'));
    EXPECT_NE(dark->info().note.find("scaled to 0..1"), std::string::npos);
}

TEST(Npz, RefusesWhatIsWrongByName) {
    expectRefused(array("|u1", {1, 2, 2, 3}, kImage), array("<i8", {2, 1}, std::string(16, '\0')),
                  "2 labels for 1 images");
    expectRefused(array("|u1", {1, 2, 2, 3}, kImage.substr(1)), kLabels, "shape needs");
    expectRefused(array("|u1", {1, 2, 2, 3}, kImage + "x"), kLabels, "shape needs");
    expectRefused(array("<i2", {1, 2, 2, 3}, std::string(24, '\x7f')), kLabels, "outside 0..255");
    expectRefused(array("|i1", {1, 2, 2, 3}, std::string(12, '\xff')), kLabels, "outside 0..255");
    expectRefused(array("<f2", {1, 2, 2, 3}, std::string(24, '\0')), kLabels, "16-bit floats");
    expectRefused(array("|O", {1, 2, 2, 3}, kImage), kLabels, "Python objects");
    expectRefused(array("|u1", {12}, kImage), kLabels, "(N, height, width");
    expectRefused(array("|u1", {1, 3, 2, 2}, kImage), kLabels, "images.transpose(0, 2, 3, 1)");
    expectRefused(array("|u1", {1, 1, 3, 4}, kImage), kLabels, "images.transpose(0, 2, 3, 1)");
    expectRefused(array("|u1", {1, 3, 1, 4}, kImage), kLabels, "channels last");
    expectRefused(array("<u2", {1, 2, 2, 3}, std::string(24, '\x7f')), kLabels, "images >> 8");
    expectRefused(testing_support::npyOf<float>("<f4", {1, 1, 1, 1}, {NAN}), kLabels, "not finite");
    expectRefused(array("|u1", {1, 2, 2, 3}, kImage), array("<f8", {1}, std::string(8, '\0')),
                  "labels.astype('int64')");
    expectRefused(array("|u1", {1, 2, 2, 3}, kImage),
                  array("|u1", {1, 4}, std::string("\1\0\0\0", 4)), "labels.argmax(1)");
    expectRefused(array("|u1", {1, 2, 2, 3}, kImage), array("<i8", {1}, little(-1, 8)),
                  "outside 0..9999");
    expectRefused(array("|u1", {99999999999, 36, 36, 3}, kImage), kLabels, "shape needs");
    expectRefused(array("|u1", {4294967296, 4294967296, 1, 3}, kImage), kLabels, "overflows");
    expectRefused("not an array", kLabels, "is not a .npy array");
    expectRefused("\x93NUM", kLabels, "truncated");
    expectRefused("", kLabels, "truncated");
    EXPECT_NE(reasonOf(zipOf({{"images.npy", array("|u1", {1, 2, 2, 3}, kImage)}}))
                  .find("has no labels for"),
              std::string::npos);
    EXPECT_FALSE(reasonOf({}).empty());
    const auto refused = [](const std::string& bytes, const char* what) {
        EXPECT_NE(reasonOf({bytes.begin(), bytes.end()}).find(what), std::string::npos)
            << reasonOf({bytes.begin(), bytes.end()});
        const auto path = testing::TempDir() + "answer.npz";
        std::ofstream(path, std::ios::binary) << bytes;
        try {
            readNpzImages(path);
            ADD_FAILURE() << "accepted";
        } catch (const FileError& error) {
            EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
        }
    };
    refused("<!DOCTYPE html><html>404</html>", "is a web page");
    refused("{\"error\":\"Not found\"}", "is text and no archive: '{\"error\"");
    refused(std::string("\x93NUMPY\1\0v\0", 10), "np.savez");
    refused("version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer");
    EXPECT_FALSE(reasonOf({'P', 'K', 3, 4}).empty());
    EXPECT_THROW(readNpzImages("/nonexistent.npz"), FileError);
    EXPECT_THROW(readNpzImages(testing::TempDir()), FileError);
}

// Arrays of any names, as scikit-learn, Keras and people save them.
TEST(Npz, FindsLabelledImagesByTheirShapesAndNames) {
    using testing_support::npyOf;
    const auto images = npyOf<std::uint8_t>("|u1", {2, 1, 2}, {1, 2, 3, 200}),
               labels = npyOf<std::int64_t>("<i8", {2}, {1, 0});
    const auto read = [](const std::vector<std::pair<std::string, std::string>>& members,
                         const std::string& arrays = {}) {
        return readNpz(zipOf(members), "f.npz", arrays);
    };
    const auto digits = read({{"DESCR.npy", array("<U4", {}, std::string(16, 'a'))},
                              {"data.npy", npyOf<std::uint8_t>("|u1", {2, 2}, {1, 2, 3, 200})},
                              {"weights.npy", npyOf<float>("<f4", {2}, {0.5F, 1.0F})},
                              {"scans.npy", images},
                              {"digit_class.npy", labels}});
    EXPECT_EQ(digits.images->sample(1).image.pixels[1], 200);
    EXPECT_EQ(digits.images->sample(0).label, 1) << "integers, and not the weights";
    EXPECT_EQ(digits.test, nullptr);
    const std::vector<std::pair<std::string, std::string>> keras{
        {"x_test.npy", npyOf<std::uint8_t>("|u1", {1, 1, 2}, {7, 9})},
        {"x_train.npy", images},
        {"y_train.npy", labels},
        {"y_test.npy", npyOf<std::uint8_t>("|u1", {1}, {1})}};
    const auto parted = read(keras);
    EXPECT_EQ(parted.images->size(), 2);
    ASSERT_NE(parted.test, nullptr);
    EXPECT_EQ(parted.test->sample(0).image.pixels[1], 9);
    EXPECT_EQ(read(keras, "x_test, y_test").images->sample(0).image.pixels[1], 9);
    EXPECT_EQ(read(keras, "x_test,y_test,x_train,y_train").test->size(), 2);
    EXPECT_THROW(read(keras, "x_train"), OptionError);
    EXPECT_THROW(read(keras, "x_train,,y_train"), OptionError);
    EXPECT_THROW(read(keras, "x_train,y"), FileError) << "no such array";
    EXPECT_THROW(read(keras, "x_train,y_test"), FileError) << "one label for two images";
    const auto reason =
        reasonOf(zipOf({{"data.npy", npyOf<std::uint8_t>("|u1", {4}, {1, 2, 3, 4})}}));
    EXPECT_NE(reason.find("has no array of images: it has data: 4, uint8"), std::string::npos)
        << reason;
}

TEST(Npz, FloatsAreScaledWithANote) {
    using testing_support::npyOf;
    const auto labels = npyOf<std::int64_t>("<i8", {1}, {1});
    const auto read = [&](const std::vector<double>& pixels, const std::vector<double>& test = {}) {
        const auto shape = [](const auto& of) {
            return std::vector<std::int64_t>{1, 1, static_cast<std::int64_t>(of.size())};
        };
        std::vector<std::pair<std::string, std::string>> members{
            {"x_train.npy", npyOf<double>("<f8", shape(pixels), pixels)}, {"y_train.npy", labels}};
        if (!test.empty()) {
            members.emplace_back("x_test.npy", npyOf<double>("<f8", shape(test), test));
            members.emplace_back("y_test.npy", labels);
        }
        return readNpz(zipOf(members), "f.npz");
    };
    const auto pixels = [](const auto& table) { return table->sample(0).image.pixels; };
    using Bytes = std::vector<std::uint8_t>;
    const auto unit = read({0.0, 0.5, 1.0});
    EXPECT_EQ(pixels(unit.images), (Bytes{0, 128, 255}));
    EXPECT_EQ(unit.images->info().note, "floats from 0 to 1 were scaled to 0 to 255");
    EXPECT_EQ(pixels(read({0.0, 0.2, 0.4}).images), (Bytes{0, 51, 102})) << "dark ones stay dark";
    EXPECT_EQ(pixels(read({0.0, 8.0, 16.0}).images), (Bytes{0, 128, 255}))
        << "scikit-learn's digits";
    EXPECT_EQ(pixels(read({0.0, 3.0, 254.0}).images), (Bytes{0, 3, 254}));
    EXPECT_EQ(pixels(read({-1.0, 0.0, 1.0}).images), (Bytes{0, 128, 255}));
    EXPECT_EQ(pixels(read({0.0, 0.0, 0.0}).images), (Bytes{0, 0, 0}));
    // Those of the test split are scaled as the others.
    EXPECT_EQ(pixels(read({0.0, 8.0, 16.0}, {4.0, 32.0}).test), (Bytes{64, 255}));
}

TEST(Npz, SurvivesTruncationAndFlippedBytesAnywhere) {
    const auto good =
        zipOf({{"images.npy", array("|u1", {1, 2, 2, 3}, kImage)}, {"labels.npy", kLabels}});
    for (std::size_t length = 0; length < good.size(); ++length)
        EXPECT_THROW(readNpzImages(std::span(good).first(length), "f.npz"), FileError) << length;
    for (std::size_t at = 0; at < good.size(); ++at) {
        auto bad = good;
        bad[at] ^= 0x55;
        try {
            readNpzImages(
                bad, "f.npz");  // a date or a flag nobody reads may change: no crash is what counts
        } catch (const FileError&) {
        }
    }
}

TEST(Npy, HeaderIsALiteralNotAProgram) {
    const auto parse = [](const std::string& dict) {
        std::string bytes("\x93NUMPY\x01\x00", 8);
        bytes += static_cast<char>(dict.size() & 0xff);
        bytes += static_cast<char>(dict.size() >> 8);
        bytes += dict;
        return parseNpyHeader({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                              "f.npy");
    };
    EXPECT_EQ(parse("{'descr': '<i8', 'fortran_order': False, 'shape': (3, 4), }\n").shape,
              (std::vector<std::int64_t>{3, 4}));
    EXPECT_EQ(parse("{\"shape\":(5,),'fortran_order':True,'descr':'|u1'}").shape,
              (std::vector<std::int64_t>{5}));
    EXPECT_TRUE(parse("{'descr': '<i8', 'fortran_order': False, 'shape': ()}").shape.empty());
    EXPECT_EQ(parse("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 9223372036854775807, "
                    "9223372036854775807)}")
                  .elements(),
              0u);
    for (const auto& bad :
         {"{'descr': '<i8', 'fortran_order': False}",
          "{'descr': [('a','<i8')], 'fortran_order': False, 'shape': ()}",
          "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 2)}",
          "{'descr': '<i8', 'fortran_order': False, 'shape': (-1,)}",
          "{'descr': '<i8', 'fortran_order': False, 'shape': (1,)} + 1",
          "{'descr': '<i8', 'descr': '<i8', 'fortran_order': False, 'shape': (1,)}",
          "__import__('os')", "{", "", "{'descr': '<i8",
          "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}"})
        EXPECT_THROW(parse(bad), FileError) << bad;
}

TEST(NpzWriter, RoundTrips) {
    RelationalGamesOptions o;
    o.size = 1500;
    const RelationalGames data(o);
    const std::string path = temporary("written.npz");
    double last = 0;
    writeNpz(path, data, [&](double fraction) { return last = fraction, true; });
    EXPECT_GT(last, 0.5);
    const auto back = readNpzImages(path);
    ASSERT_EQ(back->size(), 1500);
    for (std::int64_t i = 0; i < 1500; i += 7) {
        EXPECT_EQ(back->sample(i).image, data.sample(i).image);
        EXPECT_EQ(back->sample(i).label, data.sample(i).label);
    }
    EXPECT_THROW(writeNpz("/nonexistent/x.npz", data), FileError);
    EXPECT_THROW(writeNpz(path, data, [](double) { return false; }), Cancelled);
    EXPECT_EQ(readNpzImages(path)->size(), 1500) << "a cancelled save leaves the old file";
    EXPECT_THROW(readNpzImages(path, [](double) { return false; }), Cancelled);
    // NumPy itself, where it is installed.
    if (std::system("python3 -c 'import numpy' 2>/dev/null") == 0) {
        const std::string check = "python3 -c \"import numpy as n; z = n.load('" + path +
                                  "'); assert z['images'].shape == (1500, 36, 36, 3) and "
                                  "z['labels'].shape == (1500, 1) and z['labels'].sum() == 750\"";
        EXPECT_EQ(std::system(check.c_str()), 0);
    }
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace relascope
