// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/plain_output.h"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <streambuf>
#include <string>
#include <vector>

#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

// Writes its input at once, as the streams of C do the buffering.
class PlainBuffer : public std::streambuf {
public:
    explicit PlainBuffer(std::FILE* file) : m_file(file) {}

protected:
    std::streamsize xsputn(const char* text, std::streamsize count) override {
        // An incomplete character is kept until the rest of it arrives.
        std::string all = m_half + std::string(text, static_cast<std::size_t>(count));
        m_half = all.substr(all.size() - halfControl(all));
        all.resize(all.size() - m_half.size());
        const auto plain = withoutControls(all);
        return std::fwrite(plain.data(), 1, plain.size(), m_file) == plain.size() ? count : 0;
    }
    int overflow(int c) override {
        if (c == EOF) return 0;
        const char one = static_cast<char>(c);
        return xsputn(&one, 1) == 1 ? c : EOF;
    }
    int sync() override { return std::fflush(m_file) == 0 ? 0 : -1; }

private:
    std::FILE* m_file;
    std::string m_half;
};

PlainBuffer out(stdout), err(stderr);
std::streambuf *usualOut = nullptr, *usualErr = nullptr;

}  // namespace

PlainOutput::PlainOutput() {
    usualOut = std::cout.rdbuf(&out);
    usualErr = std::cerr.rdbuf(&err);
}

PlainOutput::~PlainOutput() {
    std::cout.rdbuf(usualOut);
    std::cerr.rdbuf(usualErr);
}

void print(const char* format, ...) {
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    const int length = std::vsnprintf(nullptr, 0, format, values);
    va_end(values);
    std::vector<char> text(static_cast<std::size_t>(std::max(length, 0)) + 1);
    std::vsnprintf(text.data(), text.size(), format, again);
    va_end(again);
    std::cout.write(text.data(), static_cast<std::streamsize>(text.size()) - 1);
}

void writeText(std::string_view bytes) {
    static const bool terminal = ::isatty(STDOUT_FILENO) != 0;
    const bool written =
        terminal ? std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).good()
                 : std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
    if (!written || std::fflush(stdout) != 0)
        throw FileError("standard output",
                        "cannot be written: " + std::string(std::strerror(errno)));
}

}  // namespace relascope::cli
