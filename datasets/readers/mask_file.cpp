// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/mask_file.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "files/atomic_file.h"
#include "types/error.h"

namespace relascope::datasets {
namespace {

constexpr std::size_t kMostMaskBytes = std::size_t{256} << 20;
constexpr std::uint64_t kMostMaskPixels = 64'000'000;
constexpr int kPngSignature = 8;  // bytes

/// What a decoder has of a file, and what went wrong.
struct MaskPng {
    const std::string* bytes = nullptr;
    std::size_t at = 0;
    std::uint32_t width = 0, height = 0;
    int depth = 0, colour = 0;
    std::vector<std::uint8_t> rows;  // two bytes a pixel where depth is 16
    char message[256] = {};
};

void readMaskBytes(png_structp png, png_bytep out, png_size_t count) {
    auto& mask = *static_cast<MaskPng*>(png_get_io_ptr(png));
    if (mask.bytes->size() - mask.at < count) png_error(png, "the file ends too early");
    std::memcpy(out, mask.bytes->data() + mask.at, count);
    mask.at += count;
}

[[noreturn]] void failMask(png_structp png, png_const_charp message) {
    auto& mask = *static_cast<MaskPng*>(png_get_error_ptr(png));
    std::snprintf(mask.message, sizeof mask.message, "%s", message);
    png_longjmp(png, 1);
}

// libpng reports errors by longjmp: nothing with a destructor begins or ends in these two.
bool decodeMaskHeader(png_structp png, png_infop info, MaskPng& mask) {
    if (setjmp(png_jmpbuf(png))) return false;
    png_read_info(png, info);
    mask.width = png_get_image_width(png, info);
    mask.height = png_get_image_height(png, info);
    mask.depth = png_get_bit_depth(png, info);
    mask.colour = png_get_color_type(png, info);
    return true;
}

bool decodeMaskRows(png_structp png, png_infop info, MaskPng& mask) {
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_packing(png);  // numbers below 8 bits as they are
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    const std::size_t bytes = png_get_rowbytes(png, info);
    if (bytes * mask.height != mask.rows.size())
        png_error(png, "its pixels have another size than its header says");
    for (int pass = 0; pass < passes; ++pass)
        for (std::uint32_t y = 0; y < mask.height; ++y)
            png_read_row(png, mask.rows.data() + y * bytes, nullptr);
    png_read_end(png, nullptr);
    return true;
}

}  // namespace

ObjectMask readMaskFile(const std::string& path) {
    const auto bytes = core::readTextFile(path, kMostMaskBytes);
    if (bytes.size() < kPngSignature ||
        png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, kPngSignature) != 0)
        throw FileError(path, "is no PNG; masks are grey or indexed PNG files");
    MaskPng mask;
    mask.bytes = &bytes;
    auto* png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &mask, failMask,
                                       [](png_structp, png_const_charp) {});
    if (!png) throw FileError(path, "cannot be read: out of memory");
    auto* info = png_create_info_struct(png);
    const auto end = [](png_structp read) { png_destroy_read_struct(&read, nullptr, nullptr); };
    const std::unique_ptr<png_struct, decltype(end)> holder(png, end);
    png_set_read_fn(png, &mask, readMaskBytes);
    const auto damaged = [&] {
        return FileError(path, std::string("is a damaged PNG: ") + mask.message);
    };
    if (!info || !decodeMaskHeader(png, info, mask)) throw damaged();
    if (mask.colour != PNG_COLOR_TYPE_GRAY && mask.colour != PNG_COLOR_TYPE_PALETTE)
        throw FileError(path,
                        "is a colour picture; masks are grey or indexed PNG files whose values are "
                        "the numbers of objects");
    if (static_cast<std::uint64_t>(mask.width) * mask.height > kMostMaskPixels)
        throw FileError(path, "has over 64 megapixels, the most that a mask may have");
    const std::size_t pixels = static_cast<std::size_t>(mask.width) * mask.height;
    const bool wide = mask.depth == 16;
    mask.rows.resize(pixels * (wide ? 2 : 1));
    if (!decodeMaskRows(png, info, mask)) throw damaged();
    ObjectMask read{static_cast<int>(mask.width), static_cast<int>(mask.height), {}, {}};
    read.numbers.reserve(pixels);
    for (std::size_t k = 0; k < pixels; ++k) {
        const auto number = wide ? mask.rows[2 * k] << 8 | mask.rows[2 * k + 1] : mask.rows[k];
        read.numbers.push_back(number == (wide ? 0xffff : 0xff)
                                   ? ObjectMask::kNotCounted
                                   : static_cast<std::uint16_t>(number));
    }
    return read;
}

ObjectMask scaledMask(const ObjectMask& mask, int width, int height) {
    ObjectMask scaled{width, height, {}, mask.objects};
    scaled.numbers.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    // The pixel whose middle is nearest to that of the new one.
    const auto nearest = [](int at, int from, int to) {
        return std::min(from - 1, static_cast<int>((2LL * at + 1) * from / (2LL * to)));
    };
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            scaled.numbers.push_back(
                mask.numbers[static_cast<std::size_t>(nearest(y, mask.height, height)) *
                                 static_cast<std::size_t>(mask.width) +
                             static_cast<std::size_t>(nearest(x, mask.width, width))]);
    return scaled;
}

}  // namespace relascope::datasets
