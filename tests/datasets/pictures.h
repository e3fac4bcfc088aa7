// SPDX-License-Identifier: GPL-3.0-or-later
// Picture files and published data sets in small, written for the readers to read.
#pragma once

#include <cstdio>

#include <jpeglib.h>
#include <png.h>

#include <string>
#include <vector>

#include "support/bytes_of.h"
#include "support/rooms.h"
#include "types/image.h"

namespace relascope::testing_support {

/// An image of one colour with a bright square in its upper left quarter.
inline Image picture(int width, int height, std::uint8_t red, std::uint8_t green,
                     std::uint8_t blue) {
    Image image{width, height, 3, {}};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const bool bright = 2 * x < width && 2 * y < height;
            for (const std::uint8_t c : {red, green, blue})
                image.pixels.push_back(bright ? std::uint8_t{250} : c);
        }
    return image;
}

inline void writePng(const std::string& path, const Image& image) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = static_cast<png_uint_32>(image.width);
    png.height = static_cast<png_uint_32>(image.height);
    png.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    png_image_write_to_file(&png, path.c_str(), 0, image.pixels.data(), 0, nullptr);
}

/// The same of 16 bits, without any chunk that says what they mean.
inline void writePng16(const std::string& path, int width, int height, int channels,
                       const std::vector<std::uint16_t>& values) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), 16,
                 channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    std::vector<png_byte> row;
    for (std::size_t at = 0; at < values.size();) {
        row.clear();
        for (int i = 0; i < width * channels; ++i, ++at) {
            row.push_back(static_cast<png_byte>(values[at] >> 8));
            row.push_back(static_cast<png_byte>(values[at] & 255));
        }
        png_write_row(png, row.data());
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    std::fclose(file);
}

/// `components`: 3 for RGB, 4 for CMYK (of any content).
inline void writeJpeg(const std::string& path, const Image& image, int components = 3) {
    jpeg_compress_struct jpeg{};
    jpeg_error_mgr errors{};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    std::FILE* file = std::fopen(path.c_str(), "wb");
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = static_cast<JDIMENSION>(image.width);
    jpeg.image_height = static_cast<JDIMENSION>(image.height);
    jpeg.input_components = components;
    jpeg.in_color_space = components == 4 ? JCS_CMYK : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    std::vector<std::uint8_t> row(static_cast<std::size_t>(image.width * components), 77);
    while (jpeg.next_scanline < jpeg.image_height) {
        if (components == 3)
            std::copy_n(&image.pixels[jpeg.next_scanline * row.size()], row.size(), row.begin());
        JSAMPROW line = row.data();
        jpeg_write_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    std::fclose(file);
}

/// Bytes of an IDX file.
inline std::string idx(const std::vector<int>& shape, const std::string& bytes, int type = 8) {
    std::string file =
        std::string("\0\0", 2) + static_cast<char>(type) + static_cast<char>(shape.size());
    for (const int size : shape)
        for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(size >> shift);
    return file + bytes;
}

inline std::string gzipped(const std::string& bytes) {
    z_stream z{};
    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&z, bytes.size()) + 64, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z.avail_in = static_cast<uInt>(bytes.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    deflate(&z, Z_FINISH);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
}

/// A file of CIFAR: record i has the label i % classes (and the coarse one 19 where there are two)
/// and, in plane c at pixel p, the byte 7 i + 3 c + p.
inline std::string cifar(int images, int labels, int classes) {
    std::string file;
    file.reserve(static_cast<std::size_t>(images) * 3074);
    for (int i = 0; i < images; ++i) {
        if (labels == 2) file += '\x13';
        file += static_cast<char>(i % classes);
        for (int c = 0; c < 3; ++c)
            for (int p = 0; p < 1024; ++p) file += static_cast<char>(7 * i + 3 * c + p);
    }
    return file;
}

}  // namespace relascope::testing_support
