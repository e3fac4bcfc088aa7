// SPDX-License-Identifier: GPL-3.0-or-later
// Mathematics as a kind of data (DAT 4.2): generated, or from the published files.
#include <algorithm>
#include <filesystem>

#include "datasets/generators/math/problem.h"
#include "datasets/kinds/kind_parts.h"
#include "datasets/readers/question_answer.h"
#include "datasets/registry.h"
#include "types/suggest.h"

namespace relascope::datasets {
namespace {

namespace fs = std::filesystem;
using mathematics::GeneratedQuestions;
using mathematics::Side;

using mathematics::kUsualTest, mathematics::kUsualTrain, mathematics::kUsualValidation;

// The training files of a module: three difficulties, or one file with all.
std::vector<std::string> trainingFiles(const std::string& folder, const std::string& module) {
    std::vector<std::string> paths;
    for (const char* regime : {"train-easy", "train-medium", "train-hard"})
        paths.push_back((fs::path(folder) / regime / (module + ".txt")).string());
    const auto whole = (fs::path(folder) / "train" / (module + ".txt")).string();
    if (!fs::exists(paths[0]) && fs::exists(whole)) return {whole};
    for (const auto& path : paths)
        if (!fs::exists(path))
            throw FileError(path,
                            "was not found; data.path must contain the folders train-easy, "
                            "train-medium, train-hard (or train) and interpolate, with " +
                                module + ".txt in each of them");
    return paths;
}

std::vector<QuestionLinesPtr> readAll(const std::vector<std::string>& paths, std::int64_t most,
                                      const core::ProgressCallback& progress,
                                      const std::stop_token& stop) {
    const auto count = static_cast<double>(paths.size());
    std::vector<QuestionLinesPtr> files;
    for (const auto& path : paths) {
        const auto before = static_cast<double>(files.size());
        const auto fraction = [&](double part) {
            return !progress || progress((before + part) / count);
        };
        files.push_back(readQuestions(path, most, fraction, stop));
    }
    return files;
}

core::DatasetPtr interpolation(const DataOptions& o, const std::string& folder, std::int64_t wanted,
                               const core::ProgressCallback& progress,
                               const std::stop_token& stop) {
    const auto path = (fs::path(folder) / "interpolate" / (o.task + ".txt")).string();
    const auto files = readAll({path}, wanted, progress, stop);
    const auto size = splitSize("test_size", wanted, files[0]->problems(), "questions of " + path);
    return std::make_shared<QuestionFiles>(o.task, "interpolate", path, files, 0, size);
}

core::DataSplits openFiles(const DataOptions& o, const core::ProgressCallback& progress,
                           const std::stop_token& stop) {
    const auto paths = trainingFiles(o.path, o.task);
    // Validation comes first, so that it is the same for all training sizes.
    const auto count = static_cast<std::int64_t>(paths.size());
    const bool limited = o.train_size > 0 && o.validation_size > 0;
    const auto files =
        readAll(paths, limited ? (o.validation_size + o.train_size + count - 1) / count : 0,
                progress, stop);
    const std::int64_t all = QuestionFiles::available(files),
                       held = o.validation_size > 0
                                  ? o.validation_size
                                  : std::clamp<std::int64_t>(all / 20, 1, kUsualValidation);
    const std::string what = "training questions of " + o.path;
    const auto validation = splitSize("validation_size", held, all, what);
    const auto train =
        splitSize("train_size", o.train_size, all - validation, what + " that are not held out");
    if (train == 0)
        throw OptionError(
            "data.validation_size",
            std::to_string(validation) + " leaves no question of " + o.path + " to train on");
    core::DataSplits splits;
    splits.train =
        std::make_shared<QuestionFiles>(o.task, "train", o.path, files, validation, train);
    splits.validation =
        std::make_shared<QuestionFiles>(o.task, "validation", o.path, files, 0, validation);
    splits.tests.emplace_back("interpolate", interpolation(o, o.path, o.test_size, progress, stop));
    return splits;
}

core::DataSplits openMath(const DataOptions& o, const core::ProgressCallback& progress,
                          std::stop_token stop) {
    if (!o.path.empty()) return openFiles(o, progress, stop);
    const auto part = [&](Side side, std::int64_t wanted, std::int64_t usual) -> core::DatasetPtr {
        return std::make_shared<GeneratedQuestions>(
            o.task, side, static_cast<std::uint64_t>(o.seed), wanted > 0 ? wanted : usual);
    };
    core::DataSplits splits;
    splits.train = part(Side::Train, o.train_size, kUsualTrain);
    splits.validation = part(Side::Validation, o.validation_size, kUsualValidation);
    splits.tests.emplace_back("interpolate", part(Side::Interpolate, o.test_size, kUsualTest));
    return splits;
}

core::DatasetPtr evaluateMath(const std::string& path, const DataOptions& o,
                              const std::string& split, const core::ProgressCallback& progress,
                              std::stop_token stop) {
    if (!fs::is_directory(path)) {
        const auto files = readAll({path}, 0, progress, stop);
        return std::make_shared<QuestionFiles>(o.task, fs::path(path).filename().string(), path,
                                               files, 0, files[0]->problems());
    }
    if (split.empty() || split == "interpolate") return interpolation(o, path, 0, progress, stop);
    if (split == "extrapolate")
        throw OptionError(
            "--split", "no extrapolation split of " + o.task + " was published; use interpolate");
    DataOptions there = o;
    there.path = path;
    const auto splits = openFiles(there, progress, stop);
    const auto data = splits.find(split);
    if (!data) throw OptionError("--split", unknownName("split", split, splits.names()));
    return data;
}

// A single file of questions has no splits, in contrast to the published folder.
NamedSplits importMath(const DataOptions& o, const core::ProgressCallback& progress,
                       std::stop_token stop) {
    if (fs::is_directory(o.path)) return {};
    return {{"all", evaluateMath(o.path, o, "", progress, std::move(stop))}};
}

const KindOpenerRegistrar registered("math", {openMath, evaluateMath, importMath});

}  // namespace
}  // namespace relascope::datasets
