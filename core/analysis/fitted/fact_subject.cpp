// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/fitted/fact_subject.h"

#include <algorithm>
#include <map>
#include <random>

#include "analysis/fitted/fit.h"
#include "analysis/pairs/mask_facts.h"
#include "data/batches.h"
#include "interventions/active_edits.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

constexpr std::size_t kMostFittedPairs = 200'000;  // of one split
constexpr double kPartToFit = 0.6, kPartToChoose = 0.2;
constexpr std::uint64_t kSplitEpoch = 7;  // another order than that in which examples are drawn

void shuffle(auto& values, std::mt19937_64& random) {
    for (std::size_t k = values.size(); k > 1; --k) std::swap(values[k - 1], values[random() % k]);
}

}  // namespace

FactSubject::FactSubject(const ModelOptions& model, DatasetPtr data, const FittedOptions& options)
    : m_data(std::move(data)), m_options(options) {
    const auto* images = dynamic_cast<const ImageDataset*>(m_data.get());
    m_objects = pairObjects(model, *m_data, options.examples, options.attributes);
    keepDifferent(m_objects, *m_data);
    if (images && images->maskFacts() && options.attributes.empty())
        readMasks(*images, model);
    else
        readAttributes(model);
    splitExamples();
    const bool half = isSymmetric(relationForm(options.form));
    m_leftOut =
        limitPairs(m_pairs, kMostFittedPairs, half, static_cast<std::uint64_t>(options.seed));
    check();
}

void FactSubject::readMasks(const ImageDataset& images, const ModelOptions& model) {
    const auto& about = *images.maskFacts();
    m_known = maskFactNames(about);
    if (m_options.fact.empty()) m_options.fact = m_known.front();
    const auto found = std::find(m_known.begin(), m_known.end(), m_options.fact);
    if (found == m_known.end())
        throw OptionError("fact", unknownName("fact", m_options.fact, m_known));
    m_fact = static_cast<std::size_t>(found - m_known.begin());
    const auto* grid = model.find<ImageInput>();
    const auto rows = static_cast<std::size_t>(grid->gridRows()),
               columns = static_cast<std::size_t>(grid->gridColumns());
    m_masked = std::make_unique<MaskedPatches>();
    m_masked->groups = about.groups;
    auto& p = m_pairs;
    p.examples = m_objects.examples.size(), p.objects = rows * columns;
    p.truth.assign(p.examples * p.objects * p.objects, kPairUndefined);
    bool two = false;
    for (std::size_t e = 0; e < p.examples; ++e) {
        auto mask = images.mask(m_objects.examples[e]);
        const auto numbers = objectsOfPatches(mask, rows, columns);
        m_masked->numbers.insert(m_masked->numbers.end(), numbers.begin(), numbers.end());
        mask.numbers.clear();
        readTruth(e, numbers, mask.objects, p.truth);
        m_masked->masks.push_back(std::move(mask));
        std::size_t first = 0;
        for (const auto number : numbers) {
            p.part.push_back(number > 0);
            two = two || (number > 0 && first > 0 && number != first);
            if (number > 0) first = number;
        }
    }
    if (!two)
        throw OptionError("data",
                          "no picture shows two objects, so that there are no pairs; give pictures "
                          "with masks of several objects");
    p.stratum = strataOfGrid(p.objects, columns);
    p.strata = 1 + *std::max_element(p.stratum.begin(), p.stratum.end());
}

void FactSubject::readTruth(std::size_t example, const std::vector<std::uint16_t>& numbers,
                            const std::vector<ObjectMask::Object>& objects,
                            std::vector<std::uint8_t>& truth) const {
    maskTruth(m_fact, m_objects.examples[example], numbers, objects,
              truth.data() + example * numbers.size() * numbers.size());
}

void FactSubject::readAttributes(const ModelOptions& model) {
    auto attributes = attributesOf(m_objects, model, *m_data, m_options.attributes);
    for (const auto& one : attributes.all)
        if (!one.ordered) m_known.push_back(one.name);
    if (m_known.empty())
        throw OptionError("fact",
                          "the data know no facts of pairs; give a file of them with --attributes");
    if (m_options.fact.empty()) m_options.fact = m_known.front();
    m_occupied = attributes.occupied;
    const PairAttribute* chosen = nullptr;
    try {
        chosen = &attributeFor(attributes, m_objects, *m_data, m_options.fact);
    } catch (const OptionError& error) {
        const bool pictures = dynamic_cast<const ImageDataset*>(m_data.get()) != nullptr;
        throw OptionError(
            "fact", error.message() + (pictures ? std::string("; facts of objects are those of "
                                                              "masks with an objects.csv")
                                                : std::string()));
    }
    if (chosen->ordered)
        throw OptionError("fact",
                          "'" + m_options.fact +
                              "' has values; a relation is fitted to yes and no, as 'large " +
                              m_options.fact + "'");
    auto& p = m_pairs;
    p.examples = m_objects.shape.examples, p.objects = m_objects.shape.objects;
    p.truth = chosen->truth;
    p.part.assign(p.examples * p.objects, 0);
    for (std::size_t e = 0; e < p.examples; ++e)
        for (std::size_t i = 0; i < p.objects; ++i)
            for (std::size_t j = 0; j < p.objects; ++j) {
                auto& truth = p.truth[p.cell(e, i, j)];
                if (i == j) truth = kPairUndefined;
                if (truth == kPairUndefined) continue;
                p.part[e * p.objects + i] = p.part[e * p.objects + j] = 1;
            }
    // Places of sets and of grids of objects stand for themselves; patches differ by where they
    // are, tokens by how far they are apart.
    const bool patches = m_objects.columns > 0 && !m_data->objectFacts();
    p.stratum = m_objects.shape.byOffset ? strataOfOffsets(p.objects)
                : patches ? strataOfGrid(p.objects, static_cast<std::size_t>(m_objects.columns))
                          : strataOfPlaces(p.objects);
    p.strata = 1 + *std::max_element(p.stratum.begin(), p.stratum.end());
}

void FactSubject::splitExamples() {
    // Copies are left out already; those of one source stay together.
    const auto* images = dynamic_cast<const ImageDataset*>(m_data.get());
    std::map<std::string, std::int64_t> sources;
    std::vector<std::int64_t> group;
    std::int64_t groups = 0;
    for (const auto example : m_objects.examples) {
        const auto source = images ? images->sourceOf(example) : std::string();
        const auto [at, fresh] = sources.try_emplace(source, groups);
        if (source.empty() || fresh) {
            group.push_back(groups++);
            if (source.empty()) continue;
            at->second = group.back();
        } else {
            group.push_back(at->second);
        }
    }
    const auto order =
        shuffledOrder(groups, static_cast<std::uint64_t>(m_options.seed), kSplitEpoch);
    std::vector<std::uint8_t> splitOf(static_cast<std::size_t>(groups), kToTest);
    const double all = static_cast<double>(groups);
    for (std::size_t k = 0; k < order.size(); ++k) {
        const double at = (static_cast<double>(k) + 0.5) / all;
        splitOf[static_cast<std::size_t>(order[k])] = at < kPartToFit                   ? kToFit
                                                      : at < kPartToFit + kPartToChoose ? kToChoose
                                                                                        : kToTest;
    }
    for (const auto one : group) m_pairs.split.push_back(splitOf[static_cast<std::size_t>(one)]);
}

void FactSubject::check() const {
    const auto& options = m_options;
    const auto& p = m_pairs;
    if (isSymmetric(relationForm(options.form)))
        for (std::size_t e = 0; e < p.examples; ++e)
            for (std::size_t i = 0; i < p.objects; ++i)
                for (std::size_t j = 0; j < i; ++j)
                    if (p.truth[p.cell(e, i, j)] != p.truth[p.cell(e, j, i)])
                        throw OptionError("form", "'" + options.form +
                                                      "' gives a pair one number, "
                                                      "and '" +
                                                      options.fact +
                                                      "' differs by the order of its objects; "
                                                      "choose any");
    static constexpr const char* uses[] = {"to fit on", "to choose by", "to test on"};
    for (const auto split : {kToFit, kToChoose, kToTest}) {
        const auto pairs = pairsOf(p, split, false);
        for (const bool answer : {true, false})
            if (pairs.count(answer) == 0)
                throw OptionError("fact", "'" + options.fact + "' is never " +
                                              (answer ? "true" : "false") + " in the examples " +
                                              uses[split] +
                                              "; take more examples, or choose another");
    }
}

FactPairs FactSubject::exchanged(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    auto facts = m_pairs;
    std::vector<std::uint8_t> truth(facts.truth.size(), kPairUndefined);
    const auto numbersOf = [&](std::size_t e) {
        const auto from =
            m_masked->numbers.begin() + static_cast<std::ptrdiff_t>(e * facts.objects);
        return std::vector<std::uint16_t>(from, from + static_cast<std::ptrdiff_t>(facts.objects));
    };
    if (m_masked && m_fact == 0) {
        for (std::size_t e = 0; e < facts.examples; ++e) {
            auto numbers = numbersOf(e);
            std::vector<std::uint16_t> shown;
            for (const auto number : numbers)
                if (number > 0) shown.push_back(number);
            shuffle(shown, random);
            std::size_t next = 0;
            for (auto& number : numbers)
                if (number > 0) number = shown[next++];
            readTruth(e, numbers, m_masked->masks[e].objects, truth);
        }
    } else if (m_masked) {
        std::map<std::size_t, std::vector<std::size_t>> alike;  // by the number of objects
        for (std::size_t e = 0; e < facts.examples; ++e)
            alike[m_masked->masks[e].objects.size()].push_back(e);
        for (const auto& [count, members] : alike) {
            auto from = members;
            shuffle(from, random);
            for (std::size_t k = 0; k < members.size(); ++k) {
                auto objects = m_masked->masks[members[k]].objects;
                const auto& others = m_masked->masks[from[k]].objects;
                for (std::size_t o = 0; o < count; ++o) objects[o].facts = others[o].facts;
                readTruth(members[k], numbersOf(members[k]), objects, truth);
            }
        }
    } else {
        std::map<std::int32_t, std::vector<std::size_t>> alike;
        for (std::size_t e = 0; e < facts.examples; ++e)
            alike[e < m_occupied.size() ? m_occupied[e] : 0].push_back(e);
        const auto cells = static_cast<std::ptrdiff_t>(facts.objects * facts.objects);
        for (const auto& [number, members] : alike) {
            auto from = members;
            shuffle(from, random);
            for (std::size_t k = 0; k < members.size(); ++k)
                std::copy_n(facts.truth.begin() + static_cast<std::ptrdiff_t>(from[k]) * cells,
                            cells, truth.begin() + static_cast<std::ptrdiff_t>(members[k]) * cells);
        }
    }
    // Pairs that were left out stay so, and objects take part as before.
    for (std::size_t e = 0; e < facts.examples; ++e)
        for (std::size_t i = 0; i < facts.objects; ++i)
            for (std::size_t j = 0; j < facts.objects; ++j)
                if (!facts.part[e * facts.objects + i] || !facts.part[e * facts.objects + j])
                    truth[facts.cell(e, i, j)] = kPairUndefined;
    facts.truth = std::move(truth);
    return facts;
}

}  // namespace relascope::core
