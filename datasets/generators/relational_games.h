// SPDX-License-Identifier: GPL-3.0-or-later
// Our generator of the five Relational Games (relational-games.md; Shanahan et al. 2020): 36 x 36
// RGB images of figures in a 3 x 3 grid. An image depends only on (seed, index) and is generated
// when it is read.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "datasets/generators/figures.h"

namespace relascope::datasets {

struct RelationalGamesOptions {
    std::string task = "between";
    FigureFamily family = FigureFamily::Pentos;
    std::int64_t size = 1000;
    std::uint64_t seed = 0;
    std::vector<std::string> patterns = {"AAA", "AAB", "ABA", "ABB", "ABC"};  ///< match_pattern
    /// Streaming: every `epoch` has new images.
    std::uint64_t epoch = 0;
};

/// The contents of the nine cells, row by row, and the label.
struct Scene {
    std::array<std::optional<Figure>, 9> cells;
    int label = 0;
};

/// Labels are balanced: one of two neighbouring indices is positive.
class RelationalGames : public core::ImageDataset {
public:
    static constexpr int kSide = 36;

    /// Throws OptionError for an unknown task or pattern.
    explicit RelationalGames(RelationalGamesOptions options);
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override;

    /// Shape and colour of the nine cells. For stripes, which are all squares, the middle colour
    /// counts as the shape, as in Difference.
    const ObjectFacts* objectFacts() const override { return &m_facts; }
    void readFacts(std::int64_t index, std::span<std::int32_t> facts) const override;

    Scene scene(std::int64_t index) const;
    const RelationalGamesOptions& options() const { return m_options; }

private:
    RelationalGamesOptions m_options;
    DatasetInfo m_info;
    ObjectFacts m_facts{{{"shape"}, {"colour"}}, 9, 3};
    void (RelationalGames::*m_task)(SplitMix&, Scene&) const;

    void same(SplitMix& random, Scene& scene) const;
    void between(SplitMix& random, Scene& scene) const;
    void occurs(SplitMix& random, Scene& scene) const;
    void xoccurs(SplitMix& random, Scene& scene) const;
    void matchPattern(SplitMix& random, Scene& scene) const;
    Figure draw(SplitMix& random) const { return randomFigure(m_options.family, random); }
    Figure drawOther(SplitMix& random, const Figure& than) const;
    /// A figure that differs from `from`: as in the published files, with equal probability in
    /// colour only, in shape only, or in both.
    Figure drawApart(SplitMix& random, const Figure& from) const;
    /// The letters A, B, C of a pattern: B is a variation of A, C one of A or B, and all three are
    /// different.
    std::array<Figure, 3> drawThreeApart(SplitMix& random) const;
};

/// Draws a scene into [36, 36, 3] bytes.
void drawScene(const Scene& scene, std::span<std::uint8_t> pixels);

}  // namespace relascope::datasets
