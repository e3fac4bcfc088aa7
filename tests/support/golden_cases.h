// SPDX-License-Identifier: GPL-3.0-or-later
// The golden cases of models, on whatever device they are computed.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace relascope::testing_support {

/// Every folder of fixtures/golden that holds a model, by its path from there: a new case needs no
/// line here.
inline std::vector<std::string> goldenCases() {
    const auto golden = std::filesystem::path(RELASCOPE_FIXTURES) / "golden";
    std::vector<std::string> names;
    for (const std::string folder : {"", "public/", "families/"})
        for (const auto& entry : std::filesystem::directory_iterator(golden / folder))
            if (std::filesystem::exists(entry.path() / "io.safetensors"))
                names.push_back(folder + entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// The folders of fixtures/golden/why and families-why: cases of qk-attribution, contrast and
/// qk-components, by their path from fixtures/golden.
inline std::vector<std::string> whyCases() {
    const auto golden = std::filesystem::path(RELASCOPE_FIXTURES) / "golden";
    std::vector<std::string> names;
    for (const std::string folder : {"why/", "families-why/"})
        for (const auto& entry : std::filesystem::directory_iterator(golden / folder))
            names.push_back(folder + entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// The folder of the models that such a case names; empty: they are beside its folder.
inline std::string whyModels(const std::string& name) {
    return name.starts_with("families") ? std::string(RELASCOPE_FIXTURES) + "/golden/families" : "";
}

}  // namespace relascope::testing_support
