// SPDX-License-Identifier: GPL-3.0-or-later
// eval: the metrics of a run or checkpoint over data, with or without edits.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "analysis/open_model.h"
#include "answers/answer_text.h"
#include "answers/evaluation_answer.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/plain_output.h"
#include "app/cli/question_arguments.h"
#include "app/cli/run_text.h"
#include "app/serve/question_subject.h"
#include "data/served_data.h"
#include "data/token_hidden.h"
#include "data/token_prefix.h"
#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "model/served/served_options.h"
#include "options/metrics.h"
#include "question/question_fields.h"
#include "run/run_folder.h"
#include "types/suggest.h"
#include "types/text_piece.h"

namespace relascope::cli {

using Json = nlohmann::ordered_json;

namespace {

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
    // Their texts lie in another process, and may have any length.
    if (dynamic_cast<const core::ServedSet*>(&data)) return size;
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

/// The accuracy of the same head on a model with fresh weights, on the same examples.
double untrainedAccuracy(const core::OpenedModel& opened, const core::DatasetPtr& data,
                         std::int64_t batch, const std::stop_token& stop, ProgressLine& line) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(data->size()));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    const auto found =
        opened.untrainedScores(1, data, all, batch, "accuracy", stop, [&](double fraction) {
            return line.show(fraction, "evaluating an untrained model"), true;
        });
    return found.front();
}

/// The effect of edits; an error about the head that is to be fitted anew names the option.
template <class Measure>
EditEffect measured(const Measure& measure) {
    try {
        return measure();
    } catch (const OptionError& error) {
        if (error.field() == "refit") throw OptionError("--refit", error.message());
        throw;
    }
}

int evaluate(const Asked& a, const Call& call) {
    const auto stop = stopOnSignals();
    if (!a.out.empty()) endingOf(a.out, {".csv", ".tex", ".json"});
    requireDrawing(a.out);
    const auto& asked = a.question;
    core::checkTogether(asked);
    const auto& named = asked.subjects.front();
    const auto &path = named.path, &checkpoint = named.checkpoint;
    const auto& edits = named.edits;
    const auto whole = [&](const char* name) { return asked.value<std::int64_t>(name); };
    const auto stepWord = asked.text("step"), file = asked.text("data");
    if (!stepWord.empty()) requireStep("--step", stepWord);
    if (!stepWord.empty() && !core::isServedName(path) && !core::isRunFolder(path))
        throw OptionError("--step", "needs a run folder: only runs have kept weights");
    const auto step = stepOf(stepWord);
    const auto chosen = step.number >= 0
                            ? core::stepToOpen(path, step.number)
                            : core::StepToOpen{stepWord.empty() ? checkpoint : step.name, ""};
    if (!chosen.kept.empty()) std::cerr << chosen.kept << "\n";
    if (asked.option("pairs")) return evaluatePairs(asked, chosen.checkpoint, a.out, call);
    core::OpenedModel opened(path, chosen.checkpoint, serve::deviceOf(named), stop, {},
                             named.imageSize);
    if (!opened.warning().empty())
        std::cerr << "warning: " << plainName(path) << ": " << plainName(opened.warning()) << "\n";
    resolveTrainingEdits(edits, path, opened);
    if (const auto tokenizer = asked.text("tokenizer"); !tokenizer.empty())
        opened.setTokenizer(tokenizer);
    const auto tokens = whole("tokens"), batchSize = whole("batch_size");
    ProgressLine line;
    const bool text = opened.options().input() == InputKind::Tokens;
    const bool own = !text && file.empty();
    const std::int64_t batch = batchSize > 0 ? batchSize
                               : text        ? 8
                               : own         ? core::evaluationBatch(opened.run())
                                             : 512;
    serve::OpenedDataSets sets;
    const std::string reading =
        file.empty() ? "reading the " + std::string(text ? "text" : "data") : "reading " + file;
    sets.follow(stop, [&](double fraction) { return line.show(fraction, reading), true; });
    sets.setSay([&](const DatasetInfo& info) { line.done(), sayNote(info); });
    const wire::Asked question(asked);
    auto [data, split] = serve::evaluationData(question, opened, sets);
    data = core::withShorterWindows(data, tokens);
    line.done();
    if (const auto kept = asked.text("save_head"); !kept.empty()) {
        opened.saveHead(kept);
        std::cerr << "wrote " << plainName(kept) << "\n";
    }
    const auto remark = serve::headRemark(opened);
    if (!remark.empty()) std::cerr << plainName(path) << ": " << plainName(remark) << "\n";
    if (!edits.empty()) {
        auto interventions = serve::interventionsOf(question, 0, opened, data->sample(0), sets);
        interventions.data.example = -1;
        interventions.data.split = [whole = interventions.data.split,
                                    tokens](const std::string& name) {
            return core::withShorterWindows(whole ? whole(name) : nullptr, tokens);
        };
        const auto& changes = interventions.edits;
        if (changes.anyEnabled()) {
            const auto effect = measured([&] {
                return opened.effect(
                    data, batch, interventions, stop,
                    [&](double fraction) {
                        return line.show(fraction, "evaluating " + split), true;
                    },
                    whole("examples"), asked.value("refit", false));
            });
            line.done();
            nameMeans(opened, changes);
            const auto json = effectJson(effect, opened, changes, split);
            writeOut(a.out, "effect", core::answerOf(effect), json,
                     editedCaption(path, opened, changes, split), call.paper);
            if (call.json)
                std::cout << json << "\n";
            else
                std::cout << effectText(effect, changes, split);
            return 0;
        }
    }
    const auto result = opened.evaluate(data, batch, stop, [&](double fraction) {
        return line.show(fraction, "evaluating " + split), true;
    });
    const auto untrained = remark.empty()
                               ? std::nullopt
                               : std::optional(untrainedAccuracy(opened, data, batch, stop, line));
    line.done();
    const auto size = text ? sizeOf(*data) : TextSize{};
    // Comparable between tokenizers, in contrast to the loss per token.
    // Examples of a served text have lengths and labels of their own.
    const bool windows = text && size.tokens > 0;
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
    } else if (windows) {
        object["perplexity"] = finiteJson(std::exp(result.loss));
        object["tokens"] = size.tokens;
        if (size.unknown > 0) object["unknown_characters"] = size.unknown;
        if (size.whole()) object["bits_per_byte"] = finiteJson(bitsPerByte);
    } else {
        Json classes = Json::array();
        for (const double accuracy : result.classAccuracy) classes.push_back(finiteJson(accuracy));
        object["class_accuracy"] = classes;
    }
    addHead(object, opened);
    if (untrained) object["untrained_accuracy"] = finiteJson(*untrained);
    const auto json = object.dump(2, ' ', false, Json::error_handler_t::replace);
    writeOut(a.out, "evaluate", core::answerOf(result), json, captionOf(path, opened, split),
             call.paper);
    if (call.json) {
        std::cout << json << "\n";
    } else {
        auto values = result.values;
        values.emplace_back("accuracy", result.accuracy);
        print("%s, %lld %s: %s %.4f, %s", split.c_str(), static_cast<long long>(result.examples),
              windows ? "windows" : "examples", size.hidden ? "masked-word loss" : "loss",
              result.loss, scoreText(values).c_str());
        if (untrained)
            print(" of %s; %.1f %% of the same head on an untrained model",
                  core::headText(opened.head()).c_str(), 100.0 * *untrained);
        if (size.hidden)
            print(", %lld hidden words", static_cast<long long>(size.tokens));
        else if (windows)
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

}  // namespace

Command evalCommand() {
    return questionCommand("eval", ".csv, .tex, .json, .png, .svg or .pdf", evaluate,
                           Needs::Threads);
}

}  // namespace relascope::cli
