// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/picture_file.h"

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include <jpeglib.h>

#include <jerror.h>
#include <png.h>

#include "files/atomic_file.h"
#include "files/foreign_file.h"

namespace relascope::datasets {
namespace {

constexpr std::uint64_t kMaxPixels = 64'000'000;
constexpr std::uint64_t kMostFileBytes = 256u << 20;

bool tooLarge(std::uint64_t width, std::uint64_t height) {
    return width * height > kMaxPixels;
}

// The result of a decoder: the pixels, and other properties of the file.
struct Decoded {
    struct Free {
        void operator()(std::uint8_t* bytes) const { std::free(bytes); }
    };
    std::uint32_t width = 0, height = 0;
    int channels = 3;                              ///< 4: CMYK as Adobe stores it
    std::unique_ptr<std::uint8_t[], Free> pixels;  ///< [height, width, channels]
    std::string exif, xmp;
    bool large = false;
    char message[256] = {};

    // The libraries report errors with longjmp, so that nothing with a destructor may be in use.
    bool allocate() {
        if (tooLarge(width, height)) return large = true, false;
        const std::size_t bytes =
            static_cast<std::size_t>(width) * height * static_cast<std::size_t>(channels);
        pixels.reset(static_cast<std::uint8_t*>(std::malloc(bytes)));
        if (!pixels) std::snprintf(message, sizeof message, "out of memory");
        return pixels != nullptr;
    }
    std::uint8_t* row(std::uint32_t y) const {
        return pixels.get() +
               static_cast<std::size_t>(y) * width * static_cast<std::size_t>(channels);
    }
};

// Orientation
// -------------------------------------------------------------------------------------------------

// The tag Orientation of the first directory of EXIF data (TIFF 6.0, section 2); 0 without one.
int exifOrientation(std::string_view exif) {
    constexpr std::string_view mark("Exif\0\0", 6);
    while (exif.starts_with(mark)) exif.remove_prefix(mark.size());
    const bool big = exif.starts_with(std::string_view("MM\0*", 4));
    if (!big && !exif.starts_with(std::string_view("II*\0", 4))) return 0;
    const auto number = [&](std::size_t at, int bytes) -> std::uint32_t {
        if (at + static_cast<std::size_t>(bytes) > exif.size()) return 0;
        std::uint32_t value = 0;
        for (int i = 0; i < bytes; ++i)
            value = value << 8 | static_cast<std::uint8_t>(
                                     exif[at + static_cast<std::size_t>(big ? i : bytes - 1 - i)]);
        return value;
    };
    const std::size_t begin = number(4, 4);
    constexpr int sizes[] = {0, 1, 0, 2, 4, 0, 1, 0, 2, 4};  // bytes of whole numbers, by type
    for (std::size_t i = 0, count = number(begin, 2); i < count; ++i) {
        const std::size_t at = begin + 2 + 12 * i;
        if (at + 12 > exif.size()) break;
        const auto type = number(at + 2, 2);
        if (number(at, 2) == 0x0112 && number(at + 4, 4) == 1 && type < std::size(sizes))
            return static_cast<int>(number(at + 8, sizes[type]));
    }
    return 0;
}

// The orientation from EXIF, else from XMP.
int orientationOf(const Decoded& decoded) {
    if (const int found = exifOrientation(decoded.exif)) return found;
    constexpr std::string_view name = "tiff:Orientation";
    const std::string_view xmp = decoded.xmp;
    for (auto at = xmp.find(name); at != std::string_view::npos; at = xmp.find(name, at + 1)) {
        auto rest = xmp.substr(at + name.size());
        if (rest.starts_with("=\""))
            rest.remove_prefix(2);
        else if (rest.starts_with('>'))
            rest.remove_prefix(1);
        else
            continue;
        if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') return rest[0] - '0';
    }
    return 0;
}

// 2 to 8: mirrored, upside down, and on its side in four ways; anything else stands upright.
Image turned(Image image, int orientation) {
    if (orientation < 2 || orientation > 8) return image;
    const bool swaps = orientation >= 5;
    const bool fromBelow =
        orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    const bool fromRight =
        orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    Image out{swaps ? image.height : image.width, swaps ? image.width : image.height, 3, {}};
    out.pixels.resize(image.pixels.size());
    auto* to = out.pixels.data();
    for (int y = 0; y < out.height; ++y)
        for (int x = 0; x < out.width; ++x, to += 3) {
            const int row = swaps ? x : y, column = swaps ? y : x;
            const auto from = image.index(fromBelow ? image.height - 1 - row : row,
                                          fromRight ? image.width - 1 - column : column, 0);
            std::copy_n(image.pixels.data() + from, 3, to);
        }
    return out;
}

// PNG
// -------------------------------------------------------------------------------------------------

struct PngState {
    std::string_view left;
    Decoded* decoded = nullptr;
};

void readPngBytes(png_structp png, png_bytep out, png_size_t count) {
    auto& left = static_cast<PngState*>(png_get_io_ptr(png))->left;
    if (left.size() < count) png_error(png, "the file ends too early");
    std::memcpy(out, left.data(), count);
    left.remove_prefix(count);
}

[[noreturn]] void failPng(png_structp png, png_const_charp message) {
    auto* decoded = static_cast<PngState*>(png_get_error_ptr(png))->decoded;
    std::snprintf(decoded->message, sizeof decoded->message, "%s", message);
    png_longjmp(png, 1);
}

bool decodePng(png_structp png, png_infop info, png_infop end, Decoded& decoded) {
    if (setjmp(png_jmpbuf(png))) return false;
    png_read_info(png, info);
    decoded.width = png_get_image_width(png, info);
    decoded.height = png_get_image_height(png, info);
    // No gamma is ever set: the values stay as in the file.
    png_set_strip_16(png);
    png_set_palette_to_rgb(png);
    png_set_expand_gray_1_2_4_to_8(png);
    png_set_gray_to_rgb(png);
    png_set_strip_alpha(png);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != static_cast<std::size_t>(decoded.width) * 3)
        png_error(png, "its pixels have another size than its header says");
    if (!decoded.allocate()) return false;
    for (int pass = 0; pass < passes; ++pass)
        for (std::uint32_t y = 0; y < decoded.height; ++y)
            png_read_row(png, decoded.row(y), nullptr);
    png_read_end(png, end);
    return true;
}

// ImageMagick's spelling of EXIF in a text: three lines, then hexadecimal digits.
std::string unspelledProfile(std::string_view text) {
    for (int line = 0; line < 3; ++line) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    std::string bytes, digits;
    for (const char c : text) {
        if (!std::isxdigit(static_cast<unsigned char>(c))) continue;
        digits += c;
        if (digits.size() < 2) continue;
        bytes += static_cast<char>(std::strtol(digits.c_str(), nullptr, 16));
        digits.clear();
    }
    return bytes;
}

// EXIF and XMP may stand before or after the pixels.
void findMetadata(png_structp png, png_infop info, Decoded& decoded) {
    png_bytep exif = nullptr;
    png_uint_32 length = 0;
    if (png_get_eXIf_1(png, info, &length, &exif) && exif)
        decoded.exif.assign(reinterpret_cast<const char*>(exif), length);
    png_textp texts = nullptr;
    int count = 0;
    png_get_text(png, info, &texts, &count);
    for (int i = 0; i < count; ++i) {
        const std::string_view key = texts[i].key;
        const std::string_view text(
            texts[i].text ? texts[i].text : "",
            texts[i].text ? std::max(texts[i].text_length, texts[i].itxt_length) : 0);
        if (key == "XML:com.adobe.xmp") decoded.xmp = text;
        if (key == "Raw profile type exif" && decoded.exif.empty())
            decoded.exif = unspelledProfile(text);
    }
}

bool readPng(const std::string& bytes, Decoded& decoded) {
    PngState state{bytes, &decoded};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, failPng,
                                             [](png_structp, png_const_charp) {});
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    png_infop end = png ? png_create_info_struct(png) : nullptr;
    bool ok = false;
    if (info && end) {
        png_set_read_fn(png, &state, readPngBytes);
        ok = decodePng(png, info, end, decoded);
        if (ok)
            for (auto* part : {info, end}) findMetadata(png, part, decoded);
    }
    png_destroy_read_struct(&png, &info, &end);
    return ok;
}

// JPEG
// -------------------------------------------------------------------------------------------------

struct JpegErrors {
    jpeg_error_mgr base;
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX];
};

// Warnings that concern no pixel; all others are about damaged or missing data.
bool isHarmless(int warning) {
    return warning == JWRN_ADOBE_XFORM || warning == JWRN_EXTRANEOUS_DATA ||
           warning == JWRN_JFIF_MAJOR || warning == JWRN_TOO_MUCH_DATA || warning == JWRN_BOGUS_ICC;
}

bool decodeJpeg(jpeg_decompress_struct& jpeg, JpegErrors& errors, const std::string& bytes,
                Decoded& decoded) {
    if (setjmp(errors.back)) return false;
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_save_markers(&jpeg, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&jpeg, TRUE);
    decoded.width = jpeg.image_width, decoded.height = jpeg.image_height;
    decoded.channels = jpeg.num_components == 4 ? 4 : 3;
    jpeg.out_color_space = decoded.channels == 4 ? JCS_CMYK : JCS_RGB;
    if (!decoded.allocate()) return false;
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW line = decoded.row(jpeg.output_scanline);
        jpeg_read_scanlines(&jpeg, &line, 1);
    }
    // A truncated file is one. What follows the pixels is not read, and the markers are kept.
    return errors.base.num_warnings == 0;
}

bool readJpeg(const std::string& bytes, Decoded& decoded) {
    jpeg_decompress_struct jpeg{};
    JpegErrors errors{};
    jpeg.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = [](j_common_ptr info) {
        auto* self = reinterpret_cast<JpegErrors*>(info->err);
        (*info->err->format_message)(info, self->message);
        std::longjmp(self->back, 1);
    };
    errors.base.emit_message = [](j_common_ptr info, int level) {
        if (level >= 0 || isHarmless(info->err->msg_code)) return;
        auto* self = reinterpret_cast<JpegErrors*>(info->err);
        (*info->err->format_message)(info, self->message);
        ++info->err->num_warnings;
    };
    jpeg_create_decompress(&jpeg);
    const bool ok = decodeJpeg(jpeg, errors, bytes, decoded);
    if (ok) {
        constexpr std::string_view exif("Exif\0\0", 6), xmp("http://ns.adobe.com/xap/1.0/\0", 29);
        for (auto* marker = jpeg.marker_list; marker; marker = marker->next) {
            const std::string_view data(reinterpret_cast<const char*>(marker->data),
                                        marker->data_length);
            // EXIF data too long for one marker continue in the next marker.
            if (data.starts_with(exif)) decoded.exif += data.substr(exif.size());
            if (data.starts_with(xmp)) decoded.xmp = data.substr(xmp.size());
        }
    } else if (errors.message[0]) {
        std::snprintf(decoded.message, sizeof decoded.message, "%s", errors.message);
    }
    jpeg_destroy_decompress(&jpeg);
    return ok;
}

// Both formats
// -------------------------------------------------------------------------------------------------

// The picture in RGB. CMYK as Adobe stores it, 255 for no ink, is converted by Pillow's formula,
// which knows no colour profile.
Image rgbOf(const Decoded& decoded) {
    Image image{static_cast<int>(decoded.width), static_cast<int>(decoded.height), 3, {}};
    const std::size_t pixels = static_cast<std::size_t>(decoded.width) * decoded.height;
    const std::uint8_t* from = decoded.pixels.get();
    if (decoded.channels == 3) {
        image.pixels.assign(from, from + pixels * 3);
        return image;
    }
    image.pixels.reserve(pixels * 3);
    for (const auto* end = from + pixels * 4; from < end; from += 4)
        for (int c = 0; c < 3; ++c) {
            const int ink = 128 + (255 - from[c]) * from[3];
            image.pixels.push_back(
                static_cast<std::uint8_t>(std::max(0, from[3] - (((ink >> 8) + ink) >> 8))));
        }
    return image;
}

// The name of a common format that is neither PNG nor JPEG; empty: unknown.
std::string otherFormat(std::string_view b) {
    const auto has = [&](std::size_t at, std::string_view mark) {
        return b.size() >= at && b.substr(at).starts_with(mark);
    };
    using namespace std::string_view_literals;
    if (has(0, "GIF8")) return "a GIF picture";
    if (has(0, "RIFF") && has(8, "WEBP")) return "a WebP picture";
    if (has(0, "BM") && b.size() > 26) return "a BMP picture";
    if (has(0, "II*\0"sv) || has(0, "MM\0*"sv) || has(0, "II+\0"sv) || has(0, "MM\0+"sv))
        return "a TIFF picture";
    if (has(4, "ftypavif")) return "an AVIF picture";
    if (has(4, "ftyphei") || has(4, "ftypmif1") || has(4, "ftyphev")) return "a HEIC picture";
    if (has(0, "\xFF\x0A") || has(4, "JXL ")) return "a JPEG XL picture";
    if (has(4, "jP  ") || has(0, "\xFF\x4F\xFF\x51")) return "a JPEG 2000 picture";
    if (has(0, "8BPS")) return "a Photoshop picture";
    if (has(0, "\x76\x2F\x31\x01")) return "an OpenEXR picture";
    if (has(0, "\0\0\1\0"sv)) return "an icon";
    if (has(128, "DICM")) return "a DICOM picture";
    if (b.size() > 2 && b[0] == 'P' && b[1] >= '1' && b[1] <= '7' && std::isspace(b[2]))
        return "a PNM picture";
    if (has(0, "%PDF")) return "a PDF document";
    if (b.substr(0, 1024).find("<svg") != std::string_view::npos) return "an SVG picture";
    return "";
}

// The end of an error for a server's answer in place of a picture: a page under any name, or a text
// under the name of a picture.
std::string answerOf(std::string_view b, const std::string& path) {
    const auto start = b.substr(0, 512);
    if (const auto what = core::foreignContent(start); !what.empty()) return what;
    std::string ending = std::filesystem::path(path).extension().string();
    for (auto& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool picture = ending == ".png" || ending == ".jpg" || ending == ".jpeg";
    return picture ? core::textInPlaceOf("picture", start) : "";
}

}  // namespace

Image readImageFile(const std::string& path) {
    return readImageBytes(core::readTextFile(path, kMostFileBytes), path);
}

Image readImageBytes(const std::string& bytes, const std::string& path) {
    const std::string_view b = bytes;
    Decoded decoded;
    const bool png = b.starts_with("\x89PNG\r\n\x1a\n");
    if (!png && !b.starts_with("\xff\xd8\xff")) {
        if (b.empty()) throw FileError(path, "is an empty file");
        if (b.starts_with("version https://git-lfs"))
            throw FileError(path, "is a Git LFS pointer, not the picture; run git lfs pull");
        const auto what = otherFormat(b);
        if (const auto answer = what.empty() ? answerOf(b, path) : ""; !answer.empty())
            throw FileError(path, answer);
        throw FileError(path, what.empty()
                                  ? "is neither PNG nor JPEG; convert it to one of them"
                                  : "is " + what + "; PNG and JPEG are read, convert it to PNG");
    }
    const bool ok = png ? readPng(bytes, decoded) : readJpeg(bytes, decoded);
    if (decoded.large)
        throw FileError(path, "has more than 64 megapixels: " + std::to_string(decoded.width) +
                                  " x " + std::to_string(decoded.height));
    if (!ok)
        throw FileError(path,
                        (png ? "is a damaged PNG: " : "is a damaged or unsupported JPEG: ") +
                            std::string(decoded.message[0] ? decoded.message : "out of memory"));
    return turned(rgbOf(decoded), orientationOf(decoded));
}

}  // namespace relascope::datasets
