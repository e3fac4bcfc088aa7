// SPDX-License-Identifier: GPL-3.0-or-later
// info and convert: checkpoints of every form, from their headers.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "answers/answer_text.h"
#include "answers/checkpoint_answer.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/plain_output.h"
#include "app/cli/run_text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/kept_weights.h"
#include "checkpoint/tensor_numbers.h"
#include "interventions/edit_words.h"
#include "run/run_folder.h"
#include "types/suggest.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

struct ConvertArguments {
    std::string in, out;
    bool json = false;
};

using Json = nlohmann::ordered_json;

/// "relascope (Python) 0.8.0".
std::string writerOf(const std::vector<std::pair<std::string, std::string>>& facts) {
    std::string writer, version;
    for (const auto& [key, value] : facts)
        if (key == "writer")
            writer = value;
        else if (key == "version")
            version = value;
    return writer.empty() ? "unknown" : writer + (version.empty() ? "" : " " + version);
}

int runInfo(const std::string& path, bool json) {
    const auto run = core::readRunInfo(path);
    Json object = {{"run", run.name},
                   {"preset", run.preset},
                   {"model", run.variant},
                   {"seed", run.seed},
                   {"state", runStateName(run.state)},
                   {"step", run.step},
                   {"parameters", run.parameters},
                   {"best_accuracy", finiteJson(run.bestAccuracy)}};
    object["validation"] = {{"step", run.kept.step}};
    for (const auto& [key, value] : run.kept.values) object["validation"][key] = finiteJson(value);
    const auto facts = core::readRunFacts(path);
    for (const auto& [key, value] : facts)
        if (key == "ranks" || key == "rank_devices" || key == "machines") object[key] = value;
    const core::KeptWeights kept(path);
    object["kept"] = Json::array();
    for (const auto& step : kept.steps())
        object["kept"].push_back({{"step", step.step},
                                  {"form", core::keptFormName(step.form)},
                                  {"bytes", step.bytes},
                                  {"marked", step.marked}});
    if (run.edits.anyEnabled()) object["edits"] = wordsOfEach(run.edits);
    for (const auto& problem : kept.problems())
        std::cerr << "warning: " << plainName(problem) << "\n";
    for (const auto& [key, value] : run.options) object["options"][key] = value;
    if (json) std::cout << object.dump(2) << "\n";
    if (json) return 0;
    // Another program may say anything, and need not know how many steps follow.
    const auto model =
        plainName(run.preset.empty() ? run.variant : run.variant + " of " + run.preset);
    const auto step = std::to_string(run.step) +
                      (run.totalSteps > 0 ? " of " + std::to_string(run.totalSteps) : "");
    print("%s: %s, %s, %s, step %s, %s, weights of %zu steps stored\n", plainName(run.name).c_str(),
          model.c_str(), plainName(run.model).c_str(), runStateName(run.state), step.c_str(),
          keptText(run).c_str(), kept.steps().size());
    if (run.recorded)
        print("recorded by another program: %s\n", plainName(writerOf(facts)).c_str());
    if (const auto ranks = core::processesText(facts); !ranks.empty())
        print("trained by %s\n", ranks.c_str());
    if (run.edits.anyEnabled()) print("edits in training: %s\n", core::wordsOf(run.edits).c_str());
    return 0;
}

Json infoJson(const CheckpointInfo& info) {
    Json tensors = Json::array(), leftOut = Json::array(), problems = Json::array();
    for (const auto& t : info.tensors) {
        Json tensor = {
            {"name", t.name}, {"dtype", t.dtype}, {"shape", t.shape}, {"bytes", t.bytes}};
        if (t.stored != t.name) tensor["stored"] = t.stored;
        if (!t.sameAs.empty()) tensor["same_as"] = t.sameAs;
        if (!t.note.empty()) tensor["note"] = t.note;
        tensors.push_back(std::move(tensor));
    }
    for (const auto& t : info.leftOut)
        leftOut.push_back(
            {{"name", t.stored}, {"dtype", t.dtype}, {"shape", t.shape}, {"why", t.note}});
    for (const auto& p : info.problems)
        problems.push_back(
            {{"kind", problemKindName(p.kind)}, {"subject", p.subject}, {"message", p.message}});
    // A configuration that is not JSON is printed unchanged.
    auto config = Json::parse(info.config, nullptr, false);
    if (config.is_discarded()) config = info.config.empty() ? Json() : Json(info.config);
    Json object = {{"path", info.path},          {"form", info.form},
                   {"files", info.files},        {"bytes", info.bytes},
                   {"numbers", info.parameters}, {"metadata", info.metadata},
                   {"config", config},           {"config_from", info.configFrom},
                   {"problems", problems},       {"tensors", tensors}};
    if (!leftOut.empty()) object["left_out"] = leftOut;
    if (info.model) {
        object["model"] = info.model->architecture();
        if (info.title != info.model->architecture()) object["family"] = info.title;
        if (!info.unusedKeys.empty()) object["unused_keys"] = info.unusedKeys;
        if (!info.classNames.empty()) object["classes"] = info.classNames;
        object["parameters"] = info.parameters;
        object["trainable"] = info.trainable;
        object["loads"] = info.loads();
    }
    return object;
}

void printInfo(const CheckpointInfo& info) {
    for (const auto& t : info.tensors)
        print("%-72s %-6s %-20s %12llu bytes%s\n", t.name.c_str(), t.dtype.c_str(),
              core::shapeText(t.shape).c_str(), static_cast<unsigned long long>(t.bytes),
              t.sameAs.empty() ? t.note.empty() ? "" : ("  " + t.note).c_str()
                               : ("  same as " + t.sameAs).c_str());
    print("%s: %s, %zu tensors, %lld numbers, %llu bytes\n", plainName(info.name).c_str(),
          info.form.c_str(), info.tensors.size(), static_cast<long long>(info.parameters),
          static_cast<unsigned long long>(info.bytes));
    for (const auto& t : info.leftOut)
        print("left out: %s %s, which %s\n", plainName(t.stored).c_str(),
              t.dtype.empty() ? "" : core::shapeText(t.shape).c_str(), plainName(t.note).c_str());
    for (const auto& file : info.files) print("file: %s\n", plainName(file).c_str());
    for (const auto& [key, value] : info.metadata)
        print("metadata %s: %s\n", plainName(key).c_str(), plainName(value).c_str());
    if (!info.config.empty())
        print("configuration (%s): %s\n", info.configFrom.c_str(), info.config.c_str());
    if (info.model)
        print("model: %s, %lld parameters, %lld trainable%s\n", info.title.c_str(),
              static_cast<long long>(info.parameters), static_cast<long long>(info.trainable),
              info.loads() ? ", loads" : "");
    if (!info.unusedKeys.empty()) {
        std::string keys;
        for (const auto& key : info.unusedKeys) keys += (keys.empty() ? "" : ", ") + plainName(key);
        print("not used by this program: %s\n", keys.c_str());
    }
    for (const auto& p : info.problems)
        print("%s: %s: %s\n", problemKindName(p.kind), plainName(p.subject).c_str(),
              plainName(p.message).c_str());
}

/// The tensors with the statistics of their values, all of which are read.
Answer measuredTensors(const CheckpointInfo& info) {
    const auto stop = stopOnSignals();
    ProgressLine line;
    std::map<std::string, TensorStatistics> known;
    for (const auto& tensor : info.tensors) {
        line.show(static_cast<double>(known.size()) / static_cast<double>(info.tensors.size()),
                  "reading " + tensor.name);
        if (core::hasNumbers(tensor.dtype))
            known.emplace(tensor.name, core::tensorStatistics(info.path, tensor.name, 64, stop));
    }
    return {{core::tensorsTable(info.tensors, [&](const std::string& name) {
        const auto found = known.find(name);
        return found == known.end() ? nullptr : &found->second;
    })}};
}

Answer measuredTensor(const CheckpointInfo& info, const std::string& name) {
    std::vector<std::string> names;
    for (const auto& tensor : info.tensors) {
        if (tensor.name == name)
            return core::tensorAnswer(tensor,
                                      core::tensorStatistics(info.path, name, 64, stopOnSignals()));
        names.push_back(tensor.name);
    }
    throw OptionError("--tensor", unknownName("tensor", name, names));
}

Json outlineJson(const OutlineNode& node) {
    Json parts = Json::array();
    for (const auto& child : node.children) parts.push_back(outlineJson(child));
    return {{"title", node.title},
            {"detail", node.detail},
            {"prefix", node.prefix},
            {"parameters", node.parameters},
            {"parts", parts}};
}

void printOutline(const OutlineNode& node, int depth = 0) {
    print("%*s%s%s%s: %s\n", 2 * depth, "", plainName(node.title).c_str(),
          node.detail.empty() ? "" : ", ", plainName(node.detail).c_str(),
          groupedNumber(node.parameters).c_str());
    for (const auto& child : node.children) printOutline(child, depth + 1);
}

int info(const Asked& a, const Call& call) {
    const auto& path = a.question.subjects[0].path;
    const auto tensor = a.question.text("tensor");
    const bool outline = a.question.value("outline", false);
    if (!a.out.empty() && !a.out.ends_with(".csv"))
        throw OptionError("--out", "'" + a.out + "' must end in .csv");
    const bool values = !tensor.empty() || !a.out.empty();
    if (values && outline)
        throw OptionError("--outline", "is printed alone; leave out --tensor and --out");
    if (!values && !outline && core::isRunFolder(path)) return runInfo(path, call.json);
    const auto found = core::readCheckpointInfo(path);
    const auto print = [&](const Json& json) {
        std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    };
    if (outline) {
        if (!found.model)
            throw OptionError("--outline", "no configuration was found, so the model is unknown");
        call.json ? print(outlineJson(found.outline)) : printOutline(found.outline);
        return 0;
    }
    if (!values) {
        call.json ? print(infoJson(found)) : printInfo(found);
        return 0;
    }
    const auto answer = tensor.empty() ? measuredTensors(found) : measuredTensor(found, tensor);
    if (!a.out.empty()) {
        writeCsv(a.out, answer);
        std::cerr << "wrote " << plainName(a.out) << "\n";
    }
    if (call.json)
        print(core::jsonOf(answer));
    else if (a.out.empty())
        std::cout << core::plainText(answer);
    return 0;
}

int convert(const ConvertArguments& a, const Call&) {
    const auto& in = a.in;
    const auto& out = a.out;
    const auto stop = stopOnSignals();
    ProgressLine line;
    core::convertCheckpoint(in, out, stop, [&](double fraction) {
        line.show(fraction, "writing " + out);
        return !stop.stop_requested();
    });
    line.say("wrote " + out);
    if (a.json) std::cout << Json({{"wrote", out}}).dump(2) << "\n";
    return 0;
}

void convertOptions(CLI::App& command, ConvertArguments& a) {
    checkpointOption(command, a.in, "a weights file or a checkpoint folder", "in");
    command
        .add_option("out", a.out,
                    ".safetensors, .pt, or a folder (config.json and model.safetensors)")
        ->required();
}

}  // namespace

Command infoCommand() {
    return questionCommand("info",
                           "write the tensors with the statistics of their values, or the "
                           "histogram of --tensor, as .csv",
                           info);
}

Command convertCommand() {
    return commandOf("convert", "converts a checkpoint to another format", convertOptions, convert);
}

}  // namespace relascope::cli
