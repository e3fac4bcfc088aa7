#include "checkpoint/checkpoint_model.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "options/published_config.h"
#include "run/run_folder.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;

// How many different N the names "<prefix>N.<rest>" have.
std::int64_t countLayers(const CheckpointSource& source, const std::string& prefix) {
    std::set<std::int64_t> layers;
    for (const auto& tensor : source.tensors()) {
        if (!tensor.name.starts_with(prefix)) continue;
        std::int64_t layer = -1;
        const char* begin = tensor.name.data() + prefix.size();
        std::from_chars(begin, tensor.name.data() + tensor.name.size(), layer);
        if (layer >= 0) layers.insert(layer);
    }
    return static_cast<std::int64_t>(layers.size());
}

// Every weight of a model is F32; these can be made one.
bool widens(const std::string& dtype) {
    return dtype == "F32" || dtype == "F16" || dtype == "BF16" || dtype == "F64";
}

// What the configuration does not say and the tensors do.
void takeFromTensors(ModelOptions& m, const CheckpointSource& source) {
    if (m.isVision() && source.find("final_out.1.weight")) m.final_norm = true;
    // How wide their heads' keys are, these two do not say.
    const auto rows = [&](const char* name) -> std::int64_t {
        const auto* tensor = source.find(name);
        return tensor && tensor->shape.size() == 2 ? tensor->shape[0] : 0;
    };
    if (m.is("PrediNet") && m.key_dim == 0) m.key_dim = rows("predinet.W_k.weight");
    if (m.is("MessagePassingAbstractor") && m.use_self_attn && m.key_dim == 0 && m.n_heads_sa > 0)
        m.key_dim = rows("layers.0.self_attn.wq.weight") / m.n_heads_sa;
    // The published class builds as many decoder blocks as encoder blocks, whatever was asked for.
    if (m.is("Seq2SeqDualAttnTransformer") && m.n_layers_dec != m.n_layers_enc &&
        countLayers(source, "layers.decoder_blocks.") == m.n_layers_enc)
        m.n_layers_dec = m.n_layers_enc;
}

}  // namespace

std::string shapeText(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const auto n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
    return "[" + text + "]";
}

ModelOptions checkpointModel(const CheckpointSource& source, std::string* from) {
    const std::string& file = source.files().at(0);
    if (!source.config().empty()) {
        if (from) *from = source.configFrom();
        const bool own = source.configFrom() == "config.json";
        const std::string where =
            own ? (fs::path(file).parent_path() / "config.json").string() : file;
        try {
            auto model = modelFromPublishedConfig(source.config());
            takeFromTensors(model, source);
            return model;
        } catch (const FileError&) {
            throw;
        } catch (const Error& error) {
            throw FileError(where, (own ? "" : "'" + source.configFrom() + "' in it: ") +
                                       std::string(error.what()));
        }
    }
    // RUN/checkpoints/step-N/model.safetensors
    const auto run = fs::path(file).parent_path().parent_path().parent_path();
    if (isRunFolder(run.string())) {
        if (from) *from = "run.json";
        return readRunOptions(run.string()).model;
    }
    throw FileError(
        file,
        "does not describe its model; put the constructor arguments next to it as config.json");
}

std::vector<CheckpointProblem> compareTensors(const std::vector<TensorShape>& model,
                                              const std::vector<StoredTensor>& stored) {
    std::map<std::string, const TensorShape*> known;
    std::map<std::string, bool> present;  // by the first name
    std::set<std::string> there;
    for (const auto& tensor : stored) there.insert(tensor.name);
    for (const auto& entry : model) {
        known[entry.name] = &entry;
        auto& found = present[entry.aliasOf.empty() ? entry.name : entry.aliasOf];
        found = found || there.count(entry.name) > 0;
    }
    std::vector<CheckpointProblem> problems;
    for (const auto& entry : model)
        if (entry.aliasOf.empty() && !present[entry.name])
            problems.push_back(
                {ProblemKind::Missing, entry.name,
                 "the model needs it, " + shapeText(entry.shape) + ", but it is not in the file"});
    for (const auto& tensor : stored) {
        const auto at = known.find(tensor.name);
        if (at == known.end())
            problems.push_back(
                {ProblemKind::Unexpected, tensor.name,
                 "it is in the file, " + shapeText(tensor.shape) + ", but not in the model"});
        else if (at->second->shape != tensor.shape)
            problems.push_back({ProblemKind::WrongShape, tensor.name,
                                "is " + shapeText(tensor.shape) + " in the file, " +
                                    shapeText(at->second->shape) + " in the model"});
        else if (!widens(tensor.dtype))
            problems.push_back(
                {ProblemKind::File, tensor.name,
                 "has " + tensor.dtype + " values, which cannot be used as weights"});
    }
    return problems;
}

}  // namespace relascope
