// SPDX-License-Identifier: GPL-3.0-or-later
// Documents of JSON files, one record after another, with at most one in memory.
#include <nlohmann/json.hpp>
#include <streambuf>

#include "data/text_files.h"
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

protected:
    int_type underflow() override {
        m_before = position();
        if (m_before - m_recordStart > kLongestRecord)
            throw FileError(path(), "record " + std::to_string(m_record) +
                                        " is longer than 256 MB; one record per line is expected");
        m_piece = m_bytes.next();
        setg(m_piece.data(), m_piece.data(), m_piece.data() + m_piece.size());
        return m_piece.empty() ? traits_type::eof() : traits_type::to_int_type(m_piece[0]);
    }

private:
    TextBytes& m_bytes;
    std::string m_piece;
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
        if (m_type)
            fail("has " + std::string(m_type) + " as '" +
                 (m_field.empty() ? std::string(kUsual[m_rank]) : m_field) +
                 "'; expected a string: set data.text_field");
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
}

}  // namespace relascope::core
