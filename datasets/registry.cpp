#include "datasets/registry.h"

#include "data/text.h"
#include "datasets/kinds.h"
#include "types/suggest.h"

namespace relascope {
namespace {

struct Kind {
    const char* name;  // as in dataKinds()
    DataSplits (*open)(const DataOptions&, const ProgressCallback&, std::stop_token);
    std::vector<DatasetEntry> (*list)();
    // Files for evaluation alone; null: what `open` finds there.
    DatasetPtr (*evaluate)(const std::string& path, const DataOptions&, const std::string& split,
                           const ProgressCallback&, std::stop_token) = nullptr;
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> table = {
        {"relational-games", openRelationalGames, listRelationalGames, evaluateRelationalGames},
        {"text", openText, listTexts},
        {"sorting", openSorting, listSorting},
        {"pairs", openPairs, listPairs},

        {"set", openSet, listSet},

        {"math", openMath, listMath, evaluateMath},

        {"images", openImages, listImages, evaluateImages},

        {"select-relate", openSelectRelate, listSelectRelate},

        {"inner-products", openInnerProducts, listInnerProducts},

        {"symbol-recovery", openSymbolRecovery, listSymbolRecovery},
    };
    return table;
}

const Kind& kindNamed(const std::string& name) {
    for (const auto& kind : kinds())
        if (name == kind.name) return kind;
    throw OptionError("data.kind", unknownName("kind of data", name, dataKinds()));
}

}  // namespace

DataSplits openData(const DataOptions& o, const ProgressCallback& progress, std::stop_token stop) {
    const Kind& kind = kindNamed(o.kind);
    o.check();
    return kind.open(o, progress, std::move(stop));
}

DataSplits openRunData(const RunOptions& o, const ProgressCallback& progress,
                       std::stop_token stop) {
    DataSplits splits = openData(o.data, progress, stop);
    if (const auto before = o.pretraining())
        splits.pretraining =
            std::make_shared<const DataSplits>(openRunData(*before, progress, std::move(stop)));
    return splits;
}

DatasetPtr openEvaluationData(const std::string& path, const DataOptions& o,
                              const std::string& split, const ProgressCallback& progress,
                              std::stop_token stop) {
    const Kind& kind = kindNamed(o.kind);
    if (kind.evaluate) return kind.evaluate(path, o, split, progress, std::move(stop));
    throw OptionError("data", std::string(kind.name) + " has no files for evaluation");
}

std::vector<DatasetEntry> listDatasets() {
    std::vector<DatasetEntry> entries;
    for (const auto& kind : kinds())
        for (auto& entry : kind.list()) entries.push_back(std::move(entry));
    return entries;
}

std::vector<DatasetEntry> listTexts() {
    return {{"text", "", "Your own text, or the English text installed by the set-up.", {}, {}}};
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

}  // namespace relascope
