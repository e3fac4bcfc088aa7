// SPDX-License-Identifier: GPL-3.0-or-later
// An answer in a message: what its columns are stays in the message, the values of all rows lie in
// the blob, column by column, little endian: f64 each, or u32 lengths and then the bytes of texts;
// after them the maps, f32, and pictures. Frames of sessions, far machines, figures and kept files
// are read by this alone.
#pragma once

#include <span>

#include "types/answer.h"
#include "wire/frame.h"

namespace relascope::wire {

/// Appends the values to the blob.
Json answerToJson(const Answer& answer, Bytes& blob);
/// Takes memory for what the blob has, no more. Throws FrameError, with the column, for columns of
/// another length than their table, whole numbers and flags that are none, and an index that is not
/// of a row of the table it points into.
Answer answerFromJson(const Json& json, std::span<const std::uint8_t> blob);

}  // namespace relascope::wire
