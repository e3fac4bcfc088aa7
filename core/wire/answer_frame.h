// SPDX-License-Identifier: GPL-3.0-or-later
// An answer in a message: the message describes the columns, and the blob holds the values of all
// rows, column by column, little endian: f64 each, or u32 lengths and then the bytes of texts;
// after them the maps, f32, and pictures. Frames of sessions, far machines, figures and kept files
// are read by this alone.
#pragma once

#include <span>

#include "types/answer.h"
#include "wire/frame.h"

namespace relascope::wire {

/// The message of an answer; appends its values to the blob.
Json answerToJson(const Answer& answer, Bytes& blob);
/// Reads an answer. Takes no more memory than the blob has values. Throws FrameError, with the
/// column, for columns of another length than their table, invalid whole numbers and flags, and an
/// index that is no row of the table it points into.
Answer answerFromJson(const Json& json, std::span<const std::uint8_t> blob);

}  // namespace relascope::wire
