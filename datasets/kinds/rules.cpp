// SPDX-License-Identifier: GPL-3.0-or-later
// The abstract rule tasks, drawn by the program: 100 glyphs of 32 x 32 pixels in one row, and rules
// over which of them are the same (Webb, Sinha and Cohen 2021, section 3). Test problems use only
// held-out glyphs.
#include <algorithm>
#include <array>
#include <numeric>
#include <opencv2/imgproc.hpp>

#include "datasets/generators/random.h"
#include "datasets/registry.h"
#include "types/data_kind.h"
#include "types/error.h"

namespace relascope::datasets {
namespace {

constexpr int kSide = 32, kGlyphs = 100;
using Glyph = std::array<std::uint8_t, kSide * kSide>;

// A few strokes between the points of a lattice; white on black.
Glyph drawGlyph(std::uint64_t number) {
    SplitMix random(0x91f5, number);
    cv::Mat canvas(kSide, kSide, CV_8UC1, cv::Scalar(0));
    const auto point = [&random] {
        return cv::Point(4 + 6 * random.below(5), 4 + 6 * random.below(5));
    };
    const cv::Scalar white(255);
    for (int stroke = 0, strokes = 3 + random.below(3); stroke < strokes; ++stroke) {
        const auto from = point();
        const auto kind = random.below(10);
        if (kind < 6) {
            auto to = point();
            while (to == from) to = point();
            cv::line(canvas, from, to, white, 2, cv::LINE_AA);
        } else if (kind < 9) {
            const int radius = 4 + 2 * random.below(4);
            const int start = 90 * random.below(4);
            cv::ellipse(canvas, from, {radius, radius}, 0, start,
                        start + 90 * (1 + random.below(4)), white, 2, cv::LINE_AA);
        } else {
            cv::circle(canvas, from, 3, white, cv::FILLED, cv::LINE_AA);
        }
    }
    Glyph glyph;
    std::copy_n(canvas.ptr<std::uint8_t>(), glyph.size(), glyph.begin());
    return glyph;
}

const std::vector<Glyph>& glyphs() {
    static const auto all = [] {
        std::vector<Glyph> made;
        for (int i = 0; i < kGlyphs; ++i) made.push_back(drawGlyph(static_cast<std::uint64_t>(i)));
        return made;
    }();
    return all;
}

struct Problem {
    std::vector<int> row;  // glyphs
    int label = 0;
};

/// Distinct glyphs of a pool, in the order drawn.
class Drawn {
public:
    Drawn(std::vector<int> pool, SplitMix& random) : m_pool(std::move(pool)), m_random(random) {}
    std::size_t left() const { return m_pool.size() - m_used; }
    int next() {
        if (left() == 0) throw Error("a rule needs more glyphs than there are");
        const auto at = m_used + static_cast<std::size_t>(m_random.below64(left()));
        std::swap(m_pool[m_used], m_pool[at]);
        return m_pool[m_used++];
    }

private:
    std::vector<int> m_pool;
    SplitMix& m_random;
    std::size_t m_used = 0;
};

// Puts the answer among three others, in a random order.
Problem withChoices(std::vector<int> row, int answer, std::vector<int> others, SplitMix& random) {
    random.shuffle(others);
    const int place = random.below(static_cast<int>(others.size()) + 1);
    others.insert(others.begin() + place, answer);
    row.insert(row.end(), others.begin(), others.end());
    return {std::move(row), place};
}

Problem sameOrDifferent(Drawn& drawn, SplitMix&, std::int64_t index) {
    const int a = drawn.next();
    return index % 2 == 1 ? Problem{{a, a}, 1} : Problem{{a, drawn.next()}, 0};
}

Problem matching(Drawn& drawn, SplitMix& random, std::int64_t index) {
    const auto pair = [&drawn](bool same) {
        const int a = drawn.next();
        return std::vector<int>{a, same ? a : drawn.next()};
    };
    const bool same = random.below(2) == 1, second = index % 2 == 1;
    Problem p{pair(same), second ? 1 : 0};
    for (const bool matches : {!second, second}) {
        const auto target = pair(same == matches);
        p.row.insert(p.row.end(), target.begin(), target.end());
    }
    return p;
}

Problem distributionOfThree(Drawn& drawn, SplitMix& random, std::int64_t) {
    std::vector<int> three = {drawn.next(), drawn.next(), drawn.next()}, row = three;
    random.shuffle(three);
    row.insert(row.end(), three.begin(), three.begin() + 2);
    std::vector<int> others = {three[0], three[1], drawn.next()};
    return withChoices(std::move(row), three[2], std::move(others), random);
}

Problem identityRule(Drawn& drawn, SplitMix& random, std::int64_t index) {
    const int a = drawn.next(), b = drawn.next(), c = drawn.next(), d = drawn.next();
    const int rule = static_cast<int>(index % 3);  // ABA, ABB, AAA
    const auto third = [rule](int first, int second) { return rule == 1 ? second : first; };
    const int b1 = rule == 2 ? a : b, d1 = rule == 2 ? c : d, answer = third(c, d1);
    // With only five glyphs (m = 95) one of the first row fills the choices, never as the answer.
    const auto wrong = [&] { return drawn.left() > 0 ? drawn.next() : b; };
    std::vector<int> others = {answer == c ? d : c, wrong(), wrong()};
    return withChoices({a, b1, third(a, b1), c, d1}, answer, std::move(others), random);
}

class Rules : public core::ImageDataset {
public:
    Rules(const DataOptions& o, const char* split, std::int64_t size, std::uint64_t stream,
          int firstGlyph, int glyphCount)
        : m_seed(static_cast<std::uint64_t>(o.seed) * 4 + stream),
          m_pool(static_cast<std::size_t>(glyphCount)) {
        std::iota(m_pool.begin(), m_pool.end(), firstGlyph);
        m_make = o.task == "same-different"          ? sameOrDifferent
                 : o.task == "matching"              ? matching
                 : o.task == "distribution-of-three" ? distributionOfThree
                                                     : identityRule;
        m_info.name = o.task + ", " + split;
        m_info.origin = "generated, seed " + std::to_string(o.seed);
        m_info.size = size;
        m_info.channels = 1;
        m_info.height = kSide;
        m_info.width = kSide * static_cast<int>(problem(0).row.size());
        m_info.classNames = dataKind(o.kind).findTask(o.task)->classNames;
        m_info.task = o.task;
    }

    const DatasetInfo& info() const override { return m_info; }

    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        const auto p = problem(index);
        const auto width = static_cast<std::size_t>(m_info.width);
        for (std::size_t place = 0; place < p.row.size(); ++place) {
            const auto& glyph = glyphs()[static_cast<std::size_t>(p.row[place])];
            for (std::size_t y = 0; y < kSide; ++y)
                std::copy_n(&glyph[y * kSide], kSide, &pixels[y * width + place * kSide]);
        }
        return p.label;
    }

private:
    Problem problem(std::int64_t index) const {
        SplitMix random(m_seed, static_cast<std::uint64_t>(index));
        Drawn drawn(m_pool, random);
        return m_make(drawn, random, index);
    }

    std::uint64_t m_seed;
    std::vector<int> m_pool;
    DatasetInfo m_info;
    Problem (*m_make)(Drawn&, SplitMix&, std::int64_t index);
};

core::DataSplits openRules(const DataOptions& o, const core::ProgressCallback&, std::stop_token) {
    const int held = static_cast<int>(o.held_out), seen = kGlyphs - held;
    core::DataSplits splits;
    splits.train = std::make_shared<Rules>(o, "train", o.train_size, 0, 0, seen);
    splits.validation = std::make_shared<Rules>(o, "validation", o.validation_size, 1, 0, seen);
    splits.tests.emplace_back(
        "test", std::make_shared<Rules>(o, "test", o.test_size, 2, held > 0 ? seen : 0,
                                        held > 0 ? held : kGlyphs));
    return splits;
}

const KindOpenerRegistrar registered("rules", {openRules});

}  // namespace
}  // namespace relascope::datasets
