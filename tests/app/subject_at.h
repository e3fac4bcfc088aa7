// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/controllers/subject.h"

namespace relascope::app {

/// The run at `path`, with a split "validation" whose statements may have these words.
inline Subject subjectAt(const std::string& path, std::vector<std::string> words) {
    auto data = std::make_shared<wire::OpenedData>();
    wire::OpenedSplit split;
    split.name = "validation";
    split.hypothesisWords = std::move(words);
    data->splits.push_back(std::move(split));
    Subject subject;
    subject.model().path = path;
    subject.name = QString::fromStdString(path);
    subject.setData(std::move(data));
    return subject;
}

}  // namespace relascope::app
