// Which number of its curves stands for a run.
#pragma once

#include <string>

#include "types/metric.h"
#include "types/run_options.h"

namespace relascope {

/// "accuracy"; of text "perplexity", of sequences answered freely "sequence_accuracy", of numbers
/// "mean_error".
inline std::string shownMetric(const RunOptions& o) {
    if (o.data.isText()) return "perplexity";
    if (o.model.input() == InputKind::Pairs)
        return o.train.decode_examples != 0 ? "sequence_accuracy" : "accuracy";
    if (o.data.is("select-relate") || o.data.is("inner-products")) return "mean_error";
    if (o.data.is("symbol-recovery")) return "recovered";
    return "accuracy";
}

}  // namespace relascope
