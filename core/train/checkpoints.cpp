// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/checkpoints.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "files/memory.h"
#include "interventions/edit_json.h"
#include "options/options_json.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
// Edits may come with numbers, which take more room here, on lines of their own.
constexpr std::size_t kLargestState = 16 * kLargestEditFile;
// Stands between the name of a checkpoint and the number of the process that is writing it.
constexpr const char* kUnfinished = ".tmp-";
// Follows the name of a checkpoint that a new one is about to replace.
constexpr const char* kReplaced = ".old";
// Precedes the names of weights in float32 that model.safetensors has rounded.
const std::string kWhole = "weights/";
const char* const kOptimizer = "optimizer.safetensors";
const char* const kFiles[] = {"model.safetensors", kOptimizer, "state.json"};

at::Generator generatorOf(const torch::Device& device) {
    return device.is_cuda() ? at::globalContext().defaultGenerator(device)
                            : at::detail::getDefaultCPUGenerator();
}

}  // namespace

std::string trainStateToJson(const TrainState& s) {
    const auto finite = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
    Json json = {{"format", 1},
                 {"step", s.step},
                 {"epoch", s.epoch},
                 {"batch", s.batch},
                 {"examples", s.examples},
                 {"seconds", s.seconds},
                 {"base_rate", s.baseRate},
                 {"evaluate_every", s.evaluateEvery},
                 {"capture_every", s.captureEvery},
                 {"best", finite(s.best)},
                 {"best_step", s.bestStep},
                 {"bad_evaluations", s.badEvaluations},
                 {"loss_sum", finite(s.lossSum)},
                 {"accuracy_sum", finite(s.accuracySum)},
                 {"window_examples", s.windowExamples},
                 {"since_loss", finite(s.sinceLoss)},
                 {"since_examples", s.sinceExamples},
                 {"device", s.device},
                 {"threads", s.threads},
                 {"batch_size", s.batchSize}};
    if (s.ranks > 1) json["ranks"] = s.ranks;
    if (!s.edits.edits.empty()) json["edits"] = Json::parse(editsToJson(s.edits));
    return json.dump(2);
}

TrainState trainStateFromJson(const std::string& text, const std::string& path) {
    try {
        const Json j = Json::parse(text);
        const auto real = [&](const char* key) {
            return j.at(key).is_null() ? std::numeric_limits<double>::quiet_NaN()
                                       : j.at(key).get<double>();
        };
        TrainState s;
        s.step = j.at("step"), s.epoch = j.at("epoch"), s.batch = j.at("batch"),
        s.examples = j.at("examples");
        s.seconds = real("seconds"), s.baseRate = real("base_rate");
        s.evaluateEvery = j.at("evaluate_every"), s.captureEvery = j.at("capture_every");
        s.best = real("best"), s.bestStep = j.at("best_step"),
        s.badEvaluations = j.at("bad_evaluations");
        s.lossSum = real("loss_sum"), s.accuracySum = real("accuracy_sum"),
        s.windowExamples = j.at("window_examples");
        if (j.contains("since_loss"))  // since version 0.4
            s.sinceLoss = real("since_loss"), s.sinceExamples = j.at("since_examples");
        s.device = j.at("device"), s.threads = j.at("threads");
        if (j.contains("batch_size")) s.batchSize = j.at("batch_size");
        if (j.contains("ranks")) s.ranks = j.at("ranks");
        if (j.contains("edits")) s.edits = editsFromJson(j.at("edits").dump(), path);
        return s;
    } catch (const nlohmann::json::exception& error) {
        throw FileError(path, std::string("is damaged: ") + error.what());
    }
}

namespace {

std::int64_t stepOf(const std::string& name) {
    std::int64_t step = -1;
    if (name.rfind("step-", 0) != 0) return -1;
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + 5, end, step);
    return error == std::errc() && rest == end ? step : -1;
}

}  // namespace

namespace {

// Writes the files of a checkpoint into a folder that is there.
void writeCheckpoint(const std::string& folder, ModelImpl& model,
                     std::vector<std::pair<std::string, torch::Tensor>> tensors,
                     const TrainState& state, const FamilyForm* form) {
    if (form) {
        saveWeights(model, *form, folder + "/model.safetensors");
        copyFamilyFiles(form->folder, folder, true);
        for (auto& [name, tensor] : roundedWeights(model, *form))
            tensors.emplace_back(kWhole + name, tensor);
    } else {
        saveWeights(model, folder + "/model.safetensors");
    }
    const auto device = model.device();
    tensors.emplace_back("generator/cpu", generatorOf(torch::kCPU).get_state());
    if (device.is_cuda()) tensors.emplace_back("generator/cuda", generatorOf(device).get_state());
    saveTensors(folder + "/" + kOptimizer, tensors);
    writeTextFile(folder + "/state.json", trainStateToJson(state));
    Json files = Json::object();
    for (const char* name : kFiles) {
        const std::string path = folder + "/" + name;
        std::error_code error;
        const auto bytes = fs::file_size(path, error);
        if (error) throw FileError(path, "cannot be read: " + error.message());
        files[name] = {{"bytes", bytes}, {"crc32", fileCrc32(path)}};
    }
    writeTextFile(folder + "/manifest.json",
                  Json({{"format", 1}, {"step", state.step}, {"files", files}}).dump(2));
}

// Moves a complete checkpoint to its place. One of the same step that is there is replaced in one
// operation where the file system can do that; it goes only after the new one has its name.
void putInPlace(const std::string& made, const std::string& folder) {
    std::error_code error;
    if (fs::exists(folder, error)) {
        const auto mark = keptMark(folder);
        if (fs::exists(mark, error)) writeTextFile(keptMark(made), readTextFile(mark, 16u << 20));
        if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
            fs::remove_all(made, error);
            return;
        }
        const auto old = made + kReplaced;
        fs::rename(folder, old, error);
        if (!error) fs::rename(made, folder, error);
        std::error_code ignored;
        if (error)
            fs::rename(old, folder, ignored);
        else
            fs::remove_all(old, ignored);
    } else {
        fs::rename(made, folder, error);
    }
    if (error == std::errc::no_space_on_device)
        throw DiskFull(folder, "cannot be written: " + error.message());
    if (error) throw FileError(folder, "cannot be written: " + error.message());
}

}  // namespace

void saveCheckpoint(const std::string& checkpoints, ModelImpl& model,
                    std::vector<std::pair<std::string, torch::Tensor>> tensors,
                    const TrainState& state, const FamilyForm* form) {
    const std::string folder = checkpoints + "/step-" + std::to_string(state.step);
    std::uint64_t bytes = 1 << 20;
    const std::uint64_t copies = form ? 4 : 3;
    for (const auto& p : model.parameters())
        bytes += copies * static_cast<std::uint64_t>(p.nbytes());
    makeDirectories(checkpoints);
    if (const auto room = freeBytes(checkpoints); room < bytes)
        throw DiskFull(folder, "needs " + byteText(bytes) + ", and " + byteText(room) +
                                   " are free; free some disk space");
    static std::atomic<unsigned> counter{0};
    const std::string made =
        folder + kUnfinished + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    try {
        makeDirectories(made);
        writeCheckpoint(made, model, std::move(tensors), state, form);
        putInPlace(made, folder);
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(made, ignored);  // it would only occupy scarce space
        throw;
    }
    syncDirectory(checkpoints);
}

void finishReplacements(const std::string& checkpoints) {
    std::error_code error, ignored;
    std::vector<fs::path> left;
    fs::directory_iterator at(checkpoints, error);
    for (const fs::directory_iterator end; !error && at != end; at.increment(error))
        if (at->path().filename().string().ends_with(kReplaced)) left.push_back(at->path());
    for (const auto& old : left) {
        const auto name = old.filename().string();
        const auto place = old.parent_path() / name.substr(0, name.find(kUnfinished));
        if (!fs::exists(place, error) && !error) fs::rename(old, place, ignored);
    }
}

TrainState checkpointState(const std::string& checkpoint) {
    const std::string path = checkpoint + "/state.json";
    return trainStateFromJson(readTextFile(path, kLargestState), path);
}

void keepCheckpoint(const std::string& checkpoint, const RunOptions& options) {
    writeTextFile(keptMark(checkpoint), runOptionsToJson(options) + "\n");
}

RunOptions keptOptions(const std::string& checkpoint) {
    const std::string path = keptMark(checkpoint);
    const std::string text = readTextFile(path, 16u << 20);
    try {
        return runOptionsFromJson(text);
    } catch (const Error& error) {
        throw FileError(path, error.what());
    }
}

namespace {

void loadWholeWeights(ModelImpl& model, const SafetensorsFile& file) {
    const torch::NoGradGuard noGrad;
    for (auto& entry : stateOf(model))
        if (const auto* whole = file.find(kWhole + entry.name))
            entry.tensor.copy_(readTensor(file, *whole));
}

}  // namespace

TrainState loadCheckpoint(const std::string& checkpoint, ModelImpl& model,
                          const ModelOptions& options, Optimizer* optimizer) {
    const TrainState state = checkpointState(checkpoint);
    const auto source = CheckpointSource::open(checkpoint + "/model.safetensors");
    loadWeights(model, options, *source);
    const std::string beside = checkpoint + "/" + kOptimizer;
    if (hasFamilyNames(options, *source)) loadWholeWeights(model, SafetensorsFile(beside));
    if (!optimizer) return state;
    if (!fs::exists(beside))
        throw FileError(checkpoint, std::string("has no ") + kOptimizer +
                                        ": it can be opened and measured, but not be trained on");
    const auto tensors = readTensors(beside);
    optimizer->load({tensors.begin(), tensors.end()});
    const auto device = model.device();
    if (const auto found = tensors.find("generator/cpu"); found != tensors.end())
        generatorOf(torch::kCPU).set_state(found->second);
    if (const auto found = tensors.find("generator/cuda");
        found != tensors.end() && device.is_cuda())
        generatorOf(device).set_state(found->second);
    return state;
}

std::string checkpointProblem(const std::string& checkpoint) {
    try {
        std::error_code missing;
        if (!fs::exists(checkpoint + "/manifest.json", missing) && !missing)
            return "manifest.json is missing";
        const Json manifest = Json::parse(readTextFile(checkpoint + "/manifest.json", 1 << 20));
        for (const std::string name : kFiles) {
            const std::string path = checkpoint + "/" + name;
            // The example run comes without the optimizer's state.
            if (name == kOptimizer && !manifest.at("files").contains(name)) continue;
            const auto& entry = manifest.at("files").at(name);
            if (!fs::is_regular_file(path)) return name + " is missing";
            if (fs::file_size(path) != entry.at("bytes").get<std::uint64_t>())
                return name + " does not have the size given in the manifest";
            if (fileCrc32(path) != entry.at("crc32").get<std::uint32_t>())
                return name + " does not match its checksum";
        }
        return "";
    } catch (const nlohmann::json::exception&) {
        return "manifest.json is damaged";
    } catch (const std::exception& error) {  // its path is that of the checkpoint
        return error.what();
    }
}

std::vector<std::int64_t> checkpointSteps(const std::string& checkpoints) {
    std::vector<std::int64_t> steps;
    std::error_code error, ignored;
    fs::directory_iterator at(checkpoints, error);
    for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
        const auto step = stepOf(at->path().filename().string());
        if (step >= 0 && fs::exists(at->path() / "manifest.json", ignored)) steps.push_back(step);
    }
    // A folder that cannot be read is not one without checkpoints.
    if (error && error != std::errc::no_such_file_or_directory)
        throw FileError(checkpoints, "cannot be read: " + error.message());
    std::sort(steps.begin(), steps.end());
    return steps;
}

std::string newestCheckpoint(const std::string& checkpoints, std::vector<std::string>* problems) {
    auto steps = checkpointSteps(checkpoints);
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        const std::string folder = checkpoints + "/step-" + std::to_string(*step);
        const auto problem = checkpointProblem(folder);
        if (problem.empty()) return folder;
        if (problems) problems->push_back("step-" + std::to_string(*step) + ": " + problem);
    }
    return "";
}

void pruneCheckpoints(const std::string& checkpoints, std::int64_t bestStep) {
    std::error_code ignored;
    std::vector<std::int64_t> steps;
    try {
        steps = checkpointSteps(checkpoints);
    } catch (const FileError&) {  // the next call removes them
        return;
    }
    for (std::size_t i = 0; i + 2 < steps.size(); ++i)
        if (const auto folder = checkpoints + "/step-" + std::to_string(steps[i]);
            steps[i] != bestStep && !isKeptCheckpoint(folder))
            fs::remove_all(folder, ignored);
    // Remains of a killed process: folders that it was writing, and from versions up to 0.6
    // checkpoints without a manifest that are older than the newest complete one.
    std::vector<fs::path> left;
    fs::directory_iterator at(checkpoints, ignored);
    for (const fs::directory_iterator end; !ignored && at != end; at.increment(ignored)) {
        const auto name = at->path().filename().string();
        const auto step = stepOf(name);
        std::error_code error;
        const bool unfinished = name.starts_with("step-") && name.find(kUnfinished) < name.size();
        if (unfinished || (step >= 0 && !steps.empty() && step < steps.back() &&
                           !fs::exists(at->path() / "manifest.json", error) && !error))
            left.push_back(at->path());
    }
    for (const auto& path : left) fs::remove_all(path, ignored);
}

std::string checkpointWeights(const std::string& run, const std::string& which,
                              std::int64_t* step) {
    const std::string checkpoints = run + "/checkpoints";
    const auto steps = checkpointSteps(checkpoints);
    if (steps.empty()) throw FileError(run, "has no checkpoint yet");
    std::int64_t chosen = steps.back();
    if (which == "last") {
        const auto newest = newestCheckpoint(checkpoints);
        if (newest.empty())
            throw FileError(checkpoints, "has no checkpoint that matches its checksums");
        chosen = stepOf(fs::path(newest).filename().string());
    } else if (which == "best") {
        const auto best =
            checkpointState(checkpoints + "/step-" + std::to_string(steps.back())).bestStep;
        if (best >= 0 && std::find(steps.begin(), steps.end(), best) != steps.end()) chosen = best;
    } else {
        const auto number = stepOf("step-" + which);
        if (std::find(steps.begin(), steps.end(), number) == steps.end()) {
            std::string known;
            for (const auto s : steps) known += (known.empty() ? "" : ", ") + std::to_string(s);
            throw FileError(checkpoints,
                            "has no checkpoint '" + which + "'; available: last, best, " + known);
        }
        chosen = number;
    }
    if (step) *step = chosen;
    return checkpoints + "/step-" + std::to_string(chosen) + "/model.safetensors";
}

}  // namespace relascope::core
