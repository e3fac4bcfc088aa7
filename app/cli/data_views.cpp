// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/data_views.h"

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "answers/example_text.h"
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

/// The data that a place names.
struct NamedData {
    wire::Data data;
    std::string name;  ///< "Between", the name of the run, or of the file
    bool generated = false;
};

using Whole = std::int64_t;

const std::string& placeOf(const Question& asked) {
    return asked.subjects[0].path;
}

/// The value of the last setting of that key; empty if there is none.
std::string settingOf(const Question& asked, const std::string& key) {
    std::string value;
    for (const auto& setting : asked.value<std::vector<std::string>>("set"))
        if (setting.starts_with(key + "=")) value = setting.substr(key.size() + 1);
    return value;
}

wire::Data imported(const Question& a) {
    const auto& place = placeOf(a);
    std::string form = a.text("form"), task = settingOf(a, "data.task");
    auto path = fs::absolute(place).lexically_normal().string();
    if (form.empty()) {
        const auto guess = core::guessImport(path);
        if (guess.id.empty()) throw FileError(place, guess.text + " with --form");
        form = guess.id, path = guess.path;
        if (task.empty()) task = guess.task;
    }
    try {
        return {core::importOptions(form, task, path), true, -1};
    } catch (const OptionError& error) {
        throw OptionError("--form", error.message());
    }
}

NamedData namedBy(const Question& a) {
    const auto& place = placeOf(a);
    NamedData named;
    RunOptions options;
    std::error_code unreadable;
    const bool isName = core::findPreset(place) || findDataKind(place);
    const bool isRun = !isName && core::isRunFolder(place);
    if (isRun) {
        named.data.options = core::runData(place, core::readRunOptions(place).data);
        named.name = core::readRunInfo(place).name;
    } else if (!isName && fs::exists(place, unreadable)) {
        named.data = imported(a);
        named.name = folderName(place);
    } else if (!isName && place.find('/') != std::string::npos) {
        throw FileError(place, "was not found");
    } else {
        named.data.options = core::namedData(place, settingOf(a, "data.task"));
        named.data.epoch = 0;
        named.generated = true;
    }
    if (a.option("form") && !named.data.imported)
        throw OptionError("--form", "is of files to import; " + place + " is none");
    options.data = named.data.options;
    applySettings(options, a);
    options.data.seed = a.value("seed", Whole{options.data.seed});
    if (const auto data = a.text("data"); !data.empty()) {
        if (!named.generated)
            throw OptionError("--data",
                              "is for an experiment or a kind of data; give the file "
                              "alone in place of " +
                                  place);
        options.data.path = data;
    }
    named.data.options = options.data;
    if (named.generated) named.name = core::titleOfTask(options.data.kind, options.data.task);
    if (a.option("epoch")) named.data.epoch = a.value<Whole>("epoch");
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

ShownSplit opened(const Question& a, const std::stop_token& stop) {
    const auto wanted = a.text("split"), label = a.text("label");
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
        if (shown.data || (!wanted.empty() && name != wanted)) continue;
        shown.split = name, shown.data = data;
    }
    if (!shown.data) throw OptionError("--split", unknownName("split", wanted, names));
    if (label.empty()) return shown;
    const auto& info = shown.data->info();
    if (info.targets != TargetKind::Class || info.classNames.empty())
        throw OptionError("--label", "the examples of " + shown.caption() + " have no labels");
    const auto found = std::find(info.classNames.begin(), info.classNames.end(), label);
    if (found == info.classNames.end())
        throw OptionError("--label", unknownName("label", label, info.classNames));
    shown.matches = std::make_shared<const std::vector<std::int64_t>>(datasets::labelledExamples(
        shown.data, found - info.classNames.begin(), core::kSearchedExamples, progress));
    return shown;
}

void said(const Asked& a) {
    std::cerr << "wrote " << plainName(a.out) << "\n";
}

void showStatistics(const Asked& a, const Call& call, const ShownSplit& shown,
                    const std::stop_token& stop) {
    const auto& info = shown.data->info();
    const auto& [options, imported, epoch, run] = shown.named.data;
    auto statistics = datasets::countExamples(*shown.data, options,
                                              a.question.value("count", core::kCountedExamples),
                                              [&] { return !stop.stop_requested(); });
    core::addOrigin(statistics, info, shown.named.name, shown.named.generated ? options.seed : -1,
                    options.streaming && shown.split == "train" ? epoch : -1);
    if (a.out.ends_with(".csv")) core::writeTextFile(a.out, core::csvOf(statistics)), said(a);
    if (call.json) {
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

void showSample(const Asked& a, const Call& call, const ShownSplit& shown) {
    const auto sample = a.question.value<Whole>("sample");
    if (sample >= shown.data->size())
        throw OptionError("--sample", std::to_string(sample) + " is behind the last of " +
                                          groupedNumber(shown.data->size()) + " examples of " +
                                          shown.caption() + ", which are counted from 0");
    const auto example = datasets::exampleOf(*shown.data, sample);
    if (a.out.ends_with(".csv")) core::writeTextFile(a.out, core::csvOf(example.sample)), said(a);
    if (call.json) {
        auto object = shown.json();
        object["index"] = sample;
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

void showGrid(const Asked& a, const Call& call, const ShownSplit& shown,
              const std::stop_token& stop) {
    const auto count = a.question.value("count", kUsualCells),
               first = a.question.value<Whole>("first");
    if (count > kMostCells)
        throw OptionError("--count", std::to_string(count) + " is more than the " +
                                         std::to_string(kMostCells) + " examples of a grid");
    if (shown.count() == 0) throw OptionError("--grid", shown.caption() + " has no such example");
    if (first >= shown.count())
        throw OptionError("--first", std::to_string(first) + " is behind the last of " +
                                         groupedNumber(shown.count()) +
                                         " examples, which are counted from 0");
    const auto end = std::min(shown.count(), first + count);
    Json list = Json::array();
    for (auto k = first; k < end; ++k) {
        if (stop.stop_requested()) throw Cancelled();
        const auto index = shown.indexOf(k);
        const auto example = datasets::exampleOf(*shown.data, index);
        if (call.json) {
            Json object = {{"index", index}};
            object.update(core::jsonOf(example, shown.classNames()));
            list.push_back(object);
        } else {
            print("%8s  %-16s  %s\n", std::to_string(index).c_str(),
                  plainName(core::answerOf(example, shown.classNames())).c_str(),
                  core::inputText(example.sample).c_str());
        }
    }
    if (!call.json) return;
    auto object = shown.json();
    if (const auto label = a.question.text("label"); !label.empty()) object["label"] = label;
    object["shown"] = shown.count();
    object["examples"] = list;
    std::cout << object.dump(2) << "\n";
}

void saveExamples(const Asked& a, const ShownSplit& shown, const std::stop_token& stop) {
    const auto count = std::min(a.question.value("count", shown.count()), shown.count());
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

void applySettings(RunOptions& options, const Question& asked) {
    for (const auto& setting : asked.value<std::vector<std::string>>("set")) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos)
            throw OptionError("--set", "'" + setting + "' is not KEY=VALUE");
        core::setOption(options, setting.substr(0, equals), setting.substr(equals + 1));
    }
    if (const auto family = asked.text("family"); !family.empty())
        core::setOption(options, "data.family", family);
}

bool shows(const Question& asked) {
    return asked.option("statistics") || asked.option("grid") || asked.option("sample");
}

void showData(const Asked& a, const Call& call) {
    const auto& asked = a.question;
    const bool statistics = asked.option("statistics"), grid = asked.option("grid"),
               sample = asked.option("sample");
    if (int(statistics) + int(grid) + int(sample) > 1)
        throw OptionError("--statistics", "give one of --statistics, --sample and --grid");
    const auto need = [&](bool on, const char* option, const char* with) {
        if (on) throw OptionError(option, std::string("needs ") + with);
    };
    need(asked.value<Whole>("first") > 0 && !grid, "--first", "--grid");
    need(asked.option("label") && (statistics || sample), "--label", "--grid or a .npz file");
    if (grid && !a.out.empty())
        throw OptionError("--out", "is for --statistics and --sample; --grid prints its examples");
    if (shows(asked) && !a.out.empty() && !a.out.ends_with(".csv"))
        throw OptionError("--out",
                          "'" + a.out + "' must end in .csv; the page Data saves its pictures");
    if (!shows(asked) && !a.out.ends_with(".npz"))
        throw OptionError("--out", a.out.empty()
                                       ? "is missing: a .npz file; or give --statistics, --sample "
                                         "or --grid"
                                       : "'" + a.out + "' must end in .npz");
    const auto stop = stopOnSignals();
    const auto shown = opened(asked, stop);
    if (statistics)
        showStatistics(a, call, shown, stop);
    else if (sample)
        showSample(a, call, shown);
    else if (grid)
        showGrid(a, call, shown, stop);
    else
        saveExamples(a, shown, stop);
}

}  // namespace relascope::cli
