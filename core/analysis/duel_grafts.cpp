// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/duel_grafts.h"

#include <torch/types.h>
#include <algorithm>
#include <map>
#include <utility>

#include "analysis/edit_effect.h"
#include "types/error.h"
#include "types/metric.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr double kWorthKeeping = 0.05;  // of the metric: what another example's part has to cost

struct GraftedPart {
    const char *name, *end;
};
constexpr GraftedPart kGraftedParts[] = {{"streams", ".hook_resid_post"},
                                         {"attention", ".hook_attn_out"},
                                         {"feed-forward", ".hook_mlp_out"},
                                         {"relations", ".rel.hook_r"}};

/// Passes of both models over the same examples, batch by batch.
class GraftBench {
public:
    GraftBench(ModelInUse& a, ModelInUse& b, const DuelExamples& examples, std::int64_t count)
        : m_a(a), m_b(b), m_examples(examples) {
        for (std::int64_t first = 0; first < count; first += examples.batchSize())
            m_parts.push_back(examples.part(first, std::min(examples.batchSize(), count - first)));
        m_numbers = m_parts.front().batches[0].kind == TargetKind::Regression;
    }
    bool numbers() const { return m_numbers; }

    /// The tensor of a point, a batch each.
    std::vector<torch::Tensor> read(std::size_t side, const std::string& point) {
        std::vector<torch::Tensor> all;
        for (const auto& part : m_parts) {
            PointReader reader({point});
            (side == 0 ? m_a : m_b)
                .answers(part.batches[side], m_examples.data(), part.indices, &reader);
            all.push_back(reader.tensors().at(point));
        }
        return all;
    }
    /// A's scores with these values at a point, or as it is.
    ExampleScores with(const std::string& point, const std::vector<torch::Tensor>& values) {
        ExampleScores scores;
        EditList list;
        list.edits.emplace_back();
        list.edits[0].op = EditOp::Patch, list.edits[0].point = point;
        for (std::size_t k = 0; k < m_parts.size(); ++k) {
            Editor editor(list);
            if (!values.empty()) editor.setValues(0, values[k]);
            scores.add(m_a.answers(m_parts[k].batches[0], m_examples.data(), m_parts[k].indices,
                                   values.empty() ? nullptr : &editor),
                       m_parts[k].batches[0], m_a.options().ignoredTarget());
        }
        return scores;
    }
    /// Each example's values become those of the next one.
    std::vector<torch::Tensor> exchanged(const std::vector<torch::Tensor>& values) const {
        const auto rolled = torch::cat(values).roll(1, 0);
        std::vector<torch::Tensor> all;
        std::int64_t first = 0;
        for (const auto& one : values) {
            all.push_back(rolled.narrow(0, first, one.size(0)));
            first += one.size(0);
        }
        return all;
    }

private:
    ModelInUse &m_a, &m_b;
    const DuelExamples& m_examples;
    std::vector<DuelExamples::Part> m_parts;
    bool m_numbers = false;
};

bool fits(const PointInfo& a, const PointInfo& b) {
    return a.axes == b.axes &&
           std::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1, b.shape.end());
}

}  // namespace

std::string layerOfPoint(const std::string& point) {
    std::string words;
    std::size_t begin = 0;
    while (begin < point.size()) {
        const auto end = std::min(point.find('.', begin), point.size());
        const auto word = point.substr(begin, end - begin);
        begin = end + 1;
        if (word.starts_with("hook_") || word == "rel" || word == "attn") break;
        const bool number = word.find_first_not_of("0123456789") == std::string::npos;
        words += (words.empty() ? "" : " ") + (word == "blocks" ? "layer"
                                               : number ? std::to_string(std::stoi(word) + 1)
                                                        : word);
    }
    return words;
}

std::vector<Duel::Graft> possibleGrafts(const std::vector<PointInfo>& a,
                                        const std::vector<PointInfo>& b,
                                        const std::vector<std::string>& parts, bool across) {
    std::vector<Duel::Graft> grafts;
    for (const auto& part : kGraftedParts) {
        if (std::find(parts.begin(), parts.end(), part.name) == parts.end()) continue;
        const auto of = [&](const std::vector<PointInfo>& points) {
            std::vector<const PointInfo*> found;
            for (const auto& point : points)
                if (point.name.ends_with(part.end)) found.push_back(&point);
            return found;
        };
        const auto here = of(a), there = of(b);
        for (std::size_t k = 0; k < there.size(); ++k)
            for (std::size_t l = 0; l < here.size(); ++l) {
                if ((!across && k != l) || !fits(*here[l], *there[k])) continue;
                Duel::Graft graft;
                graft.part = part.name;
                graft.a = layerOfPoint(here[l]->name), graft.b = layerOfPoint(there[k]->name);
                graft.at = here[l]->name, graft.from = there[k]->name;
                grafts.push_back(std::move(graft));
            }
    }
    return grafts;
}

Duel::Graft graftNamed(const std::vector<PointInfo>& a, const std::vector<PointInfo>& b,
                       const std::string& name) {
    std::vector<std::string> parts;
    for (const auto& part : kGraftedParts) parts.emplace_back(part.name);
    std::string known;
    for (const auto& graft : possibleGrafts(a, b, parts, true)) {
        if (graftName(graft) == name) return graft;
        if (graft.a == graft.b) known += (known.empty() ? "" : ", ") + graftName(graft);
    }
    if (known.empty()) known = "no part of B has the shape of one of A";
    throw OptionError("part",
                      "'" + printable(name) + "' is no part of B that fits into A: " + known);
}

void measureGrafts(Duel& duel, std::size_t done, ModelInUse& a, ModelInUse& b,
                   const DuelExamples& examples, std::int64_t count,
                   const std::function<bool(std::size_t)>& progress) {
    GraftBench bench(a, b, examples, count);
    duel.metric = bench.numbers() ? "mean_error" : "accuracy";
    duel.graftExamples = count;
    const double worse = lowerIsBetter(duel.metric) ? 1.0 : -1.0;
    const auto base = bench.with("", {});
    std::map<std::string, double> exchanged;  // by the point of A
    std::string from;
    std::vector<torch::Tensor> values;
    for (std::size_t k = done; k < duel.grafts.size(); ++k) {
        auto& graft = duel.grafts[k];
        if (from != graft.from) values = bench.read(1, graft.from), from = graft.from;
        const auto effect = effectOf(base, bench.with(graft.at, values), bench.numbers());
        graft.change = effect.changes.at(1);
        graft.rightToWrong = effect.rightToWrong, graft.wrongToRight = effect.wrongToRight;
        duel.base = graft.change.base;
        if (!exchanged.contains(graft.at)) {
            const auto other = bench.exchanged(bench.read(0, graft.at));
            exchanged[graft.at] =
                effectOf(base, bench.with(graft.at, other), bench.numbers()).changes.at(1).change;
        }
        graft.resampled = exchanged.at(graft.at);
        const double lost = worse * graft.change.change, nothing = worse * graft.resampled;
        graft.used = nothing > kWorthKeeping && lost < nothing / 2.0;
        if (!progress(k + 1)) throw Cancelled();
    }
}

}  // namespace relascope::core
