// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/cifar.h"

#include <filesystem>
#include <sstream>

#include "files/atomic_file.h"
#include "files/byte_source.h"

namespace relascope::datasets {
namespace {

namespace fs = std::filesystem;

constexpr int kSide = 32, kPlane = kSide * kSide, kPixels = 3 * kPlane;

struct Layout {
    std::vector<std::string> train;
    std::string test, unpacked, python, names;
    int labels;                            // bytes of a record before its pixels
    std::int64_t trainImages, testImages;  // how many one file has
};

const Layout& layoutOf(int classes) {
    static const Layout ten = {{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                "data_batch_4.bin", "data_batch_5.bin"},
                               "test_batch.bin",
                               "cifar-10-batches-bin",
                               "cifar-10-batches-py",
                               "batches.meta.txt",
                               1,
                               10000,
                               10000};
    static const Layout hundred = {{"train.bin"},
                                   "test.bin",
                                   "cifar-100-binary",
                                   "cifar-100-python",
                                   "fine_label_names.txt",
                                   2,
                                   50000,
                                   10000};
    return classes == 10 ? ten : hundred;
}

// The folder itself, or the archive folder in it.
fs::path folderWith(const Layout& layout, const std::string& folder) {
    const fs::path here = folder, inner = here / layout.unpacked;
    if (fs::exists(here / layout.train[0])) return here;
    if (fs::exists(inner / layout.train[0])) return inner;
    const std::string plain = layout.train[0].substr(0, layout.train[0].size() - 4);
    if (fs::exists(here / layout.python) || fs::is_regular_file(here / plain))
        throw FileError(folder,
                        "contains the Python version, which is a pickle and not supported; "
                        "download the binary version (" +
                            layout.unpacked + ")");
    throw FileError(folder, "has no " + layout.train[0] + ", nor a folder " + layout.unpacked +
                                " with it; data.path must contain the binary version of CIFAR");
}

// Opens a file that must have exactly the published length.
std::shared_ptr<const core::ByteSource> openCifarFile(const std::string& path, int labels,
                                                      int classes, std::int64_t images) {
    const auto source = core::openFileBytes(path);
    const auto expected =
        static_cast<std::uint64_t>(labels + kPixels) * static_cast<std::uint64_t>(images);
    if (source->size() != expected)
        throw FileError(path, "has " + std::to_string(source->size()) + " bytes where " +
                                  std::to_string(images) + " images of CIFAR-" +
                                  std::to_string(classes) + " have " + std::to_string(expected) +
                                  "; download it again");
    return source;
}

std::vector<std::string> namesFrom(const fs::path& path, int classes) {
    if (!fs::is_regular_file(path)) return cifarClassNames(classes);
    std::istringstream lines(core::readTextFile(path.string(), 1u << 16));
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (!line.empty()) names.push_back(line);
    }
    return static_cast<int>(names.size()) == classes ? names : cifarClassNames(classes);
}

}  // namespace

void readCifarFile(const std::string& path, int labels, int classes, std::int64_t images,
                   std::vector<std::uint8_t>& pixels, std::vector<std::int32_t>& answers,
                   std::stop_token stop) {
    const auto source = openCifarFile(path, labels, classes, images);
    const auto record = static_cast<std::uint64_t>(labels + kPixels);
    const std::size_t before = pixels.size();
    pixels.resize(before + static_cast<std::size_t>(images) * kPixels);
    auto* out = pixels.data() + before;
    std::vector<std::uint8_t> piece;
    constexpr std::uint64_t records = 500;
    for (std::uint64_t first = 0; first < static_cast<std::uint64_t>(images);) {
        const auto count = std::min(records, static_cast<std::uint64_t>(images) - first);
        piece.resize(static_cast<std::size_t>(count * record));
        source->read(first * record, piece, stop);
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint8_t* bytes = piece.data() + i * record;
            const int label = bytes[labels - 1];
            if (label >= classes)
                throw FileError(path, "record " + std::to_string(first + i) + " has the label " +
                                          std::to_string(label) + "; CIFAR-" +
                                          std::to_string(classes) + " has 0 to " +
                                          std::to_string(classes - 1));
            answers.push_back(label);
            const std::uint8_t* plane = bytes + labels;
            for (int p = 0; p < kPlane; ++p)
                for (int c = 0; c < 3; ++c) *out++ = plane[c * kPlane + p];
        }
        first += count;
    }
}

ImageSplits readCifar(int classes, const std::string& folder,
                      const core::ProgressCallback& progress, std::stop_token stop) {
    const auto& layout = layoutOf(classes);
    const auto path = folderWith(layout, folder);
    // Reports missing files before reading any.
    const auto require = [&](const std::string& name, std::int64_t images) {
        openCifarFile((path / name).string(), layout.labels, classes, images);
    };
    for (const auto& name : layout.train) require(name, layout.trainImages);
    require(layout.test, layout.testImages);
    requireMemory(folder, 60000ull * kPixels);
    DatasetInfo info;
    info.task = "cifar" + std::to_string(classes);
    info.origin = path.string();
    info.height = info.width = kSide;
    info.classNames = namesFrom(path / layout.names, classes);

    double done = 0.0;
    const auto read = [&](const std::string& name, std::int64_t images,
                          std::vector<std::uint8_t>& pixels, std::vector<std::int32_t>& labels) {
        readCifarFile((path / name).string(), layout.labels, classes, images, pixels, labels, stop);
        done += static_cast<double>(images) / 60000.0;
        if (progress && !progress(done)) throw Cancelled();
    };
    ImageSplits splits;
    const auto keep = [&](const char* name, std::vector<std::uint8_t>& pixels,
                          std::vector<std::int32_t>& labels) {
        info.name = info.task + ", " + name;
        return std::make_shared<LoadedImages>(info, std::move(pixels), std::move(labels));
    };
    std::vector<std::uint8_t> pixels, testPixels;
    std::vector<std::int32_t> labels, testLabels;
    pixels.reserve(50000ull * kPixels);
    for (const auto& name : layout.train) read(name, layout.trainImages, pixels, labels);
    read(layout.test, layout.testImages, testPixels, testLabels);
    splits.train = keep("train", pixels, labels);
    splits.test = keep("test", testPixels, testLabels);
    return splits;
}

}  // namespace relascope::datasets
