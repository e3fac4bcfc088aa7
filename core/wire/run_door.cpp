// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/run_door.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <fstream>
#include <random>
#include <utility>

#include "options/builtin_resources.h"
#include "options/field_text.h"
#include "run/run_folder.h"
#include "run/run_process.h"
#include "wire/types.h"

namespace relascope::wire {
namespace {

std::string freshSocket() {
    std::random_device random;
    return runtimeFolder() + "/run-" + std::to_string(::getpid()) + "-" +
           std::to_string(random() % 1000000) + ".sock";
}

Json helloMessage() {
    return {{"m", "hello"},
            {"protocol", core::kDoorProtocol},
            {"version", core::builtin::version()},
            {"pid", ::getpid()}};
}

}  // namespace

// A connection. Messages not sent yet are shared between threads; the rest is the door thread's.
struct RunDoor::Client {
    Client(Descriptor socket, std::uint64_t asker) : connection(std::move(socket)), asker(asker) {}

    /// The newest of each kind.
    struct News {
        std::optional<Json> greeting;
        std::optional<std::string> waiting;
        std::optional<double> preparing;
        std::optional<RunInfo> info;
        std::optional<Progress> progress;
        std::vector<std::string> failures;
        std::shared_ptr<const ProbeAnswer> answer;
        bool ended = false;
    };
    Connection connection;
    const std::uint64_t asker;
    bool hello = false, lost = false;
    News news;  ///< under the mutex of the door
};

RunDoor::RunDoor(core::Control& control, std::stop_source& stop)
    : m_control(control), m_stop(stop), m_path(freshSocket()) {
    m_listening = listenAt(m_path);
    m_thread = std::jthread([this] { serve(); });
}

RunDoor::~RunDoor() {
    post([](Client& client) { client.news.ended = true; });
    m_ending = true;
    m_wake.wake();
    m_thread.join();
    ::unlink(m_path.c_str());
}

std::string RunDoor::socket() const {
    std::lock_guard lock(m_mutex);
    return m_path;
}

// The folder of sockets goes when its user logs out. RUN/.lock then names the new one.
void RunDoor::listenAgain() {
    std::lock_guard lock(m_mutex);
    try {
        if (::access(m_path.c_str(), F_OK) != 0) {
            const auto path = freshSocket();
            m_listening = listenAt(path);
            m_path = path;
        }
        auto process = core::readRunProcess(m_run);
        if (!process || process->pid != ::getpid() || process->socket == m_path) return;
        process->socket = m_path;
        std::ofstream(m_run + "/.lock") << core::processLine(*process) << "\n";
    } catch (const Error&) {  // it is tried again
    }
}

void RunDoor::post(const std::function<void(Client&)>& change) {
    {
        std::lock_guard lock(m_mutex);
        for (auto& client : m_clients) change(*client);
    }
    m_wake.wake();
}

void RunDoor::begin(const std::string& run) {
    std::lock_guard lock(m_mutex);
    m_run = run;
    m_waiting.clear();
    m_info.reset();
    m_progress.reset();
}

void RunDoor::waiting(const std::string& held) {
    {
        std::lock_guard lock(m_mutex);
        if (std::exchange(m_waiting, held) == held) return;
    }
    post([&](Client& client) { client.news.waiting = held; });
}

void RunDoor::preparing(double fraction) {
    post([&](Client& client) { client.news.preparing = fraction; });
}

void RunDoor::failed(const std::string& sentence) {
    post([&](Client& client) { client.news.failures.push_back(sentence); });
}

void RunDoor::take(TrainEvent event) {
    if (const auto* changed = std::get_if<RunChanged>(&event)) {
        {
            std::lock_guard lock(
                m_mutex);  // first: a client that says hello meanwhile gets this one
            m_info = changed->info;
        }
        post([&](Client& client) { client.news.info = changed->info; });
    } else if (const auto* progress = std::get_if<Progress>(&event)) {
        {
            std::lock_guard lock(m_mutex);
            m_progress = *progress;
            if (m_info) m_info->step = progress->step, m_info->epoch = progress->epoch;
        }
        post([&](Client& client) { client.news.progress = *progress; });
    } else if (const auto* point = std::get_if<MetricPoint>(&event)) {
        // Clients read points from the folder. A client that connects later gets the best value.
        std::lock_guard lock(m_mutex);
        if (m_info && point->split == Split::Validation) core::takeValidation(*m_info, *point);
    } else if (auto* given = std::get_if<ProbeAnswer>(&event)) {
        std::uint64_t asker = 0;
        const auto answer = std::make_shared<ProbeAnswer>(std::move(*given));
        {
            std::lock_guard lock(m_mutex);
            const auto asked = m_asked.find(answer->request);
            if (asked == m_asked.end()) return;
            answer->request = asked->second.request;
            asker = asked->second.asker;
            m_asked.erase(asked);
        }
        post([&](Client& client) {
            if (client.asker == asker) client.news.answer = answer;
        });
    } else if (const auto* problem = std::get_if<Failed>(&event)) {
        failed(problem->message);
    }
}

void RunDoor::answer(Client& client, const Frame& frame) {
    try {
        serveRequest(client, frame.message);
    } catch (const FrameError&) {
        throw;
    } catch (const Error& error) {  // a value or an edit that this run does not take
        std::lock_guard lock(m_mutex);
        client.news.failures.push_back(error.what());
    }
}

void RunDoor::serveRequest(Client& client, const Json& message) {
    const auto what = valueOf<std::string>(message, "m");
    if (what == "hello") {
        client.hello = true;
        Json greeting = helloMessage();
        std::lock_guard lock(m_mutex);
        greeting["path"] = m_run;
        client.news.greeting = std::move(greeting);
        if (!m_waiting.empty()) client.news.waiting = m_waiting;
        client.news.info = m_info;
        client.news.progress = m_progress;
    } else if (!client.hello) {
        throw FrameError("a door is asked for '" + what + "' before hello");
    } else if (what == "pause") {
        m_control.pause();
    } else if (what == "resume") {
        m_control.resume();
    } else if (what == "step") {
        m_control.step();
    } else if (what == "stop") {
        m_control.stopAfterEpoch();
    } else if (what == "cancel") {
        m_stop.request_stop();
    } else if (what == "begin") {
        m_control.begin();
    } else if (what == "change") {
        const auto key = valueOf<std::string>(message, "key");
        const auto& field = RunOptions::field(key);
        m_control.changeOption(
            key, core::parseFieldValue(key, field.spec, valueOf<std::string>(message, "text")));
    } else if (what == "edits") {
        m_control.setInterventions(valueOf<EditList>(message, "list"));
    } else if (what == "probe") {
        // The newest request of each client is the one that is answered.
        std::lock_guard lock(m_mutex);
        std::erase_if(m_asked, [&](const auto& a) { return a.second.asker == client.asker; });
        m_asked[++m_number] = {client.asker, valueOf<std::uint64_t>(message, "request")};
        m_control.probe(m_number, valueOf<ProbeSample>(message, "sample"),
                        valueOf<EditList>(message, "edits"), valueOf<bool>(message, "points"),
                        client.asker);
    } else {
        throw FrameError("a door does not know '" + what + "'");
    }
}

// Puts the messages that a client has not got yet into its buffer, once that is empty.
void RunDoor::fill(Client& client) {
    if (client.connection.isSending()) return;
    Client::News news;
    {
        std::lock_guard lock(m_mutex);
        if (!client.hello && !client.news.ended) return;
        news = std::exchange(client.news, {});
    }
    const auto send = [&](const char* name, Json message) {
        message["m"] = name;
        client.connection.send(frameBytes(message));
    };
    if (news.greeting) client.connection.send(frameBytes(*news.greeting));
    if (news.waiting) send("waiting", {{"text", *news.waiting}});
    if (news.preparing) send("preparing", {{"fraction", *news.preparing}});
    if (news.progress) send("progress", *news.progress);
    if (news.info) send("state", {{"info", *news.info}});
    for (const auto& sentence : news.failures) send("failed", {{"text", sentence}});
    if (news.answer) {
        Frame frame = answerFrame(*news.answer);
        frame.message["m"] = "answer";
        try {
            client.connection.send(frameBytes(frame.message, frame.blob));
        } catch (const FrameError& error) {  // maps of more than half a GiB
            send("answer", answerFrame({news.answer->request, {}, {}, error.what()}).message);
        }
    }
    if (news.ended) send("ended", Json::object());
}

void RunDoor::serve() {
    using Clock = std::chrono::steady_clock;
    const auto began = Clock::now();
    std::optional<Clock::time_point> ending;
    for (auto looked = began;;) {
        if (Clock::now() - looked > std::chrono::seconds(1)) {
            listenAgain();
            looked = Clock::now();
        }
        // Read before the news are sent, so that the last news are sent before the loop ends.
        const bool last = m_ending;
        // Only this thread adds and removes clients.
        for (auto& client : m_clients) {
            try {
                fill(*client);
                if (client->connection.write()) continue;
                client->lost = true;  // requests that it sent before it went are served
                client->connection.read([&](const Frame& frame) { answer(*client, frame); });
            } catch (const std::exception&) {
                client->lost = true;
            }
        }
        std::vector<pollfd> waiting = {{m_wake.get(), POLLIN, 0}, {m_listening.get(), POLLIN, 0}};
        bool sending = false;
        {
            std::lock_guard lock(m_mutex);
            const auto isLost = [](const auto& client) { return client->lost; };
            if (std::erase_if(m_clients, isLost) > 0 && m_endsWithFirst) m_stop.request_stop();
        }
        for (auto& client : m_clients) {
            const bool more = client->connection.isSending();
            sending |= more;
            waiting.push_back(
                {client->connection.get(), static_cast<short>(POLLIN | (more ? POLLOUT : 0)), 0});
        }
        m_control.setWatched(std::any_of(m_clients.begin(), m_clients.end(),
                                         [](const auto& client) { return client->hello; }));
        if (last && !ending) ending = Clock::now();
        if (ending && (!sending || Clock::now() - *ending > std::chrono::seconds(1))) return;
        if (::poll(waiting.data(), waiting.size(), ending ? 50 : 1000) < 0 && errno != EINTR)
            return;
        m_wake.clear();
        for (std::size_t i = 2; i < waiting.size(); ++i) {
            auto& client = *m_clients[i - 2];
            if (!(waiting[i].revents & (POLLIN | POLLHUP | POLLERR))) continue;
            try {
                client.lost |=
                    !client.connection.read([&](const Frame& frame) { answer(client, frame); });
            } catch (const std::exception&) {
                client.lost = true;  // it violates the protocol
            }
        }
        // Nobody has come for whom the job was started.
        if (m_endsWithFirst && m_asker == 0 && Clock::now() - began > std::chrono::seconds(10))
            m_stop.request_stop();
        if (!(waiting[1].revents & POLLIN)) continue;
        if (auto socket = acceptFrom(m_listening); socket && m_clients.size() < kMostConnections) {
            std::lock_guard lock(m_mutex);
            m_clients.push_back(std::make_unique<Client>(std::move(socket), ++m_asker));
        }
    }
}

void DoorClient::send(const Json& message) {
    {
        std::lock_guard lock(m_mutex);
        m_requests.push_back(frameBytes(message));
    }
    m_wake.wake();
}

void DoorClient::change(const std::string& key, const std::string& text) {
    send(Json{{"m", "change"}, {"key", key}, {"text", text}});
}

void DoorClient::setEdits(const EditList& edits) {
    send(Json{{"m", "edits"}, {"list", edits}});
}

void DoorClient::probe(std::uint64_t request, const ProbeSample& sample, const EditList& edits,
                       bool points) {
    send(Json{{"m", "probe"},
              {"request", request},
              {"sample", sample},
              {"edits", edits},
              {"points", points}});
}

DoorClient::End DoorClient::run(Descriptor door, const Listener& listener, std::stop_token stop) {
    Connection connection(std::move(door));
    connection.send(frameBytes(helloMessage()));
    const std::stop_callback wake(stop, [this] { m_wake.wake(); });
    bool ended = false;
    const auto take = [&](const Frame& frame) {
        const Json& message = frame.message;
        const auto what = valueOf<std::string>(message, "m");
        if (what == "hello") {
            if (const auto protocol = valueOf<int>(message, "protocol");
                protocol != core::kDoorProtocol)
                throw FrameError("the run is trained by Relascope " +
                                 valueOf<std::string>(message, "version") +
                                 ", which this version cannot steer; its curves are shown");
            listener.hello(valueOf<std::string>(message, "path"));
        } else if (what == "waiting") {
            listener.waiting(valueOf<std::string>(message, "text"));
        } else if (what == "preparing") {
            listener.preparing(valueOf<double>(message, "fraction"));
        } else if (what == "state") {
            listener.state(valueOf<RunInfo>(message, "info"));
        } else if (what == "progress") {
            listener.progress(message.get<Progress>());
        } else if (what == "answer") {
            listener.answer(answerFromFrame(frame));
        } else if (what == "failed") {
            listener.failed(valueOf<std::string>(message, "text"));
        } else if (what == "ended") {
            ended = true;
        }
    };
    for (;;) {
        {
            std::lock_guard lock(m_mutex);
            for (const auto& request : std::exchange(m_requests, {})) connection.send(request);
        }
        if (!connection.write()) {
            connection.read(take);  // how it ended may have come before
            return ended ? End::Ended : End::Lost;
        }
        if (stop.stop_requested()) return End::Left;
        std::array<pollfd, 2> waiting = {
            pollfd{m_wake.get(), POLLIN, 0},
            pollfd{connection.get(),
                   static_cast<short>(POLLIN | (connection.isSending() ? POLLOUT : 0)), 0}};
        if (::poll(waiting.data(), waiting.size(), 1000) < 0 && errno != EINTR) return End::Lost;
        m_wake.clear();
        if (!connection.read(take)) return ended ? End::Ended : End::Lost;
    }
}

}  // namespace relascope::wire
