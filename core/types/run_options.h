// SPDX-License-Identifier: GPL-3.0-or-later
// All options of a run: stored in run.json, set by --set, edited in the form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "types/data_options.h"
#include "types/model_options.h"
#include "types/train_options.h"

namespace relascope {

struct RunOptions {
    std::string preset;   ///< "relational-games-between"
    std::string variant;  ///< the model's name within the preset: "dat"
    ModelOptions model;
    DataOptions data;
    TrainOptions train;

    bool operator==(const RunOptions&) const = default;

    /// All fields of the three groups, keys "model.d_model" and so on, in the order of the form.
    static const FieldTable<RunOptions>& fieldTable();
    /// Every key that --set takes.
    static std::vector<std::string> keys();
    /// The field of that key; throws OptionError with the nearest keys when there is none.
    static const Field<RunOptions>& field(const std::string& key);

    /// Problems of all three structs, keyed "model.d_model".
    std::vector<FieldProblem> problems() const;
    /// Throws OptionError with the first problem.
    void check() const;
    /// The options of the pretraining stage, if `train.pretrain` names one: these options with its
    /// settings applied. Throws OptionError for an invalid setting.
    std::optional<RunOptions> pretraining() const;
    /// Which weights of its pretraining stage this run starts from (train.start_from of the last
    /// stage).
    std::string initFrom() const;
    /// The fields as a form shows them, with the values of the preset beside the present ones.
    std::vector<FieldState> states(const RunOptions& presetValues) const;
};

}  // namespace relascope
