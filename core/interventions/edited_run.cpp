// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>
#include <algorithm>
#include <cmath>
#include <set>

#include "interventions/check_edits.h"
#include "interventions/edit_values.h"
#include "interventions/edited_run.h"
#include "model/blocks/recording.h"
#include "model/model.h"
#include "types/error.h"

namespace relascope::core {
namespace {

std::map<std::string, torch::Tensor> readPoints(ModelImpl& model, const ModelInput& input,
                                                const std::set<std::string>& names) {
    PointReader reader({names.begin(), names.end()});
    const torch::NoGradGuard noGrad;
    const InterventionScope scope(&reader);
    // A recorder of the caller gets only the edited pass.
    const RecordingScope unrecorded(nullptr);
    model.forward(input);
    return reader.take();
}

const torch::Tensor& pointIn(const std::map<std::string, torch::Tensor>& tensors,
                             const std::string& point) {
    const auto found = tensors.find(point);
    if (found == tensors.end())
        throw OptionError("edits.point", "this input does not reach " + point);
    return found->second;
}

}  // namespace

std::vector<PointInfo> pointsOf(ModelImpl& model, const ModelInput& input) {
    PointReader reader;
    reader.recordNamesOnly();
    {
        const EvaluationMode evaluation(model);
        const torch::NoGradGuard noGrad;
        const InterventionScope scope(&reader);
        const RecordingScope unrecorded(nullptr);
        model.forward(input);
    }
    auto points = reader.points();
    // Relations are weighted by a pattern: their cells are closed where the pattern's are.
    std::set<std::string> causal;
    for (const auto& point : points)
        if (point.causal) causal.insert(point.name.substr(0, point.name.rfind('.')));
    for (auto& point : points)
        if (point.dimension("i") >= 0 && point.dimension("j") >= 0)
            point.causal = causal.contains(point.name.substr(0, point.name.rfind('.')));
    return points;
}

void takeValues(Editor& editor, ModelImpl& model, const ModelInput& input,
                const EditInputs& inputs) {
    // One pass for each other input, which reads all points that are taken from it.
    struct Source {
        ModelInput input{torch::Tensor()};
        std::set<std::string> names;
        std::vector<std::size_t> edits;
    };
    std::map<std::string, Source> sources;
    for (const auto index : editor.references()) {
        const auto& edit = editor.edit(index);
        const auto field = "edits[" + std::to_string(index) + "]";
        std::string key;
        ModelInput from = input;
        if (edit.op == EditOp::Patch) {
            const auto found = inputs.named.find(edit.input);
            if (found == inputs.named.end())
                throw OptionError(field + ".from", "there is no input '" + edit.input + "'");
            key = "patch " + edit.input;
            from = found->second;
        } else if (edit.op == EditOp::Resample) {
            if (!inputs.shifted)
                throw OptionError(field + ".op", "resample needs a split of examples");
            key = "resample " + std::to_string(edit.shift);
            if (!sources.contains(key)) from = inputs.shifted(edit.shift);
        } else if (edit.op != EditOp::Clean) {
            continue;  // a mean
        }
        auto& source = sources.try_emplace(key, Source{from, {}, {}}).first->second;
        source.names.insert(edit.point);
        source.edits.push_back(index);
    }
    for (const auto& [key, source] : sources) {
        const auto tensors = readPoints(model, source.input, source.names);
        for (const auto index : source.edits)
            editor.setValues(index, pointIn(tensors, editor.edit(index).point));
    }
}

torch::Tensor forwardEdited(ModelImpl& model, const ModelInput& input, Editor& editor) {
    const InterventionScope scope(&editor);
    return answersOf(model, input);
}

namespace {

// Sums over examples and over the places that share a mean.
class MeanSum {
public:
    MeanSum(const PointInfo& point, std::string over) : m_point(point), m_over(std::move(over)) {}

    void add(const torch::Tensor& tensor) {
        const auto x = tensor.detach().to(torch::kDouble);
        const bool cells = m_point.dimension("i") >= 0 && m_point.dimension("j") >= 0;
        const bool batch = m_point.dimension("batch") >= 0;
        auto weight = torch::ones_like(x);
        auto value = x;
        if (m_point.causal) {
            const auto i = m_point.dimension("i"), j = m_point.dimension("j");
            auto open = torch::ones({x.size(i), x.size(j)}, x.options()).tril();
            if (j + 1 < x.dim()) open = open.unsqueeze(-1);
            weight = weight * open;
            value = torch::where(weight.gt(0), x, torch::zeros_like(x));
        }
        const auto sums = [&](const torch::Tensor& t) { return reduced(t * weight, cells, batch); };
        const auto total = sums(value), squares = sums(value.square()),
                   count = reduced(weight, cells, batch);
        if (!m_total.defined()) {
            m_total = total, m_squares = squares, m_count = count;
        } else {
            if (total.sizes() != m_total.sizes())
                throw OptionError("edits.reference",
                                  "the examples have different lengths; take the mean over offset "
                                  "or all of " +
                                      m_point.name);
            m_total = m_total + total, m_squares = m_squares + squares, m_count = m_count + count;
        }
        m_examples += batch ? x.size(0) : 1;
    }

    void finish(Editor& editor, std::size_t index, TakenMean& taken) {
        if (!m_mean.defined()) {
            if (!m_total.defined())
                throw OptionError("edits.reference", "there are no examples to take a mean of");
            const auto count = m_count.clamp_min(1.0), mean = m_total / count;
            const auto variance = (m_squares / count - mean.square()).clamp_min(0.0);
            m_standardError = std::sqrt((variance / count).mean().item<double>());
            m_mean = mean.to(torch::kFloat);
        }
        taken.examples = m_examples;
        taken.standardError = m_standardError;
        taken.over = m_over;
        taken.values = chosen(m_mean, editor.edit(index));
        editor.setValues(index, m_mean, m_offsets);
    }

private:
    // The values of the selected places, as Edit::values has them.
    EditValues chosen(torch::Tensor mean, const Edit& edit) const {
        std::int64_t d = 0;
        for (const auto& axis : m_point.axes) {
            if (m_offsets >= 0 && axis == "i") continue;  // means by offset have no such axis
            const auto found = edit.selection.find(axis);
            if (axis == "batch") {
                mean = mean.select(d, 0);
                continue;
            }
            const bool places = mean.size(d) > 1 && !(m_offsets >= 0 && axis == "j");
            if (found != edit.selection.end() && places) {
                const auto at = placesOf(found->second, mean.size(d), "edits." + axis);
                mean = mean.index_select(d, torch::tensor(at, torch::kLong).to(mean.device()));
            }
            const bool fixed = found != edit.selection.end() && found->second.places.size() == 1 &&
                               !(m_offsets >= 0 && axis == "j");
            if (fixed)
                mean = mean.select(d, 0);
            else
                ++d;
        }
        if (mean.numel() > kMostStoredNumbers || !mean.isfinite().all().item<bool>()) return {};
        const auto host = mean.to(torch::kCPU).contiguous();
        const auto* numbers = host.const_data_ptr<float>();
        return {host.sizes().vec(), storedNumbers({numbers, numbers + host.numel()})};
    }

    torch::Tensor reduced(torch::Tensor t, bool cells, bool batch) {
        if (batch) t = t.sum(0, true);
        if (m_over == "position") return t;
        const auto i = m_point.dimension("i"), j = m_point.dimension("j"),
                   position = m_point.dimension("position");
        if (!cells) return position >= 0 ? t.sum(position, true) : t;
        if (m_over == "all") return t.sum({i, j}, true);
        // Sums by j - i, over the diagonals: without i, and with 2 offsets + 1 values along j.
        const std::int64_t n = t.size(i), m = t.size(j), most = std::max(n, m) - 1;
        if (m_offsets < 0) m_offsets = most;
        const auto index = torch::TensorOptions(torch::kLong).device(t.device());
        const auto offset =
            (torch::arange(m, index).unsqueeze(0) - torch::arange(n, index).unsqueeze(1))
                .clamp(-m_offsets, m_offsets) +
            m_offsets;
        auto shape = t.sizes().vec();
        shape.erase(shape.begin() + i);
        shape[static_cast<std::size_t>(i)] = 2 * m_offsets + 1;  // j has moved to i's place
        return torch::zeros(shape, t.options()).index_add(i, offset.flatten(), t.flatten(i, j));
    }

    PointInfo m_point;
    std::string m_over;
    torch::Tensor m_total, m_squares, m_count, m_mean;
    double m_standardError = 0.0;
    std::int64_t m_examples = 0, m_offsets = -1;
};

}  // namespace

TakenMeans takeMeans(Editor& editor, ModelImpl& model, const std::string& usual,
                     const std::function<std::optional<ModelInput>(std::size_t index)>& next) {
    TakenMeans taken;
    std::set<std::size_t> left;
    for (const auto index : editor.references())
        if (editor.edit(index).op == EditOp::Mean && !editor.hasValues(index)) left.insert(index);
    while (!left.empty()) {
        // All means over the same examples are taken in the same passes.
        const auto first = *left.begin();
        const auto reference = editor.edit(first).reference.value_or(EditReference{});
        std::vector<std::size_t> group;
        std::set<std::string> names;
        for (const auto index : left) {
            const auto other = editor.edit(index).reference.value_or(EditReference{});
            if (other.split != reference.split || other.examples != reference.examples ||
                other.seed != reference.seed)
                continue;
            group.push_back(index);
            names.insert(editor.edit(index).point);
        }
        // Edits of one point share a sum, as the edits of all relations of a layer do.
        std::map<std::pair<std::string, std::string>, MeanSum> sums;
        const auto keyOf = [&](std::size_t index) {
            const auto& edit = editor.edit(index);
            const auto over = edit.reference ? edit.reference->over : std::string();
            return std::pair(edit.point, over.empty() ? usual : over);
        };
        while (auto input = next(first)) {
            if (sums.empty()) {
                const auto points = pointsOf(model, *input);
                for (const auto index : group) {
                    const auto key = keyOf(index);
                    sums.try_emplace(key, findPoint(points, key.first, "edits.point"), key.second);
                }
            }
            const auto tensors = readPoints(model, *input, names);
            for (auto& [key, sum] : sums) sum.add(pointIn(tensors, key.first));
        }
        if (sums.empty())
            throw OptionError("edits.reference", "there are no examples to take a mean of");
        for (const auto index : group) {
            sums.at(keyOf(index)).finish(editor, index, taken[index]);
            left.erase(index);
        }
    }
    return taken;
}

}  // namespace relascope::core
