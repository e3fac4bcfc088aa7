// SPDX-License-Identifier: GPL-3.0-or-later
// The weights that a run kept along its training, to be read (formats.md section 11). Does not
// include torch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/kept_file.h"
#include "checkpoint/source.h"

namespace relascope::core {

struct KeptStep {
    std::int64_t step = 0;
    KeptForm form = KeptForm::Float32;
    std::uint64_t bytes = 0;  ///< of its file
    std::int64_t base = -1;   ///< the step that it is the difference to; -1: none
    bool marked = false;      ///< never dropped for another one
};

/// The kept steps of a run, as its folder had them when this was made. The run may be training: a
/// step that has gone since then is a FileError.
class KeptWeights {
public:
    /// Reads the headers. A run that kept nothing has no steps; files that cannot be used are left
    /// out, each with a sentence in problems().
    explicit KeptWeights(const std::string& run);

    const std::vector<KeptStep>& steps() const& { return m_steps; }  ///< ascending
    std::vector<KeptStep> steps() && { return std::move(m_steps); }
    const std::vector<std::string>& problems() const& { return m_problems; }
    std::vector<std::string> problems() && { return std::move(m_problems); }
    /// The one of exactly that step, or nullptr.
    const KeptStep* find(std::int64_t step) const&;
    /// The nearest, the earlier of two; nullptr if there are none.
    const KeptStep* nearest(std::int64_t step) const&;

    /// The weights of a step, in float32 and under their names, for loadWeights() (tensor_io.h).
    /// Headers are checked here, values when the first one is read. Throws FileError.
    std::unique_ptr<CheckpointSource> load(std::int64_t step) const;

private:
    std::string m_folder;
    std::vector<KeptStep> m_steps;
    std::vector<std::string> m_problems;
};

/// Where a run keeps them: "RUN/weights".
std::string keptFolder(const std::string& run);
/// Marks a kept step, so that it is never dropped for another one, or takes the mark away. Throws
/// FileError.
void markKeptStep(const std::string& run, std::int64_t step, bool marked);
bool isMarkedStep(const std::string& folder, std::int64_t step);

/// The values of a step of `folder`, as stored. Throws FileError, Cancelled.
WeightValues readKeptValues(const std::string& folder, std::int64_t step,
                            std::stop_token stop = {});

}  // namespace relascope::core
