// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/frame.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/rooms.h"
#include "wire/types.h"

namespace relascope {
namespace {

using wire::Bytes;
using wire::Frame;
using wire::FrameError;
using wire::FrameReader;
using wire::Json;

std::optional<Frame> frameOf(const Bytes& bytes) {
    FrameReader reader;
    reader.append(bytes);
    return reader.next();
}

Bytes framed(const Bytes& message) {
    Bytes bytes = wire::frameBytes(Json::object());
    bytes.resize(wire::kFrameHeader);
    bytes[4] = static_cast<std::uint8_t>(message.size());
    bytes[5] = static_cast<std::uint8_t>(message.size() >> 8);
    bytes.insert(bytes.end(), message.begin(), message.end());
    return bytes;
}

TEST(Frame, WhatIsSentArrivesInAnyPieces) {
    const Json message = {{"m", "state"},
                          {"nan", std::nan("")},
                          {"infinite", std::numeric_limits<double>::infinity()},
                          {"bytes", "caf\xe9"},  // not UTF-8
                          {"list", {1, -2, 3.5}}};
    const Bytes blob = {1, 2, 3};
    Bytes both = wire::frameBytes(message, blob);
    const std::size_t one = both.size();
    const Bytes second = wire::frameBytes({{"m", "ended"}});
    both.insert(both.end(), second.begin(), second.end());
    for (std::size_t cut = 0; cut <= both.size(); ++cut) {
        FrameReader reader;
        std::vector<Frame> frames;
        for (const auto& part : {std::span(both).first(cut), std::span(both).subspan(cut)}) {
            reader.append(part);
            while (auto frame = reader.next()) frames.push_back(std::move(*frame));
        }
        ASSERT_EQ(frames.size(), 2U) << cut;
        EXPECT_FALSE(reader.isInside());
        EXPECT_TRUE(std::isnan(frames[0].message["nan"].get<double>()));
        EXPECT_EQ(frames[0].message["bytes"], "caf\xe9");
        EXPECT_EQ(frames[0].message["list"], message["list"]);
        EXPECT_EQ(frames[0].blob, blob);
        EXPECT_EQ(frames[1].message["m"], "ended");
    }
    for (std::size_t size = 0; size < one; ++size) {
        FrameReader reader;
        reader.append(std::span(both).first(size));
        EXPECT_FALSE(reader.next()) << size;
        EXPECT_EQ(reader.isInside(), size > 0);
    }
}

TEST(Frame, RefusesWhatIsTooMuchBeforeItTakesMemory) {
    const auto refused = [](const Bytes& bytes, const char* because) {
        try {
            frameOf(bytes);
            ADD_FAILURE() << "not refused: " << because;
        } catch (const FrameError& error) {
            EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
        }
    };
    const std::string http = "GET / HTTP/1.1\r\n\r\n";
    refused(Bytes(http.begin(), http.end()), "not a frame");
    Bytes header = wire::frameBytes(Json::object());
    header.resize(wire::kFrameHeader);
    Bytes large = header;
    large[7] = 0x10;  // 256 MiB of message
    refused(large, "announced");
    large = header;
    large[12] = 0xff;  // a blob of 1 TB
    refused(large, "announced");
    refused(framed({0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), "CBOR map");
    refused(framed({0xa1, 0x61, 'a', 0x9b, 0, 0, 0, 1, 0, 0, 0, 0}), "values");
    refused(framed({0xa1, 0x61, 'a', 0x7b, 0, 0, 1, 0, 0, 0, 0, 0}), "CBOR map");
    refused(framed({0xa1, 0x61, 'a', 0x5b, 0, 0, 1, 0, 0, 0, 0, 0}), "CBOR map");
    Bytes deep = {0xa1, 0x61, 'a'};
    deep.insert(deep.end(), 5000, 0x81);
    deep.push_back(0);
    refused(framed(deep), "deep");
    refused(framed({0x80}), "CBOR map");
    refused(framed({0xa0, 0x00}), "CBOR map");
    Json many = {{"a", Json::array()}};
    for (int i = 0; i < 1'000'001; ++i) many["a"].push_back(0);
    const Bytes counted = wire::frameBytes(many);
    refused(counted, "values");
    EXPECT_THROW(wire::frameBytes({{"a", std::string(17 << 20, 'x')}}), FrameError);
}

ProbeResult resultOfTwoLayers() {
    ProbeResult result;
    result.step = 12;
    result.sample.image = {2, 1, 3, {1, 2, 3, 4, 5, 6}};
    result.sample.label = 1;
    result.sample.origin = "validation 3";
    result.sample.source.tokens = {5, -1, 7};
    result.sample.source.labels = {"a", "\xff", ""};
    result.sample.source.text = true;
    result.sample.target.vectors = {0.5f, -1.0f, 2.0f, 3.0f};
    result.sample.target.width = 2;
    result.grid = {1, 2, true};
    result.classNames = {"no", "yes"};
    result.probabilities = {0.25f, 0.75f};
    result.sides = {{"patches", {}}, {"target", {"x", "y"}}};
    result.layers = {{"layer 1", 0, 0}, {"layer 2", 1, 0}};
    for (int layer = 0; layer < 2; ++layer)
        for (int index = 0; index < 2; ++index) {
            RelationMap map;
            map.kind = MapKind::Relation, map.layer = layer, map.index = index;
            map.rows = 2, map.columns = 3, map.causal = layer == 1;
            for (int i = 0; i < 6; ++i)
                map.values.push_back(0.1f * static_cast<float>(i - layer + index));
            result.maps.push_back(map);
        }
    return result;
}

ProbeAnswer answerWithAll() {
    ProbeAnswer answer;
    answer.request = 7;
    answer.result = resultOfTwoLayers();
    answer.base = std::make_shared<const ProbeResult>(resultOfTwoLayers());
    answer.points = {{"blocks.0.rel.hook_r", {"batch", "relation"}, {1, 2}, true}};
    answer.means[3] = {10, 0.5, "position", {{2}, {1.0, std::nan("")}}};
    answer.seconds = 0.25;
    return answer;
}

Frame sentAndReceived(const Frame& frame) {
    return *frameOf(wire::frameBytes(frame.message, frame.blob));
}

TEST(Frame, AnAnswerArrivesWhole) {
    const ProbeAnswer answer = answerWithAll();
    const auto got = wire::answerFromFrame(sentAndReceived(wire::answerFrame(answer)));
    EXPECT_EQ(got.request, 7U);
    EXPECT_EQ(got.seconds, 0.25);
    EXPECT_EQ(got.points, answer.points);
    EXPECT_EQ(got.means.at(3).examples, 10);
    EXPECT_EQ(got.means.at(3).values.numbers[0], 1.0);
    EXPECT_TRUE(std::isnan(got.means.at(3).values.numbers[1]));
    ASSERT_TRUE(got.base);
    for (const auto* result : {&got.result, got.base.get()}) {
        EXPECT_EQ(result->step, 12);
        EXPECT_EQ(result->sample, answer.result.sample);
        EXPECT_EQ(result->grid, answer.result.grid);
        EXPECT_EQ(result->classNames, answer.result.classNames);
        EXPECT_EQ(result->probabilities, answer.result.probabilities);
        EXPECT_EQ(result->layers, answer.result.layers);
        EXPECT_EQ(result->sides, answer.result.sides);
        EXPECT_EQ(result->maps, answer.result.maps);
    }
    EXPECT_EQ(
        wire::answerFromFrame(sentAndReceived(wire::answerFrame({3, {}, {}, "no room"}))).error,
        "no room");
}

TEST(Frame, ADamagedAnswerIsAnError) {
    const Frame whole = wire::answerFrame(answerWithAll());
    for (const auto& [key, value] : whole.message.items()) {
        if (key == "base") continue;  // is there only with edits
        Frame frame = whole;
        frame.message[key] = Json::array({1});
        EXPECT_THROW(wire::answerFromFrame(frame), Error) << key;
    }
    for (std::size_t size = 0; size < whole.blob.size(); size += 7) {
        Frame frame = whole;
        frame.blob.resize(size);
        EXPECT_THROW(wire::answerFromFrame(frame), Error) << size;
    }
    Frame frame = whole;
    frame.message["result"]["layers"][0]["rows"] = 9;
    EXPECT_THROW(wire::answerFromFrame(frame), FrameError);
    frame = whole;
    frame.message["result"]["sample"]["image"]["width"] = 1 << 20;
    EXPECT_THROW(wire::answerFromFrame(frame), FrameError);
}

TEST(Frame, ARunsInformationArrivesWhole) {
    RunInfo info;
    info.path = "/runs/a", info.name = "a", info.labels = {"b", {"x", "y"}, true};
    info.state = RunState::Paused, info.message = "disk full", info.step = 5, info.epoch = 0.5;
    info.bestAccuracy = 0.75, info.bestStep = 4, info.evaluations = 3, info.restoresBest = true;
    info.kept = {4, {{"accuracy", 0.75}}}, info.last = {5, {{"accuracy", 0.5}}};
    info.results = {{"test", 10, {{"loss", 0.5}, {"accuracy", std::nan("")}}}};
    info.options = {{"train.seeds", "0, 1"}};
    Edit zero;
    zero.point = "blocks.0.rel.hook_r", zero.selection["relation"] = {{0}, {}, {}};
    info.edits.edits = {zero};
    const Json json = frameOf(wire::frameBytes({{"info", info}}))->message.at("info");
    const auto got = json.get<RunInfo>();
    EXPECT_EQ(got.path, info.path);
    EXPECT_EQ(got.labels, info.labels);
    EXPECT_EQ(got.state, RunState::Paused);
    EXPECT_EQ(got.message, "disk full");
    EXPECT_TRUE(std::isnan(got.bestLoss));
    EXPECT_EQ(got.bestAccuracy, 0.75);
    EXPECT_EQ(got.bestStep, 4);
    EXPECT_EQ(got.evaluations, 3);
    EXPECT_TRUE(got.keptByChoice());
    EXPECT_EQ(got.kept, info.kept);
    EXPECT_EQ(got.last, info.last);
    EXPECT_EQ(got.results[0].values[0].second, 0.5);
    EXPECT_EQ(got.options, info.options);
    EXPECT_EQ(got.edits.edits, info.edits.edits);
    Json other = json;
    other["state"] = "asleep";
    EXPECT_THROW(other.get<RunInfo>(), FrameError);
}

}  // namespace
}  // namespace relascope
