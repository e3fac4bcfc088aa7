// Relational Games as a kind of data: generated, or from the published archives.
#include "datasets/generators/relational_games.h"

#include <filesystem>

#include "datasets/kinds.h"
#include "datasets/readers/npz_images.h"

namespace relascope {
namespace {

// Parts of one seed that must never meet: their generators start far apart.
enum class Part : std::uint64_t { Train = 1, Validation = 2, Test = 3 };

RelationalGamesOptions generatorOptions(const DataOptions& o, FigureFamily family, Part part,
                                        std::int64_t size) {
    RelationalGamesOptions g;
    g.task = o.task;
    g.family = family;
    g.size = size;
    g.seed = static_cast<std::uint64_t>(o.seed) * 16 + static_cast<std::uint64_t>(part) * 4 +
             static_cast<std::uint64_t>(family);
    g.patterns.clear();
    std::string rest = o.patterns + ",";
    for (std::size_t comma; (comma = rest.find(',')) != std::string::npos; rest.erase(0, comma + 1))
        g.patterns.push_back(rest.substr(0, comma));
    return g;
}

DatasetPtr generated(const DataOptions& o, FigureFamily family, Part part, std::int64_t size) {
    return std::make_shared<RelationalGames>(generatorOptions(o, family, part, size));
}

DataSplits openGenerated(const DataOptions& o) {
    DataSplits splits;
    const auto family = familyFromName(o.family);
    splits.train = generated(o, family, Part::Train, o.train_size);
    splits.validation = generated(o, family, Part::Validation, o.validation_size);
    if (o.streaming) {
        splits.trainPass = [options = generatorOptions(o, family, Part::Train, o.train_size)](
                               std::int64_t pass) mutable {
            options.pass = static_cast<std::uint64_t>(pass);
            return std::make_shared<RelationalGames>(options);
        };
    }
    for (const auto test : {FigureFamily::Pentos, FigureFamily::Hexos, FigureFamily::Stripes})
        splits.tests.emplace_back(familyName(test), generated(o, test, Part::Test, o.test_size));
    return splits;
}

// The published file names differ from the tasks' own.
std::string fileTask(const std::string& task) {
    if (task == "between") return "1task_between";
    if (task == "match_pattern") return "1task_match_patt";
    return task;
}

std::string fileIn(const std::string& folder, const DataOptions& o, const std::string& family) {
    return (std::filesystem::path(folder) / (fileTask(o.task) + "_" + family + ".npz")).string();
}

DatasetPtr requireCount(const std::string& path, const DatasetPtr& data, std::int64_t first,
                        std::int64_t count, const std::string& name) {
    if (first + count > data->size())
        throw FileError(path,
                        "has " + std::to_string(data->size()) + " images; " + name +
                            " needs the first " + std::to_string(first + count) +
                            "; lower data.train_size, data.validation_size or data.test_size");
    return sliceOf(data, first, count, name);
}

}  // namespace

DataSplits openRelationalGames(const DataOptions& o, const ProgressCallback& progress,
                               std::stop_token stop) {
    if (o.path.empty()) return openGenerated(o);
    DataSplits splits;
    const bool folder = std::filesystem::is_directory(o.path);
    const std::string path = folder ? fileIn(o.path, o, o.family) : o.path;
    const DatasetPtr all = readNpzImages(path, progress, stop);
    splits.train = requireCount(path, all, 0, o.train_size, "train");
    splits.validation = requireCount(path, all, o.train_size, o.validation_size, "validation");
    const std::int64_t used = o.train_size + o.validation_size;
    if (all->size() > used)
        splits.tests.emplace_back(
            folder ? o.family : "test",
            sliceOf(all, used, std::min(o.test_size, all->size() - used), "test"));
    if (folder) {
        for (const char* family : {"pentos", "hexos", "stripes"}) {
            const auto other = fileIn(o.path, o, family);
            if (family == o.family || !std::filesystem::exists(other)) continue;
            const DatasetPtr data = readNpzImages(other, progress, stop);
            splits.tests.emplace_back(
                family, sliceOf(data, 0, std::min(o.test_size, data->size()), family));
        }
    }
    return splits;
}

DatasetPtr evaluateRelationalGames(const std::string& path, const DataOptions& o,
                                   const std::string& split, const ProgressCallback& progress,
                                   std::stop_token stop) {
    const bool folder = std::filesystem::is_directory(path);
    return readNpzImages(folder ? fileIn(path, o, split.empty() ? o.family : split) : path,
                         progress, std::move(stop));
}

std::vector<DatasetEntry> listRelationalGames() {
    std::vector<DatasetEntry> entries;
    const char* help[] = {
        "Two figures: are they the same in shape, orientation and colour?",
        "Is the top figure among the three at the bottom?",
        "Is the top figure among the three at the bottom, with the other two different?",
        "Three figures in a line: are the outer two the same and the middle one different?",
        "Do the top and the bottom row follow the same pattern, such as ABA?"};
    for (std::size_t i = 0; i < relationalGamesTasks().size(); ++i) {
        RelationalGamesOptions options;
        options.task = relationalGamesTasks()[i];
        entries.push_back({"relational-games",
                           options.task,
                           help[i],
                           {"pentos", "hexos", "stripes"},
                           RelationalGames(options).info().classNames});
    }
    return entries;
}

}  // namespace relascope
