// SPDX-License-Identifier: GPL-3.0-or-later
// The data that a session has opened, and its answers about them and about devices.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/serve/session.h"
#include "data/dataset.h"
#include "datasets/registry.h"
#include "wire/requests.h"

namespace relascope::serve {

/// Opens the splits of the data; an epoch applies to the first one. Throws what openData() throws.
datasets::NamedSplits openSplits(const wire::Data& data, const core::ProgressCallback& progress,
                                 std::stop_token stop);

/// Keeps the last few data sets. Belongs to one thread.
class OpenedDataSets {
public:
    using Splits = datasets::NamedSplits;

    /// The splits of the data, opened if needed. The reference is valid until the next call.
    const Splits& splits(const wire::Data& data, Request& request);
    /// The split of this name; null if it is unknown.
    core::DatasetPtr find(const wire::Data& data, const std::string& split, Request& request);
    ProbeSample sample(const wire::Example& example, Request& request);
    void clear() { m_opened.clear(); }

    /// Answers the requests "data", "examples", "find", "labelled", "statistics", "save" and
    /// "picture"; returns nullopt for any other.
    std::optional<wire::Frame> answer(const std::string& what, Request& request);

private:
    core::DatasetPtr asked(Request& request);

    std::list<std::pair<wire::Data, Splits>> m_opened;  ///< most recently used first
};

/// Answers the request "devices".
wire::Frame answerDevices(Request& request);

}  // namespace relascope::serve
