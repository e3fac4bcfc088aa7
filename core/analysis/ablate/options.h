// SPDX-License-Identifier: GPL-3.0-or-later
// The options of ablation tables, and their texts. Does not include torch.
#pragma once

#include <any>
#include <memory>
#include <string>
#include <vector>

#include "analysis/ablate/answer.h"
#include "analysis/analysis.h"
#include "types/edit_results.h"

namespace relascope::core {

struct AblationOptions {
    std::vector<EditOp> how = {EditOp::Zero, EditOp::Mean, EditOp::Resample};
    /// Groups of AblationRow; "symbols" (of a library) are measured on demand only.
    std::vector<std::string> what = {"heads", "relations", "columns", "paths", "mlp"};
    std::vector<AblationRow> rows = {};  ///< these alone, in place of `what`; empty: by `what`
    std::string metric = "accuracy";     ///< or "loss", "mean_error"
    std::int64_t examples = 2000;        ///< at most, drawn from the data set by seed 0
    std::int64_t batchSize = 250;
    int draws = 3;  ///< how many Resample averages
    bool cumulative = false, pairs = false;
    std::vector<double> untrained = {};  ///< AblationTable::untrained

    /// Throws OptionError for an unknown group or metric and for other operations.
    void check() const;
    bool operator==(const AblationOptions&) const = default;
};

/// Where ablate() keeps its measurements when it is cancelled. Called again with the same model,
/// data, options and edits in force, it continues at the batch, or the joint measurement, where it
/// ended, and gives the same table to the last bit; called with anything else, it starts anew.
/// Used on the thread of the model, and cleared when the model's weights change.
class AblationProgress {
public:
    AblationProgress();
    ~AblationProgress();
    AblationProgress(const AblationProgress&) = delete;
    AblationProgress& operator=(const AblationProgress&) = delete;

    void clear();
    /// Whether there is something to continue.
    bool begun() const { return m_state != nullptr; }

    struct State;  ///< ablation.cpp
    std::unique_ptr<State>& state() { return m_state; }
    /// The state that a cancelled scan keeps here for its continuation (scan.cpp).
    std::any& scan() { return m_scan; }

private:
    std::unique_ptr<State> m_state;
    std::any m_scan;
};

/// The options of the analysis, as words.
struct AblationChoice {
    std::int64_t examples = AblationOptions().examples;
    std::string metric = "auto";
    std::vector<std::string> how = {"zero", "mean", "resample"};
    std::vector<std::string> what = AblationOptions().what;
    bool cumulative = false, pairs = false;
    std::int64_t untrained = 4;  ///< models with fresh weights beside it
};

/// The table as an answer, with the word for the use of each part (claims.h).
Answer answerOf(const AblationTable& table);
const FieldTable<AblationChoice>& ablationFields();

/// All groups that AblationOptions::what may name.
const std::vector<std::string>& ablationGroups();
/// The parts of a model with these points as rows, in the order of the forward pass; `what` are
/// groups of AblationOptions. Nothing is measured.
std::vector<AblationRow> ablationRows(const std::vector<PointInfo>& points,
                                      const std::vector<std::string>& what);

}  // namespace relascope::core
