// SPDX-License-Identifier: GPL-3.0-or-later
// Files of fitted relations ("relascope-relation/1", resources/docs/formats.md section 22): a
// relation of a stream, r = <A (x_i - m_i), B (x_j - m_j)> + b. Does not include torch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "types/edit.h"

namespace relascope::core {

inline constexpr const char* kRelationFormat = "relascope-relation/1";

struct RelationFile {
    std::int64_t rank = 0, width = 0;
    std::int64_t places = 0;  ///< places with a mean; 1: one mean for all
    std::vector<float> a, b;  ///< A and B, [rank, width]
    std::vector<float> mean;  ///< means m of the places, [places, width]
    float bias = 0.0F;
    std::int64_t firstTokens = 0;  ///< positions before the first place
    std::string point;             ///< hook point of the stream
    std::string fact, form;        ///< form: one of those of fit.h; empty: bilinear
    /// All that the file says of itself, these members too; what is not written has no entry.
    std::map<std::string, std::string> metadata;
    bool operator==(const RelationFile&) const = default;
};

/// Reads a file; the header is checked before anything is allocated. Throws FileError that names
/// the tensor or the entry of the metadata.
RelationFile readRelation(const std::string& path);
/// Throws FileError if no relation can be written there: it is asked before minutes of measuring.
void requireRelationFile(const std::string& path);
/// Writes a file atomically. Throws FileError, also if the file exists and holds something else.
void writeRelation(const RelationFile& relation, const std::string& path);
/// The name of the file that words mean: "same-kind" is "same-kind.safetensors".
std::string relationFileOf(const std::string& name);
/// What stands for a file as it is now: its name, time and size. The same name may be saved anew.
std::string relationState(const std::string& path);
/// The states of the files that edits name, in force or not.
std::vector<std::string> relationStates(const EditList& edits);

}  // namespace relascope::core
