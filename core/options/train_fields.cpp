// The field table of TrainOptions, and what of them cannot be trained.
#include "types/train_options.h"

namespace relascope {

std::vector<FieldProblem> TrainOptions::problems() const {
    std::vector<FieldProblem> found;
    if (seeds.empty()) found.push_back({"seeds", "needs at least one seed"});
    if (schedule == "cosine" && min_learning_rate > learning_rate)
        found.push_back({"min_learning_rate", "is above the learning rate it should fall from"});
    if (precision == "bfloat16" && device == "cpu")
        found.push_back(
            {"precision", "bfloat16 autocast is for CUDA devices; choose float32 on the CPU"});
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
                           "Step size of the optimizer; a new value holds from the next step.", 0.0,
                           1e9))),
        integer(&O::batch_size, "batch_size", "Batch size", "Examples in one optimizer step.", 1,
                1048576),
        integer(&O::epochs, "epochs", "Epochs", "Passes over the training set.", 1, 1000000),
        integers(&O::seeds, "seeds", "Seeds",
                 "One run for each seed: initial weights, order of the examples and dropout.", 0,
                 9007199254740992.0),
        choice(&O::optimizer, "optimizer", "Optimizer",
               "Adam, or AdamW with decoupled weight decay.", {"adam", "adamw"}),
        choice(&O::schedule, "schedule", "Schedule", "How the learning rate moves along the run.",
               {"constant", "cosine"}),
        integer(&O::warmup_steps, "warmup_steps", "Warm-up steps",
                "Steps over which the learning rate rises from zero.", 0, 100000000),
        when<O>([](const O& o) { return o.schedule == "cosine"; },
                real(&O::min_learning_rate, "min_learning_rate", "Final rate",
                     "Learning rate at the end of the cosine.", 0.0, 1e9)),
        real(&O::weight_decay, "weight_decay", "Weight decay",
             "Pull of every parameter towards zero.", 0.0, 1e3),
        advanced(
            when<O>([](const O& o) { return o.weight_decay > 0; },
                    choice(&O::weight_decay_on, "weight_decay_on", "Decay what",
                           "Every parameter, or those of two or more dimensions alone (no norms, "
                           "no biases).",
                           {"all", "matrices"}))),
        integer(
            &O::tokens_per_step, "tokens_per_step", "Tokens a step",
            "Batches are added up until one optimizer step has seen this many tokens; 0 means one "
            "batch a step.",
            0, 1e9),
        advanced(boolean(
            &O::activation_checkpointing, "activation_checkpointing", "Recompute activations",
            "Keeps only each block's input for the backward pass and computes the rest "
            "again: a third more time for much less memory.")),
        live(integer(&O::evaluate_every, "evaluate_every", "Evaluate every",
                     "Steps between evaluations; 0 means once an epoch.", 0, 100000000)),
        live(integer(&O::capture_every, "capture_every", "Capture every",
                     "Steps between captures of the relations; 0 means growing intervals.", 0,
                     100000000)),
        choice(&O::precision, "precision", "Precision",
               "bfloat16 runs the matrix products of a CUDA device in half width.",
               {"float32", "bfloat16"}),
        text(&O::device, "device", "Device", "auto, cpu, or cuda:0 and so on."),
        advanced(integer(&O::decode_examples, "decode_examples", "Answered freely",
                         "Validation sequences that each evaluation answers without help, element "
                         "by element; 0 means none.",
                         0, 10000000)),
        advanced(choice(&O::init, "init", "Initial weights",
                        "Of W_r, which maps the relations to a head's output: as the published "
                        "package draws them, or as the code of May 2024 did, which made the "
                        "published curves of Relational Games: uniform within 1 / sqrt(relations).",
                        {"package", "may-2024"})),
        advanced(text(&O::pretrain, "pretrain", "Stage before",
                      "Settings of a stage trained before, as key=value words over these options, "
                      "stages apart by |; empty means none.")),
        advanced(when<O>([](const O& o) { return !o.pretrain.empty(); },
                         text(&O::start_from, "start_from", "Weights handed on",
                              "all, or the beginnings of names, each with >other where it is "
                              "called otherwise here."))),
        advanced(integer(&O::steps, "steps", "Steps",
                         "Total optimizer steps; 0 means as many as the epochs say.", 0,
                         1000000000)),
        advanced(real(&O::beta1, "beta1", "Beta 1", "Decay of the mean of the gradients.", 0.0,
                      0.999999)),
        advanced(real(&O::beta2, "beta2", "Beta 2", "Decay of the mean of their squares.", 0.0,
                      0.999999)),
        advanced(real(&O::eps, "eps", "Epsilon", "Keeps the optimizer from dividing by zero.", 0.0,
                      1.0)),
        advanced(real(&O::clip_norm, "clip_norm", "Clip norm",
                      "Largest norm of the gradient; 0 means no clipping.", 0.0, 1e9)),
        advanced(integer(&O::capture_samples, "capture_samples", "Captured samples",
                         "Validation examples whose relations are kept along the run.", 0, 64)),
        advanced(
            integer(&O::checkpoint_every, "checkpoint_every", "Checkpoint every",
                    "Steps between checkpoints; 0 means each epoch, at most once in ten seconds "
                    "and at least once in five minutes.",
                    0, 100000000)),
        stopping(choice(&E::metric, "metric", "Stop early on",
                        "Metric that must go on improving: of the validation set, or the training "
                        "loss.",
                        {"none", "loss", "accuracy", "train_loss"})),
        stopping(choice(&E::mode, "mode", "Better is", "auto: a lower loss, a higher accuracy.",
                        {"auto", "min", "max"})),
        stopping(integer(&E::patience, "patience", "Patience",
                         "Evaluations without improvement before stopping.", 1, 1000000)),
        stopping(real(&E::min_delta, "min_delta", "Smallest gain",
                      "Improvements below this do not count.", 0.0, 1e9)),
        stopping(integer(&E::from_epoch, "from_epoch", "From epoch",
                         "No stopping before this epoch.", 0, 1000000)),
        stopping(boolean(&E::restore_best, "restore_best", "Restore best",
                         "Ends with the best weights instead of the last.")),
    };
    return table;
}

}  // namespace relascope
