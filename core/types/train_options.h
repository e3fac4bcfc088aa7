// SPDX-License-Identifier: GPL-3.0-or-later
// The options of the training of a run.
#pragma once

#include <string>
#include <vector>

#include "types/error.h"
#include "types/field.h"
#include "types/metric.h"

namespace relascope {

/// Stop when the validation metric no longer improves.
struct EarlyStopping {
    std::string metric = "none";  // none | loss | accuracy | train_loss
    std::string mode = "auto";    // auto | min | max
    std::int64_t patience = 10;   // evaluations without improvement
    double min_delta = 0.0;
    std::int64_t from_epoch = 0;
    bool restore_best = false;  // end with the best weights instead of the last

    bool enabled() const { return metric != "none"; }
    bool maximize() const { return mode == "max" || (mode == "auto" && !lowerIsBetter(metric)); }
    bool operator==(const EarlyStopping&) const = default;
};

struct TrainOptions {
    std::int64_t epochs = 50;
    std::int64_t steps = 0;  // total optimizer steps; 0: by the epochs
    std::int64_t batch_size = 512;
    std::string optimizer = "adam";
    double learning_rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.99;
    double eps = 1e-8;
    double momentum = 0.95;               // Muon's momentum
    double ema_decay = 0.0;               // decay of the average of the weights; 0: no average
    double weight_decay = 0.0;            // adam: coupled L2; adamw and muon: decoupled
    std::string weight_decay_on = "all";  // or "matrices": parameters of two or more dimensions
    std::int64_t tokens_per_step = 0;     // 0: one batch; else batches add up to this many tokens
    bool activation_checkpointing = false;
    bool sharded_moments = false;  // each of several processes keeps its part of Adam's moments
    std::string schedule = "constant";
    std::int64_t warmup_steps = 0;
    double min_learning_rate = 0.0;
    double clip_norm = 0.0;             // 0: no clipping
    std::int64_t evaluate_every = 0;    // steps; 0: once an epoch
    std::int64_t capture_every = 0;     // steps; 0: at growing intervals
    std::int64_t capture_samples = 4;   // probe inputs captured during training
    std::int64_t checkpoint_every = 0;  // steps; 0: every epoch, at most once in ten seconds
    std::int64_t health_every = 20;     // steps between the measurements of each layer; 0: none
    std::int64_t keep_mib = 256;        // disk budget of the weights kept along training; 0: none
    std::vector<std::int64_t> seeds = {0};
    std::int64_t decode_examples = 256;  // validation sequences for free-running decoding; 0 = none
    std::string init = "package";        // W_r of relational heads: package | may-2024
    std::string init_from;   // a checkpoint whose model is trained on; empty: a new model
    std::string pretrain;    // pretraining stages: "key=value key=value | key=value"
    std::string start_from;  // weights from each stage: "all", or "name name>other ... | ..."
    std::string device = "auto";
    std::string precision = "float32";
    EarlyStopping early_stopping;

    std::vector<FieldProblem> problems() const;
    /// Throws OptionError ("train.FIELD: ...") with the first problem.
    void check() const {
        const auto found = problems();
        if (!found.empty()) throw OptionError("train." + found[0].field, found[0].message);
    }

    bool operator==(const TrainOptions&) const = default;

    static const FieldTable<TrainOptions>& fieldTable();
};

}  // namespace relascope
