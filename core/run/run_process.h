// SPDX-License-Identifier: GPL-3.0-or-later
// The process that trains a run, as it writes itself into RUN/.lock (formats.md section 9), and the
// end of a process that left no message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace relascope::core {

/// The version of the messages that a door understands (wire/run_door.h).
inline constexpr int kDoorProtocol = 2;

struct RunProcess {
    std::int64_t pid = 0;
    std::string machine;        ///< its host name
    std::string boot;           ///< the kernel's boot_id
    std::string socket;         ///< socket of its door; empty: it has none
    std::string version;        ///< version of the program
    int protocol = 0;           ///< kDoorProtocol of its door
    std::int64_t oomKills = 0;  ///< how many processes the system had ended for want of memory
    std::string job;            ///< SLURM_JOB_ID; empty outside of Slurm
    bool operator==(const RunProcess&) const = default;
};

/// This process; `socket`: the socket of its door.
RunProcess thisProcess(std::string socket = {});
/// A process as one line of JSON without a line end, and back (nothing for an empty or damaged
/// line).
std::string processLine(const RunProcess& process);
std::optional<RunProcess> processFromLine(const std::string& line);
/// Reads RUN/.lock; nothing if it is empty, as version 0.6 left it.
std::optional<RunProcess> readRunProcess(const std::string& run);

/// RUN/.far: the folder is a mirror of a run on another machine (wire/host_link.h).
struct FarRun {
    std::string host, path;
    bool held = false;  ///< a process trains it, as far as is known
    std::string ended;  ///< how its process ended if it left no message; else empty
    std::vector<std::int64_t> kept = {};  ///< steps whose weights were kept there, ascending
    bool operator==(const FarRun&) const = default;
};
/// Reads RUN/.far; nothing for a run of this machine.
std::optional<FarRun> readFarRun(const std::string& run);
/// Writes RUN/.far. Throws FileError.
void writeFarRun(const std::string& run, const FarRun& far);

/// Whether a process trains the run, or is about to (RUN/.lock or RUN/.starting is held).
bool isTrained(const std::string& run);

/// The last step with a complete checkpoint in the run; -1 without one.
std::int64_t lastWholeCheckpoint(const std::string& run);

/// One sentence on a process that holds its run no longer and has not recorded an end: the computer
/// was restarted, memory ran out, it crashed, or it was ended from outside. Looks at this machine
/// only, and names the machine of another process. `step` is where the run was, as far as is known;
/// the message of a crash is read from the log of `run`.
std::string howItEnded(const RunProcess& process, std::int64_t step, const std::string& run = {});

}  // namespace relascope::core
