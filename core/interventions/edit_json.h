// SPDX-License-Identifier: GPL-3.0-or-later
// Files of edits ("relascope-edit/1", resources/docs/interventions.md). Does not include torch.
#pragma once

#include <string>

#include "types/edit.h"

namespace relascope::core {

inline constexpr const char* kEditFormat = "relascope-edit/1";
inline constexpr std::size_t kMostEdits = 1000;
inline constexpr std::size_t kLargestEditFile = std::size_t{1} << 20;  // bytes

/// Parses the text of a file; `origin` names it in errors. Throws FileError that names the field
/// and its value: unknown keys, wrong types, missing or superfluous keys of an operation, more than
/// kMostEdits edits or kLargestEditFile bytes. Paths of inputs stay as they are written; values of
/// means in a file beside are refused.
EditList editsFromJson(const std::string& text, const std::string& origin);
/// Reads a file; paths of its inputs and values are taken from its folder, and values are read.
EditList readEdits(const std::string& path);
/// The text of a file; its numbers give the same floats when read.
std::string editsToJson(const EditList& list);
/// Writes a file atomically. Values of means that take over 64 KiB of text are written to
/// NAME.safetensors beside NAME.json, before it. Throws FileError if that fails, or if the file
/// would be too large to be read.
void writeEdits(const EditList& list, const std::string& path);

}  // namespace relascope::core
