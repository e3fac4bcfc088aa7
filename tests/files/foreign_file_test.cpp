// SPDX-License-Identifier: GPL-3.0-or-later
// What stands where weights or settings were expected, and JSON as Python writes it.
#include "files/foreign_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "checkpoint/source.h"
#include "files/atomic_file.h"
#include "support/bytes_of.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "types/error.h"

namespace relascope {
namespace {

using namespace testing_support;
using namespace std::string_literals;

class ForeignFile : public testing::Test {
protected:
    ForeignFile() : home("foreign") { std::filesystem::create_directories(home.path()); }
    std::string messageOf(const std::string& path) {
        try {
            core::CheckpointSource::open(path);
        } catch (const FileError& error) {
            return error.what();
        }
        return "accepted";
    }
    TemporaryFolder home;
};

TEST_F(ForeignFile, IsNamed) {
    const std::vector<std::pair<std::string, const char*>> cases = {
        {"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 146040\n",
         "is a Git LFS pointer, not the file itself"},
        {"\n <!DOCTYPE html><html>not found</html>", "is a web page"},
        {"<html><body>404</body></html>", "is a web page"},
        {"<?xml version=\"1.0\"?><Error>AccessDenied</Error>", "is a web page"},
        {"GGUF\3\0\0\0"s, "is a GGUF file"},
        {"\x89HDF\r\n\x1a\n....", "is an HDF5 file"},
        {"\x93NUMPY\1\0v\0{'descr'"s, "is one array of NumPy"},
        {"\x08\x07\x12\x07pytorch\x1a", "is an ONNX model"},
        {"\x1f\x8b\x08\0\0\0"s, "is compressed"},
        {"\x28\xb5\x2f\xfd....", "is compressed"},
        {"\x89PNG\r\n\x1a\n", "is a picture"},
        {"\xff\xd8\xff\xe0", "is a picture"},
        {"%PDF-1.7", "is a PDF"},
        {std::string(4096, '\0'), "begins with zeros alone"},
        {"", "is empty"},
    };
    for (const auto& [bytes, what] : cases)
        for (const char* name : {"model.safetensors", "pytorch_model.bin", "x.pt"}) {
            writeBytes(home / name, bytes);
            EXPECT_NE(messageOf(home / name).find(what), std::string::npos)
                << messageOf(home / name);
        }
    EXPECT_EQ(core::foreignContent("{\"a\": 1}"), "");
    EXPECT_EQ(core::foreignContent(""), "");
}

TEST_F(ForeignFile, IsNamedWhereSettingsWereExpected) {
    const auto expect = [&](const std::string& text, const char* what) {
        writeBytes(home / "config.json", text);
        try {
            core::readJsonText(home / "config.json");
            FAIL() << "accepted, expected: " << what;
        } catch (const FileError& error) {
            EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
        }
    };
    expect("version https://git-lfs.github.com/spec/v1\n", "config.json: is a Git LFS pointer");
    expect("<html></html>", "is a web page");
    expect("\xff\xfe{\0"s, "is UTF-16");
}

TEST_F(ForeignFile, TextInPlaceOfAFileIsQuoted) {
    EXPECT_EQ(core::textInPlaceOf("picture", "Entry not found"),
              "is text and no picture: 'Entry not found'; download the file again");
    EXPECT_EQ(core::textInPlaceOf("picture", "l\u00E4uft \u65E5"),
              "is text and no picture: 'l\u00E4uft \u65E5'; download the file again");
    EXPECT_NE(core::textInPlaceOf("picture", std::string(511, 'a') + "\xe6"), "") << "cut";
    EXPECT_NE(core::textInPlaceOf("picture", "two\nlines").find("two\\nlines"), std::string::npos);
    for (const auto& bytes : {""s, "a\0b"s, "\xff\xd8\xff\xe0"s, "PK\3\4"s})
        EXPECT_EQ(core::textInPlaceOf("picture", bytes), "");
}

// What commands a terminal, makes two lines of one, or turns the words around it.
TEST_F(ForeignFile, NamesStayOnOneLineOfSentences) {
    const std::string name = "a\nb\rc\td\x1b[31m\u202Egpj.\u2066\u2028\u0085\u200F";
    const std::string shown = "a\\nb\\u000Dc\\td\\u001B[31m\\u202Egpj.\\u2066\\u2028\\u0085\\u200F";
    EXPECT_EQ(plainName(name), shown);
    EXPECT_EQ(std::string(FileError(name, "is '" + name + "'").what()),
              shown + ": is '" + shown + "'");
    EXPECT_EQ(FileError(name, "").path(), name);
    EXPECT_EQ(OptionError("x", name).message(), shown);
    EXPECT_EQ(userMessage(std::runtime_error("of " + name)), "of " + shown);
    EXPECT_EQ(userMessage(std::runtime_error("two\nlines\nException raised from f")), "two\nlines");
    EXPECT_EQ(plainName(shown), shown);
    const std::string words = "\u65E5\u672C \u05E9\u05DC\u05D5\u05DD l\u00E4uft \U0001F600";
    EXPECT_EQ(plainName(words), words);
    EXPECT_EQ(withoutControls("two\nlines\tand \xff"), "two\nlines\tand \xff");
    // Written in two parts.
    for (const std::string mark : {"\u202E", "\u2066", "\u0085", "\u061C"})
        for (std::size_t i = 1; i < mark.size(); ++i)
            EXPECT_EQ(halfControl("x" + mark.substr(0, i)), i);
    EXPECT_EQ(halfControl("plain"), 0U);
    EXPECT_EQ(halfControl("\u65E5"), 0U);
}

TEST_F(ForeignFile, JsonOfPythonIsRead) {
    const auto read = [&](const std::string& text) {
        writeBytes(home / "config.json", text);
        return nlohmann::json::parse(core::readJsonText(home / "config.json"));
    };
    EXPECT_EQ(read("\xef\xbb\xbf{\"a\": 1}"), nlohmann::json({{"a", 1}}));
    EXPECT_EQ(read("{\"a\": NaN, \"b\": [-Infinity, Infinity]}"),
              nlohmann::json({{"a", "NaN"}, {"b", {"-Infinity", "Infinity"}}}));
    EXPECT_EQ(read(R"({"NaN \" Infinity": "\\", "x": "NaN"})"),
              nlohmann::json({{"NaN \" Infinity", "\\"}, {"x", "NaN"}}));
}

}  // namespace
}  // namespace relascope
