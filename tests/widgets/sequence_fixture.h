// SPDX-License-Identifier: GPL-3.0-or-later
// Results of models that look at sequences and sets, with numbers that a test can say in advance.
#pragma once

#include <QSize>
#include <algorithm>

#include "probe_fixture.h"
#include "support/rooms.h"

namespace relascope::fixture {

inline ProbeSequence tokens(const std::vector<std::string>& words) {
    ProbeSequence sequence;
    for (const auto& word : words)
        sequence.tokens.push_back(static_cast<std::int64_t>(sequence.tokens.size()) + 10),
            sequence.labels.push_back(word);
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

/// A picture of one colour with a white line from its top left corner downwards.
inline Image tile(int width, int height, int hue) {
    Image image{width, height, 3, {}};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (const int c : {hue, 255 - hue, (hue * 7) % 256})
                image.pixels.push_back(static_cast<std::uint8_t>(x == 0 ? 255 : c));
    return image;
}

inline void addMaps(ProbeResult& r, MapKind kind, int layer, int count, int rows, int columns,
                    bool causal = false) {
    for (int k = 0; k < count; ++k) {
        RelationMap map{kind, layer, k, rows, columns, {}, causal};
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j)
                map.values.push_back(kind == MapKind::Relation
                                         ? relationValue(layer, k, i, j)
                                         : 0.02F *
                                               static_cast<float>(1 + (i * 5 + j * 3 + k) % 11));
        r.maps.push_back(std::move(map));
    }
}

/// Objects of a set, each with its picture: cards, or the small tiles of an order.
inline std::shared_ptr<ProbeResult> pictured(const std::vector<std::string>& words, QSize size) {
    auto r = std::make_shared<ProbeResult>();
    const int n = static_cast<int>(words.size());
    ProbeSequence& source = r->sample.source;
    source.width = 4;
    source.labels = words;
    for (int k = 0; k < n; ++k) {
        for (int v = 0; v < 4; ++v) source.vectors.push_back(static_cast<float>((k + v) % 5 - 2));
        source.pictures.push_back(tile(size.width(), size.height(), 40 + 60 * k % 200));
    }
    r->sample.origin = "validation 7";
    r->sample.label = 1;
    r->sides = {{"objects", words}};
    r->layers = {{"abstractor 1", 0, 0}};
    addMaps(*r, MapKind::Relation, 0, 4, n, n);
    r->classNames = {"no SET", "SET"};
    r->probabilities = {0.2F, 0.8F};
    return r;
}

inline std::shared_ptr<ProbeResult> cards() {
    return pictured({"2 red striped ovals", "1 green solid diamond", "3 purple open squiggles"},
                    {50, 70});
}

/// Sorting `n` objects: an encoder with an abstractor, and a decoder that answers with places.
inline std::shared_ptr<ProbeResult> sorting(int n) {
    std::vector<std::string> words;
    for (int k = 0; k < n; ++k)
        words.push_back("A" + std::to_string(k * 3 % 4 + 1) + " B" +
                        std::to_string(k * 5 % 12 + 1));
    auto r = pictured(words, {28, 28});
    r->sample.label = -1;
    r->maps.clear();
    r->sample.target.tokens.push_back(n);
    r->sample.target.labels.emplace_back("start");
    for (int k = 1; k < n; ++k) {
        r->sample.target.tokens.push_back(k * 7 % n);
        r->sample.target.labels.push_back(std::to_string(k * 7 % n + 1) + "th");
    }
    r->sides = {{"source", words}, {"target", r->sample.target.labels}};
    r->layers = {{"encoder 1", 0, 0},
                 {"abstractor 1", 0, 0},
                 {"decoder 1", 1, 1},
                 {"decoder 1 cross", 1, 0}};
    addMaps(*r, MapKind::SensoryAttention, 0, 2, n, n);
    addMaps(*r, MapKind::Relation, 1, 2, n, n);
    addMaps(*r, MapKind::RelationalAttention, 1, 2, n, n);
    addMaps(*r, MapKind::SensoryAttention, 2, 2, n, n, true);
    addMaps(*r, MapKind::SensoryAttention, 3, 2, n, n);
    r->classNames.clear();
    r->probabilities.clear();
    for (int k = 0; k <= n; ++k) {
        r->classNames.push_back(std::to_string(k));
        r->probabilities.push_back(k == 3 ? 0.9F : 0.1F / static_cast<float>(n));
    }
    return r;
}

inline ProbeSequence characters(const std::string& text, std::size_t filledTo = 0) {
    ProbeSequence sequence;
    sequence.text = true;
    for (const char c : text) {
        sequence.tokens.push_back(c);
        sequence.labels.emplace_back(1, c);
    }
    sequence.tokens.resize(std::max(filledTo, text.size()));
    sequence.labels.resize(std::max(filledTo, text.size()));
    return sequence;
}

/// A question filled up to 161 characters, and its answer.
inline std::shared_ptr<ProbeResult> math() {
    auto r = std::make_shared<ProbeResult>();
    r->sample.source = characters("Solve 24*b = 21*b - 15 for b.;", 161);
    r->sample.target = characters("@-5");
    r->sample.origin = "validation 3";
    r->sides = {{"source", r->sample.source.labels}, {"target", r->sample.target.labels}};
    r->layers = {{"encoder 1", 0, 0}, {"decoder 1", 1, 1}, {"decoder 1 cross", 1, 0}};
    addMaps(*r, MapKind::Relation, 0, 4, 161, 161);
    addMaps(*r, MapKind::RelationalAttention, 0, 4, 161, 161);
    addMaps(*r, MapKind::SensoryAttention, 1, 2, 3, 3, true);
    addMaps(*r, MapKind::SensoryAttention, 2, 2, 3, 161);
    r->classNames = {"0", "1", "2"};
    r->probabilities = {0.1F, 0.1F, 0.8F};
    return r;
}

}  // namespace relascope::fixture
