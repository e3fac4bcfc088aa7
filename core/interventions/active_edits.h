// SPDX-License-Identifier: GPL-3.0-or-later
// Edits in force on a model, with the data that some of them take their values from.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "interventions/check_edits.h"
#include "interventions/edit_data.h"
#include "interventions/edited_run.h"
#include "types/model_options.h"

namespace relascope::core {

/// Indices of `examples` examples of a set of `size`, drawn without return by `seed`.
std::vector<std::int64_t> drawnExamples(std::int64_t size, std::int64_t examples,
                                        std::uint64_t seed);

/// Belongs to the thread that uses the model; the model must outlive it. With EditUse::Train
/// nothing is checked here (training_edits.h does that once): inputs may be shorter than those of
/// training, and places that an input does not have stay unedited.
class ActiveEdits {
public:
    /// Throws OptionError if an input of the list cannot be had or does not fit the model.
    ActiveEdits(ModelImpl& model, const ModelOptions& options, EditList list, const EditData& data,
                EditUse use = EditUse::Inspect);

    const EditList& list() const { return m_list; }
    /// Takes over the hook points of an earlier session of the same model, and the means of edits
    /// that both have.
    void continueFrom(const ActiveEdits& before);
    /// Sets the data that reference values are taken from.
    void setData(const EditData& data) { m_data = data; }
    /// Checks the edits against that input, on any device, and takes their values.
    void prepare(const ModelInput& input);
    /// prepare() for a sample. If it is an example of a split, resample takes other examples of
    /// that split.
    void prepareSample(const ProbeSample& sample);
    /// prepare() for a batch of training: resample takes example (b + shift) mod B of this batch,
    /// from a pass in evaluation mode, which draws no random numbers.
    void prepareStep(const ModelInput& input) { prepareStep(input, input, 0); }
    /// prepareStep() where `input` is the part of the batch `whole` from example `first` on.
    void prepareStep(const ModelInput& input, const ModelInput& whole, std::int64_t first);
    /// The next input is unknown: resample edits are skipped.
    void forgetValues() { m_editor.clearValues(); }
    /// prepare() for the examples `indices` of a data set.
    void prepareBatch(const ModelInput& input, const DatasetPtr& data,
                      const std::vector<std::int64_t>& indices);
    /// The points of the last input.
    const std::vector<PointInfo>& points() const { return m_points; }
    /// The means taken so far, by index of the edit.
    const TakenMeans& means() const { return m_means; }
    Editor& editor() { return m_editor; }

private:
    void check(const ModelInput& input);
    void take(const ModelInput& input);
    ModelInput examples(const Dataset& data, std::vector<std::int64_t> indices,
                        std::int64_t shift) const;

    ModelImpl& m_model;
    const ModelOptions& m_options;
    EditList m_list;
    EditData m_data;
    EditUse m_use;
    Editor m_editor;
    EditInputs m_inputs;
    std::vector<PointInfo> m_points;
    std::vector<std::int64_t> m_checked;  // the sizes of the input that m_points are for
    std::vector<PointInfo> m_known;       // points of an earlier session
    std::vector<std::int64_t> m_knownSizes;
    TakenMeans m_means;
    bool m_meansTaken = false;
};

}  // namespace relascope::core
