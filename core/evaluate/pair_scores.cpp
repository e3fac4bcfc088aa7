// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluate/pair_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "data/text_tokens.h"
#include "model/class_scores.h"

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

/// ln of the probability of `k` or more of `n` at p, or of `k` or fewer.
double tail(std::int64_t k, std::int64_t n, double p, bool above) {
    const auto lf = [](std::int64_t x) { return std::lgamma(static_cast<double>(x) + 1.0); };
    double sum = 0.0;
    for (auto i = above ? k : 0; i <= (above ? n : k); ++i)
        sum += std::exp(lf(n) - lf(i) - lf(n - i) + static_cast<double>(i) * std::log(p) +
                        static_cast<double>(n - i) * std::log1p(-p));
    return sum;
}

}  // namespace

std::int64_t beginningToken(const Tokenizer& tokenizer) {
    // What a template puts in front of any text; "a" stands for one.
    const auto typed = tokenizer.encodeTyped("a"), own = tokenizer.encodeTyped("a", false);
    const auto at = std::search(typed.begin(), typed.end(), own.begin(), own.end());
    if (at != typed.end() && at != typed.begin()) return *(at - 1);
    return tokenizer.endOfText().value_or(-1);
}

TokenizedPairs tokenizePairs(const PairDataset& data, const std::vector<std::int64_t>& which,
                             const Tokenizer& tokenizer, std::int64_t context) {
    TokenizedPairs all;
    all.beginning = beginningToken(tokenizer);
    const std::int64_t first = all.beginning >= 0 ? 1 : 0;
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
            const auto ids = tokenizer.encode(text);
            SentenceTokens sentence{{ids.begin(), ids.end()}};
            // A token that begins in the prefix and ends behind it is scored.
            const auto same = std::mismatch(prefix.begin(), prefix.end(), ids.begin(), ids.end());
            shared = std::min<std::int64_t>(shared, same.first - prefix.begin());
            if (first > 0) sentence.ids.insert(sentence.ids.begin(), all.beginning);
            longest = std::max<std::int64_t>(longest, std::ssize(sentence.ids));
            sentences.push_back(std::move(sentence));
        }
        if (longest > context + 1) {  // the last token is not read
            if (all.tooLong++ == 0)
                all.firstTooLong = place + ", has " + std::to_string(longest) + " tokens";
            continue;
        }
        TokenizedPairs::Pair tokens{index};
        for (std::size_t k = 0; k < sentences.size(); ++k) {
            auto& sentence = sentences[k];
            sentence.from = std::max<std::int64_t>(1, first + shared);
            if (std::ssize(sentence.ids) <= sentence.from)
                throw Error(place + ": '" + texts[k].substr(0, 40) + "' has no token to score" +
                            (first > 0 ? "" : " behind the first one, which is only read") +
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

std::pair<double, double> proportionInterval(std::int64_t right, std::int64_t all) {
    if (all <= 0) return {std::nan(""), std::nan("")};
    const auto bound = [&](bool lower) {
        double low = 0.0, high = 1.0;
        for (int k = 0; k < 60; ++k) {
            const double p = 0.5 * (low + high);
            const bool beyond = tail(right, all, p, lower) < kPairTail;
            (beyond == lower ? low : high) = p;
        }
        return 0.5 * (low + high);
    };
    return {right == 0 ? 0.0 : bound(true), right == all ? 1.0 : bound(false)};
}

}  // namespace relascope::core
