// SPDX-License-Identifier: GPL-3.0-or-later
// What the inspection session calls, without LibTorch.
#include "threads/fake_models.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <deque>
#include <set>
#include <utility>

#include "app/controllers/edited_probe.h"
#include "types/error.h"
#include "wire/requests.h"

namespace relascope::testing_support {
namespace {

using wire::Json;

class PlayedSession {
public:
    PlayedSession(wire::Descriptor socket, std::stop_token stop)
        : m_connection(std::move(socket)), m_stop(std::move(stop)) {}
    ~PlayedSession() { setModels(0); }

    void run() {
        send(wire::sessionHello());
        while (receive(50))
            while (!m_waiting.empty()) {
                const Json request = std::move(m_waiting.front());
                m_waiting.pop_front();
                m_id = request.at("id");
                try {
                    answer(request);
                } catch (const std::exception& error) {
                    if (!m_gone) send({{"id", m_id}, {"error", wire::errorToJson(error)}});
                }
            }
    }

private:
    void setModels(int count) {
        fakeModels().alive += count - m_models;
        m_models = count;
    }
    void send(const Json& message, const wire::Bytes& blob = {}) {
        m_connection.send(wire::frameBytes(message, blob));
        m_connection.write();
    }
    bool receive(int milliseconds) {
        pollfd waiting{m_connection.get(), POLLIN, 0};
        ::poll(&waiting, 1, milliseconds);
        m_gone = m_gone || m_stop.stop_requested() ||
                 !m_connection.read([this](const wire::Frame& frame) {
                     if (frame.message.contains("cancel"))
                         m_cancelled.insert(frame.message["cancel"].get<std::uint64_t>());
                     else if (frame.message.contains("id"))
                         m_waiting.push_back(frame.message);
                 });
        return !m_gone;
    }
    void pass(Gate& gate) {
        const auto wanted = [this] { return receive(0) && !m_cancelled.contains(m_id); };
        if (!gate.pass(wanted)) throw Cancelled();
    }
    void answer(const Json& request) {
        const auto what = request.at("m").get<std::string>();
        Json ok = Json::object();
        wire::Bytes blob;
        if (what == "open") {
            const auto path = request.at("asked").get<wire::Asked>().subjects.at(0).path;
            if (path == "damaged") throw FileError(path, "is damaged");
            pass(fakeModels().loading);
            setModels(1);
            ok = wire::OpenedWeights{ModelOptions("TransformerLM"), {}, 0};
        } else if (what == "drop") {
            setModels(0);
        } else if (what == "picture") {
            pass(fakeModels().picture);
            ProbeSample sample;
            sample.origin = request.at("file").get<std::string>();
            if (sample.origin == "damaged") throw FileError(sample.origin, "is no picture");
            ok = sample;
        } else {
            const auto asked = request.at("asked").get<wire::Asked>();
            ProbeResult result;
            result.sample = asked.sample.value_or(ProbeSample());
            if (!asked.sample)
                result.sample.origin =
                    "random " + std::to_string(asked.value<std::int64_t>("random"));
            if (what == "effects") {
                pass(fakeModels().effects);
                wire::EffectAlone effect;
                effect.answer = result.sample.origin;
                ok = std::vector<std::optional<wire::EffectAlone>>{effect};
            } else {
                result.partial = true;
                wire::Bytes part;
                Json json = wire::resultToJson(result, part);
                send({{"id", m_id}, {"part", std::move(json)}}, part);
                pass(fakeModels().probing);
                if (result.sample.origin == "random 13") throw Error("13 is refused");
                result.partial = false;
                ok["base"] = wire::resultToJson(result, blob);
                if (asked.edits.at(0).anyEnabled()) ok["result"] = wire::resultToJson(result, blob);
                ok["points"] = Json::array();
                ok["baseNumber"] = ok["pointsNumber"] = 1;
                ok["problem"] = "";
                ok["means"] = TakenMeans();
            }
        }
        send({{"id", m_id}, {"ok", std::move(ok)}}, blob);
    }

    wire::Connection m_connection;
    std::stop_token m_stop;
    std::deque<Json> m_waiting;
    std::set<std::uint64_t> m_cancelled;
    std::uint64_t m_id = 0;
    int m_models = 0;
    bool m_gone = false;
};

}  // namespace

FakeModels& fakeModels() {
    static FakeModels models;
    return models;
}

wire::SessionProcess playSession() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        throw Error("no socket pair");
    fakeModels().sessions.emplace_back(
        [theirs = wire::Descriptor(ends[1])](std::stop_token stop) mutable {
            PlayedSession(std::move(theirs), std::move(stop)).run();
        });
    return {wire::Descriptor(ends[0]), std::nullopt};
}

}  // namespace relascope::testing_support

namespace relascope::app {

widgets::Inspected inspectedOf(std::shared_ptr<const ProbeResult> result,
                               std::shared_ptr<const ProbeResult> before, const EditList&,
                               const std::vector<PointInfo>&) {
    widgets::Inspected inspected;
    inspected.result = std::move(result);
    inspected.before = std::move(before);
    return inspected;
}

QString effectText(const wire::EffectAlone& effect) {
    return QString::fromStdString(effect.answer);
}

}  // namespace relascope::app
