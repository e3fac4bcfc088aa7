// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranks/communicator.h"

#define USE_C10D_GLOO
#include <torch/version.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <future>
#include <thread>

// The declarations in gloo_declarations/ stand for the headers that this version was built with.
static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 11,
              "read c10d/ProcessGroupGloo.hpp of the new LibTorch: the layout of the class and the "
              "names of gloo in it must still be those of gloo_declarations/");

namespace relascope::core {
namespace {

// The message of c10d or gloo, without the stack and the place in their sources.
std::string cause(const std::exception& error) {
    auto text = userMessage(error);
    if (text.starts_with('[')) {
        const auto end = text.find("] ");
        if (end != std::string::npos) text = text.substr(end + 2);
    }
    return text.substr(0, text.find('\n'));
}

template <class Work>
auto orLost(Work work) {
    try {
        return work();
    } catch (const RankLost&) {
        throw;
    } catch (const std::exception& error) {
        throw RankLost(cause(error));
    }
}

class TcpRankStore : public RankStore {
public:
    explicit TcpRankStore(const RankPlace& place) {
        FLAGS_caffe2_log_level = c10::GLOG_FATAL;  // errors are reported once, by exceptions
        c10d::TCPStoreOptions options;
        options.isServer = place.rank == 0;
        options.port = place.port;
        options.waitWorkers = false;
        options.timeout = place.timeout;
        // A socket of the store itself would listen at every address of the machine.
        if (place.listening >= 0) options.masterListenFd = place.listening;
        m_whole = opened(place, options);
        m_store = c10::make_intrusive<c10d::PrefixStore>(place.key, m_whole);
    }

    void set(const std::string& key, const std::string& text) override {
        orLost([&] { m_store->set(key, std::vector<std::uint8_t>(text.begin(), text.end())); });
    }
    std::optional<std::string> find(const std::string& key) override {
        return orLost([&]() -> std::optional<std::string> {
            if (!m_store->check({key})) return std::nullopt;
            const auto bytes = m_store->get(key);
            return std::string(bytes.begin(), bytes.end());
        });
    }
    std::string wait(const std::string& key, std::chrono::milliseconds timeout) override {
        return orLost([&] {
            m_store->wait({key}, timeout);
            const auto bytes = m_store->get(key);
            return std::string(bytes.begin(), bytes.end());
        });
    }
    const c10::intrusive_ptr<c10d::Store>& store() const { return m_store; }

private:
    using Store = c10::intrusive_ptr<c10d::TCPStore>;
    // A program that is no store of ours may take the connection and never answer, which c10d would
    // wait for without end: it waits in a thread of its own, which is left behind then.
    static Store opened(const RankPlace& place, const c10d::TCPStoreOptions& options) {
        const auto open = [host = place.host, options] {
            return c10::make_intrusive<c10d::TCPStore>(host, options);
        };
        if (place.rank == 0) return orLost(open);
        std::packaged_task<Store()> task(open);
        auto result = task.get_future();
        std::thread(std::move(task)).detach();
        const auto where = place.host + " at port " + std::to_string(place.port);
        const auto allowed = place.timeout + std::chrono::seconds(5);  // c10d keeps it loosely
        if (result.wait_for(allowed) == std::future_status::ready) try {
                return result.get();
            } catch (const std::exception& error) {
                throw RankLost("rank 0 was not found at " + where + " within " +
                               std::to_string(place.timeout.count()) +
                               " s; start it there, or give its address with --rendezvous");
            }
        throw RankLost("what listens at " + where + " has not answered within " +
                       std::to_string(place.timeout.count()) +
                       " s, and is perhaps another program; give another port with --rendezvous");
    }

    c10::intrusive_ptr<c10d::TCPStore> m_whole;
    c10::intrusive_ptr<c10d::Store> m_store;
};

// The address of this machine that reaches the one of rank 0.
std::string ownAddress(const RankPlace& place) {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_DGRAM;
    const auto port = std::to_string(place.port);
    if (const int error = getaddrinfo(place.host.c_str(), port.c_str(), &hints, &found))
        throw Error("the machine of rank 0, " + place.host +
                    ", was not found: " + gai_strerror(error) + "; give its address");
    std::string address;
    for (const auto* a = found; a && address.empty(); a = a->ai_next) {
        const int s = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (s < 0) continue;
        sockaddr_storage own{};
        socklen_t size = sizeof own;
        std::array<char, NI_MAXHOST> text{};
        // Sends nothing: it only chooses the way.
        if (connect(s, a->ai_addr, a->ai_addrlen) == 0 &&
            getsockname(s, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
            getnameinfo(reinterpret_cast<const sockaddr*>(&own), size, text.data(), text.size(),
                        nullptr, 0, NI_NUMERICHOST) == 0)
            address = text.data();
        close(s);
    }
    freeaddrinfo(found);
    if (address.empty())
        throw Error("the machine of rank 0, " + place.host + ", cannot be reached from here");
    return address;
}

class GlooPending : public Pending {
public:
    GlooPending(c10::intrusive_ptr<c10d::Work> work, torch::Tensor tensor)
        : m_work(std::move(work)), m_tensor(std::move(tensor)) {}
    void wait() override {
        orLost([&] { m_work->wait(); });
    }

private:
    c10::intrusive_ptr<c10d::Work> m_work;
    torch::Tensor m_tensor;
};

class GlooCommunicator : public Communicator {
public:
    GlooCommunicator(const TcpRankStore& store, const RankPlace& place)
        : Communicator(place.rank, place.size) {
        auto options = c10d::ProcessGroupGloo::Options::create(place.timeout);
        orLost([&] {
            options->devices.push_back(
                c10d::ProcessGroupGloo::createDeviceForHostname(ownAddress(place)));
            m_group = c10::make_intrusive<c10d::ProcessGroupGloo>(
                c10::make_intrusive<c10d::PrefixStore>("gloo", store.store()), place.rank,
                place.size, options);
        });
    }

    std::unique_ptr<Pending> allReduce(torch::Tensor flat) override {
        std::vector<torch::Tensor> tensors{flat};
        return orLost([&] {
            return std::make_unique<GlooPending>(m_group->allreduce(tensors), std::move(flat));
        });
    }
    void broadcast(torch::Tensor flat, int root) override {
        std::vector<torch::Tensor> tensors{std::move(flat)};
        c10d::BroadcastOptions options;
        options.rootRank = root;
        orLost([&] { m_group->broadcast(tensors, options)->wait(); });
    }
    void allGather(torch::Tensor all, torch::Tensor own) override {
        orLost([&] { m_group->_allgather_base(all, own)->wait(); });
    }

private:
    c10::intrusive_ptr<c10d::Backend> m_group;
};

}  // namespace

std::unique_ptr<RankStore> openRankStore(const RankPlace& place) {
    return std::make_unique<TcpRankStore>(place);
}

std::unique_ptr<Communicator> makeGlooCommunicator(RankStore& store, const RankPlace& place) {
    return std::make_unique<GlooCommunicator>(dynamic_cast<TcpRankStore&>(store), place);
}

}  // namespace relascope::core
