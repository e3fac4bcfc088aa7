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
