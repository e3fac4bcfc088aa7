// SPDX-License-Identifier: GPL-3.0-or-later
// Where a process finds the other ranks of its run. Does not include torch.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace relascope::core {

struct RankPlace {
    int rank = 0, size = 1;
    int localRank = 0, localSize = 1;  ///< among the ranks of this machine
    /// Where rank 0 waits for the others: an address or a name, and a port.
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    int listening = -1;       ///< on rank 0: a socket that listens there already, -1: none
    std::string key;          ///< a secret of this run, without which no process finds the ranks
    std::string meetingFile;  ///< on rank 0: to be removed once all have joined; usually empty
    std::chrono::seconds timeout{600};  ///< longest wait for another rank
    /// The options of this rank as texts, which must be the same on all ranks. Empty for a rank
    /// that rank 0 has started.
    std::vector<std::string> options;
};

/// Reads "HOST:PORT" or "[IPv6]:PORT" into `place`. Throws OptionError("--rendezvous", ...).
void readRendezvous(const std::string& text, RankPlace& place);

/// The place that a launcher gives this process by its variables: srun (SLURM_PROCID), mpirun of
/// Open MPI (OMPI_COMM_WORLD_RANK), torchrun (RANK, WORLD_SIZE), or the parent that starts the
/// ranks of one machine (RELASCOPE_RANK). Nothing if there is none, or one rank alone. `rendezvous`
/// is --rendezvous, or empty. Throws OptionError if the variables contradict each other, or ranks
/// of several machines are not told where to meet.
std::optional<RankPlace> launchedPlace(const std::map<std::string, std::string>& environment,
                                       const std::string& rendezvous);
/// The environment of this process.
std::map<std::string, std::string> processEnvironment();

/// Ranks of one machine that mpirun or srun has started meet through a file, which only this user
/// can read: rank 0 opens a port there and writes it with a new key; the others wait for the file.
/// Rank 0 removes it once all have joined. Sets port, key and `listening`. Throws FileError, Error
/// after `place.timeout`.
void meetThroughFile(RankPlace& place, const std::string& file);

/// Opens a free port of `host` (an address of this machine) for rank 0, and sets `listening` and
/// `port`; a port that is set already is kept. Throws Error.
void listenAt(RankPlace& place);
/// 32 random bytes, as hexadecimal digits.
std::string randomKey();

}  // namespace relascope::core
