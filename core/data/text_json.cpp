// SPDX-License-Identifier: GPL-3.0-or-later
// Documents of JSON files, one record after another, with at most one in memory.
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <streambuf>

#include "data/text_files.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

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
    // The held text with Python's deviations from JSON replaced by numbers and escapes of equal
    // length. An escape whose end is not there yet is held.
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
    std::string_view m_word;  ///< the rest of one of these words
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

}  // namespace relascope::core
