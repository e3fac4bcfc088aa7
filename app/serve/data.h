// SPDX-License-Identifier: GPL-3.0-or-later
// The data that a session has opened, and its answers about them and about devices.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
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
    using Say = std::function<void(const DatasetInfo&)>;

    /// Who waits for what is opened from here on.
    void follow(std::stop_token stop, core::ProgressCallback progress) {
        m_stop = std::move(stop), m_progress = std::move(progress);
    }
    const std::stop_token& stop() const { return m_stop; }
    const core::ProgressCallback& progress() const { return m_progress; }
    /// Gets what is to be said of data that are measured on.
    void setSay(Say say) { m_say = std::move(say); }
    void note(const DatasetInfo& info) const {
        if (m_say) m_say(info);
    }

    /// The splits of the data, opened if needed. The reference is valid until the next call.
    const Splits& splits(const wire::Data& data);
    /// The split of this name; null if it is unknown.
    core::DatasetPtr find(const wire::Data& data, const std::string& split);
    /// The split of this name. Throws OptionError("--split", ...) where it is unknown.
    core::DatasetPtr at(const wire::Data& data, const std::string& split);
    /// The name of the first split that is for tests, or else of validation.
    std::string firstTest(const wire::Data& data);
    void clear() { m_opened.clear(); }

    /// Answers the requests "data", "examples", "find", "labelled", "statistics", "save" and
    /// "picture"; returns nullopt for any other.
    std::optional<wire::Frame> answer(const std::string& what, Request& request);

private:
    core::DatasetPtr asked(Request& request);

    std::stop_token m_stop;
    core::ProgressCallback m_progress;
    Say m_say;
    std::list<std::pair<wire::Data, Splits>> m_opened;  ///< most recently used first
};

/// Answers the request "devices".
wire::Frame answerDevices(Request& request);

}  // namespace relascope::serve
