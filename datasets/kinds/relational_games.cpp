// SPDX-License-Identifier: GPL-3.0-or-later
// Relational Games as a kind of data: generated, or from the published archives.
#include "datasets/generators/relational_games.h"

#include <filesystem>

#include "datasets/kinds/kind_parts.h"
#include "datasets/readers/loaded_images.h"
#include "datasets/readers/npz.h"
#include "datasets/registry.h"
#include "types/metric.h"

namespace relascope::datasets {
namespace {

// The splits of one seed start their generators far apart, so that they have no image in common.
RelationalGamesOptions generatorOptions(const DataOptions& o, FigureFamily family, Split split,
                                        std::int64_t size) {
    RelationalGamesOptions g;
    g.task = o.task;
    g.family = family;
    g.size = size;
    g.seed = static_cast<std::uint64_t>(o.seed) * 16 + (static_cast<std::uint64_t>(split) + 1) * 4 +
             static_cast<std::uint64_t>(family);
    g.patterns.clear();
    std::string rest = o.patterns + ",";
    for (std::size_t comma; (comma = rest.find(',')) != std::string::npos; rest.erase(0, comma + 1))
        g.patterns.push_back(rest.substr(0, comma));
    return g;
}

core::DatasetPtr generated(const DataOptions& o, FigureFamily family, Split split,
                           std::int64_t size) {
    return std::make_shared<RelationalGames>(generatorOptions(o, family, split, size));
}

core::DataSplits openGenerated(const DataOptions& o) {
    core::DataSplits splits;
    const auto family = familyFromName(o.family);
    splits.train = generated(o, family, Split::Train, o.train_size);
    splits.validation = generated(o, family, Split::Validation, o.validation_size);
    if (o.streaming) {
        splits.trainEpoch = [options = generatorOptions(o, family, Split::Train, o.train_size)](
                                std::int64_t epoch) mutable {
            options.epoch = static_cast<std::uint64_t>(epoch);
            return std::make_shared<RelationalGames>(options);
        };
    }
    for (const auto test : {FigureFamily::Pentos, FigureFamily::Hexos, FigureFamily::Stripes})
        splits.tests.emplace_back(familyName(test), generated(o, test, Split::Test, o.test_size));
    return splits;
}

std::string fileIn(const std::string& folder, const DataOptions& o, const std::string& family) {
    return (std::filesystem::path(folder) / gameFile(o.task, family)).string();
}

core::DatasetPtr requireCount(const std::string& path, const core::DatasetPtr& data,
                              std::int64_t first, std::int64_t count, const std::string& name) {
    if (first + count > data->size())
        throw FileError(
            path, "has " + std::to_string(data->size()) + " images; " + name + " needs the first " +
                      std::to_string(first + count) +
                      "; lower data.train_size, data.validation_size or data.test_size");
    return sliceOf(data, first, count, name);
}

core::DataSplits openRelationalGames(const DataOptions& o, const core::ProgressCallback& progress,
                                     std::stop_token stop) {
    if (o.path.empty()) return openGenerated(o);
    core::DataSplits splits;
    const bool folder = std::filesystem::is_directory(o.path);
    const std::string path = folder ? fileIn(o.path, o, o.family) : o.path;
    const auto [table, test] = readNpz(path, folder ? std::string() : o.arrays, progress, stop);
    core::DatasetPtr all = table;
    if (table->isSortedByClass()) all = inRandomOrder(table);
    splits.train = requireCount(path, all, 0, o.train_size, "train");
    splits.validation = requireCount(path, all, o.train_size, o.validation_size, "validation");
    const std::int64_t used = o.train_size + o.validation_size;
    if (test)
        splits.tests.emplace_back("test",
                                  sliceOf(test->isSortedByClass() ? inRandomOrder(test) : test, 0,
                                          std::min(o.test_size, test->size()), "test"));
    else if (all->size() > used)
        splits.tests.emplace_back(
            folder ? o.family : "test",
            sliceOf(all, used, std::min(o.test_size, all->size() - used), "test"));
    if (folder) {
        for (const auto& family : gameFamilies()) {
            const auto other = fileIn(o.path, o, family);
            if (family == o.family || !std::filesystem::exists(other)) continue;
            const core::DatasetPtr data = readNpzImages(other, progress, stop);
            splits.tests.emplace_back(
                family, sliceOf(data, 0, std::min(o.test_size, data->size()), family));
        }
    }
    return splits;
}

core::DatasetPtr evaluateRelationalGames(const std::string& path, const DataOptions& o,
                                         const std::string& split,
                                         const core::ProgressCallback& progress,
                                         std::stop_token stop) {
    const bool folder = std::filesystem::is_directory(path);
    // Another file may have other names.
    const auto read = readNpz(folder ? fileIn(path, o, split.empty() ? o.family : split) : path,
                              path == o.path ? o.arrays : std::string(), progress, std::move(stop));
    return split == "test" && read.test ? read.test : read.images;
}

// One file, or all existing families of a task.
NamedSplits importRelationalGames(const DataOptions& o, const core::ProgressCallback& progress,
                                  std::stop_token stop) {
    if (!std::filesystem::is_directory(o.path)) {
        const auto read = readNpz(o.path, o.arrays, progress, std::move(stop));
        if (!read.test) return {{"all", read.images}};
        return {{"train", read.images}, {"test", read.test}};
    }
    NamedSplits splits;
    std::string why;
    for (const auto& family : gameFamilies()) {
        try {
            splits.emplace_back(family, readNpzImages(fileIn(o.path, o, family), progress, stop));
        } catch (const FileError& problem) {
            if (why.empty()) why = problem.what();
        }
    }
    if (splits.empty()) throw Error(why);
    return splits;
}

const KindOpenerRegistrar registered("relational-games",
                                     {openRelationalGames, evaluateRelationalGames,
                                      importRelationalGames});

}  // namespace
}  // namespace relascope::datasets
