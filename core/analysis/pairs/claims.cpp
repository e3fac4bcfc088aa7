// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/claims.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "interventions/edit_words.h"
#include "types/metric.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastPoints = 0.02, kLeastShare = 0.05;
constexpr double kBetterThanUntrained = 0.05;
constexpr double kOneSided = 0.025;            // one tail of a 95 % interval
constexpr double kStandardErrors = 1.959964;   // half of one
constexpr std::int64_t kMostAdvised = 100000;  // examples, beyond which more are no advice

std::string rounded(double value, int digits) {
    const double unit = std::pow(10.0, digits);
    return numberWithMinus(std::round(value * unit) == 0.0 ? 0.0 : value, digits);  // no sign at 0
}

bool isProportion(const std::string& metric) {
    return metricInfo(metric).isFraction();
}

}  // namespace

// Few and many
// -------------------------------------------------------------------------------------------------

bool enoughToSay(std::int64_t examples, bool text) {
    return examples >= (text ? kFewestTextsToSay : kFewestToSay);
}

std::string tooFewText(std::int64_t examples, bool text, const std::string& noun) {
    return groupedNumber(examples) + " " + noun + " are too few for a sentence; " +
           std::to_string(text ? kFewestTextsToSay : kFewestToSay) + " or more are needed";
}

std::vector<bool> holm(std::span<const double> p, double level) {
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < p.size(); ++k)
        if (!std::isnan(p[k])) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] < p[b]; });
    std::vector<bool> rejected(p.size(), false);
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (p[order[k]] > level / static_cast<double>(order.size() - k)) break;
        rejected[order[k]] = true;
    }
    return rejected;
}

double pAbove(const PairedChange& change, double limit) {
    if (!std::isfinite(change.change) || !std::isfinite(change.low) || !std::isfinite(change.high))
        return kUnknown;
    const double by = change.change - limit;
    const double half = by > 0 ? change.change - change.low : change.high - change.change;
    if (!(half > 0)) return by > 0 ? 0.0 : 1.0;
    return 0.5 * std::erfc(by / (half / kStandardErrors) / std::sqrt(2.0));
}

bool beyondUntrained(double value, std::span<const double> untrained, bool rises) {
    if (!std::isfinite(value) || untrained.size() < kFewestUntrained) return false;
    for (const double one : untrained)
        if (!std::isfinite(one)) return false;
    const auto [low, high] = std::minmax_element(untrained.begin(), untrained.end());
    // Among four models that do not differ, one in 30 is beyond the others by their range, and the
    // best of many is in one case of 18; these factors leave one in 100 to 1,000.
    const double ranges = untrained.size() >= 8 ? 1.5 : untrained.size() >= 6 ? 2.0 : 3.0;
    const double range = ranges * (*high - *low);
    return rises ? value - *high > range : *low - value > range;
}

bool shareAbove(double low, double chance, std::span<const double> untrained) {
    return low > chance && untrained.size() >= kFewestUntrained &&
           std::all_of(untrained.begin(), untrained.end(), [&](double one) { return low > one; });
}

std::string untrainedShares(std::span<const double> untrained) {
    if (untrained.empty()) return {};
    const auto [low, high] = std::minmax_element(untrained.begin(), untrained.end());
    const auto percent = [](double share) { return rounded(100.0 * share, 1); };
    return std::to_string(untrained.size()) +
           (untrained.size() == 1 ? " untrained model has " : " untrained models have ") +
           (*low == *high ? "" : percent(*low) + " to ") + percent(*high) + " %";
}

// Against untrained models
// -------------------------------------------------------------------------------------------------

namespace {

/// The lower end of the 95 % interval of a proportion (Wilson 1927).
double wilsonLow(double share, double n) {
    const double z = kStandardErrors, z2 = z * z;
    return (share + z2 / (2.0 * n) -
            z * std::sqrt(share * (1.0 - share) / n + z2 / (4.0 * n * n))) /
           (1.0 + z2 / n);
}

}  // namespace

bool answersBetter(const std::string& metric, double base, std::span<const double> untrained,
                   std::int64_t answers) {
    const bool lower = metricInfo(metric).lowerIsBetter, fraction = isProportion(metric);
    for (const double score : untrained) {
        if (!std::isfinite(score) || !std::isfinite(base)) continue;
        const bool better = lower ? base <= (1.0 - kBetterThanUntrained) * score
                                  : base >= score + kBetterThanUntrained * (1.0 - score);
        if (!better) return false;
        if (fraction && answers > 0 && !(wilsonLow(base, static_cast<double>(answers)) > score))
            return false;
    }
    return true;
}

std::string noBetterText(const std::string& metric, double base,
                         std::span<const double> untrained) {
    const MetricWords words(metric);
    const auto [low, high] = std::minmax_element(untrained.begin(), untrained.end());
    return "The model answers no better than untrained ones: " + words.name() + " " +
           words.number(base) + words.unit() + ", and " + std::to_string(untrained.size()) +
           " models with fresh weights reach " + words.number(*low) + " to " + words.number(*high) +
           words.unit() + ". Nothing can be said of what its parts do.";
}

double untrainedMean(std::span<const double> untrained) {
    double sum = 0.0;
    for (const double one : untrained) sum += one;
    return sum / static_cast<double>(untrained.size());  // without any: NaN
}

// Words for a metric
// -------------------------------------------------------------------------------------------------

MetricWords::MetricWords(const std::string& metric)
    : m_key(metric),
      m_name(metricLabel(metric)),
      m_percent(isProportion(metric)),
      m_lower(metricInfo(metric).lowerIsBetter) {}

std::string MetricWords::number(double value) const {
    return m_percent ? rounded(100.0 * value, 1) : rounded(value, 3);
}

std::string MetricWords::interval(double low, double high) const {
    return "[" + number(low) + ", " + number(high) + "]";
}

PairedChange MetricWords::lost(const PairedChange& change) const {
    auto c = change;
    c.change = cost(c.change);
    c.low = std::min(cost(change.low), cost(change.high));
    c.high = std::max(cost(change.low), cost(change.high));
    return c;
}

PairedChange MetricWords::gained(const PairedChange& change) const {
    auto c = lost(change);
    c.change = -c.change;
    std::tie(c.low, c.high) = std::pair(-c.high, -c.low);
    return c;
}

std::string MetricWords::amount(const PairedChange& change) const {
    const auto c = lost(change);
    return number(c.change) + points() + " " + interval(c.low, c.high);
}

std::string MetricWords::after(const PairedChange& c, bool withUnit) const {
    return number(c.edited) + (withUnit ? unit() : "") + " " +
           interval(c.base + c.low, c.base + c.high);
}

double MetricWords::leastCost(double base, double untrained) const {
    const double learned = std::isfinite(untrained) ? std::abs(base - untrained) : std::abs(base);
    const double share = std::isfinite(learned) ? kLeastShare * learned : kUnknown;
    if (!m_percent) return share;
    return std::isfinite(share) ? std::max(kLeastPoints, share) : kLeastPoints;
}

// Taking a part out
// -------------------------------------------------------------------------------------------------

const char* partUseName(PartUse use) {
    switch (use) {
        case PartUse::Needed:
            return "needed";
        case PartUse::Misleading:
            return "misleading";
        case PartUse::Harmful:
            return "harmful";
        case PartUse::NotUsed:
            return "not used";
        case PartUse::Used:
            return "used";
        case PartUse::Undecided:
            return "undecided";
        default:
            return "";
    }
}

bool mattersBy(PartUse use) {
    return use == PartUse::Needed || use == PartUse::Misleading || use == PartUse::Harmful ||
           use == PartUse::Used;
}

std::string useWord(const UseClaim& claim) {
    return claim.together ? "needed together" : partUseName(claim.use);
}

namespace {

std::string wayWords(EditOp how, const AblationTable& table) {
    switch (how) {
        case EditOp::Zero:
            return "zero";
        case EditOp::Mean:
            return table.meanOf > 0 ? "the mean of its values over " + groupedNumber(table.meanOf) +
                                          (table.text ? " windows of text" : " examples")
                                    : "the mean of its values";
        default:
            return "another example's values";
    }
}

/// "blocks.1.rel.hook_r" -> "blocks.1": the layer that a part belongs to.
std::string layerOf(const std::string& point) {
    const auto first = point.find('.');
    if (first == std::string::npos) return {};
    const auto second = point.find('.', first + 1);
    return second == std::string::npos ? std::string() : point.substr(0, second);
}

/// The words for zeroing a part that holds another one; null: it does not hold the other.
const char* holderWords(const AblationRow& holder, const AblationRow& part) {
    const auto layer = layerOf(part.edit.point);
    if (layer.empty() || !holder.edit.selection.empty() || &holder == &part ||
        !holder.edit.point.starts_with(layer + "."))
        return nullptr;
    const auto inLayer = holder.edit.point.substr(layer.size() + 1);
    const auto& inner = part.edit.point;
    const auto ends = [&](const char* end) { return inner.ends_with(end); };
    if (ends("_attn_out") || ends(".hook_mlp_out") || ends(".hook_library")) return nullptr;
    const bool cross = inner.find(".cross_attn.") != std::string::npos;
    if (inLayer == (cross ? "hook_cross_attn_out" : "hook_attn_out"))
        return cross ? "the cross-attention of its layer at zero"
                     : "the attention of its layer at zero";
    const bool relation =
        !part.edit.selection.empty() && (part.group == "relations" || part.group == "columns");
    return relation && holder.part.ends_with(" relations") ? "all relations of its layer at zero"
                                                           : nullptr;
}

const AblationRow::Way* wayOf(const AblationRow& row, EditOp how) {
    for (const auto& way : row.ways)
        if (way.how == how) return &way;
    return nullptr;
}

std::string wordsOfWay(const AblationRow& row, EditOp how, std::int64_t shift) {
    auto edit = row.edit;
    edit.op = how, edit.shift = shift;
    return edit.point.empty() ? row.part + " " + editOpName(how) : wordsOf(edit);
}

std::vector<Replacement> replacementsOf(const AblationTable& table, const AblationRow& row) {
    std::vector<Replacement> all;
    for (const auto& way : row.ways)
        all.push_back({wayWords(way.how, table), wordsOfWay(row, way.how, table.shift), way.change,
                       way.how == EditOp::Resample});
    if (all.empty()) return all;
    const MetricWords words(table.metric);
    const auto milder = [&](const Replacement& a, const Replacement& b) {
        return words.cost(a.change.change) < words.cost(b.change.change);
    };
    std::stable_sort(all.begin(), all.end(), milder);
    // Zeroing the holder of a part takes more out, so that it counts only where it costs less.
    for (const auto& other : table.rows)
        if (const auto* holder = holderWords(other, row))
            if (const auto* way = wayOf(other, EditOp::Zero)) {
                const Replacement one{holder, wordsOfWay(other, EditOp::Zero, 1), way->change,
                                      false};
                if (!milder(one, all.front())) continue;
                if (all.front().holds) all.erase(all.begin());
                all.insert(all.begin(), one);
                all.front().holds = true;
            }
    return all;
}

bool measured(const Replacement& one) {
    return std::isfinite(one.change.change) && std::isfinite(one.change.low) &&
           std::isfinite(one.change.high);
}

/// About how many examples would shrink half of an interval to `room`.
double examplesFor(std::int64_t examples, double half, double room) {
    return room > 0 ? static_cast<double>(examples) * (half / room) * (half / room)
                    : std::numeric_limits<double>::infinity();
}

/// A number rounded up to two digits.
std::int64_t roundedUp(double value) {
    if (!(value <= static_cast<double>(kMostAdvised))) return 0;
    const double unit = std::pow(10.0, std::floor(std::log10(std::max(1.0, value))) - 1.0);
    return static_cast<std::int64_t>(std::ceil(value / unit) * unit);
}

/// How many standard errors a claim takes that is one of so many.
double correctedErrors(std::int64_t comparisons) {
    const double p = kOneSided / static_cast<double>(std::max<std::int64_t>(1, comparisons));
    double low = 0.0, high = 10.0;
    for (int k = 0; k < 50; ++k) {
        const double middle = 0.5 * (low + high);
        (0.5 * std::erfc(middle / std::sqrt(2.0)) > p ? low : high) = middle;
    }
    return high;
}

/// So many examples would probably tell, if the effects are as they were measured.
std::int64_t advisedExamples(const UseClaim& claim, const MetricWords& words,
                             std::int64_t comparisons) {
    const double t = claim.least;
    const double corrected = correctedErrors(comparisons) / kStandardErrors;
    const auto lost = [&](const Replacement& one) { return words.lost(one.change); };
    const auto mildest = lost(claim.mildest());
    double wanted = 0.0;
    if (mildest.change > t) {
        wanted = examplesFor(claim.examples, corrected * (mildest.change - mildest.low),
                             mildest.change - t);
    } else if (mildest.change < -t) {
        wanted = examplesFor(claim.examples, corrected * (mildest.high - mildest.change),
                             -mildest.change);
    } else {
        // All within the limits, or another example's beyond them and the mildest within.
        for (const auto& one : claim.replacements) {
            const auto c = lost(one);
            const double half = std::max(c.high - c.change, c.change - c.low);
            wanted = std::max(wanted,
                              examplesFor(claim.examples, half, std::abs(t - std::abs(c.change))));
        }
    }
    return roundedUp(1.2 * wanted);
}

}  // namespace

bool holdsPart(const AblationRow& holder, const AblationRow& part) {
    return holderWords(holder, part) != nullptr;
}

const UseClaim* UseClaims::of(const AblationTable& table, const std::string& part) const {
    for (std::size_t k = 0; k < std::min(rows.size(), table.rows.size()); ++k)
        if (table.rows[k].part == part) return &rows[k];
    return nullptr;
}

const AblationRow* groupOf(const AblationTable& table, const AblationRow& part) {
    const bool head = part.group == "heads";
    if (!head && part.group != "relations") return nullptr;
    for (const auto& row : table.rows) {
        if (!holdsPart(row, part)) continue;
        const bool relations = row.part.ends_with(" relations");
        if (relations != head) return &row;
    }
    return nullptr;
}

const Replacement& UseClaim::deciding(const std::string& metric) const {
    const MetricWords words(metric);
    const auto beyond = [&](const Replacement& one) {
        const auto lost = words.lost(one.change);
        return std::max(lost.high, -lost.low);
    };
    return *std::max_element(replacements.begin(), replacements.end(),
                             [&](const auto& a, const auto& b) { return beyond(a) < beyond(b); });
}

UseClaims useClaims(const AblationTable& table) {
    const MetricWords words(table.metric);
    UseClaims claims;
    claims.least = words.leastCost(table.base, untrainedMean(table.untrained));
    // Copies of an example are no further answers.
    const auto examples = table.different > 0 ? table.different : table.examples;
    claims.better =
        answersBetter(table.metric, table.base, table.untrained, table.oneAnswer ? examples : 0);
    std::vector<double> needed, listened, gains, adds;
    for (const auto& row : table.rows) {
        UseClaim claim;
        claim.least = claims.least, claim.examples = table.examples;
        claim.replacements = replacementsOf(table, row);
        // One way alone does not tell which is the mildest. No example changes a library of
        // symbols.
        const bool each = row.ways.size() >= (row.group == "symbols" ? 2U : 3U);
        const bool usable =
            each && claims.better && std::isfinite(claim.least) &&
            enoughToSay(examples, table.text) &&
            std::all_of(claim.replacements.begin(), claim.replacements.end(), measured);
        double worst = 0.0, best = 1.0, other = kUnknown;
        for (const auto& one : claim.replacements) {
            const auto lost = words.lost(one.change);
            worst = std::max(worst, pAbove(lost, claim.least));
            best = std::min(best, pAbove(words.gained(one.change), 0.0));
            if (one.other) other = pAbove(lost, claim.least);
        }
        // The mildest replacement gains where any does, so that each is a chance to.
        best = std::min(1.0, best * static_cast<double>(claim.replacements.size()));
        needed.push_back(usable ? worst : kUnknown);
        listened.push_back(usable ? other : kUnknown);
        gains.push_back(usable ? best : kUnknown);
        adds.push_back(usable && row.adds ? pAbove(words.gained(*row.adds), 0.0) : kUnknown);
        claim.use = usable ? PartUse::Undecided : PartUse::Unmeasured;
        claims.comparisons += usable;
        claims.rows.push_back(std::move(claim));
    }
    claims.expectedFalsePositives = kOneSided * static_cast<double>(claims.comparisons);
    const auto isNeeded = holm(needed, kOneSided), isListened = holm(listened, kOneSided),
               isGain = holm(gains, kOneSided), doesAdd = holm(adds, kOneSided);
    for (std::size_t k = 0; k < claims.rows.size(); ++k) {
        auto& claim = claims.rows[k];
        if (claim.use == PartUse::Unmeasured) continue;
        const auto within = [&](const Replacement& one) {
            const auto lost = words.lost(one.change);
            return lost.low > -claim.least && lost.high < claim.least;
        };
        const auto all = [&](const auto& is) {
            return std::all_of(claim.replacements.begin(), claim.replacements.end(), is);
        };
        const auto costs = [&](double limit) {
            return all(
                [&, limit](const Replacement& one) { return words.lost(one.change).low > limit; });
        };
        const auto mildest = words.lost(claim.mildest().change);
        if (isNeeded[k] && costs(claim.least))
            claim.use = PartUse::Needed;
        else if (isGain[k] && mildest.high < 0.0)
            claim.use = PartUse::Harmful;
        else if (isListened[k] && mildest.high < claim.least)
            claim.use = PartUse::Misleading;
        else if (all(within))
            claim.use = PartUse::NotUsed;
        else if (costs(0.0))
            claim.use = PartUse::Used;
        else if (const auto advised = advisedExamples(claim, words, claims.comparisons);
                 table.available == 0 || advised <= table.available)
            claim.examplesNeeded = advised;
    }
    for (std::size_t k = 0; k < claims.rows.size(); ++k) {
        auto& claim = claims.rows[k];
        const auto* group = groupOf(table, table.rows[k]);
        const auto* whole = group ? claims.of(table, group->part) : nullptr;
        if (!whole || !table.rows[k].adds) continue;
        claim.group = group->part;
        claim.together = whole->use == PartUse::Needed && claim.use != PartUse::Needed &&
                         claim.use != PartUse::Harmful && doesAdd[k] &&
                         words.number(words.gained(*table.rows[k].adds).low) !=
                             words.number(0.0);  // as it is written
    }
    return claims;
}

std::string useClause(const UseClaim& claim, const MetricWords& words, const std::string& noun,
                      const std::string& it) {
    if (claim.replacements.empty()) return {};
    const auto &mild = claim.mildest(), &harsh = claim.harshest();
    const auto base = words.number(mild.change.base);
    // Of two replacements with their numbers, the milder one first.
    const auto range = [&](const Replacement& first, const Replacement& second) {
        auto text =
            "taking " + it + " out costs " + words.amount(first.change) + " (" + first.by + ")";
        if (&first != &second)
            text += " to " + words.amount(second.change) + " (" + second.by + ")";
        return text;
    };
    const bool many = it.starts_with("all ") || it == "them";
    const auto limit = words.number(claim.least) + words.points();
    switch (claim.use) {
        case PartUse::Needed: {
            const auto verb = words.lowerIsBetter() ? " rises from " : " falls from ";
            auto text = "without " + it + " " + words.name() + verb + base + " to ";
            if (words.number(mild.change.edited) == words.number(harsh.change.edited))
                return text + words.after(mild.change) + ", whichever way";
            return text + "between " + words.after(mild.change, false) + " (" + mild.by + ") and " +
                   words.after(harsh.change) + " (" + harsh.by + ")";
        }
        case PartUse::Misleading:
            return "wrong values here mislead the model: another example's cost " +
                   words.amount(claim.otherExample().change) + "; taking " + it + " out costs " +
                   words.amount(mild.change) + " (" + mild.by + "): it can do without";
        case PartUse::Harmful:
            return "it does better without " + it + ": " + base + " to " +
                   words.after(mild.change) + " (" + mild.by + ")";
        case PartUse::NotUsed:
            return "taking " + it + " out costs " + words.amount(harsh.change) +
                   (claim.replacements.size() > 1 ? " at most, whichever way" : "");
        case PartUse::Used:
            return range(mild, harsh) + ": " + (many ? "they are" : "it is") +
                   " used; whether by more than " + limit + " cannot be said";
        case PartUse::Undecided: {
            // What decides is the widest interval, which need be neither end.
            const auto& open = claim.deciding(words.key());
            auto text = "from " + groupedNumber(claim.examples) + " " + noun +
                        " it cannot be said whether " +
                        (it == "them" ? std::string("they are") : it + (many ? " are" : " is")) +
                        " used by more than " + limit + ": " + range(mild, harsh);
            if (&open != &mild && &open != &harsh)
                text += ", " + words.amount(open.change) + " (" + open.by + ")";
            return text + (claim.examplesNeeded > claim.examples
                               ? "; about " + groupedNumber(claim.examplesNeeded) + " would do"
                               : "");
        }
        default:
            return {};
    }
}

std::string useMeaning(const UseClaim& claim, const MetricWords& words, const std::string& it,
                       bool oneEnd) {
    if (claim.replacements.empty()) return {};
    const auto &mild = claim.mildest().change, &harsh = claim.harshest().change;
    const auto from = words.number(mild.base), to = words.number(mild.edited),
               worst = words.number(harsh.edited);
    const bool many = it.starts_with("all ") || it == "them";
    const auto are = it == "them" ? std::string("they are") : it + (many ? " are" : " is");
    const auto points = [&](const PairedChange& change) {
        return words.number(words.lost(change).change);
    };
    const auto range = points(mild) +
                       (points(mild) == points(harsh) ? "" : " to " + points(harsh)) +
                       words.points();
    switch (claim.use) {
        case PartUse::Needed: {
            const auto start = (it.empty() ? "" : "without " + it + " ") + words.name() +
                               (words.lowerIsBetter() ? " rises from " : " falls from ") + from +
                               " to ";
            if (to == worst) return start + to + words.unit();
            return start +
                   (oneEnd ? to + words.unit() + " or " + (words.lowerIsBetter() ? "more" : "less")
                           : "between " + to + " and " + worst + words.unit());
        }
        case PartUse::Misleading:
            return "wrong values here cost " + points(claim.otherExample().change) +
                   words.points() + ", but the model can do without";
        case PartUse::Harmful:
            return "the model does better without " + it + ": " + from + " to " + to + words.unit();
        case PartUse::NotUsed:
            return are + " not used by more than " + words.number(claim.least) + words.points() +
                   ": taking " + it + " out costs " + points(harsh) + " at most";
        case PartUse::Used:
            return are + " used: taking " + it + " out costs " + range;
        case PartUse::Undecided:
            return "whether " + are + " used cannot be said: taking " + it + " out costs " + range;
        default:
            return {};
    }
}

}  // namespace relascope::core
