// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/generators/shape_pictures.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "types/error.h"
#include "types/suggest.h"

namespace relascope::datasets {
namespace {

constexpr int kKeptKinds = 6;  // of each diagonal of colours and shapes, one a colour

constexpr std::array<std::array<std::uint8_t, 3>, ShapePictures::kColours> kShapeColours = {
    {{220, 50, 47}, {38, 139, 210}, {133, 183, 0}, {240, 200, 40}, {150, 80, 200}, {42, 200, 190}}};
const std::vector<std::string>& colourNames() {
    static const std::vector<std::string> names = {"red",    "blue",   "green",
                                                   "yellow", "violet", "turquoise"};
    return names;
}
const std::vector<std::string>& shapeNames() {
    static const std::vector<std::string> names = {"square", "disc", "triangle",
                                                   "cross",  "ring", "bars"};
    return names;
}

/// Whether a pixel of the box of a shape belongs to it. Each fills more than half of every quarter
/// of its box, so that patches on the grid have its object.
bool inShape(int shape, int x, int y) {
    constexpr int side = ShapePictures::kShapeSide;
    const int u = 2 * x - side + 1, v = 2 * y - side + 1;  // from the middle, odd
    const int square = u * u + v * v;
    switch (shape) {
        case 0:
            return true;
        case 1:
            return square <= side * side;
        case 2:  // upwards
            return std::abs(u) <= y + 3;
        case 3:
            return std::min(std::abs(u), std::abs(v)) <= 3;
        case 4:
            return square >= 10 && std::max(std::abs(u), std::abs(v)) <= side;
        default:
            return x % 4 != 3;
    }
}

/// How the scenes of a task are made.
struct ShapeTask {
    std::string name;
    bool pairs = false, aligned = true;
};
const std::vector<ShapeTask>& shapeTasks() {
    static const std::vector<ShapeTask> all = {{"same-different"},
                                               {"same-different-anywhere", false, false},
                                               {"rmts", true},
                                               {"rmts-anywhere", true, false}};
    return all;
}

}  // namespace

ShapePictures::ShapePictures(ShapePicturesOptions options) : m_options(std::move(options)) {
    const auto& tasks = shapeTasks();
    const auto task = std::find_if(tasks.begin(), tasks.end(),
                                   [&](const auto& one) { return one.name == m_options.task; });
    if (task == tasks.end()) {
        std::vector<std::string> names;
        for (const auto& one : tasks) names.push_back(one.name);
        throw OptionError("data.task", unknownName("task", m_options.task, names));
    }
    m_rmts = task->pairs, m_aligned = task->aligned;
    for (int colour = 0; colour < kColours; ++colour)
        for (int shape = 0; shape < kShapes; ++shape)
            if (((colour + shape) % kKeptKinds == 0) == m_options.newKinds)
                m_kinds.emplace_back(colour, shape);
    m_facts.facts = {{"colour", false, colourNames()}, {"shape", false, shapeNames()}};
    m_facts.groups = m_rmts;
    m_info.name = m_options.task + (m_options.newKinds ? ", new kinds" : "");
    m_info.task = m_options.task;
    m_info.origin = "generated";
    m_info.size = m_options.size;
    m_info.width = m_info.height = kSide;
    m_info.channels = 3;
    m_info.classNames = m_rmts ? std::vector<std::string>{"other relation", "same relation"}
                               : std::vector<std::string>{"all differ", "one occurs twice"};
}

std::vector<std::pair<int, int>> ShapePictures::drawKinds(SplitMix& random,
                                                          std::size_t count) const {
    auto kinds = m_kinds;
    random.shuffle(kinds);
    kinds.resize(count);
    return kinds;
}

ShapeScene ShapePictures::scene(std::int64_t index) const {
    SplitMix random(m_options.seed, static_cast<std::uint64_t>(index) ^ m_options.epoch << 40);
    ShapeScene scene;
    scene.label = static_cast<int>(index % 2);
    std::vector<std::pair<int, int>> kinds;
    if (m_rmts) {
        const bool first = random.below(2) == 1, second = first == (scene.label == 1);
        const auto drawn = drawKinds(random, 4);
        kinds = {drawn[0], first ? drawn[0] : drawn[1], drawn[2], second ? drawn[2] : drawn[3]};
    } else {
        kinds = drawKinds(random, static_cast<std::size_t>(random.between(2, 4)));
        if (scene.label == 1) kinds.back() = kinds.front();
        random.shuffle(kinds);
    }
    for (std::size_t k = 0; k < kinds.size(); ++k)
        scene.shapes.push_back(
            {kinds[k].first, kinds[k].second, 0, 0, m_rmts ? static_cast<int>(k) / 2 : -1});
    place(random, scene);
    return scene;
}

// Shapes never touch. Of rmts the first pair is on the left, the second on the right.
void ShapePictures::place(SplitMix& random, ShapeScene& scene) const {
    constexpr int cells = kSide / kShapeSide, half = kSide / 2;
    const int step = m_aligned ? kShapeSide : 1;
    const auto drawIn = [&](int low, int high) {
        return low + step * random.below((high - low - kShapeSide) / step + 1);
    };
    static_assert(cells >= 4);
    for (bool apart = false; !apart;) {
        apart = true;
        for (std::size_t k = 0; k < scene.shapes.size() && apart; ++k) {
            auto& one = scene.shapes[k];
            one.x = one.pair < 0    ? drawIn(0, kSide)
                    : one.pair == 0 ? drawIn(0, half)
                                    : drawIn(half, kSide);
            one.y = drawIn(0, kSide);
            for (std::size_t other = 0; other < k; ++other)
                apart = apart && (std::abs(one.x - scene.shapes[other].x) >= kShapeSide ||
                                  std::abs(one.y - scene.shapes[other].y) >= kShapeSide);
        }
    }
}

std::int64_t ShapePictures::read(std::int64_t index, std::span<std::uint8_t> pixels) const {
    const auto drawn = scene(index);
    std::fill(pixels.begin(), pixels.end(), std::uint8_t{0});
    for (const auto& one : drawn.shapes)
        for (int y = 0; y < kShapeSide; ++y)
            for (int x = 0; x < kShapeSide; ++x)
                if (inShape(one.shape, x, y))
                    std::copy_n(kShapeColours[static_cast<std::size_t>(one.colour)].begin(), 3,
                                pixels.begin() + 3 * static_cast<std::ptrdiff_t>(
                                                         (one.y + y) * kSide + one.x + x));
    return drawn.label;
}

ObjectMask ShapePictures::mask(std::int64_t index) const {
    const auto drawn = scene(index);
    ObjectMask mask{
        kSide, kSide, std::vector<std::uint16_t>(kSide * kSide, ObjectMask::kBackground), {}};
    for (std::size_t k = 0; k < drawn.shapes.size(); ++k) {
        const auto& one = drawn.shapes[k];
        const auto number = static_cast<std::uint16_t>(k + 1);
        mask.objects.push_back({number, {one.colour, one.shape}, one.pair});
        for (int y = 0; y < kShapeSide; ++y)
            for (int x = 0; x < kShapeSide; ++x)
                if (inShape(one.shape, x, y))
                    mask.numbers[static_cast<std::size_t>((one.y + y) * kSide + one.x + x)] =
                        number;
    }
    return mask;
}

}  // namespace relascope::datasets
