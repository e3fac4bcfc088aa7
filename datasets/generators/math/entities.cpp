// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/math/entities.h"

#include <algorithm>
#include <cmath>

namespace relascope::datasets::mathematics {

const char* ordinalWord(int n) {
    static const char* words[] = {"zeroth", "first", "second", "third"};
    return words[n];
}

std::string joined(const std::string& a, const std::string& b) {
    return a.empty() ? b : b.empty() ? a : a + ' ' + b;
}

Entities::Entities(Draws& draws) : m_draws(draws) {
    for (char c = 'a'; c <= 'z'; ++c)
        if (c != 'e') m_letters.emplace_back(1, c);
    draws.random().shuffle(m_letters);
}

std::string Entities::letter() {
    if (m_letters.empty()) throw Outgrown();
    auto letter = m_letters.back();
    m_letters.pop_back();
    return letter;
}

std::vector<SampleArgs> Entities::split(const SampleArgs& args, int count) {
    const auto modules = m_draws.parts(count, args.modules - 1);
    const auto entropies = m_draws.dirichlet(args.entropy, modules);
    std::vector<SampleArgs> each;
    for (std::size_t i = 0; i < modules.size(); ++i) each.push_back({modules[i], entropies[i]});
    return each;
}

std::string Entities::tell(const std::vector<Entity>& entities) {
    std::vector<const Entity*> order;
    for (const auto& entity : entities) order.push_back(&entity);
    m_draws.random().shuffle(order);
    std::string text;
    for (const auto* entity : order)
        text = joined(joined(text, entity->premises), entity->sentence);
    return text;
}

std::string Entities::nameNumbers(const SampleArgs& args, std::vector<Expression*> numbers) {
    const int most = args.modules - 1;
    if (most <= 0) return "";
    if (numbers.empty()) throw Outgrown();
    const int count = m_draws.between(1, std::min(most, static_cast<int>(numbers.size())));
    m_draws.random().shuffle(numbers);
    const auto each = split(args, count);
    std::vector<Entity> named;
    for (std::size_t i = 0; i < each.size(); ++i) {
        named.push_back(number(numbers[i]->value().numerator, each[i]));
        if (named.back().isLetter()) numbers[i]->replace(named.back().handle);
    }
    return tell(named);
}

Entity Entities::number(std::int64_t value, SampleArgs args) {
    if (args.modules == 0) {
        Entity entity;
        entity.handle = std::to_string(value);
        return entity;
    }
    switch (m_draws.between(0, 4)) {
        case 0:
            return solved(value, args, 1);
        case 1:
            return solved(value, args, 2);
        case 2:
            return addedOrSubtracted(value, args);
        case 3:
            return calculated(value, args);
        default:
            return evaluated(value, args);
    }
}

Entity Entities::solved(std::int64_t value, SampleArgs args, int unknowns) {
    double entropy = args.peel();
    std::vector<std::int64_t> solutions = {value};
    if (unknowns == 2) {
        const double other = std::max(1.0, entropy / 4.0);
        entropy -= other;
        solutions.push_back(m_draws.integer(other));
    }
    std::vector<std::string> letters;
    for (int i = 0; i < unknowns; ++i) letters.push_back(letter());
    auto system = linearSystem(m_draws, letters, solutions, std::max(1.0, entropy));
    std::vector<Expression*> numbers;
    for (auto& equation : system)
        for (auto* side : {&equation.left, &equation.right})
            for (auto* found : side->integers()) numbers.push_back(found);
    Entity entity;
    entity.premises = nameNumbers(args, numbers);
    entity.sentence = "Suppose " + system[0].text();
    if (unknowns == 2) entity.sentence += ", " + system[1].text();
    entity.sentence += '.';
    entity.handle = letters[0];
    return entity;
}

Entity Entities::addedOrSubtracted(std::int64_t value, SampleArgs args) {
    const bool add = m_draws.coin();
    const double entropy =
        std::max(args.peel(), std::log10(5.0 * std::abs(static_cast<double>(value)) + 1.0));
    std::int64_t p = m_draws.integer(entropy), q = add ? plus(value, -p) : plus(p, -value);
    if (m_draws.coin()) {
        std::swap(p, q);
        if (!add) p = -p, q = -q;
    }
    const auto each = split(args, 2);
    const std::vector<Entity> parts = {number(p, each[0]), number(q, each[1])};
    Entity entity;
    entity.premises = tell(parts);
    entity.handle = letter();
    entity.sentence = "Let " + entity.handle + " = " + parts[0].handle + (add ? " + " : " - ") +
                      parts[1].handle + '.';
    return entity;
}

Entity Entities::calculated(std::int64_t value, SampleArgs args) {
    double entropy = args.peel();
    const int extra = static_cast<int>(entropy / 2.0), operations = m_draws.between(3, 3 + extra);
    entropy += treeEntropy(operations) - std::log10(extra + 1.0);
    auto expression = arithmetic(value, operations, entropy);
    Entity entity;
    entity.premises = nameNumbers(args, expression.integers());
    entity.handle = letter();
    entity.sentence = "Let " + entity.handle + " be " + expression.text() + '.';
    return entity;
}

Entity Entities::evaluated(std::int64_t value, SampleArgs args) {
    double entropy = args.peel();
    const double ofInput = m_draws.uniform(1.0, 1.0 + entropy / 3.0);
    entropy = std::max(0.0, entropy - ofInput);
    const std::int64_t input = m_draws.integer(ofInput);
    const int degree = m_draws.between(1, 3);
    std::vector<int> weights;
    for (int i = 1; i <= degree; ++i) weights.push_back(i);
    const auto entropies = m_draws.dirichlet(entropy, weights);
    // From the highest power down, each coefficient takes as much of the remaining value as
    // possible.
    std::vector<std::int64_t> coefficients(static_cast<std::size_t>(degree) + 1);
    std::int64_t left = value;
    for (int i = 0; i < degree; ++i) {
        std::int64_t power = 1;
        for (int k = i; k < degree; ++k) power = times(power, input);
        auto c = m_draws.integer(entropies[static_cast<std::size_t>(i)]);
        if (input != 0)
            c = plus(c, std::llround(static_cast<double>(left) / static_cast<double>(power)));
        if (c == 0 && i == 0) c = m_draws.coin() ? 1 : -1;
        coefficients[static_cast<std::size_t>(degree - i)] = c;
        left = plus(left, -times(c, power));
    }
    coefficients[0] = left;
    const auto each = split(args, 2);
    const std::vector<Entity> parts = {polynomial(Polynomial(coefficients), each[0]),
                                       number(input, each[1])};
    Entity entity;
    entity.premises = tell(parts);
    entity.handle = letter();
    entity.sentence =
        "Let " + entity.handle + " be " + parts[0].handle + '(' + parts[1].handle + ").";
    return entity;
}

Entity Entities::polynomial(const Polynomial& p, SampleArgs args) {
    if (args.modules == 0) return plain(p);
    switch (m_draws.between(0, p.isInteger() ? 2 : 1)) {
        case 0:
            return differentiated(p, args);
        case 1:
            return collected(p, args);
        default:
            return added(p, args);
    }
}

Entity Entities::plain(const Polynomial& p) {
    Entity entity;
    entity.variable = letter();
    entity.handle = letter();
    entity.expression = textOf(p, {entity.variable});
    entity.sentence =
        "Let " + entity.handle + '(' + entity.variable + ") = " + entity.expression + '.';
    return entity;
}

Entity Entities::differentiated(const Polynomial& p, SampleArgs args) {
    const int order = m_draws.between(1, 3);
    const double entropy = std::max(0.0, args.peel() - std::log10(3.0));
    Polynomial integral = p;
    for (int i = 0; i < order; ++i) integral = antiderivative(integral, 0);
    const auto lost = randomPolynomial(m_draws, {order - 1}, entropy);
    const auto of = polynomial(integral + lost, split(args, 1)[0]);
    Entity entity;
    std::string text = of.expression, variable = of.variable;
    if (text.empty()) {
        variable = letter();
        text = of.handle + '(' + variable + ')';
        entity.premises = joined(of.premises, of.sentence);
    } else {
        entity.premises = of.premises;
    }
    entity.handle = letter();
    entity.sentence = "Let " + entity.handle + '(' + variable + ") be the " + ordinalWord(order) +
                      " derivative of " + text + '.';
    return entity;
}

Entity Entities::added(const Polynomial& p, SampleArgs args) {
    const double entropy = args.peel();
    const auto sum = splitSum(p, entropy, args);
    Entity entity;
    entity.premises = sum.premises;
    entity.handle = letter();
    entity.sentence = "Let " + entity.handle + '(' + sum.variable + ") = " + sum.text + '.';
    return entity;
}

Entity Entities::collected(const Polynomial& p, SampleArgs args) {
    const double entropy = args.peel();
    std::vector<std::vector<Rational>> coefficients;
    if (p.isInteger()) {
        coefficients = spread(m_draws, p, entropy);
    } else {
        for (const auto& value : p.values) coefficients.push_back({value});
        args.entropy += entropy;
    }
    Entity entity;
    entity.variable = letter();
    auto expression = scattered(m_draws, coefficients, entity.variable);
    if (expression.integers().empty())
        expression = Expression::sum({expression, Expression::number(0)});
    entity.premises = nameNumbers(args, expression.integers());
    entity.handle = letter();
    entity.expression = expression.text();
    entity.sentence =
        "Let " + entity.handle + '(' + entity.variable + ") = " + entity.expression + '.';
    return entity;
}

}  // namespace relascope::datasets::mathematics
