// SPDX-License-Identifier: GPL-3.0-or-later
// The captures of a run as what an atlas reads: the captured inputs as data, their maps on pairs of
// objects, and attributes of pairs. For runs that another program recorded, which have no model to
// run (model/recorded/recorded_options.h). Does not include torch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/pairs/pair_objects.h"
#include "analysis/pairs/pair_reading.h"
#include "data/dataset.h"
#include "types/relation_map.h"

namespace relascope::core {

class CapturedMaps {
public:
    /// Reads the capture of a step, -1: the newest. Throws FileError; Error for a run without
    /// captures; OptionError("checkpoint", ...) for a step that was not captured.
    CapturedMaps(std::string run, std::int64_t step);

    std::int64_t step() const { return m_step; }
    const std::vector<std::int64_t>& steps() const { return m_steps; }  ///< captured, ascending
    /// The captured inputs.
    const DatasetPtr& data() const { return m_data; }
    const std::vector<ProbeLayer>& layers() const { return m_samples.front().layers; }
    /// The step and a checksum of the capture, and of all captures with `all`.
    std::string basis(bool all) const;

    /// As pairObjects(), of all inputs at most `examples`.
    PairObjects objects(std::int64_t examples) const;
    /// As attributesOf(): those stored in the capture (tensors "attribute/NAME"), the same name or
    /// token, colours and places of patches, and those of a file.
    PairAttributes attributes(const PairObjects& objects, const std::string& file,
                              const OwnHypotheses& hypotheses = {}) const;
    /// As pairMaps(); `axis` is the kind of the map, and there is no hook point.
    std::vector<PairMap> maps(const PairObjects& objects, bool relations, bool heads) const;
    /// The values of these maps at a step, without what a model would have to compute. The accuracy
    /// is that of the stored probabilities, NaN without labels. Throws OptionError for values that
    /// are not finite, and for maps that another step does not have.
    PairReadings read(const PairReading& what, std::int64_t step) const;

private:
    std::string file(std::int64_t step) const;

    std::string m_run;
    std::int64_t m_step = -1;
    std::vector<std::int64_t> m_steps;
    std::vector<ProbeResult> m_samples;
    DatasetPtr m_data;
};

struct Analysis;

/// The captures that an analysis is made of: of the step `checkpoint` (empty or "last": the newest)
/// of a run that another program recorded. Null for anything else, which has a model. Throws
/// FileError where the analysis needs one, and as the constructor.
std::shared_ptr<const CapturedMaps> capturesOf(const Analysis& analysis, const std::string& path,
                                               const std::string& checkpoint);

}  // namespace relascope::core
