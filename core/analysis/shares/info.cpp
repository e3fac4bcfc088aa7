// SPDX-License-Identifier: GPL-3.0-or-later
// The options of shares.
#include "analysis/shares/shares.h"

namespace relascope::core {

const FieldTable<ShareOptions>& shareFields() {
    static const FieldTable<ShareOptions> table = {
        fields::integer(&ShareOptions::examples, "examples", "Examples",
                        "number of examples, at most; of text a tenth as many windows", 2, 1e8)};
    return table;
}

const RegisterAnalysis kShares([] {
    Analysis a;
    a.name = "shares";
    a.needsWeights = true;
    a.place = 60;
    a.title = "Shares";
    a.summary = "measures what of each layer's output comes from each head, relation and symbols";
    a.purpose =
        "Shares say how much of the output of each layer comes from each head, each relation "
        "and the symbols: which of them the layer works with. Most models take seconds.";
    a.progressText = "Measuring the shares of each layer";
    a.input = AnalysisInput::Data;
    a.onDemand = true;
    return answering(a, shareFields(), OfferedIn::Row);
});

}  // namespace relascope::core
