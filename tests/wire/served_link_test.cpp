// SPDX-License-Identifier: GPL-3.0-or-later
// The socket side of served models, against doors that answer, lie, or go.
#include "wire/served_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "model/served/served_options.h"
#include "support/temporary_folder.h"
#include "tests/wire/played_door.h"

namespace relascope::wire {
namespace {

using testing_support::PlayedDoor;
using testing_support::smallDeclaration;

Bytes bytesOf(const std::vector<float>& numbers) {
    Bytes bytes(numbers.size() * sizeof(float));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

/// The sentence of the error that a pass ends with.
std::string errorOf(SocketLink& link, const core::ServedPointMet& met = {}) {
    core::ServedPass pass;
    pass.split = "validation", pass.indices = {0};
    pass.points.emplace_back("blocks.0.hook_resid_post", core::ServedAction{});
    try {
        link.forward(pass, met);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

Json scoresEntry(std::vector<std::int64_t> sizes, std::uint64_t at = 0) {
    return {{"dtype", "float32"}, {"sizes", std::move(sizes)}, {"at", at}};
}

TEST(ServedLink, SaysWhatAPassIsAndGivesItsScores) {
    Json asked;
    PlayedDoor door([&](PlayedDoor& d, const ServedMessage& given) {
        const auto id = given.message.at("id");
        const auto what = given.message.at("m").get<std::string>();
        if (what == "forward") {
            asked = given.message;
            d.send({{"m", "waiting"}, {"id", id}, {"text", "waiting for a step"}});
            std::this_thread::sleep_for(std::chrono::milliseconds(250));
            d.send({{"m", "point"},
                    {"id", id},
                    {"name", "blocks.0.hook_resid_post"},
                    {"tensor", scoresEntry({1, 2, 4})},
                    {"wait", true}},
                   bytesOf({1, 2, 3, 4, 5, 6, 7, 8}));
        } else if (what == "put") {
            EXPECT_EQ(given.tensor(given.message.at("tensor")).sizes,
                      (std::vector<std::int64_t>{1, 2, 4}));
            d.send({{"m", "scores"}, {"id", id}, {"tensor", scoresEntry({1, 3})}},
                   bytesOf({0.5F, 1.5F, 2.5F}));
        }
    });
    SocketLink link("small", door.path());
    EXPECT_EQ(core::declarationFrom(link.declaration()).model, "Small");
    core::ServedPass pass;
    pass.split = "validation", pass.indices = {4, 2};
    core::ServedAction exchange;
    exchange.what = core::ServedAction::Do::Exchange;
    pass.points.emplace_back("blocks.0.hook_resid_post", exchange);
    pass.version = 9;
    std::vector<std::string> waited;
    const ServedWaitScope scope([&](const std::string& text) {
        if (waited.empty() || waited.back() != text) waited.push_back(text);
        return true;
    });
    const auto scores =
        link.forward(pass, [](const std::string& name, const core::ServedTensor& value, bool wait) {
            EXPECT_EQ(name, "blocks.0.hook_resid_post");
            EXPECT_TRUE(wait);
            return std::optional(value);
        });
    EXPECT_EQ(scores.scores.sizes, (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(scores.scores.bytes.size(), 12U);
    EXPECT_EQ(asked.at("indices"), (Json{4, 2}));
    EXPECT_EQ(asked.at("check"), 9);
    if (waited.front().empty()) waited.erase(waited.begin());
    EXPECT_EQ(waited, (std::vector<std::string>{"waiting for a step", ""}));
}

TEST(ServedLink, RefusesWhatItDidNotAskFor) {
    const std::vector<std::pair<std::string, std::function<void(PlayedDoor&, Json)>>> lies = {
        {"was not asked for",
         [](PlayedDoor& d, const Json& id) {
             d.send({{"m", "point"},
                     {"id", id},
                     {"name", "blocks.7.hook_q"},
                     {"tensor", scoresEntry({1})}},
                    bytesOf({1}));
         }},
        {"is not among the",
         [](PlayedDoor& d, const Json& id) {
             d.send({{"m", "scores"}, {"id", id}, {"tensor", scoresEntry({1, 300})}},
                    bytesOf({1, 2, 3}));
         }},
        {"is not among the",
         [](PlayedDoor& d, const Json& id) {
             d.send({{"m", "scores"}, {"id", id}, {"tensor", scoresEntry({1, 1}, 3)}},
                    bytesOf({1, 2, 3}));
         }},
        {"has the size",
         [](PlayedDoor& d, const Json& id) {
             d.send({{"m", "scores"},
                     {"id", id},
                     {"tensor", scoresEntry({std::int64_t{1} << 39, std::int64_t{1} << 39})}});
         }},
        {"unknown type",
         [](PlayedDoor& d, const Json& id) {
             d.send({{"m", "scores"},
                     {"id", id},
                     {"tensor", {{"dtype", "complex64"}, {"sizes", {1}}, {"at", 0}}}});
         }},
        {"value of another kind",
         [](PlayedDoor& d, const Json& id) {
             d.send({{"m", "point"},
                     {"id", id},
                     {"name", "blocks.0.hook_resid_post"},
                     {"tensor", scoresEntry({1})},
                     {"wait", "perhaps"}},
                    bytesOf({1}));
         }},
        {"not a frame", [](PlayedDoor& d, const Json&) { d.sendBytes(Bytes(64, 'x')); }},
        {"none came with it",
         [](PlayedDoor& d, const Json& id) {
             d.send({{"m", "scores"}, {"id", id}, {"memory", 4096}, {"tensor", scoresEntry({1})}});
         }},
        {"could shrink",
         [](PlayedDoor& d, const Json& id) {
             const Descriptor file(::memfd_create("x", MFD_ALLOW_SEALING));
             EXPECT_EQ(::ftruncate(file.get(), 4096), 0);
             d.send({{"m", "scores"}, {"id", id}, {"memory", 4096}, {"tensor", scoresEntry({1})}},
                    {}, file.get());
         }},
        {"has 4096 bytes",
         [](PlayedDoor& d, const Json& id) {
             const auto file = makeRegion(4096, {});
             d.send({{"m", "scores"}, {"id", id}, {"memory", 8192}, {"tensor", scoresEntry({1})}},
                    {}, file.get());
         }},
        {"could shrink",
         [](PlayedDoor& d, const Json& id) {
             const Descriptor file(::open("/dev/null", O_RDONLY));
             d.send({{"m", "scores"}, {"id", id}, {"memory", 4096}, {"tensor", scoresEntry({1})}},
                    {}, file.get());
         }},
        {"no message asked for",
         [](PlayedDoor& d, const Json& id) {
             const auto file = makeRegion(4096, {});
             d.send({{"m", "waiting"}, {"id", id}, {"text", "a"}}, {}, file.get());
         }},
        {"at most",
         [](PlayedDoor& d, const Json& id) {
             const auto file = makeRegion(4096, {});
             d.send({{"m", "scores"},
                     {"id", id},
                     {"memory", std::uint64_t{1} << 60},
                     {"tensor", scoresEntry({1})}},
                    {}, file.get());
         }},
        {"has ended", [](PlayedDoor& d, const Json&) { d.hangUp(); }},
        {"has ended",
         [](PlayedDoor& d, const Json&) {
             d.send({{"m", "bye"}});
         }},
        {"the weights have changed",
         [](PlayedDoor& d, const Json& id) {
             d.send({{"m", "error"},
                     {"id", id},
                     {"text", "the weights have changed since"},
                     {"key", "changed"}});
         }},
    };
    std::size_t next = 0;
    PlayedDoor door([&](PlayedDoor& d, const ServedMessage& given) {
        if (given.message.at("m") == "forward") lies[next].second(d, given.message.at("id"));
    });
    SocketLink link("small", door.path());
    for (; next < lies.size(); ++next) {
        const auto began = std::chrono::steady_clock::now();
        const auto said = errorOf(link);
        EXPECT_NE(said.find(lies[next].first), std::string::npos) << next << ": " << said;
        EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
    }
    // Each time that the protocol was broken another connection was made.
    EXPECT_GT(door.connections.load(), static_cast<int>(lies.size()) - 3);
}

TEST(ServedLink, GoesOnAfterAPassThatFailsHere) {
    int cancelled = 0;
    PlayedDoor door([&](PlayedDoor& d, const ServedMessage& given) {
        const auto id = given.message.at("id");
        const auto what = given.message.at("m").get<std::string>();
        if (what == "forward")
            d.send({{"m", "point"},
                    {"id", id},
                    {"name", "blocks.0.hook_resid_post"},
                    {"tensor", scoresEntry({1, 2, 4})}},
                   bytesOf({1, 2, 3, 4, 5, 6, 7, 8}));
        if (what == "cancel") {
            ++cancelled;
            d.send({{"m", "error"}, {"id", id}, {"text", "cancelled"}, {"key", "cancelled"}});
        }
        if (what == "checksum")
            d.send({{"m", "checksum"}, {"id", id}, {"crc32", 5}, {"version", 9}, {"step", 3}});
    });
    SocketLink link("small", door.path());
    const auto said =
        errorOf(link,
                [](const std::string&, const core::ServedTensor&,
                   bool) -> std::optional<core::ServedTensor> { throw Error("no use"); });
    EXPECT_EQ(said, "no use");
    EXPECT_EQ(cancelled, 1);
    EXPECT_EQ(link.weights().crc32, 5U);
    EXPECT_EQ(door.connections.load(), 1);
}

TEST(ServedLink, SaysForHowLongItWaits) {
    for (const bool notebook : {false, true}) {
        PlayedDoor door(
            [](PlayedDoor& d, const ServedMessage& given) {
                std::this_thread::sleep_for(std::chrono::milliseconds(2400));
                d.send({{"m", "scores"},
                        {"id", given.message.at("id")},
                        {"tensor", scoresEntry({1, 1})}},
                       bytesOf({1}));
            },
            {}, notebook);
        SocketLink link("small", door.path());
        std::string waited, last;
        const ServedWaitScope scope([&](const std::string& text) {
            last = text;
            if (!text.empty()) waited = text;
            return true;
        });
        core::ServedPass pass;
        pass.split = "validation", pass.indices = {0};
        link.forward(pass, {});
        EXPECT_EQ(waited,
                  notebook ? "waiting for the cell, 2 s"
                           : "waiting for small, 2 s: it answers between two steps, or two cells");
        EXPECT_EQ(last, "");
    }
}

TEST(ServedLink, IsCancelledWhileTheDoorIsSilent) {
    PlayedDoor door([](PlayedDoor&, const ServedMessage&) {});
    SocketLink link("small", door.path());
    const auto began = std::chrono::steady_clock::now();
    const ServedWaitScope scope([&](const std::string&) {
        return std::chrono::steady_clock::now() - began < std::chrono::milliseconds(200);
    });
    EXPECT_EQ(errorOf(link), "cancelled");
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
}

TEST(ServedLink, SaysThatNobodyIsThere) {
    const testing_support::TemporaryFolder folder("served-gone");
    try {
        const SocketLink link("gone", folder.path() + "/gone.served");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("No process of yours serves a model as gone"),
                  std::string::npos);
    }
}

TEST(ServedLink, SendsLargeTensorsInSealedMemory) {
    const std::vector<float> numbers(40'000, 2.0F);
    const auto bytes = bytesOf(numbers);
    ServedWriter writer(Json{{"m", "put"}});
    writer.message()["tensor"] = writer.add({"float32", {200, 200}, bytes, nullptr});
    auto [frame, file] = std::move(writer).frame(true);
    ASSERT_TRUE(file);
    EXPECT_NE(::fcntl(file.get(), F_GET_SEALS) & F_SEAL_SHRINK, 0);
    ServedReader reader;
    std::vector<Descriptor> files;
    files.push_back(std::move(file));
    reader.append(frame, std::move(files));
    const auto message = reader.next();
    ASSERT_TRUE(message);
    const auto tensor = message->tensor(message->message.at("tensor"));
    EXPECT_TRUE(std::equal(tensor.bytes.begin(), tensor.bytes.end(), bytes.begin(), bytes.end()));
}

TEST(ServedDeclaration, NamesWhatIsWrong) {
    const std::vector<std::pair<std::string, std::function<void(Json&)>>> wrong = {
        {"declare.input: is missing", [](Json& d) { d.erase("input"); }},
        {"declare.input.kind", [](Json& d) { d["input"]["kind"] = "smell"; }},
        {"declare.input.count", [](Json& d) { d["input"]["count"] = -1; }},
        {"declare.output.count", [](Json& d) { d["output"]["count"] = 1e9; }},
        {"declare.output.names", [](Json& d) { d["output"]["names"] = {"one"}; }},
        {"declare.points.axes",
         [](Json& d) {
             d["points"][0]["axes"] = {"batch", "x", "dim"};
         }},
        {"declare.points.sizes", [](Json& d) { d["points"][0]["sizes"] = {-1}; }},
        {"declare.points.sizes",
         [](Json& d) {
             d["points"][0]["sizes"] = {-5, 2, 4};
         }},
        {"declare.points", [](Json& d) { d["points"] = 7; }},
        {"declare.splits.size", [](Json& d) { d["splits"][0]["size"] = "many"; }},
        {"declare.layers.blocks.0.heads", [](Json& d) { d["layers"]["blocks.0"]["heads"] = 1e12; }},
    };
    for (const auto& [said, change] : wrong) {
        auto declaration = smallDeclaration();
        change(declaration);
        try {
            core::servedOptions(declaration);
            ADD_FAILURE() << said;
        } catch (const OptionError& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with(said)) << error.what();
        }
    }
    EXPECT_EQ(core::servedOptions(smallDeclaration()).tokens(), 2);
    EXPECT_THROW(core::servedOptions(Json()), OptionError);
    EXPECT_THROW(core::doorOf("served:../etc"), OptionError);
    EXPECT_THROW(core::doorOf("served:"), OptionError);
    EXPECT_EQ(core::doorOf("served:vit-s.1"), "vit-s.1");
}

}  // namespace
}  // namespace relascope::wire
