// SPDX-License-Identifier: GPL-3.0-or-later
// Which examples an analysis reads, so that what it gives is kept for those.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "analysis/run_analysis.h"

namespace relascope::serve {

/// In its scope the data of a subject note what is read of them.
class ReadExamples {
public:
    explicit ReadExamples(core::AnalysisSubject& subject);
    ~ReadExamples();
    ReadExamples(const ReadExamples&) = delete;
    ReadExamples& operator=(const ReadExamples&) = delete;

    /// By the name of the split, ascending; those of AnalysisSubject::data by an empty name.
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

/// Those of a split as ReadExamples names it; null for an unknown one.
core::DatasetPtr splitNamed(const core::AnalysisSubject& subject, const std::string& name);

}  // namespace relascope::serve
