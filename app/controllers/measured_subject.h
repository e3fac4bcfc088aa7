// SPDX-License-Identifier: GPL-3.0-or-later
// What the window Measure measures: weights, an input, and the data to measure on.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "train/edit_data.h"
#include "types/along.h"
#include "types/edit.h"
#include "types/relation_map.h"

namespace relascope::app {

struct MeasuredSubject {
    std::string path;  ///< a run folder or a checkpoint
    /// As OpenedModel takes it: "", "best", a step. Weights are read again only when path or
    /// `which` change, so a run that trains needs the step.
    std::string which;
    QString name;  ///< of the run or checkpoint, in titles and file names
    std::optional<ProbeSample> sample;
    QString sampleName;                              ///< "validation 12"
    std::shared_ptr<const core::DataSplits> splits;  ///< null: no data to measure on
    std::vector<std::string> classNames;
    std::optional<MapCell> map;  ///< the chosen map and cell
    QString cellName;            ///< "patch (0, 1) → patch (2, 1)"
    /// Those of the inspector; the enabled ones are in force in everything that is measured.
    EditList edits;
    /// For values of other examples; without a `split`, that of `splits` is used. Called on another
    /// thread.
    core::EditData editData;
    std::string device = "auto";
};

}  // namespace relascope::app
