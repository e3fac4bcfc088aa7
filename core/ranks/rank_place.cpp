// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranks/rank_place.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "types/error.h"

extern char** environ;

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
using Environment = std::map<std::string, std::string>;

// The variables of a launcher for the rank, the number of ranks, the rank within the machine, the
// number of ranks of the machine, and its job. srun comes first: under it Open MPI's own may be set
// too.
struct Launcher {
    const char *name, *rank, *size, *localRank, *localSize, *job;
};
constexpr std::array<Launcher, 4> kLaunchers = {{
    {"relascope-cli", "RELASCOPE_RANK", "RELASCOPE_RANKS", "RELASCOPE_RANK", "RELASCOPE_RANKS", ""},
    // SLURM_STEP_NUM_TASKS is set in a step of srun alone: a batch script has SLURM_NTASKS and
    // SLURM_PROCID as well.
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "", "SLURM_JOB_ID"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
}};

std::optional<int> numberOf(const Environment& environment, const char* name) {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    const auto& text = found->second;
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        throw OptionError(name, "'" + text + "' is not a number");
    return value;
}

std::string textOf(const Environment& environment, const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
}

std::uint16_t portOf(const std::string& text, const std::string& field) {
    int port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535)
        throw OptionError(field, "'" + text + "' is not a port; give one from 1 to 65535");
    return static_cast<std::uint16_t>(port);
}

// srun gives "4" or, of several machines, "4(x3),2".
int localSizeOf(const Environment& environment, const Launcher& launcher) {
    if (std::string_view(launcher.name) != "srun")
        return std::max(1, numberOf(environment, launcher.localSize).value_or(1));
    const auto text = textOf(environment, "SLURM_STEP_TASKS_PER_NODE");
    int size = 1;
    std::from_chars(text.data(), text.data() + text.size(), size);
    return std::max(1, size);
}

// Whether all ranks are on this machine; srun does not say so in one number.
bool isOneMachine(const Environment& environment, const Launcher& launcher, int size) {
    if (std::string_view(launcher.name) == "srun") {
        const auto nodes = numberOf(environment, "SLURM_STEP_NUM_NODES");
        return nodes && *nodes == 1;
    }
    const auto local = numberOf(environment, launcher.localSize);
    return local && *local == size;
}

std::string meetingFile(const std::string& launcher, const Environment& environment,
                        const char* job) {
    std::string id = textOf(environment, job);
    if (launcher == "srun") id += "." + textOf(environment, "SLURM_STEP_ID");
    if (id.empty()) id = std::to_string(getppid());  // one process has started the ranks
    for (char& c : id)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
    const auto runtime = textOf(environment, "XDG_RUNTIME_DIR");
    std::error_code ignored;
    const auto folder = !runtime.empty() && fs::is_directory(runtime, ignored) ? fs::path(runtime)
                                                                               : fs::path("/tmp");
    return (folder / ("relascope-ranks-" + std::to_string(getuid()) + "-" + launcher + "-" + id))
        .string();
}

}  // namespace

void readRendezvous(const std::string& text, RankPlace& place) {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0)
        throw OptionError("--rendezvous", "'" + text + "' is not HOST:PORT, as in node1:29500");
    auto host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    place.port = portOf(text.substr(colon + 1), "--rendezvous");
    place.host = std::move(host);
}

std::map<std::string, std::string> processEnvironment() {
    Environment all;
    for (char** entry = environ; entry && *entry; ++entry) {
        const std::string_view text(*entry);
        const auto equals = text.find('=');
        if (equals != std::string_view::npos)
            all.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return all;
}

std::optional<RankPlace> launchedPlace(const Environment& environment,
                                       const std::string& rendezvous) {
    numberOf(environment, "SLURM_NTASKS");  // throws: a job whose numbers are wrong does not begin
    for (const auto& launcher : kLaunchers) {
        const auto rank = numberOf(environment, launcher.rank);
        const auto size = numberOf(environment, launcher.size);
        // RANK alone may be a variable of something else.
        if (rank && *rank > 0 && !size && std::string_view(launcher.name) != "torchrun")
            throw OptionError(launcher.size, "is missing, and " + std::string(launcher.rank) +
                                                 " is " + std::to_string(*rank) +
                                                 "; start the ranks with " + launcher.name +
                                                 ", or unset " + launcher.rank);
        if (!rank || !size || *size < 2) continue;
        if (*rank >= *size)
            throw OptionError(launcher.rank, std::to_string(*rank) + " is not below " +
                                                 launcher.size + ", " + std::to_string(*size));
        RankPlace place;
        place.rank = *rank, place.size = *size;
        place.localRank = numberOf(environment, launcher.localRank).value_or(0);
        place.localSize = localSizeOf(environment, launcher);
        if (!rendezvous.empty()) {
            readRendezvous(rendezvous, place);
            place.key = textOf(environment, launcher.job);
            return place;
        }
        const std::string_view name(launcher.name);
        if (name == "relascope-cli") {
            place.host = textOf(environment, "RELASCOPE_RANK_HOST");
            place.port = portOf(textOf(environment, "RELASCOPE_RANK_PORT"), "RELASCOPE_RANK_PORT");
            place.key = textOf(environment, "RELASCOPE_RANK_KEY");
            if (const auto timeout = numberOf(environment, "RELASCOPE_RANK_TIMEOUT"))
                place.timeout = std::chrono::seconds(*timeout);
            return place;
        }
        const auto address = textOf(environment, "MASTER_ADDR"),
                   port = textOf(environment, "MASTER_PORT");
        if (name == "torchrun" && !address.empty() && !port.empty()) {
            place.host = address;
            // torchrun's own store may listen at that port.
            const int own = portOf(port, "MASTER_PORT") + 1;
            place.port = static_cast<std::uint16_t>(own > 65535 ? own - 2 : own);
            place.key = textOf(environment, launcher.job);
            return place;
        }
        if (!isOneMachine(environment, launcher, *size))
            throw OptionError("--rendezvous",
                              "is missing: " + std::string(name) + " has started " +
                                  std::to_string(*size) +
                                  " ranks on several machines; give HOST:PORT of the one with rank "
                                  "0, as in --rendezvous node1:29500");
        meetThroughFile(place, meetingFile(std::string(name), environment, launcher.job));
        return place;
    }
    return std::nullopt;
}

std::string randomKey() {
    std::random_device source;
    std::string key;
    for (int i = 0; i < 8; ++i) {
        std::array<char, 9> digits{};
        std::snprintf(digits.data(), digits.size(), "%08x", source());
        key += digits.data();
    }
    return key;
}

void listenAt(RankPlace& place) {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    const auto port = std::to_string(place.port);
    const auto where = place.host + ":" + port;
    if (const int error = getaddrinfo(place.host.c_str(), port.c_str(), &hints, &found))
        throw Error("the ranks cannot meet at " + where + ": " + gai_strerror(error));
    std::string problem = "it has no address";
    for (const auto* a = found; a && place.listening < 0; a = a->ai_next) {
        const int one = 1, s = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (s < 0) continue;
        setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        sockaddr_storage own{};
        socklen_t size = sizeof own;
        if (bind(s, a->ai_addr, a->ai_addrlen) == 0 && listen(s, 128) == 0 &&
            getsockname(s, reinterpret_cast<sockaddr*>(&own), &size) == 0) {
            place.listening = s;
            place.port = ntohs(own.ss_family == AF_INET6
                                   ? reinterpret_cast<const sockaddr_in6*>(&own)->sin6_port
                                   : reinterpret_cast<const sockaddr_in*>(&own)->sin_port);
        } else {
            problem = std::strerror(errno);
            close(s);
        }
    }
    freeaddrinfo(found);
    if (place.listening < 0)
        throw Error("the ranks cannot meet at " + where + ": " + problem +
                    "; give another address or port of the machine of rank 0");
}

void meetThroughFile(RankPlace& place, const std::string& file) {
    if (place.rank == 0) {
        listenAt(place);
        place.key = randomKey();
        place.meetingFile = file;
        const auto text = std::to_string(place.port) + ' ' + place.key + '\n';
        const auto fresh = file + ".new";
        unlink(fresh.c_str());
        const int out = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        const bool written =
            out >= 0 && write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size());
        if (out >= 0) close(out);
        if (!written || rename(fresh.c_str(), file.c_str()) != 0)
            throw FileError(file, std::string("cannot be written: ") + std::strerror(errno) +
                                      "; the ranks of this machine meet through it");
        return;
    }
    const auto until = std::chrono::steady_clock::now() + place.timeout;
    for (;;) {
        struct stat found {};
        if (stat(file.c_str(), &found) == 0 && found.st_uid == getuid()) {
            std::ifstream in(file);
            if (in >> place.port >> place.key && place.key.size() == 64) return;
        }
        if (std::chrono::steady_clock::now() > until)
            throw Error("rank 0 did not write " + file + " within " +
                        std::to_string(place.timeout.count()) + " s");
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

}  // namespace relascope::core
