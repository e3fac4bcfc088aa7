// SPDX-License-Identifier: GPL-3.0-or-later
// Answers the requests of a window (wire/requests.h) with models that are kept between requests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "app/serve/data.h"
#include "app/serve/question_subject.h"
#include "app/serve/session.h"
#include "data/dataset.h"
#include "wire/requests.h"

namespace relascope::serve {

/// Models and results that are kept make later requests faster and change no answer. Used by one
/// thread only.
class RequestHandler {
public:
    /// Answers a request. Throws FrameError for an unknown request, and what core throws.
    wire::Frame answer(Request& request);

private:
    core::OpenedModel& open(const wire::Asked& asked, Request& request);
    /// The input of a question for the inspector: of texts as many tokens as maps fit into the
    /// memory.
    SampleInput inputOf(const wire::Asked& asked);
    /// Computes the result without edits, m_base, unless it is known for this input.
    void probeBase(const SampleInput& input, const core::Interventions& interventions,
                   const core::ProbeWatch& watch);
    void forget();

    wire::Frame opened(Request& request);
    wire::Frame probe(Request& request);
    wire::Frame effectsAlone(Request& request);
    wire::Frame generate(Request& request);
    wire::Frame ask(Request& request, bool cost);

    std::unique_ptr<core::OpenedModel> m_model;
    /// What m_model was opened from; without edits other than "none".
    Model m_opened;
    std::string m_tokenizer;
    bool m_rounded = false;  ///< to bfloat16
    /// What is kept for these weights.
    core::KeptWork m_kept;
    std::string m_keptHead;  ///< HeadToGive::key, as it was

    /// All hook points, as found for the first input; other inputs may have other numbers of
    /// objects.
    std::optional<std::vector<PointInfo>> m_points;
    ModelOptions m_pointsOf;
    wire::SharedResult m_base;
    ProbeSample m_baseSample;
    std::vector<std::string> m_baseNames;
    std::string m_baseHead;
    std::vector<std::string> m_baseRelations;
    std::uint64_t m_baseNumber = 0, m_pointsNumber = 0;  ///< new for each; see Prober
    wire::SharedResult m_edited;                         ///< the last result with edits
    EditList m_editedBy;

    OpenedDataSets m_data;
    Question m_exampleOf;   ///< the example of a file that was read last
    SampleInput m_example;  ///< and what was read
};

}  // namespace relascope::serve
