// SPDX-License-Identifier: GPL-3.0-or-later
// Preparation before the first step: checks that data and model fit together, and takes weights,
// optimizer and position from the checkpoint or from the pretraining stage.
#include <ATen/Context.h>
#include <torch/utils.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "checkpoint/start_from.h"
#include "data/continue_text.h"
#include "data/text.h"
#include "files/processor.h"
#include "model/architecture.h"
#include "model/attention/relational_attention.h"
#include "model/public/public_options.h"
#include "options/builtin_resources.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/metrics.h"
#include "probe/probe_memory.h"
#include "run/captures.h"
#include "run/run_lines.h"
#include "train/devices.h"
#include "train/init_from.h"
#include "train/optimizer.h"
#include "train/option_changes.h"
#include "train/rank_job.h"
#include "train/requirements.h"
#include "train/train_job.h"
#include "train/training_edits.h"
#include "types/data_kind.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

bool isFresh(const TrainJob& job) {
    return checkpointSteps(job.folder.checkpointsPath()).empty();
}

// The sizes of images or sets and the number of classes follow from the files of the user.
void fitToFiles(TrainJob& job) {
    const auto& kind = dataKind(job.options.data.kind);
    if (job.startsFromCheckpoint() || !kind.sizesFromFiles ||
        !kind.sizesFromFiles(job.options.data) || !isFresh(job))
        return;
    const auto& info = job.data.train->info();
    const auto classes = static_cast<std::int64_t>(info.classNames.size());
    auto& model = job.options.model;
    if (auto* images = model.find<ImageInput>()) {
        images->image_shape = {info.channels, info.width, info.height};
        images->num_classes = classes;
    } else if (const auto* data = dynamic_cast<const ObjectDataset*>(job.data.train.get())) {
        auto& sets = model.get<ObjectInput>();
        sets.n_objects = data->shape().objects;
        sets.object_dim = data->shape().width;
        sets.out_dim = ObjectInput::outputsFor(classes);
    }
    model.check();
    job.folder.setOptions(job.options);
}

// A checkpoint's classifier knows its own classes, and ids of another tokenizer are other words.
void requireFitsStart(const TrainJob& job) {
    const auto& from = job.options.train.init_from;
    const auto* images = job.options.model.find<ImageInput>();
    const auto& info = job.data.train->info();
    const auto classes = static_cast<std::int64_t>(info.classNames.size());
    if (images && classes > 0 && images->num_classes != classes)
        throw OptionError("model.num_classes",
                          "is " + std::to_string(images->num_classes) + " in " + from + ", and " +
                              info.name + " has " + std::to_string(classes) +
                              " classes; set model.num_classes=" + std::to_string(classes) +
                              " for a new classifier");
    const auto& tokenizer = job.data.tokenizer;
    if (!tokenizer || !job.isText()) return;
    const auto own = openStart(from).tokenizer();
    if (own ? own->fingerprint() != tokenizer->fingerprint()
            : job.options.data.tokenizer == "characters")
        throw OptionError("data.tokenizer",
                          tokenizer->name() + " is not the tokenizer of " + from +
                              ", whose ids its weights were trained with; give " +
                              (own ? own->name() : "the tokenizer.json of its model"));
}

// A run that was killed before its first checkpoint reads the one it starts from again.
void noteOtherStart(TrainJob& job) {
    namespace fs = std::filesystem;
    const auto& from = job.options.train.init_from;
    const auto start = openStart(from);
    std::string now;
    for (const auto& file : start.source->files())
        now += (now.empty() ? "" : ", ") + std::to_string(fs::file_size(file)) + " bytes of " +
               std::to_string(fs::last_write_time(file).time_since_epoch().count());
    const auto began = job.folder.fact("start_files");
    if (!began.empty() && began != now)
        job.note(Note::Level::Warning, from +
                                           " has changed since the run began: this run has "
                                           "begun again, with the weights that it has now");
    job.folder.setFact("start_files", now);
}

// A new model takes the size of its vocabulary from the tokenizer; a model that already has weights
// must match. The tokenizer is stored with the run, so that the text may change later.
void fitVocabulary(TrainJob& job) {
    const auto& tokenizer = job.data.tokenizer;
    const bool fresh = isFresh(job) && !job.startsFromCheckpoint();
    auto& vocabulary = job.options.model.get<TokenInput>().vocab_size;
    if (tokenizer && fresh &&
        (job.options.data.tokenizer == "characters" || vocabulary < tokenizer->size())) {
        vocabulary = tokenizer->size();
        job.folder.setOptions(job.options);
    }
    if (auto* documents = job.options.model.find<DocumentOptions>();
        documents && documents->document_start == kStartOfTokenizer && fresh) {
        const auto end = tokenizer ? tokenizer->endOfText() : std::nullopt;
        documents->document_start = end ? *end : -1;
        job.folder.setOptions(job.options);
    }
    if (tokenizer) requireVocabulary(*tokenizer, vocabulary);
    requireTokensWithin(job.data, vocabulary, {}, job.stop);
    const std::string file = job.folder.path() + "/tokenizer.json";
    if (tokenizer && job.options.data.tokenizer != "gpt2" && !std::filesystem::exists(file))
        writeTokenizer(*tokenizer, file);
}

void requireData(TrainJob& job) {
    for (const auto& [name, data] :
         {std::pair{"train", job.data.train}, {"validation", job.data.validation}})
        if (data->info().size < 1)
            throw OptionError("data", std::string("the ") + name + " set is empty");
    if (job.startsFromCheckpoint() && isFresh(job)) requireFitsStart(job);
    if (job.isText()) fitVocabulary(job);
    fitToFiles(job);
    requireReadable(job.options.model, *job.data.train);
    requireReadable(job.options.model, *job.data.validation);
}

// Whether the device multiplies bfloat16 faster than float32.
bool multipliesBFloat16(const TrainJob& job) {
    if (job.device.is_cpu()) return hasBFloat16Products();
    const auto* device = findDevice(job.device.str());
    return device && std::atof(device->capability.c_str()) >= 8.0;
}

// What `auto` stands for is written down, so that the run is the same wherever it continues.
void choosePrecision(TrainJob& job) {
    auto& precision = job.options.train.precision;
    if (precision == "auto") {
        precision = multipliesBFloat16(job) ? "bfloat16" : "float32";
        job.folder.setOptions(job.options);
    }
    if (precision != "bfloat16" || !job.device.is_cpu() || hasBFloat16Products()) return;
    if (isFresh(job))
        throw OptionError("train.precision",
                          std::string(kNoBFloat16Products) + "; choose float32 or auto");
    job.note(Note::Level::Warning,
             "this processor has neither avx512_bf16 nor amx_bf16: the run continues with inputs "
             "rounded to bfloat16 and products computed in float32, which is slower, and its "
             "losses will not be bit-for-bit identical");
}

// Notes what was left out of the files, once, however many splits say it.
void noteFiles(TrainJob& job) {
    if (job.options.data.path.empty()) return;
    std::set<std::string> said;
    const auto say = [&](const DatasetPtr& data) {
        if (data && !data->info().note.empty() && said.insert(data->info().note).second)
            job.note(Note::Level::Warning, data->info().name + ": " + data->info().note);
    };
    say(job.data.train), say(job.data.validation);
    for (const auto& [name, data] : job.data.tests) say(data);
}

// Captures stay within their budget: fewer inputs if their maps, or the factors of them, are large.
void chooseCaptureInputs(TrainJob& job) {
    const auto& model = job.options.model;
    const std::uint64_t each =
        kCaptureBudget /
        static_cast<std::uint64_t>(captureCount(job.totalSteps, job.options.train.capture_every));
    const auto fits = static_cast<std::int64_t>(
        each / std::max<std::uint64_t>(1, mapBytes(model, model.tokens())));
    const auto samples = std::min<std::int64_t>(
        {job.options.train.capture_samples, fits, job.data.validation->size()});
    if (job.isText()) {
        // One sentence, usually much shorter than the context, cut to the budget.
        const auto longest = longestResult(model, each);
        if (job.data.tokenizer && job.options.train.capture_samples > 0 &&
            !job.options.data.pinned_text.empty())
            job.captureInputs.push_back(textSample(
                *job.data.tokenizer, job.options.data.pinned_text, longest, "pinned sentence"));
        return;
    }
    for (std::int64_t i = 0; i < samples; ++i) {
        auto sample = job.data.validation->sample(i);
        // All maps of a capture have the same shape: only sequences as long as the first one are
        // used.
        if (i > 0 && (sample.source.size() != job.captureInputs[0].source.size() ||
                      sample.target.size() != job.captureInputs[0].target.size()))
            continue;
        if (i > 0 && sample.source.text) break;  // one text at a time
        job.captureInputs.push_back(std::move(sample));
    }
}

// The place in the epoch is counted in batches, whose size may have changed.
void takeBatchSize(TrainJob& job) {
    auto& state = job.state;
    const auto size = job.options.train.batch_size;
    if (state.batchSize > 0 && state.batchSize != size) {
        job.note(Note::Level::Warning, "resumed with train.batch_size " + std::to_string(size) +
                                           " instead of " + std::to_string(state.batchSize) +
                                           ": the steps of an epoch are others");
        state.batch = state.batch * state.batchSize / size;
    }
    state.batchSize = size;
}

// The steps of the whole run. For a run given in epochs: the steps done, which may have had batches
// of another size, and the steps of the epochs that are left.
std::int64_t stepsToTheEnd(const TrainJob& job) {
    const auto& train = job.options.train;
    const auto& state = job.state;
    if (trainableParameters(*job.model).empty()) return 0;
    if (train.steps > 0) return train.steps;
    if (state.epoch >= train.epochs) return state.step;
    const auto batches = job.epochBatches() - state.batch, each = job.batchesPerStep();
    return state.step + (batches + each - 1) / each +
           (train.epochs - state.epoch - 1) * job.epochSteps();
}

// Puts the edits of the state in force, and checks requested ones, which follow after the
// measurements of this step that are still due.
void prepareEdits(TrainJob& job, const EditChoice& edits) {
    const auto own = job.state.edits;
    if (!edits && own.edits.empty()) return;
    const auto points = trainingPoints(job);
    const auto checked = [&](EditList list) {
        return checkedTrainingEdits(std::move(list), points, job.options.model,
                                    job.options.train.batch_size);
    };
    useTrainingEdits(job, checked(own));
    auto next = edits ? checked(edits(points)) : job.state.edits;
    // A run that was killed or branched where edits begin has them in its state alone.
    const auto recorded = editsAfterStep(job.folder.path(), job.state.step);
    if (next == job.state.edits && next.edits == recorded.edits) return;
    if (job.state.step == 0) job.folder.info().edits = next;  // should it end before a checkpoint
    job.nextEdits = std::move(next);
}

/// The options that mean something else in a run of another length than the one so far.
void noteLength(TrainJob& job, std::int64_t before) {
    const auto& o = job.options.train;
    const auto step = job.state.step, total = job.totalSteps;
    if (step >= total) return;
    const auto rate = [](double value) { return numberText("%.3g", value); };
    if (o.warmup_steps >= total)
        job.note(Note::Level::Warning,
                 "the warm-up takes " + std::to_string(o.warmup_steps) +
                     " steps and the run ends at step " + std::to_string(total) +
                     ": the learning rate does not reach " + rate(job.state.baseRate));
    if (step == 0 || before <= 0 || before == total || o.schedule != "cosine") return;
    const double last = scheduledRate(o, job.state.baseRate, step - 1, before),
                 next = scheduledRate(o, job.state.baseRate, step, total);
    job.note(Note::Level::Warning,
             "the cosine now ends at step " + std::to_string(total) + " instead of " +
                 std::to_string(before) + ", so that the learning rate " +
                 (next > last ? "rises" : "falls") + " from " + rate(last) + " to " + rate(next));
}

// Brings a job to where its run folder is: weights, optimizer and position.
void takeFromFolder(TrainJob& job, const EditChoice& edits) {
    if (const auto& problem = job.folder.lockProblem(); !problem.empty())
        job.note(Note::Level::Warning, "the file system of this run has no locks (" + problem +
                                           "): that no other process trains it is known of this "
                                           "machine alone");
    job.state.baseRate = job.options.train.learning_rate;
    job.state.evaluateEvery = job.options.train.evaluate_every;
    job.state.captureEvery = job.options.train.capture_every;
    const int ranks = job.ranks ? job.ranks->size() : 1;
    auto& info = job.folder.info();
    std::vector<std::string> problems;
    const std::string newest = newestCheckpoint(job.folder.checkpointsPath(), &problems);
    if (newest.empty() && !problems.empty())  // from step 0 it would overwrite the run's files
        throw FileError(job.folder.checkpointsPath(),
                        "has no checkpoint that can be used (" + problems.front() +
                            "); move the folder away to train the run from its start");
    for (const auto& problem : problems)
        job.note(Note::Level::Warning, "checkpoint " + problem + "; an older checkpoint is used");
    if (newest.empty())
        job.state.edits = info.edits;  // the run ended before its first checkpoint
    else
        job.state = loadCheckpoint(newest, *job.model, job.options.model, job.optimizer.get());
    prepareEdits(job, edits);
    if (!newest.empty()) {
        takeLiveOptions(job);
        if (job.state.device != job.device.str() || job.state.threads != threadCount())
            job.note(Note::Level::Warning, "resumed with " + job.device.str() + " and " +
                                               std::to_string(threadCount()) +
                                               " threads instead of " + job.state.device + " and " +
                                               std::to_string(job.state.threads) +
                                               ": losses will not be bit-for-bit identical");
        if (job.state.ranks != ranks)
            job.note(Note::Level::Warning, "resumed with " + ranksText(ranks) + " instead of " +
                                               ranksText(job.state.ranks) +
                                               ": losses will not be bit-for-bit identical");
        job.note(Note::Level::Info, "resumed from step " + std::to_string(job.state.step));
        takeBatchSize(job);
        if (job.state.batch >= job.epochBatches()) {  // no batch of this epoch would follow
            job.note(Note::Level::Warning, "the training data have become smaller, to " +
                                               std::to_string(job.data.train->size()) +
                                               " examples: epoch " +
                                               std::to_string(job.state.epoch + 1) + " ends here");
            ++job.state.epoch, job.state.batch = 0;
        }
    }
    job.state.batchSize = job.options.train.batch_size;
    job.totalSteps = stepsToTheEnd(job);
    noteLength(job, info.totalSteps);
    if (edits && job.nextEdits && job.state.step > 0 && job.state.step >= job.totalSteps)
        throw OptionError("edits", "come too late: the run is at step " +
                                       std::to_string(job.state.step) + " of " +
                                       std::to_string(job.totalSteps) +
                                       "; give it more epochs or steps");
    const auto& stopping = job.options.train.early_stopping;
    job.stoppedEarly = stopping.enabled() && job.state.badEvaluations >= stopping.patience;
    // At step 0 the first evaluation is repeated as well.
    job.folder.rewindMetrics(job.state.step > 0 ? job.state.step : -1);
    const auto points = readMetrics(job.folder.path());
    for (const auto& point : points) {
        if (point.split != Split::Validation || point.step != job.state.step) continue;
        job.lastEvaluated = point.step;  // a finished run that is resumed is not evaluated twice
        job.lastValidation = point;
    }
    info.device = job.device.str();
    info.totalSteps = job.totalSteps;
    info.metric = shownMetric(job.options);
    info.restoresBest = stopping.restore_best;
    takeValidations(info, points, stopping.restore_best ? job.state.bestStep : -1);
    info.options = optionTexts(job.options);
    info.parameters = parameterCount(job.options.model);
    job.folder.setFact("version", builtin::version());
    job.folder.setFact("torch", torchVersion());
    job.folder.setFact("threads", std::to_string(threadCount()));
    setRankFacts(job);
    job.state.device = job.device.str();
    job.state.threads = threadCount();
    job.state.ranks = ranks;
    chooseCaptureInputs(job);
}

}  // namespace

void prepare(TrainJob& job, const EditChoice& edits) {
    job.options.check();
    if (job.leads()) {
        finishReplacements(job.folder.checkpointsPath());  // before isFresh() is asked
        requireData(job);                                  // may change the options
        noteFiles(job);
        choosePrecision(job);
    }
    shareOptions(job);
    const auto& model = job.options.model;
    // The ranks of a CPU share its memory, and others may have taken theirs already.
    if (job.leads() || !job.device.is_cpu())
        requireMemory(job.options, job.device.str(), ranksOf(job));
    if (job.leads() && job.startsFromCheckpoint() && isFresh(job))
        job.note(Note::Level::Info,
                 trainingMemoryText(job.options, freeMemory(job.device.str()), ranksOf(job)));

    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
    // Otherwise each new tensor would be filled before it is written.
    at::globalContext().setDeterministicFillUninitializedMemory(false);
    at::globalContext().setFloat32MatmulPrecision("highest");
    const auto seed = static_cast<std::uint64_t>(job.folder.info().seed);
    torch::manual_seed(seed);
    job.model = makeModel(model);
    if (job.options.train.init == "may-2024") initRelationsAsMay2024(*job.model);
    if (job.leads() && isFresh(job)) {
        if (job.options.pretraining())
            initFrom(job.folder.path() + "/before", job.options.initFrom(), *job.model);
        if (job.startsFromCheckpoint()) {
            noteOtherStart(job);
            if (const auto said = initFromCheckpoint(job.options, job.data.train->info().classNames,
                                                     job.folder.path(), *job.model);
                !said.empty())
                job.note(Note::Level::Warning, said);
        }
    }
    if (job.leads()) job.form = readFamilyForm(job.folder.path(), model);
    job.model->to(job.device);
    job.model->checkpointsActivations = job.options.train.activation_checkpointing;
    job.optimizer = std::make_unique<Optimizer>(
        *job.model, job.options.train,
        job.options.train.sharded_moments && job.ranks ? job.ranks : nullptr);
    if (job.leads()) takeFromFolder(job, edits);
    shareState(job);
}

}  // namespace relascope::core
