// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/stat.h>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "data/text.h"
#include "data/text_files.h"
#include "files/foreign_file.h"
#include "files/program_folder.h"
#include "files/sha256.h"
#include "types/lower_case.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;

bool isOneOf(const std::string& word, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// "x.JSON.gz" -> ".json"
std::string formSuffix(const fs::path& path) {
    const std::string suffix = lowerCase(path.extension().string());
    return suffix == ".gz" ? formSuffix(path.stem()) : suffix;
}

bool isShard(const fs::path& path) {
    return isOneOf(lowerCase(path.extension().string()), {".bin", ".npy"});
}
bool isText(const fs::path& path) {
    return isOneOf(formSuffix(path), {".txt", ".text", ".md", ".json", ".jsonl", ".ndjson"}) &&
           !isOneOf(path.filename().string(),
                    {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
                     "added_tokens.json", "vocab.json", "vocab.txt", "merges.txt", "config.json",
                     "generation_config.json", "dataset_info.json", "dataset_infos.json"});
}

TextFile describe(const fs::path& path) {
    TextFile file;
    file.path = path.string();
    struct stat status {};
    if (::stat(file.path.c_str(), &status) != 0)
        throw FileError(file.path, "cannot be opened: " + std::string(std::strerror(errno)));
    if (!S_ISREG(status.st_mode)) throw FileError(file.path, "is not a file");
    // The settings of a run, which name it, are UTF-8.
    if (!isUtf8(file.path)) throw FileError(file.path, "has a name that is not UTF-8; rename it");
    file.form = isShard(path)                                               ? TextForm::Shard
                : isOneOf(formSuffix(path), {".json", ".jsonl", ".ndjson"}) ? TextForm::Json
                                                                            : TextForm::Plain;
    if (!isShard(path) && isOneOf(formSuffix(path), {".bin", ".npy"}))
        throw FileError(file.path, "is a packed shard of tokens; unpack it first (gunzip)");
    if (isOneOf(formSuffix(path), {".zip", ".tar", ".xz", ".bz2", ".zst", ".parquet", ".arrow",
                                   ".pdf", ".pt", ".safetensors", ".docx", ".odt", ".epub"}))
        throw FileError(file.path, "is not a text file (" + formSuffix(path) +
                                       "); unpack it to .txt, .jsonl or .gz first");
    file.bytes = static_cast<std::uint64_t>(status.st_size);
    file.modified =
        static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
    return file;
}

}  // namespace

std::vector<TextFile> listTextFiles(const std::string& path, std::string* leftOut) {
    std::error_code error;
    if (!fs::exists(path, error))
        throw FileError(
            path,
            "does not exist; give a text file, a folder of text files, JSON lines or token shards");
    if (!fs::is_directory(path, error)) return {describe(path)};
    std::vector<fs::path> all;
    std::map<std::string, int> others;  // by what they are
    std::set<fs::path> seen{fs::canonical(path, error)};
    fs::recursive_directory_iterator at(path, fs::directory_options::follow_directory_symlink,
                                        error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        std::error_code ignored;
        const bool isFolder = fs::is_directory(at->path(), ignored);
        const bool hidden = at->path().filename().string().starts_with('.');
        if (hidden) ++others["hidden"];
        // Links may lead to a folder that was read already, or to one that holds them.
        if (isFolder && (hidden || !seen.insert(fs::canonical(at->path(), ignored)).second))
            at.disable_recursion_pending();
        else if (!hidden && fs::is_regular_file(at->path(), ignored))
            all.push_back(at->path());
    }
    if (error) throw FileError(path, "cannot be read: " + error.message());
    std::sort(all.begin(), all.end());
    for (const auto& wanted : {isShard, isText})
        if (std::any_of(all.begin(), all.end(), wanted)) {
            std::erase_if(all, [&](const fs::path& file) {
                if (wanted(file)) return false;
                const auto suffix = formSuffix(file);
                ++others[suffix.empty() ? "without an ending" : suffix];
                return true;
            });
            break;
        }
    if (leftOut && !others.empty()) {
        std::vector<std::string> counts;
        for (const auto& [what, count] : others)
            counts.push_back(std::to_string(count) + " " + what);
        *leftOut = std::to_string(all.size()) + (all.size() == 1 ? " file is" : " files are") +
                   " read; left out: " + joined(counts);
    }
    if (all.empty())
        throw FileError(path,
                        "contains no supported files: .txt, .md, .json and .jsonl (also .gz), and "
                        "token shards .bin and .npy");
    std::vector<TextFile> files;
    for (const auto& file : all) files.push_back(describe(file));
    return files;
}

std::string signatureOf(const std::vector<TextFile>& files) {
    Sha256 hash;
    hash.addField("relascope files 1");
    for (const auto& file : files) {
        std::error_code error;
        const auto whole = fs::canonical(file.path, error);
        hash.addField(error ? file.path : whole.string());
        hash.addField(std::to_string(file.bytes));
        hash.addField(std::to_string(file.modified));
    }
    return hash.hex();
}

namespace {

// The bytes of text files, and the documents of plain ones.

constexpr std::size_t kPiece = 1u << 18;

}  // namespace

struct TextBytes::Inflater {
    z_stream stream{};
    std::vector<std::uint8_t> out = std::vector<std::uint8_t>(kPiece);
    bool ended = false;  // the member that is unpacked has ended; more may follow
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

namespace {

// The byte order of UTF-16 in which nearly all of a text, which is no UTF-8, is Chinese, Japanese
// or Cyrillic with spaces and marks; nullptr where it is not. There are no zeros to tell by. The
// first bytes of Shift JIS, GBK and Big5 are all above 0x80, those of UTF-16 are not.
const char* wideOrder(std::string_view start) {
    if (start.size() < 64) return nullptr;
    std::string_view rest = start;
    for (std::size_t length; (length = utf8Length(rest)) > 0;) rest.remove_prefix(length);
    if (rest.size() < 4) return nullptr;  // UTF-8; its last character may be cut
    for (const bool little : {true, false}) {
        std::size_t fit = 0, low = 0;
        const std::size_t all = start.size() / 2;
        for (std::size_t i = 0; i < all; ++i) {
            const auto a = static_cast<unsigned char>(start[2 * i]),
                       b = static_cast<unsigned char>(start[2 * i + 1]);
            const int unit = little ? b << 8 | a : a << 8 | b;
            const bool ascii = unit == '\n' || unit == '\r' || (unit >= 32 && unit < 127);
            const bool written = ascii || (unit >= 0x0400 && unit < 0x0500) ||
                                 (unit >= 0x2010 && unit < 0x2030) ||
                                 (unit >= 0x3000 && unit < 0x3100) ||
                                 (unit >= 0x4E00 && unit < 0xA000) || unit >= 0xFF00;
            fit += written;
            low += written && unit < 0x8000;
        }
        if (fit * 20 >= all * 19 && low * 3 >= all) return little ? "UTF-16LE" : "UTF-16BE";
    }
    return nullptr;
}

// Counts the bytes that are no part of a character, in a text that is given in pieces.
class InvalidBytes {
public:
    void add(std::string_view piece) {
        m_held += piece;
        m_held.erase(0, check(false));
    }
    void finish() { m_held.erase(0, check(true)); }
    std::uint64_t first() const { return m_first; }
    std::uint64_t count() const { return m_count; }

private:
    // The number of bytes that are decided; at most three are the beginning of a character.
    std::size_t check(bool last) {
        std::string_view rest = m_held;
        while (!rest.empty()) {
            auto length = utf8Length(rest);
            if (length == 0) {
                if (!last && rest.size() < 4) break;
                if (m_count++ == 0) m_first = m_at;
                length = 1;
            }
            rest.remove_prefix(length);
            m_at += length;
        }
        return m_held.size() - rest.size();
    }

    std::string m_held;
    std::uint64_t m_at = 0, m_first = 0, m_count = 0;
};

}  // namespace

void requireUtf8Text(const std::string& path, std::string_view start) {
    const bool wide = start.starts_with(std::string_view("\xFF\xFE\0\0", 4)) ||
                      start.starts_with(std::string_view("\0\0\xFE\xFF", 4));
    if (wide || start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
        const std::string name = wide ? "UTF-32" : "UTF-16";
        throw FileError(path, "is " + name + "; save it as UTF-8 (iconv -f " + name + " -t UTF-8)");
    }
    if (start.starts_with("PK\x03\x04"))
        throw FileError(path, "is an archive or a document of an office program; save it as text");
    std::array<std::ptrdiff_t, 2> zeros{};
    std::ptrdiff_t controls = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
        const auto byte = static_cast<unsigned char>(start[i]);
        zeros[i % 2] += byte == 0;
        controls += byte < 32 && !std::isspace(byte) && byte != 8 && byte != 27;
    }
    const auto all = zeros[0] + zeros[1];
    const std::string first = " of its first " + std::to_string(start.size()) + " bytes are ";
    if (start.size() >= 16 && all * 10 > std::ssize(start))
        throw FileError(path, "is no text: " + std::to_string(all) + first +
                                  "0; of UTF-16 without a mark make UTF-8 (iconv -f UTF-16" +
                                  (zeros[0] > zeros[1] ? "BE" : "LE") +
                                  " -t UTF-8), of token ids a .bin or .npy file");
    if (const char* order = wideOrder(start.substr(0, 4096)))
        throw FileError(path, std::string("is UTF-16 without a mark; save it as UTF-8 (iconv -f ") +
                                  order + " -t UTF-8)");
    if (start.size() >= 64 && controls * 20 > std::ssize(start))
        throw FileError(path, "is no text: " + std::to_string(controls) + first +
                                  "control characters; give text, JSON lines or token shards");
}

void requireCorpus(const std::string& path, std::string_view start) {
    // A corpus of web pages may be meant; a page in place of a text is not.
    const auto ending = formSuffix(path);
    if (!isOneOf(ending, {".html", ".htm", ".xml"}))
        if (const auto what = foreignContent(start.substr(0, 512)); !what.empty())
            throw FileError(path, what);
    requireUtf8Text(path, start);
}

void readDocuments(TextBytes& bytes, TextForm form, const std::string& field,
                   const DocumentSink& sink) {
    if (form == TextForm::Json) return readJsonDocuments(bytes, field, sink);
    constexpr std::string_view mark = "<|endoftext|>";
    std::string held;
    InvalidBytes invalid;
    bool begun = false, first = true;
    const auto give = [&](std::string_view text) {
        if (text.empty()) return;
        if (!begun) sink.begin();
        begun = true;
        sink.text(text);
    };
    for (std::string_view piece; !(piece = bytes.next()).empty();) {
        held += piece;
        invalid.add(piece);
        if (first && held.size() >= 4) {
            requireCorpus(bytes.path(), held);
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
    invalid.finish();
    if (invalid.count() > 0 && sink.invalid) sink.invalid(invalid.first(), invalid.count());
}

std::string installedText() {
    for (const std::string& path :
         {installedData("jargon.txt.gz"), std::string("/usr/share/doc/jargon-text/jargon.txt.gz"),
          std::string("/usr/share/doc/jargon-text/jargon.txt"),
          installedData("jargon-extract.txt.gz")}) {
        std::error_code ignored;
        if (std::filesystem::is_regular_file(path, ignored)) return path;
    }
    return "";
}

}  // namespace relascope::core
