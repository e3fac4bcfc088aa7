// SPDX-License-Identifier: GPL-3.0-or-later
// What a scan may be asked for, the sentences that it makes from its numbers, and its result as
// text.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/scan.h"
#include "types/finite_json.h"
#include "types/metric.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {

const FieldTable<ScanOptions>& scanFields() {
    using O = ScanOptions;
    static const auto inTime = [](auto field) {
        field.automatic = [](const O&) { return std::string("as time allows"); };
        return field;
    };
    static const FieldTable<O> table = {
        fields::integer(&O::seconds, "seconds", "Seconds",
                        "about how long it may take: less time takes fewer examples, then fewer "
                        "exact effects",
                        1, 1e6),
        inTime(fields::integer(
            &O::examples, "examples", "Examples",
            "number of examples; 0: as many as there is time for, at most 1,000, of text "
            "32 windows",
            0, 1e6)),
        inTime(fields::integer(
            &O::exact, "exact", "Exact effects",
            "number of parts that are measured exactly; 0: groups and the strongest 5 %, "
            "at least 24, as far as there is time",
            0, 1e6)),
        fields::integer(&O::untrained, "untrained", "Untrained models",
                        "models with the same options and fresh weights that findings are compared "
                        "with; 0: none",
                        0, 64),
        fields::text(&O::attributes, "attributes", "Attributes",
                     "a CSV file of own attributes: columns example, i, j, and one for each "
                     "attribute")};
    return table;
}

std::string partTitle(const std::string& part) {
    // "abstractor.0.rca.hook_pattern head 1": the pattern of a head is a relation.
    if (const auto first = part.find('.');
        part.find(".hook_") != std::string::npos && first + 1 < part.size() &&
        std::isdigit(static_cast<unsigned char>(part[first + 1]))) {
        const auto words = part.find(' ');
        auto title = (part.starts_with("blocks.") ? std::string("layer") : part.substr(0, first)) +
                     " " + std::to_string(std::stoll(part.substr(first + 1)) + 1);
        if (words == std::string::npos) return title;
        const auto rest = part.substr(words + 1);
        if (!rest.starts_with("head ")) return title + ", " + rest;
        return title + ", relation " + std::to_string(std::stoll(rest.substr(5)) + 1);
    }
    // After the number of the layer.
    const auto first = part.find(' ');
    const auto second = first == std::string::npos ? first : part.find(' ', first + 1);
    if (second == std::string::npos ||
        std::isdigit(static_cast<unsigned char>(part[first + 1])) == 0)
        return part;
    return part.substr(0, second) + "," + part.substr(second);
}

// Sentences
// -------------------------------------------------------------------------------------------------

namespace {

using Fit = RelationAtlas::Fit;
using Relation = RelationAtlas::Relation;
using Way = AblationRow::Way;

constexpr std::size_t kMostFindings = 12, kMostUnused = 6, kProvisional = 5, kSingleLayers = 4;
constexpr double kLeastShare = 0.05, kBetterThanUntrained = 0.05, kUnexplained = 0.0;

std::string upper(std::string text) {
    if (!text.empty())
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

/// Values and changes of the metric of a scan, for people.
class MetricWords {
public:
    explicit MetricWords(const std::string& metric)
        : m_name(metricLabel(metric)),
          m_percent(metricInfo(metric).isFraction()),
          m_lower(metricInfo(metric).lowerIsBetter) {}

    const std::string& name() const { return m_name; }
    std::string number(double value) const {
        return m_percent ? numberWithMinus(rounded(100.0 * value, 1), 1)
                         : numberWithMinus(rounded(value, 3), 3);
    }
    std::string interval(double low, double high) const {
        return "[" + number(low) + ", " + number(high) + "]";
    }
    const char* unit() const { return m_percent ? " %" : ""; }
    const char* points() const { return m_percent ? " points" : ""; }
    /// What a change loses; positive is worse.
    double cost(double change) const { return m_lower ? change : -change; }

    /// "accuracy falls from 95.7 to 50.0 % [48.1, 51.6]".
    std::string moves(const PairedChange& c) const {
        const bool same = number(c.base) == number(c.edited);
        return m_name +
               (same             ? " stays at "
                : c.change > 0.0 ? " rises from "
                                 : " falls from ") +
               (same ? "" : number(c.base) + " to ") + number(c.edited) + unit() + " " +
               interval(c.base + c.low, c.base + c.high);
    }
    /// "0.2 points [−0.1, 0.5]": what is lost.
    std::string amount(const PairedChange& c) const {
        const double low = std::min(cost(c.low), cost(c.high)),
                     high = std::max(cost(c.low), cost(c.high));
        return number(cost(c.change)) + points() + " " + interval(low, high);
    }
    std::string costs(const PairedChange& c) const { return "costs " + amount(c); }
    /// Whether it loses at least so much, beyond doubt.
    bool hurts(const PairedChange& c, double least) const {
        return std::isfinite(c.change) && cost(c.change) >= least && certain(c);
    }
    bool certain(const PairedChange& c) const { return std::min(cost(c.low), cost(c.high)) > 0.0; }

private:
    static double rounded(double value, int digits) {
        const double unit = std::pow(10.0, digits);
        return std::round(value * unit) == 0.0 ? 0.0 : value;  // no sign before 0
    }
    std::string m_name;
    bool m_percent, m_lower;
};

std::string wayWords(EditOp how) {
    return how == EditOp::Mean ? "its mean" : "another example's values";
}

class Conclusions {
public:
    explicit Conclusions(ModelScan& scan)
        : m_scan(scan), m_words(scan.metric), m_least(leastCost(scan)) {}

    void draw() {
        m_scan.findings.clear(), m_scan.notFound.clear();
        if (m_scan.passes < 2 && m_scan.measured == 0) return estimatesAlone();
        if (m_scan.passes == 3 && !beatsUntrained()) return noBetter();
        namedMaps();
        unnamedParts();
        rank();
        unusedLayers();
        learnedAndUnused();
        whatIsMissing();
    }

private:
    const ModelScan::Part* partOf(const std::string& name) const {
        for (const auto& part : m_scan.parts)
            if (part.row.part == name) return &part;
        return nullptr;
    }
    /// The measured way that costs most; null: none is measured.
    const Way* worst(const ModelScan::Part* part) const {
        const Way* found = nullptr;
        if (part)
            for (const auto& way : part->row.ways)
                if (!found || m_words.cost(way.change.change) > m_words.cost(found->change.change))
                    found = &way;
        return found;
    }
    bool used(const ModelScan::Part* part) const {
        const auto* way = worst(part);
        return way && m_words.hurts(way->change, m_least);
    }
    /// All relations of the layer of a map.
    const ModelScan::Part* togetherOf(const Relation& map) const {
        return map.head ? nullptr : partOf(map.layer + " relations");
    }
    /// Nothing where both replacements hurt; else which one does not.
    std::string otherWay(const ModelScan::Part& part, const Way& shown) const {
        for (const auto& way : part.row.ways)
            if (&way != &shown && !m_words.hurts(way.change, m_least))
                return " with " + wayWords(shown.how) + " in its place, but with " +
                       wayWords(way.how) + " it is " + m_words.number(way.change.edited) +
                       m_words.unit() + " " +
                       m_words.interval(way.change.base + way.change.low,
                                        way.change.base + way.change.high);
        return {};
    }
    std::string without(const ModelScan::Part& part) const {
        const auto& way = *worst(&part);
        return m_words.moves(way.change) + otherWay(part, way);
    }

    // While there are estimates alone

    void estimatesAlone() {
        for (const auto& part : m_scan.parts) {
            if (m_scan.findings.size() == kProvisional || !std::isfinite(part.estimate)) break;
            ModelScan::Finding finding;
            finding.part = part.row.part;
            finding.effect = std::abs(part.estimate);
            finding.text = upper(part.title) + ": without it the loss " +
                           (part.estimate < 0 ? "falls" : "rises") + " by about " +
                           fixedField(std::abs(part.estimate), 3) +
                           ", by a first-order estimate over " + groupedNumber(m_scan.estimated) +
                           " " + m_scan.noun + "; it is not measured yet.";
            m_scan.findings.push_back(std::move(finding));
        }
    }

    // What untrained models do, too

    bool beatsUntrained() const {
        for (const double score : m_scan.atlas.untrainedScores) {
            if (!std::isfinite(score) || !std::isfinite(m_scan.base)) continue;
            const bool lower = metricInfo(m_scan.metric).lowerIsBetter;
            const bool better = lower ? m_scan.base <= (1.0 - kBetterThanUntrained) * score
                                      : m_scan.base >= score + kBetterThanUntrained * (1.0 - score);
            if (!better) return false;
        }
        return true;
    }
    void noBetter() {
        const auto& scores = m_scan.atlas.untrainedScores;
        const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
        m_scan.notFound.push_back(
            "The model answers no better than untrained ones: " + m_words.name() + " " +
            m_words.number(m_scan.base) + m_words.unit() + ", and " +
            std::to_string(scores.size()) + " models with fresh weights reach " +
            m_words.number(*low) + " to " + m_words.number(*high) + m_words.unit() +
            ". Nothing can be said of what its parts do.");
    }

    // Maps with a label

    std::string labelOf(const Relation& map) const {
        const auto words = [&](std::int64_t a) {
            const auto at = static_cast<std::size_t>(a);
            return std::string("*") + (map.fits[at].fixed < 0.5 ? "not " : "") +
                   m_scan.atlas.attributes[at].name + "*";
        };
        std::string label = words(map.labelled);
        if (map.second >= 0) label += " or " + words(map.second);
        return label;
    }
    const Fit& fitOf(const Relation& map) const {
        return map.fits[static_cast<std::size_t>(map.labelled)];
    }
    /// "AUC 0.996 [0.994, 0.998] within places; untrained 0.73 to 0.92".
    std::string numbersOf(const Relation& map) const {
        const auto& fit = fitOf(map);
        std::string text = "AUC " + fixedField(fit.fixed, 3);
        if (std::isfinite(fit.low))
            text += " [" + fixedField(fit.low, 3) + ", " + fixedField(fit.high, 3) + "]";
        text += " within places";
        if (std::isfinite(fit.untrained))
            text += "; untrained " + fixedField(fit.untrainedLow, 2) + " to " +
                    fixedField(fit.untrainedHigh, 2);
        if (std::isfinite(fit.initial)) text += "; at step 0 " + fixedField(fit.initial, 2);
        return text;
    }
    double selectivityOf(const Relation& map) const {
        if (map.labelled < 0 || map.origin == "inborn") return kUnexplained;
        const auto& fit = fitOf(map);
        const auto side = [&](double auc) { return fit.fixed < 0.5 ? 1.0 - auc : auc; };
        const double before = std::isfinite(fit.untrained) ? fit.untrained
                              : std::isfinite(fit.initial) ? fit.initial
                                                           : 0.5;
        const double there = std::clamp(side(before), 0.5, 0.999);
        return std::clamp((side(fit.fixed) - there) / (1.0 - there), 0.0, 1.0);
    }
    /// "answers *same object*"; of a head "attends where *same object* holds".
    std::string told(const Relation& map) const {
        if (!map.head) return "answers " + labelOf(map);
        std::string text = "attends where ";
        for (const auto attribute : {map.labelled, map.second}) {
            if (attribute < 0) continue;
            const auto at = static_cast<std::size_t>(attribute);
            text += (attribute == map.labelled ? "*" : " or *") + m_scan.atlas.attributes[at].name +
                    (map.fits[at].fixed < 0.5 ? "* does not hold" : "* holds");
        }
        return text;
    }

    ModelScan::Finding findingOf(const Relation& map) const {
        ModelScan::Finding finding;
        finding.part = map.name;
        finding.maps = {&map - m_scan.atlas.relations.data()};
        finding.selectivity = selectivityOf(map);
        finding.layer = map.layerIndex, finding.index = map.index, finding.head = map.head;
        // "Not same object" is large on pairs that are not the same.
        if (!map.highest.empty())
            finding.example = map.highest.front().example, finding.i = map.highest.front().i,
            finding.j = map.highest.front().j;
        return finding;
    }

    static std::string appeared(const Relation& map) {
        if (map.appearedBy < 0) return {};
        return "; it appeared between steps " + std::to_string(map.appearedAfter) + " and " +
               std::to_string(map.appearedBy);
    }

    void namedMaps() {
        std::map<std::string, std::vector<const Relation*>> alike;  // used together, one label
        for (const auto& map : m_scan.atlas.relations) {
            if (map.labelled < 0 || map.origin == "inborn" || isRelationToo(map)) continue;
            const auto* part = partOf(map.name);
            if (used(part)) {
                auto finding = findingOf(map);
                finding.effect = m_words.cost(worst(part)->change.change);
                finding.text = upper(partTitle(map.name)) + " " + told(map) + " (" +
                               numbersOf(map) + "); without it " + without(*part) + appeared(map) +
                               "." + unknownOrigin(map);
                m_scan.findings.push_back(std::move(finding));
            } else if (used(togetherOf(map))) {
                alike[map.layer + labelOf(map)].push_back(&map);
            }
        }
        for (auto& [key, maps] : alike) togetherUsed(maps);
    }

    /// A head that attends by a relation of its own, which is another map with the same values.
    bool isRelationToo(const Relation& head) const {
        const auto* effect = worst(partOf(head.name));
        return head.head && effect &&
               std::any_of(m_scan.atlas.relations.begin(), m_scan.atlas.relations.end(),
                           [&](const Relation& one) {
                               const auto* other = worst(partOf(one.name));
                               return !one.head && one.layer == head.layer &&
                                      one.index == head.index &&
                                      one.values.mean == head.values.mean && other &&
                                      other->change.change == effect->change.change;
                           });
    }

    std::string unknownOrigin(const Relation& map) const {
        if (m_scan.passes < 3) return " Other weights are not compared yet.";
        return map.origin.empty() ? " Whether untrained models do so, too, was not measured." : "";
    }

    void togetherUsed(std::vector<const Relation*> maps) {
        std::stable_sort(maps.begin(), maps.end(), [&](const auto* a, const auto* b) {
            return selectivityOf(*a) > selectivityOf(*b);
        });
        const auto& best = *maps.front();
        const auto& together = *togetherOf(best);
        auto finding = findingOf(best);
        finding.part = together.row.part;
        finding.effect = m_words.cost(worst(&together)->change.change);
        std::vector<std::int64_t> numbers;
        const PairedChange* most = nullptr;
        for (const auto* map : maps) {
            numbers.push_back(map->index + 1);
            if (map != &best) finding.maps.push_back(map - m_scan.atlas.relations.data());
            if (const auto* way = worst(partOf(map->name));
                way && (!most || m_words.cost(way->change.change) > m_words.cost(most->change)))
                most = &way->change;
        }
        std::sort(numbers.begin(), numbers.end());
        std::string which;
        for (std::size_t k = 0; k < numbers.size(); ++k)
            which += (k == 0                    ? ""
                      : k + 1 == numbers.size() ? " and "
                                                : ", ") +
                     std::to_string(numbers[k]);
        finding.text =
            upper(partTitle(best.layer)) + (maps.size() > 1 ? ", relations " : ", relation ") +
            which + (maps.size() > 1 ? " answer " : " answers ") + labelOf(best) + " (" +
            (maps.size() > 1 ? "best relation " + std::to_string(best.index + 1) + ": " : "") +
            numbersOf(best) + ")" + appeared(best) + "; ";
        if (most)
            finding.text +=
                std::string(maps.size() > 1 ? "taking out one of them" : "taking it out alone") +
                " " + m_words.costs(*most) + (maps.size() > 1 ? " at most" : "") + ", but ";
        finding.text +=
            "without all relations of the layer " + without(together) + "." + unknownOrigin(best);
        m_scan.findings.push_back(std::move(finding));
    }

    // Parts that matter and have no name

    void unnamedParts() {
        for (const auto& part : m_scan.parts) {
            const auto& name = part.row.part;
            const bool path = name.ends_with(" relations") || name.ends_with(" symbols");
            const Relation* map = nullptr;
            for (const auto& one : m_scan.atlas.relations)
                if (one.name == name) map = &one;
            // That whole layers and all attention matter says little.
            const bool early =
                m_scan.passes < 3 && (part.row.group == "relations" || part.row.group == "heads");
            if ((!path && !map && !early) || !used(&part) || isFound(name)) continue;
            if (map && isRelationToo(*map)) continue;
            if (name.ends_with(" relations") && memberFound(name)) continue;
            ModelScan::Finding finding;
            if (map) finding = findingOf(*map);
            finding.part = name;
            finding.selectivity = kUnexplained;
            finding.effect = m_words.cost(worst(&part)->change.change);
            finding.text = upper(partTitle(name)) +
                           (path ? " together are used: without them " : " is used: without it ") +
                           without(part) + "; " + whyUnnamed(name, map) + ".";
            m_scan.findings.push_back(std::move(finding));
        }
    }
    bool isFound(const std::string& name) const {
        return std::any_of(m_scan.findings.begin(), m_scan.findings.end(),
                           [&](const auto& finding) { return finding.part == name; });
    }
    /// A relation of this layer is a finding.
    bool memberFound(const std::string& relations) const {
        return std::any_of(
            m_scan.findings.begin(), m_scan.findings.end(), [&](const auto& finding) {
                return std::any_of(finding.maps.begin(), finding.maps.end(), [&](std::int64_t m) {
                    const auto& map = m_scan.atlas.relations[static_cast<std::size_t>(m)];
                    return !map.head && map.layer + " relations" == relations;
                });
            });
    }
    std::string whyUnnamed(const std::string& name, const Relation* map) const {
        if (name.ends_with(" symbols"))
            return "symbols say which object is meant, and have no attributes";
        if (m_scan.passes < 3) return "what it tells is not measured yet";
        if (m_scan.atlas.attributes.empty())
            return "nothing is known of these objects to name it by";
        const Relation* inborn = map && map->origin == "inborn" ? map : nullptr;
        if (!map)  // any of its layer
            for (const auto& one : m_scan.atlas.relations)
                if (!inborn && one.origin == "inborn" && !one.head &&
                    one.layer + " relations" == name)
                    inborn = &one;
        if (inborn)
            return (map ? "it " : "relation " + std::to_string(inborn->index + 1) + " ") +
                   told(*inborn) + " (" + numbersOf(*inborn) +
                   "), but not clearly better than weights that are not trained";
        return "none of the " + std::to_string(m_scan.atlas.attributes.size()) +
               " attributes explains what " + (map ? "it tells" : "they tell");
    }

    void rank() {
        std::stable_sort(
            m_scan.findings.begin(), m_scan.findings.end(), [](const auto& a, const auto& b) {
                const double first = a.effect * a.selectivity, second = b.effect * b.selectivity;
                return first != second ? first > second : a.effect > b.effect;
            });
        if (m_scan.findings.size() <= kMostFindings) return;
        m_left = m_scan.findings.size() - kMostFindings;
        m_scan.findings.resize(kMostFindings);
    }

    // What was not found

    /// The layer of a relation by its name.
    static std::string layerOf(const std::string& relation) {
        const auto at = relation.rfind(' ', relation.rfind(' ') - 1);
        return relation.substr(0, at);
    }

    void unusedLayers() {
        struct Layer {
            std::string name;
            int relations = 0;
            bool used = false;
            const ModelScan::Part* one = nullptr;
        };
        std::vector<Layer> layers;
        for (const auto& part : m_scan.parts) {
            if (part.row.group != "relations") continue;
            const auto name = layerOf(part.row.part);
            auto at = std::find_if(layers.begin(), layers.end(),
                                   [&](const Layer& layer) { return layer.name == name; });
            if (at == layers.end()) at = layers.insert(at, {name});
            ++at->relations, at->used = at->used || used(&part), at->one = &part;
        }
        std::sort(layers.begin(), layers.end(), [](const auto& a, const auto& b) {
            return a.name.size() != b.name.size() ? a.name.size() < b.name.size()
                                                  : a.name < b.name;  // 2 before 10
        });
        std::vector<std::string> sentences, names;
        const Way* most = nullptr;
        for (const auto& layer : layers) {
            const bool alone = layer.relations == 1;
            const auto* part = alone ? layer.one : partOf(layer.name + " relations");
            const auto* way = worst(part);
            if (!way || layer.used || used(part)) continue;
            const auto title = partTitle(layer.name);
            names.push_back(title);
            if (!most || m_words.cost(way->change.change) > m_words.cost(most->change.change))
                most = way;
            const bool little = m_words.certain(way->change);
            const auto out = ": all " + std::to_string(layer.relations) + " out cost ";
            std::string sentence = alone ? "The relation of " + title + " is " +
                                               (little ? "hardly" : "not") +
                                               " used: taking it out costs "
                                   : little ? "Relations of " + title + " are hardly used" + out
                                            : "No relation of " + title + " is used" + out;
            sentences.push_back(sentence + m_words.amount(way->change) + ".");
        }
        if (sentences.size() > kSingleLayers)
            sentences = {"Relations of these layers are hardly or not used: " + joined(names) +
                         ". All of one out cost " + m_words.amount(most->change) + " at most."};
        m_scan.notFound.insert(m_scan.notFound.end(), sentences.begin(), sentences.end());
    }

    void learnedAndUnused() {
        std::vector<const Relation*> unused;
        for (const auto& map : m_scan.atlas.relations)
            if (map.labelled >= 0 && map.origin == "learned" && worst(partOf(map.name)) &&
                !used(partOf(map.name)) && !used(togetherOf(map)))
                unused.push_back(&map);
        std::stable_sort(unused.begin(), unused.end(), [&](const auto* a, const auto* b) {
            return selectivityOf(*a) > selectivityOf(*b);
        });
        for (std::size_t k = 0; k < std::min(unused.size(), kMostUnused); ++k) {
            const auto& map = *unused[k];
            const auto& change = worst(partOf(map.name))->change;
            const bool little = m_words.certain(change);
            m_scan.notFound.push_back(
                upper(partTitle(map.name)) + " " + told(map) + " (" + numbersOf(map) +
                (little ? "), but is hardly used: taking it out "
                        : "), but nothing shows that it is used: taking it out ") +
                m_words.costs(change) + ".");
        }
        if (unused.size() > kMostUnused)
            m_scan.notFound.push_back("The same is true of " +
                                      std::to_string(unused.size() - kMostUnused) + " more maps.");
    }

    void whatIsMissing() {
        if (m_left > 0)
            m_scan.notFound.push_back(std::to_string(m_left) +
                                      " more findings are weaker than these; the table has them.");
        if (m_scan.passes < 3) return;
        if (m_scan.findings.empty())
            m_scan.notFound.insert(m_scan.notFound.begin(),
                                   "No part that was measured costs " + m_words.number(m_least) +
                                       m_words.points() + " of " + m_words.name() +
                                       " or more alone, and no layer's relations do together.");
        if (m_scan.allMaps == 0)
            m_scan.notFound.push_back(
                "This model has no relations and no attention among the objects that it reads, so "
                "that there are no maps to name.");
        else if (m_scan.atlas.attributes.empty())
            m_scan.notFound.push_back(
                "Nothing is known of the objects of these data, so that no map can be named; give "
                "--attributes FILE.");
        std::int64_t unmeasured = 0;
        for (const auto& part : m_scan.parts) unmeasured += part.row.ways.empty();
        if (unmeasured > 0)
            m_scan.notFound.push_back(
                "Of " + groupedNumber(unmeasured) + " of " +
                groupedNumber(std::ssize(m_scan.parts)) +
                " parts there are first-order estimates alone; their exact effects take more "
                "time (--seconds) or are asked for (--exact).");
        if (const auto rest = m_scan.allMaps - std::ssize(m_scan.described); rest > 0)
            m_scan.notFound.push_back("Attributes were looked for in " +
                                      groupedNumber(std::ssize(m_scan.described)) + " of " +
                                      groupedNumber(m_scan.allMaps) +
                                      " maps: those that matter most, and those with the strongest "
                                      "ones among the rest.");
    }

    ModelScan& m_scan;
    MetricWords m_words;
    double m_least;  // that counts as use
    std::size_t m_left = 0;
};

// Text
// -------------------------------------------------------------------------------------------------

const Relation* mapOfPart(const ModelScan& scan, const std::string& part) {
    for (const auto& map : scan.atlas.relations)
        if (map.name == part) return &map;
    return nullptr;
}

std::string scanCsv(const ModelScan& scan) {
    std::string text =
        "part,group,estimate,estimate_size,metric,base,mean_change,mean_low,mean_high,resample_"
        "change,"
        "resample_low,resample_high,label,attribute,auc,low,high,untrained_low,untrained_high,"
        "finding\n";
    for (const auto& part : scan.parts) {
        text += csvField(part.row.part) + "," + part.row.group + "," +
                shortestField(part.estimate) + "," + shortestField(part.estimatedSize) + "," +
                scan.metric + "," + shortestField(scan.base);
        for (const auto how : {EditOp::Mean, EditOp::Resample}) {
            const auto at = std::find_if(part.row.ways.begin(), part.row.ways.end(),
                                         [&](const Way& way) { return way.how == how; });
            if (at == part.row.ways.end())
                text += ",,,";
            else
                for (const double value : {at->change.change, at->change.low, at->change.high})
                    text += "," + shortestField(value);
        }
        const auto* map = mapOfPart(scan, part.row.part);
        text += "," + (map ? csvField(map->label) : "");
        if (map && map->attribute >= 0) {
            const auto at = static_cast<std::size_t>(map->attribute);
            const auto& fit = map->fits[at];
            text += "," + csvField(scan.atlas.attributes[at].name);
            for (const double value :
                 {fit.fixed, fit.low, fit.high, fit.untrainedLow, fit.untrainedHigh})
                text += "," + shortestField(value);
        } else {
            text += ",,,,,,";
        }
        text += ",";
        for (std::size_t k = 0; k < scan.findings.size(); ++k)
            if (scan.findings[k].part == part.row.part) text += std::to_string(k + 1);
        text += "\n";
    }
    return text;
}

nlohmann::ordered_json scanJson(const ModelScan& scan) {
    using Json = nlohmann::ordered_json;
    Json findings = Json::array(), parts = Json::array();
    for (const auto& finding : scan.findings) {
        Json one = {{"finding", finding.text},
                    {"part", finding.part},
                    {"effect", finiteJson(finding.effect)},
                    {"selectivity", finiteJson(finding.selectivity)}};
        if (finding.example >= 0)
            one["best_example"] = {
                {"example", finding.example}, {"i", finding.i}, {"j", finding.j}};
        findings.push_back(std::move(one));
    }
    for (const auto& part : scan.parts) {
        Json one = {{"part", part.row.part},
                    {"group", part.row.group},
                    {"point", part.row.edit.point},
                    {"estimate", finiteJson(part.estimate)},
                    {"estimate_size", finiteJson(part.estimatedSize)}};
        for (const auto& way : part.row.ways)
            one[editOpName(way.how)] = {
                {"change", finiteJson(way.change.change)},
                {"interval", {finiteJson(way.change.low), finiteJson(way.change.high)}},
                {"changed_answers", finiteJson(way.changedAnswers)}};
        parts.push_back(std::move(one));
    }
    Json json = {
        {"data", scan.data},     {"findings", std::move(findings)},    {"not_found", scan.notFound},
        {"metric", scan.metric}, {"base", finiteJson(scan.base)},      {"examples", scan.wanted},
        {"exact", scan.exact},   {"untrained_models", scan.untrained}, {"parts", std::move(parts)}};
    if (!scan.remark.empty()) json["remark"] = scan.remark;
    if (!scan.atlas.relations.empty()) json["atlas"] = atlasAnalysis().json(scan.atlas);
    return json;
}

std::string scanText(const ModelScan& scan) {
    const MetricWords words(scan.metric);
    std::string text =
        groupedNumber(scan.wanted) + " " + scan.noun + " of " + scan.data + ", " + words.name() +
        " " + words.number(scan.base) + words.unit() +
        (scan.untrained > 0 ? ", beside " + std::to_string(scan.untrained) + " untrained models"
                            : std::string()) +
        "\n";
    for (std::size_t k = 0; k < scan.findings.size(); ++k)
        text += "\n" + std::to_string(k + 1) + ". " + scan.findings[k].text + "\n";
    if (!scan.notFound.empty()) text += "\nNot found:\n";
    for (const auto& sentence : scan.notFound) text += "- " + sentence + "\n";
    return text;
}

}  // namespace

double leastCost(const ModelScan& scan) {
    double sum = 0.0;
    for (const double score : scan.atlas.untrainedScores) sum += score;
    const auto count = static_cast<double>(scan.atlas.untrainedScores.size());
    const double learned = count > 0 ? std::abs(scan.base - sum / count) : scan.base;
    return kLeastShare * (std::isfinite(learned) ? learned : 1.0);
}

void concludeScan(ModelScan& scan) {
    Conclusions(scan).draw();
}

const Analysis& scanAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "scan";
        a.title = "Scan";
        a.summary = "looks through a whole model and says in sentences what its parts do";
        a.doing = "Scanning";
        a.input = AnalysisInput::Data;
        a.onDemand = a.continues = true;
        a.remark = [](const AnalysisResult& result) {
            return std::any_cast<const ModelScan&>(result).remark;
        };
        a.report = [](const AnalysisResult& result, const std::string& name,
                      const std::string& subject, const std::string& command) {
            return scanReport(std::any_cast<const ModelScan&>(result), name, subject, command);
        };
        return analysisOf<ScanOptions, ModelScan>(a, scanFields(), OfferedIn::Row, scanCsv,
                                                  scanText, scanJson);
    }();
    return analysis;
}

}  // namespace relascope::core
