// SPDX-License-Identifier: GPL-3.0-or-later
// What identifies weights and files that a view is of. Does not include torch.
#pragma once

#include <string>

namespace relascope::core {

/// "sha256:..." of a file's content. It is kept in the cache of the program, for as long as size
/// and time of the file stay. Of a blob of the hub's cache it is the name, which is its SHA-256.
/// Throws FileError.
std::string fileChecksum(const std::string& path);

/// The checksum of the weights that a path stands for, a checkpoint or a run with the word of
/// --checkpoint:
///   "crc32:..."   of a kept step, that of its values (formats.md section 11): its file may be
///                 written anew in another form of storage
///   "sha256:..."  of the file of the weights; of several that of their names and checksums; of a
///                 step without weights that of its captured maps
/// Throws FileError; of a word that no step has, OptionError.
std::string weightsChecksum(const std::string& path, const std::string& checkpoint = {});

}  // namespace relascope::core
