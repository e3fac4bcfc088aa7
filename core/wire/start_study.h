// SPDX-License-Identifier: GPL-3.0-or-later
// The process that works on a study, relascope-cli study --out STUDY, which lives on without the
// one that started it. It inherits STUDY/.worker, locked, which names it, and writes STUDY/log. A
// study in the mirror of a host (wire/host.h) is worked on there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "wire/child_process.h"

namespace relascope::wire {

struct StudyStart {
    std::string study;                     ///< its folder, with study.json
    int jobs = 1;                          ///< runs trained in parallel
    bool retry = false;                    ///< failed runs are repeated
    std::string program;                   ///< empty: commandProgram()
    std::vector<std::string> launch = {};  ///< words of a command that is put before the program
};

/// Makes a study on the host in whose mirror `study` lies; `plan`: the contents of study.json.
/// `wanted` is asked every 50 ms. Throws as core::createStudy(), Session::ask().
void createFarStudy(const std::string& study, const std::string& plan,
                    const std::function<bool()>& wanted);
/// Starts the process and returns it; none for a study on a host. Throws FileError where another
/// process works on the study, Error, Cancelled.
std::optional<ChildProcess> startStudy(const StudyStart& start,
                                       const std::function<bool()>& wanted);
/// Asks the process of a study to save the state of its runs and to end (SIGTERM). Does nothing
/// where none works. Throws Error with a sentence if it works on another machine.
void stopStudy(const std::string& study, const std::function<bool()>& wanted);

/// Whether a process works on a study; for a study on a host, as far as is known.
bool isWorkedOn(const std::string& study);

}  // namespace relascope::wire
