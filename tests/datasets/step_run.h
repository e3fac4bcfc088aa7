// SPDX-License-Identifier: GPL-3.0-or-later
// A run of one step, whose weights are as good as untrained; of the tests of analyses.
#pragma once

#include <string>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "datasets/registry.h"
#include "options/presets.h"
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

/// Occurs with a small dual attention model of that many relations.
inline RunOptions smallDual(std::int64_t relations, std::int64_t validation) {
    auto o = core::presetOptions("relational-games-occurs", "dat");
    o.model.set("d_model", std::int64_t{16}), o.model.set("dff", std::int64_t{16});
    o.model.set("n_relations", relations), o.model.set("rel_proj_dim", std::int64_t{8});
    o.data.train_size = 32, o.data.validation_size = validation, o.data.test_size = 2;
    o.train.device = "cpu", o.train.batch_size = 32;
    o.train.seeds = {3}, o.train.steps = 1;
    return o;
}

/// Such a run as the subject of an analysis of its validation data.
struct StepSubject {
    StepRun run;
    core::OpenedModel model;
    core::AnalysisSubject subject;
    explicit StepSubject(const RunOptions& options, std::int64_t seed = 3)
        : run(options, seed), model(run.path(), "", "cpu") {
        subject.model = &model;
        subject.path = subject.run = run.path();
        subject.device = "cpu";
        subject.data = run.splits().validation;
    }
};

}  // namespace relascope::testing_support
