// SPDX-License-Identifier: GPL-3.0-or-later
// From one form into another and back, and the numbers of a tensor.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/torch_archive_writer.h"
#include "checkpoint/zip.h"
#include "files/atomic_file.h"
#include "files/safetensors.h"
#include "options/published_config.h"
#include "support/bytes_of.h"
#include "support/rooms.h"
#include "support/tiny_run.h"

namespace relascope {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;
const std::string kGolden = std::string(RELASCOPE_FIXTURES) + "/golden/checkpoints/";

std::vector<std::uint8_t> read(const CheckpointSource& source, const StoredTensor& tensor) {
    std::vector<std::uint8_t> bytes(tensor.bytes);
    source.read(tensor, bytes);
    return bytes;
}

// Names, types, shapes, bytes and which tensors fraction theirs.
void expectSame(const std::string& left, const std::string& right) {
    const auto a = CheckpointSource::open(left), b = CheckpointSource::open(right);
    EXPECT_EQ(a->tensors().size(), b->tensors().size());
    for (const auto& t : a->tensors()) {
        const auto* other = b->find(t.name);
        ASSERT_NE(other, nullptr) << t.name;
        EXPECT_EQ(t.dtype, other->dtype) << t.name;
        EXPECT_EQ(t.shape, other->shape) << t.name;
        EXPECT_EQ(read(*a, t), read(*b, *other)) << t.name;
    }
    const auto shared = [](const CheckpointSource& source) {
        return std::count_if(source.tensors().begin(), source.tensors().end(),
                             [](const auto& t) { return !t.sameAs.empty(); });
    };
    EXPECT_EQ(shared(*a), shared(*b));
}

class Convert : public testing::Test {
protected:
    Convert() : home("convert") { fs::create_directories(home.path()); }
    void expectRefused(const std::string& in, const std::string& out, const std::string& message) {
        try {
            convertCheckpoint(in, out);
            FAIL() << "accepted, expected: " << message;
        } catch (const FileError& error) {
            EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
        }
    }
    TemporaryFolder home;
};

TEST_F(Convert, GoesRoundThroughEveryForm) {
    const std::string in = kGolden + "research_pt";
    convertCheckpoint(in, home / "a.safetensors");
    expectSame(in, home / "a.safetensors");
    convertCheckpoint(in, home / "folder");
    expectSame(in, home / "folder");
    convertCheckpoint(home / "folder", home / "b.pt");
    expectSame(in, home / "b.pt");
    // The same model in the published names, whatever was left out or added in the original.
    const auto model = [](const std::string& path) {
        return modelFromPublishedConfig(CheckpointSource::open(path)->config());
    };
    EXPECT_EQ(model(in), model(home / "folder"));
    EXPECT_EQ(model(in), model(home / "b.pt"));
    EXPECT_EQ(CheckpointSource::open(home / "folder")->config(), modelToPublishedConfig(model(in)));
    convertCheckpoint(home / "a.safetensors", home / "c.pth");
    EXPECT_EQ(model(in), model(home / "a.safetensors")) << "in its metadata";
    EXPECT_EQ(model(in), model(home / "c.pth"));
    expectSame(in, home / "c.pth");
    // The published package keeps the first of a shared tensor's names.
    const SafetensorsFile file(home / "folder/model.safetensors");
    EXPECT_EQ(file.header().metadata.at("layers.token_embedder.weight"), "layers.final_out.weight");
    EXPECT_EQ(file.header().metadata.at("format"), "pt");
    EXPECT_EQ(file.find("layers.token_embedder.weight"), nullptr);
}

TEST_F(Convert, AConfigurationInTheMetadataCountsIfThereIsNoFile) {
    const std::vector<std::uint8_t> bytes(8);
    const std::vector<TensorToWrite> tensors = {{"x", "F32", {2}, bytes}};
    const auto configOf = [&](const std::string& stored, bool file) {
        writeSafetensors(home / "model.safetensors", tensors, {{"config", stored}});
        fs::remove(home / "config.json");
        if (file) writeTextFile(home / "config.json", R"({"from": "file"})");
        return CheckpointSource::open(home / "model.safetensors")->config();
    };
    EXPECT_EQ(configOf(R"({"a": 1})", false), R"({"a": 1})");
    EXPECT_EQ(configOf(R"({"a": 1})", true), R"({"from": "file"})");
    for (const char* other : {"", "x", "[1]", "{", "\"text\""})
        EXPECT_EQ(configOf(other, false), "");
}

TEST_F(Convert, KeepsEveryType) {
    const std::vector<std::uint8_t> bytes(64, 0x21);
    std::vector<TensorToWrite> tensors;
    for (const char* dtype :
         {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL", "U16", "U32", "U64",
          "C64", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"}) {
        const auto size = static_cast<std::size_t>(dtypeBits(dtype) / 8);
        tensors.push_back({dtype, dtype, {2, 3}, std::span(bytes).first(6 * size)});
        tensors.push_back({std::string(dtype) + ".none", dtype, {0, 3}, {}});
    }
    tensors.push_back({"scalar", "F32", {}, std::span(bytes).first(4)});
    writeSafetensors(home / "all.safetensors", tensors);
    convertCheckpoint(home / "all.safetensors", home / "all.pt");
    convertCheckpoint(home / "all.pt", home / "back.safetensors");
    expectSame(home / "all.safetensors", home / "all.pt");
    expectSame(home / "all.pt", home / "back.safetensors");
    tensors = {{"x", "F4", {2}, std::span(bytes).first(1)}};
    writeSafetensors(home / "four.safetensors", tensors);
    expectRefused(home / "four.safetensors", home / "four.pt", "PyTorch has no type for F4");
    convertCheckpoint(home / "four.safetensors", home / "five.safetensors");
    expectSame(home / "four.safetensors", home / "five.safetensors");
}

TEST_F(Convert, WritesRecordsAsPyTorchDoes) {
    convertCheckpoint(kGolden + "hub_dat_lm", home / "x.pt");
    const ZipDirectory zip(openFileBytes(home / "x.pt"));
    for (const auto& entry : zip.entries()) EXPECT_EQ(entry.offset % 64, 0u) << entry.name;
    for (const auto& [name, content] : {std::pair{".format_version", "1"},
                                        {".storage_alignment", "64"},
                                        {"byteorder", "little"},
                                        {"version", "3\n"}}) {
        const auto* entry = zip.find(std::string("archive/") + name);
        ASSERT_NE(entry, nullptr) << name;
        const auto bytes = zip.read(*entry, 100);
        EXPECT_EQ(std::string(bytes.begin(), bytes.end()), content);
    }
}

TEST_F(Convert, RefusesToHarm) {
    const std::string golden = kGolden + "hub_dat_lm";
    convertCheckpoint(golden, home / "in");
    expectRefused(home / "in", home / "in", "is the checkpoint itself");
    expectRefused(home / "in/model.safetensors", home / "in/model.safetensors", "itself");
    fs::create_symlink(home / "in/model.safetensors", home / "link.safetensors");
    expectRefused(home / "in", home / "link.safetensors", "itself");
    fs::create_directories(home / "other");
    writeTextFile(home / "other/thesis.txt", "ten years");
    expectRefused(golden, home / "other", "folder with other files");
    EXPECT_FALSE(fs::exists(home / "other/model.safetensors"));
    expectRefused(golden, home / "other/thesis.txt", "is a file");
    fs::create_directories(home / "dir.pt");
    expectRefused(golden, home / "dir.pt", "is a folder");
    expectRefused(golden, home / "nowhere/x.pt", "cannot be written");
    const std::vector<std::uint8_t> bytes(8);
    writeSafetensors(home / "bare.safetensors", {{"x", "F32", {2}, bytes}});
    expectRefused(home / "bare.safetensors", home / "new", "has no configuration");
    EXPECT_FALSE(fs::exists(home / "new"));
    // A checkpoint folder may be written anew, an empty one filled.
    fs::create_directories(home / "empty");
    convertCheckpoint(golden, home / "empty");
    convertCheckpoint(kGolden + "hub_transformer_lm", home / "empty");
    expectSame(kGolden + "hub_transformer_lm", home / "empty");
}

TEST_F(Convert, LeavesNothingBehindWhenStopped) {
    const std::string golden = kGolden + "hub_dat_lm";
    std::stop_source stop;
    stop.request_stop();
    for (const char* out : {"/x.safetensors", "/x.pt", "/folder"}) {
        EXPECT_THROW(convertCheckpoint(golden, home.path() + out, stop.get_token()), Cancelled);
        double last = 0;
        EXPECT_THROW(convertCheckpoint(golden, home.path() + out, {},
                                       [&](double fraction) {
                                           EXPECT_GT(fraction, last);
                                           EXPECT_LE(fraction, 1.0);
                                           last = fraction;
                                           return fraction < 0.5;
                                       }),
                     Cancelled);
        EXPECT_GE(last, 0.5);
    }
    EXPECT_TRUE(fs::is_empty(home.path()));
}

TEST_F(Convert, RefusesAConfigurationThatIsNone) {
    fs::create_directories(home / "in");
    fs::copy_file(kGolden + "hub_dat_lm/model.safetensors", home / "in/model.safetensors");
    for (const auto& text : {std::string("[1]"), std::string("{"), std::string("7")}) {
        writeTextFile(home / "in/config.json", text);
        expectRefused(home / "in", home / "x.pt", "not a JSON object");
    }
    const std::string deep(100'000, '[');
    writeTextFile(home / "in/config.json",
                  "{\"a\":" + deep + "1" + std::string(100'000, ']') + "}");
    expectRefused(home / "in", home / "x.pt", "64 levels");
}

class Statistics : public Convert {
protected:
    TensorStatistics of(const std::string& dtype, const std::string& bytes, int bins = 4) {
        const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
        const auto count = static_cast<std::int64_t>(data.size()) * 8 / dtypeBits(dtype);
        writeSafetensors(home / "x.safetensors", {{"x", dtype, {count}, data}});
        return tensorStatistics(home / "x.safetensors", "x", bins);
    }
    template <typename T>
    static std::string bytesOf(const std::vector<T>& values) {
        return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
    }
};

TEST_F(Statistics, DescribeNumbers) {
    const auto s = of("F32", bytesOf<float>({1, 2, 3, 4, 5, NAN, INFINITY, -INFINITY}));
    EXPECT_EQ(s.count, 8);
    EXPECT_EQ(s.notFinite, 3);
    EXPECT_EQ(s.minimum, 1);
    EXPECT_EQ(s.maximum, 5);
    EXPECT_DOUBLE_EQ(s.mean, 3);
    EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(2.0));
    EXPECT_EQ(s.histogram, (std::vector<std::int64_t>{1, 1, 1, 2}));
}

TEST_F(Statistics, JoinPieces) {
    // More than a piece, far from zero: sums of squares would lose every digit.
    std::vector<double> values(400'000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e9 + (i % 2 ? 1.0 : -1.0);
    const auto s = of("F64", bytesOf(values), 2);
    EXPECT_DOUBLE_EQ(s.mean, 1e9);
    EXPECT_NEAR(s.deviation, 1.0, 1e-9);
    EXPECT_EQ(s.histogram, (std::vector<std::int64_t>{200'000, 200'000}));
}

TEST_F(Statistics, DecodeEveryType) {
    const auto largest = [&](const char* dtype, const std::string& bytes) {
        return of(dtype, bytes).maximum;
    };
    EXPECT_EQ(largest("F16", le(0x7bff, 2)), 65504);
    EXPECT_EQ(largest("F16", le(0x0001, 2)), std::ldexp(1.0, -24));
    EXPECT_EQ(largest("F16", le(0xc000, 2)), -2);
    EXPECT_EQ(of("F16", le(0x7c00, 2)).notFinite, 1);
    EXPECT_EQ(largest("BF16", le(0x4049, 2)), 3.140625);
    EXPECT_EQ(largest("I64", le(~0ull, 8)), -1);
    EXPECT_EQ(largest("U64", le(1ull << 63, 8)), std::ldexp(1.0, 63));
    EXPECT_EQ(largest("I32", le(0x80000000, 4)), -2147483648.0);
    EXPECT_EQ(largest("U32", le(0x80000000, 4)), 2147483648.0);
    EXPECT_EQ(largest("I16", le(0x8000, 2)), -32768);
    EXPECT_EQ(largest("U16", le(0x8000, 2)), 32768);
    EXPECT_EQ(largest("I8", "\x80"), -128);
    EXPECT_EQ(largest("U8", "\x80"), 128);
    EXPECT_EQ(largest("BOOL", "\x01"), 1);
    EXPECT_EQ(largest("F8_E4M3", "\x7e"), 448);
    EXPECT_EQ(of("F8_E4M3", "\x7f").notFinite, 1);
    EXPECT_EQ(largest("F8_E5M2", "\x7b"), 57344);
    EXPECT_EQ(of("F8_E5M2", "\x7c").notFinite, 1);
    EXPECT_EQ(largest("F8_E4M3FNUZ", "\x7f"), 240);
    EXPECT_EQ(largest("F8_E5M2FNUZ", "\x7f"), 57344);
    EXPECT_EQ(of("F8_E4M3FNUZ", "\x80").notFinite, 1);
    EXPECT_EQ(largest("F8_E8M0", "\x7f"), 1);
    EXPECT_EQ(of("F8_E8M0", "\xff").notFinite, 1);
    EXPECT_THROW(of("F4", "\x11"), FileError);
    EXPECT_THROW(of("C64", std::string(8, '\0')), FileError);
}

TEST_F(Statistics, BearEdges) {
    EXPECT_EQ(of("F32", "").count, 0);
    EXPECT_EQ(of("F32", "").histogram.size(), 4u);
    const auto same = of("F32", bytesOf<float>({7, 7, 7}));
    EXPECT_EQ(same.deviation, 0);
    EXPECT_EQ(same.histogram[0], 3);
    const auto all = of("F32", bytesOf<float>({NAN, NAN}));
    EXPECT_EQ(all.notFinite, 2);
    EXPECT_EQ(all.mean, 0);
    const double most = std::numeric_limits<double>::max();
    const auto wide = of("F64", bytesOf<double>({-most, most}), 2);
    EXPECT_EQ(wide.histogram, (std::vector<std::int64_t>{1, 1}));
    EXPECT_THROW(tensorStatistics(home / "x.safetensors", "y"), FileError);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(tensorStatistics(home / "x.safetensors", "x", 4, stop.get_token()), Cancelled);
}

}  // namespace
}  // namespace relascope
