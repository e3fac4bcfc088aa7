// SPDX-License-Identifier: GPL-3.0-or-later
// The results of lens, attribute and inspect --along as CSV, and what stands at the columns of
// patching maps; for the command line and for the window.
#pragma once

#include <string>
#include <vector>

#include "types/along.h"
#include "types/edit_results.h"
#include "types/lens.h"
#include "types/relation_map.h"

namespace relascope::core {
class OpenedModel;
}  // namespace relascope::core

namespace relascope::cli {

std::string lensCsv(const LensResult& result);
std::string attributionCsv(const Attribution& result);
/// step,value,probability, and with edits the two without them.
std::string alongCsv(const AlongTraining& along);
/// Of a language model the tokens of A, with those of B behind a slash where they differ; empty for
/// other models.
std::vector<std::string> patchPositions(const core::OpenedModel& model, const ProbeSample& a,
                                        const ProbeSample& b);

}  // namespace relascope::cli
