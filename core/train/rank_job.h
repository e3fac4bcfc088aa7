// SPDX-License-Identifier: GPL-3.0-or-later
// The state that the ranks of one training job share. For a process that trains alone these
// functions do nothing. All are collective. Private to core/train.
#pragma once

#include <string>
#include <vector>

#include "data/batches.h"
#include "options/step_share.h"
#include "train/train_job.h"

namespace relascope::core {

/// A number of ranks in words: "one process", "2 ranks".
std::string ranksText(int ranks);
/// The number of ranks, and how many of them take their memory from this machine; one for a process
/// that trains alone. Not collective.
Ranks ranksOf(const TrainJob& job);
/// Writes the facts of the ranks into run.json.
void setRankFacts(TrainJob& job);

/// The options as rank 0 has fitted them to the data. Throws Error where the data of the ranks
/// differ in size, OptionError where the options do not suit so many ranks.
void shareOptions(TrainJob& job);
/// Gives all ranks the weights, optimizer, position and edits of rank 0.
void shareState(TrainJob& job);
/// Gives all ranks the weights of rank 0, and the edits that they are to have.
void shareWeights(TrainJob& job, const EditList& edits);
/// A sum over all weights: equal weights give equal bits, other weights other ones.
std::vector<double> weightsChecksum(const TrainJob& job);
/// Throws Error naming a rank with another checksum than rank 0, of the rows from `column` on.
void requireEqualChecksums(const TrainJob& job, const std::vector<std::vector<double>>& rows,
                           std::size_t column);

/// The examples [first, last) of a batch, for a rank: contiguous shares, in the order of the ranks.
struct Share {
    std::int64_t first = 0, last = 0;
};
Share shareOf(std::int64_t size, int rank, int ranks);
Batch slicedBatch(const Batch& batch, const Share& share);

/// Seeds the generator of dropout before each step, from the run's seed, the step and the rank
/// alone, so that a resumed run draws the same numbers.
void seedRank(const TrainJob& job);

}  // namespace relascope::core
