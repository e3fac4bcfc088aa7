// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/packed.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace relascope::wire {
namespace {

static_assert(std::endian::native == std::endian::little);

using Column = std::vector<const Json*>;

enum Kind { Flags, Integers, Naturals, Numbers, Texts, ByteStrings, List, Record, Map };
constexpr std::size_t kKinds = Map + 1;
constexpr std::array<const char*, kKinds> kNames = {
    "flags", "integers", "naturals", "numbers", "texts", "bytes", "list", "record", "map"};
constexpr std::uint8_t kNull = 2;
/// Of a member of a record, beside its name: a node of a tree.
constexpr std::size_t kMemberBytes = 96, kRecordBytes = 64, kListBytes = 40;

template <class T>
void put(Bytes& blob, T value) {
    const auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(value);
    blob.insert(blob.end(), bytes.begin(), bytes.end());
}

Kind kindOf(const Json& value) {
    using Type = Json::value_t;
    switch (value.type()) {
        case Type::number_integer:
            return Integers;
        case Type::number_unsigned:
            return std::in_range<std::int64_t>(value.get<std::uint64_t>()) ? Integers : Naturals;
        case Type::number_float:
            return Numbers;
        case Type::string:
            return Texts;
        case Type::binary:
            return ByteStrings;
        case Type::array:
            return List;
        case Type::object:
            return value.empty() ? Map : Record;
        default:
            return Flags;
    }
}

bool sameMembers(const Json& a, const Json& b) {
    return a.size() == b.size() &&
           std::equal(a.items().begin(), a.items().end(), b.items().begin(),
                      [](const auto& x, const auto& y) { return x.key() == y.key(); });
}

Json packColumn(const Column& values, Bytes& blob);

Json packLists(const Column& lists, Bytes& blob) {
    Column items;
    for (const auto* list : lists) {
        put(blob, static_cast<std::uint32_t>(list->size()));
        for (const auto& item : *list) items.push_back(&item);
    }
    return packColumn(items, blob);
}

template <class Text>
void packTexts(const Column& values, Bytes& blob) {
    for (const auto* value : values)
        put(blob, static_cast<std::uint32_t>(value->get_ref<const Text&>().size()));
    for (const auto* value : values) {
        const auto& text = value->get_ref<const Text&>();
        blob.insert(blob.end(), text.begin(), text.end());
    }
}

// Values of one kind.
Json packKind(Kind kind, const Column& values, Bytes& blob) {
    switch (kind) {
        case Flags:
            for (const auto* value : values)
                blob.push_back(value->is_boolean() ? value->get<bool>() : kNull);
            break;
        case Integers:
            for (const auto* value : values) put(blob, value->get<std::int64_t>());
            break;
        case Naturals:
            for (const auto* value : values) put(blob, value->get<std::uint64_t>());
            break;
        case Numbers:
            for (const auto* value : values) put(blob, value->get<double>());
            break;
        case Texts:
            packTexts<std::string>(values, blob);
            break;
        case ByteStrings:
            packTexts<Json::binary_t>(values, blob);
            break;
        case List:
            return {{kNames[kind], packLists(values, blob)}};
        case Record: {
            Json members = Json::object();
            for (const auto& [name, first] : values.front()->items()) {
                Column column;
                for (const auto* value : values) column.push_back(&value->at(name));
                members[name] = packColumn(column, blob);
            }
            return {{kNames[kind], std::move(members)}};
        }
        case Map: {
            std::vector<Json> lists;
            Column column;
            for (const auto* value : values) {
                auto& list = lists.emplace_back(Json::array());
                for (const auto& [name, member] : value->items())
                    list.push_back(Json::array({name, member}));
            }
            for (const auto& list : lists) column.push_back(&list);
            return {{kNames[kind], packLists(column, blob)}};
        }
    }
    return kNames[kind];
}

Json packColumn(const Column& values, Bytes& blob) {
    std::array<Column, kKinds> byKind;
    Bytes kinds;
    for (const auto* value : values) {
        kinds.push_back(static_cast<std::uint8_t>(kindOf(*value)));
        byKind[kinds.back()].push_back(value);
    }
    // Records of different members are maps, and so are those beside them.
    const auto& records = byKind[Record];
    if (!records.empty() &&
        (!byKind[Map].empty() || !std::all_of(records.begin(), records.end(), [&](const auto* r) {
            return sameMembers(*r, *records.front());
        }))) {
        std::replace(kinds.begin(), kinds.end(), std::uint8_t{Record}, std::uint8_t{Map});
        byKind[Record].clear(), byKind[Map].clear();
        for (std::size_t i = 0; i < values.size(); ++i)
            if (kinds[i] == Map) byKind[Map].push_back(values[i]);
    }
    std::array<std::uint8_t, kKinds> place{};
    std::vector<Kind> there;
    for (std::size_t k = 0; k < kKinds; ++k) {
        place[k] = static_cast<std::uint8_t>(there.size());
        if (!byKind[k].empty()) there.push_back(static_cast<Kind>(k));
    }
    if (there.empty()) return kNames[Flags];
    if (there.size() == 1) return packKind(there[0], values, blob);
    for (const auto kind : kinds) blob.push_back(place[kind]);
    Json shapes = Json::array();
    for (const auto kind : there) shapes.push_back(packKind(kind, byKind[kind], blob));
    return {{"any", std::move(shapes)}};
}

class Unpacker {
public:
    explicit Unpacker(std::span<const std::uint8_t> bytes) : m_bytes(bytes) {}

    std::vector<Json> column(const Json& shape, std::size_t count) {
        // Each takes a byte or more, and nothing is taken for what has not come.
        if (count > m_bytes.size() - m_at) throw refused("the blob ends before them");
        take(count, sizeof(Json));
        std::vector<Json> values;
        if (const auto* name = shape.get_ptr<const std::string*>()) return simple(*name, count);
        if (!shape.is_object() || shape.size() != 1) throw refused("a shape is unknown");
        const auto& name = shape.begin().key();
        const Json& of = shape.begin().value();
        if (name == "any") return any(of, count);
        if (name == "record") return records(of, count);
        if (name != "list" && name != "map") throw refused("the shape '" + name + "' is unknown");
        const auto sizes = lengths(count);
        take(count, kListBytes);
        auto items = column(of, m_sum);
        auto next = std::make_move_iterator(items.begin());
        for (const auto size : sizes) {
            const auto end = next + static_cast<std::ptrdiff_t>(size);
            values.push_back(name == "list" ? Json(Json::array_t(next, end)) : mapOf(next, end));
            next = end;
        }
        return values;
    }
    bool atEnd() const { return m_at == m_bytes.size(); }

private:
    using Moved = std::move_iterator<std::vector<Json>::iterator>;

    static FrameError refused(const std::string& what) {
        return FrameError("packed values of a message cannot be read: " + what);
    }
    void take(std::size_t count, std::size_t each) {
        if (count > (kMostUnpacked - m_taken) / each)
            throw refused("they take more than " + std::to_string(kMostUnpacked >> 20) + " MiB");
        m_taken += count * each;
    }
    std::span<const std::uint8_t> bytes(std::size_t count, std::size_t each) {
        if (count > (m_bytes.size() - m_at) / each) throw refused("the blob ends before them");
        return m_bytes.subspan(std::exchange(m_at, m_at + count * each), count * each);
    }
    template <class T>
    std::vector<T> numbers(std::size_t count) {
        std::vector<T> values(bytes(count, sizeof(T)).size() / sizeof(T));
        if (count > 0)
            std::memcpy(values.data(), m_bytes.data() + m_at - count * sizeof(T),
                        count * sizeof(T));
        return values;
    }
    /// Leaves their sum in m_sum.
    std::vector<std::uint32_t> lengths(std::size_t count) {
        auto sizes = numbers<std::uint32_t>(count);
        m_sum = 0;
        for (const auto size : sizes) m_sum += size;
        return sizes;
    }

    std::vector<Json> simple(const std::string& name, std::size_t count) {
        std::vector<Json> values;
        values.reserve(count);
        const auto all = [&]<class T>(std::type_identity<T>) {
            for (const auto value : numbers<T>(count)) values.emplace_back(value);
        };
        if (name == kNames[Flags]) {
            for (const auto flag : bytes(count, 1)) {
                if (flag > kNull) throw refused("a flag is " + std::to_string(flag));
                values.push_back(flag == kNull ? Json() : Json(flag == 1));
            }
        } else if (name == kNames[Integers]) {
            all(std::type_identity<std::int64_t>());
        } else if (name == kNames[Naturals]) {
            all(std::type_identity<std::uint64_t>());
        } else if (name == kNames[Numbers]) {
            all(std::type_identity<double>());
        } else if (name == kNames[Texts] || name == kNames[ByteStrings]) {
            for (const auto sizes = lengths(count); const auto size : sizes) {
                take(1, 48 + size);
                const auto part = bytes(size, 1);
                if (name == kNames[Texts])
                    values.emplace_back(std::string(part.begin(), part.end()));
                else
                    values.push_back(Json::binary(Bytes(part.begin(), part.end())));
            }
        } else {
            throw refused("the shape '" + name.substr(0, 40) + "' is unknown");
        }
        return values;
    }
    std::vector<Json> records(const Json& members, std::size_t count) {
        if (!members.is_object() || members.empty()) throw refused("a record has no members");
        take(count, kRecordBytes);
        std::vector<Json> values(count, Json::object());
        for (const auto& [name, shape] : members.items()) {
            take(count, kMemberBytes + name.size());
            auto column = this->column(shape, count);
            for (std::size_t i = 0; i < count; ++i) values[i][name] = std::move(column[i]);
        }
        return values;
    }
    Json mapOf(Moved begin, Moved end) {
        Json map = Json::object();
        for (; begin != end; ++begin) {
            Json pair = *begin;
            if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string())
                throw refused("a member of a map has no name");
            take(1, kMemberBytes);
            map[pair[0].get_ref<const std::string&>()] = std::move(pair[1]);
        }
        return map;
    }
    std::vector<Json> any(const Json& shapes, std::size_t count) {
        if (!shapes.is_array() || shapes.size() > kKinds) throw refused("a choice has no shapes");
        const auto kinds = bytes(count, 1);
        std::array<std::size_t, kKinds> counts{}, next{};
        for (const auto kind : kinds) {
            if (kind >= shapes.size()) throw refused("a value is of no shape");
            ++counts[kind];
        }
        std::vector<std::vector<Json>> columns;
        for (std::size_t k = 0; k < shapes.size(); ++k)
            columns.push_back(column(shapes[k], counts[k]));
        std::vector<Json> values;
        values.reserve(count);
        for (const auto kind : kinds) values.push_back(std::move(columns[kind][next[kind]++]));
        return values;
    }

    std::span<const std::uint8_t> m_bytes;
    std::size_t m_at = 0, m_taken = 0, m_sum = 0;
};

}  // namespace

Json pack(const Json& value, Bytes& blob) {
    const auto begin = blob.size();
    Json shape = packColumn({&value}, blob);
    return {{"shape", std::move(shape)}, {"begin", begin}, {"size", blob.size() - begin}};
}

Json unpack(const Json& packed, std::span<const std::uint8_t> blob) {
    std::size_t begin = 0, size = 0;
    try {
        packed.at("begin").get_to(begin);
        packed.at("size").get_to(size);
        Unpacker all(begin <= blob.size() && size <= blob.size() - begin
                         ? blob.subspan(begin, size)
                         : throw FrameError("packed values of a message are not in its blob"));
        auto value = std::move(all.column(packed.at("shape"), 1).front());
        if (!all.atEnd()) throw FrameError("packed values of a message are followed by others");
        return value;
    } catch (const nlohmann::json::exception& error) {
        throw FrameError(std::string("packed values of a message are not as agreed on: ") +
                         error.what());
    }
}

}  // namespace relascope::wire
