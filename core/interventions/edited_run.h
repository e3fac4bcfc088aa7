// SPDX-License-Identifier: GPL-3.0-or-later
// Forward passes with edits: the runs without edits that some edits take their values from, and the
// edited pass itself. Hooks that are current where these are called (edits that a run trains with)
// stay in force in all of them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "interventions/editor.h"
#include "model/finite_outputs.h"
#include "model/model.h"

namespace relascope::core {

/// Every hook point that a forward pass on that input meets, in order, with its shape there. A
/// point is causal if the model closes its cells j > i.
std::vector<PointInfo> pointsOf(ModelImpl& model, const ModelInput& input);

/// The inputs that edits take values from.
struct EditInputs {
    std::map<std::string, ModelInput> named;  ///< inputs for Patch, by name
    /// For Resample: the examples (b + shift) mod N of the split, for each example b of the batch.
    std::function<ModelInput(std::int64_t shift)> shifted = {};
};

/// Gives the editor the values of its clean, patch and resample edits for that input, from passes
/// of the model without edits. Throws OptionError if an input that an edit needs is missing or has
/// other sizes.
void takeValues(Editor& editor, ModelImpl& model, const ModelInput& input,
                const EditInputs& inputs = {});

/// The scores of the edited model, as answersOf(), with the same recorder as the caller's.
/// takeValues() comes first where the editor has references.
torch::Tensor forwardEdited(ModelImpl& model, const ModelInput& input, Editor& editor);

/// Takes the means of the editor's edits that have neither numbers nor a value yet, over the
/// batches that `next` returns. A mean has a value for each place (`over` "position"), for each
/// j - i of cells and one for all places otherwise ("offset"), or one for all places ("all"); an
/// empty `over` is `usual`.
TakenMeans takeMeans(Editor& editor, ModelImpl& model, const std::string& usual,
                     const std::function<std::optional<ModelInput>(std::size_t index)>& next);

}  // namespace relascope::core
