// SPDX-License-Identifier: GPL-3.0-or-later
// A session's answers to a window on another machine: runs and their files, and starts of trainings
// (wire/host_files.h).
#pragma once

#include <optional>
#include <string>

#include "app/serve/session.h"

namespace relascope::serve {

/// Answers a request about runs and files; returns nullopt if `what` names another request.
std::optional<wire::Frame> answerFiles(const std::string& what, Request& request);

}  // namespace relascope::serve
