// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/layer_health.h"

#include <ATen/ops/_foreach_norm.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/architecture.h"
#include "model/blocks/layers.h"
#include "model/blocks/recording.h"
#include "model/hooks/hooks.h"
#include "probe/layers.h"
#include "probe/probe.h"
#include "train/out_of_memory.h"
#include "train/train_job.h"
#include "types/metric.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kMostRows = 128;
constexpr std::int64_t kMostCells = std::int64_t{1} << 22;  // cells of the maps computed together
constexpr std::int64_t kMostMeasurements = 2000;            // measurements of a run

/// Reduces what a pass records to a few numbers of each layer, which stay on the device until all
/// are known.
class HealthRecorder : public Recorder {
public:
    explicit HealthRecorder(std::vector<LayerPlace> places) : m_places(std::move(places)) {}

    bool takesFactors() const override { return true; }
    void relations(const std::string& module, const InnerProducts& r) override {
        if (!hasRelations(module)) return;
        overMaps(module, r, [&](const torch::Tensor& scores, const torch::Tensor& closed) {
            auto values = scores;
            if (r.activation == "softmax" && r.causal && closed.defined())
                values = values.masked_fill(closed, -INFINITY);
            largest(Metric::LargestRelation, module, applyActivation(r.activation, values), closed);
        });
    }
    void relations(const std::string& module, const torch::Tensor& r) override {
        if (!hasRelations(module)) return;
        const auto maps = r[0].dim() == 3 ? r[0].permute({2, 0, 1}) : r[0];
        const auto rows = torch::arange(maps.size(1), maps.options().dtype(torch::kLong));
        largest(Metric::LargestRelation, module, maps, closedOf(module, false, rows, maps.size(2)));
    }
    void scores(const std::string& module, const InnerProducts& alpha) override {
        overMaps(module, alpha, [&](const torch::Tensor& scores, const torch::Tensor& closed) {
            largest(Metric::LargestScore, module, scores, closed);
            if (alpha.activation != "softmax") return;
            addEntropy(module,
                       torch::softmax(
                           closed.defined() ? scores.masked_fill(closed, -INFINITY) : scores, -1));
        });
    }
    void scores(const std::string& module, const torch::Tensor& alpha) override {
        // Other weights than those of a softmax have no entropy.
        if (alpha.min().item<double>() < 0.0 || alpha.sum(-1).max().item<double>() > 1.001) return;
        addEntropy(module, alpha[0]);
    }
    void symbols(const std::string&, int, const InnerProducts&) override {}
    void symbols(const std::string&, int, const torch::Tensor&) override {}
    void hidden(const std::string&, const torch::Tensor&) override {}

    HealthValues values() const {
        std::vector<torch::Tensor> all;
        for (const auto& [place, found] : m_found)
            all.push_back(found.rows.defined() ? found.value / found.rows : found.value);
        HealthValues named;
        if (all.empty()) return named;
        const auto numbers = torch::stack(all).cpu();
        std::int64_t at = 0;
        std::map<Metric, double> extremes;
        for (const auto& [place, found] : m_found) {
            const auto& info = metricInfo(place.first);
            const double number = numbers[at++].item<double>();
            named.emplace_back(std::string(info.key) + "/" + m_places[place.second].layer.name,
                               number);
            const auto [known, isNew] = extremes.emplace(place.first, number);
            if (!isNew)
                known->second = info.lowerIsBetter ? std::max(known->second, number)
                                                   : std::min(known->second, number);
        }
        for (const auto& [metric, number] : extremes)
            named.emplace_back(metricInfo(metric).key, number);
        return named;
    }

private:
    struct Found {
        torch::Tensor value;
        torch::Tensor rows;  ///< rows that a sum is over; undefined: it is no sum
    };

    std::optional<std::size_t> layerOf(const std::string& module) const {
        const int layer = layerOfModule(m_places, module);
        return layer < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(layer));
    }
    bool hasRelations(const std::string& module) const {
        const auto layer = layerOf(module);
        return layer && isRelational(module, m_places[*layer]);
    }
    /// True at later elements of a causal layer, [rows, columns]; undefined if none is closed.
    torch::Tensor closedOf(const std::string& module, bool causal, const torch::Tensor& rows,
                           std::int64_t columns) const {
        const auto layer = layerOf(module);
        if (!causal && !(layer && m_places[*layer].causal)) return {};
        return torch::arange(columns, rows.options()).unsqueeze(0) > rows.unsqueeze(1);
    }
    void largest(Metric metric, const std::string& module, const torch::Tensor& values,
                 const torch::Tensor& closed) {
        const auto layer = layerOf(module);
        if (!layer) return;
        auto sizes = values.abs();
        if (closed.defined()) sizes = sizes.masked_fill(closed, 0.0);
        const auto most = sizes.max().to(torch::kFloat);
        auto& found = m_found[{metric, *layer}].value;
        found = found.defined() ? torch::maximum(found, most) : most;
    }
    void addEntropy(const std::string& module, const torch::Tensor& alpha) {
        const auto layer = layerOf(module);
        if (!layer) return;
        // Rows without an open cell are zero.
        const auto rows = (alpha.sum(-1) > 0.5).sum().to(torch::kFloat);
        const auto entropy = -torch::xlogy(alpha, alpha).sum().to(torch::kFloat);
        auto& found = m_found[{Metric::AttentionEntropy, *layer}];
        found.value = found.value.defined() ? found.value + entropy : entropy;
        found.rows = found.rows.defined() ? found.rows + rows : rows;
    }
    /// Calls take(scores [maps, rows, columns], closed cells [rows, columns] or none) for some maps
    /// after others, of the first example.
    template <class Take>
    void overMaps(const std::string& module, const InnerProducts& products, Take take) {
        const auto q = products.q[0], k = products.k[0];  // [maps or groups, n, width]
        const auto n = q.size(1), columns = k.size(1), each = q.size(0) / k.size(0);
        const auto stride = std::max<std::int64_t>(1, (n + kMostRows - 1) / kMostRows);
        const auto rows = torch::arange(0, n, stride, q.options().dtype(torch::kLong));
        const auto closed = closedOf(module, products.causal, rows, columns);
        const auto some = q.slice(1, 0, n, stride) * products.scale;
        const auto step = std::max<std::int64_t>(
            1, kMostCells / std::max<std::int64_t>(1, each * some.size(1) * columns));
        for (std::int64_t group = 0; group < k.size(0); group += step) {
            const auto last = std::min(group + step, k.size(0));
            const auto keys = k.slice(0, group, last).unsqueeze(1).transpose(2, 3);
            const auto queries = some.slice(0, group * each, last * each)
                                     .unflatten(0, std::vector<std::int64_t>{last - group, each});
            take(torch::matmul(queries, keys).flatten(0, 1), closed);
        }
    }

    std::vector<LayerPlace> m_places;
    std::map<std::pair<Metric, std::size_t>, Found> m_found;
};

}  // namespace

HealthValues healthOf(ModelImpl& model, const ModelOptions& options, const ModelInput& input) {
    HealthRecorder recorder(options.info().layers(options));
    const torch::NoGradGuard noGrad;
    const EvaluationMode evaluation(model);
    const RecordingScope scope(recorder);
    model.forward(input);
    return recorder.values();
}

std::vector<std::string> JumpFinder::add(const HealthValues& values) {
    std::vector<std::string> found;
    for (const auto& [key, value] : values) {
        auto& [before, silent] = m_tracks[key];
        if (silent > 0) --silent;
        const auto slash = key.find('/');
        if (slash != std::string::npos && silent == 0 && before.size() >= kRecent + kFewest) {
            const auto end = before.end() - kRecent;
            const auto& info = metricInfo(std::string_view(key).substr(0, slash));
            const double low = *std::min_element(before.begin(), end),
                         high = *std::max_element(before.begin(), end);
            const bool rose = info.lowerIsBetter && value > kTimes * high && high > 0.0;
            const bool fell = !info.lowerIsBetter && value * kTimes < low;
            if (rose || fell) {
                std::string title(info.title);
                title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
                found.push_back(title + " of " + key.substr(slash + 1) +
                                (rose ? " rose from " : " fell from ") +
                                numberText("%.3g", rose ? high : low) + " to " +
                                numberText("%.3g", value));
                silent = kRecent + kBefore;
            }
        }
        before.push_back(value);
        if (before.size() > kRecent + kBefore) before.pop_front();
    }
    return found;
}

LayerHealth::LayerHealth(TrainJob& job, std::int64_t recordEvery) : m_job(job) {
    if (job.options.train.health_every < 1) return;
    const auto wanted =
        std::max(job.options.train.health_every, job.totalSteps / kMostMeasurements);
    m_every = (wanted + recordEvery - 1) / recordEvery * recordEvery;
    m_measures = m_every > 0 && job.leads();
    if (!m_measures) return;
    const auto places = job.options.model.info().layers(job.options.model);
    for (const auto& place : places) m_layers.emplace_back(place.layer.name, 0);
    for (const auto& entry : stateOf(*job.model)) {
        if (!entry.aliasOf.empty() || !entry.tensor.requires_grad()) continue;
        if (const int layer = layerOfModule(places, entry.name); layer >= 0)
            m_layers[static_cast<std::size_t>(layer)].second.push_back(entry.tensor);
    }
}

// Clipping has scaled all gradients by one factor, which the norm before it gives back.
void LayerHealth::addGradients(HealthValues& values, double norm) const {
    std::vector<torch::Tensor> norms = {m_job.optimizer->gradientNorm().to(torch::kFloat)};
    std::vector<std::string> names;
    for (const auto& [name, parameters] : m_layers) {
        std::vector<torch::Tensor> gradients;
        for (const auto& parameter : parameters)
            if (parameter.grad().defined()) gradients.push_back(parameter.grad());
        if (gradients.empty()) continue;
        norms.push_back(torch::stack(at::_foreach_norm(gradients)).norm().to(torch::kFloat));
        names.push_back(name);
    }
    // Together, so that a device is waited for once.
    const auto known = torch::stack(norms).cpu();
    const double all = known[0].item<double>();
    for (std::size_t i = 0; i < names.size() && all > 0.0; ++i)
        values.emplace_back(std::string(metricInfo(Metric::GradientNorm).key) + "/" + names[i],
                            known[static_cast<std::int64_t>(i) + 1].item<double>() * norm / all);
}

HealthValues LayerHealth::measure(double norm) {
    HealthValues values;
    if (!m_measures) return values;
    std::string shortage;
    try {
        const torch::NoGradGuard noGrad;
        addGradients(values, norm);
        const auto sample = m_job.data.validation->sample(0);
        auto* edits = m_job.edits.get();
        const Optimizer::TrainedWeights trained(*m_job.optimizer);
        const HookScope hooks(edits ? &edits->editor() : nullptr);
        if (edits) edits->prepareSample(sample);
        const auto found = healthOf(*m_job.model, m_job.options.model,
                                    inputOf(sample, m_job.options.model).to(m_job.device));
        values.insert(values.end(), found.begin(), found.end());
    } catch (const std::exception& error) {
        if (!isOutOfMemory(error)) throw;
        shortage = shortageText(m_job.device.str(), error);
    }
    if (!shortage.empty()) {
        releaseDeviceMemory();
        m_measures = false;
        m_job.note(Note::Level::Warning, "layers are no longer measured: " + shortage);
    }
    for (const auto& jump : m_jumps.add(values)) m_jump += (m_jump.empty() ? "" : "; ") + jump;
    return values;
}

}  // namespace relascope::core
