// SPDX-License-Identifier: GPL-3.0-or-later
#include <map>

#include "datasets/readers/masked_pictures.h"
#include "datasets/readers/prepared_images.h"
#include "datasets/registry.h"
#include "types/data_kind.h"
#include "types/error.h"

namespace relascope::datasets {
namespace {

// A function-local static, so that it exists before the first registrar runs.
std::map<std::string, KindOpener>& openers() {
    static std::map<std::string, KindOpener> all;
    return all;
}

const KindOpener& openerOf(const DataKind& kind) {
    const auto found = openers().find(kind.name);
    if (found == openers().end())
        throw OptionError("data.kind", kind.title + ": only its captured inputs are known, and " +
                                           "there is nothing to open");
    return found->second;
}

}  // namespace

KindOpenerRegistrar::KindOpenerRegistrar(const char* kind, KindOpener opener) {
    openers().emplace(kind, opener);
}

core::DataSplits openData(const DataOptions& o, const core::ProgressCallback& progress,
                          std::stop_token stop) {
    o.check();
    auto splits = openerOf(dataKind(o.kind)).open(o, progress, std::move(stop));
    prepareImages(splits, o);
    return splits;
}

core::DataSplits openRunData(const RunOptions& o, const core::ProgressCallback& progress,
                             std::stop_token stop) {
    core::DataSplits splits = openData(o.data, progress, stop);
    if (const auto before = o.pretraining())
        splits.pretraining = std::make_shared<const core::DataSplits>(
            openRunData(*before, progress, std::move(stop)));
    return splits;
}

core::DatasetPtr openEvaluationData(const std::string& path, const DataOptions& o,
                                    const std::string& split,
                                    const core::ProgressCallback& progress, std::stop_token stop) {
    if (isMaskedFolder(path)) {
        const auto side = static_cast<int>(o.image_side);
        return readMaskedPictures(path, side, side, o.preprocessor, progress, std::move(stop));
    }
    const auto& opener = openerOf(dataKind(o.kind));
    if (opener.evaluate)
        return preparedImages(opener.evaluate(path, o, split, progress, std::move(stop)), o);
    throw OptionError("data", o.kind + " has no files for evaluation");
}

NamedSplits openImported(const DataOptions& o, const core::ProgressCallback& progress,
                         std::stop_token stop) {
    // A single file may have no task and no sizes, so only complete data are checked.
    if (const auto import = openerOf(dataKind(o.kind)).import)
        if (auto parts = import(o, progress, stop); !parts.empty()) return parts;
    const core::DataSplits splits = openData(o, progress, std::move(stop));
    NamedSplits parts;
    for (const auto& name : splits.names()) parts.emplace_back(name, splits.find(name));
    return parts;
}

void requireFit(const DatasetInfo& data, std::int64_t channels, std::int64_t height,
                std::int64_t width, std::int64_t classes) {
    const auto shape = [](std::int64_t c, std::int64_t h, std::int64_t w) {
        return std::to_string(c) + " x " + std::to_string(h) + " x " + std::to_string(w);
    };
    if (data.channels != channels || data.height != height || data.width != width)
        throw OptionError("data.path", data.name + " has images of " +
                                           shape(data.channels, data.height, data.width) +
                                           ", but the model expects " +
                                           shape(channels, height, width) +
                                           " (channels, height, width)");
    if (static_cast<std::int64_t>(data.classNames.size()) > classes)
        throw OptionError("data.path", data.name + " has " +
                                           std::to_string(data.classNames.size()) +
                                           " classes, but the model " + std::to_string(classes));
}

}  // namespace relascope::datasets
