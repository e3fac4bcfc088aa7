// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/lens/table.h"

namespace relascope::core {

LensTable::LensTable(const Answer& answer)
    : layers(answer.table("layers").texts("after")),
      positions(answer.table("answers").numbers("position")),
      inputs(answer.table("answers").texts("input")),
      own(answer.table("answers").texts("name")),
      ownIds(answer.table("answers").numbers("id")),
      ownProbabilities(answer.table("answers").numbers("probability")),
      k(answer.table("cells").texts("k")),
      names(answer.table("cells").texts("answer")),
      ids(answer.table("cells").numbers("id")),
      probabilities(answer.table("cells").numbers("probability")),
      probabilityOfOwn(answer.table("cells").numbers("own_probability")),
      ranks(answer.table("cells").numbers("own_rank")),
      entropies(answer.table("cells").numbers("entropy")) {
    const auto count = layers.size() * own.size();
    if (count == 0 || k.size() % count != 0 || k.size() < count)
        throw Error("an answer of the logit lens has " + std::to_string(k.size()) + " rows for " +
                    std::to_string(count) + " cells");
    each = k.size() / count;
}

}  // namespace relascope::core
