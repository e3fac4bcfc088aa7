// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/duel_grafts.h"

#include <torch/types.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "analysis/claims.h"
#include "evaluate/example_scores.h"
#include "types/error.h"
#include "types/metric.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

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
    enum class Of { A, B, Untrained };
    GraftBench(EditedModel& a, EditedModel& b, EditedModel* untrained, const DuelExamples& examples,
               std::int64_t count)
        : m_a(a), m_models{&a, &b, untrained}, m_examples(examples) {
        for (std::int64_t first = 0; first < count; first += examples.batchSize())
            m_parts.push_back(examples.slice(first, std::min(examples.batchSize(), count - first)));
        m_numbers = m_parts.front().batches[0].kind == TargetKind::Regression;
    }
    bool numbers() const { return m_numbers; }

    /// The tensor of a point, a batch each.
    std::vector<torch::Tensor> read(Of model, const std::string& point) {
        std::vector<torch::Tensor> all;
        for (const auto& part : m_parts) {
            PointReader reader({point});
            m_models[static_cast<std::size_t>(model)]->answers(
                part.batches[model == Of::A ? 0 : 1], m_examples.data(), part.indices, &reader);
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
            if (values.empty()) scores.addContent(m_parts[k].batches[0]);
        }
        return scores;
    }
    static std::vector<torch::Tensor> zeros(const std::vector<torch::Tensor>& values) {
        std::vector<torch::Tensor> all;
        for (const auto& one : values) all.push_back(torch::zeros_like(one));
        return all;
    }
    /// The mean over the examples, at each position.
    static std::vector<torch::Tensor> means(const std::vector<torch::Tensor>& values) {
        const auto mean = torch::cat(values).mean(0, true);
        std::vector<torch::Tensor> all;
        for (const auto& one : values) all.push_back(mean.expand_as(one));
        return all;
    }
    /// The values with each example's replaced by the next example's.
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
    EditedModel& m_a;
    std::array<EditedModel*, 3> m_models;  // by Of
    const DuelExamples& m_examples;
    std::vector<DuelExamples::Slice> m_parts;
    bool m_numbers = false;
};

/// Of examples first .. last - 1 the change from some scores to others.
struct HalfOfExamples {
    std::size_t first = 0, last = 0;
    std::string metric;
    std::span<const std::uint64_t> content;  ///< of all examples

    PairedChange change(const ExampleScores& before, const ExampleScores& after) const {
        const auto of = [this](const auto& values) {
            return std::span(values).subspan(first, last - first);
        };
        return pairedChange(metric, of(before.accuracy), of(after.accuracy), of(before.targets),
                            of(content));
    }
    /// Answers that turned from right to wrong, and back.
    std::pair<std::int64_t, std::int64_t> turned(const ExampleScores& before,
                                                 const ExampleScores& after) const {
        const auto answers = [&](std::size_t end) {
            double sum = 0.0;
            for (std::size_t e = 0; e < end; ++e) sum += before.targets[e];
            return static_cast<std::size_t>(sum);
        };
        std::pair<std::int64_t, std::int64_t> turned{0, 0};
        if (before.right.empty()) return turned;
        for (auto k = answers(first); k < answers(last); ++k) {
            turned.first += before.right[k] && !after.right[k];
            turned.second += !before.right[k] && after.right[k];
        }
        return turned;
    }
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

void measureGrafts(Duel& duel, std::size_t done, EditedModel& a, EditedModel& b,
                   EditedModel* untrained, const DuelExamples& examples, std::int64_t count,
                   const std::function<bool(std::size_t)>& progress) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    GraftBench bench(a, b, untrained, examples, count);
    duel.metric = bench.numbers() ? "mean_error" : "accuracy";
    const auto all = static_cast<std::size_t>(count), middle = all / 2;
    duel.graftChoosing = static_cast<std::int64_t>(middle);
    duel.graftExamples = count - duel.graftChoosing;
    const MetricWords words(duel.metric);
    const auto base = bench.with("", {});
    const HalfOfExamples choosing{0, middle, duel.metric, base.content},
        measuring{middle, all, duel.metric, base.content};
    struct Without {
        ExampleScores zero, mean, other;
    };
    std::map<std::string, Without> without;  // A's own part, by its point
    std::string from;
    std::vector<torch::Tensor> values, fresh;
    for (std::size_t k = done; k < duel.grafts.size(); ++k) {
        auto& graft = duel.grafts[k];
        if (from != graft.from) {
            values = bench.read(GraftBench::Of::B, graft.from), from = graft.from;
            fresh = untrained ? bench.read(GraftBench::Of::Untrained, graft.from)
                              : std::vector<torch::Tensor>();
        }
        const auto grafted = bench.with(graft.at, values);
        graft.change = measuring.change(base, grafted);
        std::tie(graft.rightToWrong, graft.wrongToRight) = measuring.turned(base, grafted);
        duel.base = graft.change.base;
        if (!without.contains(graft.at)) {
            const auto own = bench.read(GraftBench::Of::A, graft.at);
            without[graft.at] = {bench.with(graft.at, bench.zeros(own)),
                                 bench.with(graft.at, bench.means(own)),
                                 bench.with(graft.at, bench.exchanged(own))};
        }
        const auto& none = without.at(graft.at);
        graft.zero = measuring.change(base, none.zero).change;
        graft.mean = measuring.change(base, none.mean).change;
        graft.resampled = measuring.change(base, none.other).change;
        graft.untrained = graft.p = unknown;
        graft.gain = {};
        graft.chosen = false;
        if (untrained) {
            const auto freshly = bench.with(graft.at, fresh);
            graft.untrained = measuring.change(base, freshly).change;
            graft.p = 0.0;
            const double lost = words.cost(choosing.change(base, none.zero).change),
                         still = words.cost(choosing.change(base, grafted).change);
            graft.chosen = lost > 0.0 && still <= 0.5 * lost;
            for (const auto* other : {&none.zero, &none.mean, &freshly}) {
                graft.chosen =
                    graft.chosen && words.gained(choosing.change(*other, grafted)).change > 0.0;
                const auto gain = measuring.change(*other, grafted);
                const auto better = words.gained(gain);
                const double p = pAbove(better, 0.0);
                graft.p = std::isnan(p) ? unknown : std::max(graft.p, p);
                if (graft.gain.metric.empty() || better.change < words.gained(graft.gain).change)
                    graft.gain = gain;
            }
        }
        claimGrafts(duel);
        if (!progress(k + 1)) throw Cancelled();
    }
}

}  // namespace relascope::core
