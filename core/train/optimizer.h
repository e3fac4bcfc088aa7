// SPDX-License-Identifier: GPL-3.0-or-later
// Adam and AdamW on LibTorch's fused kernels, Muon, the average of weights, and the learning-rate
// schedules.
#pragma once

#include <torch/types.h>

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/model.h"
#include "ranks/rank_group.h"
#include "types/train_options.h"

namespace relascope::core {

/// Adam (Kingma and Ba 2015; weight decay coupled, as L2) or AdamW (Loshchilov and Hutter 2019),
/// one kernel for all parameters; or Muon (muon.h) for the matrices of the model's blocks, which
/// are the parameters of two dimensions in a numbered module, with AdamW for the others.
///
/// With `ema_decay` d the model holds the average of the weights wherever this class does not
/// compute: average = d' average + (1 - d') weights after each step, d' = min(d, (1 + n) / (10 +
/// n)) after n steps, so that the first weights are soon forgotten. The weights that are trained
/// are in the model while a TrainedWeights lives.
///
/// With `sharing` each rank keeps a part of the moments, updates the weights of that part, and gets
/// the other weights from the other ranks (ZeRO 1, Rajbhandari et al. 2020, section 5.1): a rank
/// has one share of every piece of 25 MiB of parameters. step(double), state() and shareState() are
/// collective then.
class Optimizer {
public:
    Optimizer(ModelImpl& model, const TrainOptions& options, RankGroup* sharing = nullptr);

    /// The parameters, in the order of the model.
    const std::vector<torch::Tensor>& parameters() const { return m_parameters; }
    void zeroGradients();

    /// Puts the trained weights in place of their average, if there is one, for gradients and a
    /// step; the average follows when it ends. Copies, so that recorded work stays valid.
    class TrainedWeights {
    public:
        explicit TrainedWeights(Optimizer& optimizer) : m_optimizer(optimizer) {
            m_optimizer.exchangeWeights();
        }
        ~TrainedWeights();
        TrainedWeights(const TrainedWeights&) = delete;
        TrainedWeights& operator=(const TrainedWeights&) = delete;

    private:
        Optimizer& m_optimizer;
    };
    /// The norm of all gradients together, before clipping to `clip_norm`.
    double clipGradNorm();
    void step(double learningRate);

    /// A step that does not wait for the host: clips by the norm of all gradients, and changes
    /// nothing where `failed` is 1. The arguments are 0-dimensional floats on the device, which is
    /// not the CPU.
    torch::Tensor gradientNorm() const;
    void step(const torch::Tensor& learningRate, const torch::Tensor& norm,
              const torch::Tensor& failed);

    /// The state for the checkpoint: "exp_avg/NAME" and "exp_avg_sq/NAME", or "momentum/NAME" of
    /// Muon, "step/NAME", and "trained/NAME" beside an average. Where ranks divide the moments,
    /// rank 0 gets complete tensors on the CPU, and the others get nothing.
    std::vector<std::pair<std::string, torch::Tensor>> state() const;
    /// Takes over a stored state. Throws Error naming a tensor that is missing or has another
    /// shape; nothing is changed then.
    void load(const std::vector<std::pair<std::string, torch::Tensor>>& state);
    /// Gives the state of rank 0, after load(), to all ranks. Collective.
    void shareState(RankGroup& ranks);

private:
    /// Moments of the numbers [begin, end) of a parameter: of all its numbers, in its shape, or of
    /// the numbers that this rank updates, in one dimension.
    struct Part {
        std::size_t parameter;
        std::int64_t begin, end;
        torch::Tensor mean, square;  ///< Muon has no square
    };
    /// The parameters that have a gradient, with their gradients and moments, in order.
    struct Group {
        std::vector<torch::Tensor> parameters, gradients, means, squares, steps;
        std::vector<torch::Tensor> counted;  ///< steps, each once, also of weights of other ranks
        double decay = 0.0;
        bool byMuon = false;
    };
    std::vector<Group> groups() const;
    std::vector<torch::Tensor> gradients() const;
    /// One step at that rate; does nothing where `failed`, which may be undefined, is 1.
    void apply(const std::variant<double, torch::Tensor>& learningRate,
               const torch::Tensor& failed);
    void average(const torch::Tensor& failed);
    /// The name of the running mean of a parameter's gradients in state().
    std::string momentName(std::size_t parameter) const;
    void exchangeWeights();
    void makeParts();
    torch::Tensor ofPart(const torch::Tensor& whole, const Part& part) const;
    /// A range of the numbers of one parameter, within a piece.
    struct Span {
        std::size_t parameter;
        std::int64_t begin, end;
    };
    std::vector<Span> spans(std::int64_t begin, std::int64_t end) const;
    struct Piece {
        std::int64_t begin, end, share;  ///< counted over the numbers of all parameters
    };
    std::vector<Piece> pieces() const;
    std::vector<Span> ownSpans(const Piece& piece) const;
    /// Gathers a piece of tensors of the shapes of the parameters. `own` gives the part that this
    /// rank has of a span, `take` gets those of all ranks; collective.
    void gatherPieces(const std::function<torch::Tensor(const Span&)>& own,
                      const std::function<void(const Span&, const torch::Tensor&)>& take) const;

    std::vector<std::string> m_names;
    std::vector<torch::Tensor> m_parameters, m_steps;
    std::vector<bool> m_byMuon;  ///< for each parameter
    /// The weights that are not in the model: the trained ones, or within TrainedWeights their
    /// average. Empty without an average.
    std::vector<torch::Tensor> m_others;
    std::vector<Part> m_parts;
    RankGroup* m_sharing = nullptr;
    std::vector<std::pair<std::string, torch::Tensor>> m_stored;  ///< until shareState()
    TrainOptions m_options;
};

/// Learning rate of optimizer step `step` (the first is 0) of `total`: linear warm-up to the base
/// rate, then constant, or a cosine down to the final rate.
double scheduledRate(const TrainOptions& options, double baseRate, std::int64_t step,
                     std::int64_t total);

}  // namespace relascope::core
