// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/device_list.h"

#include <algorithm>
#include <set>

#include "types/error.h"
#include "types/suggest.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

const char* const kField = "train.device";

std::vector<std::string> parts(const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t from = 0; from <= text.size();) {
        const auto comma = std::min(text.find(',', from), text.size());
        all.push_back(trimmed(text.substr(from, comma - from)));
        from = comma + 1;
    }
    return all;
}

/// "cuda:1" is; "cuda:", "cuda:x" and "cuda:01" are not.
bool isCuda(const std::string& name) {
    if (name.rfind("cuda:", 0) != 0) return false;
    const auto index = name.substr(5);
    return !index.empty() && index.size() <= 3 && (index.size() == 1 || index[0] != '0') &&
           index.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::vector<std::string> deviceList(const std::string& text) {
    auto names = parts(text);
    if (names.size() == 1 && names[0].empty()) return {"auto"};
    std::set<std::string> seen;
    for (auto& name : names) {
        if (name.empty())
            throw OptionError(kField, "'" + text + "' has an empty entry; separate the names of " +
                                          "devices by single commas, as in cuda:0,cuda:1");
        if (name == "cuda") name = "cuda:0";
        if (name == "auto" && names.size() > 1)
            throw OptionError(
                kField, "'" + text + "' has auto in a list; name each device, as in cuda:0,cuda:1");
        if (name != "auto" && name != "cpu" && !isCuda(name))
            throw OptionError(kField, unknownName("device", name, {"auto", "cpu", "cuda:0"}));
        if (!seen.insert(name).second && name != "cpu")
            throw OptionError(
                kField, "names " + name + " twice; each process needs a CUDA device of its own");
    }
    if (seen.contains("cpu") && seen.size() > 1)
        throw OptionError(kField, "'" + text +
                                      "' mixes the CPU and CUDA devices; all processes of a run "
                                      "use devices of one kind");
    return names;
}

std::int64_t deviceCount(const std::string& text) noexcept {
    try {
        return static_cast<std::int64_t>(deviceList(text).size());
    } catch (const std::exception&) {
        return 1;
    }
}

std::string joinedDevices(const std::vector<std::string>& devices) {
    std::string text;
    for (const auto& name : devices) text += (text.empty() ? "" : ",") + name;
    return text;
}

std::string devicesText(const std::vector<std::string>& devices) {
    if (devices.size() < 2) return devices.empty() ? "" : devices[0];
    const auto count = std::to_string(devices.size());
    if (devices[0] == "cpu") return count + " processes on the CPU";
    std::string names;
    for (const auto& name : devices) names += (names.empty() ? "" : ", ") + name;
    return count + " devices: " + names;
}

}  // namespace relascope::core
