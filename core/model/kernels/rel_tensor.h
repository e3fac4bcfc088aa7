// SPDX-License-Identifier: GPL-3.0-or-later
// Relational attention on tensor cores: bf16 and fp16, the published sizes, sm_80 and later. All
// other calls are for LibTorch's forms. The same bits at every call.
#pragma once

#include <cstddef>
#include <vector>

#include "model/kernels/rel_args.h"

namespace relascope::core::kernels {

/// How a block divides the work: the sizes of its tiles, how many of the tiles that it walks (of
/// keys; in the backward pass of the keys, of queries) are in shared memory at once, and how many
/// groups of 8 heads have blocks of their own.
struct RelTensorTiling {
    int queries = 0, keys = 0, stages = 0, groups = 0;
    std::size_t sharedBytes = 0;
};

/// The tilings that serve a call, best first; none if its type, sizes or options are not served, or
/// a tensor's rows do not lie on 16 bytes (k, s, kRel) or 4 bytes (q, qRel, out). Tensors that are
/// not there yet count as aligned.
std::vector<RelTensorTiling> relTensorTilings(const RelArgs& args);

/// Whether a device serves a call: `sharedLimit` is what a block can have there
/// (cudaDevAttrMaxSharedMemoryPerBlockOptin), the compute capability 10 major + minor.
bool relTensorServes(const RelArgs& args, std::size_t sharedLimit, int computeCapability);
/// The shared memory of the first tiling that fits, in bytes; 0 if none does.
std::size_t relTensorSharedBytes(const RelArgs& args, std::size_t sharedLimit);

/// The tilings for the backward pass of the queries, where dRelated needs 16 bytes as well, and
/// related, dOut, dq and dqRel need 4.
std::vector<RelTensorTiling> relTensorRowsTilings(const RelArgs& args);
bool relTensorServesRows(const RelArgs& args, std::size_t sharedLimit, int computeCapability);

/// The tilings for the backward pass of the keys, where q, qRel, dOut and dRelated need 16 bytes,
/// and k, s, kRel, dk, ds and dkRel need 4.
std::vector<RelTensorTiling> relTensorColumnsTilings(const RelArgs& args);
bool relTensorServesColumns(const RelArgs& args, std::size_t sharedLimit, int computeCapability);
/// Whether a device serves both, which is the complete backward pass.
bool relTensorServesBackward(const RelArgs& args, std::size_t sharedLimit, int computeCapability);
/// Bytes of RelArgs::workspace in the backward pass: with several groups of heads each makes its
/// part of dqRel and dkRel in float32, and these are added up in one order. 0 with one group.
std::size_t relTensorWorkspaceBytes(const RelArgs& args);

// All return a cudaError_t: cudaErrorInvalidValue for arguments that contradict one another, and
// for calls that the current device does not serve. `stream` is a cudaStream_t. Nothing waits for
// the device.
extern "C" {
/// Writes out, related and lse, by the first tiling that fits the device.
int launchRelTensorForward(const RelArgs* args, void* stream);
/// Launches the forward pass with tiling number `tiling` of relTensorTilings, to compare tilings.
int launchRelTensorForwardTiled(const RelArgs* args, int tiling, void* stream);
/// Writes delta in float32; rows and columns need it.
int launchRelTensorDelta(const RelArgs* args, void* stream);
/// Writes dq and dqRel.
int launchRelTensorBackwardRows(const RelArgs* args, void* stream);
int launchRelTensorBackwardRowsTiled(const RelArgs* args, int tiling, void* stream);
/// Writes dk, ds and dkRel.
int launchRelTensorBackwardColumns(const RelArgs* args, void* stream);
int launchRelTensorBackwardColumnsTiled(const RelArgs* args, int tiling, void* stream);
/// All of the above but the forward pass; nothing where relTensorServesBackward is false.
int launchRelTensorBackward(const RelArgs* args, void* stream);
}

}  // namespace relascope::core::kernels
