// SPDX-License-Identifier: GPL-3.0-or-later
// Records which examples an analysis reads, so that its result is stored for those.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "analysis/run_analysis.h"

namespace relascope::serve {

/// During its lifetime the data of the subject record which of their examples are read.
class ReadExamples {
public:
    explicit ReadExamples(core::AnalysisSubject& subject);
    ~ReadExamples();
    ReadExamples(const ReadExamples&) = delete;
    ReadExamples& operator=(const ReadExamples&) = delete;

    /// The indices of the examples read, ascending, by the name of the split; AnalysisSubject::data
    /// has an empty name.
    std::map<std::string, std::vector<std::int64_t>> all() const;

    struct Noted {
        std::mutex mutex;
        std::map<std::string, std::set<std::int64_t>> examples;
    };

private:
    core::AnalysisSubject& m_subject;
    const core::DatasetPtr m_data;
    const decltype(core::EditData::split) m_split;
    const std::shared_ptr<Noted> m_noted = std::make_shared<Noted>();
};

/// The data of a split as ReadExamples names it; null if the split is unknown.
core::DatasetPtr splitNamed(const core::AnalysisSubject& subject, const std::string& name);

}  // namespace relascope::serve
