// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of one training job share. Of a process that trains alone nothing happens here.
// All of it is collective. Private to core/train.
#pragma once

#include <string>
#include <vector>

#include "data/batches.h"
#include "options/step_share.h"
#include "train/train_job.h"

namespace relascope::core {

/// "one process", "2 ranks".
std::string ranksText(int ranks);
/// How many they are, and how many take their memory from this machine's; of a process that trains
/// alone one. Not collective.
Ranks ranksOf(const TrainJob& job);
/// Who the ranks are, into run.json.
void setRankFacts(TrainJob& job);

/// The options as rank 0 has fitted them to the data. Throws Error where the data of the ranks
/// differ in size, OptionError where the options do not suit so many ranks.
void shareOptions(TrainJob& job);
/// Weights, optimizer, position and edits of rank 0.
void shareState(TrainJob& job);
/// The weights of rank 0, and the edits that they are to have.
void shareWeights(TrainJob& job, const EditList& edits);
/// The same bits on the same weights, other ones on others: a sum over all of them.
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

/// The generator of dropout, before each step: from the run's seed, the step and the rank alone, so
/// that a resumed run draws the same numbers.
void seedRank(const TrainJob& job);

}  // namespace relascope::core
