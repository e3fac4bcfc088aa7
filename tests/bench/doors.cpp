// SPDX-License-Identifier: GPL-3.0-or-later
// What watching a run costs it, and how fast its door answers (`quick`, one thread). One line a
// figure:
//   latency  pause, probe and the age of points, with as many busy processes beside it as were
//   asked for speed    steps a second with nobody at the door, with five that listen, and beside
//   one that is
//            connected, asks and never reads, in turns
//
//   bench_doors [SECONDS of each part: 20] [BUSY processes: 1]
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "options/presets.h"
#include "run/run_process.h"
#include "support/temporary_folder.h"
#include "wire/run_door.h"
#include "wire/start_run.h"

using namespace relascope;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::int64_t kSteps = 20000, kPointEvery = kSteps / 20000;  // train/run_metrics.h

double milliseconds(Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

void print(const char* name, std::vector<double> values) {
    std::sort(values.begin(), values.end());
    if (values.empty()) return;
    const auto at = [&](double part) {
        return values[std::min(values.size() - 1, static_cast<std::size_t>(
                                                      part * static_cast<double>(values.size())))];
    };
    std::printf("latency  %-28s %5zu times  p50 %7.1f  p99 %7.1f  most %7.1f ms\n", name,
                values.size(), at(0.5), at(0.99), values.back());
}

/// A window that listens.
class Watcher {
public:
    explicit Watcher(wire::Descriptor door) {
        m_thread = std::jthread([this, door = std::move(door)](std::stop_token stop) mutable {
            wire::DoorClient::Listener listener;
            listener.state = [this](const RunInfo& info) { add([&] { state = info.state; }); };
            listener.progress = [this](const Progress& news) { add([&] { step = news.step; }); };
            listener.answer = [this](const ProbeAnswer& answer) {
                add([&] { answered = answer.request; });
            };
            client.run(std::move(door), listener, stop);
        });
    }
    void await(const std::function<bool()>& holds) {
        std::unique_lock lock(m_mutex);
        if (!m_changed.wait_for(lock, 60s, holds)) std::puts("no answer in a minute"), std::exit(1);
    }

    wire::DoorClient client;
    RunState state = RunState::Queued;
    std::int64_t step = 0;
    std::uint64_t answered = 0;

private:
    void add(const std::function<void()>& change) {
        std::lock_guard lock(m_mutex);
        change();
        m_changed.notify_all();
    }
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::jthread m_thread;
};

class Busy {
public:
    explicit Busy(int count) {
        for (int i = 0; i < count; ++i) {
            const auto child = ::fork();
            if (child == 0)
                for (std::atomic<unsigned> turn = 0;;) ++turn;
            m_children.push_back(child);
        }
    }
    ~Busy() {
        for (const auto child : m_children) ::kill(child, SIGKILL), ::waitpid(child, nullptr, 0);
    }

private:
    std::vector<pid_t> m_children;
};

/// Steps a second, from what is written about them.
double rate(const std::string& run, double seconds) {
    const auto lines = [&] {
        const auto text = core::readTextFile(run + "/metrics.jsonl");
        return std::count(text.begin(), text.end(), '\n');
    };
    std::this_thread::sleep_for(1s);  // written at least so often
    const auto before = lines();
    const auto begin = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return static_cast<double>((lines() - before) * kPointEvery) /
           milliseconds(Clock::now() - begin) * 1000;
}

}  // namespace

int main(int argc, char** argv) {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 20.0;
    const int count = argc > 2 ? std::atoi(argv[2]) : 1;
    testing_support::TemporaryFolder home{"bench_doors"};
    RunOptions options = core::presetOptions("quick");
    options.train.steps = kSteps;
    options.train.evaluate_every = 100000;
    options.train.device = "cpu";
    wire::StartRequest request{options, home.path(), {}, 1, false, {}};
    auto started = wire::startRun(request, {});
    const std::string run = started.path;
    {
        auto watcher = std::make_unique<Watcher>(std::move(started.door));
        watcher->await([&] { return watcher->step > 20; });
        const auto data = datasets::openData(options.data);
        const ProbeSample sample = data.validation->sample(0);
        const Busy busy(count);
        const auto end = [&] { return Clock::now() + std::chrono::duration<double>(seconds); };
        std::vector<double> pauses, probes, ages;
        for (const auto until = end(); Clock::now() < until;) {
            auto asked = Clock::now();
            watcher->client.send("pause");
            watcher->await([&] { return watcher->state == RunState::Paused; });
            pauses.push_back(milliseconds(Clock::now() - asked));
            watcher->client.send("resume");
            watcher->await([&] { return watcher->state == RunState::Running; });
            std::this_thread::sleep_for(30ms);
        }
        std::uint64_t number = 0;
        for (const auto until = end(); Clock::now() < until;) {
            const auto asked = Clock::now();
            watcher->client.probe(++number, sample, {}, false);
            watcher->await([&] { return watcher->answered == number; });
            probes.push_back(milliseconds(Clock::now() - asked));
            std::this_thread::sleep_for(30ms);
        }
        // A point is at most as old as the file has not grown.
        const auto size = [&] {
            struct stat info {};
            ::stat((run + "/metrics.jsonl").c_str(), &info);
            return info.st_size;
        };
        auto known = size();
        auto grown = Clock::now();
        for (const auto until = end(); Clock::now() < until; std::this_thread::sleep_for(2ms))
            if (const auto now = size(); now != known) {
                ages.push_back(milliseconds(Clock::now() - grown));
                grown = Clock::now(), known = now;
            }
        print("pause until paused", pauses);
        print("probe until its answer", probes);
        print("points not written for", ages);
    }
    std::vector<double> alone, watched, silent;
    for (int turn = 0; turn < 3; ++turn) {
        alone.push_back(rate(run, seconds / 3));
        {
            std::vector<std::unique_ptr<Watcher>> watchers;
            for (int i = 0; i < 5; ++i)
                watchers.push_back(std::make_unique<Watcher>(wire::doorOf(run)));
            watched.push_back(rate(run, seconds / 3));
        }
        {
            // A window that is stopped: connected, with questions, and reading nothing.
            const auto door = wire::doorOf(run);
            const auto hello = wire::frameBytes(
                {{"m", "hello"}, {"protocol", core::kDoorProtocol}, {"version", "bench"}});
            if (::send(door.get(), hello.data(), hello.size(), MSG_NOSIGNAL) < 0) return 1;
            silent.push_back(rate(run, seconds / 3));
        }
    }
    const auto middle = [](std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return values[values.size() / 2];
    };
    std::printf(
        "speed    alone %.1f steps/s, five windows %.3f times that, one that does not read %.3f "
        "times\n",
        middle(alone), middle(watched) / middle(alone), middle(silent) / middle(alone));
    Watcher last(wire::doorOf(run));
    last.client.send("cancel");
    for (int i = 0; i < 200 && core::isTrained(run); ++i) std::this_thread::sleep_for(50ms);
}
