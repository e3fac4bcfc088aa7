// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/fitted/fit.h"

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "types/error.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

constexpr int kNewtonSteps = 100, kConjugateSteps = 500;
constexpr double kSolved = 0.1, kLeastStep = 1e-6, kLeastFall = 1e-4;
constexpr int kPassesAtOnce = 8;  // passes over the pairs between two checks for a cancel
constexpr std::int64_t kBlockCells = 1 << 16;  // of the matrices of a block, 0.5 MB
constexpr double kLeastOwn = 1e-12;            // variance of an axis, of the largest

torch::Tensor transposed(const torch::Tensor& matrix) {
    return matrix.transpose(-2, -1);
}

// The matrix W of flat parameters: of a diagonal form its diagonal alone.
torch::Tensor weightsOf(const torch::Tensor& flat, RelationForm form, std::int64_t k) {
    switch (form) {
        case RelationForm::Diagonal:
            return torch::diag(flat);
        case RelationForm::OneSide:
            return flat.view({2, k});
        case RelationForm::Any:
            return flat.view({k, k});
        default: {
            const auto w = flat.view({k, k});
            return 0.5 * (w + transposed(w));
        }
    }
}

// r without b, [examples, most, most].
torch::Tensor pairScores(const torch::Tensor& z, RelationForm form, const torch::Tensor& weights) {
    if (form == RelationForm::OneSide)
        return torch::matmul(z, weights[0]).unsqueeze(2) +
               torch::matmul(z, weights[1]).unsqueeze(1);
    const auto scores = torch::matmul(torch::matmul(z, weights), transposed(z));
    if (form != RelationForm::Distance) return scores;
    const auto own = scores.diagonal(0, 1, 2);
    return scores + transposed(scores) - own.unsqueeze(2) - own.unsqueeze(1);
}

// The gradient by the parameters, of G = dL/dr [examples, most, most].
torch::Tensor gradientOf(const torch::Tensor& z, const torch::Tensor& g, RelationForm form) {
    const auto outer = [&](const torch::Tensor& matrices) {
        // One product over all objects, not one an example.
        return torch::matmul(z.flatten(0, 1).t(), torch::matmul(matrices, z).flatten(0, 1));
    };
    switch (form) {
        case RelationForm::OneSide:
            return torch::stack({(z * g.sum(2).unsqueeze(-1)).flatten(0, 1).sum(0),
                                 (z * g.sum(1).unsqueeze(-1)).flatten(0, 1).sum(0)});
        case RelationForm::Diagonal:
            return (z * torch::matmul(g, z)).flatten(0, 1).sum(0);
        case RelationForm::Distance: {
            const auto both = g + transposed(g);
            return outer(both - torch::diag_embed(both.sum(2)));
        }
        case RelationForm::Symmetric: {
            const auto w = outer(g);
            return 0.5 * (w + transposed(w));
        }
        default:
            return outer(g);
    }
}

// The square root of the curvature of the loss along each parameter and b, about: in these units
// the minimum is found in a fraction of the steps.
torch::Tensor unitsOf(const std::vector<torch::Tensor>& z, RelationForm form, double ridge) {
    constexpr double kCurvature = 0.25;  // of the logistic loss, at most
    auto variance = torch::zeros({z.front().size(2)}, torch::kDouble);
    std::int64_t objects = 0;
    for (const auto& block : z) {
        variance.add_(block.square().flatten(0, 1).sum(0));
        objects += block.size(0) * block.size(1);
    }
    variance.div_(static_cast<double>(objects));
    torch::Tensor along;
    switch (form) {
        case RelationForm::Diagonal:
            along = variance.square();
            break;
        case RelationForm::OneSide:
            along = torch::cat({variance, variance});
            break;
        default:
            along = torch::outer(variance, variance).flatten();
    }
    const auto one = torch::full({1}, kCurvature, torch::kDouble);
    return torch::cat({kCurvature * along + ridge, one}).sqrt();
}

}  // namespace

const std::vector<std::string>& relationForms() {
    static const std::vector<std::string> names = {"symmetric", "any", "diagonal", "distance"};
    return names;
}

RelationForm relationForm(const std::string& name) {
    const auto& names = relationForms();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw OptionError("form", unknownName("form", name, names));
    return static_cast<RelationForm>(found - names.begin());
}

ObjectRows::ObjectRows(const FactPairs& facts) {
    std::vector<std::int64_t> examples, objects, rows(facts.part.size(), -1);
    for (std::size_t k = 0; k < facts.part.size(); ++k) {
        if (!facts.part[k]) continue;
        rows[k] = std::ssize(examples);
        examples.push_back(static_cast<std::int64_t>(k / facts.objects));
        objects.push_back(static_cast<std::int64_t>(k % facts.objects));
    }
    example = torch::tensor(examples, torch::kLong);
    object = torch::tensor(objects, torch::kLong);
    at = torch::tensor(rows, torch::kLong)
             .view({static_cast<std::int64_t>(facts.examples),
                    static_cast<std::int64_t>(facts.objects)});
}

torch::Tensor ObjectRows::of(const torch::Tensor& stream) const {
    return stream.index({example, object});
}

StreamAxes streamAxes(const torch::Tensor& stream, const ObjectRows& rows, const FactPairs& facts,
                      RelationForm form, const AxesOptions& options) {
    std::vector<std::int64_t> chosen;
    const auto* examples = rows.example.const_data_ptr<std::int64_t>();
    for (std::int64_t r = 0; r < rows.size(); ++r)
        if (facts.split[static_cast<std::size_t>(examples[r])] == kToFit) chosen.push_back(r);
    if (chosen.size() < 2)
        throw OptionError("examples",
                          "too few objects take part in the examples to fit; take more");
    const auto at = torch::tensor(chosen, torch::kLong);
    const auto x = stream.index_select(0, at).to(torch::kDouble);  // [rows to fit, d]
    const auto place = options.onePlace ? torch::zeros_like(at) : rows.object.index_select(0, at);
    const auto n = options.onePlace ? 1 : static_cast<std::int64_t>(facts.objects), d = x.size(1);
    StreamAxes found;
    const auto sums = torch::zeros({n, d}, torch::kDouble).index_add_(0, place, x);
    const auto counts = torch::zeros({n}, torch::kDouble)
                            .index_add_(0, place, torch::ones_like(place, torch::kDouble));
    found.mean = torch::where(counts.lt(2.0).unsqueeze(1), x.mean(0).unsqueeze(0),
                              sums / counts.clamp_min(1.0).unsqueeze(1));
    const auto centred = x - found.mean.index_select(0, place);
    found.covariance = torch::matmul(centred.t(), centred) / static_cast<double>(x.size(0));
    found.variance = found.covariance.trace().item<double>();
    if (!(found.variance > 0.0) || !std::isfinite(found.variance))
        throw OptionError("layer",
                          "the stream is the same in all examples there, or not finite; choose "
                          "another layer");
    found.diagonal = form == RelationForm::Diagonal;
    if (found.diagonal) {
        found.axes = torch::eye(d, torch::kDouble);
        found.values = found.covariance.diagonal().clone();
    } else {
        const auto [values, vectors] = torch::linalg_eigh(found.covariance);  // ascending
        const auto largest = values[d - 1].item<double>();
        const auto kept = std::min<std::int64_t>(
            options.most, values.gt(options.least * largest).sum().item<std::int64_t>());
        found.values = values.slice(0, d - kept, d).flip(0);
        found.axes = vectors.slice(1, d - kept, d).flip(1).contiguous();
    }
    const auto mean = found.values.mean();
    // An axis of the stream's own may not differ at all.
    found.scale = options.scale == "white"
                      ? found.values.clamp_min(kLeastOwn * found.values.max()).sqrt()
                      : mean.sqrt().expand_as(found.values).clone();
    return found;
}

torch::Tensor StreamAxes::meanOf(const ObjectRows& rows) const {
    return mean.size(0) == 1 ? mean.expand({rows.size(), mean.size(1)})
                             : mean.index_select(0, rows.object);
}

torch::Tensor coordinates(const torch::Tensor& stream, const ObjectRows& rows,
                          const StreamAxes& axes) {
    const auto x = stream.to(torch::kDouble) - axes.meanOf(rows);
    return (axes.diagonal ? x : torch::matmul(x, axes.axes)) / axes.scale;
}

PairBlocks::PairBlocks(const ObjectRows& rows, const PairList& pairs) {
    // The pairs of each example, and its objects that take part.
    std::map<std::int32_t, std::vector<std::int64_t>> examples;
    for (std::size_t p = 0; p < pairs.size(); ++p)
        examples[pairs.example[p]].push_back(static_cast<std::int64_t>(p));
    const auto* at = rows.at.const_data_ptr<std::int64_t>();
    const auto n = rows.at.size(1);
    struct Example {
        std::vector<std::int64_t> rows, place;  // of objects in the matrix; -1: takes no part
        const std::vector<std::int64_t>* pairs;
    };
    std::vector<Example> all;
    for (const auto& [e, own] : examples) {
        Example example{{}, std::vector<std::int64_t>(static_cast<std::size_t>(n), -1), &own};
        for (std::int64_t o = 0; o < n; ++o) {
            const auto row = at[static_cast<std::int64_t>(e) * n + o];
            if (row < 0) continue;
            example.place[static_cast<std::size_t>(o)] = std::ssize(example.rows);
            example.rows.push_back(row);
        }
        all.push_back(std::move(example));
    }
    std::stable_sort(all.begin(), all.end(), [](const Example& a, const Example& b) {
        return a.rows.size() > b.rows.size();
    });
    for (auto first = all.begin(); first != all.end();) {
        const auto most = std::ssize(first->rows);
        const auto count = std::min<std::int64_t>(
            std::max<std::int64_t>(1, kBlockCells / std::max<std::int64_t>(1, most * most)),
            all.end() - first);
        Block block{torch::zeros({count, most}, torch::kLong),
                    torch::zeros({count, most, 1}, torch::kDouble),
                    {},
                    {}};
        std::vector<std::int64_t> numbers, cells;
        for (std::int64_t k = 0; k < count; ++k, ++first) {
            const auto own = std::ssize(first->rows);
            block.rows[k].slice(0, 0, own).copy_(torch::tensor(first->rows, torch::kLong));
            block.there[k].slice(0, 0, own).fill_(1.0);
            for (const auto p : *first->pairs) {
                const auto placeOf = [&](std::int32_t o) {
                    return first->place[static_cast<std::size_t>(o)];
                };
                const auto pair = static_cast<std::size_t>(p);
                numbers.push_back(p);
                cells.push_back((k * most + placeOf(pairs.i[pair])) * most +
                                placeOf(pairs.j[pair]));
            }
        }
        block.pairs = torch::tensor(numbers, torch::kLong);
        block.at = torch::tensor(cells, torch::kLong);
        m_blocks.push_back(std::move(block));
    }
}

std::vector<torch::Tensor> PairBlocks::of(const torch::Tensor& z) const {
    std::vector<torch::Tensor> blocks;
    for (const auto& [rows, there, pairs, at] : m_blocks)
        blocks.push_back(
            z.index_select(0, rows.flatten()).view({rows.size(0), rows.size(1), z.size(1)}) *
            there);
    return blocks;
}

std::vector<torch::Tensor> PairBlocks::split(const torch::Tensor& values) const {
    std::vector<torch::Tensor> parts;
    for (const auto& block : m_blocks) parts.push_back(values.index_select(0, block.pairs));
    return parts;
}

torch::Tensor PairBlocks::join(const std::vector<torch::Tensor>& values) const {
    std::int64_t count = 0;
    for (const auto& part : values) count += part.size(0);
    const auto joined = torch::empty({count}, torch::kDouble);
    for (std::size_t b = 0; b < size(); ++b) joined.index_copy_(0, m_blocks[b].pairs, values[b]);
    return joined;
}

torch::Tensor PairBlocks::spread(std::size_t block, const torch::Tensor& values) const {
    const auto& [rows, there, pairs, at] = m_blocks[block];
    const auto most = rows.size(1);
    return torch::zeros({rows.numel() * most}, values.scalar_type())
        .scatter_(0, at, values)
        .view({rows.size(0), most, most});
}

torch::Tensor PairBlocks::gather(std::size_t block, const torch::Tensor& matrices) const {
    return matrices.flatten().index_select(0, m_blocks[block].at);
}

namespace {

/// x with A x = b, A positive, until kSolved of b is left: by conjugate gradients.
torch::Tensor solved(const std::function<torch::Tensor(const torch::Tensor&)>& a,
                     const torch::Tensor& b) {
    auto x = torch::zeros_like(b), rest = b.clone(), along = rest.clone();
    double square = rest.square().sum().item<double>();
    const double enough = kSolved * kSolved * square;
    for (int step = 0; step < kConjugateSteps && square > enough; ++step) {
        const auto by = a(along);
        const double length = square / (along * by).sum().item<double>();
        x.add_(along, length);
        rest.sub_(by, length);
        const double next = rest.square().sum().item<double>();
        along = rest + (next / square) * along;
        square = next;
    }
    return x;
}

/// The pairs to fit of one stream, by block.
struct FitData {
    const PairBlocks& blocks;
    std::vector<torch::Tensor> z, rough;       // [examples, most, k] in double and in float
    std::vector<torch::Tensor> weights, sign;  // [pairs]

    std::int64_t width() const { return z.front().size(2); }
    /// The sum over the blocks of `of(block)`, [n]; in the same order whatever the threads.
    torch::Tensor sum(const std::function<torch::Tensor(std::size_t)>& of) const {
        std::vector<torch::Tensor> parts(blocks.size());
        at::parallel_for(0, std::ssize(parts), 1, [&](std::int64_t begin, std::int64_t end) {
            const torch::NoGradGuard noGrad;
            for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b)
                parts[b] = of(b);
        });
        return torch::stack(parts).sum(0);
    }
};

/// The minimum over W and b of sum v log(1 + exp(-y (r + b))) + ridge / 2 |W|^2, to a largest
/// gradient of `enough`. `start` may be null. Throws OptionError for streams that are too large.
FittedForm minimise(const FitData& data, RelationForm form, double ridge, const FittedForm* start,
                    double enough, const std::function<void()>& pass) {
    const torch::NoGradGuard noGrad;
    const auto k = data.width();
    const auto size = form == RelationForm::Diagonal  ? k
                      : form == RelationForm::OneSide ? 2 * k
                                                      : k * k;
    const auto units = unitsOf(data.z, form, ridge);
    auto parameters = torch::zeros({size + 1}, torch::kDouble);  // in these units
    if (start) {
        const auto from =
            form == RelationForm::Diagonal ? start->weights.diagonal() : start->weights;
        parameters.slice(0, 0, size).copy_(from.flatten());
        parameters[size] = start->bias;
        parameters.mul_(units);
    }
    double loss = 0.0, gradient = 0.0;
    torch::Tensor slope;                              // the gradient, in these units
    std::vector<torch::Tensor> curve(data.z.size());  // of the loss of each pair
    int passes = 0;
    const auto begin = [&] {
        if (pass && passes++ % kPassesAtOnce == 0) pass();
    };
    // The derivative by W and b of the numbers r + b of a block's pairs, times `g`.
    const auto back = [&](std::size_t b, const torch::Tensor& z, const torch::Tensor& g) {
        return torch::cat(
            {gradientOf(z, data.blocks.spread(b, g), form).flatten(), g.sum().view({1})});
    };
    const auto ofRidge = [&](const torch::Tensor& w) {
        return ridge * (form == RelationForm::Diagonal ? w.diagonal() : w.flatten());
    };
    const auto evaluate = [&] {
        begin();
        const auto plain = parameters / units;
        const auto w = weightsOf(plain.slice(0, 0, size), form, k);
        const auto bias = plain[size].item<double>();
        const auto sums = data.sum([&](std::size_t b) {
            const auto& weights = data.weights[b];
            const auto margin =
                data.sign[b] * (data.blocks.gather(b, pairScores(data.z[b], form, w)) + bias);
            const auto wrong = torch::sigmoid(-margin);
            curve[b] = (weights * wrong * (1.0 - wrong)).to(torch::kFloat);
            return torch::cat({back(b, data.z[b], -weights * data.sign[b] * wrong),
                               (weights * torch::softplus(-margin, 1.0, 40.0)).sum().view({1})});
        });
        const auto all = sums.slice(0, 0, size + 1);
        all.slice(0, 0, size).add_(ofRidge(w));
        slope = all / units;
        loss = (sums[size + 1] + 0.5 * ridge * w.square().sum()).item<double>();
        gradient = all.abs().max().item<double>();
    };
    // The second derivative of the loss, times a vector in these units.
    const auto curvature = [&](const torch::Tensor& vector) {
        begin();
        const auto plain = vector / units;
        const auto w = weightsOf(plain.slice(0, 0, size), form, k), rough = w.to(torch::kFloat);
        const auto bias = plain[size].item<double>();
        const auto all = data.sum([&](std::size_t b) {
            const auto change =
                data.blocks.gather(b, pairScores(data.rough[b], form, rough)) + bias;
            return back(b, data.rough[b], curve[b] * change).to(torch::kDouble);
        });
        all.slice(0, 0, size).add_(ofRidge(w));
        return all / units;
    };
    evaluate();
    // Newton's method: the loss is convex. A step need not be exact, so that its equations are
    // solved in float, the rest in double.
    for (int step = 0; step < kNewtonSteps && gradient > enough && std::isfinite(loss); ++step) {
        const auto before = parameters, down = -slope, along = solved(curvature, down);
        const double least = kLeastFall * (along * down).sum().item<double>(), from = loss,
                     largest = gradient;
        // At the end the last digits of the loss no longer tell.
        const auto better = [&](double length) {
            parameters = before + length * along;
            evaluate();
            return loss <= from - length * least || gradient < largest;
        };
        double length = 1.0;
        while (!better(length) && length > kLeastStep) length *= 0.5;
        if (length > kLeastStep) continue;
        parameters = before;
        evaluate();
        break;
    }
    const auto end = parameters / units;
    FittedForm fit{form,
                   weightsOf(end.slice(0, 0, size), form, k).clone(),
                   end[size].item<double>(),
                   loss,
                   ridge,
                   gradient <= enough};
    if (!std::isfinite(loss))
        throw OptionError("layer",
                          "the stream has values that are too large to fit; choose another");
    return fit;
}

}  // namespace

const std::vector<double>& usualRidges() {
    static const std::vector<double> ridges = {1.0, 0.1, 0.01, 0.001};
    return ridges;
}

PairFitter::PairFitter(const FactPairs& facts, const ObjectRows& rows, RelationForm form)
    : m_form(form) {
    for (const auto split : {kToFit, kToChoose, kToTest}) {
        m_pairs[split] = pairsOf(facts, split, isSymmetric(form));
        m_blocks.emplace_back(rows, m_pairs[split]);
    }
    const auto& fit = m_pairs[kToFit];
    const auto weights = balancedWeights(fit);
    if (weights.empty())
        throw OptionError("fact",
                          "never differs between pairs at the same place: it follows from the "
                          "place; choose another");
    std::vector<double> sign;
    for (const auto yes : fit.yes) sign.push_back(yes ? 1.0 : -1.0);
    m_weights = torch::tensor(weights, torch::kDouble);
    m_sign = torch::tensor(sign, torch::kDouble);
}

RidgePath PairFitter::path(const torch::Tensor& z, const std::vector<double>& ridges,
                           const std::function<void(double)>& progress, double gradient) const {
    const auto& blocks = m_blocks[kToFit];
    FitData data{blocks, blocks.of(z), {}, blocks.split(m_weights), blocks.split(m_sign)};
    for (const auto& block : data.z) data.rough.push_back(block.to(torch::kFloat));
    RidgePath path;
    const auto pass = [&] {
        if (progress)
            progress(static_cast<double>(path.steps.size()) / static_cast<double>(ridges.size()));
    };
    for (const double ridge : ridges) {
        const auto* last = path.steps.empty() ? nullptr : &path.steps.back().fit;
        RidgePath::Step step{minimise(data, m_form, ridge, last, gradient, pass), 0.0};
        step.chosen = auc(scores(z, step.fit, kToChoose), kToChoose);
        path.steps.push_back(std::move(step));
        if (path.steps.back().chosen > path.steps[path.best].chosen)
            path.best = path.steps.size() - 1;
    }
    return path;
}

std::vector<double> PairFitter::scores(const torch::Tensor& z, const FittedForm& fit,
                                       std::uint8_t split) const {
    const auto& blocks = m_blocks[split];
    auto values = blocks.of(z);
    for (std::size_t b = 0; b < values.size(); ++b)
        values[b] = blocks.gather(b, pairScores(values[b], fit.form, fit.weights)) + fit.bias;
    const auto all = blocks.join(values);
    const auto* first = all.const_data_ptr<double>();
    return {first, first + all.numel()};
}

double PairFitter::auc(const std::vector<double>& scores, std::uint8_t split) const {
    return aucWithin(scores, m_pairs[split], m_pairs[split].stratum);
}

torch::Tensor PairFitter::moment(const torch::Tensor& z) const {
    const auto& blocks = m_blocks[kToFit];
    const auto parts = blocks.of(z), yes = blocks.split(m_weights * m_sign);
    auto moment = torch::zeros({z.size(1), z.size(1)}, torch::kDouble);
    for (std::size_t b = 0; b < parts.size(); ++b)
        moment.add_(gradientOf(parts[b], blocks.spread(b, yes[b]), RelationForm::Any));
    return isSymmetric(m_form) ? 0.5 * (moment + moment.t()) : moment;
}

double oneSideAuc(const PairFitter& sides, const torch::Tensor& z,
                  const std::vector<double>& ridges) {
    const auto path = sides.path(z, ridges);
    return sides.auc(sides.scores(z, path.steps.back().fit, kToTest), kToTest);
}

torch::Tensor RankedForm::weights(std::int64_t rank) const {
    return torch::matmul(left.slice(1, 0, rank), right.slice(1, 0, rank).t());
}

RankedForm rankedForm(const FittedForm& fit) {
    if (fit.form == RelationForm::Any) {
        const auto [u, s, vt] = torch::linalg_svd(fit.weights, false);
        return {u * s.sqrt(), vt.t() * s.sqrt()};
    }
    const auto [values, vectors] = torch::linalg_eigh(fit.weights);
    const auto order = values.abs().argsort(0, true);
    const auto s = values.index_select(0, order);
    const auto v = vectors.index_select(1, order), root = s.abs().sqrt();
    return {v * (s.sign() * root), v * root};
}

std::vector<double> aucByRank(const PairFitter& fitter, const torch::Tensor& z,
                              const RankedForm& ranked, double bias, std::uint8_t split) {
    std::vector<double> aucs, sums;
    for (std::int64_t l = 0; l < ranked.terms(); ++l) {
        const FittedForm term{fitter.form(),
                              torch::outer(ranked.left.select(1, l), ranked.right.select(1, l)),
                              l == 0 ? bias : 0.0};
        const auto more = fitter.scores(z, term, split);
        sums.resize(more.size(), 0.0);
        for (std::size_t p = 0; p < more.size(); ++p) sums[p] += more[p];
        aucs.push_back(fitter.auc(sums, split));
    }
    return aucs;
}

std::int64_t keptRank(const std::vector<double>& byRank, double whole, double within) {
    for (std::size_t r = 0; r < byRank.size(); ++r)
        if (byRank[r] >= whole - within) return static_cast<std::int64_t>(r) + 1;
    return std::ssize(byRank);
}

StreamRelation streamRelation(const StreamAxes& axes, const RankedForm& ranked, std::int64_t rank,
                              double bias, RelationForm form) {
    const auto back = axes.axes / axes.scale;  // [d, k]
    const auto rows = [&](const torch::Tensor& side) {
        return torch::matmul(back, side.slice(1, 0, rank)).t().contiguous();
    };
    return {rows(ranked.left), rows(ranked.right), axes.mean, bias, form == RelationForm::Distance};
}

}  // namespace relascope::core
