// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/open_model.h"
#include "app/cli/commands.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/launched_ranks.h"
#include "app/cli/run_text.h"
#include "app/cli/tensorboard_sink.h"
#include "datasets/registry.h"
#include "files/atomic_file.h"
#include "options/field_text.h"
#include "options/run_settings.h"
#include "run/run_folder.h"
#include "run/run_list.h"
#include "train/execute_run.h"
#include "train/rank_run.h"
#include "types/suggest.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

// Prints the events of a run.
class Reporter {
public:
    void operator()(const TrainEvent& event) {
        if (const auto* point = std::get_if<MetricPoint>(&event)) {
            if (point->split == Split::Validation)
                m_validation = "validation " + scoreText(point->values);
            char text[32];
            std::snprintf(text, sizeof text, "loss %.4f", point->value("loss"));
            if (point->split == Split::Train) m_loss = text;
        } else if (const auto* p = std::get_if<Progress>(&event)) {
            char text[96];
            const bool tokens = p->tokensPerSecond > 0;
            std::snprintf(text, sizeof text, "step %lld of %lld  epoch %.1f  %.0f %s/s  ",
                          static_cast<long long>(p->step), static_cast<long long>(p->totalSteps),
                          p->epoch, tokens ? p->tokensPerSecond : p->examplesPerSecond,
                          tokens ? "tokens" : "examples");
            m_line.show(static_cast<double>(p->step) /
                            static_cast<double>(std::max<std::int64_t>(1, p->totalSteps)),
                        text + m_loss + "  " + m_validation);
        } else if (const auto* note = std::get_if<Note>(&event)) {
            if (note->level != Note::Level::Checkpoint && note->level != Note::Level::Sample)
                m_line.say((note->level == Note::Level::Warning ? "warning: " : "") + note->text);
        } else if (const auto* failed = std::get_if<Failed>(&event)) {
            m_line.say("failed: " + failed->message);
        }
    }

    void warn(const std::string& text) { m_line.say("warning: " + text); }

private:
    ProgressLine m_line;
    std::string m_loss, m_validation;
};

struct Outcome {
    core::TrainResult result;
    std::string path;
    int exit = 0;
};

Outcome runOne(const core::RunRequest& request, const std::stop_token& stop,
               const std::string& tensorboard) {
    const core::DataOpener open = [](const RunOptions& options, std::stop_token token) {
        return datasets::openRunData(options, {}, std::move(token));
    };
    core::Control control;
    Reporter reporter;
    std::optional<TensorBoardSink> board;
    if (!tensorboard.empty())
        board.emplace(tensorboard, request.path,
                      [&](const std::string& warning) { reporter.warn(warning); });
    Outcome outcome;
    outcome.path = request.path;
    outcome.result = core::executeRun(
        request, open, control,
        [&](const TrainEvent& event) {
            reporter(event);
            if (board) board->take(event);
        },
        stop);
    const auto state = outcome.result.info.state;
    outcome.exit = state == RunState::Failed        ? kExitFailed
                   : state == RunState::Interrupted ? kExitInterrupted
                                                    : 0;
    return outcome;
}

Json outcomeJson(const Outcome& o) {
    const auto& point = o.result.lastValidation;
    Json json = {{"split", "validation"}};
    for (const auto& [key, value] : point.values) json[key] = finiteJson(value);
    json["run"] = o.path;
    json["steps"] = o.result.info.step;
    json["seconds"] = o.result.info.seconds;
    json["state"] = runStateName(o.result.info.state);
    json["best_accuracy"] = finiteJson(o.result.info.bestAccuracy);
    Json results = Json::array();
    for (const auto& result : o.result.info.results) {
        Json one = {{"split", result.split}, {"examples", result.examples}};
        for (const auto& [key, value] : result.values) one[key] = finiteJson(value);
        results.push_back(std::move(one));
    }
    json["results"] = results;
    return json;
}

int finish(const std::vector<Outcome>& outcomes, bool json) {
    int exit = 0;
    Json all = Json::array();
    for (const auto& o : outcomes) {
        exit = std::max(exit, o.exit);
        all.push_back(outcomeJson(o));
        if (!json)
            std::printf("%s: %s after %lld steps, %.1f s, validation loss %.4f, %s\n",
                        o.path.c_str(), runStateName(o.result.info.state),
                        static_cast<long long>(o.result.info.step), o.result.info.seconds,
                        o.result.lastValidation.value("loss"),
                        scoreText(o.result.lastValidation.values).c_str());
        if (!json)
            for (const auto& result : o.result.info.results)
                std::printf("  %s, %lld examples: loss %.4f, %s\n", result.split.c_str(),
                            static_cast<long long>(result.examples), result.value("loss"),
                            scoreText(result.values).c_str());
    }
    if (json) std::cout << (all.size() == 1 ? all[0] : Json({{"runs", all}})).dump(2) << "\n";
    return exit;
}

}  // namespace

int train(const TrainArguments& a) {
    if (isOtherRank(a.rendezvous)) return followAsRank(a);
    const auto stop = stopOnSignals();
    const auto launched = joinLaunchedRanks(a);
    core::RankSettings ranks;
    ranks.threads = a.threads;
    ranks.timeout = std::chrono::seconds(a.rankTimeout);
    ranks.restarts = a.restarts;
    ranks.launched = launched.get();
    const auto device = launched ? a.device : deviceArgument(a);
    core::EditChoice edits;
    if (!a.edits.empty())
        edits = [&a](const std::vector<PointInfo>& points) {
            return editsOf(a.edits, points, core::EditUse::Train);
        };
    if (!a.resume.empty()) {
        const auto isOther = [](const std::string& setting) {
            return !setting.starts_with("train.batch_size=") &&
                   !setting.starts_with("train.keep_mib=");
        };
        const bool others = std::any_of(a.settings.begin(), a.settings.end(), isOther);
        if (!a.preset.empty() || !a.model.empty() || others || !a.data.empty() || a.seed >= 0 ||
            !a.out.empty())
            throw OptionError("--resume",
                              "with --resume, all options except --epochs, --steps, --device, "
                              "--edit, --tensorboard, --set train.batch_size and --set "
                              "train.keep_mib are read from the "
                              "run; remove the others");
        RunOptions options = core::readRunOptions(a.resume);
        if (a.epochs > 0) options.train.epochs = a.epochs, options.train.steps = 0;
        if (a.steps > 0) options.train.steps = a.steps;
        if (!device.empty()) options.train.device = device;
        for (const auto& setting : a.settings)
            core::setOption(options, setting.substr(0, setting.find('=')),
                            setting.substr(setting.find('=') + 1));
        if (!a.settings.empty()) options.check();
        std::vector<Outcome> outcomes;
        outcomes.push_back(runOne({a.resume, options, 0, true, edits, ranks}, stop, a.tensorboard));
        if (launched) core::endRanks(*launched);
        return finish(outcomes, a.json);
    }
    const RunOptions options = core::runOptions(
        {a.preset, a.model, a.settings, a.data, device, a.epochs, a.steps, a.seed, a.captureEvery});

    std::vector<Outcome> outcomes;
    const bool several = options.train.seeds.size() > 1;
    if (several && !a.out.empty()) core::makeDirectories(a.out);
    for (const auto seed : options.train.seeds) {
        const std::string path = a.out.empty()
                                     ? core::freshRunPath(core::defaultRunsFolder(), options, seed)
                                 : several ? a.out + "/seed-" + std::to_string(seed)
                                           : a.out;
        outcomes.push_back(runOne({path, options, seed, false, edits, ranks}, stop, a.tensorboard));
        if (outcomes.back().exit == kExitInterrupted || (launched && core::isLost(*launched)))
            break;
    }
    if (launched) core::endRanks(*launched);
    return finish(outcomes, a.json);
}

int evaluate(const EvalArguments& a) {
    const auto stop = stopOnSignals();
    if (a.step >= 0 && !core::isRunFolder(a.path))
        throw OptionError("--step", "needs a run folder: only runs have kept weights");
    const auto chosen =
        a.step >= 0 ? core::stepToOpen(a.path, a.step) : core::StepToOpen{a.checkpoint, ""};
    if (!chosen.kept.empty()) std::cerr << chosen.kept << "\n";
    core::OpenedModel opened(a.path, chosen.checkpoint, a.device);
    if (!opened.warning().empty())
        std::cerr << "warning: " << a.path << ": " << opened.warning() << "\n";
    resolveTrainingEdits(a.edits, a.path, opened);
    core::DatasetPtr data;
    std::string split = a.split;
    ProgressLine line;
    const bool text = opened.options().input() == InputKind::Tokens;
    if (text) {
        split = !a.split.empty() ? a.split : a.data.empty() ? "validation" : "text";
        data = core::openEvaluationText(
            opened, {opened.isRun() ? a.path : "", a.data, a.split, 0},
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
        if (split.empty()) split = "validation";
        const auto splits = datasets::openData(opened.run().data, {}, stop);
        data = splits.find(split);
        if (!data) throw OptionError("--split", unknownName("split", split, splits.names()));
    }
    if (!a.edits.empty()) {
        auto edits = editsOf(a.edits, opened.points(data->sample(0)));
        if (edits.anyEnabled()) {
            opened.setEdits(std::move(edits), editData(a.path, opened));
            const auto effect = opened.effect(
                data, text ? std::min<std::int64_t>(a.batch, 8) : a.batch, stop,
                [&](double fraction) { return line.show(fraction, "evaluating " + split), true; });
            line.done();
            nameMeans(opened);
            if (a.json)
                std::cout << effectJson(effect, opened, split) << "\n";
            else
                std::cout << effectText(effect, opened.edits(), split);
            return 0;
        }
    }
    const auto result = opened.evaluate(
        data, text ? std::min<std::int64_t>(a.batch, 8) : a.batch, stop,
        [&](double fraction) { return line.show(fraction, "evaluating " + split), true; });
    line.done();
    if (a.json) {
        Json object = {{"split", split},
                       {"examples", result.examples},
                       {"loss", finiteJson(result.loss)},
                       {"accuracy", finiteJson(result.accuracy)},
                       {"step", opened.step()}};
        if (!chosen.kept.empty()) object["kept"] = chosen.kept;
        if (opened.trainingEdits().anyEnabled())
            object["edits"] = wordsOfEach(opened.trainingEdits());
        for (const auto& [key, value] : result.values) object[key] = finiteJson(value);
        if (text) {
            object["perplexity"] = finiteJson(std::exp(result.loss));
        } else {
            Json classes = Json::array();
            for (const double accuracy : result.classAccuracy)
                classes.push_back(finiteJson(accuracy));
            object["class_accuracy"] = classes;
        }
        std::cout << object.dump(2) << "\n";
    } else {
        auto values = result.values;
        values.emplace_back("accuracy", result.accuracy);
        std::printf("%s, %lld %s: loss %.4f, %s", split.c_str(),
                    static_cast<long long>(result.examples), text ? "windows" : "examples",
                    result.loss, scoreText(values).c_str());
        if (text) std::printf(", perplexity %.2f", std::exp(result.loss));
        std::printf("\n");
    }
    return 0;
}

}  // namespace relascope::cli
