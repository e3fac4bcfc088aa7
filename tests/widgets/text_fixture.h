// SPDX-License-Identifier: GPL-3.0-or-later
// Results of language models over a text, cut as a vocabulary of bytes cuts it.
#pragma once

#include "probe_fixture.h"
#include "support/rooms.h"

namespace relascope::fixture {

/// 51 pieces of a little story, as GPT-2 would cut it: a name cut in two, an emoji in halves.
inline std::vector<std::string> storyPieces() {
    return {"Once",
            " upon",
            " a",
            " time",
            ",",
            " there",
            " was",
            " a",
            " little",
            " girl",
            " named",
            " Lily",
            ".",
            " She",
            " had",
            " a",
            " red",
            " ball",
            ".",
            "\n",
            "One",
            " day",
            ",",
            " L",
            "ily",
            " and",
            " her",
            " bro",
            "ther",
            " Tom",
            " went",
            " to",
            " the",
            " park",
            ".",
            " Tom",
            " saw",
            " a",
            " dog",
            " with",
            " a",
            " blue",
            " ball",
            ".",
            " \xF0\x9F",
            "\x98\x8A",
            " Lily",
            " smiled",
            ".",
            "\n\n",
            "\xE2\x80\x9C"
            "Can"};
}

inline std::vector<std::string> characterPieces(const std::string& text) {
    std::vector<std::string> pieces;
    for (const char c : text) pieces.emplace_back(1, c);
    return pieces;
}
/// Two hundred characters and a few.
inline std::vector<std::string> lineOfPlay() {
    return characterPieces(
        "KING HENRY:\nNow comes the winter to the quiet field,\nAnd every lord that once did hold "
        "his tongue\nDoth speak of peace, and calls the sword a friend.\n\nMESSENGER:\nMy lord, "
        "the gates are open to the north.\n");
}

inline ProbeSequence textOf(std::vector<std::string> pieces) {
    ProbeSequence sequence;
    for (std::size_t k = 0; k < pieces.size(); ++k)
        sequence.tokens.push_back(static_cast<std::int64_t>(k % 89));
    sequence.labels = std::move(pieces);
    sequence.text = true;
    return sequence;
}

/// What a trained model's maps look like: equal words stand out, near ones too, each relation in
/// its own way.
inline float textValue(const std::vector<std::string>& words, int layer, int index, int i, int j) {
    const auto& a = words[static_cast<std::size_t>(i)];
    const auto& b = words[static_cast<std::size_t>(j)];
    const auto size = static_cast<float>(a.size() + 2 * b.size() + static_cast<unsigned>(index));
    float v = std::sin(1.7F * size + 0.9F * static_cast<float>(layer) +
                       0.37F * static_cast<float>(static_cast<unsigned char>(b.back()) % 23));
    if (a == b) v += 1.6F;
    return v * (0.6F + 0.15F * static_cast<float>(index % 5));
}

/// A causal language model's result: `relations` maps and as many heads of each kind a layer.
inline std::shared_ptr<ProbeResult> text(std::vector<std::string> pieces, int layers = 2,
                                         int relations = 4, int heads = 4) {
    auto r = std::make_shared<ProbeResult>();
    r->step = 12340;
    r->sample.origin = "validation 8112";
    r->sample.source = textOf(std::move(pieces));
    const auto& words = r->sample.source.labels;
    r->sides = {{"tokens", words}};
    const auto n = static_cast<int>(words.size());
    for (int l = 0; l < layers; ++l) r->layers.push_back({"layer " + std::to_string(l + 1), 0, 0});
    const auto add = [&](MapKind kind, int count) {
        for (int l = 0; l < layers; ++l)
            for (int k = 0; k < count; ++k) {
                RelationMap map{kind, l, k, n, n, {}, true};
                map.values.resize(static_cast<std::size_t>(n) * n);
                for (int i = 0; i < n; ++i) {
                    float sum = 0;
                    for (int j = 0; j <= i; ++j) {
                        float& cell = map.values[static_cast<std::size_t>(i) * n + j];
                        cell = textValue(words, l, k, i, j);
                        if (kind != MapKind::Relation)
                            sum += cell = std::exp(2 * cell - 0.05F * static_cast<float>(i - j));
                    }
                    if (kind == MapKind::Relation) continue;
                    for (int j = 0; j <= i; ++j)
                        map.values[static_cast<std::size_t>(i) * n + j] /= sum;
                }
                r->maps.push_back(std::move(map));
            }
    };
    add(MapKind::Relation, relations);
    add(MapKind::RelationalAttention, heads);
    add(MapKind::SensoryAttention, heads);
    return r;
}

}  // namespace relascope::fixture
