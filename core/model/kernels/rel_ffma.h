// SPDX-License-Identifier: GPL-3.0-or-later
// Relational attention by plain multiply-adds: any shape, float32; float64 as well, which on the
// CPU's stand-in proves the algebra. The same bits at every call.
#pragma once

#include <cstddef>

#include "model/kernels/rel_args.h"

namespace relascope::core::kernels {

/// Bytes of shared memory that each block of a kernel takes. A shape is served if all of them fit
/// the device: 227 KiB on an H100, 99 KiB on most consumer devices.
struct RelSharedBytes {
    std::size_t forward = 0, backwardRows = 0, backwardColumns = 0, backwardLibrary = 0;
};
RelSharedBytes relSharedBytes(const RelArgs& args);

// All return a cudaError_t: cudaErrorInvalidValue for arguments that contradict one another or do
// not fit the device. `stream` is a cudaStream_t. Nothing waits for the device.
extern "C" {
/// Writes out, related and lse.
int launchRelForward(const RelArgs* args, void* stream);
/// Writes delta; the three below need it.
int launchRelDelta(const RelArgs* args, void* stream);
/// Writes dq and dqRel.
int launchRelBackwardRows(const RelArgs* args, void* stream);
/// Writes dk, dkRel and, with a symbol for each key, ds.
int launchRelBackwardColumns(const RelArgs* args, void* stream);
/// Writes ds of a library of symbols.
int launchRelBackwardLibrary(const RelArgs* args, void* stream);
/// Starts all kernels of the backward pass.
int launchRelBackward(const RelArgs* args, void* stream);
}

}  // namespace relascope::core::kernels
