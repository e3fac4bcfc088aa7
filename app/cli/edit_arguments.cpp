// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/edit_arguments.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "app/cli/drawing.h"
#include "app/cli/question_subject.h"
#include "app/cli/run_text.h"
#include "datasets/registry.h"
#include "interventions/edit_json.h"
#include "interventions/edit_values.h"
#include "interventions/edit_words.h"
#include "interventions/named_edits.h"
#include "question/question_fields.h"
#include "run/run_folder.h"
#include "types/field_text.h"
#include "types/metric.h"
#include "types/option_groups.h"
#include "types/suggest.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

void resolveTrainingEdits(const std::vector<std::string>& arguments, const std::string& path,
                          core::OpenedModel& opened) {
    if (!opened.trainingEdits().anyEnabled()) return;
    const auto words = core::wordsOf(opened.trainingEdits());
    if (core::namesNone(arguments)) {
        std::cerr << plainName(path) << ": without the edits of its training: " << words << "\n";
        opened.leaveOutTrainingEdits();
        return;
    }
    std::cerr << plainName(path) << ": with the edits of its training: " << words << "\n";
}

core::Interventions interventionsOf(const std::vector<std::string>& arguments,
                                    const std::string& path, core::OpenedModel& opened,
                                    const ProbeSample& sample, core::EditUse use) {
    core::Interventions all{{}, editData(path, opened)};
    if (!arguments.empty()) all.edits = core::editsNamed(arguments, opened.points(sample), use);
    if (all.edits.anyEnabled())
        std::cerr << plainName(path) << ": with the edits: " << core::wordsOf(all.edits) << "\n";
    return all;
}

void nameMeans(const core::OpenedModel& opened, const EditList& edits) {
    for (const auto& [index, mean] : opened.takenMeans()) {
        const auto& edit = edits.edits[index];
        std::cerr << core::wordsOf(edit) << ": " << core::meanText(edit, &mean) << "\n";
    }
}

Json meansJson(const core::OpenedModel& opened, const EditList& edits) {
    Json means;
    for (const auto& [index, mean] : opened.takenMeans()) {
        const auto& edit = edits.edits[index];
        means.push_back({{"edit", core::wordsOf(edit)},
                         {"split", edit.reference.value_or(EditReference{}).split},
                         {"examples", mean.examples},
                         {"over", mean.over},
                         {"standard_error", finiteJson(mean.standardError)}});
    }
    return means;
}

void addEdits(Json& object, const core::OpenedModel& opened, const EditList& edits) {
    if (edits.anyEnabled()) object["edits"] = wordsOfEach(edits);
    if (auto means = meansJson(opened, edits); !means.is_null()) object["means"] = std::move(means);
}

std::string editedCaption(const std::string& path, const core::OpenedModel& opened,
                          const EditList& edits, const std::string& more) {
    const auto caption = captionOf(path, opened, more);
    return edits.anyEnabled() ? caption + ", edited: " + core::wordsOf(edits) : caption;
}

std::vector<std::string> wordsOfEach(const EditList& edits) {
    std::vector<std::string> words;
    for (const auto& edit : edits.edits)
        if (edit.enabled) words.push_back(core::wordsOf(edit));
    return words;
}

core::EditData editData(const std::string& path, const core::OpenedModel& opened) {
    core::EditData data;
    if (opened.isRun()) {
        // The data are opened once, when an edit first needs them.
        auto splits = std::make_shared<std::unique_ptr<core::DataSplits>>();
        data.split = [path, &opened, splits](const std::string& name) {
            if (!*splits)
                *splits = std::make_unique<core::DataSplits>(
                    datasets::openData(core::runData(path, opened.run().data)));
            return (*splits)->find(name);
        };
    }
    data.image = [&opened](const std::string& file) { return readPicture(file, opened, "image"); };
    return data;
}

ProbeSample inputFromWords(const std::string& words, const std::string& option,
                           const std::string& path, core::OpenedModel& opened,
                           const std::string& split) {
    static const std::set<std::string> kinds = {"sample", "text",      "tokens",
                                                "image",  "reference", "random"};
    const auto colon = words.find(':');
    const auto kind = words.substr(0, colon);
    const auto rest = colon == std::string::npos ? "" : words.substr(colon + 1);
    if (rest.empty())
        throw OptionError(option,
                          "'" + words +
                              "' is no input; give sample:N, text:T, tokens:1,2, image:FILE, "
                              "reference:N or random:SEED");
    if (!kinds.contains(kind))
        throw OptionError(
            option, unknownName("kind of input", kind, std::vector(kinds.begin(), kinds.end())));
    try {
        Question asked;
        for (const auto& spec : core::inputFields())
            if (spec.name == kind)
                asked.set(kind, spec.kind == FieldKind::Text
                                    ? FieldValue(rest)
                                    : core::parseFieldValue(option, spec, rest));
        asked.set("split", split);
        return readSample(opened, path, asked).sample;
    } catch (const OptionError& error) {
        if (error.field() == "--split") throw;
        throw OptionError(option, error.message());
    }
}

std::string effectJson(const EditEffect& effect, const core::OpenedModel& opened,
                       const EditList& edits, const std::string& split) {
    Json base, edited, change, interval;
    for (const auto& c : effect.changes) {
        base[c.metric] = finiteJson(c.base);
        edited[c.metric] = finiteJson(c.edited);
        change[c.metric] = finiteJson(c.change);
        interval[c.metric] = {finiteJson(c.low), finiteJson(c.high)};
    }
    Json json = {{"split", split},
                 {"examples", effect.examples},
                 {"different", effect.different},
                 {"step", opened.step()},
                 {"base", base},
                 {"edited", edited},
                 {"change", change},
                 {"interval", interval},
                 {"answers", effect.answers},
                 {"right_to_wrong", effect.rightToWrong},
                 {"wrong_to_right", effect.wrongToRight},
                 {"changed_answers", effect.changedAnswers},
                 {"edits", wordsOfEach(edits)}};
    if (const auto& training = opened.trainingEdits(); training.anyEnabled())
        json["training_edits"] = wordsOfEach(training);
    if (auto means = meansJson(opened, edits); !means.is_null()) json["means"] = std::move(means);
    return json.dump(2);
}

std::string effectText(const EditEffect& effect, const EditList& edits, const std::string& split) {
    std::string text = split + ", " + std::to_string(effect.examples) + " examples" +
                       (effect.different < effect.examples
                            ? " (" + std::to_string(effect.different) + " different)"
                            : std::string()) +
                       ", with ";
    text += core::wordsOf(edits) + "\n";
    for (const auto& c : effect.changes) {
        char line[160];
        const bool percent = metricInfo(c.metric).format == MetricFormat::Percent;
        const double scale = percent ? 100.0 : 1.0;
        const char* unit = percent ? " %" : "";
        std::snprintf(line, sizeof line, "%s %.4g%s -> %.4g%s, change %+.4g [%+.4g, %+.4g]\n",
                      c.metric.c_str(), scale * c.base, unit, scale * c.edited, unit,
                      scale * c.change, scale * c.low, scale * c.high);
        text += line;
    }
    if (effect.answers > 0)
        text += std::to_string(effect.rightToWrong) + " answers from right to wrong, " +
                std::to_string(effect.wrongToRight) + " from wrong to right, of " +
                std::to_string(effect.answers) + "\n";
    return text;
}

}  // namespace relascope::cli
