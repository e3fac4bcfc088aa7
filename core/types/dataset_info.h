// What a dataset is, for lists and for the Data page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relascope {

struct DatasetInfo {
    std::string name;    ///< "between, pentos (generated)"
    std::string origin;  ///< "generated, seed 0", or a path
    std::int64_t size = 0;
    int channels = 3;
    int height = 36;
    int width = 36;
    std::vector<std::string> classNames;  ///< by label
    std::string task;                     ///< "between", empty when unknown
};

}  // namespace relascope
