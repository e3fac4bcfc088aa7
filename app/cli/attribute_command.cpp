// SPDX-License-Identifier: GPL-3.0-or-later
// attribute: what each part of a model adds to an answer.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/answers.h"
#include "app/cli/commands.h"
#include "app/cli/edit_arguments.h"
#include "types/text_format.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kShownRelation = 0.05;  // of the largest part

Json json(const Attribution& r, const AnsweredInput& opened, const EditList& edits) {
    Json parts = Json::array();
    for (const auto& part : r.parts) {
        Json one = {{"part", part.text()}, {"kind", partKindName(part.kind)}};
        if (part.layer >= 0) one["layer"] = part.layer + 1;
        if (part.head >= 0) one["head"] = part.head + 1;
        if (part.relation >= 0) one["relation"] = part.relation + 1;
        if (!part.where.empty()) one["of"] = part.where;
        one["inside"] = part.inside(), one["value"] = part.value;
        parts.push_back(std::move(one));
    }
    Json all = {{"step", opened.model.step()},
                {"sample", opened.input.sample.origin},
                {"position", r.whole ? Json() : Json(r.position)},
                {"input", r.input},
                {"answer", answerJson(r.answer)},
                {"minus", r.minus.id < 0 ? Json() : answerJson(r.minus)},
                {"logit", r.logit},
                {"sum", r.sum()},
                {"parts", std::move(parts)}};
    addEdits(all, opened.model, edits);
    return all;
}

void print(const Attribution& r) {
    std::cout << "logit of " << quoted(r.answer.name);
    if (r.minus.id >= 0) std::cout << " minus that of " << quoted(r.minus.name);
    if (!r.whole) std::cout << " at position " << r.position;
    if (!r.input.empty()) std::cout << " (" << quoted(r.input) << ")";
    std::cout << ": " << numberText("%.4f", r.logit) << "\n";
    double most = 1e-30;
    for (const auto& part : r.parts) most = std::max(most, std::abs(part.value));
    std::size_t small = 0;
    for (const auto& part : r.parts) {
        const double share = std::abs(part.value) / most;
        if (part.kind == PartKind::Relation && share < kShownRelation) {
            ++small;
            continue;
        }
        const auto less = barText('-', -part.value / most, 20),
                   more = barText('+', part.value / most, 20);
        std::cout << cellText((part.inside() ? "    " : "") + part.text(), 44)
                  << cellText(numberText("%.4f", part.value), 11, true) << "  "
                  << cellText("", 20 - less.size()) << less << "|" << more << "\n";
    }
    std::cout << cellText("sum, without what is inside a head", 44)
              << cellText(numberText("%.4f", r.sum()), 11, true) << "\n";
    if (small > 0)
        std::cout << small
                  << " relations of less than 5 % of the largest part are left out; --json "
                     "and --out have them\n";
}

int attribute(const LensArguments& a, const Call& call) {
    if (call.drawing.elsewhere(a.out, call.drawing.renderers.analysis))
        return call.drawing.handOver();
    auto opened = openAnswered(a);
    const auto interventions = interventionsOf(a.edits, a.path, opened.model, opened.input.sample);
    AttributionOptions what;
    what.answer = opened.id(a.logit, "--logit");
    if (!a.minus.empty()) what.minus = opened.id(a.minus, "--minus");
    if (a.position) what.position = *a.position;
    auto& model = opened.model;
    const auto result = withOptionNames([&] {
        return model.attribution(opened.input.sample, what, opened.input.classNames, interventions);
    });
    writeResult(result, a, call, model, interventions.edits, opened.input.sample.origin);
    if (a.json)
        printJson(json(result, opened, interventions.edits));
    else if (a.out.empty())
        print(result);
    return 0;
}

void attributeOptions(CLI::App& command, LensArguments& a) {
    answerOptions(command, a);
    command.add_option("--logit", a.logit, "the answer: a class, the text of a token, or an id")
        ->required();
    command.add_option("--minus", a.minus, "an answer whose logit is taken off");
    command.add_option("--position", a.position,
                       "position, from 0; negative numbers count from the end (-1)");
}

}  // namespace

Command attributeCommand() {
    return commandOf("attribute", "shows what each part of a model adds to an answer",
                     attributeOptions, attribute, Needs::Threads);
}

}  // namespace relascope::cli
