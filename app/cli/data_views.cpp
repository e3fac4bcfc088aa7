// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/data_views.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "answers/example_text.h"
#include "app/cli/drawing.h"
#include "app/cli/plain_output.h"
#include "app/cli/run_text.h"
#include "app/serve/data.h"
#include "datasets/examples.h"
#include "datasets/readers/npz.h"
#include "datasets/statistics.h"
#include "files/atomic_file.h"
#include "options/field_text.h"
#include "options/import_data.h"
#include "options/presets.h"
#include "options/shown_data.h"
#include "run/run_folder.h"
#include "types/data_kind.h"
#include "types/suggest.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kUsualCells = 24, kMostCells = 4000;
constexpr int kUsualColumns = 8, kUsualTextColumns = 2;

/// The data that a place names.
struct NamedData {
    wire::Data data;
    std::string name;  ///< "Between", the name of the run, or of the file
    bool generated = false;
};

/// The value of the last setting of that key; empty if there is none.
std::string settingOf(const DataArguments& a, const std::string& key) {
    std::string value;
    for (const auto& setting : a.settings)
        if (setting.starts_with(key + "=")) value = setting.substr(key.size() + 1);
    return value;
}

wire::Data imported(const DataArguments& a) {
    std::string form = a.form, task = settingOf(a, "data.task");
    auto path = fs::absolute(a.place).lexically_normal().string();
    if (form.empty()) {
        const auto guess = core::guessImport(path);
        if (guess.id.empty()) throw FileError(a.place, guess.text + " with --form");
        form = guess.id, path = guess.path;
        if (task.empty()) task = guess.task;
    }
    try {
        return {core::importOptions(form, task, path), true, -1};
    } catch (const OptionError& error) {
        throw OptionError("--form", error.message());
    }
}

NamedData namedBy(const DataArguments& a) {
    NamedData named;
    RunOptions options;
    std::error_code unreadable;
    const bool isName = core::findPreset(a.place) || findDataKind(a.place);
    const bool isRun = !isName && core::isRunFolder(a.place);
    if (isRun) {
        named.data.options = core::runData(a.place, core::readRunOptions(a.place).data);
        named.name = core::readRunInfo(a.place).name;
    } else if (!isName && fs::exists(a.place, unreadable)) {
        named.data = imported(a);
        named.name = folderName(a.place);
    } else if (!isName && a.place.find('/') != std::string::npos) {
        throw FileError(a.place, "was not found");
    } else {
        named.data.options = core::namedData(a.place, settingOf(a, "data.task"));
        named.data.epoch = 0;
        named.generated = true;
    }
    if (!a.form.empty() && !named.data.imported)
        throw OptionError("--form", "is of files to import; " + a.place + " is none");
    options.data = named.data.options;
    applySettings(options, a.settings);
    if (!a.family.empty()) core::setOption(options, "data.family", a.family);
    if (a.seed >= 0) options.data.seed = a.seed;
    if (!a.data.empty()) {
        if (!named.generated)
            throw OptionError("--data",
                              "is for an experiment or a kind of data; give the file "
                              "alone in place of " +
                                  a.place);
        options.data.path = a.data;
    }
    named.data.options = options.data;
    if (named.generated) named.name = core::titleOfTask(options.data.kind, options.data.task);
    if (a.epoch >= 0) named.data.epoch = a.epoch;
    return named;
}

/// The data with the split that is shown, and the examples of its label.
struct ShownSplit {
    NamedData named;
    std::string split;
    core::DatasetPtr data;
    std::shared_ptr<const std::vector<std::int64_t>> matches;  ///< null: all examples

    std::int64_t count() const {
        return matches ? static_cast<std::int64_t>(matches->size()) : data->size();
    }
    std::int64_t indexOf(std::int64_t shown) const {
        return matches ? matches->at(static_cast<std::size_t>(shown)) : shown;
    }
    const std::vector<std::string>& classNames() const { return data->info().classNames; }
    std::string caption() const { return named.name + ", " + split; }
    Json json() const { return {{"data", named.name}, {"split", split}, {"size", data->size()}}; }
};

ShownSplit opened(const DataArguments& a, const std::stop_token& stop) {
    ShownSplit shown{namedBy(a), {}, {}, {}};
    ProgressLine line;
    const auto progress = [&](double fraction) {
        line.show(fraction, "reading " + shown.named.name);
        return !stop.stop_requested();
    };
    const auto splits = serve::openSplits(shown.named.data, progress, stop);
    std::vector<std::string> names;
    for (const auto& [name, data] : splits) {
        names.push_back(name);
        if (shown.data || (!a.split.empty() && name != a.split)) continue;
        shown.split = name, shown.data = data;
    }
    if (!shown.data) throw OptionError("--split", unknownName("split", a.split, names));
    if (a.label.empty()) return shown;
    const auto& info = shown.data->info();
    if (info.targets != TargetKind::Class || info.classNames.empty())
        throw OptionError("--label", "the examples of " + shown.caption() + " have no labels");
    const auto found = std::find(info.classNames.begin(), info.classNames.end(), a.label);
    if (found == info.classNames.end())
        throw OptionError("--label", unknownName("label", a.label, info.classNames));
    shown.matches = std::make_shared<const std::vector<std::int64_t>>(datasets::labelledExamples(
        shown.data, found - info.classNames.begin(), core::kSearchedExamples, progress));
    return shown;
}

void said(const DataArguments& a) {
    std::cerr << "wrote " << plainName(a.out) << "\n";
}

void showStatistics(const DataArguments& a, const ShownSplit& shown, const std::stop_token& stop) {
    const auto& info = shown.data->info();
    const auto& [options, imported, epoch, run] = shown.named.data;
    auto statistics = datasets::countExamples(*shown.data, options,
                                              a.count > 0 ? a.count : core::kCountedExamples,
                                              [&] { return !stop.stop_requested(); });
    core::addOrigin(statistics, info, shown.named.name, shown.named.generated ? options.seed : -1,
                    options.streaming && shown.split == "train" ? epoch : -1);
    if (a.out.ends_with(".csv")) core::writeTextFile(a.out, core::csvOf(statistics)), said(a);
    if (isPicture(a.out))
        draw(a.out, wire::StatisticsFigure{statistics, info.note, shown.caption()}, a.paper),
            said(a);
    if (a.json) {
        auto object = shown.json();
        object.update(core::jsonOf(statistics));
        object["note"] = info.note;
        std::cout << object.dump(2) << "\n";
    } else if (a.out.empty()) {
        print("%s: %s of %s counted\n\n", plainName(shown.caption()).c_str(),
              groupedNumber(statistics.counted).c_str(), groupedNumber(info.size).c_str());
        std::cout << core::plainText(statistics);
        if (!info.note.empty()) print("\n%s\n", info.note.c_str());
    }
}

void showSample(const DataArguments& a, const ShownSplit& shown) {
    if (a.sample >= shown.data->size())
        throw OptionError("--sample", std::to_string(a.sample) + " is behind the last of " +
                                          groupedNumber(shown.data->size()) + " examples of " +
                                          shown.caption() + ", which are counted from 0");
    const auto example = datasets::exampleOf(*shown.data, a.sample);
    if (a.out.ends_with(".csv")) core::writeTextFile(a.out, core::csvOf(example.sample)), said(a);
    if (isPicture(a.out))
        draw(a.out, wire::SampleFigure{example, shown.classNames(), shown.caption()}, a.paper),
            said(a);
    if (a.json) {
        auto object = shown.json();
        object["index"] = a.sample;
        object.update(core::jsonOf(example, shown.classNames()));
        std::cout << object.dump(2) << "\n";
    } else if (a.out.empty()) {
        print("%s\n%s\n", plainName(example.sample.origin).c_str(),
              core::inputText(example.sample).c_str());
        if (const auto answer = core::answerOf(example, shown.classNames()); !answer.empty())
            print("%s: %s\n", example.answer.empty() ? "label" : "answer",
                  plainName(answer).c_str());
    }
}

void showGrid(const DataArguments& a, const ShownSplit& shown, const std::stop_token& stop) {
    if (a.count > kMostCells)
        throw OptionError("--count", std::to_string(a.count) + " is more than the " +
                                         std::to_string(kMostCells) + " examples of a grid");
    if (shown.count() == 0) throw OptionError("--grid", shown.caption() + " has no such example");
    if (a.first >= shown.count())
        throw OptionError("--first", std::to_string(a.first) + " is behind the last of " +
                                         groupedNumber(shown.count()) +
                                         " examples, which are counted from 0");
    const auto end = std::min(shown.count(), a.first + (a.count > 0 ? a.count : kUsualCells));
    wire::SampleGridFigure figure;
    Json list = Json::array();
    for (auto k = a.first; k < end; ++k) {
        if (stop.stop_requested()) throw Cancelled();
        const auto index = shown.indexOf(k);
        figure.examples.push_back(datasets::exampleOf(*shown.data, index));
        const auto& example = figure.examples.back();
        if (a.json) {
            Json object = {{"index", index}};
            object.update(core::jsonOf(example, shown.classNames()));
            list.push_back(object);
        } else if (a.out.empty()) {
            print("%8s  %-16s  %s\n", std::to_string(index).c_str(),
                  plainName(core::answerOf(example, shown.classNames())).c_str(),
                  core::inputText(example.sample).c_str());
        }
    }
    if (!a.out.empty()) {
        // Cells have the size of the first example of the split, as on the page.
        figure.cell = datasets::exampleOf(*shown.data, 0);
        const bool images = !figure.cell.sample.image.empty();
        figure.columns = a.columns > 0 ? a.columns : images ? kUsualColumns : kUsualTextColumns;
        figure.classNames = shown.classNames();
        figure.caption = shown.caption();
        draw(a.out, figure, a.paper);
        said(a);
    }
    if (!a.json) return;
    auto object = shown.json();
    if (!a.label.empty()) object["label"] = a.label;
    object["shown"] = shown.count();
    object["examples"] = list;
    std::cout << object.dump(2) << "\n";
}

void saveExamples(const DataArguments& a, const ShownSplit& shown, const std::stop_token& stop) {
    const auto count = a.count > 0 ? std::min(a.count, shown.count()) : shown.count();
    const auto picked = datasets::pickedOf(shown.data, shown.matches, count);
    if (!picked)
        throw OptionError("--out", "examples of " + shown.caption() +
                                       " are text, which is a file already; copy it instead");
    ProgressLine line;
    datasets::writeNpz(a.out, *picked, [&](double fraction) {
        line.show(fraction, "writing " + a.out);
        return !stop.stop_requested();
    });
    line.say("wrote " + std::to_string(count) + " examples to " + a.out);
}

}  // namespace

void applySettings(RunOptions& options, const std::vector<std::string>& settings) {
    for (const auto& setting : settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos)
            throw OptionError("--set", "'" + setting + "' is not KEY=VALUE");
        core::setOption(options, setting.substr(0, equals), setting.substr(equals + 1));
    }
}

void showData(const DataArguments& a) {
    if (int(a.statistics) + int(a.grid) + int(a.sample >= 0) > 1)
        throw OptionError("--statistics", "give one of --statistics, --sample and --grid");
    const auto need = [&](bool on, const char* option, const char* with) {
        if (on) throw OptionError(option, std::string("needs ") + with);
    };
    need(a.first > 0 && !a.grid, "--first", "--grid");
    need(!a.label.empty() && (a.statistics || a.sample >= 0), "--label", "--grid or a .npz file");
    need(a.columns > 0 && !a.grid, "--columns", "--grid");
    if (a.grid && !a.out.empty())
        endingOf(a.out, {});
    else if (a.shows() && !a.out.empty())
        endingOf(a.out, {".csv"});
    else if (!a.shows() && !a.out.ends_with(".npz"))
        throw OptionError("--out", a.out.empty()
                                       ? "is missing: a .npz file; or give --statistics, --sample "
                                         "or --grid"
                                       : "'" + a.out +
                                             "' must end in .npz; pictures are drawn with "
                                             "--statistics, --sample or --grid");
    requireDrawing(a.out);
    const auto stop = stopOnSignals();
    const auto shown = opened(a, stop);
    if (a.statistics)
        showStatistics(a, shown, stop);
    else if (a.sample >= 0)
        showSample(a, shown);
    else if (a.grid)
        showGrid(a, shown, stop);
    else
        saveExamples(a, shown, stop);
}

void dataViewOptions(CLI::App& command, DataArguments& a) {
    command.add_flag("--statistics", a.statistics,
                     "counts of labels and lengths, ranges of numbers, of the first 2,000 examples "
                     "or of --count");
    command.add_option("--sample", a.sample, "one example, counted from 0")
        ->check(CLI::NonNegativeNumber);
    command.add_flag("--grid", a.grid, "several examples: --count of them (24)");
    command.add_option("--first", a.first, "of a grid: its first example, counted from 0")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--columns", a.columns, "of a grid: examples in a row")
        ->check(CLI::Range(1, wire::kMostColumns));
    command.add_option("--split", a.split, "train, validation or a test split (the first one)");
    command.add_option("--label", a.label, "of a grid or .npz: only examples with this label");
    command.add_option("--epoch", a.epoch, "of training data that differ between epochs (0)")
        ->check(CLI::NonNegativeNumber);
    command.add_option("--data", a.data, "file or folder that an experiment's data are read from");
    std::vector<std::string> forms;
    for (const auto& import : dataImports()) forms.push_back(import.form->id);
    command.add_option("--form", a.form,
                       "of files to import, where their names do not say it: " + joined(forms));
}

}  // namespace relascope::cli
