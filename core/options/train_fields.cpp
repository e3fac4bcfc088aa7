// SPDX-License-Identifier: GPL-3.0-or-later
// The field table of TrainOptions, and the check of its values.
#include "types/train_options.h"

#include "options/device_list.h"

namespace relascope {

std::vector<FieldProblem> TrainOptions::problems() const {
    std::vector<FieldProblem> found;
    if (seeds.empty()) found.push_back({"seeds", "needs at least one seed"});
    if (schedule == "cosine" && min_learning_rate > learning_rate)
        found.push_back({"min_learning_rate", "is above train.learning_rate"});
    std::vector<std::string> devices;
    try {
        devices = core::deviceList(device);
    } catch (const OptionError& error) {
        found.push_back({"device", error.message()});
    }
    if (precision == "bfloat16" && !devices.empty() && devices[0] == "cpu")
        found.push_back(
            {"precision", "bfloat16 autocast needs a CUDA device; choose float32 on the CPU"});
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
               "Adam, or AdamW with decoupled weight decay.", {"adam", "adamw"}),
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
        choice(&O::precision, "precision", "Precision",
               "bfloat16 runs matrix products on a CUDA device with autocast.",
               {"float32", "bfloat16"}),
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

}  // namespace relascope
