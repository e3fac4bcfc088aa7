// SPDX-License-Identifier: GPL-3.0-or-later
// heads: how much attention each head pays to the previous token, to earlier copies, and other
// places.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/head_measures.h"
#include "app/cli/answers.h"
#include "app/cli/commands.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/run_text.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

struct HeadsArguments : LensArguments {
    HeadMeasureOptions how;
};

Json json(const HeadMeasures& r) {
    Json heads = Json::array(), even;
    for (const auto& head : r.heads) {
        Json values;
        for (std::size_t m = 0; m < r.measures.size(); ++m)
            values[r.measures[m]] = finiteJson(head.values[m]);
        heads.push_back({{"layer", head.layer + 1},
                         {"kind", mapKindName(head.kind)},
                         {"head", head.index + 1},
                         {"values", std::move(values)}});
    }
    for (std::size_t m = 0; m < r.measures.size(); ++m) even[r.measures[m]] = finiteJson(r.even[m]);
    return {{"input", r.input}, {"even", std::move(even)}, {"heads", std::move(heads)}};
}

void print(const HeadMeasures& r) {
    std::cout << "mean attention over " << r.input << "\n" << cellText("", 32);
    for (const auto& name : r.measures) std::cout << cellText(name, 17, true);
    std::cout << "\n";
    const auto line = [&](const std::string& name, const std::vector<double>& values) {
        std::cout << cellText(name, 32);
        for (const double value : values)
            std::cout << cellText(numberText("%.3f", value), 17, true);
        std::cout << "\n";
    };
    for (const auto& head : r.heads)
        line(r.layers.at(static_cast<std::size_t>(head.layer)) +
                 (head.kind == MapKind::SensoryAttention ? " sensory head " : " relational head ") +
                 std::to_string(head.index + 1),
             head.values);
    line("even attention", r.even);
}

int heads(const HeadsArguments& a, const Call& call) {
    if (!a.out.empty()) endingOf(a.out, {".csv"});
    if (call.drawing.elsewhere(a.out, call.drawing.renderers.analysis))
        return call.drawing.handOver();
    core::OpenedModel model(a.path, a.checkpoint, a.device);
    if (!model.warning().empty()) std::cerr << model.warning() << "\n";
    resolveTrainingEdits(a.edits, a.path, model);
    std::optional<ProbeSample> sample;
    const bool given = a.sample >= 0 || !a.text.empty() || !a.tokens.empty() || !a.image.empty() ||
                       a.reference > 0 || a.random >= 0;
    if (model.options().input() != InputKind::Tokens || given)
        sample = readSample(model, a.path, a).sample;
    const auto interventions = interventionsOf(
        a.edits, a.path, model, sample ? *sample : core::repeatedTokens(model, a.how));
    const auto result =
        withOptionNames([&] { return core::measureHeads(model, sample, a.how, interventions); });
    writeResult(result, a, call, model, interventions.edits, result.input);
    if (a.json) {
        auto all = json(result);
        addEdits(all, model, interventions.edits);
        printJson(all);
    } else if (a.out.empty()) {
        print(result);
    }
    return 0;
}

void headsOptions(CLI::App& command, HeadsArguments& a) {
    answerOptions(command, a);
    command
        .add_option("--length", a.how.length,
                    "language models: random tokens that are repeated, without --text or --sample")
        ->check(CLI::Range(2, 1000000));
    command.add_option("--seed", a.how.seed, "random seed of these tokens")
        ->check(CLI::NonNegativeNumber);
}

}  // namespace

Command headsCommand() {
    return commandOf("heads",
                     "measures the attention of each head to places of a kind (induction, ...)",
                     headsOptions, heads, Needs::Threads);
}

}  // namespace relascope::cli
