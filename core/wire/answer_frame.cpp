// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/answer_frame.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <string>

#include "wire/types.h"

namespace relascope {

inline void from_json(const wire::Json& json, ColumnKind& kind) {
    kind = wire::enumOf(json, ColumnKind::Text);
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NumberFormat, digits, percent, isSigned, bar)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MapLink, kind, layer, index, i, j)

namespace wire {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int kMostDigits = 17, kLargestPicture = 1 << 16;
constexpr double kMostWhole = 9007199254740992.0;  // 2^53

template <class T>
void append(Bytes& blob, const std::vector<T>& values) {
    const auto at = blob.size();
    blob.resize(at + values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(blob.data() + at, values.data(), values.size() * sizeof(T));
}

/// Reads a blob from its begin, and never beyond its end.
class BlobReader {
public:
    explicit BlobReader(std::span<const std::uint8_t> bytes) : m_bytes(bytes) {}

    std::span<const std::uint8_t> bytes(std::size_t count, std::size_t each) {
        if (count > (m_bytes.size() - m_at) / each)
            throw FrameError("the blob of an answer ends before its values");
        const auto found = m_bytes.subspan(m_at, count * each);
        m_at += count * each;
        return found;
    }
    template <class T>
    std::vector<T> values(std::size_t count) {
        const auto found = bytes(count, sizeof(T));
        std::vector<T> read(count);
        if (count > 0) std::memcpy(read.data(), found.data(), found.size());
        return read;
    }
    /// Accounts for memory besides the memory of the values.
    void take(std::size_t count, std::size_t each) {
        if (count > (kMostTaken - m_taken) / each)
            throw FrameError("the texts of an answer take more than " +
                             std::to_string(kMostTaken >> 20) + " MiB");
        m_taken += count * each;
    }
    bool atEnd() const { return m_at == m_bytes.size(); }

private:
    static constexpr std::size_t kMostTaken = std::size_t{1} << 30;  // bytes
    std::span<const std::uint8_t> m_bytes;
    std::size_t m_at = 0, m_taken = 0;
};

Json columnToJson(const Column& column, Bytes& blob) {
    if (column.kind == ColumnKind::Text) {
        std::vector<std::uint32_t> sizes;
        for (const auto& text : column.texts) {
            if (text.size() > std::numeric_limits<std::uint32_t>::max())
                throw FrameError("a text of the column '" + column.key + "' is too long");
            sizes.push_back(static_cast<std::uint32_t>(text.size()));
        }
        append(blob, sizes);
        for (const auto& text : column.texts) blob.insert(blob.end(), text.begin(), text.end());
    } else {
        append(blob, column.numbers);
    }
    return {{"key", column.key},   {"title", column.title},   {"help", column.help},
            {"kind", column.kind}, {"format", column.format}, {"into", column.into},
            {"low", column.low},   {"high", column.high}};
}

Column columnFromJson(const Json& json, std::size_t rows, BlobReader& blob) {
    Column column;
    json.at("key").get_to(column.key);
    json.at("title").get_to(column.title);
    json.at("help").get_to(column.help);
    json.at("kind").get_to(column.kind);
    json.at("format").get_to(column.format);
    json.at("into").get_to(column.into);
    json.at("low").get_to(column.low);
    json.at("high").get_to(column.high);
    const auto refuse = [&](const std::string& why) {
        throw FrameError("the column '" + column.key + "' " + why);
    };
    if (column.format.digits < 0 || column.format.digits > kMostDigits)
        refuse("has a format of " + std::to_string(column.format.digits) + " digits");
    if (!column.into.empty() && column.kind != ColumnKind::Integer)
        refuse("points into a table without being whole numbers");
    if (column.kind == ColumnKind::Text) {
        const auto sizes = blob.values<std::uint32_t>(rows);
        blob.take(rows, sizeof(std::string));
        for (const auto size : sizes) {
            const auto bytes = blob.bytes(size, 1);
            column.texts.emplace_back(bytes.begin(), bytes.end());
        }
        return column;
    }
    column.numbers = blob.values<double>(rows);
    for (const double value : column.numbers) {
        if (column.kind == ColumnKind::Flag && value != 0.0 && value != 1.0)
            refuse("has a flag that is neither 0 nor 1");
        if (column.kind == ColumnKind::Integer && !std::isnan(value) &&
            (std::abs(value) > kMostWhole || value != std::trunc(value)))
            refuse("has a number that is not whole");
    }
    return column;
}

Json mapsToJson(const std::vector<RelationMap>& maps, Bytes& blob) {
    Json all = Json::array();
    for (const auto& map : maps) {
        all.push_back({map.kind, map.layer, map.index, map.rows, map.columns, map.causal,
                       map.libraryRows, map.fitted});
        append(blob, map.all());
    }
    return all;
}

std::vector<RelationMap> mapsFromJson(const Json& json, BlobReader& blob) {
    std::vector<RelationMap> maps;
    for (const auto& one : json) {
        RelationMap map{one.at(0).get<MapKind>(), one.at(1), one.at(2), one.at(3), one.at(4)};
        one.at(5).get_to(map.causal);
        one.at(6).get_to(map.libraryRows);
        if (one.size() > 7) one.at(7).get_to(map.fitted);  // not in files before 0.8
        if (map.rows < 0 || map.columns < 0)
            throw FrameError("a map of an answer has " + std::to_string(map.rows) + " x " +
                             std::to_string(map.columns) + " cells");
        map.values = blob.values<float>(map.cells());
        maps.push_back(std::move(map));
    }
    return maps;
}

void checkIndices(const Answer& answer) {
    for (const auto& table : answer.tables)
        for (const auto& column : table.columns) {
            if (column.into.empty()) continue;
            const auto* target = answer.find(column.into);
            if (!target && !column.holdsPictures())
                throw FrameError("the column '" + column.key + "' points into the table '" +
                                 column.into + "', which is not there");
            const auto count = column.holdsPictures() ? answer.pictures.size() : target->rows();
            for (const double value : column.numbers)
                if (!std::isnan(value) && (value < 0.0 || value >= static_cast<double>(count)))
                    throw FrameError("the column '" + column.key + "' points at row " +
                                     std::to_string(static_cast<std::int64_t>(value)) + " of '" +
                                     column.into + "', which has " + std::to_string(count));
        }
}

/// The words and keys of today in an answer that an older program has stored.
void renewWords(Answer& answer) {
    for (auto& table : answer.tables)
        for (auto& column : table.columns) {
            if (table.key.empty() && column.key == "says") column.key = "summary";
            if (column.key != "use") continue;
            for (auto& text : column.texts)
                if (text == "listened to")
                    text = "misleading";
                else if (text == "in the way")
                    text = "harmful";
        }
}

}  // namespace

Json answerToJson(const Answer& answer, Bytes& blob) {
    const auto begin = blob.size();
    Json tables = Json::array();
    for (const auto& table : answer.tables) {
        Json columns = Json::array();
        for (const auto& column : table.columns) {
            if (column.size() != table.rows())
                throw FrameError("the column '" + column.key +
                                 "' has another length than its table");
            columns.push_back(columnToJson(column, blob));
        }
        std::vector<std::int32_t> links;
        for (const auto& link : table.links)
            links.insert(links.end(), {static_cast<std::int32_t>(link.kind), link.layer, link.index,
                                       link.i, link.j});
        append(blob, links);
        tables.push_back({{"key", table.key},
                          {"title", table.title},
                          {"rows", table.rows()},
                          {"columns", std::move(columns)},
                          {"links", table.links.size()}});
    }
    Json maps = mapsToJson(answer.maps, blob);
    Json pictures = Json::array();
    for (const auto& picture : answer.pictures) {
        pictures.push_back({picture.width, picture.height, picture.channels});
        append(blob, picture.pixels);
    }
    return {{"tables", std::move(tables)},
            {"complete", answer.complete},
            {"maps", std::move(maps)},
            {"pictures", std::move(pictures)},
            {"begin", begin},
            {"size", blob.size() - begin}};
}

Answer answerFromJson(const Json& json, std::span<const std::uint8_t> blob) try {
    const auto begin = json.at("begin").get<std::size_t>(),
               size = json.at("size").get<std::size_t>();
    if (begin > blob.size() || size > blob.size() - begin)
        throw FrameError("the values of an answer are not in its blob");
    BlobReader values(blob.subspan(begin, size));
    Answer answer;
    json.at("complete").get_to(answer.complete);
    std::set<std::string> tables;
    for (const auto& one : json.at("tables")) {
        Table table{one.at("key").get<std::string>(), one.at("title").get<std::string>()};
        const auto rows = one.at("rows").get<std::size_t>();
        for (const auto& column : one.at("columns"))
            table.columns.push_back(columnFromJson(column, rows, values));
        const auto links = one.at("links").get<std::size_t>();
        std::set<std::string> keys;
        for (const auto& column : table.columns)
            if (!keys.insert(column.key).second)
                throw FrameError("the table '" + table.key + "' has the column '" + column.key +
                                 "' twice");
        if (!tables.insert(table.key).second)
            throw FrameError("an answer has the table '" + table.key + "' twice");
        if (table.rows() != rows || (links != 0 && links != rows))
            throw FrameError("the table '" + table.key + "' has not the rows that it names");
        constexpr std::size_t numbers = 5;
        for (std::size_t k = 0; k < links; ++k) {
            const auto link = values.values<std::int32_t>(numbers);
            table.links.push_back(
                {enumOf(Json(link[0]), MapKind::Symbols), link[1], link[2], link[3], link[4]});
        }
        answer.tables.push_back(std::move(table));
    }
    answer.maps = mapsFromJson(json.at("maps"), values);
    for (const auto& one : json.at("pictures")) {
        Image picture{one.at(0), one.at(1), one.at(2)};
        if (std::min({picture.width, picture.height, picture.channels}) < 0 ||
            std::max(picture.width, picture.height) > kLargestPicture || picture.channels > 4)
            throw FrameError("a picture of an answer has no such size");
        picture.pixels = values.values<std::uint8_t>(static_cast<std::size_t>(picture.width) *
                                                     static_cast<std::size_t>(picture.height) *
                                                     static_cast<std::size_t>(picture.channels));
        answer.pictures.push_back(std::move(picture));
    }
    if (!values.atEnd()) throw FrameError("the values of an answer are followed by others");
    renewWords(answer);
    checkIndices(answer);
    return answer;
} catch (const nlohmann::json::exception& error) {
    throw FrameError(std::string("an answer is not as agreed on: ") + error.what());
}

}  // namespace wire
}  // namespace relascope
