// SPDX-License-Identifier: GPL-3.0-or-later
// The effects of all parts of a model on its loss, to first order.
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "analysis/frozen_parameters.h"
#include "analysis/patch/patching.h"
#include "analysis/scan/effect_estimates.h"
#include "evaluate/scoring.h"
#include "interventions/active_edits.h"
#include "model/architecture.h"
#include "model/blocks/recording.h"
#include "model/finite_outputs.h"

namespace relascope::core {
namespace {

/// The sum over everything that a mean is taken over: the batch, of texts also positions and, of
/// cells, those with the same j - i. Axes stay, with size 1 or, for offsets, 2 n - 1 along j.
torch::Tensor summed(const torch::Tensor& values, const PointInfo& point, bool text) {
    auto sum = values.to(torch::kDouble).sum(point.dimension("batch"), true);
    if (!text) return sum;
    if (const int position = point.dimension("position"); position >= 0)
        return sum.sum(position, true);
    const int i = point.dimension("i"), j = point.dimension("j");
    if (i < 0 || j < 0) return sum;
    const auto n = sum.size(i), m = sum.size(j);
    const auto offsets = (torch::arange(m, sum.device()).unsqueeze(0) -
                          torch::arange(n, sum.device()).unsqueeze(1) + (n - 1))
                             .flatten();  // of cell (i, j)
    const auto cells = sum.movedim({i, j}, {-2, -1});
    auto sizes = cells.sizes().vec();
    sizes.pop_back(), sizes.back() = n + m - 1;
    const auto byOffset =
        torch::zeros(sizes, cells.options()).index_add_(-1, offsets, cells.flatten(-2));
    return byOffset.unsqueeze(-2).movedim({-2, -1}, {i, j});
}

/// The sum over examples and positions of the absolute effect of each head or relation, towards the
/// mean of this batch. Axes stay, with size 1.
torch::Tensor sizes(const torch::Tensor& value, const torch::Tensor& gradient,
                    const PointInfo& point, bool text) {
    const int batch = point.dimension("batch"), position = point.dimension("position");
    auto mean = value.mean(batch, true);
    if (text && position >= 0) mean = mean.mean(position, true);
    auto effect = (mean - value) * gradient;
    for (const char* axis : {"dim", "j", "slot"})
        if (const int d = point.dimension(axis); d >= 0) effect = effect.sum(d, true);
    auto size = effect.to(torch::kDouble).abs().sum(batch, true);
    for (const char* axis : {"position", "i"})
        if (const int d = point.dimension(axis); d >= 0) size = size.sum(d, true);
    return size;
}

/// The gradient of the sum of the losses by the answers. Of texts in blocks of positions: answers
/// over a vocabulary are large, and a loss needs them three times.
torch::Tensor gradientOfLoss(const torch::Tensor& answers, const Batch& batch,
                             std::int64_t ignore) {
    constexpr std::int64_t block = 64;
    const auto of = [ignore](const torch::Tensor& part, const Batch& targets) {
        const auto leaf = part.detach().requires_grad_();
        const auto loss = lossOf(leaf, targets, ignore);
        const auto count = static_cast<double>(answersIn(targets, ignore));
        return count > 0 ? torch::autograd::grad({loss * count}, {leaf})[0]
                         : torch::zeros_like(leaf);
    };
    if (batch.kind != TargetKind::Tokens || batch.mixed.defined()) return of(answers, batch);
    auto gradient = torch::empty_like(answers);
    auto part = batch;
    for (std::int64_t first = 0; first < answers.size(1); first += block) {
        const auto count = std::min(block, answers.size(1) - first);
        part.targets = batch.targets.narrow(1, first, count);
        gradient.narrow(1, first, count).detach().copy_(of(answers.narrow(1, first, count), part));
    }
    return gradient;
}

class Estimates {
public:
    Estimates(ModelImpl& model, const ModelOptions& options, DatasetPtr data, EditList edits,
              EstimateOptions what)
        : m_model(model),
          m_options(options),
          m_data(std::move(data)),
          m_edits(std::move(edits)),
          m_what(std::move(what)) {
        for (const auto& part : m_what.parts) m_names.insert(part.edit.point);
    }

    bool isOf(const ModelImpl& model, const DatasetPtr& data, const EditList& edits,
              const EstimateOptions& what) const {
        return &m_model == &model && m_data == data && m_edits == edits && m_what == what;
    }

    /// Measures the next examples; false: there are none.
    bool next(ActiveEdits* session) {
        const auto all = static_cast<std::int64_t>(m_what.examples.size());
        if (m_done >= all) return false;
        const auto count = std::min(m_what.batchSize, all - m_done);
        const std::vector<std::int64_t> indices(m_what.examples.begin() + m_done,
                                                m_what.examples.begin() + m_done + count);
        const auto device = m_model.device();
        auto batch = makeBatch(*m_data, indices.data(), count);
        const auto ignore = m_options.ignoredTarget();
        requireLabels(batch, m_options.outputs(), ignore);
        const auto input = core::inputOf(batch, device);
        if (session) session->prepareBatch(input, m_data, indices);
        batch.targets = batch.targets.to(device);
        if (batch.mixed.defined()) batch.mixed = batch.mixed.to(device);
        const auto targets = static_cast<double>(answersIn(batch, ignore));
        GradientReader reader({m_names.begin(), m_names.end()});
        torch::Tensor answers;
        const torch::AutoGradMode gradients(true);
        {
            std::optional<InterventionScope> edited;
            if (session) edited.emplace(&session->editor());
            const InterventionScope reading(&reader);
            const RecordingScope unrecorded(nullptr);
            answers = answersOf(m_model, input);
        }
        if (!answers.requires_grad())  // of a served model
            throw OptionError("path",
                              "gradients do not flow in this model; `ablate` measures "
                              "without them");
        const auto gradient = gradientOfLoss(answers, batch, ignore);
        add(reader, answers, gradient);
        m_targets += targets;
        m_done += count;
        return true;
    }

    EffectEstimates estimates() const {
        const torch::NoGradGuard noGrad;
        EffectEstimates result;
        result.examples = m_done;
        std::map<std::string, torch::Tensor> effects;
        for (const auto& [name, sums] : m_sums)
            effects[name] =
                (sums.value / sums.count * sums.gradient - sums.product) / std::max(1.0, m_targets);
        for (const auto& part : m_what.parts) {
            const auto effect = effects.find(part.edit.point);
            if (effect == effects.end()) {
                result.change.push_back(0.0), result.size.push_back(0.0);
                continue;
            }
            const auto& sums = m_sums.at(part.edit.point);
            auto selected = effect->second, sizes = sums.size;
            for (const auto& [axis, places] : part.edit.selection) {
                const int d = sums.point.dimension(axis);
                selected = selected.narrow(d, places.places.front(), 1);
                sizes = sizes.narrow(d, places.places.front(), 1);
            }
            result.change.push_back(selected.sum().item<double>());
            result.size.push_back(sizes.sum().item<double>() / std::max(1.0, m_targets));
        }
        return result;
    }
    double fraction() const {
        return static_cast<double>(m_done) /
               std::max(1.0, static_cast<double>(m_what.examples.size()));
    }

private:
    struct Sums {
        PointInfo point;
        torch::Tensor value, count, gradient, product, size;
    };

    void add(const GradientReader& reader, const torch::Tensor& answers,
             const torch::Tensor& gradient) {
        std::vector<const PointInfo*> points;
        std::vector<torch::Tensor> tensors;
        for (const auto& point : reader.points())
            if (const auto at = reader.tensors().find(point.name); at != reader.tensors().end()) {
                points.push_back(&point);
                tensors.push_back(at->second);
            }
        const auto found = torch::autograd::grad({answers}, tensors, {gradient}, false, false,
                                                 /*allow_unused=*/true);
        const torch::NoGradGuard noGrad;
        const bool text = m_options.input() == InputKind::Tokens;
        for (std::size_t k = 0; k < points.size(); ++k) {
            const auto& point = *points[k];
            if (!found[k].defined()) continue;  // the answers do not depend on it
            // Closed cells of scores are infinite, and of no effect.
            const auto value = tensors[k].detach().nan_to_num(0.0, 0.0, 0.0);
            auto& sums = m_sums[point.name];
            const bool first = !sums.value.defined();
            sums.point = point;
            const auto enter = [first](torch::Tensor& to, const torch::Tensor& more) {
                to = first ? more : to + more;
            };
            enter(sums.value, summed(value, point, text));
            enter(sums.count, summed(torch::ones_like(value), point, text));
            enter(sums.gradient, summed(found[k], point, text));
            enter(sums.product, summed(value * found[k], point, text));
            enter(sums.size, sizes(value, found[k], point, text));
        }
    }

    ModelImpl& m_model;
    const ModelOptions& m_options;
    DatasetPtr m_data;
    EditList m_edits;
    EstimateOptions m_what;
    std::set<std::string> m_names;
    std::map<std::string, Sums> m_sums;
    double m_targets = 0.0;
    std::int64_t m_done = 0;
};

}  // namespace

EffectEstimates estimateEffects(ModelImpl& model, const ModelOptions& options,
                                const DatasetPtr& data, const Interventions& interventions,
                                const EstimateOptions& what, const std::stop_token& stop,
                                const ProgressCallback& progress,
                                const std::function<void(const EffectEstimates&)>& partial,
                                std::any* kept) {
    std::any own;
    auto& state = kept ? *kept : own;
    const auto* before = std::any_cast<std::shared_ptr<Estimates>>(&state);
    if (!before || !(*before)->isOf(model, data, interventions.edits, what))
        state = std::make_shared<Estimates>(model, options, data, interventions.edits, what);
    const auto estimates = std::any_cast<std::shared_ptr<Estimates>>(state);
    const EvaluationMode evaluation(model);
    const FrozenParameters frozen(model);
    std::unique_ptr<ActiveEdits> session;
    if (interventions.edits.anyEnabled())
        session =
            std::make_unique<ActiveEdits>(model, options, interventions.edits, interventions.data);
    while (estimates->next(session.get())) {
        if (partial) partial(estimates->estimates());
        if (stop.stop_requested() || (progress && !progress(estimates->fraction())))
            throw Cancelled();
    }
    return estimates->estimates();
}

EffectEstimates estimateEffects(OpenedModel& opened, const DatasetPtr& data,
                                const Interventions& interventions, const EstimateOptions& what,
                                const std::stop_token& stop, const ProgressCallback& progress,
                                const std::function<void(const EffectEstimates&)>& partial,
                                std::any* kept) {
    EffectEstimates estimates;
    opened.withData(data, interventions, what.batchSize,
                    [&](ModelImpl& model, const Interventions& all) {
                        estimates = estimateEffects(model, opened.options(), data, all, what, stop,
                                                    progress, partial, kept);
                    });
    return estimates;
}

}  // namespace relascope::core
