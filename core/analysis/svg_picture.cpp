// SPDX-License-Identifier: GPL-3.0-or-later
#include <zlib.h>

#include "analysis/svg_picture.h"

namespace relascope::core {
namespace {

std::string base64(std::string_view bytes) {
    static constexpr char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t k = 0; k < bytes.size(); k += 3) {
        std::uint32_t three = 0;
        for (std::size_t b = 0; b < 3; ++b)
            three =
                three << 8 | (k + b < bytes.size() ? static_cast<unsigned char>(bytes[k + b]) : 0U);
        for (std::size_t d = 0; d < 4; ++d)
            out += k + d <= bytes.size() ? digits[three >> (18 - 6 * d) & 63U] : '=';
    }
    return out;
}

/// An image as a PNG file (W3C, Portable Network Graphics).
std::string pngOf(const Image& image) {
    const auto number = [](std::uint32_t n) {
        return std::string{static_cast<char>(n >> 24), static_cast<char>(n >> 16),
                           static_cast<char>(n >> 8), static_cast<char>(n)};
    };
    const auto chunk = [&](const std::string& name, const std::string& content) {
        const auto body = name + content;
        const auto sum =
            crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
        return number(static_cast<std::uint32_t>(content.size())) + body +
               number(static_cast<std::uint32_t>(sum));
    };
    std::string rows;
    const auto width = static_cast<std::size_t>(image.width * image.channels);
    for (int y = 0; y < image.height; ++y) {
        rows += '\0';  // no filter
        rows.append(reinterpret_cast<const char*>(image.pixels.data()) +
                        static_cast<std::size_t>(y) * width,
                    width);
    }
    uLongf size = compressBound(static_cast<uLong>(rows.size()));
    std::string packed(size, '\0');
    compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
              reinterpret_cast<const Bytef*>(rows.data()), static_cast<uLong>(rows.size()), 9);
    packed.resize(size);
    const std::string form{8, static_cast<char>(image.channels == 1 ? 0 : 2), 0, 0, 0};
    return "\x89PNG\r\n\x1a\n" +
           chunk("IHDR", number(static_cast<std::uint32_t>(image.width)) +
                             number(static_cast<std::uint32_t>(image.height)) + form) +
           chunk("IDAT", packed) + chunk("IEND", "");
}

const char* const kColours =
    ".z{fill:#9a9a9a}.t{fill:#1b1b1b}.m{fill:#6b6b6b}.g{stroke:#d9d9d9}.a{fill:#7a4fb5}.b{fill:#"
    "c9b6e4}"
    ".u{fill:#c9b6e4}.d{fill:#7a4fb5}.l{stroke:#1b1b1b}.i,.j{fill:none;stroke:#e2554f;stroke-width:"
    "2}.j{stroke-dasharray:3 3}"
    ".s0{stroke:#7a4fb5}text.s0{fill:#7a4fb5;stroke:none}.s1{stroke:#b35900}text.s1{fill:#b35900;"
    "stroke:none}.s2{stroke:#00736b}text.s2{fill:#00736b;stroke:none}"
    ".s3{stroke:#c2185b}text.s3{fill:#c2185b;stroke:none}.s4{stroke:#1f6fb5}text.s4{fill:#1f6fb5;"
    "stroke:none}.s5{stroke:#6b7300}text.s5{fill:#6b7300;stroke:none}"
    ".q{stroke:#6b6b6b;fill:none;stroke-dasharray:4 3}"
    "@media(prefers-color-scheme:dark){.t{fill:#e8e8e8}.m{fill:#a0a0a0}.g{stroke:#444}"
    ".a{fill:#b48cf2}.b{fill:#5c4a7d}.u{fill:#5c4a7d}.d{fill:#b48cf2}.l{stroke:#e8e8e8}"
    ".s0{stroke:#b48cf2}text.s0{fill:#b48cf2;stroke:none}.s1{stroke:#f2a65a}text.s1{fill:#f2a65a;"
    "stroke:none}.s2{stroke:#4fc4b8}text.s2{fill:#4fc4b8;stroke:none}"
    ".s3{stroke:#f27aa8}text.s3{fill:#f27aa8;stroke:none}.s4{stroke:#7ab8f2}text.s4{fill:#7ab8f2;"
    "stroke:none}.s5{stroke:#c4cc4f}text.s5{fill:#c4cc4f;stroke:none}"
    ".q{stroke:#a0a0a0}}";

}  // namespace

std::string escapedXml(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

void SvgPicture::picture(double x, double y, double size, const Image& image) {
    m_body += "<image x=\"" + fixedField(x, 1) + "\" y=\"" + fixedField(y, 1) + "\" width=\"" +
              fixedField(size * image.width / std::max(1, image.height), 1) + "\" height=\"" +
              fixedField(size, 1) +
              "\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64," +
              base64(pngOf(image)) + "\"/>\n";
    m_height = std::max(m_height, y + size + 8);
}

std::string SvgPicture::file() const {
    const auto height = fixedField(m_height, 0);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + fixedField(kWidth, 0) +
           " " + height + "\" width=\"" + fixedField(kWidth, 0) + "\" height=\"" + height +
           "\" font-family=\"system-ui, sans-serif\" role=\"img\"><title>" + escapedXml(m_title) +
           "</title><style>" + kColours + "</style>\n" + m_body + "</svg>\n";
}

}  // namespace relascope::core
