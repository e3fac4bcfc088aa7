// SPDX-License-Identifier: GPL-3.0-or-later
// Atlases that are kept beside the run: opened again, and measured again where they are of
// something else, damaged or cannot be written.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <list>
#include <nlohmann/json.hpp>

#include "analysis/atlas/atlas.h"
#include "cli/command_line.h"
#include "datasets/readers/npz.h"
#include "datasets/registry.h"
#include "files/crc32.h"
#include "files/safetensors.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "wire/answer_frame.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

class AtlasCli : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = new TemporaryFolder("atlas-cli");
        const auto trained = runCli(
            "train quick --steps 3 --threads 1 --out " + run() +
            " --set data.train_size=64 --set data.validation_size=48 --set data.test_size=16");
        ASSERT_EQ(trained.code, 0) << trained.err;
    }
    static void TearDownTestSuite() { delete folder; }
    void SetUp() override { fs::remove_all(run() + "/atlas"); }
    static std::string run() { return folder->path() + "/run"; }
    static std::string kept() { return run() + "/atlas/step-3.safetensors"; }
    static nlohmann::json atlas(const std::string& more = {}) {
        const auto said = runCli("atlas " + run() +
                                 " --json --examples 20 --untrained 1 "
                                 "--use-examples 0 " +
                                 more);
        EXPECT_EQ(said.code, 0) << said.err;
        return json(said);
    }
    /// Changes what is kept. One with a remark: who prints it has opened it.
    static void change(const std::function<void(Answer&)>& change) {
        const SafetensorsFile file(kept());
        const auto metadata = file.header().metadata;
        const auto* entry = file.find("result");
        wire::Bytes bytes(entry->bytes());
        file.read(*entry, bytes);
        wire::FrameReader reader;
        reader.append(bytes);
        const auto frame = reader.next();
        auto result = wire::answerFromJson(frame->message, frame->blob);
        change(result);
        wire::Bytes blob;
        const auto message = wire::answerToJson(result, blob);
        bytes = wire::frameBytes(message, blob);
        auto facts = metadata;
        facts["crc32"] = std::to_string(crc32Of(0, bytes.data(), bytes.size()));
        std::vector<TensorToWrite> tensors = {
            {"result", "U8", {static_cast<std::int64_t>(bytes.size())}, bytes}};
        std::list<wire::Bytes> read;
        for (const auto& other : file.header().tensors) {
            if (other.name == "result") continue;
            file.read(other, read.emplace_back(other.bytes()));
            tensors.push_back({other.name, other.dtype, other.shape, read.back()});
        }
        writeSafetensors(kept(), std::move(tensors), facts);
    }
    static void mark(const std::string& remark) {
        change([&](Answer& answer) { fact(answer, "remark").texts = {remark}; });
    }
    static Column& fact(Answer& answer, const std::string& key) {
        for (auto& column : answer.tables.at(0).columns)
            if (column.key == key) return column;
        throw Error(key);
    }
    static inline TemporaryFolder* folder = nullptr;
};

TEST_F(AtlasCli, IsOpenedTheNextTime) {
    const auto first = atlas();
    ASSERT_TRUE(fs::exists(kept()));
    EXPECT_EQ(atlas(), first);
    const auto readable = nlohmann::json::parse(slurp(run() + "/atlas/step-3.json"));
    EXPECT_EQ(readable["format"], "relascope-result/4");
    EXPECT_EQ(readable["relations"], first["relations"]);
    EXPECT_EQ(readable["key"]["options"]["examples"], 20);
    mark("from the file");
    EXPECT_EQ(atlas()["remark"], "from the file");
}

TEST_F(AtlasCli, OfSomethingElseIsMeasuredAgain) {
    const auto first = atlas();
    for (const char* other :
         {"--what heads", "--split train", "--edit 'layer 1 relation 1 zero'", "--checkpoint 1"}) {
        fs::remove_all(run() + "/atlas");
        atlas();
        mark("from the file");
        const auto step = std::string(other) == "--checkpoint 1" ? 1 : 3;
        const auto asked = atlas(other);
        EXPECT_EQ(asked["step"], step);
        EXPECT_EQ(asked["remark"], "") << other;
    }
    // Weights of another training under the same names.
    atlas();
    mark("from the file");
    const auto other =
        runCli("train quick --steps 3 --threads 1 --seed 5 --out " + run() + "-other" +
               " --set data.train_size=64 --set data.validation_size=48 --set data.test_size=16");
    ASSERT_EQ(other.code, 0) << other.err;
    fs::copy(run() + "/atlas", run() + "-other/atlas");
    const auto said =
        runCli("atlas " + run() + "-other --json --examples 20 --untrained 1 --use-examples 0");
    EXPECT_EQ(json(said)["remark"], "");
    // A run that was moved is the same run.
    atlas();
    mark("from the file");
    fs::rename(run(), run() + "-moved");
    const auto moved =
        runCli("atlas " + run() + "-moved --json --examples 20 --untrained 1 --use-examples 0");
    fs::rename(run() + "-moved", run());
    EXPECT_EQ(json(moved)["remark"], "from the file");
    // A file of attributes, by its contents.
    const auto csv = folder->path() + "/own.csv";
    const auto write = [&](int last) {
        std::ofstream(csv) << "example,i,j,own\n0,0,1,1\n0,1,2,0\n1,0,1,1\n1,2,3," << last << "\n";
    };
    write(0);
    atlas("--attributes " + csv);
    mark("from the file");
    EXPECT_EQ(atlas("--attributes " + csv)["remark"], "from the file");
    write(1);
    EXPECT_EQ(atlas("--attributes " + csv)["remark"], "");
}

/// Images of which one has another pixel.
class OneChanged : public ImageDataset {
public:
    OneChanged(ImageDatasetPtr images, Image changed)
        : m_images(std::move(images)), m_changed(std::move(changed)) {}
    const DatasetInfo& info() const override { return m_images->info(); }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        const auto label = m_images->read(index, pixels);
        if (std::equal(pixels.begin(), pixels.end(), m_changed.pixels.begin())) pixels[0] ^= 1;
        return label;
    }

private:
    ImageDatasetPtr m_images;
    Image m_changed;
};

// Under the same name and of the same size, with one other example: of those that are read, or not.
TEST_F(AtlasCli, OfOtherExamplesIsMeasuredAgain) {
    const std::string data = folder->path() + "/made.npz", run = folder->path() + "/own";
    ASSERT_EQ(runCli("data relational-games-between --count 200 --family hexos --out " + data).code,
              0);
    const auto trained = runCli("train quick --steps 3 --threads 1 --data " + data + " --out " +
                                run + " --set data.train_size=64 --set data.validation_size=100" +
                                " --set data.test_size=16");
    ASSERT_EQ(trained.code, 0) << trained.err;
    const auto kept = run + "/atlas/step-3.safetensors";
    const auto measured = [&] {
        const auto said =
            runCli("atlas " + run + " --json --examples 20 --untrained 1 " + "--use-examples 0");
        EXPECT_EQ(said.code, 0) << said.err;
        return fs::last_write_time(kept);
    };
    const auto first = measured();
    EXPECT_EQ(measured(), first) << "it is kept";
    std::vector<std::int64_t> read;
    {
        const SafetensorsFile file(kept);
        const auto* entry = file.find("read/");
        ASSERT_TRUE(entry);
        read.resize(static_cast<std::size_t>(entry->shape.at(0)));
        EXPECT_TRUE(read.size() == 20 || read.size() == 21) << "the first gives the hook points";
        file.read(*entry, {reinterpret_cast<std::uint8_t*>(read.data()), entry->bytes()});
    }
    const auto isRead = [&](std::int64_t index) {
        return std::binary_search(read.begin(), read.end(), index);
    };
    std::int64_t other = 0;
    while (isRead(other)) ++other;
    for (const auto index : {other, read.back()}) {
        const auto sample = datasets::openData(readRunOptions(run).data).validation->sample(index);
        datasets::writeNpz(data, OneChanged(datasets::readNpzImages(data), sample.image));
        if (isRead(index))
            EXPECT_NE(measured(), first);
        else
            EXPECT_EQ(measured(), first) << "nobody looks at it";
    }
}

// It was kept by nobody who measured it: the file is named, and nothing is shown of it.
TEST_F(AtlasCli, AWrongIndexIsAnErrorThatNamesTheFile) {
    atlas();
    change([](Answer& answer) {
        for (auto& column : answer.tables.at(1).columns)
            if (column.key == "strongest") column.numbers.at(0) = 1000;
    });
    const auto said =
        runCli("atlas " + run() + " --json --examples 20 --untrained 1 --use-examples 0");
    EXPECT_NE(said.code, 0);
    EXPECT_NE(said.err.find(kept()), std::string::npos) << said.err;
    EXPECT_NE(said.err.find("'strongest' points at row 1000"), std::string::npos) << said.err;
}

TEST_F(AtlasCli, DamagedFilesAndAFullDiskCostNothingElse) {
    const auto first = atlas();
    const auto whole = slurp(kept());
    for (std::size_t at = 0; at < whole.size(); at += whole.size() / 12) {
        auto damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
        std::ofstream(kept(), std::ios::binary) << damaged;
        EXPECT_EQ(atlas(), first) << at;
    }
    std::ofstream(kept(), std::ios::binary) << whole.substr(0, whole.size() / 2);
    EXPECT_EQ(atlas(), first);
    EXPECT_EQ(slurp(kept()), whole) << "it is kept again";
    // Nothing can be written there.
    fs::remove_all(run() + "/atlas");
    std::ofstream(run() + "/atlas") << "a file";
    EXPECT_EQ(atlas(), first);
    fs::remove(run() + "/atlas");
}

}  // namespace
}  // namespace relascope
