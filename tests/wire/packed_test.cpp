// SPDX-License-Identifier: GPL-3.0-or-later
// Values that go into the blob by columns: every value comes back, and nothing else is taken.
#include "wire/packed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "support/rooms.h"

namespace relascope {
namespace {

using wire::Bytes;
using wire::FrameError;
using wire::Json;

Json sent(const Json& value) {
    Bytes blob = {1, 2, 3};  // of something else
    const Json packed = wire::pack(value, blob);
    wire::FrameReader reader;
    reader.append(wire::frameBytes({{"value", packed}}, blob));
    const auto frame = reader.next();
    return wire::unpack(frame->message.at("value"), frame->blob);
}

class Drawn {
public:
    explicit Drawn(std::uint64_t seed) : m_random(seed) {}
    Json value(int depth) {
        switch (below(depth > 0 ? 10 : 7)) {
            case 0:
                return nullptr;
            case 1:
                return below(2) == 1;
            case 2:
                return static_cast<std::int64_t>(m_random());
            case 3:
                return m_random();
            case 4:
                return std::ldexp(static_cast<double>(m_random()), -70);
            case 5:
                return std::string(below(4), static_cast<char>(below(256)));
            case 6:
                return Json::binary(Bytes(below(4), static_cast<std::uint8_t>(below(256))));
            case 7:
                return record(depth);
            default:
                return list(depth);
        }
    }

private:
    std::size_t below(std::size_t n) { return m_random() % n; }
    Json record(int depth) {
        Json record = Json::object();
        for (auto left = below(4); left > 0; --left)
            record[std::string(1, static_cast<char>('a' + below(3)))] = value(depth - 1);
        return record;
    }
    // Of one kind, as results are, or of any.
    Json list(int depth) {
        Json list = Json::array();
        const Json same = value(depth - 1);
        const bool mixed = below(2) == 1;
        for (auto left = below(6); left > 0; --left)
            list.push_back(mixed ? value(depth - 1) : same);
        return list;
    }
    std::mt19937_64 m_random;
};

TEST(Packed, EveryValueComesBack) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const Json value = Drawn(seed).value(5);
        const Json got = sent(value);
        ASSERT_EQ(got, value) << seed;
        ASSERT_EQ(got.dump(-1, ' ', false, Json::error_handler_t::replace),
                  value.dump(-1, ' ', false, Json::error_handler_t::replace))
            << seed;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Json got =
        sent({-0.0, std::nan(""), infinity, std::numeric_limits<double>::denorm_min(),
              std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::uint64_t>::max()});
    EXPECT_TRUE(std::signbit(got[0].get<double>()));
    EXPECT_TRUE(std::isnan(got[1].get<double>()));
    EXPECT_EQ(got[2].get<double>(), infinity);
    EXPECT_EQ(got[3].get<double>(), std::numeric_limits<double>::denorm_min());
    EXPECT_EQ(got[4].get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(got[5].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
}

TEST(Packed, AMessageStaysSmallHoweverLongItsListsAre) {
    Json rows = Json::array();
    for (int i = 0; i < 100'000; ++i)
        rows.push_back({{"name", "row"}, {"value", 0.5 * i}, {"inside", {i, i + 1}}});
    Bytes blob;
    const auto packed = wire::pack(rows, blob);
    EXPECT_LT(Json::to_cbor(packed).size(), 200U);
    EXPECT_LT(blob.size(), 100'000U * 40);
    EXPECT_EQ(wire::unpack(packed, blob), rows);
}

TEST(Packed, WhatIsDamagedIsAnError) {
    const Json value = {{"rows", {{{"a", 1}, {"b", "x"}}, {{"a", 2}, {"b", "yz"}}}},
                        {"mixed", {1, "a", nullptr, {1.5, 2.5}}}};
    Bytes blob;
    const Json packed = wire::pack(value, blob);
    ASSERT_EQ(wire::unpack(packed, blob), value);
    for (std::size_t size = 0; size < blob.size(); ++size)
        EXPECT_THROW(wire::unpack(packed, std::span(blob).first(size)), FrameError) << size;
    for (const char* key : {"shape", "begin", "size"}) {
        Json other = packed;
        other.erase(key);
        EXPECT_THROW(wire::unpack(other, blob), FrameError) << key;
        other[key] = "x";
        EXPECT_THROW(wire::unpack(other, blob), FrameError) << key;
        other[key] = -1;
        EXPECT_THROW(wire::unpack(other, blob), FrameError) << key;
    }
    const auto refused = [](const Json& shape, const Bytes& bytes) {
        EXPECT_THROW(wire::unpack({{"shape", shape}, {"begin", 0}, {"size", bytes.size()}}, bytes),
                     FrameError)
            << shape;
    };
    refused("numbers", {1, 2, 3});
    refused("flags", {3});
    refused("flags", {1, 1});
    refused("guess", {0});
    refused(Json::array(), {0});
    refused(Json::object(), {0});
    refused({{"list", "flags"}, {"record", "flags"}}, {0, 0, 0, 0});
    refused({{"record", Json::object()}}, {});
    refused({{"any", {"flags"}}}, {1, 0});
    refused({{"map", {{"list", "flags"}}}}, {1, 0, 0, 0, 2, 0, 0, 0, 1, 1});
    // More than there can be: nothing is taken for it.
    refused({{"list", "numbers"}}, {0xff, 0xff, 0xff, 0xff});
    refused({{"list", {{"record", {{"a", "flags"}}}}}}, {0xff, 0xff, 0xff, 0x7f});
    refused({{"list", {{"list", "flags"}}}}, {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff});
    refused("texts", {0xff, 0xff, 0xff, 0xff, 'a'});
    // A byte for a value, which takes far more.
    Bytes many(std::size_t{40} << 20);
    many[0] = many[1] = many[2] = 0xff, many[3] = 1;
    many.resize(4 + 0x01ffffff);
    refused({{"list", {{"record", {{"a", "flags"}}}}}}, many);
}

}  // namespace
}  // namespace relascope
