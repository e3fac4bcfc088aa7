// SPDX-License-Identifier: GPL-3.0-or-later
// The bytes of text files, and the documents of plain ones.
#include <zlib.h>

#include <algorithm>

#include "data/text_files.h"

namespace relascope::core {
namespace {

constexpr std::size_t kPiece = 1u << 18;

}  // namespace

struct TextBytes::Inflater {
    z_stream stream{};
    std::vector<std::uint8_t> out = std::vector<std::uint8_t>(kPiece);
    bool ended = false;  // of the member that is unpacked; more may follow
    Inflater() {
        if (::inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();
    }
    ~Inflater() { ::inflateEnd(&stream); }
};

TextBytes::TextBytes(std::shared_ptr<const ByteSource> source, std::stop_token stop)
    : m_source(std::move(source)), m_stop(std::move(stop)) {
    std::uint8_t magic[2] = {};
    if (m_source->size() < 2) return;
    m_source->read(0, magic, m_stop);
    if (magic[0] == 0x1f && magic[1] == 0x8b) m_inflater = std::make_unique<Inflater>();
}
TextBytes::~TextBytes() = default;

std::string_view TextBytes::next() {
    if (m_stop.stop_requested()) throw Cancelled();
    return m_inflater ? inflatePiece() : readPiece();
}

std::string_view TextBytes::readPiece() {
    m_piece.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, m_source->size() - m_at)));
    if (m_piece.empty()) return {};
    m_source->read(m_at, m_piece, m_stop);
    m_at += m_piece.size();
    return {reinterpret_cast<const char*>(m_piece.data()), m_piece.size()};
}

std::string_view TextBytes::inflatePiece() {
    auto& z = m_inflater->stream;
    z.next_out = m_inflater->out.data();
    z.avail_out = static_cast<uInt>(m_inflater->out.size());
    while (z.avail_out == m_inflater->out.size()) {
        if (z.avail_in == 0) {
            const auto piece = readPiece();
            z.next_in = m_piece.data();
            z.avail_in = static_cast<uInt>(piece.size());
            if (piece.empty() && !m_inflater->ended)
                throw FileError(path(), "is truncated: its gzip data end at byte " +
                                            std::to_string(m_at) + "; download it again");
            if (piece.empty()) return {};
        }
        if (m_inflater->ended) {
            // Concatenated gzip files, or zero padding at the end.
            if (*z.next_in == 0) {
                ++z.next_in, --z.avail_in;
                continue;
            }
            ::inflateReset(&z);
            m_inflater->ended = false;
        }
        const int result = ::inflate(&z, Z_NO_FLUSH);
        if (result == Z_STREAM_END)
            m_inflater->ended = true;
        else if (result != Z_OK && result != Z_BUF_ERROR)
            throw FileError(path(), "has damaged gzip data before byte " +
                                        std::to_string(m_at - z.avail_in) + "; download it again");
    }
    return {reinterpret_cast<const char*>(m_inflater->out.data()),
            m_inflater->out.size() - z.avail_out};
}

void readDocuments(TextBytes& bytes, TextForm form, const std::string& field,
                   const DocumentSink& sink) {
    if (form == TextForm::Json) return readJsonDocuments(bytes, field, sink);
    constexpr std::string_view mark = "<|endoftext|>";
    std::string held;
    bool begun = false, first = true;
    const auto give = [&](std::string_view text) {
        if (text.empty()) return;
        if (!begun) sink.begin();
        begun = true;
        sink.text(text);
    };
    for (std::string_view piece; !(piece = bytes.next()).empty();) {
        held += piece;
        if (first && held.size() >= 4) {
            if (held.starts_with("\xFF\xFE") || held.starts_with("\xFE\xFF"))
                throw FileError(bytes.path(),
                                "is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)");
            if (held.starts_with("\xEF\xBB\xBF")) held.erase(0, 3);
            first = false;
        }
        std::string_view rest = held;
        for (std::size_t at; (at = rest.find(mark)) != std::string_view::npos; begun = false) {
            give(rest.substr(0, at));
            rest.remove_prefix(at + mark.size());
        }
        // The piece may end with the beginning of a mark.
        const std::size_t sure = rest.size() - std::min(rest.size(), mark.size() - 1);
        give(rest.substr(0, sure));
        held = std::string(rest.substr(sure));
    }
    give(held);
}

}  // namespace relascope::core
