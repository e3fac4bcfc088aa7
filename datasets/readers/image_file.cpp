// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/image_file.h"

#include <jpeglib.h>
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <opencv2/imgproc.hpp>

#include "files/atomic_file.h"

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
    png.format = PNG_FORMAT_RGB;
    image.width = static_cast<int>(png.width);
    image.height = static_cast<int>(png.height);
    image.pixels.resize(PNG_IMAGE_SIZE(png));
    png_color background{0, 0, 0};
    if (!png_image_finish_read(&png, &background, image.pixels.data(), 0, nullptr))
        throw FileError(path, std::string("is a damaged PNG: ") + png.message);
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

}  // namespace relascope::datasets
