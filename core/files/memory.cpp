#include "files/memory.h"

#include <cstdlib>
#include <fstream>
#include <string>

namespace relascope {

std::uint64_t memoryFigure(const char* file, const char* name) {
    const std::string key = std::string(name) + ":";
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (line.rfind(key, 0) == 0)
            return std::strtoull(line.c_str() + key.size(), nullptr, 10) * 1024;
    return 0;
}

}  // namespace relascope
