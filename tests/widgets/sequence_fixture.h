// Results of models that look at sequences and sets, with numbers that a test can say in advance.
#pragma once

#include "probe_fixture.h"

namespace relascope::fixture {

inline ProbeSequence tokens(const std::vector<std::string>& words) {
    ProbeSequence sequence;
    for (const auto& word : words)
        sequence.tokens.push_back(static_cast<std::int64_t>(sequence.tokens.size()) + 10),
            sequence.words.push_back(word);
    return sequence;
}

/// Encoder over five characters, decoder over seven, causal, and attention from one to the other.
inline std::shared_ptr<ProbeResult> seq2seq() {
    auto r = std::make_shared<ProbeResult>();
    const std::vector<std::string> source = {"x", "+", "7", "=", "?"};
    const std::vector<std::string> target = {"^", "1", "0", "7", " ", "7", "<b>"};
    r->sample.source = tokens(source);
    r->sample.target = tokens(target);
    r->sample.origin = "reference 0";
    r->sides = {{"source", source}, {"target", target}};
    r->layers = {{"encoder 1", 0, 0}, {"decoder 1", 1, 1}, {"decoder 1 cross", 1, 0}};
    for (int k = 0; k < 3; ++k) r->maps.push_back(map(MapKind::Relation, 0, k, 5, 5));
    for (int k = 0; k < 2; ++k) {
        auto decoder = map(MapKind::Relation, 1, k, 7, 7);
        decoder.causal = true;
        r->maps.push_back(decoder);
    }
    r->maps.push_back(map(MapKind::RelationalAttention, 0, 0, 5, 5));
    for (int k = 0; k < 2; ++k) r->maps.push_back(map(MapKind::SensoryAttention, 0, k, 5, 5));
    auto decoder = map(MapKind::SensoryAttention, 1, 0, 7, 7);
    decoder.causal = true;
    r->maps.push_back(decoder);
    for (int k = 0; k < 2; ++k) {
        RelationMap cross{MapKind::SensoryAttention, 2, k, 7, 5, {}, false};
        for (int i = 0; i < 7; ++i)
            for (int j = 0; j < 5; ++j)
                cross.values.push_back(0.01F * static_cast<float>(1 + i + 7 * j + 3 * k));
        r->maps.push_back(cross);
    }
    return r;
}

/// Four heads that each choose two of nine patches.
inline std::shared_ptr<ProbeResult> prediNet() {
    auto r = result({.classToken = false, .layers = 1, .relations = 0, .relational = 0});
    r->maps.clear();
    r->sides = {{"patches", {}}, {"selection", {"E1", "E2"}}};
    r->layers = {{"heads", 1, 0}};
    for (int k = 0; k < 4; ++k) {
        RelationMap head{MapKind::SensoryAttention, 0, k, 2, 9, {}, false};
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 9; ++j)
                head.values.push_back(j == (i == 0 ? k : 8 - k) ? 0.92F : 0.01F);
        r->maps.push_back(head);
    }
    return r;
}

/// One similarity matrix of six objects, each a vector of eight numbers.
inline std::shared_ptr<ProbeResult> coRelNet() {
    auto r = std::make_shared<ProbeResult>();
    r->sides = {{"objects", {}}};
    r->layers = {{"similarity", 0, 0}};
    r->sample.source.width = 8;
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 8; ++k)
            r->sample.source.vectors.push_back(0.25F * static_cast<float>((i * 3 + k) % 9 - 4));
    r->maps.push_back(map(MapKind::Relation, 0, 0, 6, 6));
    r->maps.push_back(map(MapKind::Relation, 0, 1, 6, 6));
    r->classNames = {"no", "yes"};
    r->probabilities = {0.3F, 0.7F};
    return r;
}

/// A causal language model over `count` tokens.
inline std::shared_ptr<ProbeResult> language(int count) {
    auto r = std::make_shared<ProbeResult>();
    std::vector<std::string> words;
    for (int k = 0; k < count; ++k)
        words.push_back(k % 7 == 3 ? "," : "w" + std::to_string(k % 97));
    r->sample.source = tokens(words);
    r->sides = {{"tokens", words}};
    r->layers = {{"layer 1", 0, 0}};
    auto relation = map(MapKind::Relation, 0, 0, count, count);
    auto attention = map(MapKind::RelationalAttention, 0, 0, count, count);
    relation.causal = attention.causal = true;
    r->maps = {relation, attention};
    return r;
}

}  // namespace relascope::fixture
