// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluate/pair_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "data/text_tokens.h"
#include "evaluate/paired_change.h"
#include "model/class_scores.h"
#include "types/student_t.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kScoresABatch = std::int64_t{1} << 24;  // floats, 64 MiB
constexpr std::int64_t kMostSentences = 64;
constexpr double kPairTail = 0.025;

class SentenceTexts : public TokenDataset {
public:
    SentenceTexts(std::vector<SentenceTokens> sentences, TokenizerPtr tokenizer)
        : m_sentences(std::move(sentences)), m_tokenizer(std::move(tokenizer)) {
        m_info.name = "sentences of " + std::to_string(context()) + " tokens";
        m_info.size = std::ssize(m_sentences);
        m_info.channels = m_info.width = m_info.height = 0;
        m_info.task = "text";
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t context() const override { return std::ssize(m_sentences.front().ids) - 1; }
    TokenizerPtr tokenizer() const override { return m_tokenizer; }
    void read(std::int64_t index, std::span<std::int64_t> tokens) const override {
        const auto& ids = m_sentences.at(static_cast<std::size_t>(index)).ids;
        std::copy_n(ids.begin(), std::min(ids.size(), tokens.size()), tokens.begin());
    }
    ProbeSample sample(std::int64_t index) const override {
        auto ids = m_sentences.at(static_cast<std::size_t>(index)).ids;
        ids.pop_back();
        return tokenSample(m_tokenizer.get(), std::move(ids), "sentence");
    }

private:
    std::vector<SentenceTokens> m_sentences;
    TokenizerPtr m_tokenizer;
    DatasetInfo m_info;
};

/// The incomplete beta function I_x(a, b) by its continued fraction (Abramowitz and Stegun 1964,
/// 26.5.8), evaluated from its end.
double incompleteBeta(double x, double a, double b) {
    if (x <= 0.0) return 0.0;
    if (x >= 1.0) return 1.0;
    if (x > (a + 1.0) / (a + b + 2.0)) return 1.0 - incompleteBeta(1.0 - x, b, a);
    const int terms = 100 + static_cast<int>(4.0 * std::sqrt(a + b));  // some roots of a + b
    double rest = 0.0;
    for (int k = terms; k >= 1; --k) {
        const auto m = static_cast<double>(k / 2);
        const double d = k % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                    : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        rest = d / (1.0 + rest);
    }
    const double front =
        std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
    return std::exp(front) / (a * (1.0 + rest));
}

/// How many pairs there are of each words, and how many of these are right.
struct PairCounts {
    std::vector<double> all, right;
    double pairs = 0.0, hits = 0.0;

    PairCounts(std::span<const double> values, std::span<const std::size_t> words) {
        for (std::size_t k = 0; k < std::min(values.size(), words.size()); ++k) {
            if (words[k] >= all.size()) all.resize(words[k] + 1), right.resize(words[k] + 1);
            all[words[k]] += 1.0, right[words[k]] += values[k];
            pairs += 1.0, hits += values[k];
        }
    }
    /// How many of the words have pairs here.
    int groups() const {
        return static_cast<int>(
            std::count_if(all.begin(), all.end(), [](double n) { return n > 0.0; }));
    }
    /// The variance of the mean of all pairs, by how the words differ; NaN for a single one.
    double variance() const {
        const double g = groups(), mean = hits / pairs;
        if (g < 2.0) return std::nan("");
        double squares = 0.0;
        for (std::size_t w = 0; w < all.size(); ++w)
            squares += std::pow(right[w] - all[w] * mean, 2);
        return g / (g - 1.0) * squares / (pairs * pairs);
    }
    /// How many words of equal numbers of pairs these are worth.
    double equalGroups() const {
        double squares = 0.0;
        for (const double n : all) squares += n * n;
        return pairs * pairs / squares;
    }
};

}  // namespace

std::int64_t beginningToken(const Tokenizer& tokenizer) {
    // What a template puts in front of any text; "a" stands for one.
    const auto typed = tokenizer.encodeTyped("a"), own = tokenizer.encodeTyped("a", false);
    const auto at = std::search(typed.begin(), typed.end(), own.begin(), own.end());
    if (at != typed.end() && at != typed.begin()) return *(at - 1);
    return tokenizer.endOfText().value_or(-1);
}

namespace {

/// What a template puts around any text.
struct Ends {
    std::vector<std::int64_t> first, last;
};
Ends endsOf(const Tokenizer& tokenizer) {
    const auto typed = tokenizer.encodeTyped("a"), own = tokenizer.encodeTyped("a", false);
    const auto at = std::search(typed.begin(), typed.end(), own.begin(), own.end());
    if (at == typed.end()) return {};
    return {{typed.begin(), at}, {at + std::ssize(own), typed.end()}};
}

/// A sentence for a model that reads in both directions, and its tokens without those of the
/// template.
SentenceTokens sentenceWithWords(const Tokenizer& tokenizer, const Ends& ends,
                                 const std::string& text, std::vector<std::int32_t>& own) {
    const auto words = tokenizer.wordsOf(text, own);
    SentenceTokens sentence{ends.first};
    sentence.ids.insert(sentence.ids.end(), own.begin(), own.end());
    sentence.words.assign(ends.first.size(), -1);
    sentence.words.insert(sentence.words.end(), words.begin(), words.end());
    sentence.ids.insert(sentence.ids.end(), ends.last.begin(), ends.last.end());
    sentence.words.resize(sentence.ids.size(), -1);
    return sentence;
}

}  // namespace

TokenizedPairs tokenizePairs(const PairDataset& data, const std::vector<std::int64_t>& which,
                             const Tokenizer& tokenizer, std::int64_t context, bool bothWays) {
    TokenizedPairs all;
    const auto ends = bothWays ? endsOf(tokenizer) : Ends{};
    all.beginning = !bothWays            ? beginningToken(tokenizer)
                    : ends.first.empty() ? -1
                                         : ends.first.back();
    const std::int64_t first = bothWays ? std::ssize(ends.first) : all.beginning >= 0 ? 1 : 0;
    std::map<SentenceTokens, std::size_t> known;
    for (const auto index : which) {
        const auto& pair = data.pair(index);
        const auto place = pair.place.empty() ? "pair " + std::to_string(index + 1) : pair.place;
        std::vector<std::string> texts = pair.bad;
        texts.insert(texts.begin(), pair.good);
        const auto prefix =
            pair.prefix.empty() ? std::vector<std::int32_t>() : tokenizer.encode(pair.prefix);
        std::vector<SentenceTokens> sentences;
        std::int64_t longest = 0, shared = std::ssize(prefix);
        for (const auto& text : texts) {
            std::vector<std::int32_t> ids;
            SentenceTokens sentence;
            if (bothWays) {
                sentence = sentenceWithWords(tokenizer, ends, text, ids);
            } else {
                ids = tokenizer.encode(text);
                sentence.ids.assign(ids.begin(), ids.end());
            }
            // A token that begins in the prefix and ends behind it is scored.
            const auto same = std::mismatch(prefix.begin(), prefix.end(), ids.begin(), ids.end());
            shared = std::min<std::int64_t>(shared, same.first - prefix.begin());
            if (first > 0 && !bothWays) sentence.ids.insert(sentence.ids.begin(), all.beginning);
            longest = std::max<std::int64_t>(longest, std::ssize(sentence.ids));
            sentences.push_back(std::move(sentence));
        }
        if (longest > context + (bothWays ? 0 : 1)) {  // else the last token is not read
            if (all.tooLong++ == 0)
                all.firstTooLong = place + ", has " + std::to_string(longest) + " tokens";
            continue;
        }
        TokenizedPairs::Pair tokens{index};
        for (std::size_t k = 0; k < sentences.size(); ++k) {
            auto& sentence = sentences[k];
            sentence.from = std::max<std::int64_t>(bothWays ? 0 : 1, first + shared);
            if (std::ssize(sentence.ids) - std::ssize(ends.last) <= sentence.from)
                throw Error(
                    place + ": '" + texts[k].substr(0, 40) + "' has no token to score" +
                    (first > 0 || bothWays ? "" : " behind the first one, which is only read") +
                    "; leave this pair out");
            if (const auto unknown = tokenizer.unknownToken())
                all.unknown += std::count(sentence.ids.begin(), sentence.ids.end(), *unknown);
            const auto [at, fresh] = known.emplace(sentence, all.sentences.size());
            if (fresh) all.sentences.push_back(sentence);
            if (k == 0)
                tokens.good = at->second;
            else
                tokens.bad.push_back(at->second);
        }
        if (std::find(tokens.bad.begin(), tokens.bad.end(), tokens.good) != tokens.bad.end() &&
            all.alike++ == 0)
            all.firstAlike = place;
        all.pairs.push_back(std::move(tokens));
    }
    if (all.pairs.empty() && all.tooLong > 0)
        throw Error("Every pair is longer than the context of " + std::to_string(context) +
                    " tokens; the first, " + all.firstTooLong + ".");
    return all;
}

std::vector<SentenceGroup> groupedSentences(const TokenizedPairs& pairs, TokenizerPtr tokenizer) {
    std::map<std::size_t, std::vector<std::size_t>> byLength;
    for (std::size_t s = 0; s < pairs.sentences.size(); ++s)
        byLength[pairs.sentences[s].ids.size()].push_back(s);
    std::vector<SentenceGroup> groups;
    for (auto& [length, indices] : byLength) {
        std::vector<SentenceTokens> sentences;
        for (const auto s : indices) sentences.push_back(pairs.sentences[s]);
        groups.push_back(
            {std::make_shared<SentenceTexts>(std::move(sentences), tokenizer), std::move(indices)});
    }
    return groups;
}

DatasetPtr goodText(const TokenizedPairs& pairs, TokenizerPtr tokenizer) {
    std::vector<std::int64_t> text;
    std::size_t longest = 2;
    for (const auto& pair : pairs.pairs) {
        const auto& ids = pairs.sentences[pair.good].ids;
        text.insert(text.end(), ids.begin(), ids.end());
        longest = std::max(longest, ids.size());
    }
    std::vector<SentenceTokens> windows;
    for (std::size_t at = 0; at + longest <= text.size(); at += longest) {
        const auto from = text.begin() + static_cast<std::ptrdiff_t>(at);
        windows.push_back({{from, from + static_cast<std::ptrdiff_t>(longest)}});
    }
    return std::make_shared<SentenceTexts>(std::move(windows), std::move(tokenizer));
}

std::int64_t sentencesABatch(const SentenceGroup& group, std::int64_t outputs) {
    const auto one = std::max<std::int64_t>(1, group.data->context() * outputs);
    return std::clamp<std::int64_t>(kScoresABatch / one, 1, kMostSentences);
}

torch::Tensor tokenScores(const torch::Tensor& scores, const Batch& batch) {
    return classSums(scores).logProbability(scores, batch.targets).contiguous();
}

double sentenceScore(const SentenceTokens& sentence, const std::vector<double>& tokens, bool mean) {
    if (!sentence.words.empty()) {
        double sum = 0.0, count = 0.0;
        for (auto k = static_cast<std::size_t>(sentence.from); k < tokens.size(); ++k)
            if (sentence.words[k] >= 0) sum += tokens[k], count += 1.0;
        return mean ? sum / count : sum;
    }
    const auto from = tokens.begin() + (sentence.from - 1);
    const double sum = std::accumulate(from, tokens.end(), 0.0);
    return mean ? sum / static_cast<double>(tokens.end() - from) : sum;
}

std::vector<PairScore> pairScores(const TokenizedPairs& pairs, const std::vector<double>& scores) {
    std::vector<PairScore> all;
    for (const auto& pair : pairs.pairs) {
        PairScore score;
        score.good = scores[pair.good];
        for (std::size_t k = 0; k < pair.bad.size(); ++k)
            if (k == 0 || scores[pair.bad[k]] > score.bad)
                score.bad = scores[pair.bad[k]], score.worst = k;
        all.push_back(score);
    }
    return all;
}

std::pair<double, double> proportionInterval(double right, double all) {
    if (!(all > 0.0)) return {std::nan(""), std::nan("")};
    // The chance of so many or more, or of so many or fewer.
    const auto beyond = [&](double p, bool more) {
        return more ? incompleteBeta(p, right, all - right + 1.0)
                    : 1.0 - incompleteBeta(p, right + 1.0, all - right);
    };
    const auto bound = [&](bool lower) {
        double low = 0.0, high = 1.0;
        for (int k = 0; k < 60; ++k) {
            const double p = 0.5 * (low + high);
            ((beyond(p, lower) < kPairTail) == lower ? low : high) = p;
        }
        return 0.5 * (low + high);
    };
    return {right <= 0.0 ? 0.0 : bound(true), right >= all ? 1.0 : bound(false)};
}

std::pair<double, double> accuracyByWords(std::span<const double> right,
                                          std::span<const std::size_t> words) {
    const PairCounts counts(right, words);
    const double n = counts.pairs, p = counts.hits / n;
    const auto exact = proportionInterval(counts.hits, n);
    double worth = counts.equalGroups();
    if (const double variance = counts.variance(); p > 0.0 && p < 1.0 && std::isfinite(variance)) {
        const double ratio = studentT95(static_cast<int>(n) - 1) / studentT95(counts.groups() - 1);
        worth = variance > 0.0 ? p * (1.0 - p) / variance * ratio * ratio : n;
    }
    if (!(worth < n)) return exact;
    const auto wide = proportionInterval(p * worth, worth);
    return {std::min(exact.first, wide.first), std::max(exact.second, wide.second)};
}

PairedChange changeByWords(const std::string& metric, std::span<const double> base,
                           std::span<const double> edited, std::span<const std::size_t> words) {
    std::vector<double> differences;
    for (std::size_t k = 0; k < base.size(); ++k) differences.push_back(edited[k] - base[k]);
    auto change = pairedChange(metric, base, edited, std::vector<double>(base.size(), 1.0));
    const PairCounts counts(differences, words);
    const double by = studentT95(counts.groups() - 1) * std::sqrt(counts.variance());
    if (std::isfinite(by)) {
        change.low = std::min(change.low, change.change - by);
        change.high = std::max(change.high, change.change + by);
    }
    return change;
}

std::vector<double> frequencyScores(const TokenizedPairs& pairs, std::span<const double> counts,
                                    bool mean) {
    const double all =
        std::accumulate(counts.begin(), counts.end(), 0.0) + static_cast<double>(counts.size());
    std::vector<double> scores;
    for (const auto& sentence : pairs.sentences) {
        std::vector<double> tokens;
        for (std::size_t k = 1; k < sentence.ids.size(); ++k)
            tokens.push_back(
                std::log((counts[static_cast<std::size_t>(sentence.ids[k])] + 1.0) / all));
        scores.push_back(sentenceScore(sentence, tokens, mean));
    }
    return scores;
}

}  // namespace relascope::core
