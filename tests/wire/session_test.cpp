// SPDX-License-Identifier: GPL-3.0-or-later
// The side of the window of a session, with played sessions: slow ones, silent ones, and ones that
// end or send what nobody agreed on.
#include "wire/session.h"
#include "wire/served_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <thread>
#include <utility>

#include "answers/evaluation_answer.h"
#include "support/rooms.h"
#include "wire/answer_frame.h"
#include "wire/child_process.h"
#include "wire/requests.h"

namespace relascope {
namespace {

using namespace std::chrono_literals;
using wire::Bytes;
using wire::Frame;
using wire::Json;

/// The other end of a session's connection, for the thread of the test.
class Played {
public:
    explicit Played(wire::Descriptor socket) : m_connection(std::move(socket)) {}
    void send(const Json& message, const Bytes& blob = {}) {
        sendBytes(wire::frameBytes(message, blob));
    }
    void sendBytes(const Bytes& bytes) {
        m_connection.send(bytes);
        while (m_connection.isSending() && m_connection.write()) std::this_thread::yield();
    }
    /// The next message; none once the window has gone.
    Json next() {
        while (m_frames.empty()) {
            pollfd waiting{m_connection.get(), POLLIN, 0};
            ::poll(&waiting, 1, 100);
            if (!m_connection.read([this](Frame frame) { m_frames.push_back(frame.message); }) &&
                m_frames.empty())
                return {};
        }
        Json first = m_frames.front();
        m_frames.erase(m_frames.begin());
        return first;
    }

private:
    wire::Connection m_connection;
    std::vector<Json> m_frames;
};

/// Sessions that play one script after another, each on a thread of its own.
class PlayedSessions {
public:
    using Script = std::function<void(Played&)>;
    explicit PlayedSessions(std::vector<Script> scripts) : m_scripts(std::move(scripts)) {}
    std::function<wire::SessionProcess()> start() {
        return [this] {
            int ends[2];
            EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
                      0);
            auto script = m_scripts.at(static_cast<std::size_t>(started++));
            m_threads.emplace_back([script, socket = wire::Descriptor(ends[1])]() mutable {
                Played played(std::move(socket));
                script(played);
            });
            return wire::SessionProcess{wire::Descriptor(ends[0]), std::nullopt};
        };
    }
    int started = 0;

private:
    std::vector<Script> m_scripts;
    std::vector<std::jthread> m_threads;
};

void greet(Played& played) {
    played.send(wire::sessionHello());
    EXPECT_EQ(played.next(), wire::sessionHello());
}

std::string sentenceOf(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Session, AnswersWithPartsProgressAndABlob) {
    PlayedSessions sessions({[](Played& played) {
        greet(played);
        const Json request = played.next();
        EXPECT_EQ(request["m"], "count");
        EXPECT_EQ(request["to"], 2);
        const auto id = request["id"];
        played.send({{"id", id}, {"progress", 0.5}});
        played.send({{"id", id}, {"waits", "waiting for the cell, 2 s"}});
        played.send({{"id", id}, {"part", 1}}, {1});
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        played.send({{"id", 999}, {"part", "of another request"}});
        played.send({{"id", id}, {"part", 2}}, {2, 2});
        played.send({{"id", id}, {"ok", std::nan("")}}, {3, 3, 3});
        EXPECT_TRUE(played.next().is_null());
    }});
    wire::Session session(sessions.start());
    EXPECT_FALSE(session.isRunning());
    std::vector<int> parts;
    double most = 0.0;
    std::vector<std::string> waits;
    const core::ServedWaitScope wait([&](const std::string& text) {
        if (waits.empty() || waits.back() != text) waits.push_back(text);
        return true;
    });
    const Frame frame = session.ask(
        "count", {{"to", 2}},
        [&](double fraction) {
            most = std::max(most, fraction);
            return true;
        },
        [&](const Json& part, const Bytes& blob) {
            parts.push_back(part.get<int>());
            EXPECT_EQ(blob.size(), static_cast<std::size_t>(parts.back()));
        });
    // The last one is taken back, although the session has not done it.
    EXPECT_EQ(waits, (std::vector<std::string>{"", "waiting for the cell, 2 s", ""}));
    EXPECT_EQ(parts, (std::vector{1, 2}));
    EXPECT_TRUE(std::isnan(frame.message.get<double>()));
    EXPECT_EQ(frame.blob, Bytes(3, 3));
}

// Each thread gets what is its own, in whatever order it comes, and one that cancels takes nothing
// from the others.
TEST(Session, SeveralThreadsAskAtOnce) {
    PlayedSessions sessions({[](Played& played) {
        greet(played);
        std::vector<Json> requests;
        for (int k = 0; k < 3; ++k) requests.push_back(played.next());
        std::sort(requests.begin(), requests.end(),
                  [](const Json& a, const Json& b) { return a["n"] > b["n"]; });
        EXPECT_EQ(requests[0]["m"], "never");
        const Json cancel = played.next();
        EXPECT_EQ(cancel["cancel"], requests[0]["id"]);
        for (int part = 0; part < 20; ++part)
            for (const int k : {1, 2})
                played.send({{"id", requests[k]["id"]}, {"part", requests[k]["n"]}});
        played.send({{"id", requests[0]["id"]}, {"ok", "too late"}});
        for (const int k : {1, 2})
            played.send({{"id", requests[k]["id"]}, {"ok", requests[k]["n"]}});
        while (!played.next().is_null()) {  // changes
        }
    }});
    wire::Session session(sessions.start());
    const auto ask = [&](int n) {
        int parts = 0;
        const auto answer =
            session.ask("count", {{"n", n}}, {}, [&](const Json& part, const Bytes&) {
                EXPECT_EQ(part, n);
                session.change({{"follow", true}});
                ++parts;
            });
        EXPECT_EQ(answer.message, n);
        EXPECT_EQ(parts, 20);
    };
    std::vector<std::jthread> threads;
    for (const int n : {1, 2}) threads.emplace_back([&ask, n] { ask(n); });
    int reports = 0;
    EXPECT_THROW(session.ask("never", {{"n", 3}}, [&](double) { return ++reports < 8; }),
                 Cancelled);
    threads.clear();
    EXPECT_EQ(sessions.started, 1);
}

TEST(Session, AllWhoAskHearOfItsEnd) {
    PlayedSessions sessions({[](Played& played) {
        greet(played);
        for (int k = 0; k < 2; ++k) played.next();
    }});
    wire::Session session(sessions.start());
    std::array<std::string, 2> said;
    std::vector<std::jthread> threads;
    for (auto& sentence : said)
        threads.emplace_back(
            [&] { sentence = sentenceOf([&] { session.ask("wait", Json::object()); }); });
    threads.clear();
    for (const auto& sentence : said)
        EXPECT_NE(sentence.find("not open any more"), std::string::npos) << sentence;
    EXPECT_FALSE(session.isRunning());
}

TEST(Session, ErrorsArriveAsTheyWereThrown) {
    const auto sent = [](const std::exception& error) {
        return sentenceOf([&] { wire::throwError(wire::errorToJson(error)); });
    };
    EXPECT_EQ(sent(Error("a sentence")), "a sentence");
    EXPECT_EQ(sent(FileError("/a/b", "is gone")), "/a/b: is gone");
    EXPECT_THROW(wire::throwError(wire::errorToJson(FileError("a", "b"))), FileError);
    EXPECT_THROW(wire::throwError(wire::errorToJson(Cancelled())), Cancelled);
    try {
        wire::throwError(wire::errorToJson(OptionError("top", "is 0; choose 1 or more")));
    } catch (const OptionError& error) {
        EXPECT_EQ(error.field(), "top");
        EXPECT_EQ(error.message(), "is 0; choose 1 or more");
    }
    EXPECT_THROW(wire::throwError(Json::array()), wire::FrameError);
}

TEST(Session, WhoCancelsDoesNotWaitForTheSession) {
    PlayedSessions sessions({[](Played& played) {
        greet(played);
        const auto first = played.next()["id"];
        EXPECT_EQ(played.next(), Json({{"cancel", first}}));
        const auto second = played.next()["id"];
        played.send({{"id", first}, {"ok", "late"}});
        played.send({{"id", second}, {"ok", "in time"}});
        played.next();
    }});
    wire::Session session(sessions.start());
    int asked = 0;
    EXPECT_THROW(session.ask("slow", Json::object(), [&](double) { return ++asked < 3; }),
                 Cancelled);
    EXPECT_EQ(session.ask("quick", Json::object()).message, "in time");
    EXPECT_EQ(sessions.started, 1);
}

TEST(Session, OneThatEndsSaysSoAndTheNextRequestBeginsAnother) {
    const auto answers = [](Played& played) {
        greet(played);
        for (Json request = played.next(); !request.is_null(); request = played.next())
            played.send({{"id", request["id"]}, {"ok", request["m"]}});
    };
    PlayedSessions sessions({[](Played& played) {
                                 greet(played);
                                 played.next();
                             },
                             [&](Played& played) {
                                 greet(played);
                                 const auto request = played.next();
                                 played.send({{"id", request["id"]}, {"ok", 1}});
                             },
                             answers});
    wire::Session session(sessions.start());
    EXPECT_EQ(sentenceOf([&] { session.ask("a", Json::object()); }),
              "The model is not open any more: the process was ended from outside; try again");
    EXPECT_FALSE(session.isRunning());
    EXPECT_EQ(session.ask("b", Json::object()).message, 1);
    // It has ended while nothing was asked: that is no error.
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(session.ask("c", Json::object()).message, "c");
    EXPECT_EQ(sessions.started, 3);
}

// It decides to end while the request is on its way: nobody sees more of it than a longer wait.
TEST(Session, OneThatEndsAsItIsAskedIsAskedAgainOnce) {
    const auto answersOnce = [](Played& played) {
        greet(played);
        const auto request = played.next();
        played.send({{"id", request["id"]}, {"ok", request["m"]}});
        played.next();  // and is gone
    };
    PlayedSessions sessions({answersOnce, answersOnce,
                             [](Played& played) {
                                 greet(played);
                                 const auto id = played.next()["id"];
                                 played.send({{"id", id}, {"ok", 1}});
                                 const auto next = played.next()["id"];
                                 played.send({{"id", next}, {"progress", 0.5}});
                             },
                             [](Played& played) {
                                 greet(played);
                                 played.next();
                             }});
    wire::Session session(sessions.start());
    EXPECT_EQ(session.ask("a", {{"x", 1}}).message, "a");
    EXPECT_EQ(session.ask("b", {{"x", 2}}).message, "b");
    EXPECT_EQ(sessions.started, 2);
    EXPECT_EQ(session.ask("c", Json::object()).message, 1);
    EXPECT_EQ(sessions.started, 3);
    // One that was at work has not ended by itself, and a fresh one is not asked again.
    EXPECT_THROW(session.ask("d", Json::object()), Error);
    EXPECT_EQ(sessions.started, 3);
    EXPECT_THROW(session.ask("e", Json::object()), Error);
    EXPECT_EQ(sessions.started, 4);
}

// What it says before it goes is heard, though no more can be sent to it.
TEST(Session, TheLastWordsOfOneThatIsGoneAreRead) {
    PlayedSessions sessions({[](Played& played) {
        greet(played);
        const auto id = played.next()["id"];
        played.send({{"id", id}, {"error", {{"code", "error"}, {"text", "no room"}}}});
    }});
    wire::Session session(sessions.start());
    bool told = false;
    EXPECT_EQ(sentenceOf([&] {
                  session.ask("a", Json::object(), [&](double) {
                      if (std::exchange(told, true)) session.change({{"follow", true}});
                      return true;
                  });
              }),
              "no room");
}

TEST(Session, AnotherVersionAndStrangeFramesEndIt) {
    const auto sends = [](const Bytes& bytes) {
        return [bytes](Played& played) {
            greet(played);
            played.next();
            played.sendBytes(bytes);
            played.next();
        };
    };
    const std::string http = "HTTP/1.1 200 OK\r\n\r\n        ";
    Json other = wire::sessionHello();
    other["version"] = "0.0.1";
    PlayedSessions sessions({[&](Played& played) {
                                 played.send(other);
                                 while (!played.next().is_null()) continue;
                             },
                             sends({http.begin(), http.end()}),
                             sends(wire::frameBytes({{"id", "no number"}})),
                             sends(wire::frameBytes({{"id", 4}, {"progress", "half"}})),
                             sends(wire::frameBytes({{"id", 5}, {"error", 3}}))});
    wire::Session session(sessions.start());
    const auto ask = [&] { return sentenceOf([&] { session.ask("a", Json::object()); }); };
    EXPECT_EQ(ask(), "Relascope was updated to 0.0.1; restart the window, trainings continue");
    for (int k = 1; k < 5; ++k) {
        const auto sentence = ask();
        EXPECT_NE(sentence, "nothing was thrown") << k;
        EXPECT_EQ(sentence.find("json.exception"), std::string::npos) << sentence;
        EXPECT_EQ(sessions.started, k + 1);
        if (k == 4) continue;
        EXPECT_FALSE(session.isRunning()) << k;
    }
}

template <class T>
T sent(const T& value) {
    wire::FrameReader reader;
    reader.append(wire::frameBytes({{"value", value}}));
    return reader.next()->message.at("value").template get<T>();
}

TEST(Requests, ArriveWhole) {
    wire::Asked asked(
        Question{"lens", {{"/a b", {}, "best", {}, {}, "cuda:1"}}, {{"top", std::int64_t{3}}}});
    EXPECT_EQ(sent(asked).edits, asked.edits);
    Edit edit;
    edit.point = "blocks.0.rel.hook_r";
    asked.edits.resize(2);
    asked.edits[1].edits = {edit};
    asked.data.emplace();
    asked.data->options.task = "same";
    asked.data->options.train_size = 7;
    asked.cell = MapCell{MapKind::Relation, 1, 2, 0, 3, 4};
    asked.sample.emplace();
    asked.sample->source.tokens = {1, 2};
    asked.sample->source.labels = {"\xff", "a"};
    asked.shortened = true;
    asked.classNames = {"one", "two"};
    const auto arrived = sent(asked);
    EXPECT_EQ(static_cast<const Question&>(arrived), asked);
    EXPECT_EQ(arrived.edits, asked.edits);
    EXPECT_EQ(arrived.data, asked.data);
    EXPECT_EQ(arrived.cell, asked.cell);
    EXPECT_EQ(arrived.sample, asked.sample);
    EXPECT_TRUE(arrived.shortened);
    EXPECT_EQ(arrived.classNames, asked.classNames);
    EXPECT_FALSE(arrived.second || arrived.known);
    asked.set("top", std::int64_t{-3});
    EXPECT_THROW(sent(asked), OptionError);

    const GeneratedToken token{{3, "\xff", 0.25}, {{3, "\xff", 0.25}, {4, "b", 0.2}}};
    EXPECT_EQ(sent(token), token);

    const wire::OpenedWeights opened{ModelOptions("VisionDualAttnTransformer"), "careful", 2};
    EXPECT_EQ(sent(opened).model, opened.model);
    EXPECT_EQ(sent(opened).references, 2);

    Evaluation evaluation{9, 0.5, std::nan(""), {0.5, std::nan("")}, {{"mean_error", 0.1}}};
    wire::Bytes blob;
    const auto frame = wire::answerToJson(core::answerOf(evaluation), blob);
    const auto evaluated = core::evaluationOf(wire::answerFromJson(frame, blob));
    EXPECT_TRUE(std::isnan(evaluated.accuracy) && std::isnan(evaluated.classAccuracy[1]));
    EXPECT_EQ(evaluated.values, evaluation.values);

    const AnalysisCost cost{{{"heads", 4}}, 0.25, 0.5, "images", 9};
    EXPECT_EQ(sent(cost).parts, cost.parts);
    EXPECT_EQ(sent(cost).more, 0.5);
    EXPECT_EQ(sent(cost).noun, "images");
}

// A result without edits is sent once, and again by a session that has not sent it.
const wire::Asked kProbe(Question{"inspect", {{"/run", {}, {}, {}, {}, {}}}, {}});

TEST(Requests, AProbeRemembersWhatWasSent) {
    ProbeResult result;
    result.sample.origin = "example";
    const auto serve = [&](std::uint64_t number, int times) {
        return [&, number, times](Played& played) {
            greet(played);
            for (int k = 0; k < times; ++k) {
                const Json request = played.next();
                Bytes blob;
                Json ok{{"baseNumber", number},
                        {"pointsNumber", number},
                        {"problem", ""},
                        {"means", TakenMeans()}};
                if (request["base"] != number) ok["base"] = wire::resultToJson(result, blob);
                if (request["pointsKnown"] != number)
                    ok["points"] = std::vector<PointInfo>{{"blocks.0.hook", {}, {}, false}};
                played.send({{"id", request["id"]}, {"ok", ok}}, blob);
            }
        };
    };
    PlayedSessions sessions({serve(7, 2), serve(9, 1)});
    wire::Session session(sessions.start());
    wire::Prober prober;
    const auto first = prober.probe(session, kProbe, {});
    const auto second = prober.probe(session, kProbe, {});
    EXPECT_EQ(first.result->sample.origin, "example");
    EXPECT_EQ(second.result, first.result);
    EXPECT_EQ(second.points, first.points);
    EXPECT_EQ(second.before, nullptr);
    std::this_thread::sleep_for(50ms);
    const auto third = prober.probe(session, kProbe, {});
    EXPECT_NE(third.result, first.result);
    EXPECT_EQ(third.points->size(), 1U);
    EXPECT_EQ(sessions.started, 2);
}

TEST(Requests, EachMapOfAProbeIsSentOnce) {
    ProbeResult whole;
    whole.sides = {{"objects", {}}};
    for (int layer = 0; layer < 3; ++layer) {
        whole.layers.push_back({"layer " + std::to_string(layer + 1), 0, 0});
        const auto value = static_cast<float>(layer);
        for (const auto kind : {MapKind::Relation, MapKind::SensoryAttention})
            whole.maps.push_back({kind, layer, 0, 1, 2, {value, -value}});
    }
    std::sort(whole.maps.begin(), whole.maps.end(), [](const auto& a, const auto& b) {
        return std::pair(a.kind, a.layer) < std::pair(b.kind, b.layer);
    });
    std::vector<std::size_t> sizes;
    PlayedSessions sessions({[&](Played& played) {
        greet(played);
        const Json request = played.next();
        wire::SentMaps sent;
        const auto rest = [&](int layers, Bytes& blob) {
            ProbeResult known = whole;
            std::erase_if(known.maps, [&](const auto& map) { return map.layer >= layers; });
            known.partial = layers < 3;
            known = sent.unsent(known);
            sizes.push_back(known.maps.size());
            return wire::resultToJson(known, blob);
        };
        for (const int layers : {1, 2}) {
            Bytes blob;
            const Json part = rest(layers, blob);
            played.send({{"id", request["id"]}, {"part", part}}, blob);
        }
        Bytes blob;
        const Json ok{{"base", rest(3, blob)}, {"points", std::vector<PointInfo>()},
                      {"baseNumber", 1},       {"pointsNumber", 1},
                      {"problem", ""},         {"means", TakenMeans()}};
        played.send({{"id", request["id"]}, {"ok", ok}}, blob);
    }});
    wire::Session session(sessions.start());
    std::vector<std::size_t> shown;
    const auto probed = wire::Prober().probe(
        session, kProbe, {}, [&](const ProbeResult& part) { shown.push_back(part.maps.size()); });
    EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 2, 2}));
    EXPECT_EQ(shown, (std::vector<std::size_t>{2, 4}));
    EXPECT_EQ(probed.result->maps, whole.maps);
    EXPECT_FALSE(probed.result->partial);
}

// Libraries open pipes without O_CLOEXEC: libdbus starts its daemon so while the session starts.
TEST(ChildProcess, InheritsNoOtherDescriptors) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe(ends), 0);
    const wire::Descriptor read(ends[0]);
    wire::Descriptor write(ends[1]);
    const wire::ChildProcess sleeps({"sleep", "60"}, {{write.get(), 7}});
    const wire::ChildProcess other({"sleep", "60"}, {});
    write = {};
    ::kill(sleeps.id(), SIGKILL);
    ASSERT_TRUE(sleeps.status(10s));
    pollfd ended{read.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ended, 1, 5000), 1) << "the other child holds the pipe";
    EXPECT_FALSE(other.status());
    ::kill(other.id(), SIGKILL);
}

}  // namespace
}  // namespace relascope
