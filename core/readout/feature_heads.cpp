// SPDX-License-Identifier: GPL-3.0-or-later
#include "readout/feature_heads.h"

#include <torch/torch.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "data/batches.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr double kSmallestDeviation = 1e-6;
constexpr std::array<double, 5> kRidges = {0.01, 0.1, 1.0, 10.0, 100.0};

torch::Tensor doubles(const torch::Tensor& x) {
    return x.to(torch::kCPU, torch::kDouble);
}

std::string sized(const torch::Tensor& x) {
    std::string text;
    for (const auto size : x.sizes()) text += (text.empty() ? "" : " x ") + std::to_string(size);
    return text;
}

/// The examples of each class, once all values are known to be usable.
std::vector<std::int64_t> checkedCounts(const LabelledFeatures& f) {
    const auto refuse = [](const std::string& why) { throw OptionError("head", why); };
    const auto n = static_cast<std::int64_t>(f.labels.size());
    if (!f.features.defined() || f.features.dim() != 2 || f.features.size(0) != n ||
        f.features.size(1) == 0 || !f.features.is_floating_point())
        refuse("there are " + std::to_string(n) + " labels and features of the shape " +
               (f.features.defined() ? sized(f.features) : "0") + "; give a row for each label");
    if (f.classes.size() < 2)
        refuse("the data have " + std::to_string(f.classes.size()) +
               (f.classes.size() == 1 ? " class" : " classes") + "; a head needs two or more");
    std::vector<std::int64_t> counts(f.classes.size());
    for (const auto label : f.labels) {
        if (label < 0 || label >= static_cast<std::int64_t>(counts.size()))
            refuse("the label " + std::to_string(label) + " is not one of " +
                   std::to_string(counts.size()) + " classes");
        ++counts[static_cast<std::size_t>(label)];
    }
    const auto finite = f.features.isfinite().all(1).to(torch::kCPU);
    for (std::int64_t i = 0; i < n; ++i)
        if (!finite[i].item<bool>())
            refuse("the features of example " + std::to_string(i) +
                   " are not finite; look at the model's answer to it");
    return counts;
}

void requireEveryClass(const std::vector<std::int64_t>& counts,
                       const std::vector<std::string>& classes) {
    for (std::size_t c = 0; c < counts.size(); ++c)
        if (counts[c] == 0)
            throw OptionError("head", "the class '" + classes[c] +
                                          "' has no example to fit on; add some, or leave it out");
}

torch::Tensor labelsOf(const LabelledFeatures& f) {
    return torch::tensor(f.labels, torch::kLong);
}

LabelledFeatures partOf(const LabelledFeatures& f, const std::vector<std::int64_t>& rows) {
    LabelledFeatures part{
        f.features.index_select(0, torch::tensor(rows, torch::kLong)), {}, f.classes};
    for (const auto row : rows) part.labels.push_back(f.labels[static_cast<std::size_t>(row)]);
    return part;
}

// Of features that are doubles on the CPU, where a class may lack examples.
FeatureHead fittedRidge(const LabelledFeatures& f, double ridge) {
    FeatureHead head{FeatureHead::Kind::Ridge, f.classes};
    const auto& x = f.features;
    const auto n = x.size(0), classes = static_cast<std::int64_t>(f.classes.size());
    head.ridge = ridge;
    head.mean = x.mean(0);
    head.deviation = (x - head.mean).square().mean(0).sqrt().clamp_min(kSmallestDeviation);
    const auto z = (x - head.mean) / head.deviation;
    auto y = torch::one_hot(labelsOf(f), classes).to(torch::kDouble);
    head.offset = y.mean(0);
    y = y - head.offset;
    // Of the two matrices with the same solution the smaller: [d, d], or [n, n].
    const bool wide = x.size(1) > n;
    auto gram = wide ? torch::mm(z, z.t()) : torch::mm(z.t(), z);
    gram.diagonal().add_(ridge * static_cast<double>(n));
    const auto triangle = at::linalg_cholesky(gram);
    head.weights = wide ? torch::mm(z.t(), torch::cholesky_solve(y, triangle))
                        : torch::cholesky_solve(torch::mm(z.t(), y), triangle);
    return head;
}

void requireRidge(double ridge) {
    if (!(ridge > 0.0) || !std::isfinite(ridge))
        throw OptionError("ridge", "is " + std::to_string(ridge) + "; give a number above 0");
}

}  // namespace

torch::Tensor unitRows(const torch::Tensor& x) {
    const auto rows = x.to(torch::kDouble);
    return rows / rows.norm(2, -1, true).clamp_min(1e-300);
}

std::int64_t FeatureHead::width() const {
    return weights.size(kind == Kind::NearestMean ? 1 : 0);
}

std::int64_t FeatureHead::examples() const {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

torch::Tensor FeatureHead::scores(const torch::Tensor& features) const {
    if (features.dim() != 2 || features.size(1) != width())
        throw OptionError("head", "was fitted on features of the width " + std::to_string(width()) +
                                      ", and these are " + sized(features) +
                                      "; fit one on the features of this model");
    const auto there = [&](const torch::Tensor& own) { return own.to(features.device()); };
    if (kind == Kind::NearestMean) return torch::mm(unitRows(features), there(weights).t());
    const auto z = (features.to(torch::kDouble) - there(mean)) / there(deviation);
    return torch::mm(z, there(weights)) + there(offset);
}

FeatureHead nearestMeanHead(const LabelledFeatures& fitting) {
    const torch::NoGradGuard noGrad;
    FeatureHead head{FeatureHead::Kind::NearestMean, fitting.classes};
    head.counts = checkedCounts(fitting);
    requireEveryClass(head.counts, head.classes);
    const auto unit = unitRows(doubles(fitting.features));
    const auto sums =
        torch::zeros({static_cast<std::int64_t>(head.classes.size()), unit.size(1)}, torch::kDouble)
            .index_add_(0, labelsOf(fitting), unit);
    head.weights = unitRows(sums);
    return head;
}

FeatureHead ridgeHead(const LabelledFeatures& fitting, double ridge) {
    const torch::NoGradGuard noGrad;
    requireRidge(ridge);
    auto counts = checkedCounts(fitting);
    requireEveryClass(counts, fitting.classes);
    auto head = fittedRidge({doubles(fitting.features), fitting.labels, fitting.classes}, ridge);
    head.counts = std::move(counts);
    return head;
}

double chosenRidge(const LabelledFeatures& fitting, std::uint64_t seed) {
    const torch::NoGradGuard noGrad;
    requireEveryClass(checkedCounts(fitting), fitting.classes);
    const auto n = static_cast<std::int64_t>(fitting.labels.size()), fifth = n / 5;
    if (fifth == 0)
        throw OptionError("ridge", "cannot be chosen on a fifth of " + std::to_string(n) +
                                       " examples; give a number such as 1");
    const LabelledFeatures all{doubles(fitting.features), fitting.labels, fitting.classes};
    const auto order = shuffledOrder(n, seed, 0);
    const auto held = partOf(all, {order.begin(), order.begin() + fifth}),
               others = partOf(all, {order.begin() + fifth, order.end()});
    const auto labels = labelsOf(held);
    const auto wanted =
        torch::one_hot(labels, static_cast<std::int64_t>(all.classes.size())).to(torch::kDouble);
    double best = 0.0, error = 0.0;
    std::int64_t right = -1;
    for (const auto ridge : kRidges) {
        const auto scores = fittedRidge(others, ridge).scores(held.features);
        const auto hits = scores.argmax(1).eq(labels).sum().item<std::int64_t>();
        const auto off = (scores - wanted).square().mean().item<double>();
        if (hits > right || (hits == right && off < error)) best = ridge, right = hits, error = off;
    }
    return best;
}

HeadSplit headSplit(const std::vector<std::int64_t>& labels,
                    const std::vector<std::string>& classes, std::uint64_t seed) {
    std::vector<std::vector<std::int64_t>> members(classes.size());
    for (const auto i : shuffledOrder(static_cast<std::int64_t>(labels.size()), seed, 0))
        members.at(static_cast<std::size_t>(labels[static_cast<std::size_t>(i)])).push_back(i);
    HeadSplit split;
    for (std::size_t c = 0; c < classes.size(); ++c) {
        const auto& own = members[c];
        if (own.size() < 2)
            throw OptionError("head", "the class '" + classes[c] + "' has " +
                                          (own.empty() ? "no example" : "one example") +
                                          "; one to fit and one to measure on are needed, so add "
                                          "some, or leave the class out");
        const auto third =
            own.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, own.size() / 3));
        split.measured.insert(split.measured.end(), own.begin(), third);
        split.fitting.insert(split.fitting.end(), third, own.end());
    }
    std::sort(split.fitting.begin(), split.fitting.end());
    std::sort(split.measured.begin(), split.measured.end());
    return split;
}

NearestExamples nearestExamples(const torch::Tensor& features, const torch::Tensor& queries,
                                std::int64_t count) {
    const torch::NoGradGuard noGrad;
    constexpr std::int64_t kRows = 256;  // of all cosines at a time
    const auto unit = unitRows(doubles(features)).t(), asked = unitRows(doubles(queries));
    const auto kept = std::clamp<std::int64_t>(count, 0, unit.size(1));
    std::vector<torch::Tensor> indices, cosines;
    for (std::int64_t at = 0; at < asked.size(0) || indices.empty(); at += kRows) {
        const auto rows = std::min(kRows, asked.size(0) - at);
        const auto [values, order] =
            torch::mm(asked.narrow(0, at, rows), unit).sort(true, 1, true);  // stable, descending
        indices.push_back(order.narrow(1, 0, kept).clone());
        cosines.push_back(values.narrow(1, 0, kept).clone());
    }
    return {torch::cat(indices), torch::cat(cosines)};
}

}  // namespace relascope::core
