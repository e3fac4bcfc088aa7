// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/edit_arguments.h"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/drawing.h"
#include "app/cli/run_text.h"
#include "interventions/edit_json.h"
#include "interventions/edit_values.h"
#include "interventions/edit_words.h"
#include "interventions/named_edits.h"
#include "interventions/relation_file.h"
#include "types/metric.h"
#include "types/option_groups.h"
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

void nameEdits(const std::string& path, const EditList& edits) {
    if (edits.anyEnabled())
        std::cerr << plainName(path) << ": with the edits: " << core::wordsOf(edits) << "\n";
}

void nameRelations(const core::OpenedModel& opened, const EditList& edits) {
    for (const auto& file : edits.relations()) {
        const auto metadata = core::readRelation(file).metadata;
        const auto of = metadata.find("model");
        if (of != metadata.end() && of->second != opened.weightsText())
            std::cerr << "warning: " << plainName(file) << " was fitted to " << of->second
                      << "; this model is " << opened.weightsText() << "\n";
    }
}

void nameMeans(const core::OpenedModel& opened, const EditList& edits) {
    nameRelations(opened, edits);
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

void addHead(Json& object, const core::OpenedModel& opened) {
    const auto& head = opened.head();
    const auto text = core::headText(head);
    if (text.empty()) return;
    using Kind = HeadChoice::Kind;
    Json json = {{"kind", head.kind == Kind::Means   ? "means"
                          : head.kind == Kind::Ridge ? "ridge"
                                                     : "texts"},
                 {"text", text},
                 {"classes", head.classes}};
    if (head.fittedOn > 0) json["fitted_on"] = head.fittedOn;
    if (head.kind == Kind::Ridge) json["ridge"] = head.ridge;
    if (!head.file.empty()) json["file"] = head.file;
    if (!head.note.empty()) json["note"] = head.note;
    object["head"] = std::move(json);
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
    Json anew;
    for (const auto& c : effect.refit) {
        anew["edited"][c.metric] = finiteJson(c.edited);
        anew["change"][c.metric] = finiteJson(c.change);
        anew["interval"][c.metric] = {finiteJson(c.low), finiteJson(c.high)};
    }
    if (!anew.is_null()) json["refit"] = std::move(anew);
    if (const auto& training = opened.trainingEdits(); training.anyEnabled())
        json["training_edits"] = wordsOfEach(training);
    if (auto means = meansJson(opened, edits); !means.is_null()) json["means"] = std::move(means);
    addHead(json, opened);
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string effectText(const EditEffect& effect, const EditList& edits, const std::string& split) {
    std::string text = split + ", " + std::to_string(effect.examples) + " examples" +
                       (effect.different < effect.examples
                            ? " (" + std::to_string(effect.different) + " different)"
                            : std::string()) +
                       ", with ";
    text += core::wordsOf(edits) + "\n";
    const auto add = [&text](const PairedChange& c, const char* head) {
        char line[200];
        const bool percent = metricInfo(c.metric).format == MetricFormat::Percent;
        const double scale = percent ? 100.0 : 1.0;
        const char* unit = percent ? " %" : "";
        std::snprintf(line, sizeof line, "%s%s %.4g%s -> %.4g%s, change %+.4g [%+.4g, %+.4g]\n",
                      head, c.metric.c_str(), scale * c.base, unit, scale * c.edited, unit,
                      scale * c.change, scale * c.low, scale * c.high);
        text += line;
    };
    for (const auto& c : effect.changes) add(c, "");
    for (const auto& c : effect.refit) add(c, "with a head fitted anew: ");
    if (effect.answers > 0)
        text += std::to_string(effect.rightToWrong) + " answers from right to wrong, " +
                std::to_string(effect.wrongToRight) + " from wrong to right, of " +
                std::to_string(effect.answers) + "\n";
    return text;
}

}  // namespace relascope::cli
