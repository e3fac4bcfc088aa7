// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints of every form through the one interface.
#include "checkpoint/source.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <sstream>

#include "checkpoint/checkpoint.h"
#include "files/atomic_file.h"
#include "files/safetensors.h"
#include "support/bytes_of.h"
#include "support/rooms.h"
#include "support/tiny_run.h"

namespace relascope {
namespace {

using namespace testing_support;

const std::vector<std::uint8_t> kBytes = {1, 2, 3, 4};

void writeOne(const std::string& path, const std::vector<std::string>& names,
              const std::map<std::string, std::string>& metadata = {}) {
    std::vector<TensorToWrite> tensors;
    for (const auto& name : names) tensors.push_back({name, "U8", {4}, kBytes});
    writeSafetensors(path, tensors, metadata);
}

void expectRefused(const std::string& path, const std::string& message) {
    try {
        CheckpointSource::open(path);
        FAIL() << "accepted, expected: " << message;
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
}

std::string names(const CheckpointSource& source) {
    std::string all;
    for (const auto& t : source.tensors())
        all += (all.empty() ? "" : " ") + t.name + (t.sameAs.empty() ? "" : "=" + t.sameAs);
    return all;
}

std::vector<std::uint8_t> read(const CheckpointSource& source, const StoredTensor& tensor) {
    std::vector<std::uint8_t> bytes(tensor.bytes);
    source.read(tensor, bytes);
    return bytes;
}

class Source : public testing::Test {
protected:
    Source() : home("source") { std::filesystem::create_directories(home.path()); }
    TemporaryFolder home;
};

TEST_F(Source, OpensAFileAndAFolder) {
    writeOne(home / "model.safetensors", {"b", "a"}, {{"format", "pt"}});
    const auto file = CheckpointSource::open(home / "model.safetensors");
    EXPECT_EQ(file->form(), "safetensors");
    EXPECT_EQ(names(*file), "a b");
    EXPECT_EQ(read(*file, *file->find("b")), kBytes);
    EXPECT_EQ(file->find("c"), nullptr);
    EXPECT_EQ(file->metadata().at("format"), "pt");
    EXPECT_EQ(file->bytes(), std::filesystem::file_size(home / "model.safetensors"));
    EXPECT_TRUE(file->config().empty());
    std::vector<std::uint8_t> wrong(3);
    EXPECT_THROW(file->read(*file->find("b"), wrong), Error);
    EXPECT_THROW(file->readPart(*file->find("b"), 2, wrong), FileError);

    EXPECT_EQ(names(*CheckpointSource::open(home.path())), "a b") << "as a run's checkpoints are";
    writeTextFile(home / "config.json", "{\"d_model\": 8}");
    const auto folder = CheckpointSource::open(home.path());
    EXPECT_EQ(folder->config(), "{\"d_model\": 8}");
    EXPECT_EQ(folder->configFrom(), "config.json");
    EXPECT_EQ(folder->files().size(), 2u);
}

TEST_F(Source, GoesByContentNotByName) {
    writeBytes(home / "weights.safetensors", archive(dict({{"w", tensor()}})));
    EXPECT_EQ(CheckpointSource::open(home / "weights.safetensors")->form(), "PyTorch archive");
    writeOne(home / "weights.pt", {"a"});
    EXPECT_EQ(CheckpointSource::open(home / "weights.pt")->form(), "safetensors");
    writeBytes(home / "old.pt", "\x80\x02\x8a\x0a" + std::string(600, 'x'));
    expectRefused(home / "old.pt", "before 1.6");
    expectRefused(home / "old.pt", "torch.save(torch.load(old), new)");
    writeBytes(home / "older.pt", std::string(257, '\0') + "ustar" + std::string(300, '\0'));
    expectRefused(home / "older.pt", "TAR");
    writeBytes(home / "empty.pt", "");
    expectRefused(home / "empty.pt", "is empty");
    expectRefused(home / "gone.pt", "does not exist");
}

// A header of 640 bytes begins with 80 02, as a pickle does.
TEST_F(Source, TakesNoLengthForAPickle) {
    const std::string path = home / "model.safetensors";
    writeOne(path, {"a"}, {{"note", ""}});
    const auto shortest = std::filesystem::file_size(path) - 8 - kBytes.size();
    ASSERT_LT(shortest, 640u);
    writeOne(path, {"a"}, {{"note", std::string(640 - shortest, 'x')}});
    std::ifstream file(path, std::ios::binary);
    ASSERT_EQ(file.get(), 0x80);
    ASSERT_EQ(file.get(), 0x02);
    EXPECT_EQ(names(*CheckpointSource::open(path)), "a");
}

TEST_F(Source, FindsTheArchiveOfAFolder) {
    expectRefused(home.path(), "contains no weights");
    writeTextFile(home / "run.json", "{}");
    expectRefused(home.path(),
                  "is a run folder; open one of the folders in its 'checkpoints' folder");
    writeBytes(home / "checkpoint.pt", archive(dict({{"w", tensor()}})));
    writeOne(home / "io.safetensors", {"input/x"});
    writeTextFile(home / "config.json", "{}");
    const auto folder = CheckpointSource::open(home.path());
    EXPECT_EQ(names(*folder), "w");
    EXPECT_EQ(folder->configFrom(), "config.json");
    writeBytes(home / "checkpoint.pt",
               archive(dict({{"model", dict({{"w", tensor()}})}, {"config", "}"}})));
    EXPECT_EQ(CheckpointSource::open(home.path())->configFrom(), "config") << "the archive's own";
    writeBytes(home / "other.ckpt", archive(dict({{"w", tensor()}})));
    expectRefused(home.path(), "several weights files (checkpoint.pt, other.ckpt");
}

TEST_F(Source, CleansNames) {
    const auto cleaned = [&](const std::vector<std::string>& stored) {
        writeOne(home / "x.safetensors", stored);
        return names(*CheckpointSource::open(home / "x.safetensors"));
    };
    EXPECT_EQ(cleaned({"_orig_mod.a", "b"}), "a b");
    EXPECT_EQ(cleaned({"model.a", "model.b"}), "a b");
    EXPECT_EQ(cleaned({"model.a", "b"}), "b model.a") << "only where all carry it";
    EXPECT_EQ(cleaned({"model._orig_mod.a", "model._orig_mod.b"}), "a b");
    EXPECT_EQ(cleaned({"_orig_mod.model.a"}), "a");
    EXPECT_EQ(cleaned({"model."}), "model.");
    EXPECT_EQ(cleaned({"_orig_mod."}), "_orig_mod.");
    writeOne(home / "x.safetensors", {"_orig_mod.a", "a"});
    expectRefused(home / "x.safetensors", "two tensors for 'a'");
    writeOne(home / "x.safetensors", {"_orig_mod.a"});
    EXPECT_EQ(CheckpointSource::open(home / "x.safetensors")->tensors()[0].stored, "_orig_mod.a");
}

TEST_F(Source, NamesSharedTensors) {
    writeOne(home / "x.safetensors", {"model.kept"},
             {{"model.dropped", "model.kept"}, {"format", "pt"}, {"other", "nothing"}});
    const auto source = CheckpointSource::open(home / "x.safetensors");
    EXPECT_EQ(names(*source), "kept dropped=kept");
    EXPECT_EQ(read(*source, *source->find("dropped")), kBytes);
    EXPECT_EQ(source->metadata(),
              (std::map<std::string, std::string>{{"format", "pt"}, {"other", "nothing"}}));
    writeBytes(home / "x.pt", archive(dict({{"first", tensor()}, {"second", tensor()}})));
    EXPECT_EQ(names(*CheckpointSource::open(home / "x.pt")), "first second=first");
}

class Shards : public Source {
protected:
    Shards() {
        writeOne(home / "m-1.safetensors", {"a", "b"});
        writeOne(home / "m-2.safetensors", {"c"});
    }
    void index(const std::string& text) {
        writeTextFile(home / "model.safetensors.index.json", text);
    }
    const std::string kGood =
        R"({"metadata": {"total_size": 12, "shared": "a"},
            "weight_map": {"a": "m-1.safetensors", "b": "m-1.safetensors", "c": "m-2.safetensors"}})";
};

TEST_F(Shards, AreOneCheckpoint) {
    index(kGood);
    for (const auto& path : {home.path(), home / "model.safetensors.index.json"}) {
        const auto source = CheckpointSource::open(path);
        EXPECT_EQ(source->form(), "sharded safetensors");
        EXPECT_EQ(names(*source), "a b c shared=a");
        EXPECT_EQ(source->find("a")->file, 0);
        EXPECT_EQ(source->find("c")->file, 1);
        EXPECT_EQ(read(*source, *source->find("c")), kBytes);
        EXPECT_EQ(source->metadata().at("total_size"), "12");
        EXPECT_EQ(source->bytes(), std::filesystem::file_size(home / "m-1.safetensors") +
                                       std::filesystem::file_size(home / "m-2.safetensors"));
    }
}

// What an index does not put into a shard is left out, wherever else it stands.
TEST_F(Shards, AreReadAsTheirIndexSays) {
    const auto leftOut = [](const CheckpointSource& source) {
        std::string all;
        for (const auto& t : source.leftOut()) all += t.stored + " " + t.note + "; ";
        return all;
    };
    index(R"({"weight_map": {"a": "m-1.safetensors", "c": "m-2.safetensors"}})");
    auto source = CheckpointSource::open(home.path());
    EXPECT_EQ(names(*source), "a c");
    EXPECT_EQ(leftOut(*source), "b is not listed by the index; ");
    EXPECT_TRUE(source->absent().empty());

    const std::vector<std::uint8_t> zeros(4);
    writeSafetensors(home / "m-2.safetensors", {{"a", "U8", {4}, zeros}, {"c", "U8", {4}, kBytes}},
                     {});
    source = CheckpointSource::open(home.path());
    EXPECT_EQ(leftOut(*source), "b is not listed by the index; a is read from 'm-1.safetensors'; ");
    EXPECT_EQ(read(*source, *source->find("a")), kBytes) << "the index says which one counts";

    index(R"({"weight_map": {"a": "m-1.safetensors", "b": "m-1.safetensors",
                             "c": "m-2.safetensors", "d": "m-2.safetensors"}})");
    source = CheckpointSource::open(home.path());
    EXPECT_EQ(names(*source), "a b c");
    EXPECT_EQ(source->absent(), (std::map<std::string, std::string>{{"d", "m-2.safetensors"}}));
}

TEST_F(Shards, MustAllBeThere) {
    index(R"({"weight_map": {"a": "m-3.safetensors"}})");
    expectRefused(home.path(), "m-3.safetensors: is missing");
    std::filesystem::remove(home / "m-2.safetensors");
    index(kGood);
    expectRefused(home.path(), "m-2.safetensors: is missing; the index lists 2 shards");
}

TEST_F(Shards, StandBesideTheirIndex) {
    for (const char* file :
         {"../m-1.safetensors", "/etc/passwd", "..", ".", "", "x/../y", "a\\\\b"})
        index(std::string(R"({"weight_map": {"a": ")") + file + "\"}}"),
            expectRefused(home.path(), "not the name of a file in the folder of the index");
    index(R"({"weight_map": {"a": 7}})");
    expectRefused(home.path(), "listed in 'number'");
}

TEST_F(Shards, NeedAnIndexThatIsOne) {
    for (const std::string text : {"", "{", "[]", "{}", R"({"weight_map": []})"})
        index(text), expectRefused(home.path(), "is not an index of shards");
    index(std::string(100'000, '['));
    expectRefused(home.path(), "is not an index of shards");
    index(R"({"weight_map": {}})");
    expectRefused(home.path(), "names 0 shards");
}

// Another process may do anything to a file while it is read.
TEST_F(Source, NoticesWhatHappensToItsFile) {
    const std::string path = home / "x.safetensors";
    const auto opened = [&] {
        writeOne(path, {"a", "b"});
        return CheckpointSource::open(path);
    };
    const auto expectFault = [](const CheckpointSource& source, const char* message) {
        try {
            read(source, *source.find("b"));
            FAIL() << message;
        } catch (const FileError& error) {
            EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
        }
    };
    auto source = opened();
    const auto size = static_cast<off_t>(source->bytes());
    ASSERT_EQ(::truncate(path.c_str(), size - 1), 0);
    expectFault(*source, "truncated");
    source = opened();
    ASSERT_EQ(::truncate(path.c_str(), 0), 0);
    expectFault(*source, "truncated");
    source = opened();
    ASSERT_EQ(::truncate(path.c_str(), size + 5), 0);
    expectFault(*source, "was changed");
    source = opened();
    writeOne(path, {"b", "a"});  // a new file of that name
    expectFault(*source, "was replaced");
    source = opened();
    std::filesystem::remove(path);
    expectFault(*source, "removed");
}

TEST_F(Source, StopsWhenAsked) {
    writeOne(home / "x.safetensors", {"a"});
    const auto source = CheckpointSource::open(home / "x.safetensors");
    std::stop_source stop;
    stop.request_stop();
    std::vector<std::uint8_t> bytes(4);
    EXPECT_THROW(source->read(source->tensors()[0], bytes, stop.get_token()), Cancelled);
}

const std::string kGolden = std::string(RELASCOPE_FIXTURES) + "/golden/checkpoints/";

// tensors.txt: names, shapes and CRCs as PyTorch itself loads them.
TEST(GoldenCheckpoints, ResearchArchiveIsReadAsPyTorchReadsIt) {
    const auto source = CheckpointSource::open(kGolden + "research_pt");
    std::istringstream expected(readTextFile(kGolden + "research_pt/tensors.txt"));
    std::string stored, shape, crc;
    std::size_t count = 0;
    for (; expected >> stored >> shape >> crc; ++count) {
        ASSERT_LT(count, source->tensors().size());
        const auto& t = source->tensors()[count];
        EXPECT_EQ(t.stored, stored);
        EXPECT_EQ("_orig_mod." + t.name, stored);
        EXPECT_EQ(t.dtype, "F32");
        std::string ours;
        for (const auto n : t.shape) ours += (ours.empty() ? "" : "x") + std::to_string(n);
        EXPECT_EQ(ours, shape) << stored;
        const auto bytes = read(*source, t);
        char sum[9];
        std::snprintf(sum, sizeof(sum), "%08lx", ::crc32_z(0, bytes.data(), bytes.size()));
        EXPECT_EQ(sum, crc) << stored;
    }
    EXPECT_EQ(count, source->tensors().size());
    EXPECT_EQ(count, 50u);
    EXPECT_EQ(source->find("layers.token_embedder.weight")->sameAs.empty(),
              !source->find("layers.final_out.weight")->sameAs.empty());
    EXPECT_EQ(source->configFrom(), "config");
    EXPECT_NE(source->config().find("\"n_heads_ra\": 2"), std::string::npos);
}

TEST(GoldenCheckpoints, PublishedFoldersNameTheirTiedTensors) {
    const auto dual = readCheckpointInfo(kGolden + "hub_dat_lm");
    EXPECT_EQ(dual.form, "safetensors");
    EXPECT_EQ(dual.name, "hub_dat_lm");
    EXPECT_EQ(dual.tensors.size(), 50u);
    EXPECT_TRUE(dual.hasReference);
    EXPECT_EQ(dual.configFrom, "config.json");
    const auto source = CheckpointSource::open(kGolden + "hub_dat_lm");
    EXPECT_EQ(source->find("layers.token_embedder.weight")->sameAs, "layers.final_out.weight");
    EXPECT_EQ(source->find("layers.symbol_retrievers.1.symbol_library")->sameAs,
              "layers.symbol_retrievers.0.symbol_library");
    // The same architecture, so the same names as the archive gives.
    const auto research = CheckpointSource::open(kGolden + "research_pt");
    for (const auto& t : research->tensors()) EXPECT_NE(source->find(t.name), nullptr) << t.name;
    EXPECT_EQ(CheckpointSource::open(kGolden + "hub_transformer_lm")->tensors().size(), 31u);
}

}  // namespace
}  // namespace relascope
