// SPDX-License-Identifier: GPL-3.0-or-later
// readCheckpointInfo() and openCheckpoint() of checkpoint.h.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "checkpoint/checkpoint.h"
#include "checkpoint/packed_weights.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_names.h"
#include "files/atomic_file.h"
#include "files/foreign_file.h"
#include "hub/hub_cache.h"
#include "model/architecture.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "options/image_processor.h"
#include "options/published_config.h"
#include "run/run_folder.h"

namespace relascope::core {
namespace {

void nameParts(OutlineNode& node, const FamilyFile& file) {
    node.prefix = file.prefixOf(node.prefix);
    for (auto& child : node.children) nameParts(child, file);
}

// Adds the properties of checkpoints of public families: names of parts, notes on tensors, classes.
void describeFamily(CheckpointInfo& info, const ModelOptions& model) {
    const FamilyFile file(model, info.tensors);
    nameParts(info.outline, file);
    std::map<std::string, const FileTensor*> known;
    for (const auto& tensor : file.tensors()) known[file.nameOf(tensor)] = &tensor;
    for (auto& stored : info.tensors) {
        const auto found = known.find(stored.name);
        if (found == known.end()) {
            if (file.ignores(stored)) stored.note = "not used by this program";
            continue;
        }
        const auto say = [&](const char* what) {
            stored.note = stored.note.empty() ? what : what + ("; " + stored.note);
        };
        if (found->second->parts.size() == 3) say("queries, keys and values");
        if (found->second->parts.size() == 2) say("gate and up");
        if (found->second->optional) say("equal to the embedding");
    }
    if (const auto* family = familyOf(model); !family->innerText.empty())
        info.title += "; " +
                      std::to_string(std::count_if(
                          info.tensors.begin(), info.tensors.end(),
                          [&file](const auto& stored) { return file.ignores(stored); })) +
                      " tensors " + family->innerText + " are not used";
    info.classNames = classNamesOfConfig(info.config);
    // An output that the configuration ties to the embedding, and that differs from it.
    const auto* used = model.find<OutputLayer>();
    if (!used || used->tie_word_embeddings) return;
    const auto configured = modelFromPublishedConfig(info.config);
    if (!configured.get<OutputLayer>().tie_word_embeddings) return;
    for (auto& stored : info.tensors) {
        const auto found = known.find(stored.name);
        if (found != known.end() && found->second->outside)
            stored.note = "differs from the embedding, and is the output";
    }
}

// The model, its outline and the differences between the file and the model.
void describeModel(CheckpointInfo& info, const CheckpointSource& source) {
    try {
        auto model = checkpointModel(source, &info.configFrom, &info.unusedKeys);
        if (info.config.empty()) info.config = modelToPublishedConfig(model);  // for a run
        info.problems = compareCheckpoint(model, source);
        info.outline = modelOutline(model);
        info.title = modelTitle(model);
        if (hasFamilyNames(model, source)) describeFamily(info, model);
        const auto count = countParameters(model);
        info.parameters = count.total;
        info.trainable = count.trainable;
        info.model = std::move(model);
    } catch (const FileError& error) {
        info.problems.push_back({ProblemKind::Configuration, info.configFrom, error.what()});
    }
}

}  // namespace

CheckpointInfo readCheckpointInfo(const std::string& path) {
    namespace fs = std::filesystem;
    const auto source = CheckpointSource::open(path);
    CheckpointInfo info;
    const auto absolute = fs::absolute(path).lexically_normal();
    info.path = absolute.string();
    info.name = (absolute.has_filename() ? absolute : absolute.parent_path()).filename().string();
    if (const auto name = hubNameOf(info.path); !name.empty()) info.name = name;
    info.form = source->form();
    info.files = source->files();
    info.bytes = source->bytes();
    info.tensors = source->tensors();
    info.leftOut = source->leftOut();
    info.metadata = source->metadata();
    info.config = source->config();
    info.configFrom = source->configFrom();
    for (const auto& t : info.tensors)
        if (t.sameAs.empty()) info.parameters += t.count();
    describeModel(info, *source);
    info.folder = (fs::is_directory(absolute) ? absolute : absolute.parent_path()).string();
    info.hasReference = info.loads() && fs::is_regular_file(info.folder + "/io.safetensors");
    return info;
}

namespace {

namespace fs = std::filesystem;

std::string newestCheckpoint(const std::string& run) {
    std::int64_t newest = -1;
    std::string found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(fs::path(run) / "checkpoints", none)) {
        const std::string name = entry.path().filename().string();
        std::int64_t step = -1;
        if (!name.starts_with("step-") || !fs::exists(entry.path() / "manifest.json")) continue;
        std::from_chars(name.data() + 5, name.data() + name.size(), step);
        if (step > newest) newest = step, found = entry.path().string();
    }
    if (found.empty())
        throw FileError(run,
                        "has no checkpoint yet; checkpoints are written during and after training");
    return found;
}

}  // namespace

OpenedCheckpoint openCheckpoint(const std::string& path) {
    fs::path wanted = fs::absolute(path).lexically_normal();
    const std::string name = wanted.filename().string();
    if (fs::is_regular_file(wanted) &&
        (name == "config.json" || name.ends_with(".index.json") || name == "io.safetensors"))
        wanted = wanted.parent_path();
    OpenedCheckpoint opened;
    opened.info = readCheckpointInfo(
        isRunFolder(wanted.string()) ? newestCheckpoint(wanted.string()) : wanted.string());
    opened.run = runOfWeights(opened.info.path);
    if (opened.run.empty()) return opened;
    // For a run, the step alone is not a useful title.
    opened.info.name = fs::path(opened.run).filename().string() + ", " + opened.info.name;
    try {
        opened.data = readRunOptions(opened.run).data;
    } catch (const Error&) {
        // Options of another version: the tensors can still be shown.
    }
    return opened;
}

namespace {

// Weights of models are F32; these types can be converted.
bool widens(const std::string& dtype) {
    return dtype == "F32" || dtype == "F16" || dtype == "BF16" || dtype == "F64";
}

// Options that the configuration lacks and the tensors show.
void takeFromTensors(ModelOptions& m, const CheckpointSource& source) {
    if (!m.info().readTensors) return;
    m.info().readTensors(m, [&source](const std::string& name) {
        const auto* tensor = source.find(name);
        return tensor ? tensor->shape : std::vector<std::int64_t>{};
    });
}

}  // namespace

std::string shapeText(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const auto n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
    return "[" + text + "]";
}

namespace {

// Whether two tensors hold the same bytes.
bool sameBytes(const CheckpointSource& source, const StoredTensor& a, const StoredTensor& b) {
    if (a.sameAs == b.name || b.sameAs == a.name) return true;
    if (a.dtype != b.dtype || a.shape != b.shape) return false;
    constexpr std::uint64_t piece = 1u << 20;
    std::vector<std::uint8_t> first(piece), second(piece);
    for (std::uint64_t at = 0; at < a.bytes; at += piece) {
        const auto count = std::min(piece, a.bytes - at);
        source.readPart(a, at, std::span(first).first(count));
        source.readPart(b, at, std::span(second).first(count));
        if (!std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(count),
                        second.begin()))
            return false;
    }
    return true;
}

// A tied output that is stored and differs from the embedding still counts as the output.
void untieIfStored(ModelOptions& model, const CheckpointSource& source) {
    auto* decoder = model.find<OutputLayer>();
    if (!decoder || !decoder->tie_word_embeddings || familyOf(model)->sharedMustEqual) return;
    const FamilyFile file(model, source.tensors());
    const StoredTensor *embedding = nullptr, *output = nullptr;
    for (const auto& tensor : file.tensors()) {
        if (tensor.optional) output = file.find(tensor);
        if (tensor.parts.front() == "layers.token_embedder.weight") embedding = file.find(tensor);
    }
    if (embedding && output && !sameBytes(source, *embedding, *output))
        decoder->tie_word_embeddings = false;
}

// Further names of tensors, in a file that has several, whose values differ from the tensor's.
std::vector<CheckpointProblem> unequalNames(const ModelOptions& model,
                                            const CheckpointSource& source) {
    std::vector<CheckpointProblem> problems;
    if (!familyOf(model)->sharedMustEqual) return problems;
    std::map<std::string, std::string> first;  // a tensor's first name, by every name in the model
    for (const auto& shape : modelShapes(model))
        first[shape.name] = shape.aliasOf.empty() ? shape.name : shape.aliasOf;
    const FamilyFile file(model, source.tensors());
    std::map<std::string, const StoredTensor*> kept;
    for (const auto& tensor : file.tensors())
        if (const auto* stored = file.find(tensor); stored && !tensor.optional)
            kept[first.at(tensor.parts.front())] = stored;
    for (const auto& tensor : file.tensors()) {
        const auto* stored = tensor.optional ? file.find(tensor) : nullptr;
        const auto own = kept.find(first.at(tensor.parts.front()));
        if (!stored || own == kept.end() || stored->shape != own->second->shape) continue;
        if (!sameBytes(source, *stored, *own->second))
            problems.push_back({ProblemKind::Names, stored->name,
                                "'" + stored->name + "' differs from '" + own->second->name +
                                    "', which the configuration says it equals; save the model "
                                    "again, or change the configuration"});
    }
    return problems;
}

}  // namespace

namespace {

// Throws OptionError unless the numbers are for the channels of the model.
void requireChannels(const ImageProcessor& processor, std::size_t channels) {
    for (const auto* numbers : {&processor.mean, &processor.deviation})
        if (numbers->size() != 1 && numbers->size() != channels)
            throw OptionError(numbers == &processor.mean ? "image_mean" : "image_std",
                              "has " + std::to_string(numbers->size()) +
                                  " numbers, and the model has " + std::to_string(channels) +
                                  " channels; give one for each channel");
}

// Images have the size that pictures are made to, which need not be that of the configuration.
// Where it depends on the picture, all get the size of the model.
void takeSize(PublicImageOptions& o, ImageProcessor& processor) {
    const auto made = preparedSize(processor);
    const auto width = static_cast<int>(o.image_shape[1]),
               height = static_cast<int>(o.image_shape[2]);
    if (made == PreparedSize{}) {
        if (processor.fit == ImageProcessor::Fit::Cover)
            processor.cropWidth = processor.width, processor.cropHeight = processor.height;
        else
            processor.fit = ImageProcessor::Fit::Exact, processor.width = width,
            processor.height = height;
    }
    const auto size = preparedSize(processor);
    for (const auto& [side, of] :
         {std::pair{size.width, o.patch_size[0]}, {size.height, o.patch_size[1]}})
        if (side % of != 0)
            throw OptionError("size", "pictures become " + std::to_string(size.width) + " x " +
                                          std::to_string(size.height) +
                                          " pixels, which is no multiple of the patch of " +
                                          std::to_string(of) +
                                          "; change the size that pictures are cut to");
    if (size.width > 0) o.image_shape[1] = size.width, o.image_shape[2] = size.height;
}

}  // namespace

ImageProcessor imageProcessorBeside(const CheckpointSource& source, const ModelOptions& model,
                                    bool* found) {
    const auto& o = model.get<PublicImageOptions>();
    const auto width = static_cast<int>(o.image_shape[1]),
               height = static_cast<int>(o.image_shape[2]);
    const auto channels = o.image_shape[0];
    auto beside = fs::path(source.files().at(0)).parent_path() / "preprocessor_config.json";
    requireTarget(beside.string());
    const bool own = !fs::is_regular_file(beside);  // in the configuration itself
    if (found) *found = !own || findFamily(o.family)->processor;
    if (own && !findFamily(o.family)->processor)
        return usualImageProcessor(width, height, static_cast<int>(channels));
    try {
        const auto processor =
            own ? findFamily(o.family)->processor(source.config())
                : imageProcessorOf(readJsonText(beside.string(), 1u << 20), width, height);
        requireChannels(processor, static_cast<std::size_t>(channels));
        return processor;
    } catch (const FileError&) {
        throw;
    } catch (const Error& error) {
        if (own) throw;
        throw FileError(beside.string(), error.what());
    }
}

bool hasFamilyNames(const ModelOptions& model, const CheckpointSource& source) {
    return familyOf(model) && !source.find(modelShapes(model).front().name);
}

std::vector<CheckpointProblem> compareCheckpoint(const ModelOptions& model,
                                                 const CheckpointSource& source) {
    auto problems = hasFamilyNames(model, source)
                        ? FamilyFile(model, source.tensors()).problems()
                        : compareTensors(modelShapes(model), source.tensors());
    if (problems.empty() && hasFamilyNames(model, source)) return unequalNames(model, source);
    if (problems.empty()) return problems;
    if (const auto packed = packedWeights(source.tensors()); !packed.empty())
        return {{ProblemKind::Names, "weights", "it " + packed}};
    bool missing = false;
    for (auto& problem : problems) {
        if (problem.kind != ProblemKind::Missing) continue;
        missing = true;
        if (const auto* there = source.findLeftOut(problem.subject))
            problem.message = "the model needs it, and it " + there->note;
        if (const auto shard = source.absent().find(problem.subject);
            shard != source.absent().end())
            problem.message = "the index puts it into '" + shard->second +
                              "', which lacks it; copy or download that file again";
    }
    if (!missing) return problems;
    if (const auto how = howNamesDiffer(source.tensors(), namesInFiles(model)); !how.empty())
        problems.insert(problems.begin(), {ProblemKind::Names, "names", how});
    return problems;
}

ModelOptions checkpointModel(const CheckpointSource& source, std::string* from,
                             std::vector<std::string>* unused) {
    const std::string& file = source.files().at(0);
    if (!source.config().empty()) {
        if (from) *from = source.configFrom();
        const bool own = source.configFrom().ends_with(".json");  // a file of its own
        const std::string where =
            own ? (fs::path(file).parent_path() / source.configFrom()).string() : file;
        try {
            const auto shape = [&source](const std::string& name) {
                const auto* tensor = source.find(name);
                return tensor ? tensor->shape : std::vector<std::int64_t>{};
            };
            auto model = modelFromPublishedConfig(source.config(), shape, unused);
            takeFromTensors(model, source);
            untieIfStored(model, source);
            if (auto* images = model.find<PublicImageOptions>()) {
                auto processor = imageProcessorBeside(source, model);
                takeSize(*images, processor);
                images->preprocessor = imageProcessorText(processor);
            }
            return model;
        } catch (const FileError&) {
            throw;
        } catch (const Error& error) {
            if (const auto packed = packedWeights(source.tensors()); !packed.empty())
                throw FileError(file, packed);
            throw FileError(where, (own ? "" : "'" + source.configFrom() + "' in it: ") +
                                       std::string(error.what()));
        }
    }
    // RUN/checkpoints/step-N/model.safetensors, RUN/weights/step-N.safetensors
    const auto above = fs::path(file).parent_path().parent_path();
    for (const auto& run : {above.parent_path(), above}) {
        if (!isRunFolder(run.string())) continue;
        const auto options = readRunOptions(run.string());
        requireModel(file, options);
        if (from) *from = "run.json";
        return options.model;
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
                 "has " + tensor.dtype +
                     " values, which cannot be used as weights; save the model in float32, float16 "
                     "or bfloat16"});
    }
    return problems;
}

}  // namespace relascope::core
