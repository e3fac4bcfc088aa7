// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of any length in messages. What a value holds goes into the blob by columns: a member of
// all records of a list is one column, and a list is its lengths and the column of all items. What
// stays in the message is the shape, whose size does not grow with the lists:
//
//   "flags"     a byte: false, true, null      {"list": shape}     u32 lengths, then the items
//   "integers"  i64                            {"record": {...}}   a column for each member
//   "naturals"  u64, of larger ones            {"map": shape}      as a list, of names and values
//   "numbers"   f64                            {"any": [...]}      a byte each: which of these
//   "texts", "bytes"  u32 lengths, then bytes                      shapes, then their columns
//
// Little endian. Every value takes a byte or more, so that there are no more than the blob has.
#pragma once

#include <span>

#include "wire/frame.h"

namespace relascope::wire {

/// Bytes of memory that an unpacked value may take.
inline constexpr std::size_t kMostUnpacked = std::size_t{1} << 30;

/// The value as {shape, begin, size}, its columns behind what the blob has already.
Json pack(const Json& value, Bytes& blob);
/// Throws FrameError for what is no such value, or would take more memory.
Json unpack(const Json& packed, std::span<const std::uint8_t> blob);

}  // namespace relascope::wire
