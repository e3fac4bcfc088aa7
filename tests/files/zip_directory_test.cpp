// SPDX-License-Identifier: GPL-3.0-or-later
// The ZIP table against good archives and the tricks that are played with bad ones.
#include "checkpoint/zip.h"

#include <gtest/gtest.h>

#include "support/bytes_of.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using namespace testing_support;

ZipDirectory open(const std::string& bytes) {
    return ZipDirectory(
        memoryBytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "f.pt"));
}

void expectRefused(const std::string& bytes, const std::string& message) {
    try {
        open(bytes);
        FAIL() << "accepted, expected: " << message;
    } catch (const FileError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("f.pt: ", 0), 0u) << error.what();
        EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
}

const std::vector<TestEntry> kTwo = {{"a/one", "first"}, {"a/two", "second"}};

TEST(ZipDirectory, ReadsStoredEntries) {
    for (const bool zip64 : {false, true}) {
        const auto bytes = zipOf(kTwo, zip64, zip64 ? "" : "a comment");
        const auto zip = open(bytes);
        ASSERT_EQ(zip.entries().size(), 2u);
        const auto* two = zip.find("a/two");
        ASSERT_NE(two, nullptr);
        EXPECT_EQ(zip.find("a/three"), nullptr);
        const auto content = zip.read(*two, 6);
        EXPECT_EQ(std::string(content.begin(), content.end()), "second");
        std::uint8_t part[3];
        zip.readPart(*two, 2, part);
        EXPECT_EQ(std::string(part, part + 3), "con");
        EXPECT_THROW(zip.readPart(*two, 4, part), FileError);
        EXPECT_THROW(zip.read(*two, 5), FileError) << "longer than the limit";
    }
    EXPECT_TRUE(open(zipOf({})).entries().empty());
}

TEST(ZipDirectory, RefusesACutOffArchive) {
    const auto good = zipOf(kTwo), large = zipOf(kTwo, true);
    for (const auto& whole : {good, large})
        for (std::size_t length = 0; length < whole.size(); ++length)
            EXPECT_THROW(open(whole.substr(0, length)), FileError) << length;
    expectRefused(good.substr(0, good.size() - 1), "is truncated");
    expectRefused(good + "x", "is truncated");
}

TEST(ZipDirectory, RefusesWhatPyTorchNeverWrites) {
    auto entries = kTwo;
    entries[1].method = 8;
    expectRefused(zipOf(entries), "'a/two' is compressed");
    entries = kTwo, entries[1].flags = 1;
    expectRefused(zipOf(entries), "is encrypted");
    entries = kTwo, entries[1].name = "a/one";
    expectRefused(zipOf(entries), "'a/one' appears twice");
    entries = kTwo, entries[1].stored = 1'000;
    expectRefused(zipOf(entries), "two sizes");
    entries = kTwo, entries[0].localName = "a/uno";
    expectRefused(zipOf(entries), "a different name");
}

TEST(ZipDirectory, RefusesNamesThatLeadOutside) {
    for (const std::string name :
         {"/etc/passwd", "../x", "a/../../x", "a/..", "..", "", "a\\..\\x"})
        expectRefused(zipOf({{name, "x"}}), "points outside");
    expectRefused(zipOf({{std::string("a\0b", 3), "x"}}), "points outside");
    EXPECT_EQ(open(zipOf({{"a/..x", "x"}})).entries().size(), 1u) << "dots are no path";
}

TEST(ZipDirectory, RefusesEntriesBeyondTheFile) {
    auto entries = kTwo;
    entries[1].size = 7;
    expectRefused(zipOf(entries), "more than the file contains");
    entries[1].size = 0xfffffffe;
    expectRefused(zipOf(entries), "more than the file contains");
    entries[1].size = 0xfffffffffffffff0;
    expectRefused(zipOf(entries, true), "more than the file contains");
    entries = kTwo, entries[1].offset = 5;
    expectRefused(zipOf(entries), "not at the offset given");
    entries = kTwo, entries[1].offset = 0xfffffff0;
    expectRefused(zipOf(entries), "beyond the end");
    entries[1].offset = 0xfffffffffffffff0;
    expectRefused(zipOf(entries, true), "beyond the end");
}

TEST(ZipDirectory, RefusesOverlappingEntries) {
    auto entries = kTwo;  // the first one reaches into the second: how small bombs multiply
    entries[0].size = 20;
    expectRefused(zipOf(entries), "overlaps another");
}

TEST(ZipDirectory, ChecksTheCrc) {
    auto entries = kTwo;
    entries[0].crc = 1;
    const auto bytes = zipOf(entries);
    const auto zip = open(bytes);
    EXPECT_THROW(zip.read(*zip.find("a/one"), 100), FileError);
    EXPECT_NO_THROW(zip.read(*zip.find("a/two"), 100));
}

TEST(ZipDirectory, RefusesALyingTable) {
    auto bytes = zipOf(kTwo);
    bytes[bytes.size() - 12] = bytes[bytes.size() - 14] = '\xff';  // many entries, short table
    expectRefused(bytes, "which is impossible");
    bytes = zipOf(kTwo);
    bytes[bytes.size() - 18] = 1;
    expectRefused(bytes, "multi-part");
}

}  // namespace
}  // namespace relascope
