// SPDX-License-Identifier: GPL-3.0-or-later
// eval: the metrics of a run or checkpoint over data, with or without edits.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "answers/answer_text.h"
#include "answers/evaluation_answer.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/plain_output.h"
#include "app/cli/question_arguments.h"
#include "app/cli/run_text.h"
#include "data/token_hidden.h"
#include "data/token_prefix.h"
#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "options/metrics.h"
#include "run/run_folder.h"
#include "types/suggest.h"
#include "types/text_piece.h"

namespace relascope::cli {

using Json = nlohmann::ordered_json;

namespace {

struct EvalArguments {
    std::string path, data, split, checkpoint, out, device = "auto";
    std::string step;  ///< of --step: a number, or last or best
    std::string pairs, fields, score = "sum";
    std::vector<std::string> edits;
    std::int64_t batch = 0, examples = 0, tokens = 0, windows = 0, untrained = 4;
    bool json = false, paper = false;
};

// The number of predicted tokens of a text, and of their bytes; 0 bytes if the tokenizer is
// unknown, or does not know all characters.
struct TextSize {
    std::int64_t tokens = 0, bytes = 0, unknown = 0;
    bool hidden = false;  ///< the tokens are hidden words, of which bytes say nothing

    bool whole() const { return bytes > 0 && unknown == 0; }
};

TextSize sizeOf(const core::Dataset& data) {
    TextSize size;
    const auto* text = dynamic_cast<const core::TokenDataset*>(&data);
    if (!text) return size;
    if (const auto* hidden = dynamic_cast<const core::HiddenWords*>(text))
        return {hidden->hiddenEach() * hidden->size(), 0, 0, true};
    const auto tokenizer = text->tokenizer();
    std::vector<std::int64_t> window(static_cast<std::size_t>(text->context()) + 1);
    for (std::int64_t i = 0; i < data.size(); ++i) {
        text->read(i, window);
        size.tokens += text->context();
        for (std::size_t at = 1; tokenizer && at < window.size(); ++at) {
            const auto id = static_cast<std::int32_t>(window[at]);
            size.bytes += static_cast<std::int64_t>(tokenizer->piece(id).size());
            size.unknown += id == tokenizer->unknownToken();
        }
    }
    return size;
}

/// Writes what --out asks for; `json`: as --json prints it.
void writeOut(const std::string& out, const char* question, const Answer& answer,
              const std::string& json, const std::string& caption, bool paper) {
    if (out.empty()) return;
    if (isPicture(out))
        draw(out, wire::AnalysisFigure{question, answer, caption}, paper);
    else if (out.ends_with(".json"))
        core::writeTextFile(out, json + "\n");
    else if (out.ends_with(".tex"))
        core::writeTextFile(out, core::latexOf(answer));
    else
        writeCsv(out, answer);
    std::cerr << "wrote " << out << "\n";
}

int evaluate(const EvalArguments& a, const Call& call) {
    const auto stop = stopOnSignals();
    if (!a.out.empty()) endingOf(a.out, {".csv", ".tex", ".json"});
    requireDrawing(a.out);
    if (!a.step.empty() && !core::isRunFolder(a.path))
        throw OptionError("--step", "needs a run folder: only runs have kept weights");
    const auto step = stepOf(a.step);
    const auto chosen = step.number >= 0
                            ? core::stepToOpen(a.path, step.number)
                            : core::StepToOpen{a.step.empty() ? a.checkpoint : step.name, ""};
    if (!chosen.kept.empty()) std::cerr << chosen.kept << "\n";
    if (!a.pairs.empty())
        return evaluatePairs({a.path, chosen.checkpoint, a.device, a.pairs, a.fields, a.score,
                              a.out, a.edits, a.untrained},
                             call);
    core::OpenedModel opened(a.path, chosen.checkpoint, a.device);
    if (!opened.warning().empty())
        std::cerr << "warning: " << plainName(a.path) << ": " << plainName(opened.warning())
                  << "\n";
    resolveTrainingEdits(a.edits, a.path, opened);
    core::DatasetPtr data;
    std::string split = a.split;
    ProgressLine line;
    const bool text = opened.options().input() == InputKind::Tokens;
    std::int64_t batch = a.batch > 0 ? a.batch : text ? 8 : 512;
    if (text) {
        split = !a.split.empty() ? a.split : a.data.empty() ? "validation" : "text";
        data = core::openEvaluationText(
            opened, {opened.isRun() ? a.path : "", a.data, a.split, a.windows},
            [&](double fraction) { return line.show(fraction, "reading the text"), true; }, stop);
    } else if (!a.data.empty()) {
        data = datasets::openEvaluationData(
            a.data, opened.run().data, a.split,
            [&](double fraction) { return line.show(fraction, "reading " + a.data), true; }, stop);
        if (split.empty()) split = std::filesystem::path(a.data).stem().string();
    } else {
        if (!opened.isRun())
            throw OptionError("--data",
                              "a checkpoint has no data of its own; give a .npz file with --data");
        const auto splits = datasets::openData(opened.run().data, {}, stop);
        // Without --split, data that training has never seen are used if there are any; with edits,
        // the split on which ablate and scan measure.
        const bool edited = std::any_of(a.edits.begin(), a.edits.end(),
                                        [](const auto& edit) { return edit != "none"; });
        if (split.empty())
            split = edited || splits.tests.empty() ? "validation" : splits.tests[0].first;
        data = splits.find(split);
        if (a.batch == 0) batch = core::evaluationBatch(opened.run());
        if (!data) throw OptionError("--split", unknownName("split", split, splits.names()));
    }
    line.done();
    sayNote(data->info());
    data = core::withShorterWindows(data, a.tokens);
    if (!a.edits.empty()) {
        core::Interventions interventions{core::editsNamed(a.edits, opened.points(data->sample(0))),
                                          editData(a.path, opened)};
        interventions.data.split = [whole = interventions.data.split,
                                    tokens = a.tokens](const std::string& name) {
            return core::withShorterWindows(whole ? whole(name) : nullptr, tokens);
        };
        const auto& edits = interventions.edits;
        if (edits.anyEnabled()) {
            const auto effect = opened.effect(
                data, batch, interventions, stop,
                [&](double fraction) { return line.show(fraction, "evaluating " + split), true; },
                a.examples);
            line.done();
            nameMeans(opened, edits);
            const auto json = effectJson(effect, opened, edits, split);
            writeOut(a.out, "effect", core::answerOf(effect), json,
                     editedCaption(a.path, opened, edits, split), a.paper);
            if (a.json)
                std::cout << json << "\n";
            else
                std::cout << effectText(effect, edits, split);
            return 0;
        }
    }
    const auto result = opened.evaluate(data, batch, stop, [&](double fraction) {
        return line.show(fraction, "evaluating " + split), true;
    });
    line.done();
    const auto size = text ? sizeOf(*data) : TextSize{};
    // Comparable between tokenizers, in contrast to the loss per token.
    const double bitsPerByte = result.loss * static_cast<double>(size.tokens) /
                               (std::log(2.0) * static_cast<double>(size.bytes));
    Json object = {{"split", split},
                   {"examples", result.examples},
                   {"loss", finiteJson(result.loss)},
                   {"accuracy", finiteJson(result.accuracy)},
                   {"step", opened.step()}};
    if (!chosen.kept.empty()) object["kept"] = chosen.kept;
    if (opened.trainingEdits().anyEnabled()) object["edits"] = wordsOfEach(opened.trainingEdits());
    for (const auto& [key, value] : result.values) object[key] = finiteJson(value);
    if (size.hidden) {
        object["hidden_words"] = size.tokens;
    } else if (text) {
        object["perplexity"] = finiteJson(std::exp(result.loss));
        object["tokens"] = size.tokens;
        if (size.unknown > 0) object["unknown_characters"] = size.unknown;
        if (size.whole()) object["bits_per_byte"] = finiteJson(bitsPerByte);
    } else {
        Json classes = Json::array();
        for (const double accuracy : result.classAccuracy) classes.push_back(finiteJson(accuracy));
        object["class_accuracy"] = classes;
    }
    writeOut(a.out, "evaluate", core::answerOf(result), object.dump(2),
             captionOf(a.path, opened, split), a.paper);
    if (a.json) {
        std::cout << object.dump(2) << "\n";
    } else {
        auto values = result.values;
        values.emplace_back("accuracy", result.accuracy);
        print("%s, %lld %s: %s %.4f, %s", split.c_str(), static_cast<long long>(result.examples),
              text ? "windows" : "examples", size.hidden ? "masked-word loss" : "loss", result.loss,
              scoreText(values).c_str());
        if (size.hidden)
            print(", %lld hidden words", static_cast<long long>(size.tokens));
        else if (text)
            print(", perplexity %.2f, %lld tokens", std::exp(result.loss),
                  static_cast<long long>(size.tokens));
        if (size.whole()) print(", %.3f bits per byte", bitsPerByte);
        if (size.unknown > 0)
            print(", %lld characters unknown to the tokenizer: no bits per byte",
                  static_cast<long long>(size.unknown));
        print("\n");
    }
    return 0;
}

void evalOptions(CLI::App& command, EvalArguments& a) {
    checkpointOption(command, a.path, "run or checkpoint folder");
    command.add_option("--data", a.data, ".npz images, or text files and token shards");
    auto* pairs = pairOptions(command, a.pairs, a.fields);
    command
        .add_option("--score", a.score,
                    "of a sentence: the sum of its tokens' log-probabilities, or their mean")
        ->check(CLI::IsMember({"sum", "mean"}))
        ->needs(pairs);
    command
        .add_option("--untrained", a.untrained,
                    "models with fresh weights that score the same pairs")
        ->needs(pairs)
        ->check(CLI::Range(0, 64));
    command.add_option("--split", a.split,
                       "train, validation, pentos, hexos or stripes; of a run without it: the "
                       "first test split, with --edit or without any validation");
    auto* checkpoint = command.add_option("--checkpoint", a.checkpoint, "last, best, or a step");
    stepOption(command, "--step", a.step,
               "the weights of a step, or those kept nearest to it; last or best")
        ->excludes(checkpoint);
    command.add_option("--device", a.device, "auto, cpu, cuda:0");
    command
        .add_option("--batch-size", a.batch,
                    "batch size; of a run's data without it: that of its training")
        ->check(CLI::Range(1, 1048576));
    auto* edits = command.add_option("--edit", a.edits, kEditHelp)->take_all();
    command
        .add_option("--examples", a.examples,
                    "with --edit: on so many examples, drawn as analyses draw them")
        ->check(CLI::PositiveNumber)
        ->needs(edits)
        ->excludes(pairs);
    command.add_option("--windows", a.windows, "of text: so many windows, at most")
        ->check(CLI::PositiveNumber);
    command.add_option("--tokens", a.tokens, "of text: tokens of a window, at most")
        ->check(CLI::PositiveNumber);
    command.add_option("--out", a.out, ".csv, .tex, .json, .png, .svg or .pdf");
}

}  // namespace

Command evalCommand() {
    return commandOf("eval", "evaluates a run or a checkpoint", evalOptions, evaluate,
                     Needs::Threads);
}

}  // namespace relascope::cli
