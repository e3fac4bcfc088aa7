// SPDX-License-Identifier: GPL-3.0-or-later
// The safetensors reader against the format's own good and bad cases, and the attacks known from
// elsewhere.
#include "files/safetensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "files/atomic_file.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using Fault = SafetensorsFault;

std::string withHeader(const std::string& header, std::size_t data) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i));
    return bytes + header + std::string(data, '\0');
}

SafetensorsHeader parse(const std::string& bytes) {
    return parseSafetensorsHeader(
        {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, bytes.size(),
        "f.safetensors");
}

void expectFault(Fault fault, const std::string& bytes, const std::string& message = "") {
    try {
        parse(bytes);
        FAIL() << "accepted: " << bytes.substr(0, 120);
    } catch (const SafetensorsError& error) {
        EXPECT_EQ(static_cast<int>(error.fault()), static_cast<int>(fault)) << error.what();
        EXPECT_EQ(std::string(error.what()).rfind("f.safetensors: ", 0), 0u);
        EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
}

const std::string kGood = R"({"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}})";

TEST(Safetensors, ReadsTheGoodCase) {
    const auto header = parse(withHeader(kGood, 16));
    ASSERT_EQ(header.tensors.size(), 1u);
    EXPECT_EQ(header.tensors[0].name, "test");
    EXPECT_EQ(header.tensors[0].shape, (std::vector<std::int64_t>{2, 2}));
    EXPECT_EQ(header.tensors[0].bytes(), 16u);
    EXPECT_EQ(header.dataStart, 8u + kGood.size());
}

TEST(Safetensors, AcceptsTheOddButAllowed) {
    EXPECT_TRUE(parse(withHeader("{}\r \t\n", 0)).tensors.empty());
    EXPECT_TRUE(parse(withHeader("\t\n{}", 0)).tensors.empty());
    EXPECT_EQ(parse(withHeader(R"({"t":{"dtype":"I32","shape":[2,0],"data_offsets":[0,0]}})", 0))
                  .tensors[0]
                  .bytes(),
              0u);
    EXPECT_EQ(parse(withHeader(R"({"t":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})", 4))
                  .tensors[0]
                  .bytes(),
              4u);
    EXPECT_EQ(
        parse(
            withHeader(
                R"({"__metadata__":{"a":"b"},"t":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}})",
                1))
            .metadata.at("a"),
        "b");
}

TEST(Safetensors, HeaderTooSmall) {
    expectFault(Fault::HeaderTooSmall, "");
    expectFault(Fault::HeaderTooSmall, "1234567");
}
TEST(Safetensors, HeaderTooLarge) {
    expectFault(Fault::HeaderTooLarge, std::string("\x3c\0\0\0\0\xff\xff\xff", 8));
    expectFault(Fault::HeaderTooLarge, std::string("\0\0\0\0\0\0\0\x80", 8));
    expectFault(Fault::HeaderTooLarge, std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8));
}
TEST(Safetensors, InvalidHeaderLength) {
    auto bytes = withHeader(kGood, 0);
    bytes[0] = 127;
    expectFault(Fault::InvalidHeaderLength, bytes, "bytes shorter");
    expectFault(Fault::InvalidHeaderLength, std::string("\x01\0\0\0\0\0\0\0", 8));
}
TEST(Safetensors, InvalidHeader) {
    expectFault(Fault::InvalidHeader, withHeader("{\"\xff\":1}", 0), "UTF-8");
}
TEST(Safetensors, InvalidHeaderDeserialization) {
    expectFault(Fault::InvalidHeaderDeserialization, withHeader("{", 0));
    expectFault(Fault::InvalidHeaderDeserialization, withHeader("", 0));
    expectFault(Fault::InvalidHeaderDeserialization, withHeader("[]", 0));
    expectFault(Fault::InvalidHeaderDeserialization, withHeader("3", 0));
    expectFault(Fault::InvalidHeaderDeserialization,
                withHeader(R"({"t":{"dtype":"I32","shape":[2,2]}})", 0));
    expectFault(Fault::InvalidHeaderDeserialization,
                withHeader(R"({"t":{"dtype":"I32","shape":[1.5],"data_offsets":[0,6],"x":1}})", 6));
    expectFault(Fault::InvalidHeaderDeserialization, withHeader(R"({"__metadata__":{"a":1}})", 0));
    expectFault(Fault::InvalidHeaderDeserialization,
                withHeader(R"({"__metadata__":{"a":{"b":"c"}}})", 0));
    expectFault(Fault::InvalidHeaderDeserialization, withHeader(kGood + kGood, 16));
}
TEST(Safetensors, NestedDeeply) {
    expectFault(Fault::InvalidHeaderDeserialization, withHeader(std::string(100000, '['), 0));
    std::string nested = R"({"a":)";
    for (int i = 0; i < 100000; ++i) nested += R"({"a":)";
    expectFault(Fault::InvalidHeaderDeserialization, withHeader(nested, 0));
}
TEST(Safetensors, DuplicateKey) {
    expectFault(
        Fault::DuplicateKey,
        withHeader(
            R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"t":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
            2),
        "'t'");
    expectFault(Fault::DuplicateKey,
                withHeader(R"({"__metadata__":{"a":"b"},"__metadata__":{"a":"b"}})", 0));
    expectFault(
        Fault::DuplicateKey,
        withHeader(R"({"t":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1));
}
TEST(Safetensors, InvalidOffset) {
    expectFault(Fault::InvalidOffset,
                withHeader(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2),
                "'t'");  // a hole
    expectFault(
        Fault::InvalidOffset,
        withHeader(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[2,0]}})", 2));  // reversed
    expectFault(
        Fault::InvalidOffset,
        withHeader(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}})", 2));  // negative
    expectFault(Fault::InvalidOffset,
                withHeader(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1));
    expectFault(Fault::InvalidOffset,
                withHeader(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", 1));
    std::string bomb = "{";  // ten tensors on the same range
    for (int i = 0; i < 10; ++i)
        bomb += (i ? "," : "") + std::string("\"") + std::to_string(i) +
                R"(":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]})";
    expectFault(Fault::InvalidOffset, withHeader(bomb + "}", 16), "overlap");
}
TEST(Safetensors, ValidationOverflow) {
    expectFault(
        Fault::ValidationOverflow,
        withHeader(
            R"({"t":{"dtype":"I32","shape":[2,18446744073709551614],"data_offsets":[0,16]}})", 16));
    expectFault(
        Fault::ValidationOverflow,
        withHeader(R"({"t":{"dtype":"I32","shape":[2,9223372036854775807],"data_offsets":[0,16]}})",
                   16));
    expectFault(
        Fault::ValidationOverflow,
        withHeader(
            R"({"t":{"dtype":"I32","shape":[2,99999999999999999999999],"data_offsets":[0,16]}})",
            16));
    expectFault(
        Fault::ValidationOverflow,
        withHeader(R"({"t":{"dtype":"I32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})",
                   0));
}
TEST(Safetensors, TensorInvalidInfo) {
    expectFault(Fault::TensorInvalidInfo,
                withHeader(R"({"t":{"dtype":"I32","shape":[2,2],"data_offsets":[0,4]}})", 4),
                "16 bytes");
    expectFault(Fault::TensorInvalidInfo,
                withHeader(R"({"t":{"dtype":"I32","shape":[-2,2],"data_offsets":[0,16]}})", 16));
    expectFault(Fault::UnknownDtype,
                withHeader(R"({"t":{"dtype":"I33","shape":[2,2],"data_offsets":[0,16]}})", 16),
                "I33");
    expectFault(Fault::MisalignedSlice,
                withHeader(R"({"t":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})", 1));
}
TEST(Safetensors, MetadataIncompleteBuffer) {
    expectFault(Fault::MetadataIncompleteBuffer, withHeader(kGood, 14),
                "2 bytes shorter than its header declares");
    expectFault(Fault::MetadataIncompleteBuffer, withHeader(kGood, 16) + "extra", "5 bytes after");
}

TEST(Safetensors, TooManyTensors) {
    std::string header = "{";
    for (int i = 0; i <= 1'000'000; ++i)
        header +=
            "\"" + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)";
    header.back() = '}';
    expectFault(Fault::TooManyTensors, withHeader(header, 0), "a million");
}
TEST(Safetensors, NestedHeaders) {
    for (const std::string start : {"", "{\"t\":", R"({"t":{"dtype":)", R"({"t":{"shape":)"}) {
        expectFault(Fault::InvalidHeaderDeserialization,
                    withHeader(start + std::string(100'000, '['), 0));
        std::string objects = start;
        for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
        expectFault(Fault::InvalidHeaderDeserialization, withHeader(objects, 0));
    }
}

TEST(SafetensorsFile, RoundTripsAndNoticesTruncation) {
    const std::string path = testing::TempDir() + "round.safetensors";
    const std::vector<std::uint8_t> wide(24, 7), narrow = {1, 2, 3};
    writeSafetensors(path, {{"b", "U8", {3}, narrow}, {"a", "F64", {3}, wide}}, {{"format", "pt"}});
    SafetensorsFile file(path);
    EXPECT_EQ(file.header().dataStart % 8, 0u);
    EXPECT_EQ(file.header().tensors[0].name, "a");  // the larger alignment first
    EXPECT_EQ(file.header().metadata.at("format"), "pt");
    std::vector<std::uint8_t> back(3);
    file.read(*file.find("b"), back);
    EXPECT_EQ(back, narrow);
    // Another process cuts the file while it is open: an error, no crash, no zeros.
    ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(file.header().dataStart + 25)), 0);
    EXPECT_THROW(file.read(*file.find("b"), back), FileError);
    EXPECT_THROW(SafetensorsFile again(path), SafetensorsError);
    std::filesystem::remove(path);
    EXPECT_THROW(SafetensorsFile gone(path), FileError);
    EXPECT_THROW(SafetensorsFile folder(testing::TempDir()), FileError);
}

TEST(AtomicFile, LeavesTheOldFileUntilCommit) {
    const std::string path = testing::TempDir() + "atomic.txt";
    writeTextFile(path, "old");
    {
        AtomicFile file(path);
        file.write("half");
    }
    EXPECT_EQ(readTextFile(path), "old");
    writeTextFile(path, "new");
    EXPECT_EQ(readTextFile(path), "new");
    EXPECT_THROW(AtomicFile("/nonexistent-folder/x"), FileError);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace relascope
