// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/idx.h"

#include <algorithm>
#include <filesystem>

#include "data/text_files.h"
#include "files/program_folder.h"
#include "types/lower_case.h"

namespace relascope::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = 64ull << 30;

std::string sizesText(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const auto size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
    return text;
}

// The sizes that a header declares, and their product in bytes.
std::vector<std::int64_t> parseHeader(const std::string& path, const std::string& header,
                                      int dimensions, std::uint64_t& bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(header[i]); };
    if (byte(0) != 0 || byte(1) != 0)
        throw FileError(path, "does not start like an IDX file (two zero bytes)");
    if (byte(2) != 8)
        throw FileError(path, "has elements of type " + std::to_string(byte(2)) +
                                  "; images and labels must be bytes (type 8)");
    if (byte(3) != dimensions)
        throw FileError(path, "has " + std::to_string(byte(3)) + " dimensions where " +
                                  std::to_string(dimensions) + " are needed");
    std::vector<std::int64_t> shape;
    bytes = 1;
    for (int d = 0; d < dimensions; ++d) {
        std::uint64_t size = 0;
        for (std::size_t i = 0; i < 4; ++i)
            size = size << 8 | byte(4 + 4 * static_cast<std::size_t>(d) + i);
        shape.push_back(static_cast<std::int64_t>(size));
        // Less than 2^36 times less than 2^32 cannot overflow.
        bytes = bytes > kMostBytes ? bytes : bytes * size;
    }
    if (bytes > kMostBytes)
        throw FileError(path, "declares " + sizesText(shape) + " elements, more than supported");
    return shape;
}

// The path of a file by its published name, or a name that some programs unpack it to.
std::string idxFile(const std::string& folder, const std::string& part, const std::string& type) {
    for (const char* mark : {"-", "."}) {
        const auto plain = fs::path(folder) / (part + mark + type);
        for (const auto& path : {plain.string(), plain.string() + ".gz"})
            if (fs::is_regular_file(path)) return path;
        // Some archives unpack a file into a folder of the same name.
        if (const auto inside = plain / plain.filename(); fs::is_regular_file(inside))
            return inside.string();
    }
    throw FileError((fs::path(folder) / (part + "-" + type)).string(),
                    "was not found, with or without .gz");
}

// The folder with the files: the given one, or the one below it where torchvision puts them.
std::string idxFolder(const std::string& given) {
    const std::vector<const char*> below = {"raw", "MNIST/raw", "FashionMNIST/raw"};
    std::vector<std::string> holding;
    for (const auto* name : below)
        if (const auto folder = fs::path(given) / name; fs::is_directory(folder))
            holding.push_back(folder.string());
    if (holding.size() > 1)
        throw FileError(given, "holds MNIST and FashionMNIST; give the folder of one of them");
    return holding.empty() ? given : holding.front();
}

// Files do not say which of both they are, but torchvision's folders do.
bool isOfDigits(const std::string& folder) {
    const auto path = fs::absolute(folder);
    const auto has = [&](const char* word) {
        return std::any_of(path.begin(), path.end(), [&](const fs::path& part) {
            return lowerCase(part.string()).find(word) != std::string::npos;
        });
    };
    return has("mnist") && !has("fashion");
}

}  // namespace

IdxArray readIdx(const std::string& path, int dimensions, std::stop_token stop) {
    core::TextBytes file(core::openFileBytes(path), std::move(stop));
    const std::size_t length = 4 + 4 * static_cast<std::size_t>(dimensions);
    std::string header;
    IdxArray array;
    std::uint64_t expected = 0;
    for (std::string_view piece; !(piece = file.next()).empty();) {
        if (header.size() < length) {
            const auto read = piece.substr(0, length - header.size());
            header += read;
            piece.remove_prefix(read.size());
            if (header.size() < length) continue;
            array.shape = parseHeader(path, header, dimensions, expected);
            requireMemory(path, expected);
        }
        if (array.bytes.size() + piece.size() > expected)
            throw FileError(path, "contains more bytes than its sizes " + sizesText(array.shape) +
                                      " declare; download it again");
        array.bytes.insert(array.bytes.end(), piece.begin(), piece.end());
    }
    if (header.size() < length) throw FileError(path, "ends within its header; download it again");
    if (array.bytes.size() < expected)
        throw FileError(path, "holds " + std::to_string(array.bytes.size()) + " of the " +
                                  std::to_string(expected) + " bytes that its sizes " +
                                  sizesText(array.shape) + " declare; download it again");
    return array;
}

ImageSplits readIdxFolder(const std::string& given, const std::string& task,
                          const core::ProgressCallback& progress, std::stop_token stop) {
    const auto folder = idxFolder(given);
    const auto& classNames = isOfDigits(folder) ? digitNames() : fashionMnistClassNames();
    double done = 0.0;
    const auto step = [&](double fraction) {
        if (progress && !progress(done += fraction)) throw Cancelled();
    };
    const auto split = [&](const std::string& prefix, const char* name, double fraction) {
        const auto path = idxFile(folder, prefix + "-images", "idx3-ubyte"),
                   answers = idxFile(folder, prefix + "-labels", "idx1-ubyte");
        auto images = readIdx(path, 3, stop);
        step(fraction);
        const auto labels = readIdx(answers, 1, stop);
        if (labels.shape[0] != images.shape[0])
            throw FileError(answers, "has " + std::to_string(labels.shape[0]) + " labels for " +
                                         std::to_string(images.shape[0]) + " images of " + path);
        if (images.bytes.empty() || images.shape[1] > 4096 || images.shape[2] > 4096)
            throw FileError(path, "has images of " + sizesText(images.shape) +
                                      "; empty images are not supported");
        for (std::size_t i = 0; i < labels.bytes.size(); ++i)
            if (labels.bytes[i] >= classNames.size())
                throw FileError(answers, "label " + std::to_string(i) + " is " +
                                             std::to_string(labels.bytes[i]) +
                                             "; labels must be 0 to " +
                                             std::to_string(classNames.size() - 1));
        DatasetInfo info;
        info.name = task + ", " + name;
        info.task = task;
        info.origin = folder;
        info.channels = 1;
        info.height = static_cast<int>(images.shape[1]);
        info.width = static_cast<int>(images.shape[2]);
        info.classNames = classNames;
        return std::make_shared<LoadedImages>(
            std::move(info), std::move(images.bytes),
            std::vector<std::int32_t>(labels.bytes.begin(), labels.bytes.end()));
    };
    ImageSplits splits;
    splits.train = split("train", "train", 0.8);
    splits.test = split("t10k", "test", 0.2);
    const auto &a = splits.train->info(), &b = splits.test->info();
    if (a.height != b.height || a.width != b.width)
        throw FileError(folder, "has images of " + std::to_string(a.height) + " x " +
                                    std::to_string(a.width) + " to train on and of " +
                                    std::to_string(b.height) + " x " + std::to_string(b.width) +
                                    " to test on");
    return splits;
}

std::string installedFashionMnist() {
    for (const std::string& folder :
         {core::installedData("fashion-mnist"), std::string("/usr/share/datasets/fashion-mnist")}) {
        std::error_code ignored;
        if (!folder.empty() &&
            fs::is_regular_file(fs::path(folder) / "train-images-idx3-ubyte.gz", ignored))
            return folder;
    }
    return "";
}

}  // namespace relascope::datasets
