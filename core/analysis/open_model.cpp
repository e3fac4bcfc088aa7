// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include "analysis/answer_names.h"
#include "analysis/edited_model.h"
#include "analysis/opened_parts.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/steps_here.h"
#include "checkpoint/adapter.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/family_form.h"
#include "checkpoint/image_size.h"
#include "checkpoint/kept_file.h"
#include "checkpoint/kept_weights.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "data/continue_text.h"
#include "data/text.h"
#include "data/text_tokens.h"
#include "data/token_hidden.h"
#include "evaluate/evaluate.h"
#include "files/crc32.h"
#include "files/memory.h"
#include "interventions/active_edits.h"
#include "interventions/edit_probes.h"
#include "interventions/edited_run.h"
#include "interventions/fitted_maps.h"
#include "model/architecture.h"
#include "model/blocks/parameters.h"
#include "model/model.h"
#include "model/public/public_options.h"
#include "model/served/served_options.h"
#include "options/estimates.h"
#include "options/image_processor.h"
#include "options/published_config.h"
#include "probe/probe.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "train/checkpoints.h"
#include "train/devices.h"
#include "train/out_of_memory.h"
#include "train/requirements.h"
#include "types/suggest.h"

namespace relascope::core {

namespace {

constexpr std::int64_t kMostReferences = 100'000;  // inputs that are counted

std::optional<FileMark> markOf(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
    return FileMark{facts.st_ino, facts.st_size,
                    facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

bool hasCheckpoint(const std::string& run, std::int64_t step) {
    const auto steps = checkpointSteps(run + "/checkpoints");
    return std::binary_search(steps.begin(), steps.end(), step);
}

// The first `rows` of a stored batch, as samples.
ProbeSequence sequenceOf(const torch::Tensor& batch, std::int64_t index) {
    ProbeSequence s;
    const auto row = batch[index].contiguous();
    if (batch.dim() == 2) {
        const auto ids = row.to(torch::kLong);
        s.tokens.assign(ids.const_data_ptr<std::int64_t>(),
                        ids.const_data_ptr<std::int64_t>() + ids.numel());
    } else {
        const auto values = row.to(torch::kFloat);
        s.width = static_cast<int>(batch.size(2));
        s.vectors.assign(values.const_data_ptr<float>(),
                         values.const_data_ptr<float>() + values.numel());
    }
    return s;
}

// Stored images of a public family are without mean and deviation.
Image imageOf(const torch::Tensor& batch, std::int64_t index, const ModelOptions& options) {
    auto stored = batch[index];
    const auto* family = options.find<PublicImageOptions>();
    if (family && !family->preprocessor.empty()) {
        const auto processor = imageProcessorFrom(family->preprocessor);
        const auto row = [](const std::vector<double>& numbers) {
            return torch::tensor(numbers, torch::kFloat).view({-1, 1, 1});
        };
        stored = stored * row(processor.deviation) + row(processor.mean);
    }
    const auto bytes =
        (stored * 255.0).round().clamp(0, 255).to(torch::kByte).permute({1, 2, 0}).contiguous();
    const auto* data = bytes.const_data_ptr<std::uint8_t>();
    return {static_cast<int>(bytes.size(1)),
            static_cast<int>(bytes.size(0)),
            static_cast<int>(bytes.size(2)),
            {data, data + bytes.numel()}};
}

const char* inputKey(const ModelOptions& options) {
    switch (options.input()) {
        case InputKind::Images:
            break;
        case InputKind::Tokens:
            return "input/tokens";
        case InputKind::Pairs:
            return "input/source";
        case InputKind::Objects:
            return "input/objects";
    }
    return "input/images";
}

// A run stores its tokenizer, unless it is built into the program.
TokenizerPtr tokenizerOf(const std::string& path, bool isRun, const RunOptions& run) {
    if (!isRun) return checkpointTokenizer(path, knownVocabulary(run.model));
    if (run.data.tokenizer == "gpt2") return gpt2Tokenizer();
    const auto file = std::filesystem::path(path) / "tokenizer.json";
    return std::filesystem::exists(file) ? openTokenizer(file.string()) : nullptr;
}

// Throws where the weights of a family take more memory than there is.
void requireMemoryFor(std::uint64_t needed, const std::string& path) {
    const auto available = availableMemory();
    if (available == 0 || needed <= available) return;
    throw OutOfMemory("the weights of " + path + " take " + byteText(needed) + ", and " +
                      byteText(available) +
                      " are available; free some memory, save the model in bfloat16, or open a "
                      "smaller one");
}

std::string namedCheckpoint(const std::string& checkpoint, const RunOptions& run) {
    if (!checkpoint.empty()) return checkpoint;
    return run.train.early_stopping.restore_best ? "best" : "last";
}

// Whether a run that trains gives the name to one checkpoint after another.
bool isMoving(const std::string& checkpoint) {
    return checkpoint.empty() || checkpoint == "last" || checkpoint == "best";
}

std::int64_t newestStep(const std::string& run) {
    const auto steps = checkpointSteps(run + "/checkpoints");
    return steps.empty() ? -1 : steps.back();
}

// The kept weights of exactly the step that `checkpoint` is, if there is no checkpoint of it; of a
// run without checkpoints also the last of those that are here.
std::unique_ptr<CheckpointSource> openKept(const std::string& run, const std::string& checkpoint,
                                           std::int64_t& step, const std::stop_token& stop,
                                           const ProgressCallback& progress) {
    std::int64_t wanted = -1;
    const char* end = checkpoint.data() + checkpoint.size();
    const auto [rest, error] = std::from_chars(checkpoint.data(), end, wanted);
    const bool isNumber = error == std::errc() && rest == end;
    if (isNumber ? hasCheckpoint(run, wanted) : newestStep(run) >= 0) return nullptr;
    const KeptWeights kept(run);
    if (const auto here = kept.localSteps(); !isNumber && !here.empty()) wanted = here.back().step;
    if (!kept.find(wanted)) return nullptr;
    step = wanted;
    return kept.load(step, stop, progress);
}

}  // namespace

StepToOpen stepToOpen(const std::string& run, std::int64_t step) {
    const std::string number = std::to_string(step);
    const auto opened = [&](std::int64_t nearest) -> StepToOpen {
        const std::string found = std::to_string(nearest);
        return {found, "step " + found +
                           (nearest == step ? " (kept)" : " (kept nearest to " + number + ")")};
    };
    if (isServedName(run)) {
        const auto steps = stepsHere(run);
        const auto nearest = std::ranges::min_element(
            steps, {}, [&](const KeptStep& kept) { return std::abs(kept.step - step); });
        return nearest == steps.end() ? StepToOpen{number, ""} : opened(nearest->step);
    }
    if (hasCheckpoint(run, step)) return {number, ""};
    const KeptWeights kept(run);
    const auto* nearest = kept.nearest(step);
    // A step that was kept and cannot be read is not answered with another.
    const auto damaged = keptFilePath(keptFolder(run), step);
    for (const auto& problem : kept.problems())
        if (problem.starts_with(damaged + ":"))
            throw Error(problem +
                        (nearest ? "; the nearest kept step is " + std::to_string(nearest->step)
                                 : std::string("; no other step was kept")));
    return nearest ? opened(nearest->step) : StepToOpen{number, ""};
}

EditData OpenedModel::Parts::completed(EditData data) const {
    if (!data.text && tokenizer && options.input() == InputKind::Tokens)
        data.text = [this](const std::string& text) {
            return textSample(*tokenizer, text, options.tokens(), "typed text");
        };
    return data;
}

// The end of a text by generation_config.json of a public family, else by the tokenizer.
void OpenedModel::Parts::takeEnds(const std::string& folder) {
    if (!folder.empty() && options.info().opened) fileEnds = endTokensIn(folder);
    ends = fileEnds;
    if (!ends.empty() || !tokenizer) return;
    const auto own = tokenizer->ends();
    ends.assign(own.begin(), own.end());
}

OpenedModel::OpenedModel(const std::string& path, const std::string& checkpoint,
                         const std::string& device, std::stop_token stop,
                         const ProgressCallback& progress, const std::string& imageSize)
    : m_parts(std::make_unique<Parts>()) {
    namespace fs = std::filesystem;
    auto& p = *m_parts;
    if (isServedName(path)) {
        p.openServed(path, checkpoint);
        return;
    }
    std::unique_ptr<CheckpointSource> source;
    if (isRunFolder(path)) {
        p.isRun = true;
        p.newest = newestStep(path);
        p.run = readRunOptions(path);
        requireModel(path, p.run);
        p.options = p.run.model;
        source = openKept(path, checkpoint, p.step, stop, progress);
        if (source) {
            p.training = editsAfterStep(path, p.step);
        } else {
            const auto file = checkpointWeights(path, namedCheckpoint(checkpoint, p.run), &p.step);
            source = CheckpointSource::open(file);
            p.training = checkpointState(fs::path(file).parent_path().string()).edits;
        }
    } else {
        source = CheckpointSource::open(path);
        p.options = checkpointModel(*source);
        p.run.model = p.options;
        const auto beside = fs::path(source->files().at(0)).parent_path() / "io.safetensors";
        if (adapterAt(path).empty() && fs::is_regular_file(beside)) p.reference = beside.string();
    }
    const auto scaled = takeImageSize(p.options, imageSize);
    p.path = path, p.checkpoint = checkpoint;
    for (const auto& file : source->files())
        if (const auto mark = markOf(file)) p.files[file] = *mark;
    // Checked before memory is taken for a model that does not fit the file.
    if (p.options.info().opened) {
        requireFit(p.options, *source);
        requireMemoryFor(keptBytes(p.options, *source), path);
    }
    const auto smaller = [&] {
        const auto bytes = 4 * static_cast<std::uint64_t>(parameterCount(p.options));
        return " for the weights of " + path + ", which take " + byteText(bytes) +
               "; free some of its memory, or open them on another device";
    };
    MappedWeights mapped;
    withinMemory(
        "cpu",
        [&] {
            const ParameterScope scope(ParameterFill::Uninitialised);  // filled from the file
            p.model = makeModel(p.options);
            mapped = keepFileTypes(*p.model, p.options, *source);
        },
        smaller);
    std::string trouble;  // a tokenizer that cannot be read must not prevent opening the weights
    try {
        if (p.options.input() == InputKind::Tokens) p.tokenizer = tokenizerOf(path, p.isRun, p.run);
        if (p.options.input() == InputKind::Tokens && !p.tokenizer && !p.isRun)
            trouble = otherTokenizerBeside(source->files().at(0));
    } catch (const Cancelled&) {
        throw;
    } catch (const std::exception& error) {
        trouble = error.what();
    }
    if (!p.isRun && p.options.info().opened) p.classNames = classNamesOfConfig(source->config());
    // Kept weights of a run have nothing beside them.
    const auto family = familyFolder(path);
    const auto beside = p.isRun && fs::is_directory(family)
                            ? fs::path(family)
                            : fs::path(source->files().at(0)).parent_path();
    try {
        p.takeEnds(beside.string());
    } catch (const Error& error) {
        trouble = error.what();
    }
    p.warning = loadWeights(*p.model, p.options, *source, std::move(stop), progress, mapped).text();
    bool known = true;
    if (p.options.find<PublicImageOptions>()) imageProcessorBeside(*source, p.options, &known);
    if (!known)
        trouble =
            "there is no preprocessor_config.json: pictures are scaled bilinearly, with mean "
            "and deviation 0.5";
    for (const auto& note : {scaled, noteOfAdapter(*source)})
        if (!note.empty()) trouble += (trouble.empty() ? "" : "; ") + note;
    if (!trouble.empty()) p.warning += (p.warning.empty() ? "" : "; ") + trouble;
    p.device = resolveDevice(device);
    withinMemory(
        p.device, [&] { p.model->to(torch::Device(p.device)); }, smaller);
    if (!mapped.empty() && p.device == "cpu")
        p.model->beforePass = [mapped] { mapped.requireUnchanged(); };
    p.model->eval();
    p.probes = std::make_unique<EditProbes>(*p.model, p.options);
}

OpenedModel::OpenedModel(const ModelOptions& options, std::uint64_t seed, const std::string& device)
    : m_parts(std::make_unique<Parts>()) {
    auto& p = *m_parts;
    p.options = p.run.model = options;
    p.model = untrainedModel(options, {}, seed);
    p.device = resolveDevice(device);
    withinMemory(
        p.device, [&] { p.model->to(torch::Device(p.device)); },
        [] { return std::string(" for the weights of a new model"); });
    p.model->eval();
    p.probes = std::make_unique<EditProbes>(*p.model, p.options);
}
OpenedModel::~OpenedModel() = default;
OpenedModel::OpenedModel(OpenedModel&&) noexcept = default;
OpenedModel& OpenedModel::operator=(OpenedModel&&) noexcept = default;

const ModelOptions& OpenedModel::options() const {
    return m_parts->options;
}
const RunOptions& OpenedModel::run() const {
    return m_parts->run;
}
bool OpenedModel::isRun() const {
    return m_parts->isRun;
}
const std::vector<std::string>& OpenedModel::classNames() const {
    return m_parts->classNames;
}
std::int64_t OpenedModel::step() const {
    return m_parts->step;
}
const std::string& OpenedModel::warning() const {
    return m_parts->warning;
}
std::string OpenedModel::weightsText() const {
    return options().architecture() + ", weights " + std::to_string(checksum());
}

std::uint32_t OpenedModel::checksum() const {
    if (m_parts->checksum) return *m_parts->checksum;
    std::uint32_t crc = 0;
    for (const auto& entry : stateOf(*m_parts->model)) {
        const auto tensor = entry.tensor.detach().cpu().contiguous();
        if (entry.aliasOf.empty() && tensor.numel() > 0)
            crc = crc32Of(crc, tensor.const_data_ptr(), tensor.nbytes());
    }
    m_parts->checksum = crc;
    return crc;
}

bool OpenedModel::filesUnchanged() const {
    try {
        if (const auto& served = m_parts->served; served && !served()) return false;
        if (m_parts->model->beforePass) m_parts->model->beforePass();
    } catch (const Error&) {
        return false;
    }
    const auto& p = *m_parts;
    for (const auto& [path, before] : p.files)
        if (const auto now = markOf(path); now && *now != before) return false;
    if (!p.isRun || !isMoving(p.checkpoint) || newestStep(p.path) == p.newest) return true;
    if (namedCheckpoint(p.checkpoint, p.run) != "best") return false;
    std::int64_t best = p.step;
    try {
        checkpointWeights(p.path, "best", &best);
    } catch (const FileError&) {  // it is being written
    }
    return best == p.step;
}

int OpenedModel::referenceInputs() const {
    if (isServed(m_parts->options)) {
        const auto examples = m_parts->servedExamples();
        return examples ? static_cast<int>(std::min(examples->size(), kMostReferences)) : 0;
    }
    if (m_parts->reference.empty()) return 0;
    const SafetensorsFile file(m_parts->reference);
    const auto* entry = file.find(inputKey(m_parts->options));
    return entry && !entry->shape.empty()
               ? static_cast<int>(std::min(entry->shape[0], kMostReferences))
               : 0;
}

ProbeSample OpenedModel::referenceInput(int index) const {
    const auto& o = m_parts->options;
    if (index < 0 || index >= referenceInputs())
        throw OptionError("input", "there is no reference input " + std::to_string(index));
    if (isServed(o)) return m_parts->servedExamples()->sample(index);
    const SafetensorsFile file(m_parts->reference);
    const auto batch = [&](const char* key, std::int64_t least) {
        const auto* entry = file.find(key);
        const auto rank = entry ? static_cast<std::int64_t>(entry->shape.size()) : 0;
        if (rank < least || rank > 4 || entry->shape[0] <= index)
            throw FileError(m_parts->reference, std::string("has no usable tensor '") + key + "'");
        return readTensor(file, *entry);
    };
    ProbeSample sample;
    sample.origin = "reference input " + std::to_string(index + 1);
    if (o.input() == InputKind::Images) {
        sample.image = imageOf(batch("input/images", 4), index, o);
    } else {
        sample.source = sequenceOf(batch(inputKey(o), 2), index);
        if (o.input() == InputKind::Pairs)
            sample.target = sequenceOf(batch("input/target_in", 2), index);
    }
    const auto* targets = file.find("input/targets");
    if (targets && targets->shape.size() == 1 && targets->shape[0] > index)
        sample.label = readTensor(file, *targets)[index].item<std::int64_t>();
    return sample;
}

ProbeSample OpenedModel::randomInput(std::uint64_t seed) const {
    return randomSample(m_parts->options, seed);
}

ProbeResult OpenedModel::probe(const ProbeSample& sample,
                               const std::vector<std::string>& classNames,
                               const Interventions& interventions, ProbeWatch watch) {
    m_parts->means.clear();
    const auto& names = m_parts->named(classNames);
    if (watch.partial)
        watch.partial = [this, report = std::move(watch.partial)](ProbeResult part) {
            if (m_parts->tokenizer) namePieces(part, *m_parts->tokenizer);
            report(std::move(part));
        };
    auto result = withinMemory(
        m_parts->device,
        [&] {
            auto& p = *m_parts;
            const EvaluationMode evaluation(*p.model);
            const auto trained = p.makeTrainingEdits(interventions.data);
            const HookScope below(hooksOf(trained));
            if (trained) trained->prepare(inputOf(sample, p.options));
            if (interventions.edits.anyEnabled()) {
                auto edited =
                    p.probes->edited({interventions.edits, p.completed(interventions.data)}, sample,
                                     p.step, names, watch, trained != nullptr);
                p.means = p.probes->means();
                return edited;
            }
            if (!trained) return p.probes->plain(interventions.edits, sample, p.step, names, watch);
            return withFittedMaps(interventions.edits, p.options, [&] {
                return probeModel(*p.model, p.options, sample, p.step, names, watch);
            });
        },
        [] {
            return std::string(
                " for the maps of this input; choose a shorter input, free some of its memory, or "
                "open the model on another device");
        });
    if (m_parts->tokenizer) namePieces(result, *m_parts->tokenizer);
    return result;
}

std::vector<PointInfo> OpenedModel::points(const ProbeSample& sample) {
    auto& p = *m_parts;
    return pointsOf(*p.model, inputOf(sample, p.options).to(torch::Device(p.device)));
}

const TakenMeans& OpenedModel::takenMeans() const {
    return m_parts->means;
}

const EditList& OpenedModel::trainingEdits() const {
    return m_parts->training;
}

void OpenedModel::leaveOutTrainingEdits() {
    m_parts->training = {};
}

TokenizerPtr OpenedModel::tokenizer() const {
    return m_parts->tokenizer;
}

void OpenedModel::setTokenizer(const std::string& nameOrPath) {
    auto tokenizer = openTokenizer(nameOrPath);
    requireVocabulary(*tokenizer, m_parts->options.outputs());
    m_parts->tokenizer = std::move(tokenizer);
    m_parts->takeEnds({});
}

ProbeSample OpenedModel::textInput(const std::string& text) const {
    const auto& p = *m_parts;
    if (p.typesIds())
        return tokenSample(nullptr, typedIds(text, p.options, "text"), "typed tokens");
    const auto& tokenizer = requireTokenizer(p.tokenizer, p.options);
    requireVocabulary(tokenizer, p.options.outputs());
    // The whole text: a longer one is refused with both numbers where it is read.
    const auto longest =
        p.options.info().opened ? std::numeric_limits<std::int64_t>::max() : p.options.tokens();
    return textSample(tokenizer, text, longest, "typed text");
}

ProbeSample OpenedModel::promptInput(const std::string& prompt) const {
    const auto& p = *m_parts;
    if (p.typesIds()) {
        auto ids = typedIds(prompt, p.options, "prompt");
        if (static_cast<std::int64_t>(ids.size()) > p.options.tokens())
            ids.resize(static_cast<std::size_t>(p.options.tokens()));
        return tokenSample(nullptr, std::move(ids), "prompt");
    }
    const auto& tokenizer = requireTokenizer(p.tokenizer, p.options);
    requireVocabulary(tokenizer, p.options.outputs());
    return promptSample(tokenizer, prompt, p.options.tokens());
}

TextEnd OpenedModel::generate(const std::string& prompt, const GenerateOptions& options,
                              const TokenSink& sink, const Interventions& interventions) {
    auto& p = *m_parts;
    if (isServed(p.options))
        throw OptionError("path",
                          "generate needs the model itself, for its cache, and a served model "
                          "stays in its program; generate there, and look at the text here");
    if (!p.typesIds()) requireTokenizer(p.tokenizer, p.options);
    const auto ids =
        p.typesIds() ? typedIds(prompt, p.options, "prompt") : promptTokens(*p.tokenizer, prompt);
    const auto trained = p.makeTrainingEdits(interventions.data);
    const HookScope below(hooksOf(trained));
    std::unique_ptr<ActiveEdits> session;
    if (interventions.edits.anyEnabled()) {
        session = std::make_unique<ActiveEdits>(*p.model, p.options, interventions.edits,
                                                p.completed(interventions.data), EditUse::Generate);
        session->prepare(inputOf(promptInput(prompt), p.options));
        session->editor().setPrompt(static_cast<std::int64_t>(ids.size()));
    }
    return withinMemory(
        m_parts->device,
        [&] {
            std::optional<InterventionScope> scope;
            if (session) scope.emplace(&session->editor());
            return continueTokens(*p.model, p.options, p.tokenizer.get(), ids, p.ends, options,
                                  sink);
        },
        [] {
            return std::string(" for the text so far; generate fewer tokens, or on another device");
        });
}

void OpenedModel::narrow() {
    auto& p = *m_parts;
    castToBFloat16(*p.model);
    p.checksum.reset();
    p.probes =
        std::make_unique<EditProbes>(*p.model, p.options);  // drop streams computed in float32
}

DatasetPtr openEvaluationText(const OpenedModel& model, const TextToEvaluate& text,
                              const ProgressCallback& progress, std::stop_token stop) {
    DataOptions o =
        text.run.empty() ? DataOptions{} : runData(text.run, readRunOptions(text.run).data);
    o.kind = "text";
    o.context = std::min(o.context, model.options().tokens());
    std::string split = text.split;
    if (!text.file.empty()) {
        if (!model.tokenizer())
            throw OptionError("data",
                              "the tokenizer of this model is unknown, so no text can be read");
        o.tokenizer = model.tokenizer()->name();
        o.path = text.file;
        o.validation_fraction = 0.0;  // evaluate all of it
        o.validation_size = text.windows;
        split = "validation";
    } else {
        if (text.run.empty())
            throw OptionError("data", "a checkpoint has no data of its own; give a text");
        if (split.empty()) split = "validation";
        if (text.windows > 0) (split == "train" ? o.train_size : o.validation_size) = text.windows;
    }
    const auto splits = openText(o, progress, stop);
    requireTokensWithin(splits, model.options().outputs(), {}, stop);
    auto data = splits.find(split);
    if (!data) throw OptionError("split", unknownName("split", split, splits.names()));
    if (!readsBothWays(model.options())) return data;
    return std::make_shared<HiddenWords>(std::dynamic_pointer_cast<const TokenDataset>(data),
                                         maskToken(model));
}

std::int64_t maskToken(const OpenedModel& model) {
    const auto tokenizer = model.tokenizer();
    const auto mask = requireTokenizer(tokenizer, model.options()).maskToken();
    if (!mask || *mask >= model.options().outputs())
        throw OptionError("tokenizer", tokenizer->name() +
                                           " has no mask token, [MASK] or <mask>, that the model "
                                           "knows, so no word can be hidden; give the model's own "
                                           "tokenizer.json");
    return *mask;
}

}  // namespace relascope::core
