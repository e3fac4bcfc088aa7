// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/nanochat_files.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "files/atomic_file.h"
#include "files/foreign_file.h"
#include "types/error.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMostMeta = 4u << 20;
constexpr std::string_view kWeights = "model_", kMeta = "meta_";

// The digits between `before` and `after` in a name; empty where the name is no other.
std::string digitsOf(const std::string& name, std::string_view before, std::string_view after) {
    if (!name.starts_with(before) || !name.ends_with(after) ||
        name.size() < before.size() + after.size() + 6 ||
        name.size() > before.size() + after.size() + 12)
        return {};
    auto digits = name.substr(before.size(), name.size() - before.size() - after.size());
    const bool number = std::all_of(digits.begin(), digits.end(),
                                    [](unsigned char c) { return std::isdigit(c) != 0; });
    return number ? digits : std::string();
}

std::string digitsOfWeights(const std::string& path) {
    return digitsOf(fs::path(path).filename().string(), kWeights, ".pt");
}

// The only meta file of a folder; empty where there are none or several.
std::string onlyMetaIn(const fs::path& folder) {
    std::string found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        if (digitsOf(entry.path().filename().string(), kMeta, ".json").empty()) continue;
        if (!found.empty()) return {};
        found = entry.path().string();
    }
    return found;
}

// The meta file that weights have: that of their number, or the only one.
std::string metaBeside(const std::string& weights) {
    const auto own = nanochatMeta(weights);
    std::error_code none;
    if (!own.empty()) return fs::is_regular_file(own, none) ? own : std::string();
    return onlyMetaIn(fs::path(weights).parent_path());
}

}  // namespace

std::int64_t nanochatStep(const std::string& path) {
    const auto digits = digitsOfWeights(path);
    std::int64_t step = -1;
    std::from_chars(digits.data(), digits.data() + digits.size(), step);
    return step;
}

std::string newestNanochat(const std::string& folder) {
    std::string newest;
    std::int64_t most = -1;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        if (const auto step = nanochatStep(entry.path().string()); step > most)
            most = step, newest = entry.path().string();
    return newest;
}

std::string nanochatMeta(const std::string& weights) {
    const auto digits = digitsOfWeights(weights);
    if (digits.empty()) return {};
    return (fs::path(weights).parent_path() / (std::string(kMeta) + digits + ".json")).string();
}

std::string nanochatConfig(const std::string& meta) {
    return nanochatConfigIn(readJsonText(meta, kMostMeta), meta);
}

std::string nanochatConfigIn(const std::string& text, const std::string& meta) {
    using Json = nlohmann::ordered_json;
    bool deep = false;  // a destructor would follow every level
    const auto json = Json::parse(
        text,
        [&deep](int depth, Json::parse_event_t, Json&) {
            deep = deep || depth > 32;
            return !deep;
        },
        false);
    if (!json.is_object()) throw FileError(meta, "is not a JSON object; copy it again");
    const auto config = json.find("model_config");
    if (config == json.end() || !config->is_object())
        throw FileError(meta,
                        "has no model_config, which describes the model; copy the file that "
                        "nanochat wrote beside the weights");
    Json named = {{"model_type", "nanochat"}};
    named.update(*config);
    return named.dump(2, ' ', false, Json::error_handler_t::replace);
}

void requireNanochatMeta(const std::string& weights) {
    const auto meta = nanochatMeta(weights);
    requireTarget(meta);
    std::error_code none;
    if (meta.empty() || fs::is_regular_file(meta, none)) return;
    const auto other = onlyMetaIn(fs::path(weights).parent_path());
    throw FileError(weights,
                    "needs " + fs::path(meta).filename().string() +
                        " beside it, which describes the model" +
                        (other.empty() ? std::string("; copy it there")
                                       : "; there is only " + fs::path(other).filename().string() +
                                             ", of another step: copy the right one"));
}

void writeNanochatMeta(const std::string& weights, const std::string& source,
                       const std::string& configuration) {
    const auto meta = nanochatMeta(weights);
    if (meta.empty()) return;
    if (const auto from = metaBeside(source); !from.empty()) {
        if (from != meta) writeTextFile(meta, readTextFile(from, kMostMeta));
        return;
    }
    using Json = nlohmann::ordered_json;
    auto config = Json::parse(configuration);
    config.erase("model_type");
    writeTextFile(meta, Json{{"step", nanochatStep(weights)}, {"model_config", config}}.dump(2));
}

void copyNanochatMeta(const std::string& source, const std::string& folder) {
    const auto from = metaBeside(source);
    if (from.empty()) return;
    const auto to = fs::path(folder) / fs::path(from).filename();
    std::error_code none;
    if (!fs::equivalent(from, to, none)) writeTextFile(to.string(), readTextFile(from, kMostMeta));
}

}  // namespace relascope::core
