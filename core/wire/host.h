// SPDX-License-Identifier: GPL-3.0-or-later
// Machines that are reached by a command, where sessions, trainings and doors are the same programs
// as here. The files of a far run that are shown lie in a mirror, a folder of this machine; paths
// in it are sent as the paths of the far run.
//
//   ssh gpu1  sh -c '... exec relascope-cli session'        requests (requests.h, host_files.h)
//   ssh gpu1  sh -c '... exec relascope-cli attach RUN'     a frame {m: attached} or
//                                                           {m: refused, text}, then the door
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "wire/session.h"

namespace relascope::wire {

struct Host {
    std::string name;            ///< "gpu1", in lists
    std::string reach;           ///< the command that passes stdin and stdout there: "ssh gpu1"
    std::string launch;          ///< put before trainings there: "srun --gres=gpu:1"; may be empty
    bool launchesViews = false;  ///< `launch` is put before sessions that open models, too
    std::string runs;            ///< folder of runs there; empty: the one of the program there
    bool asks = true;            ///< ssh may ask for a password; not for automatic connections
    bool operator==(const Host&) const = default;
};

/// The words of a command line, as a shell of POSIX divides them; quotes and backslashes count,
/// nothing is expanded. Throws OptionError(`field`, ...) for a quote that does not end.
std::vector<std::string> wordsOf(const std::string& line, const char* field);
/// Throws OptionError for a name that is empty or no name of a folder, and for commands without
/// words or with wrong ones.
void checkHost(const Host& host);

/// The hosts that are known, for all threads.
void setHosts(std::vector<Host> hosts);
std::optional<Host> findHost(const std::string& name);

/// The path of a file on a host, or "served:NAME" of a model that is served there.
struct FarPath {
    std::string host, path;
    bool operator==(const FarPath&) const = default;
};
/// The folder of all mirrors: ~/.cache/relascope/hosts, or below $XDG_CACHE_HOME.
std::string mirrorFolder();
/// The place of a host's path in its mirror. Throws FileError for a path that is not absolute or
/// has "..".
std::string mirrorPath(const std::string& host, const std::string& path);
/// The host's path that a path in the mirror stands for, and what "served:NAME@HOST" is there;
/// nothing for another path.
std::optional<FarPath> farPathOf(const std::string& path);
/// Replaces each string that farPathOf() knows by the host's path. Returns the host; empty
/// without such a path. Throws Error for paths of two hosts.
std::string takeFarPaths(Json& request);

/// The words that run a command on the host: the words of Host::reach (for ssh with options to
/// share connections and to notice dead ones), and `words`. Throws OptionError.
std::vector<std::string> reachCommand(const Host& host, const std::vector<std::string>& words);
/// Variables for the environment of reachCommand(): for ssh, those that let the window ask for
/// passwords (app/askpass.h).
std::vector<std::string> reachEnvironment(const Host& host);
/// The last line that a command has written to a file.
std::string lastLineOf(const Descriptor& file);

/// The words that run relascope-cli on the host with `arguments`, in this version if it was
/// installed there by installThere(); `before` is put before it (Host::launch).
std::vector<std::string> farCommand(const Host& host, const std::vector<std::string>& arguments,
                                    const std::string& before = {});

/// Connects to a program on a host; output before its first frame is dropped. `wanted` is asked
/// every 50 ms. Throws Error with the last line that the command has written, Cancelled.
SessionProcess startFar(const Host& host, const std::vector<std::string>& arguments,
                        const std::string& before, const std::function<bool()>& wanted);
/// Why a connection has ended: "gpu1 cannot be reached: ...", with the last line that the command
/// has written.
std::string whyUnreachable(const Host& host, const SessionProcess& process);

/// The door of a run on a host. Throws Error with a sentence where there is none, Cancelled.
Descriptor farDoor(const FarPath& run, const std::function<bool()>& wanted);

}  // namespace relascope::wire
