// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of a whole run: its model's, its training's and its data's in one table.
#include <algorithm>

#include "options/device_list.h"
#include "options/step_share.h"
#include "types/data_kind.h"
#include "types/error.h"
#include "types/generate_options.h"
#include "types/run_options.h"
#include "types/suggest.h"
#include "types/train_options.h"

namespace relascope {
namespace {

template <class Part>
void add(FieldTable<RunOptions>& all, const char* group, Part RunOptions::*part) {
    for (const auto& inner : Part::fieldTable()) {
        Field<RunOptions> field;
        field.spec = inner.spec;
        field.spec.name = std::string(group) + "." + inner.spec.name;
        field.get = [inner, part](const RunOptions& o) { return inner.get(o.*part); };
        field.set = [inner, part](RunOptions& o, const FieldValue& v) { inner.set(o.*part, v); };
        field.applies = [inner, part](const RunOptions& o) { return inner.applies(o.*part); };
        field.present = [inner, part](const RunOptions& o) { return inner.present(o.*part); };
        if (inner.choicesFor)
            field.choicesFor = [inner, part](const RunOptions& o) {
                return inner.choicesFor(o.*part);
            };
        if (inner.automatic)
            field.automatic = [inner, part](const RunOptions& o) {
                return inner.automatic(o.*part);
            };
        all.push_back(std::move(field));
    }
}

}  // namespace

const FieldTable<RunOptions>& RunOptions::fieldTable() {
    static const FieldTable<RunOptions> table = [] {
        FieldTable<RunOptions> all;
        add(all, "model", &RunOptions::model);
        add(all, "train", &RunOptions::train);
        add(all, "data", &RunOptions::data);
        for (auto& field : all)  // the training itself does not know its data
            if (field.spec.name == "train.tokens_per_step")
                field.applies = [](const RunOptions& o) {
                    const auto* kind = findDataKind(o.data.kind);
                    return o.train.tokens_per_step > 0 ||
                           (kind && kind->input == InputKind::Tokens);
                };
        return all;
    }();
    return table;
}

std::vector<std::string> RunOptions::keys() {
    std::vector<std::string> names;
    for (const auto& field : fieldTable()) names.push_back(field.spec.name);
    return names;
}

const Field<RunOptions>& RunOptions::field(const std::string& key) {
    for (const auto& candidate : fieldTable())
        if (candidate.spec.name == key) return candidate;
    const auto known = keys();
    // A name without its group: "layerz" is near to model.n_layers, and not to data.dim.
    if (key.find('.') == std::string::npos) {
        std::vector<std::string> names;
        for (const auto& one : known) names.push_back(one.substr(one.find('.') + 1));
        for (const auto& near : nearestNames(key, names, 1))
            for (const auto& one : known)
                if (one.ends_with("." + near))
                    throw OptionError(key,
                                      "unknown option '" + key + "'; did you mean '" + one + "'?");
    }
    // The nearest alone: there are too many to list.
    if (nearestNames(key, known).empty())
        throw OptionError(key, "unknown option '" + key + "'; the nearest is '" +
                                   rankedNames(key, known).front().second + "'");
    throw OptionError(key, unknownName("option", key, known));
}

std::vector<FieldProblem> RunOptions::problems() const {
    std::vector<FieldProblem> all;
    if (!train.init_from.empty() && data.tokenizer.empty() && findDataKind(data.kind) &&
        data.isText())
        all.push_back({"data.tokenizer",
                       train.init_from + " has no tokenizer that opens; give the tokenizer.json "
                                         "of its model"});
    for (const auto& p : model.problems()) all.push_back({"model." + p.field, p.message});
    for (const auto& p : data.problems()) all.push_back({"data." + p.field, p.message});
    for (const auto& p : train.problems()) all.push_back({"train." + p.field, p.message});
    const auto* kind = findDataKind(data.kind);
    if (kind && !kind->trains) {
        all.push_back({"data.kind", data.kind +
                                        " are data to measure models on, not to train on: use "
                                        "eval --pairs"});
    } else if (kind && kind->input != model.input()) {
        static const char* const words[] = {"images", "text", "pairs of sequences",
                                            "sets of objects"};
        all.push_back(
            {"data.kind", data.kind + " data are " + words[static_cast<std::size_t>(kind->input)] +
                              ", but model.architecture " + model.architecture() + " expects " +
                              words[static_cast<std::size_t>(model.input())]});
    } else if (kind && kind->input == InputKind::Tokens && data.context > model.tokens()) {
        all.push_back({"data.context", std::to_string(data.context) +
                                           " tokens exceed model.max_block_size " +
                                           std::to_string(model.tokens())});
    }
    if (kind && all.empty())  // the next check computes with these values
        all = core::rankProblems(*this, core::ranksOf(*this).count);
    if (!train.pretrain.empty() && train.start_from.empty())
        all.push_back(
            {"train.start_from",
             "must list the weights to take from the pretraining stage; give all, or names"});
    if (!train.init_from.empty() && !train.pretrain.empty())
        all.push_back({"train.init_from",
                       "cannot be used with train.pretrain, which has weights as well; remove one "
                       "of the two"});
    return all;
}

void RunOptions::check() const {
    const auto found = problems();
    if (!found.empty()) throw OptionError(found[0].field, found[0].message);
}

std::vector<FieldState> RunOptions::states(const RunOptions& presetValues) const {
    // If the architecture is not the preset's, common fields are compared with the preset and the
    // others with the defaults.
    RunOptions reference = presetValues;
    if (reference.model.architecture() != model.architecture())
        reference.model.setArchitecture(model.architecture());
    std::vector<FieldState> all;
    for (const auto& f : fieldTable()) {
        const bool itself = f.spec.name == "model.architecture";
        all.push_back({f.spec.name, f.spec, f.get(*this), f.get(itself ? presetValues : reference),
                       f.applies(*this)});
        if (f.choicesFor) all.back().spec.choices = f.choicesFor(*this);
        if (f.automatic) all.back().automatic = f.automatic(*this);
    }
    return all;
}

namespace {

// The field table of DataOptions: the common fields, and the own fields of each kind of data.

using O = DataOptions;

// A field that applies to the kinds of data that use it.
OwnField common(int order, Field<O> field) {
    field.applies = [name = field.spec.name](const O& o) {
        const auto* kind = findDataKind(o.kind);
        return kind && kind->uses(name, o);
    };
    return {order, std::move(field)};
}

// Positions in the form; the own fields of the kinds are placed between them.
std::vector<OwnField> commonFields() {
    using namespace fields;
    std::vector<std::string> kinds, trained, tasks;
    for (const auto* kind : dataKinds()) {
        kinds.push_back(kind->name);
        if (kind->trains) trained.push_back(kind->name);
        for (const auto& task : kind->tasks) tasks.push_back(task.name);
    }
    auto task = when<O>(
        [](const O& o) {
            const auto* kind = findDataKind(o.kind);
            if (!kind || kind->tasks.size() < 2) return false;
            const auto* form = o.path.empty() ? nullptr : importFormOf(o);
            return !form || !form->anyTask;
        },
        choice(&O::task, "task", "Task", "Task to learn on these data.", tasks));
    task.choicesFor = [](const O& o) {
        const auto* kind = findDataKind(o.kind);
        return kind ? kind->taskNames() : std::vector<std::string>();
    };
    auto kind = choice(&O::kind, "kind", "Data", "Kind of training data.", kinds);
    kind.choicesFor = [trained](const O&) { return trained; };
    auto preprocessor = advanced(
        when<O>([](const O& o) { return !o.preprocessor.empty(); },
                text(&O::preprocessor, "preprocessor", "Preprocessor",
                     "How images are scaled and cut for the model that a run starts from.")));
    preprocessor.present = preprocessor.applies;
    auto name = when<O>([](const O& o) { return !o.path.empty() || !o.name.empty(); },
                        text(&O::name, "name", "Name",
                             "Name of these data, with which the names of their runs begin; empty: "
                             "that of the experiment."));
    name.present = [](const O& o) { return !o.name.empty(); };
    return {
        {10, advanced(kind)},
        {20, task},
        common(
            30,
            path(text(&O::path, "path", "Files",
                      "Images: a .npz file, or a folder with <task>_<split>.npz, CIFAR or IDX "
                      "files, or one folder per class. Text: a text file, a folder of text files, "
                      "JSON lines or token shards. Mathematics: a folder with the published files. "
                      "Empty: generated data, or those that come with Relascope."))),
        {35, name},
        {60, integer(&O::train_size, "train_size", "Training size",
                     "Number of training examples: images, sets, sequences, or windows of text; 0 "
                     "means all available.",
                     0, 100000000)},
        {70, integer(&O::validation_size, "validation_size", "Validation size",
                     "Number of validation examples; 0 means all that are held out.", 0, 10000000)},
        common(90, integer(&O::test_size, "test_size", "Test size",
                           "Number of examples in each test split; 0 means all available.", 0,
                           10000000)),
        common(110, integer(&O::seed, "seed", "Data seed",
                            "Random seed of the data; independent of the seed of the run.", 0,
                            9007199254740992.0)),
        common(120, boolean(&O::streaming, "streaming", "Streaming",
                            "Generates new images in every epoch; the training size is the length "
                            "of an epoch.")),
        {295, preprocessor},
        common(170, advanced(text(&O::text_field, "text_field", "Field of JSON lines",
                                  "Name of the field with the text; empty means text, story or "
                                  "content. Minimal pairs: names of fields, as "
                                  "sentence_good,sentence_bad."))),
        common(180, integer(&O::objects, "objects", "Objects",
                            "Pairs: number of ordered objects. Select-relate: number of candidate "
                            "objects. Symbol recovery: number of symbols m.",
                            2, 100000)),
        common(190,
               integer(&O::dim, "dim", "Dimension", "Number of features of an object.", 1, 100000)),
    };
}

}  // namespace

const FieldTable<DataOptions>& DataOptions::fieldTable() {
    static const FieldTable<O> table = [] {
        auto all = commonFields();
        for (const auto* kind : dataKinds()) {
            if (!kind->fields) continue;
            for (auto& own : kind->fields()) {
                own.field.applies = [kind, inner = own.field.applies](const O& o) {
                    return o.kind == kind->name && inner(o);
                };
                all.push_back(std::move(own));
            }
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const OwnField& a, const OwnField& b) { return a.order < b.order; });
        FieldTable<O> table;
        for (auto& own : all) table.push_back(std::move(own.field));
        return table;
    }();
    return table;
}

// The field table of TrainOptions, and the check of its values.

std::vector<FieldProblem> TrainOptions::problems() const {
    std::vector<FieldProblem> found;
    if (seeds.empty()) found.push_back({"seeds", "needs at least one seed"});
    if (schedule == "cosine" && min_learning_rate > learning_rate)
        found.push_back({"min_learning_rate", "is above train.learning_rate"});
    try {
        core::deviceList(device);
    } catch (const OptionError& error) {
        found.push_back({"device", error.message()});
    }
    if (sharded_moments && optimizer == "muon")
        found.push_back(
            {"sharded_moments",
             "Muon needs the whole gradient of a matrix; choose adamw, or leave it off"});
    return found;
}

const FieldTable<TrainOptions>& TrainOptions::fieldTable() {
    using O = TrainOptions;
    using E = EarlyStopping;
    using namespace fields;
    const auto stopping = [](const Field<E>& inner) {
        Field<O> field;
        field.spec = inner.spec;
        field.spec.name = "early_stopping." + inner.spec.name;
        field.get = [inner](const O& o) { return inner.get(o.early_stopping); };
        field.set = [inner](O& o, const FieldValue& v) { inner.set(o.early_stopping, v); };
        if (inner.spec.name != "metric")
            field.applies = [](const O& o) { return o.early_stopping.enabled(); };
        return advanced(field);
    };
    static const FieldTable<O> table = {
        live(positive(real(&O::learning_rate, "learning_rate", "Learning rate",
                           "Step size of the optimizer; a new value applies from the next step.",
                           0.0, 1e9))),
        integer(&O::batch_size, "batch_size", "Batch size",
                "Number of examples per optimizer step.", 1, 1048576),
        integer(&O::epochs, "epochs", "Epochs", "Number of passes over the training set.", 1,
                1000000),
        integers(&O::seeds, "seeds", "Seeds",
                 "One run per seed, which determines the initial weights, the order of the "
                 "examples and dropout.",
                 0, 9007199254740992.0),
        choice(&O::optimizer, "optimizer", "Optimizer",
               "Adam, AdamW with decoupled weight decay, or Muon: the matrices of the blocks by "
               "orthogonalized momentum, everything else by AdamW.",
               {"adam", "adamw", "muon"}),
        choice(&O::schedule, "schedule", "Schedule",
               "How the learning rate changes during training.", {"constant", "cosine"}),
        integer(&O::warmup_steps, "warmup_steps", "Warm-up steps",
                "Steps over which the learning rate rises from zero.", 0, 100000000),
        when<O>([](const O& o) { return o.schedule == "cosine"; },
                real(&O::min_learning_rate, "min_learning_rate", "Minimum learning rate",
                     "Learning rate at the end of the cosine.", 0.0, 1e9)),
        real(&O::weight_decay, "weight_decay", "Weight decay", "Coefficient of the weight decay.",
             0.0, 1e3),
        advanced(when<O>(
            [](const O& o) { return o.weight_decay > 0; },
            choice(
                &O::weight_decay_on, "weight_decay_on", "Decayed parameters",
                "All parameters, or only those with two or more dimensions (no norms, no biases).",
                {"all", "matrices"}))),
        automatic(integer(&O::tokens_per_step, "tokens_per_step", "Tokens per step",
                          "Gradients are accumulated until an optimizer step has seen this many "
                          "tokens; 0 means one batch per step.",
                          0, 1e9),
                  [](const O&) { return "one batch"; }),
        advanced(boolean(&O::activation_checkpointing, "activation_checkpointing",
                         "Activation checkpointing",
                         "Stores only the input of each block and recomputes the rest in the "
                         "backward pass: about a third slower, with much less memory.")),
        advanced(when<O>(
            // The number of processes may also come from mpirun or srun.
            [](const O& o) { return o.sharded_moments || core::deviceCount(o.device) > 1; },
            boolean(&O::sharded_moments, "sharded_moments", "Sharded moments",
                    "Each of N processes keeps 1/N of Adam's moments (ZeRO 1): less memory on "
                    "each device, with the same results."))),
        live(automatic(integer(&O::evaluate_every, "evaluate_every", "Evaluate every",
                               "Steps between evaluations; 0 means once per epoch.", 0, 100000000),
                       [](const O&) { return "epoch"; })),
        live(automatic(integer(&O::capture_every, "capture_every", "Capture every",
                               "Steps between captures of the relations; 0 means increasing "
                               "intervals.",
                               0, 100000000),
                       [](const O&) { return "increasing"; })),
        choice(
            &O::precision, "precision", "Precision",
            "bfloat16 rounds the inputs of matrix products and sums in float32, as autocast does: "
            "faster on CUDA devices, and on processors with avx512_bf16 or amx_bf16 (the facts "
            "of the device say how much). auto takes it there, and float32 elsewhere.",
            {"float32", "bfloat16", "auto"}),
        text(&O::device, "device", "Device",
             "auto, cpu, or cuda:0 and so on; a list such as cuda:0,cuda:1 trains one run on "
             "several devices, a process for each."),
        advanced(integer(&O::decode_examples, "decode_examples", "Free-running examples",
                         "Number of validation sequences decoded greedily (free-running) at each "
                         "evaluation; 0 means none.",
                         0, 10000000)),
        advanced(choice(&O::init, "init", "Initial weights",
                        "Of W_r, which maps the relations to a head's output: as the published "
                        "package draws them, or as the code of May 2024 did, which made the "
                        "published curves of Relational Games: uniform within 1 / sqrt(relations).",
                        {"package", "may-2024"})),
        path(text(&O::init_from, "init_from", "Start from",
                  "Checkpoint that training continues from: a folder, a file, a run, or "
                  "hub:ORG/NAME. Its model and tokenizer are taken, and a low learning rate; empty "
                  "means a new model.")),
        advanced(text(&O::pretrain, "pretrain", "Pretraining stage",
                      "Options of a pretraining stage as key=value pairs, which override these "
                      "options; stages are separated by |; empty means none.")),
        advanced(when<O>([](const O& o) { return !o.pretrain.empty(); },
                         text(&O::start_from, "start_from", "Pretrained weights",
                              "Weights to take from the pretraining stage: all, or name prefixes, "
                              "each with >other if the name differs in this model."))),
        advanced(automatic(integer(&O::steps, "steps", "Steps",
                                   "Total optimizer steps; 0 means as many as given by the "
                                   "epochs.",
                                   0, 1000000000),
                           [](const O&) { return "from epochs"; })),
        advanced(real(&O::beta1, "beta1", "Beta 1",
                      "Decay rate of the running mean of the gradients.", 0.0, 0.999999)),
        advanced(real(&O::beta2, "beta2", "Beta 2",
                      "Decay rate of the running mean of the squared gradients.", 0.0, 0.999999)),
        advanced(real(&O::eps, "eps", "Epsilon",
                      "Added to the denominator of the optimizer for numerical stability.", 0.0,
                      1.0)),
        advanced(when<O>(
            [](const O& o) { return o.optimizer == "muon"; },
            real(&O::momentum, "momentum", "Momentum",
                 "Decay rate of the running mean of a matrix's gradients (Muon).", 0.0, 0.999999))),
        advanced(real(&O::ema_decay, "ema_decay", "Average of weights",
                      "Decay rate of an exponential moving average of the weights, such as 0.999: "
                      "what is evaluated, captured and saved is the average; 0 means none.",
                      0.0, 0.9999999)),
        advanced(real(&O::clip_norm, "clip_norm", "Clip norm",
                      "Maximum norm of the gradient; 0 means no clipping.", 0.0, 1e9)),
        advanced(integer(
            &O::capture_samples, "capture_samples", "Captured samples",
            "Number of validation examples whose relations are captured during training.", 0, 64)),
        advanced(automatic(
            integer(&O::checkpoint_every, "checkpoint_every", "Checkpoint every",
                    "Steps between checkpoints; 0 means every epoch, but at most every ten "
                    "seconds and at least every five minutes.",
                    0, 100000000),
            [](const O&) { return "epoch"; })),
        advanced(
            integer(&O::health_every, "health_every", "Measure layers every",
                    "Steps between measurements of the largest relation and attention score, "
                    "the attention entropy and the gradient norm of each layer; 0 means never.",
                    0, 100000000)),
        advanced(integer(&O::keep_mib, "keep_mib", "Weights kept, MiB",
                         "Disk space for weights kept along training, more of them at its start, "
                         "so that any input can be run through the model as it was; 0 means none.",
                         0, 100000000)),
        stopping(choice(
            &E::metric, "metric", "Early stopping metric",
            "Metric monitored for early stopping: of the validation set, or the training loss.",
            {"none", "loss", "accuracy", "train_loss"})),
        stopping(choice(&E::mode, "mode", "Improvement is",
                        "auto: lower for a loss, higher for an accuracy.", {"auto", "min", "max"})),
        stopping(integer(&E::patience, "patience", "Patience",
                         "Number of evaluations without improvement before training stops.", 1,
                         1000000)),
        stopping(real(&E::min_delta, "min_delta", "Minimum improvement",
                      "Smaller changes do not count as an improvement.", 0.0, 1e9)),
        stopping(integer(&E::from_epoch, "from_epoch", "Start epoch",
                         "Training does not stop before this epoch.", 0, 1000000)),
        stopping(boolean(&E::restore_best, "restore_best", "Restore best weights",
                         "Keeps the best weights instead of the last at the end of training.")),
    };
    return table;
}

std::vector<FieldProblem> GenerateOptions::problems() const {
    std::vector<FieldProblem> found;
    const auto refuse = [&](const char* field, const std::string& message) {
        found.push_back({field, message});
    };
    if (tokens < 1 || tokens > 1000000)
        refuse("tokens", std::to_string(tokens) + " is not between 1 and 1000000");
    if (!(temperature >= 0.0 && temperature <= 100.0))
        refuse("temperature", "must be between 0 (greedy decoding) and 100");
    if (top_k < 0) refuse("top-k", "cannot be negative; 0 means all tokens");
    if (!(top_p > 0.0 && top_p <= 1.0)) refuse("top-p", "must be above 0 and at most 1");
    if (alternatives < 0 || alternatives > 1000)
        refuse("alternatives", std::to_string(alternatives) + " is not between 0 and 1000");
    return found;
}

void GenerateOptions::check() const {
    const auto found = problems();
    if (!found.empty()) throw OptionError(found[0].field, found[0].message);
}

}  // namespace relascope
