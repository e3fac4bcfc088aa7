// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/lens/jacobian.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>
#include <algorithm>

#include "analysis/frozen_parameters.h"
#include "interventions/editor.h"
#include "model/blocks/recording.h"
#include "model/finite_outputs.h"
#include "types/error.h"

namespace relascope::core {
namespace {

/// Keeps the streams of a pass, whose gradients begin before the first layer. After the last
/// one the pass continues with a single example and without gradients, as the scores are not used.
class StreamReader : public Hooks {
public:
    explicit StreamReader(const std::vector<std::string>& points)
        : m_points(points), m_streams(points.size()) {}

    bool takes(std::string_view prefix) const override {
        return std::any_of(m_points.begin(), m_points.end(),
                           [&](const std::string& point) { return point.starts_with(prefix); });
    }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        const auto place = std::find(m_points.begin(), m_points.end(), point.name);
        if (place == m_points.end()) return value;
        auto& stream = m_streams[static_cast<std::size_t>(place - m_points.begin())];
        stream = value.requires_grad() ? value : value.detach().requires_grad_();
        return point.name == m_points.back() ? value.detach().slice(0, 0, 1) : stream;
    }
    /// In the order of the points; those that the pass did not meet are undefined.
    const std::vector<torch::Tensor>& streams() const { return m_streams; }

private:
    const std::vector<std::string>& m_points;
    std::vector<torch::Tensor> m_streams;
};

}  // namespace

void JacobianSums::add(const torch::Tensor& tokens, const std::stop_token& stop,
                       const ProgressCallback& progress) {
    const auto n = std::min(tokens.size(1), m_how.tokens);
    const auto first = std::min(m_how.skipped, n / 4);
    const auto copies = std::max<std::int64_t>(1, m_how.together / n);
    const EvaluationMode evaluation(m_model);
    const FrozenParameters frozen(m_model);
    const torch::AutoGradMode gradients(true);
    StreamReader reader(m_stream.points);
    {
        const InterventionScope reading(&reader);
        const RecordingScope unrecorded(nullptr);
        answersOf(m_model, tokens.slice(1, 0, n).expand({copies, n}).contiguous());
    }
    const auto& last = reader.streams().back();
    std::vector<torch::Tensor> sources;
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row + 1 < reader.streams().size(); ++row)
        if (reader.streams()[row].defined())
            sources.push_back(reader.streams()[row]), rows.push_back(row);
    const auto width = last.size(-1);
    if (m_sums.empty()) m_sums.resize(reader.streams().size());
    for (const auto row : rows)
        if (!m_sums[row].defined())
            m_sums[row] = torch::zeros({width, width}, torch::TensorOptions(torch::kDouble));
    auto directions = torch::zeros_like(last);
    for (std::int64_t from = 0; from < width; from += copies) {
        if (stop.stop_requested() ||
            (progress && !progress(static_cast<double>(from) / static_cast<double>(width))))
            throw Cancelled();
        // Copy k asks for direction `from` + k, at all places at once.
        const auto count = std::min(copies, width - from);
        directions.zero_();
        for (std::int64_t k = 0; k < count; ++k)
            directions[k].slice(0, first).select(1, from + k).fill_(1.0);
        const auto found =
            torch::autograd::grad({last}, sources, {directions}, from + copies < width,
                                  /*create_graph=*/false, /*allow_unused=*/true);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            if (!found[k].defined()) continue;  // an edit puts numbers in the place of that stream
            const auto places = found[k].slice(0, 0, count).slice(1, first).to(torch::kDouble);
            m_sums[rows[k]].slice(0, from, from + count).add_(places.mean(1).to(torch::kCPU));
        }
    }
    ++m_texts, m_tokens = std::max(m_tokens, n);
}

JacobianLens JacobianSums::mean() const {
    JacobianLens lens;
    lens.texts = m_texts, lens.tokens = m_tokens;
    for (std::size_t row = 0; row < m_sums.size(); ++row)
        if (m_sums[row].defined())
            lens.matrices[row] = (m_sums[row] / static_cast<double>(m_texts)).to(torch::kFloat);
    return lens;
}

}  // namespace relascope::core
