// SPDX-License-Identifier: GPL-3.0-or-later
// A run of one step, whose weights are as good as untrained; of the tests of analyses.
#pragma once

#include <string>

#include "datasets/registry.h"
#include "support/temporary_folder.h"
#include "support/trained.h"

namespace relascope::testing_support {

class StepRun {
public:
    explicit StepRun(const RunOptions& options, std::int64_t seed = 0)
        : m_folder("step" + std::to_string(++made())),
          m_path(m_folder / "run"),
          m_splits(datasets::openData(options.data)) {
        auto run = RunFolder::create(m_path, options);
        run.info().seed = seed;
        Control control;
        trainIn(run, control, m_splits);
    }
    const std::string& path() const { return m_path; }
    const DataSplits& splits() const { return m_splits; }
    std::string file(const std::string& name) const { return m_folder / name; }

private:
    static int& made() {
        static int count = 0;
        return count;
    }
    TemporaryFolder m_folder;
    std::string m_path;
    DataSplits m_splits;
};

}  // namespace relascope::testing_support
