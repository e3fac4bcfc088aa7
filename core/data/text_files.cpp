// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/stat.h>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <streambuf>

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

namespace {

// What a corpus is not, whatever the ending of its name.
void requireCorpus(const std::string& path, std::string_view start) {
    // A corpus of web pages may be meant; a page in place of a text is not.
    const auto ending = formSuffix(path);
    if (!isOneOf(ending, {".html", ".htm", ".xml"}))
        if (const auto what = foreignContent(start.substr(0, 512)); !what.empty())
            throw FileError(path, what);
    requireUtf8Text(path, start);
}

}  // namespace

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

namespace {

// Documents of JSON files, one record after another, with at most one in memory.

using nlohmann::json;

constexpr std::uint64_t kLongestRecord = std::uint64_t{256} << 20;
constexpr const char* kUsual[] = {"text", "story", "content"};

// The input of the JSON reader; tracks the position and the length of the record.
class Feed : public std::streambuf {
public:
    explicit Feed(TextBytes& bytes) : m_bytes(bytes) {}

    std::uint64_t position() const {
        return m_before + static_cast<std::uint64_t>(gptr() - eback());
    }
    void beginRecord() { m_recordStart = position(), ++m_record; }
    std::uint64_t record() const { return m_record; }
    const std::string& path() const { return m_bytes.path(); }
    std::uint64_t halves() const { return m_halves; }
    std::uint64_t firstHalf() const { return m_firstHalf; }

protected:
    int_type underflow() override {
        m_before = position();
        if (m_before - m_recordStart > kLongestRecord)
            throw FileError(path(), "record " + std::to_string(m_record) +
                                        " is longer than 256 MB; one record per line is expected");
        do {
            const auto next = m_bytes.next();
            if (m_before == 0 && m_held.empty()) requireCorpus(path(), next);
            m_held += next;
            m_last = next.empty();
            m_piece = mended();
        } while (m_piece.empty() && !m_last);
        setg(m_piece.data(), m_piece.data(), m_piece.data() + m_piece.size());
        return m_piece.empty() ? traits_type::eof() : traits_type::to_int_type(m_piece[0]);
    }

private:
    // What Python writes and is no JSON: numbers and escapes as long as these take their place. An
    // escape whose end is not there yet is held.
    std::string mended() {
        std::string out;
        out.reserve(m_held.size());
        std::size_t at = 0;
        while (at < m_held.size()) {
            if (m_inside && m_held[at] == '\\') {
                const auto length =
                    escape(std::string_view(m_held).substr(at), m_before + out.size(), out);
                if (length == 0) break;
                at += length;
            } else {
                if (m_held[at] == '"') m_inside = !m_inside;
                out += m_inside ? m_held[at] : plain(m_held[at]);
                ++at;
            }
        }
        m_held.erase(0, at);
        return out;
    }

    // The four digits of an escape "\\uD83D" at the start of `text`; none where it is no such.
    static std::optional<unsigned> unitAt(std::string_view text) {
        unsigned unit = 0;
        if (text.size() < 6 || !text.starts_with("\\u")) return std::nullopt;
        const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
        return error == std::errc() && end == text.data() + 6 ? std::optional(unit) : std::nullopt;
    }

    // Appends the escape at the start of `rest`, which is at byte `position`; 0: more is needed.
    std::size_t escape(std::string_view rest, std::uint64_t position, std::string& out) {
        const auto needs = [&](std::size_t count) { return rest.size() < count && !m_last; };
        if (needs(2)) return 0;
        if (rest.size() < 2 || rest[1] != 'u') {
            out += rest.substr(0, 2);
            return std::min<std::size_t>(2, rest.size());
        }
        if (needs(6)) return 0;
        const auto unit = unitAt(rest);
        if (!unit || *unit < 0xD800 || *unit > 0xDFFF) {
            const auto length = unit ? std::size_t{6} : std::size_t{2};
            out += rest.substr(0, length);
            return length;
        }
        if (*unit < 0xDC00) {
            if (needs(12)) return 0;
            const auto second = unitAt(rest.substr(6));
            if (second && *second >= 0xDC00 && *second <= 0xDFFF) {
                out += rest.substr(0, 12);
                return 12;
            }
        }
        if (m_halves++ == 0) m_firstHalf = position;
        out += "\\uFFFD";
        return 6;
    }

    // NaN and Infinity, outside of strings.
    char plain(char c) {
        static constexpr std::string_view kWords[] = {"NaN", "Infinity"};
        if (m_word.empty())
            for (const auto word : kWords)
                if (c == word[0]) m_word = word;
        if (m_word.empty() || c != m_word[0]) return m_word = {}, m_at = 0, c;
        m_word.remove_prefix(1);
        const char digit = m_at++ == 1 ? '.' : '0';
        if (m_word.empty()) m_at = 0;
        return digit;
    }

    TextBytes& m_bytes;
    std::string m_piece, m_held;
    bool m_inside = false, m_last = false;
    std::uint64_t m_halves = 0, m_firstHalf = 0;
    std::string_view m_word;  ///< what is left of one of these
    int m_at = 0;
    std::uint64_t m_before = 0, m_recordStart = 0, m_record = 1;
};

// Keeps the text of the current record and ignores everything else.
class Records : public nlohmann::json_sax<json> {
public:
    Records(Feed& feed, const std::string& field, const DocumentSink& sink)
        : m_feed(feed), m_field(field), m_sink(sink) {}

    [[noreturn]] void fail(const std::string& why) const {
        throw FileError(m_feed.path(), "record " + std::to_string(m_feed.record()) + " " + why);
    }
    void startAt(std::uint64_t offset) { m_start = offset; }

    bool null() override { return value("null"); }
    bool boolean(bool) override { return value("true or false"); }
    bool number_integer(number_integer_t) override { return value("a number"); }
    bool number_unsigned(number_unsigned_t) override { return value("a number"); }
    bool number_float(number_float_t, const string_t&) override { return value("a number"); }
    bool binary(binary_t&) override { return value("binary data"); }
    bool string(string_t& text) override {
        if (m_depth == recordDepth())
            give(text);
        else if (better())
            m_rank = m_keyRank, m_type = nullptr, m_text = std::move(text);
        return true;
    }
    bool start_object(std::size_t) override {
        if (m_depth == recordDepth())
            m_rank = kNone, m_keys.clear(), m_text.clear();
        else
            value("an object");
        ++m_depth;
        return true;
    }
    bool key(string_t& name) override {
        if (m_depth != recordDepth() + 1) return true;
        m_keyRank = kNone;
        if (!m_field.empty()) {
            if (name == m_field) m_keyRank = 0;
        } else {
            for (int i = 0; i < 3; ++i)
                if (name == kUsual[i]) m_keyRank = i;
        }
        if (m_keys.size() < 5) m_keys.push_back(pieceText(name.substr(0, 40)).text);
        return true;
    }
    bool end_object() override {
        if (--m_depth == recordDepth()) endRecord();
        return true;
    }
    bool start_array(std::size_t) override {
        if (m_depth == 0) {
            m_inArray = true;
        } else {
            value("a list");
        }
        ++m_depth;
        return true;
    }
    bool end_array() override {
        if (--m_depth == 0) m_inArray = false;
        return true;
    }
    bool parse_error(std::size_t position, const std::string&,
                     const json::exception& error) override {
        const bool utf8 = std::string(error.what()).find("UTF-8") != std::string::npos;
        fail(std::string(utf8 ? "is not UTF-8" : "is not JSON") + " at byte " +
             std::to_string(m_start + position) + " of the file");
    }

private:
    static constexpr int kNone = 3;

    int recordDepth() const { return m_inArray ? 1 : 0; }
    bool better() const { return m_depth == recordDepth() + 1 && m_keyRank < m_rank; }
    // Anything except a string: an error as a record, or in place of the text.
    bool value(const char* type) {
        if (m_depth == recordDepth())
            fail(std::string("is ") + type + "; expected a string or an object with a text");
        if (better()) m_rank = m_keyRank, m_type = type;
        return true;
    }
    void endRecord() {
        if (m_rank == kNone) {
            std::string has;
            for (const auto& name : m_keys) has += (has.empty() ? "" : ", ") + name;
            fail("has no " +
                 (m_field.empty() ? std::string("text, story or content") : "'" + m_field + "'") +
                 (has.empty() ? "" : "; it has " + has) + ": set data.text_field");
        }
        if (m_type) {
            const auto name = m_field.empty() ? std::string(kUsual[m_rank]) : m_field;
            const bool null = std::string_view(m_type) == "null";
            fail("has " + std::string(m_type) + " as '" + name + "'; " +
                 (null ? "leave such records out (jq -c 'select(." + name + " != null)'), or"
                       : "expected a string:") +
                 " set data.text_field");
        }
        give(m_text);
    }
    void give(const std::string& text) {
        if (!text.empty()) m_sink.begin(), m_sink.text(text);
        m_feed.beginRecord();
    }

    Feed& m_feed;
    const std::string& m_field;
    const DocumentSink& m_sink;
    std::uint64_t m_start = 0;
    int m_depth = 0;
    bool m_inArray = false;
    int m_keyRank = kNone, m_rank = kNone;
    const char* m_type = nullptr;  // set if the best field is not a string
    std::string m_text;
    std::vector<std::string> m_keys;
};

}  // namespace

void readJsonDocuments(TextBytes& bytes, const std::string& field, const DocumentSink& sink) {
    Feed feed(bytes);
    std::istream stream(&feed);
    Records records(feed, field, sink);
    while (true) {
        int next = feed.sgetc();
        while (next == ' ' || next == '\n' || next == '\r' || next == '\t') next = feed.snextc();
        if (next == std::char_traits<char>::eof()) break;
        records.startAt(feed.position());
        json::sax_parse(stream, &records, json::input_format_t::json, false);
    }
    if (feed.halves() > 0 && sink.halves) sink.halves(feed.firstHalf(), feed.halves());
}

std::string installedText() {
    for (const std::string& path :
         {installedData("jargon.txt.gz"), std::string("/usr/share/doc/jargon-text/jargon.txt.gz"),
          std::string("/usr/share/doc/jargon-text/jargon.txt")}) {
        std::error_code ignored;
        if (std::filesystem::is_regular_file(path, ignored)) return path;
    }
    return "";
}

}  // namespace relascope::core
