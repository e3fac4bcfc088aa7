// SPDX-License-Identifier: GPL-3.0-or-later
// Probes of one model with changing edits: results that stay the same from one probe to the next
// are kept.
#pragma once

#include <torch/types.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "interventions/active_edits.h"
#include "model/model.h"
#include "probe/probe_watch.h"
#include "types/relation_map.h"

namespace relascope::core {

/// Belongs to the thread that uses the model; the model must outlive it.
class EditProbes {
public:
    EditProbes(ModelImpl& model, const ModelOptions& options)
        : m_model(model), m_options(options) {}

    /// A probe without edits, with the maps of the fitted relations that `list` names. The streams
    /// between its blocks are kept if they take at most 64 MiB.
    ProbeResult plain(const EditList& list, const ProbeSample& sample, std::int64_t step,
                      const std::vector<std::string>& classNames, const ProbeWatch& watch);
    /// A probe with edits. For the sample of the last plain() only the blocks from the first edit
    /// on run again; means are taken once. `below`: hooks of training are in force, with which
    /// nothing is kept. Throws OptionError if an edit does not fit.
    ProbeResult edited(const Interventions& interventions, const ProbeSample& sample,
                       std::int64_t step, const std::vector<std::string>& classNames,
                       const ProbeWatch& watch, bool below);
    /// The means that the edits of the last edited() took, by the index of the edit.
    TakenMeans means() const { return m_session ? m_session->means() : TakenMeans(); }

private:
    /// Whether the streams between blocks may be kept; finds their hook points first.
    bool keepsStreams(const ModelInput& input);
    ActiveEdits& sessionOf(const Interventions& interventions);

    ModelImpl& m_model;
    const ModelOptions& m_options;
    std::unique_ptr<ActiveEdits> m_session;
    std::vector<std::string> m_streamNames;
    std::int64_t m_streamBytes = 0;                  // size of all; for a text of one token
    ProbeSample m_sample;                            // sample of the last plain()
    std::map<std::string, torch::Tensor> m_streams;  // streams of m_sample, by block
    std::vector<RelationMap> m_maps;
};

}  // namespace relascope::core
