// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/foreign_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "files/atomic_file.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

using namespace std::string_view_literals;

struct Signature {
    std::size_t at;
    std::string_view bytes;
    const char* what;
};

constexpr const char* kCompressed = "is compressed; unpack it and open what is in it";
constexpr const char* kPicture = "is a picture, not a file of weights or settings";
constexpr std::array kSignatures = {
    Signature{0, "version https://git-lfs"sv,
              "is a Git LFS pointer, not the file itself; run 'git lfs pull' in its folder, or "
              "'relascope-cli fetch ORG/NAME'"},
    Signature{0, "GGUF"sv,
              "is a GGUF file of llama.cpp, whose packed weights are not read; open the "
              "safetensors that it was made from"},
    Signature{0, "lmgg"sv,
              "is a GGML file of llama.cpp, whose packed weights are not read; open the "
              "safetensors that it was made from"},
    Signature{0, "\x89HDF\r\n\x1a\n"sv,
              "is an HDF5 file (Keras, h5py), which is not read; save the weights as safetensors"},
    Signature{0, "\x93NUMPY"sv,
              "is one array of NumPy, not a checkpoint; save the weights as safetensors"},
    Signature{4, "TFL3"sv,
              "is a TensorFlow Lite model, which is not read; save the weights as safetensors"},
    Signature{0, "\x1f\x8b"sv, kCompressed},
    Signature{0, "BZh"sv, kCompressed},
    Signature{0,
              "\xfd"
              "7zXZ\0"sv,
              kCompressed},
    Signature{0, "\x28\xb5\x2f\xfd"sv, kCompressed},
    Signature{0, "7z\xbc\xaf\x27\x1c"sv, kCompressed},
    Signature{0, "\x89PNG"sv, kPicture},
    Signature{0, "\xff\xd8\xff"sv, kPicture},
    Signature{0, "GIF8"sv, kPicture},
    Signature{0, "%PDF"sv, "is a PDF document, not a file of weights or settings"},
};
constexpr auto kMark = "\xef\xbb\xbf"sv;

bool isWebPage(std::string_view start) {
    if (start.starts_with(kMark)) start.remove_prefix(kMark.size());
    const auto first = start.find_first_not_of(" \t\r\n");
    std::string text(start.substr(std::min(first, start.size())).substr(0, 16));
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text.starts_with("<!doctype html") || text.starts_with("<html") ||
           text.starts_with("<?xml") || text.starts_with("<head");
}

// ir_version, then producer_name: the fields 1 and 2 of a protocol buffer.
bool isOnnx(std::string_view start) {
    return start.size() > 4 && start[0] == 0x08 && start[1] > 0 && start[1] < 32 &&
           start[2] == 0x12 && start[3] > 0 && std::isalpha(static_cast<unsigned char>(start[4]));
}

}  // namespace

std::string foreignContent(std::string_view start) {
    for (const auto& signature : kSignatures)
        if (start.substr(std::min(start.size(), signature.at)).starts_with(signature.bytes))
            return signature.what;
    if (isWebPage(start))
        return "is a web page, not the file itself; download the file again (on a hub, its address "
               "has 'resolve' in place of 'blob')";
    if (isOnnx(start))
        return "is an ONNX model, which is not read; save the weights of the original as "
               "safetensors";
    if (start.size() >= 256 && start.find_first_not_of('\0') == std::string_view::npos)
        return "begins with zeros alone, as an unfinished download does; download it again";
    return {};
}

std::string textInPlaceOf(const std::string& wanted, std::string_view start) {
    // A character may be cut off at the end.
    for (auto rest = start; !rest.empty();) {
        const auto length = utf8Length(rest);
        if (length == 0 && (rest.size() > 3 || static_cast<unsigned char>(rest[0]) < 0x80))
            return {};
        if (length == 0) break;
        const auto byte = static_cast<unsigned char>(rest[0]);
        if (length == 1 && !std::isprint(byte) && !std::isspace(byte)) return {};
        rest.remove_prefix(length);
    }
    if (start.empty()) return {};
    std::size_t shown = 0;
    while (shown < start.size() && shown < 60)
        shown += std::max<std::size_t>(1, utf8Length(start.substr(shown)));
    return "is text and no " + wanted + ": '" + plainName(validUtf8(start.substr(0, shown))) +
           "'; download the file again";
}

void requireTarget(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (fs::is_symlink(path, error) && !fs::exists(path, error))
        throw FileError(path, "is a link to a file that is not there (" +
                                  fs::read_symlink(path, error).string() +
                                  "); fetch or copy the model again");
}

std::string readJsonText(const std::string& path, std::uint64_t limit) {
    const auto text = readTextFile(path, limit);
    if (const auto what = foreignContent(std::string_view(text).substr(0, 512)); !what.empty())
        throw FileError(path, what);
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        throw FileError(path, "is UTF-16; save it as UTF-8");
    std::string plain;
    plain.reserve(text.size());
    bool inside = false;
    for (std::size_t at = text.starts_with(kMark) ? kMark.size() : 0; at < text.size();) {
        const char c = text[at];
        if (c == '"') inside = !inside;
        if (inside && c == '\\' && at + 1 < text.size()) {
            plain.append(text, at, 2), at += 2;
            continue;
        }
        const auto rest = std::string_view(text).substr(at);
        const auto word = inside                          ? ""sv
                          : rest.starts_with("NaN")       ? "NaN"sv
                          : rest.starts_with("Infinity")  ? "Infinity"sv
                          : rest.starts_with("-Infinity") ? "-Infinity"sv
                                                          : ""sv;
        if (word.empty())
            plain += c, ++at;
        else
            plain.append("\"").append(word).append("\""), at += word.size();
    }
    return plain;
}

}  // namespace relascope::core
