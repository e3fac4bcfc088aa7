// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/dictionary/dictionary.h"

#include <torch/utils.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "analysis/answer_names.h"
#include "analysis/dictionary/run.h"
#include "data/batches.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kListed = 8;             // tokens of a list
constexpr std::int64_t kMostCounted = 1 << 22;  // tokens of data that are counted

class TokenRun : DictionaryRun {
public:
    using DictionaryRun::DictionaryRun;

    Answer run() {
        const auto vocabulary = vocabularyOf(m_parts);
        if (!m_options.attribute.empty())
            throw OptionError("attribute",
                              "is for patches and sets of objects; a map of tokens is compared by "
                              "its lists");
        set("vocabulary", vocabulary);
        const auto where = places();
        const auto p = weights(vocabulary);
        auto factors = tokenFactors(m_parts, where, [&](double part) { check(0.2 + 0.1 * part); });
        set("width", factors.q.size(1));
        const auto components = componentsOf(factors, p, m_options.components);
        requireSpread(components);
        takeShares(components);
        const auto ids = p.gt(0).nonzero().squeeze(1);
        const auto count = std::min(m_options.components, components.values.size(0));
        for (std::int64_t c = 0; c < count; ++c) {
            std::string lists[2][2];  // of receivers and senders, high and low
            for (const bool receiver : {true, false}) {
                const auto scores = (receiver ? components.receiver : components.sender)
                                        .select(1, c)
                                        .index_select(0, ids);
                const auto order = scores.argsort(true, 0, true);
                for (const bool high : {true, false}) {
                    auto& list = lists[!receiver][!high];
                    for (std::int64_t n = 0; n < std::min(kListed, ids.size(0) / 2); ++n) {
                        const auto at = order[high ? n : ids.size(0) - 1 - n].item<std::int64_t>();
                        const auto token = ids[at].item<std::int64_t>();
                        const auto name = tokenText(token);
                        addRow(m_answer, "tokens", c + 1, receiver ? "receiver" : "sender",
                               high ? "high" : "low", token, name, scores[at].item<double>(),
                               p[token].item<double>());
                        list += (list.empty() ? "" : " ") + shownToken(name);
                    }
                }
            }
            addRow(m_answer, "components", c + 1, shareAt(components, c), "", "", lists[0][0],
                   lists[1][0], lists[0][1], lists[1][1], columns::kNone,
                   components.values[c].item<double>());
            m_answer.tables[1].links.emplace_back();
        }
        if (m_watch.partial) m_watch.partial(dictionaryAnswer(m_answer, m_where));
        // What follows is of tokens that occur, and of attention less the mean of each row.
        const auto self = selfPreference(factors, p);
        set("self", self.value), set("self_error", self.error);
        check(0.4);
        if (m_parts.softmax()) factors = lessRowMeans(std::move(factors), p);
        takePartners(factors, ids);
        factors.q = factors.q.index_select(0, ids), factors.k = factors.k.index_select(0, ids);
        const auto extremes =
            extremePairs(factors, m_options.top, [&](double part) { check(0.4 + 0.6 * part); });
        for (const auto* list : {&extremes.highest, &extremes.lowest})
            for (const auto& pair : *list)
                addPair("extremes", ids[pair.receiver].item<std::int64_t>(),
                        ids[pair.sender].item<std::int64_t>(), pair.score);
        return dictionaryAnswer(std::move(m_answer), m_where);
    }

private:
    TokenPlaces places() {
        TokenPlaces places;
        places.offset = m_options.offset;
        if (!m_options.at.empty()) {
            std::istringstream numbers(m_options.at);
            char comma = 0;
            if (!(numbers >> places.i >> comma >> places.j) || comma != ',' || places.i < 0 ||
                places.j < 0 || numbers.peek() != std::istringstream::traits_type::eof())
                throw OptionError("at", "'" + m_options.at + "' is not two positions such as 5,3");
            if (m_options.offset != 0 && m_options.offset != places.i - places.j)
                throw OptionError("at", "'" + m_options.at + "' is no offset of " +
                                            std::to_string(m_options.offset) +
                                            "; give one of the two");
            places.offset = places.i - places.j;
        }
        if (places.i >= 0)
            m_where = " at " + std::to_string(places.i) + " and " + std::to_string(places.j);
        else if (places.offset != 0)
            m_where = ", i - j = " + std::to_string(places.offset);
        set("offset", places.offset);
        return places;
    }

    // How often each token is read by the stack of the map: [vocabulary].
    torch::Tensor counted(const Dataset& data, std::int64_t vocabulary) {
        auto counts = torch::zeros({vocabulary}, torch::kDouble);
        auto* count = counts.data_ptr<double>();
        const auto add = [&](std::int64_t id) {
            if (id >= 0 && id < vocabulary) count[id] += 1.0;
        };
        const auto place = m_parts.projection(ScoreSide::I).place;
        const bool answers =
            m_streams.stacks()[static_cast<std::size_t>(place.stack)].name == "decoder";
        std::int64_t each = 1;
        const auto* text = dynamic_cast<const TokenDataset*>(&data);
        const auto* pairs = dynamic_cast<const SequenceDataset*>(&data);
        if (text) each = text->context();
        if (pairs) each = pairs->shape().source + pairs->shape().target;
        const auto windows = std::clamp<std::int64_t>(kMostCounted / each, 1, data.size());
        std::vector<std::int64_t> tokens, answer;
        for (std::int64_t w = 0; w < windows; ++w) {
            if (w % 256 == 0) check(0.2 * static_cast<double>(w) / static_cast<double>(windows));
            const auto index = w * data.size() / windows;  // spread over the data
            if (text) {
                tokens.resize(static_cast<std::size_t>(each) + 1);
                text->read(index, tokens);
                for (std::int64_t k = 0; k < each; ++k) add(tokens[static_cast<std::size_t>(k)]);
            } else if (pairs && pairs->shape().width == 0) {
                const auto shape = pairs->shape();
                tokens.resize(static_cast<std::size_t>(shape.source));
                answer.resize(static_cast<std::size_t>(shape.target));
                pairs->read(index, {}, tokens, answer);
                for (const auto id : answers ? answer : tokens)
                    if (id != shape.padding) add(id);
                if (static_cast<std::int64_t>(m_names.size()) < vocabulary && w < 1000)
                    takeNames(pairs->sample(index), answers);
            }
        }
        return counts;
    }

    // The tokens of sequences are named in their examples alone.
    void takeNames(const ProbeSample& sample, bool answers) {
        const auto& sequence = answers ? sample.target : sample.source;
        for (std::size_t k = 0; k < std::min(sequence.tokens.size(), sequence.labels.size()); ++k)
            m_names.try_emplace(sequence.tokens[k], sequence.labels[k]);
    }

    std::string tokenText(std::int64_t id) const {
        if (const auto& tokenizer = m_subject.model->tokenizer(); tokenizer)
            if (id < tokenizer->size())
                return std::string(tokenizer->piece(static_cast<std::int32_t>(id)));
        const auto found = m_names.find(id);
        return found == m_names.end() ? std::to_string(id) : found->second;
    }

    DatasetPtr textNamed(const std::string& file) const {
        try {
            return openEvaluationText(*m_subject.model, {"", file, "", 0}, {}, m_watch.stop);
        } catch (const OptionError& error) {
            throw OptionError("weights", error.message());
        }
    }

    // The chance of each token, [vocabulary].
    torch::Tensor weights(std::int64_t vocabulary) {
        auto all = torch::ones({vocabulary}, torch::kDouble);
        // Rows behind the tokens of the tokenizer are padding.
        if (const auto tokenizer = m_subject.model->tokenizer())
            if (const auto size = tokenizer->size(); size < vocabulary) all.slice(0, size).zero_();
        const bool even =
            m_options.weights == "even" || (m_options.weights.empty() && !m_subject.data);
        if (!even) {
            auto data = m_subject.data;
            if (!m_options.weights.empty()) data = textNamed(m_options.weights);
            all = all * counted(*data, vocabulary);
            set("over", " weighted by " + data->info().name);
            if (all.sum().item<double>() <= 0.0)
                throw OptionError(
                    "weights", data->info().name + " has no token of this vocabulary; choose even");
        }
        const auto seen = all.gt(0).sum().item<std::int64_t>();
        if (seen < 2)
            throw OptionError(even ? "model" : "weights",
                              even ? "the vocabulary of " + m_parts.text() +
                                         " has one token, so that there is no pair to compare"
                                   : "the text has one token of the vocabulary alone; choose "
                                     "another text, or even");
        set("count", seen);
        return all / all.sum();
    }

    // A list of pieces is text, whatever bytes they are; spaces are seen.
    static std::string shownToken(const std::string& text) {
        const auto shown = pieceText(text).text;
        return shown.find(' ') == std::string::npos && !shown.empty() ? shown : "'" + shown + "'";
    }

    void addPair(const char* table, std::int64_t receiver, std::int64_t sender, double score) {
        addRow(m_answer, table, shownToken(tokenText(receiver)), shownToken(tokenText(sender)),
               score, receiver, sender);
    }

    void takePartners(const ScoreFactors& factors, const torch::Tensor& ids) {
        if (m_options.token.empty()) return;
        ProbeSample sample;
        const auto token = m_subject.model->answerNames(sample, {}).find(m_options.token, "token");
        if (token < 0 || token >= factors.q.size(0))
            throw OptionError("token", "there is no token " + std::to_string(token) + " among " +
                                           std::to_string(factors.q.size(0)));
        for (const bool receiver : {true, false}) {
            const auto& own = receiver ? factors.q : factors.k;
            const auto& other = receiver ? factors.k : factors.q;
            const auto scores =
                factors.scale * torch::matmul(other.index_select(0, ids), own[token]);
            const auto n = std::min(m_options.top, ids.size(0));
            for (const bool high : {true, false}) {
                const auto [values, at] = scores.topk(n, 0, high);
                for (std::int64_t k = 0; k < n; ++k) {
                    const auto id = ids[at[k]].item<std::int64_t>();
                    addPair("partners", receiver ? token : id, receiver ? id : token,
                            values[k].item<double>());
                }
            }
        }
    }

    std::string m_where;                          // " at 5 and 3"; may be empty
    std::map<std::int64_t, std::string> m_names;  // of tokens of sequences
};

Answer runDictionary(AnalysisSubject& subject, const DictionaryOptions& options,
                     const Watch<Answer>& watch) {
    const auto input = subject.model->options().input();
    return input == InputKind::Images || input == InputKind::Objects
               ? dictionaryOfObjects(subject, options, watch)
               : TokenRun(subject, options, watch).run();
}

}  // namespace

// Throws OptionError for a map that is not there or compares no tokens, patches or features, Error
// for weights that are not finite or a map that is the same for all pairs; Cancelled.
const RegisterRunner kDictionaryRunner("qk-components", [] {
    return makeRunner(dictionaryFields(), runDictionary);
});

}  // namespace relascope::core
