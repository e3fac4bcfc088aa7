// SPDX-License-Identifier: GPL-3.0-or-later
// Probes of a model with and without the edits of the inspector.
#pragma once

#include <QStringList>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "probe/probe_watch.h"
#include "train/edit_data.h"
#include "types/edit.h"
#include "widgets/inspector/inspected.h"

namespace relascope::app {

struct OpenedWeights;

using Points = std::shared_ptr<const std::vector<PointInfo>>;

/// The edits that are in force, and where they find examples, texts and pictures.
struct EditsInForce {
    EditList list;
    core::EditData data;
};

/// "layer 2 relation 3 zero; layer 1 symbols zero": the enabled edits.
QString wordsOfList(const EditList& list);

/// The two results with the maps that differ and those that are taken out.
widgets::Inspected inspectedOf(std::shared_ptr<const ProbeResult> result,
                               std::shared_ptr<const ProbeResult> before, const EditList& list,
                               const std::vector<PointInfo>& points);

struct EditedProbe {
    widgets::Inspected inspected;
    Points points;
    std::string problem;    ///< an edit that does not fit: nothing is edited then; empty: all fit
    EditList edits = {};    ///< those in force
    TakenMeans means = {};  ///< of the means among them
};
/// In a job of the queue of the weights. The result without edits is made once for each sample.
/// Throws OptionError if the sample does not fit, Cancelled.
EditedProbe probeEdited(OpenedWeights& weights, const ProbeSample& sample,
                        const std::vector<std::string>& classNames, EditsInForce edits,
                        core::ProbeWatch watch);

/// What each enabled edit does alone to the answer that is likeliest without edits: "occurs 0.936 →
/// 0.012", by line. In a job of the same queue, for the last sample of probeEdited(); `edited` is
/// its result with all of them. Throws Cancelled once `wanted` returns false.
QStringList effectsAlone(OpenedWeights& weights, const EditsInForce& edits,
                         const std::shared_ptr<const ProbeResult>& edited,
                         const std::function<bool()>& wanted);

}  // namespace relascope::app
