// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Context.h>
#include <torch/nn/functional.h>
#include <torch/optim/adamw.h>
#include <algorithm>
#include <filesystem>
#include <optional>

#include "analysis/verify/verify.h"
#include "analysis/verify/verify_fitted.h"
#include "analysis/verify/verify_images.h"
#include "analysis/verify/verify_lines.h"
#include "analysis/verify/verify_public.h"
#include "analysis/verify/verify_relations.h"
#include "analysis/verify/verify_why.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "interventions/check_edits.h"
#include "interventions/edit_json.h"
#include "interventions/edited_run.h"
#include "model/decode/generate.h"
#include "model/public/public_options.h"
#include "options/image_processor.h"
#include "probe/map_collector.h"

namespace relascope::core {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;

bool startsWith(const std::string& text, const char* prefix) {
    return text.rfind(prefix, 0) == 0;
}

std::string stored(const std::string& folder) {
    return folder + "/io.safetensors";
}

// The input of a golden case.
struct Case {
    ModelInput input{torch::Tensor()};
    torch::Tensor targets;  // undefined for cases that have only outputs
};

Case readCase(const Tensors& io, const ModelOptions& o, const std::string& folder) {
    const auto refuse = [&](const std::string& what) {
        throw FileError(folder + "/io.safetensors", what);
    };
    Case c;
    c.input = storedInput(io, "input/", o, stored(folder));
    const auto found = io.find("input/targets");
    if (found == io.end()) return c;
    c.targets = found->second;
    const auto& t = c.targets;
    const bool sequence = o.input() == InputKind::Tokens || o.input() == InputKind::Pairs;
    const auto& shaped = o.input() == InputKind::Pairs ? c.input.target : c.input.x;
    const std::int64_t rank = sequence ? 2 : 1;
    if (t.scalar_type() != torch::kLong || t.dim() != rank || shaped.dim() < rank ||
        t.sizes() != shaped.sizes().slice(0, static_cast<std::size_t>(rank)))
        refuse("input/targets must be integers, one for each output");
    const std::int64_t ignored = o.ignoredTarget();
    const std::int64_t classes = o.outputs() == 1 ? 2 : o.outputs();
    const auto wrong = t.lt(0).logical_or(t.ge(classes));
    if ((sequence ? wrong.logical_and(t.ne(ignored)) : wrong).any().item<bool>())
        refuse("input/targets contain values outside the model's " + std::to_string(classes) +
               " outputs");
    return c;
}

// Mean over the targets that count; a single logit means two classes.
torch::Tensor lossOf(const torch::Tensor& logits, const torch::Tensor& targets,
                     const ModelOptions& o) {
    if (o.input() == InputKind::Objects && o.outputs() == 1)
        return torch::binary_cross_entropy_with_logits(logits.squeeze(-1),
                                                       targets.to(logits.scalar_type()));
    const std::int64_t ignored = o.ignoredTarget();
    return torch::cross_entropy_loss(logits.flatten(0, -2), targets.flatten(), {},
                                     at::Reduction::Mean, ignored);
}

// The edits of a case, with the values that they take.
class CaseEdits {
public:
    CaseEdits(const std::string& folder, ModelImpl& model, const ModelOptions& options,
              const Case& c, const torch::Device& device)
        : m_list(readEdits(folder + "/edit.json")), m_editor(m_list) {
        checkEdits(m_list, pointsOf(model, c.input), EditUse::Inspect);
        for (const auto& [name, from] : m_list.inputs) {
            if (from.file.empty())
                throw OptionError("inputs." + name, "needs a file of tensors in a golden case");
            m_inputs.named.emplace(
                name,
                storedInput(readTensors(from.file), from.prefix, options, from.file).to(device));
        }
        m_inputs.shifted = [input = c.input](std::int64_t shift) {
            auto next = input;
            next.x = next.x.roll({-shift}, {0});
            if (next.target.defined()) next.target = next.target.roll({-shift}, {0});
            return next;
        };
    }

    Hooks* hooks() { return &m_editor; }
    /// Anew for the weights as they are now.
    void takeFrom(ModelImpl& model, const ModelInput& input) {
        takeValues(m_editor, model, input, m_inputs);
    }

private:
    EditList m_list;
    Editor m_editor;
    EditInputs m_inputs;
};

torch::Tensor trainedLosses(ModelImpl& model, const Case& c, const ModelOptions& options,
                            std::int64_t steps, CaseEdits* edits) {
    torch::optim::AdamW optimizer(
        trainableParameters(model),
        torch::optim::AdamWOptions(1e-3).betas({0.9, 0.95}).eps(1e-8).weight_decay(0.1));
    std::vector<float> losses;
    for (std::int64_t step = 0; step < steps; ++step) {
        optimizer.zero_grad();
        if (edits) edits->takeFrom(model, c.input);
        const HookScope hooks(edits ? edits->hooks() : nullptr);
        const auto loss = lossOf(model.forward(c.input), c.targets, options);
        losses.push_back(loss.item<float>());
        loss.backward();
        optimizer.step();
    }
    return torch::tensor(losses);
}

}  // namespace

VerifyReport verifyFolder(const std::string& folder, const std::string& deviceName,
                          const std::string& models,
                          const std::function<Image(const std::string&)>& readImage) {
    namespace fs = std::filesystem;
    if (fs::exists(fs::path(folder) / "expected.json")) return verifyRelations(folder);
    if (fs::exists(fs::path(folder) / "why.json")) return verifyWhy(folder, deviceName, models);
    if (fs::exists(fs::path(folder) / "fit.json")) return verifyFitted(folder, deviceName);
    VerifyReport report;
    report.ok = true;
    const auto add = [&report](VerifyLine line) { addLine(report, std::move(line)); };
    if (fs::exists(fs::path(folder) / "tokenizer_cases.json")) {
        add(verifyTokenizer(folder));
        if (!fs::exists(fs::path(folder) / "io.safetensors")) return report;  // a tokenizer alone
    }
    const bool edited = fs::exists(fs::path(folder) / "edit.json");
    std::string modelFolder = folder;
    if (edited) {
        const auto name = readEdits(folder + "/edit.json").model;
        if (name.empty() || fs::path(name).has_parent_path())
            throw FileError(folder + "/edit.json",
                            "model: '" + name + "' is not the name of a folder");
        const auto above = fs::absolute(folder).lexically_normal();
        const auto parent = (above.has_filename() ? above : above.parent_path()).parent_path();
        modelFolder = ((models.empty() ? parent.parent_path() : fs::path(models)) / name).string();
    }
    const auto source = CheckpointSource::open(modelFolder);
    auto options = checkpointModel(*source);
    std::optional<ImageProcessor> processor;
    // Stored images have been normalised already.
    if (auto* images = options.find<PublicImageOptions>()) {
        processor = imageProcessorBeside(*source, options);
        images->preprocessor.clear();
    }
    const torch::Device device(deviceName);
    const bool cuda = device.is_cuda();
    const double outputTolerance = cuda ? 1e-4 : 2e-5, gradientTolerance = cuda ? 5e-4 : 1e-4;
    at::globalContext().setFloat32MatmulPrecision("highest");

    const Tensors io = readTensors(folder + "/io.safetensors");
    takeCase(options, io);
    auto model = makeModel(options);
    loadWeights(*model, options, *source);
    answerWithTexts(*model, io);
    Case c = edited ? readCase(readTensors(modelFolder + "/io.safetensors"), options, modelFolder)
                    : readCase(io, options, folder);
    model->to(device);
    model->eval();
    c.input = c.input.to(device);
    if (c.targets.defined()) c.targets = c.targets.to(device);

    std::optional<CaseEdits> edits;
    if (edited) {
        edits.emplace(folder, *model, options, c, device);
        edits->takeFrom(*model, c.input);
    }
    Collector collector;
    // Relations that recorders do not get: of a shape that is no map, or after a softmax.
    const std::string predinet = "predinet.hook_r", relation = "relation.hook_r";
    PointReader relations({predinet, relation});
    torch::Tensor logits;
    {
        const RecordingScope scope(collector);
        HookChain both(edits ? edits->hooks() : &relations, &relations);
        const HookScope hooks(edits ? &both : nullptr);
        logits = model->forward(c.input);
    }
    Tensors ours = collector.tensors();
    ours["output/logits"] = logits;
    for (const auto& [name, tensor] : relations.tensors())
        ours["relations/" + name.substr(0, name.find('.'))] = tensor;
    if (c.targets.defined()) {
        const auto loss = lossOf(logits, c.targets, options);
        loss.backward();
        ours["output/loss"] = loss;
        for (const auto& entry : stateOf(*model)) {
            const auto gradient = entry.tensor.grad();
            ours["grad/" + entry.name] =
                gradient.defined() ? gradient : torch::zeros_like(entry.tensor);
        }
    }
    for (auto& [name, tensor] : ours) tensor = tensor.detach().clone();
    addPublicKeys(ours, io, *model, options, c.input, folder, edits ? edits->hooks() : nullptr);
    addImageKeys(ours, io, *model, options, *source);
    std::vector<double> deviation;
    if (io.count("preprocess/pixel_values") && readImage && processor) {
        deviation = processor->deviation;
        const auto image = prepared(readImage(folder + "/image.png"), *processor);
        ours["preprocess/pixel_values"] = pixelValues(image, *processor);
        const auto& patch = options.get<PublicImageOptions>().patch_size;
        ours["preprocess/grid"] =
            torch::tensor({image.height / patch[1], image.width / patch[0]}, torch::kLong);
    }
    if (const auto greedy = io.find("generate/greedy"); greedy != io.end()) {
        const auto prompt = storedTensor(io, "generate/prompt", stored(folder));
        const std::int64_t more = greedy->second.dim() == 2 && prompt.dim() == 2
                                      ? greedy->second.size(1) - prompt.size(1)
                                      : -1;
        if (options.input() == InputKind::Tokens && more >= 0 && more <= 4096) {
            const HookScope hooks(edits ? edits->hooks() : nullptr);
            ours["generate/greedy"] = generateGreedy(*model, options, prompt.to(device), more);
        }
    }

    const auto before = report.lines.size();
    for (const auto& [name, theirs] : io) {
        if (startsWith(name, "input/") || name == "generate/prompt" || name == "patch/input" ||
            (startsWith(name, "pll/") && name != "pll/scores") ||
            (edited && startsWith(name, "B/")))
            continue;
        if (startsWith(name, "preprocess/") && !readImage) continue;
        torch::Tensor computed;
        if (const auto found = ours.find(name); found != ours.end()) computed = found->second;
        if (name == "train/adamw_losses" && c.targets.defined() && theirs.dim() == 1 &&
            theirs.size(0) <= 1000)
            computed = trainedLosses(*model, c, options, theirs.size(0), edits ? &*edits : nullptr);
        const bool gradient = startsWith(name, "grad/") || startsWith(name, "train/");
        auto tolerance = gradient ? gradientTolerance : outputTolerance;
        // Two steps of 8 bits, where pictures were scaled.
        if (name == "preprocess/pixel_values" && !deviation.empty())
            tolerance = 2.0 / 255.0 / *std::min_element(deviation.begin(), deviation.end());
        add(comparedTensors(name, computed, theirs, tolerance));
    }
    if (report.lines.size() == before)
        throw FileError(folder + "/io.safetensors", "contains nothing to compare");
    return report;
}

}  // namespace relascope::core
