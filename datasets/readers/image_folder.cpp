// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <opencv2/imgproc.hpp>

#include <jpeglib.h>
#include <png.h>

#include "datasets/readers/image_folder.h"
#include "datasets/readers/prepared_images.h"
#include "files/atomic_file.h"
#include "model/public/public_options.h"
#include "options/image_processor.h"

namespace relascope::datasets {
namespace {

constexpr std::uint64_t kMaxPixels = 64'000'000;

void checkSize(const std::string& path, std::uint64_t width, std::uint64_t height) {
    if (width < 1 || height < 1) throw FileError(path, "is an empty image");
    if (width * height > kMaxPixels)
        throw FileError(path, "has " + std::to_string(width) + " x " + std::to_string(height) +
                                  " pixels; at most 64 megapixels are supported");
}

Image readPng(const std::string& path, const std::string& bytes) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()))
        throw FileError(path, std::string("is a damaged PNG: ") + png.message);
    Image image;
    try {
        checkSize(path, png.width, png.height);
    } catch (...) {
        png_image_free(&png);
        throw;
    }
    // Transparency is left out and not laid over a background, as Pillow's convert("RGB") does for
    // torchvision and transformers.
    const bool transparent = png.format & PNG_FORMAT_FLAG_ALPHA;
    png.format = transparent ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    image.width = static_cast<int>(png.width);
    image.height = static_cast<int>(png.height);
    std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(png));
    if (!png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr))
        throw FileError(path, std::string("is a damaged PNG: ") + png.message);
    if (!transparent) {
        image.pixels = std::move(pixels);
        return image;
    }
    image.pixels.reserve(pixels.size() / 4 * 3);
    for (std::size_t at = 0; at < pixels.size(); at += 4)
        image.pixels.insert(image.pixels.end(), pixels.begin() + static_cast<std::ptrdiff_t>(at),
                            pixels.begin() + static_cast<std::ptrdiff_t>(at + 3));
    return image;
}

struct JpegErrors {
    jpeg_error_mgr base;
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX];
};

// libjpeg reports errors with longjmp, so no C++ object with a destructor may exist here.
bool decodeJpeg(jpeg_decompress_struct& jpeg, JpegErrors& errors, const std::string& bytes,
                std::uint8_t** pixels) {
    if (setjmp(errors.back)) return false;
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&jpeg, TRUE);
    if (static_cast<std::uint64_t>(jpeg.image_width) * jpeg.image_height > kMaxPixels) {
        std::snprintf(errors.message, sizeof errors.message, "more than 64 megapixels");
        return false;
    }
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    const std::size_t row = static_cast<std::size_t>(jpeg.output_width) * 3;
    *pixels = static_cast<std::uint8_t*>(std::malloc(row * jpeg.output_height));
    if (!*pixels) return false;
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW line = *pixels + row * jpeg.output_scanline;
        jpeg_read_scanlines(&jpeg, &line, 1);
    }
    if (errors.base.num_warnings > 0) return false;  // a truncated file is one
    jpeg_finish_decompress(&jpeg);
    return true;
}

Image readJpeg(const std::string& path, const std::string& bytes) {
    jpeg_decompress_struct jpeg{};
    JpegErrors errors{};
    jpeg.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = [](j_common_ptr info) {
        auto* self = reinterpret_cast<JpegErrors*>(info->err);
        (*info->err->format_message)(info, self->message);
        std::longjmp(self->back, 1);
    };
    errors.base.emit_message = [](j_common_ptr info, int level) {
        if (level >= 0) return;
        auto* self = reinterpret_cast<JpegErrors*>(info->err);
        (*info->err->format_message)(info, self->message);
        ++info->err->num_warnings;
    };
    jpeg_create_decompress(&jpeg);
    std::uint8_t* pixels = nullptr;
    const bool ok = decodeJpeg(jpeg, errors, bytes, &pixels);
    Image image;
    if (ok) {
        image.width = static_cast<int>(jpeg.output_width);
        image.height = static_cast<int>(jpeg.output_height);
        image.pixels.assign(pixels, pixels + static_cast<std::size_t>(image.width) *
                                                 static_cast<std::size_t>(image.height) * 3);
    }
    std::free(pixels);
    jpeg_destroy_decompress(&jpeg);
    if (!ok)
        throw FileError(path, std::string("is a damaged or unsupported JPEG: ") +
                                  (errors.message[0] ? errors.message : "out of memory"));
    return image;
}

}  // namespace

Image readImageFile(const std::string& path) {
    const std::string bytes = core::readTextFile(path, 256u << 20);
    if (bytes.size() >= 8 && !std::memcmp(bytes.data(), "\x89PNG\r\n\x1a\n", 8))
        return readPng(path, bytes);
    if (bytes.size() >= 3 && !std::memcmp(bytes.data(), "\xff\xd8\xff", 3))
        return readJpeg(path, bytes);
    throw FileError(path, "is neither PNG nor JPEG; convert it to one of them");
}

Image fitImage(const Image& image, int width, int height, int channels) {
    cv::Mat mat(image.height, image.width, image.channels == 3 ? CV_8UC3 : CV_8UC1,
                const_cast<std::uint8_t*>(image.pixels.data()));
    cv::Mat scaled;
    if (image.width != width || image.height != height)
        cv::resize(mat, scaled, {width, height}, 0, 0,
                   image.width > width ? cv::INTER_AREA : cv::INTER_LINEAR);
    else
        scaled = mat.clone();
    if (scaled.channels() != channels)
        cv::cvtColor(scaled, scaled, channels == 1 ? cv::COLOR_RGB2GRAY : cv::COLOR_GRAY2RGB);
    Image result{width, height, channels, {}};
    result.pixels.assign(scaled.data,
                         scaled.data + scaled.total() * static_cast<std::size_t>(channels));
    return result;
}

ProbeSample imageSample(const std::string& path, const ModelOptions& model) {
    const auto& shape = model.get<ImageInput>().image_shape;  // channels, width, height
    ProbeSample sample;
    const auto* family = model.find<core::PublicImageOptions>();
    if (family && !family->preprocessor.empty())
        sample.image =
            core::prepared(readImageFile(path), core::imageProcessorFrom(family->preprocessor));
    else
        sample.image = fitImage(readImageFile(path), static_cast<int>(shape[1]),
                                static_cast<int>(shape[2]), static_cast<int>(shape[0]));
    sample.origin = std::filesystem::path(path).filename().string();
    return sample;
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamed = 5;  // of what was left out

struct ClassFolder {
    std::string name;
    std::vector<fs::path> files;
};

// Entries in the order of their names, without hidden ones.
std::vector<fs::path> entriesOf(const fs::path& folder, bool folders) {
    std::error_code error;
    std::vector<fs::path> paths;
    fs::directory_iterator entries(folder, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
        const auto& path = entries->path();
        std::error_code ignored;
        if (path.filename().string().starts_with('.')) continue;
        if (folders ? fs::is_directory(path, ignored) : fs::is_regular_file(path, ignored))
            paths.push_back(path);
    }
    if (error) throw FileError(folder.string(), "cannot be read: " + error.message());
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::vector<ClassFolder> classesOf(const fs::path& folder) {
    std::vector<ClassFolder> classes;
    for (const auto& path : entriesOf(folder, true)) {
        auto files = entriesOf(path, false);
        if (!files.empty()) classes.push_back({path.filename().string(), std::move(files)});
    }
    return classes;
}

class FolderReader {
public:
    FolderReader(std::string root, int side, const std::string& preprocessor,
                 const core::ProgressCallback& progress, std::stop_token stop)
        : m_root(std::move(root)),
          m_processor(core::imageProcessorFrom(preprocessor)),
          m_size(preparedSize(m_processor)),
          m_prepares(m_size.width > 0),
          m_progress(progress),
          m_stop(std::move(stop)) {
        if (!m_prepares) m_size = {side, side};
    }

    void expect(const std::vector<ClassFolder>& classes) {
        for (const auto& c : classes) m_files += c.files.size();
        requireMemory(m_root, m_files * imageBytes());
    }

    // The images of those classes, labelled by their index in `names`.
    core::ImageDatasetPtr read(const std::vector<ClassFolder>& classes,
                               const std::vector<std::string>& names, const char* split) {
        std::vector<std::uint8_t> pixels;
        std::vector<std::int32_t> labels;
        m_skipped = 0;
        m_note.clear();
        for (const auto& c : classes) {
            const auto label = std::find(names.begin(), names.end(), c.name) - names.begin();
            const std::size_t before = labels.size();
            for (const auto& file : c.files)
                if (add(file, pixels)) labels.push_back(static_cast<std::int32_t>(label));
            m_empty = m_empty || labels.size() == before;
        }
        DatasetInfo info;
        info.name = fs::path(m_root).filename().string() + ", " + split;
        info.task = "folder";
        info.origin = m_root;
        info.height = m_size.height, info.width = m_size.width;
        info.classNames = names;
        if (m_skipped > 0) {
            info.note = std::to_string(m_skipped) + (m_skipped == 1 ? " file was" : " files were") +
                        " skipped: " + m_note;
            if (m_skipped > kNamed)
                info.note += "; and " + std::to_string(m_skipped - kNamed) + " more";
        }
        return std::make_shared<LoadedImages>(std::move(info), std::move(pixels),
                                              std::move(labels));
    }
    /// Whether a class of the last split had no readable picture.
    bool hasEmptyClass() const { return m_empty; }
    const std::string& note() const { return m_note; }

private:
    std::uint64_t imageBytes() const {
        return 3ull * static_cast<std::uint64_t>(m_size.width) *
               static_cast<std::uint64_t>(m_size.height);
    }

    bool add(const fs::path& file, std::vector<std::uint8_t>& pixels) {
        if (m_stop.stop_requested()) throw Cancelled();
        if (m_progress && m_done % 64 == 0 &&
            !m_progress(static_cast<double>(m_done) / static_cast<double>(m_files)))
            throw Cancelled();
        ++m_done;
        std::string reason;
        try {
            const Image image = readImageFile(file.string());
            if (image.width < 2 || image.height < 2)
                throw FileError(file.string(), "has " + std::to_string(image.width) + " x " +
                                                   std::to_string(image.height) + " pixels");
            if (!m_processor.scales &&
                (image.width != m_size.width || image.height != m_size.height))
                throw FileError(file.string(), "has " + std::to_string(image.width) + " x " +
                                                   std::to_string(image.height) + " pixels, not " +
                                                   std::to_string(m_size.width) + " x " +
                                                   std::to_string(m_size.height) +
                                                   ", and the model's images are not scaled");
            const Image fitted = m_prepares ? core::prepared(image, m_processor)
                                            : fitImage(image, m_size.width, m_size.height, 3);
            pixels.insert(pixels.end(), fitted.pixels.begin(), fitted.pixels.end());
            return true;
        } catch (const FileError& error) {
            reason = std::string(error.what()).substr(error.path().size() + 2);
        }
        if (m_skipped++ < kNamed)
            m_note += (m_note.empty() ? "" : "; ") +
                      (file.parent_path().filename() / file.filename()).string() + " " + reason;
        return false;
    }

    std::string m_root;
    core::ImageProcessor m_processor;
    PreparedSize m_size;
    bool m_prepares;
    const core::ProgressCallback& m_progress;
    std::stop_token m_stop;
    std::size_t m_files = 0, m_done = 0, m_skipped = 0;
    std::string m_note;
    bool m_empty = false;
};

}  // namespace

ImageSplits readImageFolder(const std::string& folder, int side,
                            const core::ProgressCallback& progress, std::stop_token stop,
                            const std::string& preprocessor) {
    // "pictures/" has no name of its own.
    const fs::path given(folder), root = given.has_filename() ? given : given.parent_path();
    if (!fs::is_directory(root))
        throw FileError(folder,
                        "is not a folder; data.path must be a folder with one folder per class");
    const bool parted = fs::is_directory(root / "train") && fs::is_directory(root / "test");
    const auto train = classesOf(parted ? root / "train" : root);
    const auto test = parted ? classesOf(root / "test") : std::vector<ClassFolder>();
    std::vector<std::string> names;
    for (const auto& c : train) names.push_back(c.name);
    if (names.size() < 2)
        throw FileError((parted ? root / "train" : root).string(),
                        "has " + std::to_string(names.size()) +
                            (names.size() == 1 ? " folder" : " folders") +
                            " with files; folders for at least two classes are needed");
    for (const auto& c : test)
        if (std::find(names.begin(), names.end(), c.name) == names.end())
            throw FileError((root / "test" / c.name).string(),
                            "is a class that " + (root / "train").string() + " does not have");
    FolderReader reader(root.string(), side, preprocessor, progress, std::move(stop));
    reader.expect(train);
    reader.expect(test);
    ImageSplits splits;
    splits.train = reader.read(train, names, parted ? "train" : "all");
    if (reader.hasEmptyClass())
        throw FileError(root.string(), "has a class without a readable image: " + reader.note());
    if (parted) splits.test = reader.read(test, names, "test");
    if (parted && splits.test->size() == 0)
        throw FileError(
            (root / "test").string(),
            "has no readable image" + (reader.note().empty() ? "" : ": " + reader.note()));
    return splits;
}

}  // namespace relascope::datasets
