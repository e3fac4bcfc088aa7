// SPDX-License-Identifier: GPL-3.0-or-later
// The sentences that a scan makes from its numbers.
#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/atlas/labels.h"
#include "analysis/pairs/claims.h"
#include "analysis/scan/scan.h"
#include "answers/answer_text.h"
#include "files/command_line.h"
#include "types/metric.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

using Fit = RelationAtlas::Fit;
using Relation = RelationAtlas::Relation;

constexpr std::size_t kMostFindings = 12, kMostUnused = 6, kProvisional = 5, kSingleLayers = 4,
                      kMostTried = 8;
constexpr std::ptrdiff_t kMostWords = 25;

/// Words in a list: "1, 3 and 4".
std::string enumerated(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t k = 0; k < words.size(); ++k)
        text += (k == 0 ? "" : k + 1 == words.size() ? " and " : ", ") + words[k];
    return text;
}

/// Words of a sentence, signs of per cent apart.
std::ptrdiff_t wordsIn(const std::string& text) {
    std::ptrdiff_t words = 1;
    for (std::size_t k = 0; k + 1 < text.size(); ++k) words += text[k] == ' ' && text[k + 1] != '%';
    return words;
}

std::string sentence(std::string text) {
    return capitalized(std::move(text)) + ".";
}

class Conclusions {
public:
    explicit Conclusions(ModelScan& scan)
        : m_scan(scan),
          m_words(scan.metric),
          m_table(measuredTable(scan)),
          m_claims(useClaims(m_table)) {}

    void draw() {
        m_scan.findings.clear(), m_scan.notFound.clear();
        m_scan.least = m_claims.least;
        m_scan.heading = m_scan.measured > 0 ? scanHeading(m_scan) : std::string();
        m_scan.comparisons = m_claims.comparisons;
        m_scan.expectedFalsePositives = m_claims.expectedFalsePositives;
        for (auto& part : m_scan.parts) part.use = useWord(claimOf(part.row.part));
        const bool estimates = m_scan.passes < 2 && m_scan.measured == 0;
        const auto examples = estimates ? m_scan.estimated : m_scan.measured;
        if (!enoughToSay(examples, m_scan.text)) {
            if (m_scan.passes == 3)
                m_scan.notFound.push_back(sentence(tooFewText(examples, m_scan.text, m_scan.noun)));
            return;
        }
        if (estimates) return estimatesAlone();
        if (!m_claims.better)
            return m_scan.notFound.push_back(
                noBetterText(m_scan.metric, m_scan.base, m_scan.atlas.untrainedScores));
        namedMaps();
        unnamedParts();
        rank();
        unusedLayers();
        learnedAndUnused();
        whatIsMissing();
        for (auto& finding : m_scan.findings) {
            finding.confirm = confirmation(finding);
            explain(finding);
        }
    }

private:
    const UseClaim& claimOf(const std::string& part) const {
        static const UseClaim none;
        const auto* claim = m_claims.of(m_table, part);
        return claim ? *claim : none;
    }
    /// What a map is needed together with: all relations of its layer, or of a head its attention.
    const UseClaim& togetherOf(const Relation& map) const {
        const auto& claim = claimOf(map.name);
        return claimOf(claim.together ? claim.group : std::string());
    }
    std::string meaning(const UseClaim& claim, const std::string& it = "it",
                        bool oneEnd = false) const {
        return useMeaning(claim, m_words, it, oneEnd);
    }
    std::string clause(const UseClaim& claim, const std::string& it = "it") const {
        return useClause(claim, m_words, m_scan.noun, it);
    }
    const Relation* mapNamed(const std::string& name) const {
        for (const auto& map : m_scan.atlas.relations)
            if (map.name == name) return &map;
        return nullptr;
    }
    /// The effect of a finding, and the edits that confirm it.
    static void measured(ModelScan::Finding& finding, const UseClaim& claim) {
        const bool misled = claim.use == PartUse::Misleading;
        const auto& far = misled ? claim.otherExample() : claim.harshest();
        finding.effect = std::abs((misled ? far : claim.mildest()).change.change);
        for (const auto* one : {&claim.mildest(), &far})
            if (finding.checks.empty() || finding.checks.back().edit != one->edit)
                finding.checks.push_back({one->edit, one->change.edited});
    }

    /// A command on the examples of the scan; `more`: its further options as a shell takes them.
    std::string onTheseExamples(const char* command, const std::string& more) const {
        return std::string(command) + " " + m_scan.where + (m_scan.where.empty() ? "" : " ") + more;
    }

    /// "eval --examples 500 --edit 'layer 1 attention zero' gives 87.6 %".
    std::string confirmation(const ModelScan::Finding& finding) const {
        std::string text;
        for (const auto& check : finding.checks) {
            std::vector<std::string> words = {"--examples", std::to_string(m_scan.measured)};
            if (m_scan.tokens > 0) addWords(words, "--tokens", std::to_string(m_scan.tokens));
            text += text.empty() ? onTheseExamples("eval", shellText(words)) : std::string(";");
            text += " " + shellText({"--edit", check.edit}) + " gives " +
                    m_words.number(check.value) + m_words.unit();
        }
        return text;
    }

    /// What a map tells, and what the model does without `it`, in as few words as a first line may
    /// have: fewer names first, then one end alone. A reading has a number of its own.
    std::string firstLine(const std::string& part, const Relation& map, const UseClaim& claim,
                          const std::string& before = {}, const std::string& it = "it",
                          bool many = false) const {
        std::string text;
        for (const bool oneEnd : {!map.reading.empty(), true})
            for (std::size_t less = 0; less <= (oneEnd ? kMostNamed : kMostNamed - 1); ++less) {
                text = sentence(part + " " + meaningOf(m_scan.atlas, map, many, kMostNamed - less) +
                                "; " + before + meaning(claim, it, oneEnd));
                if (wordsIn(text) <= kMostWords) return text;
            }
        return text;
    }
    /// What stands behind it: the numbers of the map, and those of the claim.
    std::string proof(const Relation& map, const std::string& clauses) const {
        const auto numbers = proofOf(m_scan.atlas, map);
        auto text = (numbers.empty() ? std::string() : numbers + ". ") + sentence(clauses);
        if (map.reading.find("empty (AUC") != std::string::npos)
            text += " Among places that are not empty no attribute has an AUC 0.1 from 0.5.";
        if (!map.development.empty()) text += " It " + map.development + ".";
        return text + unknownOrigin(map);
    }

    /// Adds what makes its first map tell pairs apart.
    void explain(ModelScan::Finding& finding) const {
        const auto* one = explanationOf(m_scan, finding);
        if (!one) return;
        const auto& map = m_scan.atlas.relations[static_cast<std::size_t>(finding.maps.front())];
        finding.proof +=
            (finding.maps.size() > 1 ? " Relation " + std::to_string(map.index + 1) + ": " : " ") +
            one->text;
        finding.confirm += (finding.confirm.empty() ? "" : "; ") +
                           onTheseExamples("contrast", one->command) + " gives the shares";
    }

    // Findings while there are only estimates

    void estimatesAlone() {
        for (const auto& part : m_scan.parts) {
            if (m_scan.findings.size() == kProvisional || !std::isfinite(part.estimate)) break;
            ModelScan::Finding finding;
            finding.part = part.row.part;
            finding.effect = std::abs(part.estimate);
            finding.text = capitalized(part.title) + ": without it the loss " +
                           (part.estimate < 0 ? "falls" : "rises") + " by about " +
                           fixedField(std::abs(part.estimate), 3) +
                           ", by a first-order estimate over " + groupedNumber(m_scan.estimated) +
                           " " + m_scan.noun + "; it is not measured yet.";
            m_scan.findings.push_back(std::move(finding));
        }
    }

    // Maps with a name

    const Fit& fitOf(const Relation& map) const {
        return map.fits[static_cast<std::size_t>(map.labelled)];
    }
    double selectivityOf(const Relation& map) const {
        if (map.labelled < 0 || map.origin == "inborn") return 0.0;
        const auto& fit = fitOf(map);
        const auto side = [&](double auc) { return fit.auc < 0.5 ? 1.0 - auc : auc; };
        const double before = std::isfinite(fit.untrained) ? fit.untrained
                              : std::isfinite(fit.initial) ? fit.initial
                                                           : 0.5;
        const double there = std::clamp(side(before), 0.5, 0.999);
        return std::clamp((side(fit.auc) - there) / (1.0 - there), 0.0, 1.0);
    }
    /// Whether a map has a name by what it tells, and untrained weights do not tell it.
    bool isNamed(const Relation& map) const {
        if (!map.reading.empty()) return true;
        if (map.labelled < 0 || map.origin != "inborn") return map.labelled >= 0;
        const auto named = namedAttributes(m_scan.atlas, map);
        return std::any_of(named.begin(), named.end(),
                           [](const auto& one) { return one.origin == "learned"; });
    }

    ModelScan::Finding findingOf(const Relation& map) const {
        ModelScan::Finding finding;
        finding.part = map.name;
        finding.maps = {&map - m_scan.atlas.relations.data()};
        if (map.reading.empty()) finding.selectivity = selectivityOf(map);
        finding.layer = map.layerIndex, finding.index = map.index, finding.head = map.head;
        // The highest pair of all may contradict the sentence.
        const auto& pairs = map.evidence.empty() ? map.highest : map.evidence;
        if (!pairs.empty())
            finding.example = pairs.front().example, finding.i = pairs.front().i,
            finding.j = pairs.front().j;
        return finding;
    }

    void namedMaps() {
        std::map<std::string, std::vector<const Relation*>> alike;  // used together, one name
        for (const auto& map : m_scan.atlas.relations) {
            if (!isNamed(map) || isRelationToo(map)) continue;
            const auto& claim = claimOf(map.name);
            if (claim.together) {
                alike[map.layer + meaningOf(m_scan.atlas, map)].push_back(&map);
            } else if (mattersBy(claim.use)) {
                auto finding = findingOf(map);
                measured(finding, claim);
                finding.text = firstLine(partTitle(map.name), map, claim);
                finding.proof = proof(map, clause(claim));
                m_scan.findings.push_back(std::move(finding));
            }
        }
        for (auto& [key, maps] : alike) neededTogether(maps);
    }

    /// A head that attends by a relation of its own, which is another map with the same values.
    bool isRelationToo(const Relation& head) const {
        const auto& claim = claimOf(head.name);
        const auto sameEffect = [&](const UseClaim& other) {
            return !claim.replacements.empty() && !other.replacements.empty() &&
                   claim.harshest().change.change == other.harshest().change.change;
        };
        return head.head && std::any_of(m_scan.atlas.relations.begin(),
                                        m_scan.atlas.relations.end(), [&](const Relation& one) {
                                            return !one.head && one.layer == head.layer &&
                                                   one.index == head.index &&
                                                   one.values.mean == head.values.mean &&
                                                   sameEffect(claimOf(one.name));
                                        });
    }

    std::string unknownOrigin(const Relation& map) const {
        if (!map.reading.empty()) return "";
        if (m_scan.passes < 3) return " Other weights are not compared yet.";
        if (!map.origin.empty()) return "";
        if (m_scan.atlas.untrainedModels < static_cast<std::int64_t>(kFewestToLearn))
            return " Whether it was learned takes " + std::to_string(kFewestToLearn) +
                   " untrained models; " + std::to_string(m_scan.atlas.untrainedModels) +
                   " were measured.";
        return " That it was learned is not shown: some map of the layer of an untrained model has "
               "an attribute with " +
               aucText(0.5 + map.untrainedFarthest) + ".";
    }

    void neededTogether(std::vector<const Relation*> maps) {
        std::stable_sort(maps.begin(), maps.end(), [&](const auto* a, const auto* b) {
            return selectivityOf(*a) > selectivityOf(*b);
        });
        const auto& best = *maps.front();
        const auto& together = togetherOf(best);
        auto finding = findingOf(best);
        finding.part = claimOf(best.name).group;
        measured(finding, together);
        std::vector<std::int64_t> indices;
        std::string alone;
        for (const auto* map : maps) {
            indices.push_back(map->index + 1);
            if (map != &best) finding.maps.push_back(map - m_scan.atlas.relations.data());
            const auto& row = rowOf(map->name);
            alone += " " + sentence(partTitle(map->name) + ": " + clause(claimOf(map->name)) +
                                    "; with the others of its group out, it adds " +
                                    m_words.number(m_words.gained(*row.adds).change) +
                                    m_words.points() + " " +
                                    m_words.interval(m_words.gained(*row.adds).low,
                                                     m_words.gained(*row.adds).high));
        }
        std::sort(indices.begin(), indices.end());
        std::vector<std::string> numbers;
        for (const auto index : indices) numbers.push_back(std::to_string(index));
        const bool many = maps.size() > 1;
        const auto title = many
                               ? capitalized(partTitle(best.layer)) +
                                     (best.head ? ", heads " : ", relations ") + enumerated(numbers)
                               : partTitle(best.name);
        finding.text = firstLine(title, best, together, "needed with others, or ", {}, many);
        finding.proof = proof(best, clause(together, best.head ? "the attention of the layer"
                                                               : "all relations of the layer")) +
                        alone;
        m_scan.findings.push_back(std::move(finding));
    }
    const AblationRow& rowOf(const std::string& part) const {
        return *std::find_if(m_table.rows.begin(), m_table.rows.end(),
                             [&](const auto& row) { return row.part == part; });
    }

    // Parts that matter and have no name

    void unnamedParts() {
        std::vector<const ModelScan::Component*> unexplained;
        for (const auto& part : m_scan.parts) {
            const auto& name = part.row.part;
            const bool relations = name.ends_with(" relations"),
                       symbols = name.ends_with(" symbols");
            const auto* map = mapNamed(name);
            // A sentence that complete layers or all attention matter would say little.
            const bool early =
                m_scan.passes < 3 && (part.row.group == "relations" || part.row.group == "heads");
            if ((!relations && !symbols && !map && !early) || isFound(name)) continue;
            const auto& claim = claimOf(name);
            if (!mattersBy(claim.use) || (map && isRelationToo(*map))) continue;
            if (relations && memberFound(name)) continue;
            const auto why = whyUnnamed(name, map);
            if (why.empty()) {
                unexplained.push_back(&part);
                continue;
            }
            ModelScan::Finding finding;
            if (map) finding = findingOf(*map);
            finding.part = name;
            measured(finding, claim);
            const std::string it = relations || symbols ? "them" : "it";
            finding.text = sentence(effectOf(name, claim, it));
            finding.proof = sentence(why) + " " + sentence(clause(claim, it));
            m_scan.findings.push_back(std::move(finding));
        }
        // A layer of which a relation is among them is none besides.
        std::erase_if(unexplained, [&](const auto* group) {
            const auto& name = group->row.part;
            return name.ends_with(" relations") &&
                   std::any_of(unexplained.begin(), unexplained.end(), [&](const auto* one) {
                       return one->row.group == "relations" &&
                              layerOf(one->row.part) + " relations" == name;
                   });
        });
        if (!unexplained.empty()) unexplainedParts(unexplained);
    }

    /// "Layer 1, relation 1: without it ...", or "Layer 1, relation 1 is used: ...".
    std::string effectOf(const std::string& part, const UseClaim& claim,
                         const std::string& it) const {
        const auto text = meaning(claim, it);
        const auto subject = it == "them" ? std::string("they ") : it + " ";
        return partTitle(part) + (claim.use == PartUse::Used && text.starts_with(subject)
                                      ? text.substr(subject.size() - 1)
                                      : ": " + text);
    }

    /// One sentence for all that no attribute explains, with the attributes that were tried.
    void unexplainedParts(std::vector<const ModelScan::Component*> parts) {
        std::stable_sort(parts.begin(), parts.end(), [&](const auto* a, const auto* b) {
            const auto of = [&](const auto* part) {
                return std::abs(claimOf(part->row.part).mildest().change.change);
            };
            return of(a) > of(b);
        });
        const auto& first = *parts.front();
        const auto& claim = claimOf(first.row.part);
        ModelScan::Finding finding;
        if (const auto* map = mapNamed(first.row.part)) finding = findingOf(*map);
        finding.maps.clear();
        for (const auto* part : parts)
            if (const auto* map = mapNamed(part->row.part))
                finding.maps.push_back(map - m_scan.atlas.relations.data());
        finding.part = first.row.part;
        measured(finding, claim);
        const auto some = [](std::vector<std::string> names, const char* between = ", ") {
            const auto count = names.size();
            names.resize(std::min(count, kMostTried));
            return joined(names, between) +
                   (count > kMostTried ? " and " + std::to_string(count - kMostTried) + " more"
                                       : "");
        };
        const bool many = first.row.part.ends_with(" relations");
        const std::string it = many ? "them" : "it";
        const auto effect = effectOf(first.row.part, claim, it);
        if (parts.size() == 1)
            finding.text = sentence(effect + "; no attribute explains " + it);
        else
            finding.text = std::to_string(parts.size()) +
                           " parts matter that no attribute explains. " + sentence(effect);
        std::vector<std::string> titles;
        for (const auto* part : parts) titles.push_back(partTitle(part->row.part));
        finding.proof = (parts.size() == 1 ? "" : "They are " + some(titles, "; ") + ". ") +
                        "None of these explains what " +
                        std::string(parts.size() == 1 && !many ? "it tells" : "they tell") + ": " +
                        some(triedAttributes()) + ". " + sentence(clause(claim, it));
        m_scan.findings.push_back(std::move(finding));
    }

    /// Attributes that can be a label: places do not determine them.
    std::vector<std::string> triedAttributes() const {
        std::vector<std::string> names;
        for (std::size_t a = 0; a < m_scan.atlas.attributes.size(); ++a)
            if (!m_scan.atlas.attributes[a].ordered &&
                std::any_of(m_scan.atlas.relations.begin(), m_scan.atlas.relations.end(),
                            [&](const Relation& map) { return std::isfinite(map.fits[a].p); }))
                names.push_back(m_scan.atlas.attributes[a].name);
        return names;
    }

    /// A part, or its map together with others, is a finding.
    bool isFound(const std::string& name) const {
        return std::any_of(
            m_scan.findings.begin(), m_scan.findings.end(), [&](const auto& finding) {
                return finding.part == name ||
                       std::any_of(finding.maps.begin(), finding.maps.end(), [&](std::int64_t m) {
                           return m_scan.atlas.relations[static_cast<std::size_t>(m)].name == name;
                       });
            });
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
    /// Why a map has no name; empty: no attribute explains it.
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
        if (!inborn) return {};
        return (map ? "it " : "relation " + std::to_string(inborn->index + 1) + " ") +
               meaningOf(m_scan.atlas, *inborn) + " (" + proofOf(m_scan.atlas, *inborn) +
               "), but not clearly better than weights that are not trained";
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

    // Parts that were not found

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
            std::string one;  // its relation, where there is one alone
        };
        std::vector<Layer> layers;
        for (const auto& part : m_scan.parts) {
            if (part.row.group != "relations") continue;
            const auto name = layerOf(part.row.part);
            auto at = std::find_if(layers.begin(), layers.end(),
                                   [&](const Layer& layer) { return layer.name == name; });
            if (at == layers.end()) at = layers.insert(at, {name, 0, false, {}});
            ++at->relations, at->one = part.row.part;
            const auto& one = claimOf(part.row.part);
            at->used = at->used || mattersBy(one.use) || one.together;
        }
        std::sort(layers.begin(), layers.end(), [](const auto& a, const auto& b) {
            return a.name.size() != b.name.size() ? a.name.size() < b.name.size()
                                                  : a.name < b.name;  // 2 before 10
        });
        std::vector<std::string> sentences, names;
        std::string byMore;
        const Replacement* most = nullptr;
        for (const auto& layer : layers) {
            const bool alone = layer.relations == 1;
            const auto& claim = claimOf(alone ? layer.one : layer.name + " relations");
            const auto title = partTitle(layer.name);
            if (layer.used || mattersBy(claim.use)) continue;
            if (claim.use == PartUse::NotUsed) {
                // An interval within the limit need not hold 0.
                byMore = " by more than " + m_words.number(claim.least) + m_words.points();
                names.push_back(title);
                if (!most || m_words.cost(claim.harshest().change.change) >
                                 m_words.cost(most->change.change))
                    most = &claim.harshest();
                sentences.push_back(
                    (alone ? capitalized(partTitle(layer.one)) + " is not used" + byMore + ": "
                           : "No relation of " + title + " is used" + byMore + ": ") +
                    clause(claim, alone ? "it" : "all " + std::to_string(layer.relations)) + ".");
            } else if (claim.use == PartUse::Undecided) {
                m_scan.notFound.push_back(
                    capitalized(
                        clause(claim, alone ? partTitle(layer.one) : "all relations of " + title)) +
                    ".");
            }
        }
        if (sentences.size() > kSingleLayers)
            sentences = {"Relations of these layers are not used" + byMore + ": " + joined(names) +
                         ". All of one out cost " + m_words.amount(most->change) + " at most."};
        m_scan.notFound.insert(m_scan.notFound.begin(), sentences.begin(), sentences.end());
    }

    void learnedAndUnused() {
        std::vector<const Relation*> unused;
        for (const auto& map : m_scan.atlas.relations) {
            const auto& claim = claimOf(map.name);
            if (map.reading.empty() && map.labelled >= 0 && map.origin == "learned" &&
                !isRelationToo(map) && !claim.together &&
                (claim.use == PartUse::NotUsed || claim.use == PartUse::Undecided))
                unused.push_back(&map);
        }
        std::stable_sort(unused.begin(), unused.end(), [&](const auto* a, const auto* b) {
            return selectivityOf(*a) > selectivityOf(*b);
        });
        for (std::size_t k = 0; k < std::min(unused.size(), kMostUnused); ++k)
            m_scan.notFound.push_back(sentence(
                partTitle(unused[k]->name) + " " + meaningOf(m_scan.atlas, *unused[k]) + " (" +
                proofOf(m_scan.atlas, *unused[k]) + "), but " + clause(claimOf(unused[k]->name))));
        if (unused.size() > kMostUnused)
            m_scan.notFound.push_back(std::to_string(unused.size() - kMostUnused) +
                                      " more maps answer an attribute, and are not shown to be "
                                      "used.");
    }

    void whatIsMissing() {
        if (m_left > 0)
            m_scan.notFound.push_back(std::to_string(m_left) +
                                      " more findings are weaker than these; the table has them.");
        if (m_scan.passes < 3) return;
        if (m_scan.findings.empty())
            m_scan.notFound.insert(m_scan.notFound.begin(),
                                   "No part that was measured is shown to matter alone, and no "
                                   "layer's relations do together: a loss of " +
                                       m_words.number(m_claims.least) + m_words.points() + " of " +
                                       m_words.name() + " or more is asked for.");
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
                "seconds, or are asked for with Exact effects (--exact).");
        if (const auto rest = m_scan.allMaps - std::ssize(m_scan.described); rest > 0)
            m_scan.notFound.push_back("Attributes were looked for in " +
                                      groupedNumber(std::ssize(m_scan.described)) + " of " +
                                      groupedNumber(m_scan.allMaps) +
                                      " maps: those that matter most, and those with the strongest "
                                      "ones among the rest.");
    }

    ModelScan& m_scan;
    MetricWords m_words;
    AblationTable m_table;
    UseClaims m_claims;  // claims of the rows of m_table
    std::size_t m_left = 0;
};

}  // namespace

void concludeScan(ModelScan& scan) {
    Conclusions(scan).draw();
}

}  // namespace relascope::core
