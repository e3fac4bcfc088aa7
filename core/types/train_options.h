// How a run is trained.
#pragma once

#include <string>
#include <vector>

#include "types/error.h"
#include "types/field.h"

namespace relascope {

/// Stop when the validation metric no longer improves.
struct EarlyStopping {
    std::string metric = "none";  // none | loss | accuracy
    std::string mode = "auto";    // auto | min | max
    std::int64_t patience = 10;   // evaluations without improvement
    double min_delta = 0.0;
    std::int64_t from_epoch = 0;
    bool restore_best = false;  // end with the best weights instead of the last

    bool enabled() const { return metric != "none"; }
    bool maximize() const { return mode == "max" || (mode == "auto" && metric != "loss"); }
    bool operator==(const EarlyStopping&) const = default;
};

struct TrainOptions {
    std::int64_t epochs = 50;
    std::int64_t steps = 0;  // total optimizer steps; 0: as the epochs say
    std::int64_t batch_size = 512;
    std::string optimizer = "adam";
    double learning_rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.99;
    double eps = 1e-8;
    double weight_decay = 0.0;  // adam: coupled L2; adamw: decoupled
    std::string schedule = "constant";
    std::int64_t warmup_steps = 0;
    double min_learning_rate = 0.0;
    double clip_norm = 0.0;             // 0: no clipping
    std::int64_t evaluate_every = 0;    // steps; 0: once an epoch
    std::int64_t capture_every = 0;     // steps; 0: at growing intervals
    std::int64_t capture_samples = 4;   // probe inputs kept along the run
    std::int64_t checkpoint_every = 0;  // steps; 0: every epoch, at most once in ten seconds
    std::vector<std::int64_t> seeds = {0};
    std::string device = "auto";
    std::string precision = "float32";
    EarlyStopping early_stopping;

    std::vector<FieldProblem> problems() const {
        std::vector<FieldProblem> found;
        if (seeds.empty()) found.push_back({"seeds", "needs at least one seed"});
        if (schedule == "cosine" && min_learning_rate > learning_rate)
            found.push_back(
                {"min_learning_rate", "is above the learning rate it should fall from"});
        if (precision == "bfloat16" && device == "cpu")
            found.push_back(
                {"precision", "bfloat16 autocast is for CUDA devices; choose float32 on the CPU"});
        return found;
    }
    /// Throws OptionError ("train.FIELD: ...") with the first problem.
    void check() const {
        const auto found = problems();
        if (!found.empty()) throw OptionError("train." + found[0].field, found[0].message);
    }

    bool operator==(const TrainOptions&) const = default;

    static const FieldTable<TrainOptions>& fieldTable() {
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
            live(real(&O::learning_rate, "learning_rate", "Learning rate",
                      "Step size of the optimizer; a new value holds from the next step.", 0.0,
                      1e9)),
            integer(&O::batch_size, "batch_size", "Batch size", "Examples in one optimizer step.",
                    1, 1048576),
            integer(&O::epochs, "epochs", "Epochs", "Passes over the training set.", 1, 1000000),
            integers(&O::seeds, "seeds", "Seeds",
                     "One run for each seed: initial weights, order of the examples and dropout.",
                     0, 9007199254740992.0),
            choice(&O::optimizer, "optimizer", "Optimizer",
                   "Adam, or AdamW with decoupled weight decay.", {"adam", "adamw"}),
            choice(&O::schedule, "schedule", "Schedule",
                   "How the learning rate moves along the run.", {"constant", "cosine"}),
            integer(&O::warmup_steps, "warmup_steps", "Warm-up steps",
                    "Steps over which the learning rate rises from zero.", 0, 100000000),
            when<O>([](const O& o) { return o.schedule == "cosine"; },
                    real(&O::min_learning_rate, "min_learning_rate", "Final rate",
                         "Learning rate at the end of the cosine.", 0.0, 1e9)),
            real(&O::weight_decay, "weight_decay", "Weight decay",
                 "Pull of every parameter towards zero.", 0.0, 1e3),
            live(integer(&O::evaluate_every, "evaluate_every", "Evaluate every",
                         "Steps between evaluations; 0 means once an epoch.", 0, 100000000)),
            live(integer(&O::capture_every, "capture_every", "Capture every",
                         "Steps between captures of the relations; 0 means growing intervals.", 0,
                         100000000)),
            choice(&O::precision, "precision", "Precision",
                   "bfloat16 runs the matrix products of a CUDA device in half width.",
                   {"float32", "bfloat16"}),
            text(&O::device, "device", "Device", "auto, cpu, or cuda:0 and so on."),
            advanced(integer(&O::steps, "steps", "Steps",
                             "Total optimizer steps; 0 means as many as the epochs say.", 0,
                             1000000000)),
            advanced(real(&O::beta1, "beta1", "Beta 1", "Decay of the mean of the gradients.", 0.0,
                          0.999999)),
            advanced(real(&O::beta2, "beta2", "Beta 2", "Decay of the mean of their squares.", 0.0,
                          0.999999)),
            advanced(real(&O::eps, "eps", "Epsilon", "Keeps the optimizer from dividing by zero.",
                          0.0, 1.0)),
            advanced(real(&O::clip_norm, "clip_norm", "Clip norm",
                          "Largest norm of the gradient; 0 means no clipping.", 0.0, 1e9)),
            advanced(integer(&O::capture_samples, "capture_samples", "Captured samples",
                             "Validation images whose relations are kept along the run.", 0, 64)),
            advanced(integer(
                &O::checkpoint_every, "checkpoint_every", "Checkpoint every",
                "Steps between checkpoints; 0 means each epoch, at most once in ten seconds.", 0,
                100000000)),
            stopping(choice(&E::metric, "metric", "Stop early on",
                            "Validation metric that must go on improving.",
                            {"none", "loss", "accuracy"})),
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
};

}  // namespace relascope
