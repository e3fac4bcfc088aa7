// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/lens_table.h"

namespace relascope::core {

LensTable::LensTable(const Answer& answer)
    : layers(answer.table("layers").texts("after")),
      positions(answer.table("answers").numbers("position")),
      inputs(answer.table("answers").texts("input")),
      own(answer.table("answers").texts("name")),
      ownIds(answer.table("answers").numbers("id")),
      ownProbabilities(answer.table("answers").numbers("probability")) {
    const auto& cells = answer.table("cells");
    k = cells.texts("k");
    ids = cells.numbers("id");
    names = cells.texts("answer");
    probabilities = cells.numbers("probability");
    probabilityOfOwn = cells.numbers("own_probability");
    ranks = cells.numbers("own_rank");
    entropies = cells.numbers("entropy");
    const auto count = layers.size() * own.size();
    if (count == 0 || k.size() % count != 0 || k.size() < count)
        throw Error("an answer of the logit lens has " + std::to_string(k.size()) + " rows for " +
                    std::to_string(count) + " cells");
    each = k.size() / count;
}

}  // namespace relascope::core
