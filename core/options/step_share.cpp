// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/step_share.h"

#include <algorithm>
#include <cmath>

#include "options/device_list.h"

namespace relascope::core {

double exampleTokens(const RunOptions& o) {
    if (o.data.isText()) return static_cast<double>(o.data.context);
    if (const auto* pairs = o.model.find<PairInput>())
        return static_cast<double>(pairs->in_block_size + pairs->out_block_size);
    return static_cast<double>(o.model.tokens());
}

std::int64_t stepBatches(const RunOptions& o) {
    if (o.train.tokens_per_step <= 0) return 1;
    const auto batch = static_cast<double>(o.train.batch_size) * exampleTokens(o);
    return std::max<std::int64_t>(
        1,
        static_cast<std::int64_t>(std::ceil(static_cast<double>(o.train.tokens_per_step) / batch)));
}

double tokensPerStep(const RunOptions& o) {
    return static_cast<double>(stepBatches(o) * o.train.batch_size) * exampleTokens(o);
}

Ranks ranksOf(const RunOptions& o) {
    Ranks ranks{.count = deviceCount(o.train.device)};
    // Several entries are of one kind.
    if (ranks.count > 1 && deviceList(o.train.device)[0] == "cpu") ranks.sharing = ranks.count;
    return ranks;
}

std::int64_t rankBatch(const RunOptions& o, const Ranks& ranks) {
    if (stepBatches(o) > 1) return o.train.batch_size;
    return (o.train.batch_size + ranks.count - 1) / ranks.count;
}

std::vector<FieldProblem> rankProblems(const RunOptions& o, std::int64_t ranks) {
    if (ranks < 2 || o.train.batch_size < 1) return {};
    const auto batches = stepBatches(o);
    const std::string processes = std::to_string(ranks) + " processes";
    if (batches == 1) {
        if (o.train.batch_size >= ranks) return {};
        return {{"train.batch_size", std::to_string(o.train.batch_size) + " is fewer than the " +
                                         processes + " that share each batch; give " +
                                         std::to_string(ranks) +
                                         " or more, or name fewer devices"}};
    }
    if (batches % ranks == 0) return {};
    // Above the last multiple comes the next one; below the first there is none.
    const auto below = batches / ranks * ranks, above = below + ranks;
    const auto batch = static_cast<double>(o.train.batch_size) * exampleTokens(o);
    const bool down = below > 0 && batches - below < above - batches;
    const auto nearest =
        static_cast<std::int64_t>(std::llround(static_cast<double>(down ? below : above) * batch));
    return {{"train.tokens_per_step", std::to_string(o.train.tokens_per_step) + " is " +
                                          std::to_string(batches) + " batches, which " + processes +
                                          " cannot share equally; the nearest value is " +
                                          std::to_string(nearest) + ", " +
                                          std::to_string(down ? below : above) + " batches"}};
}

void checkRanks(const RunOptions& options, std::int64_t ranks) {
    const auto found = rankProblems(options, ranks);
    if (!found.empty()) throw OptionError(found[0].field, found[0].message);
}

}  // namespace relascope::core
