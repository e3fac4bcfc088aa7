// SPDX-License-Identifier: GPL-3.0-or-later
// The Jacobian lens that the options of an analysis ask for.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "analysis/lens/jacobian.h"
#include "analysis/lens/lens.h"
#include "analysis/run_analysis.h"

namespace relascope::core {

/// Where the lens of a step is kept beside its run: RUN/jacobian/step-N.safetensors.
std::string keptJacobian(const std::string& run, std::int64_t step);

/// The lens of a file, of the run where one is kept of the same weights and as many texts, or one
/// that is fitted now, and then kept and saved; nullopt where none is asked for. Throws OptionError
/// that names the option, FileError, Cancelled.
std::optional<JacobianLens> jacobianOf(AnalysisSubject& subject, const LensChoice& choice,
                                       const std::stop_token& stop,
                                       const ProgressCallback& progress);

}  // namespace relascope::core
