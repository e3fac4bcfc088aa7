// SPDX-License-Identifier: GPL-3.0-or-later
// CIFAR's binaries, IDX files and folders of pictures, good and bad.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "datasets/pictures.h"
#include "datasets/readers/cifar.h"
#include "datasets/readers/idx.h"
#include "datasets/readers/image_folder.h"
#include "datasets/readers/prepared_images.h"
#include "datasets/registry.h"
#include "options/image_processor.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;

class ImageReaders : public testing::Test {
protected:
    void SetUp() override { fs::create_directories(m_folder.path()); }

    std::string write(const std::string& name, const std::string& bytes) {
        writeBytes(pathOf(name), bytes);
        return m_folder / name;
    }
    std::string pathOf(const std::string& name) {
        fs::create_directories(fs::path(m_folder / name).parent_path());
        return m_folder / name;
    }
    // What is said, without the path it begins with.
    template <class Function>
    static std::string reasonOf(Function&& function) {
        try {
            function();
        } catch (const FileError& error) {
            return std::string(error.what()).substr(error.path().size());
        } catch (const OptionError& error) {
            return error.what();
        }
        return "";
    }
    static void expectSays(const std::string& reason, const std::string& message) {
        EXPECT_NE(reason.find(message), std::string::npos)
            << "'" << reason << "' lacks " << message;
    }

    TemporaryFolder m_folder{"images"};
};

TEST_F(ImageReaders, CifarFilesAreReadRecordByRecord) {
    for (const int labels : {1, 2}) {
        const int classes = labels == 1 ? 10 : 100;
        const auto path = write("some.bin", cifar(1200, labels, classes));
        std::vector<std::uint8_t> pixels;
        std::vector<std::int32_t> answers;
        readCifarFile(path, labels, classes, 1200, pixels, answers);
        ASSERT_EQ(answers.size(), 1200u);
        ASSERT_EQ(pixels.size(), 1200u * 3072);
        for (const std::size_t i : {0u, 499u, 500u, 1199u}) {
            EXPECT_EQ(answers[i], static_cast<int>(i) % classes);
            for (const std::size_t p : {0u, 33u, 1023u})
                for (std::size_t c = 0; c < 3; ++c)
                    ASSERT_EQ(pixels[i * 3072 + p * 3 + c],
                              static_cast<std::uint8_t>(7 * i + 3 * c + p));
        }
        const auto say = [&](const std::string& bytes) {
            write("some.bin", bytes);
            return reasonOf([&] { readCifarFile(path, labels, classes, 1200, pixels, answers); });
        };
        const auto good = cifar(1200, labels, classes);
        expectSays(say(good.substr(1)), "bytes where 1200 images");
        expectSays(say(good + 'x'), "bytes where 1200 images");
        expectSays(say(""), "has 0 bytes");
        auto odd = good;
        const auto record = static_cast<std::size_t>(labels + 3072);
        odd[700 * record + static_cast<std::size_t>(labels) - 1] = static_cast<char>(classes);
        expectSays(say(odd), "record 700 has the label " + std::to_string(classes));
    }
}

TEST_F(ImageReaders, CifarIsFoundWhereItsArchiveUnpacks) {
    EXPECT_EQ(cifarClassNames(10).size(), 10u);
    const auto hundred = cifarClassNames(100);
    EXPECT_EQ(std::set<std::string>(hundred.begin(), hundred.end()).size(), 100u);
    DataOptions o;
    o.kind = "images", o.task = "cifar10", o.path = m_folder.path();
    o.train_size = 300, o.validation_size = 200, o.test_size = 100;
    expectSays(reasonOf([&] { openData(o); }), "has no data_batch_1.bin");
    fs::create_directories(m_folder / "cifar-10-batches-py");
    expectSays(reasonOf([&] { openData(o); }), "is a pickle");
    // All batches are the same file.
    const auto batch = write("cifar-10-batches-bin/data_batch_1.bin", cifar(10000, 1, 10));
    const auto link = [&](const std::string& name) {
        fs::create_hard_link(batch, m_folder / ("cifar-10-batches-bin/" + name));
    };
    for (const char* number : {"2", "3", "4", "5"})
        link("data_batch_" + std::string(number) + ".bin");
    EXPECT_THROW(openData(o), FileError) << "without the test batch";
    link("test_batch.bin");
    std::string names;
    for (int i = 0; i < 10; ++i) names += "kind " + std::to_string(i) + "\r\n";
    write("cifar-10-batches-bin/batches.meta.txt", names + "\n");

    auto splits = openData(o);
    EXPECT_EQ(splits.names(), (std::vector<std::string>{"train", "validation", "test"}));
    EXPECT_EQ(splits.train->size(), 300);
    EXPECT_EQ(splits.validation->size(), 200);
    EXPECT_EQ(splits.find("test")->size(), 100);
    EXPECT_EQ(splits.train->info().classNames[3], "kind 3");
    EXPECT_EQ(splits.train->sample(4).label, 4);
    // Held out are the last of the 50000: of the last file, from 9800 on.
    EXPECT_EQ(splits.validation->sample(0).image.pixels[1],
              static_cast<std::uint8_t>(7 * 9800 + 3));
    EXPECT_FALSE(splits.trainEpoch);
    o.train_size = o.test_size = o.validation_size = 0;
    splits = openData(o);
    EXPECT_EQ(splits.train->size(), 50000);
    EXPECT_EQ(splits.validation, splits.find("test")) << "as published, none is held out";
    EXPECT_NO_THROW(requireFit(splits.train->info(), 3, 32, 32, 10));
    o.validation_size = 50000;
    expectSays(reasonOf([&] { openData(o); }), "data.validation_size");
    o.validation_size = 1000, o.train_size = 49001;
    expectSays(reasonOf([&] { openData(o); }), "data.train_size");
    EXPECT_EQ(openEvaluationData(m_folder / "cifar-10-batches-bin", o, "")->size(), 10000);
    EXPECT_THROW(openData(o, [](double) { return false; }), Cancelled);
}

TEST_F(ImageReaders, IdxIsReadPlainAndGzipped) {
    const std::string bytes = "abcdefghijkl";
    for (const bool zipped : {false, true}) {
        const auto file = idx({2, 2, 3}, bytes);
        const auto array = readIdx(write("a", zipped ? gzipped(file) : file), 3);
        EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 2, 3}));
        EXPECT_EQ(std::string(array.bytes.begin(), array.bytes.end()), bytes);
    }
    const auto say = [&](const std::string& file, int dimensions = 3) {
        return reasonOf([&] { readIdx(write("a", file), dimensions); });
    };
    expectSays(say(""), "ends within its header");
    expectSays(say(idx({2, 2, 3}, "").substr(0, 15)), "ends within its header");
    expectSays(say("PNG" + idx({2, 2, 3}, bytes)), "does not start like an IDX file");
    expectSays(say(idx({2, 2, 3}, bytes, 13)), "type 13");
    expectSays(say(idx({2, 2, 3}, bytes), 1), "3 dimensions where 1");
    expectSays(say(idx({2, 2, 3}, bytes + "m")), "more bytes than its sizes 2 x 2 x 3");
    expectSays(say(idx({2, 2, 3}, "abc")), "holds 3 of the 12 bytes");
    expectSays(say(idx({-1, -1, -1}, bytes)), "more than supported");
    expectSays(say(idx({1 << 20, 1 << 20, 1 << 20}, bytes)), "more than supported");
    auto gz = gzipped(idx({2, 2, 3}, bytes));
    expectSays(say(gz.substr(0, gz.size() - 9)), "truncated");
    gz[14] ^= 0x55;
    EXPECT_NE(say(gz), "");
    const auto good = idx({2, 2, 3}, bytes);
    for (std::size_t length = 0; length < good.size(); ++length)
        EXPECT_NE(say(good.substr(0, length)), "") << length;
    // Whatever byte is another: an error in words, or a time stamp that nobody reads.
    for (auto file : {good, gzipped(good)})
        for (std::size_t at = 0; at < file.size(); ++at)
            for (const char flip : {'\x01', '\x80', '\xff'}) {
                file[at] ^= flip;
                EXPECT_NO_THROW(say(file)) << at;
                file[at] ^= flip;
            }
}

TEST_F(ImageReaders, IdxFoldersHoldImagesAndLabelsOfTwoParts) {
    std::string pixels, labels;
    for (int i = 0; i < 60; ++i) {
        pixels += std::string(28 * 28, static_cast<char>(4 * i));
        labels += static_cast<char>(i % 10);
    }
    write("train-images-idx3-ubyte.gz", gzipped(idx({60, 28, 28}, pixels)));
    write("train-labels-idx1-ubyte", idx({60}, labels));
    write("t10k-images-idx3-ubyte", idx({60, 28, 28}, pixels));
    DataOptions o;
    o.kind = "images", o.task = "fashion-mnist", o.path = m_folder.path();
    o.train_size = 40, o.validation_size = 15, o.test_size = 0;
    expectSays(reasonOf([&] { openData(o); }), "was not found, with or without .gz");
    const auto test = write("t10k-labels-idx1-ubyte", idx({60}, labels));
    const auto splits = openData(o);
    const auto& info = splits.train->info();
    EXPECT_EQ(info.channels, 1);
    EXPECT_EQ(info.height * info.width, 28 * 28);
    EXPECT_EQ(info.classNames[9], "Ankle boot");
    EXPECT_EQ(splits.train->sample(39).image.pixels[5], 4 * 39);
    EXPECT_EQ(splits.validation->sample(0).image.pixels[5], 4 * 45);
    EXPECT_EQ(splits.validation->sample(0).label, 5);
    EXPECT_EQ(splits.find("test")->size(), 60);
    EXPECT_EQ(openEvaluationData(m_folder.path(), o, "train")->size(), 60);
    EXPECT_THROW(openEvaluationData(m_folder.path(), o, "hexos"), OptionError);
    write("t10k-labels-idx1-ubyte", idx({59}, labels.substr(1)));
    expectSays(reasonOf([&] { openData(o); }), "has 59 labels for 60 images");
    labels[7] = '\x0a';
    write("t10k-labels-idx1-ubyte", idx({60}, labels));
    expectSays(reasonOf([&] { openData(o); }), "label 7 is 10");
    labels[7] = '\x07';
    write("t10k-labels-idx1-ubyte", idx({60}, labels));
    write("t10k-images-idx3-ubyte", idx({60, 14, 56}, pixels));
    expectSays(reasonOf([&] { openData(o); }), "images of 28 x 28 to train on and of 14 x 56");
}

// Their names vary with the program that unpacked them, and torchvision adds folders.
TEST_F(ImageReaders, IdxFilesAreFoundByAllTheirNames) {
    const std::string pixels(20 * 4, '\7'),
        labels("\0\1\2\3\4\5\6\7\10\11\0\1\2\3\4\5\6\7\10\11", 20);
    DataOptions o;
    o.kind = "images", o.task = "fashion-mnist";
    o.train_size = o.validation_size = o.test_size = 0;
    const auto expectRead = [&](const std::string& below, const char* mark, bool zipped,
                                const std::string& last) {
        TemporaryFolder home("idx-names");
        const auto put = [&](const std::string& part, const char* type, const std::string& bytes) {
            const auto folder = fs::path(home / below);
            fs::create_directories(folder);
            writeBytes((folder / (part + mark + type + (zipped ? ".gz" : ""))).string(),
                       zipped ? gzipped(bytes) : bytes);
        };
        for (const char* part : {"train", "t10k"}) {
            put(std::string(part) + "-images", "idx3-ubyte", idx({20, 2, 2}, pixels));
            put(std::string(part) + "-labels", "idx1-ubyte", idx({20}, labels));
        }
        for (const auto& given : {home.path(), home / below}) {
            o.path = given;
            const auto data = openData(o).train;
            EXPECT_EQ(data->size(), 20) << below;
            EXPECT_EQ(data->info().classNames[9], last) << given;
        }
    };
    for (const bool zipped : {false, true})
        for (const char* mark : {"-", "."}) {
            expectRead(".", mark, zipped, "Ankle boot");
            expectRead("raw", mark, zipped, "Ankle boot");
            expectRead("MNIST/raw", mark, zipped, "9");
            expectRead("FashionMNIST/raw", mark, zipped, "Ankle boot");
        }
}

TEST_F(ImageReaders, FashionMnistIsReadWhereItIsInstalled) {
    ASSERT_FALSE(installedFashionMnist().empty()) << "run app/setup.sh";
    DataOptions o;
    o.kind = "images", o.task = "fashion-mnist";
    o.train_size = o.test_size = 0, o.validation_size = 5000;
    const auto splits = openData(o);
    EXPECT_EQ(splits.train->size(), 55000);
    EXPECT_EQ(splits.find("test")->size(), 10000);
    std::vector<int> classes(10);
    for (std::int64_t i = 0; i < 10000; ++i)
        ++classes[static_cast<std::size_t>(splits.find("test")->sample(i).label)];
    EXPECT_EQ(classes, std::vector<int>(10, 1000));
    EXPECT_EQ(splits.train->sample(0).label, 9) << "the first is an ankle boot";
}

TEST_F(ImageReaders, FoldersGiveOneClassEach) {
    for (int i = 0; i < 20; ++i) {
        writePng(pathOf("red/" + std::to_string(i) + ".png"), picture(40 + i, 30, 200, 10, 10));
        writeJpeg(pathOf("blue/" + std::to_string(i) + ".jpg"), picture(32, 32, 10, 10, 200));
    }
    write("red/.hidden", "no readable image");
    DataOptions o;
    o.kind = "images", o.task = "folder", o.path = m_folder.path() + "/";
    o.train_size = o.validation_size = o.test_size = 0;
    auto splits = openData(o);
    EXPECT_EQ(splits.train->info().classNames, (std::vector<std::string>{"blue", "red"}));
    EXPECT_EQ(splits.train->size(), 32);
    EXPECT_EQ(splits.find("test")->size(), 8);
    EXPECT_EQ(splits.train->info().note.substr(0, 52),
              "1 of 41 files were skipped: 1 hidden (red/.hidden); ");
    EXPECT_EQ(splits.train->info().origin, m_folder.path());
    int red = 0;
    for (std::int64_t i = 0; i < 32; ++i) {
        const auto sample = splits.train->sample(i);
        ASSERT_EQ(sample.image.width * sample.image.height, 32 * 32);
        const auto corner = sample.image.index(31, 31, 0);
        ASSERT_EQ(sample.image.pixels[corner] > sample.image.pixels[corner + 2], sample.label == 1);
        ASSERT_GT(sample.image.pixels[0], 230) << "upright";
        red += sample.label == 1;
    }
    EXPECT_GT(red, 8) << "mixed, not in the order of the folders";
    EXPECT_LT(red, 24);

    // The same with a part of its own to test on.
    TemporaryFolder parted("images-parted");
    fs::create_directories(parted / "test/red");
    fs::copy(m_folder.path(), parted / "train", fs::copy_options::recursive);
    writePng(parted / "test/red/a.png", picture(9, 9, 200, 10, 10));
    o.path = parted.path();
    splits = openData(o);
    EXPECT_EQ(splits.train->size(), 40);
    EXPECT_EQ(splits.find("test")->size(), 1);
    EXPECT_EQ(splits.find("test")->sample(0).label, 1);
    fs::create_directories(parted / "test/green");
    writePng(parted / "test/green/a.png", picture(9, 9, 10, 200, 10));
    expectSays(reasonOf([&] { openData(o); }), "is a class that");
}

TEST_F(ImageReaders, ComposedAndDecomposedNamesAreOneClass) {
    const std::string composed = "K\xc3\xa4se", decomposed = "Ka\xcc\x88se";
    const auto png = [&](const std::string& split, const std::string& name) {
        writePng(pathOf("names/" + split + "/" + name + "/0.png"), picture(8, 8, 9, 9, 9));
    };
    const auto folder = m_folder / "names";
    for (const auto& [split, name] : {std::pair("train", composed), std::pair("test", decomposed)})
        png(split, name), png(split, "brot");
    const auto splits = readImageFolder(folder, 8);
    EXPECT_EQ(splits.train->info().classNames, (std::vector<std::string>{composed, "brot"}));
    EXPECT_EQ(splits.test->info().classNames, splits.train->info().classNames);
    // Both in one folder are one class, too.
    png("train", decomposed);
    EXPECT_EQ(readImageFolder(folder, 8).train->size(), 3);
    // A name that differs in capitals alone is another one, and the sentence says so.
    png("test", "Brot");
    expectSays(reasonOf([&] { readImageFolder(folder, 8); }),
               "'brot' there differs from it in capital letters alone");
}

TEST_F(ImageReaders, WhatIsNoPictureIsNamedAndLeftOut) {
    for (int i = 0; i < 6; ++i) {
        writePng(pathOf("a/" + std::to_string(i) + ".png"), picture(8, 8, 1, 2, 3));
        writePng(pathOf("b/" + std::to_string(i) + ".png"), picture(8, 8, 3, 2, 1));
    }
    writePng(pathOf("a/dot.png"), picture(1, 1, 0, 0, 0));
    writeJpeg(pathOf("b/whole.jpg"), picture(64, 64, 9, 99, 199));
    const auto whole = fs::file_size(m_folder / "b/whole.jpg");
    fs::resize_file(m_folder / "b/whole.jpg", whole / 2);
    write("b/notes.txt", "about b");
    auto parts = readImageFolder(m_folder.path(), 8);
    EXPECT_EQ(parts.train->size(), 12);
    EXPECT_EQ(parts.test, nullptr);
    const auto& note = parts.train->info().note;
    for (const char* message :
         {"3 of 15 files were skipped", "1 smaller than 2 x 2 pixels (a/dot.png: 1 x 1)",
          "1 damaged or unsupported JPEG (b/whole.jpg: ", "1 neither PNG nor JPEG (b/notes.txt)"})
        expectSays(note, message);
    for (int i = 0; i < 4; ++i) write("b/notes" + std::to_string(i) + ".txt", "more");
    parts = readImageFolder(m_folder.path(), 8);
    expectSays(parts.train->info().note, "7 of 19 files were skipped");
    expectSays(parts.train->info().note, "(b/notes.txt and 4 more)");

    const auto say = [&] { return reasonOf([&] { readImageFolder(m_folder.path(), 8); }); };
    write("c/only.txt", "words");
    expectSays(say(), "has a class without a readable image");
    fs::remove_all(m_folder / "c");
    fs::remove_all(m_folder / "b");
    expectSays(say(), "has 1 folder with files");
    expectSays(reasonOf([&] { readImageFolder(m_folder / "a/0.png", 8); }), "is not a folder");
    expectSays(reasonOf([&] { readImageFolder(m_folder / "none", 8); }), "is not a folder");
    fs::remove_all(m_folder / "a");
    expectSays(say(), "has 0 folders");
}

// do_resize: false
TEST_F(ImageReaders, PicturesThatAreNotScaledHaveTheSizeOfTheModel) {
    for (int i = 0; i < 6; ++i)
        for (const char* name : {"a/", "b/"})
            writePng(pathOf(name + std::to_string(i) + ".png"), picture(24, 20, 10 * i, 90, 7));
    writePng(pathOf("b/wide.png"), picture(32, 20, 1, 90, 7));
    DataOptions o;
    o.kind = "images", o.task = "folder", o.path = m_folder.path();
    o.validation_size = 2, o.train_size = o.test_size = 0;
    o.preprocessor =
        core::imageProcessorText(core::imageProcessorOf("{\"do_resize\": false}", 24, 20));
    const auto data = openData(o).train;
    EXPECT_EQ(data->info().width, 24);
    EXPECT_EQ(data->info().height, 20);
    const auto whole = readImageFolder(m_folder.path(), 32, {}, {}, o.preprocessor).train;
    EXPECT_EQ(whole->size(), 12);
    expectSays(whole->info().note,
               "1 not the 24 x 20 pixels of the model, whose images are not "
               "scaled (b/wide.png: 32 x 20)");
    // Other images are not scaled either.
    DataOptions games;
    games.train_size = games.validation_size = games.test_size = 4;
    games.preprocessor = o.preprocessor;
    EXPECT_EQ(openData(games).train->info().width, 36);
}

// Images of every kind become those of a model that a run starts from.
TEST_F(ImageReaders, APreprocessorPreparesTheImages) {
    core::ImageProcessor processor = core::usualImageProcessor(20, 16, 3);
    processor.cropWidth = 18, processor.cropHeight = 12;
    for (int i = 0; i < 6; ++i)
        for (const char* name : {"a/", "b/"})
            writePng(pathOf(name + std::to_string(i) + ".png"), picture(40, 30, 10 * i, 90, 7));
    DataOptions o;
    o.kind = "images", o.task = "folder", o.path = m_folder.path();
    o.validation_size = 2, o.train_size = o.test_size = 0;
    o.preprocessor = core::imageProcessorText(processor);
    const auto expectPrepared = [&](const core::DatasetPtr& data) {
        EXPECT_EQ(data->info().width, 18);
        EXPECT_EQ(data->info().height, 12);
        EXPECT_EQ(data->info().channels, 3);
        const auto sample = data->sample(0);
        EXPECT_EQ(sample.image.pixels.size(), 18u * 12 * 3);
    };
    auto splits = openData(o);
    for (const auto& name : splits.names()) expectPrepared(splits.find(name));
    std::set<std::vector<std::uint8_t>> seen, wanted;
    for (std::int64_t i = 0; i < splits.train->size(); ++i)
        seen.insert(splits.train->sample(i).image.pixels);
    for (int i = 0; i < 6; ++i)
        wanted.insert(
            core::prepared(readImageFile(m_folder / ("a/" + std::to_string(i) + ".png")), processor)
                .pixels);
    for (const auto& pixels : seen) EXPECT_EQ(wanted.count(pixels), 1u);
    // Augmented epochs as well.
    o.augment = "crop-flip";
    splits = openData(o);
    ASSERT_TRUE(splits.trainEpoch);
    expectPrepared(splits.trainEpoch(1));
    // Generated images of another kind, and grey ones.
    DataOptions games;
    games.train_size = games.validation_size = games.test_size = 4;
    games.preprocessor = o.preprocessor;
    const auto generated = openData(games);
    expectPrepared(generated.train);
    games.preprocessor.clear();
    const auto plain = openData(games).train;
    EXPECT_EQ(plain->info().width, 36);
    EXPECT_EQ(generated.train->sample(1).image.pixels,
              core::prepared(plain->sample(1).image, processor).pixels);
    EXPECT_EQ(generated.train->sample(1).label, plain->sample(1).label);
    EXPECT_EQ(preparedImages(plain, games), plain);
}

}  // namespace
}  // namespace relascope
