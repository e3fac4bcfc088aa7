// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/number_sets.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <stdexcept>

namespace relascope::datasets {
namespace {

using Vector = std::span<const float>;

double inner(const std::vector<double>& w, Vector x) {
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += w[i] * static_cast<double>(x[i]);
    return sum;
}

double squaredDistance(Vector x, Vector y) {
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double difference = static_cast<double>(x[i]) - static_cast<double>(y[i]);
        sum += difference * difference;
    }
    return sum;
}

std::vector<double> unitVector(std::int64_t dim, SplitMix& random) {
    std::vector<double> v(static_cast<std::size_t>(dim));
    double square = 0.0;
    for (auto& x : v) x = random.gaussian(), square += x * x;
    for (auto& x : v) x /= std::sqrt(square);
    return v;
}

// Uniform in the unit ball: a uniform direction, and a radius with uniform radius^dim.
void drawInBall(SplitMix& random, std::span<float> point) {
    const auto direction = unitVector(static_cast<std::int64_t>(point.size()), random);
    const double radius = std::pow(random.uniform(), 1.0 / static_cast<double>(point.size()));
    for (std::size_t i = 0; i < point.size(); ++i)
        point[i] = static_cast<float>(radius * direction[i]);
}

// Object number i of a set of objects that are `width` wide.
Vector object(Vector objects, std::size_t width, std::size_t i) {
    return objects.subspan(i * width, width);
}

std::string shortNumber(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}

}  // namespace

NumberSets::NumberSets(NumberSplit split, const std::string& task, Shape shape,
                       const std::string& note, bool exact)
    : m_split(std::move(split)), m_shape(shape) {
    m_info.name = task + ", " + m_split.name;
    m_info.origin = "generated, seed " + std::to_string(m_split.seed);
    m_info.task = task;
    m_info.size = m_split.size;
    m_info.channels = m_info.height = m_info.width = 0;
    m_info.targets = TargetKind::Regression;
    m_info.exactTargets = exact;
    m_info.note = note;
}

void NumberSets::read(std::int64_t index, std::span<float> objects,
                      std::span<float> targets) const {
    if (index < 0 || index >= m_info.size)
        throw std::out_of_range(m_info.name + " has no example " + std::to_string(index));
    SplitMix random(m_split.seed, ((m_split.number + 1) << 40) + static_cast<std::uint64_t>(index));
    draw(random, objects, targets);
}

ProbeSample NumberSets::sample(std::int64_t index) const {
    ProbeSample s;
    s.origin = m_split.name + " " + std::to_string(index);
    s.source.width = static_cast<int>(m_shape.width);
    s.source.vectors.resize(static_cast<std::size_t>(m_shape.objects * m_shape.width));
    std::vector<float> targets(static_cast<std::size_t>(m_shape.targets));
    read(index, s.source.vectors, targets);
    s.source.labels = words(s.source.vectors, targets);
    return s;
}

SmoothRelations::SmoothRelations(std::int64_t dim, SplitMix& random)
    : m_a(unitVector(dim, random)), m_b(unitVector(dim, random)) {}

double SmoothRelations::kernel(Vector x, Vector y) {
    return std::exp(-squaredDistance(x, y));
}

double SmoothRelations::wave(Vector x, Vector y) const {
    return std::sin(std::numbers::pi * (inner(m_a, x) - inner(m_b, y)));
}

SelectRelate::SelectRelate(const NumberSplit& split, const std::string& task, Asked asked,
                           std::int64_t candidates, std::int64_t dim)
    : SelectRelate(split, task, asked, candidates, dim, common(split.seed)) {}

SelectRelate::SelectRelate(const NumberSplit& split, const std::string& task, Asked asked,
                           std::int64_t candidates, std::int64_t dim, SplitMix random)
    : NumberSets(split, task, {candidates + 1, dim, asked == Asked::Both ? 2 : 1},
                 "The target is R(x, y) for the y that x selects. Kernel: R = exp(-|x - y|\u00b2). "
                 "Wave: R = sin(\u03c0 (<a, x> - <b, y>))."),
      m_kernel(asked != Asked::Wave),
      m_wave(asked != Asked::Kernel),
      m_left(static_cast<std::size_t>(dim * dim)),
      m_right(m_left.size()),
      m_relations(dim, random) {
    for (auto* matrix : {&m_left, &m_right})
        for (auto& x : *matrix) x = random.gaussian();
}

std::vector<double> SelectRelate::preference(Vector x) const {
    const std::size_t d = x.size();
    std::vector<double> image(d), preference(d);
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j)
            image[i] += m_left[i * d + j] * static_cast<double>(x[j]);
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j) preference[j] += m_right[i * d + j] * image[i];
    return preference;
}

std::int64_t SelectRelate::chosen(Vector objects) const {
    const auto width = static_cast<std::size_t>(shape().width);
    const auto wanted = preference(object(objects, width, 0));
    std::int64_t best = 0;
    double most = inner(wanted, object(objects, width, 1));
    for (std::int64_t i = 1; i + 1 < shape().objects; ++i) {
        const double value = inner(wanted, object(objects, width, static_cast<std::size_t>(i) + 1));
        if (value > most) most = value, best = i;
    }
    return best;
}

std::vector<double> SelectRelate::relate(Vector x, Vector y) const {
    std::vector<double> r;
    if (m_kernel) r.push_back(SmoothRelations::kernel(x, y));
    if (m_wave) r.push_back(m_relations.wave(x, y));
    return r;
}

void SelectRelate::draw(SplitMix& random, std::span<float> objects,
                        std::span<float> targets) const {
    const auto width = static_cast<std::size_t>(shape().width);
    for (std::size_t i = 0; i < objects.size(); i += width)
        drawInBall(random, objects.subspan(i, width));
    const auto r = relate(object(objects, width, 0),
                          object(objects, width, static_cast<std::size_t>(chosen(objects)) + 1));
    std::ranges::transform(r, targets.begin(), [](double v) { return static_cast<float>(v); });
}

std::vector<std::string> SelectRelate::words(Vector objects, Vector) const {
    const auto width = static_cast<std::size_t>(shape().width);
    const auto best = static_cast<std::size_t>(chosen(objects)) + 1;
    std::vector<std::string> all = {"x"};
    for (std::size_t i = 1; i < static_cast<std::size_t>(shape().objects); ++i) {
        // The selected one is marked at the beginning, where a narrow tile still shows it.
        std::string word = (i == best ? "\u2713 y" : "y") + std::to_string(i) + ": R";
        for (const double r : relate(object(objects, width, 0), object(objects, width, i)))
            word += " " + shortNumber(r);
        all.push_back(std::move(word));
    }
    return all;
}

InnerProducts::InnerProducts(const NumberSplit& split, const std::string& task, Relation relation,
                             std::int64_t dim)
    : NumberSets(split, task, {2, dim, 1},
                 relation == Relation::Order
                     ? "R(x, y) is 1 where x comes before y and -1 where it comes after."
                     : "R(x, y) = exp(-2 |x - y|\u00b2)."),
      m_order(relation == Relation::Order) {
    auto random = common(split.seed);
    m_direction = unitVector(dim, random);
}

double InnerProducts::relate(Vector x, Vector y) const {
    if (m_order) return inner(m_direction, x) < inner(m_direction, y) ? 1.0 : -1.0;
    return std::exp(-2.0 * squaredDistance(x, y));
}

void InnerProducts::draw(SplitMix& random, std::span<float> objects,
                         std::span<float> targets) const {
    const auto width = objects.size() / 2;
    drawInBall(random, objects.first(width));
    drawInBall(random, objects.subspan(width));
    targets[0] = static_cast<float>(relate(objects.first(width), objects.subspan(width)));
}

std::vector<std::string> InnerProducts::words(Vector, Vector targets) const {
    return {"x", "y: R(x, y) " + shortNumber(static_cast<double>(targets[0]))};
}

SymbolRecovery::SymbolRecovery(const NumberSplit& split, const std::string& task,
                               const SymbolRecoveryOptions& options)
    : NumberSets(split, task, {options.symbols + 1, options.dim, options.symbols},
                 "Each example consists of random symbols followed by a mixture of them with some "
                 "outliers. The targets are the mixture weights.",
                 /*exact=*/true),
      m_options(options) {}

void SymbolRecovery::draw(SplitMix& random, std::span<float> objects,
                          std::span<float> targets) const {
    const auto d = static_cast<std::size_t>(m_options.dim),
               m = static_cast<std::size_t>(m_options.symbols);
    const auto symbols = objects.first(m * d);
    const double deviation = 1.0 / std::sqrt(static_cast<double>(d));
    for (auto& s : symbols) s = static_cast<float>(deviation * random.gaussian());
    // Uniform in the simplex: exponential variables, divided by their sum.
    const auto count = m_options.nonzero > 0 ? static_cast<std::size_t>(m_options.nonzero) : m;
    std::vector<std::size_t> places(m);
    for (std::size_t i = 0; i < m; ++i) places[i] = i;
    if (count < m) random.shuffle(places);
    std::vector<double> r(m, 0.0);
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) sum += r[places[i]] = -std::log(1.0 - random.uniform());
    for (std::size_t i = 0; i < m; ++i) targets[i] = static_cast<float>(r[i] / sum);
    const auto a = objects.subspan(m * d);
    for (std::size_t k = 0; k < d; ++k) {
        double value = 0.0;
        for (std::size_t i = 0; i < m; ++i)
            value += static_cast<double>(targets[i]) * static_cast<double>(symbols[i * d + k]);
        // Both are always drawn, so that the amount of noise does not change the other values.
        const bool off = random.uniform() < m_options.adversarial;
        const double error = 10.0 * random.gaussian();
        a[k] = static_cast<float>(off ? value + error : value);
    }
}

std::vector<std::string> SymbolRecovery::words(Vector objects, Vector targets) const {
    const auto d = static_cast<std::size_t>(m_options.dim), m = targets.size();
    std::vector<std::string> all;
    for (std::size_t i = 0; i < m; ++i)
        all.push_back("symbol " + std::to_string(i + 1) + ": " +
                      shortNumber(static_cast<double>(targets[i])));
    const auto a = objects.subspan(m * d);
    int off = 0;
    for (std::size_t k = 0; k < d; ++k) {
        double value = 0.0;
        for (std::size_t i = 0; i < m; ++i)
            value += static_cast<double>(targets[i]) * static_cast<double>(objects[i * d + k]);
        off += std::abs(value - static_cast<double>(a[k])) > 1e-5;
    }
    all.push_back("observed, " + std::to_string(off) + " of " + std::to_string(d) +
                  " are outliers");
    return all;
}

}  // namespace relascope::datasets
