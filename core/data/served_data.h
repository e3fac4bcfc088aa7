// SPDX-License-Identifier: GPL-3.0-or-later
// Examples that lie in the process that serves a model. Batches of them are numbers; what people
// see of an example is asked for when it is shown.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "model/served/served_link.h"

namespace relascope::core {

struct Batch;  // batches.h

/// What the data sets of served models are besides ImageDataset, TokenDataset or ObjectDataset.
class ServedSet {
public:
    virtual ~ServedSet() = default;
    /// As makeBatch(): inputs as ServedModelImpl takes them. Targets of examples without a label
    /// are -1.
    virtual Batch batch(const std::int64_t* indices, std::int64_t count) const = 0;

    /// The attributes of pairs that come with the examples, by name.
    virtual std::vector<std::string> pairAttributes() const = 0;
    /// The values of one of them for an example, [n, n] by rows, of `n` objects. Throws Error where
    /// the example has other ones.
    virtual std::vector<float> pairAttribute(const std::string& name, std::int64_t index,
                                             std::int64_t n) const = 0;
};

/// The splits of a served model: those of its program by their names; "validation" is the first
/// where no split has that name.
DataSplits servedSplits(const ServedLinkPtr& link);

}  // namespace relascope::core
