// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <vector>

#include "datasets/generators/cards.h"

namespace relascope::datasets {
namespace {

core::CardPictures allCards() {
    core::CardPictures cards;
    cards.height = kCardHeight, cards.width = kCardWidth;
    cards.attributes = kCardAttributes, cards.values = kCardValues;
    for (int card = 0; card < kCards; ++card) {
        const auto& pixels = cardPicture(card).pixels;
        cards.pixels.insert(cards.pixels.end(), pixels.begin(), pixels.end());
        for (int a = 0; a < kCardAttributes; ++a) cards.answers.push_back(cardValue(card, a));
    }
    return cards;
}

}  // namespace

std::shared_ptr<const core::CardTable> cardTable(std::int64_t width, std::uint64_t seed,
                                                 const core::ProgressCallback& progress,
                                                 std::stop_token stop) {
    static std::mutex reading;
    static std::map<std::pair<std::int64_t, std::uint64_t>, std::shared_ptr<const core::CardTable>>
        known;
    const auto find = [&] {
        const std::lock_guard lock(reading);
        const auto found = known.find({width, seed});
        return found == known.end() ? nullptr : found->second;
    };
    if (auto table = find()) return table;
    static std::timed_mutex making;  // one at a time
    std::unique_lock turn(making, std::defer_lock);
    while (!turn.try_lock_for(std::chrono::milliseconds(50)))
        if (stop.stop_requested() || (progress && !progress(0.0))) throw Cancelled();
    if (auto table = find()) return table;
    core::CardNetworkOptions options;
    options.embedding = width;
    options.seed = seed;
    auto table = std::make_shared<const core::CardTable>(
        core::trainCardNetwork(allCards(), options, progress, std::move(stop)));
    const std::lock_guard lock(reading);
    return known[{width, seed}] = std::move(table);
}

namespace {

constexpr int kFine = 8;  // supersampling factor, for smooth edges
constexpr int kGap = 2;   // between two cards, in pixels

// Approximate colours of the printed game.
const cv::Scalar kInks[kCardValues] = {{226, 30, 45}, {0, 140, 72}, {96, 46, 142}};
const cv::Scalar kTable(222, 222, 218), kEdge(176, 176, 172), kPaper(255, 255, 255);

// A symbol is 14.5 wide and 33 high; three stand 19.5 apart. In pixels of the finished card.
constexpr double kHalfWidth = 7.25, kHalfHeight = 16.5, kApart = 19.5, kOutline = 1.5;

using Outline = std::vector<cv::Point2d>;  // around the origin, upright

Outline oval() {
    Outline points;
    const double straight = kHalfHeight - kHalfWidth;
    for (int i = 0; i < 120; ++i) {
        const double angle = 2.0 * std::numbers::pi * i / 120.0;
        points.emplace_back(kHalfWidth * std::cos(angle),
                            kHalfWidth * std::sin(angle) + (i < 60 ? straight : -straight));
    }
    return points;
}

// A band along one period of a sine, with round ends.
Outline squiggle() {
    constexpr int steps = 80;
    constexpr double sway = 2.7;
    Outline left, right;
    for (int i = 0; i <= steps; ++i) {
        const double t = -std::cos(std::numbers::pi * i / steps);  // -1 .. 1, dense at the ends
        const double middle = sway * std::sin(1.15 * std::numbers::pi * t);
        const double half = 5.1 * std::pow(1.0 - std::pow(std::abs(t), 3.2), 0.55);
        left.emplace_back(middle - half, kHalfHeight * t);
        right.emplace_back(middle + half, kHalfHeight * t);
    }
    left.insert(left.end(), right.rbegin(), right.rend());
    return left;
}

Outline diamond() {
    return {{0.0, -kHalfHeight}, {kHalfWidth, 0.0}, {0.0, kHalfHeight}, {-kHalfWidth, 0.0}};
}

std::vector<cv::Point> placed(const Outline& outline, double x, double y) {
    std::vector<cv::Point> points;
    for (const auto& p : outline)
        points.emplace_back(static_cast<int>(std::lround(kFine * (p.x + x))),
                            static_cast<int>(std::lround(kFine * (p.y + y))));
    return points;
}

void drawPaper(cv::Mat& fine) {
    fine = kTable;
    const int radius = 5 * kFine, right = fine.cols - 1, bottom = fine.rows - 1;
    const auto fill = [&](int inset, const cv::Scalar& colour) {
        cv::rectangle(fine, {radius, inset}, {right - radius, bottom - inset}, colour, cv::FILLED);
        cv::rectangle(fine, {inset, radius}, {right - inset, bottom - radius}, colour, cv::FILLED);
        for (const int x : {radius, right - radius})
            for (const int y : {radius, bottom - radius})
                cv::circle(fine, {x, y}, radius - inset, colour, cv::FILLED);
    };
    fill(0, kEdge);
    fill(kFine * 3 / 4, kPaper);
}

void drawSymbol(cv::Mat& fine, const std::vector<cv::Point>& shape, int pattern,
                const cv::Scalar& ink) {
    const std::vector<std::vector<cv::Point>> shapes = {shape};
    if (pattern == 0) cv::fillPoly(fine, shapes, ink);
    if (pattern == 1) {
        cv::Mat inside(fine.size(), CV_8UC1, cv::Scalar(0)), stripes = inside.clone();
        cv::fillPoly(inside, shapes, cv::Scalar(255));
        // One pixel of ink for two of paper, aligned with the pixels of the finished card.
        for (int y = 0; y < fine.rows; y += 3 * kFine)
            cv::rectangle(stripes, {0, y}, {fine.cols - 1, y + kFine - 1}, cv::Scalar(255),
                          cv::FILLED);
        cv::bitwise_and(inside, stripes, inside);
        fine.setTo(ink, inside);
    }
    cv::polylines(fine, shapes, true, ink, static_cast<int>(kOutline * kFine));
}

Image draw(int card) {
    static const Outline shapes[kCardValues] = {oval(), squiggle(), diamond()};
    cv::Mat fine(kCardHeight * kFine, kCardWidth * kFine, CV_8UC3);
    drawPaper(fine);
    const int count = cardValue(card, 0) + 1;
    for (int i = 0; i < count; ++i) {
        const double x = 0.5 * kCardWidth + kApart * (i - 0.5 * (count - 1));
        drawSymbol(fine, placed(shapes[cardValue(card, 3)], x, 0.5 * kCardHeight),
                   cardValue(card, 2), kInks[cardValue(card, 1)]);
    }
    Image image{kCardWidth, kCardHeight, 3,
                std::vector<std::uint8_t>(static_cast<std::size_t>(kCardWidth * kCardHeight * 3))};
    cv::Mat small(kCardHeight, kCardWidth, CV_8UC3, image.pixels.data());
    cv::resize(fine, small, small.size(), 0, 0, cv::INTER_AREA);
    return image;
}

}  // namespace

const std::array<std::string, kCardAttributes>& cardAttributeNames() {
    static const std::array<std::string, kCardAttributes> names = {"number", "colour", "pattern",
                                                                   "shape"};
    return names;
}

int cardValue(int card, int attribute) {
    for (int behind = kCardAttributes - 1 - attribute; behind > 0; --behind) card /= kCardValues;
    return card % kCardValues;
}

int cardOf(const std::array<int, kCardAttributes>& values) {
    int card = 0;
    for (const int value : values) card = kCardValues * card + value;
    return card;
}

const Image& cardPicture(int card) {
    static const std::vector<Image> all = [] {
        std::vector<Image> pictures;
        for (int c = 0; c < kCards; ++c) pictures.push_back(draw(c));
        return pictures;
    }();
    return all.at(static_cast<std::size_t>(card));
}

Image cardPairPicture(int first, int second) {
    Image pair{2 * kCardWidth + kGap, kCardHeight, 3, {}};
    const auto &left = cardPicture(first), &right = cardPicture(second);
    for (int row = 0; row < kCardHeight; ++row) {
        const auto append = [&](const Image& card) {
            const auto begin =
                card.pixels.begin() + static_cast<std::ptrdiff_t>(card.index(row, 0, 0));
            pair.pixels.insert(pair.pixels.end(), begin, begin + 3 * kCardWidth);
        };
        append(left);
        for (int gap = 0; gap < kGap; ++gap)
            for (int c = 0; c < 3; ++c) pair.pixels.push_back(static_cast<std::uint8_t>(kTable[c]));
        append(right);
    }
    return pair;
}

std::string cardWord(int card) {
    static const char* const colours[] = {"red", "green", "purple"};
    static const char* const patterns[] = {"solid", "striped", "open"};
    static const char* const shapes[] = {"oval", "squiggle", "diamond"};
    const int number = cardValue(card, 0) + 1;
    return std::to_string(number) + " " + colours[cardValue(card, 1)] + " " +
           patterns[cardValue(card, 2)] + " " + shapes[cardValue(card, 3)] +
           (number > 1 ? "s" : "");
}

int thirdCard(int first, int second) {
    std::array<int, kCardAttributes> values{};
    for (int a = 0; a < kCardAttributes; ++a)  // all the same, or all different: they add up to 0
        values[static_cast<std::size_t>(a)] = (6 - cardValue(first, a) - cardValue(second, a)) % 3;
    return cardOf(values);
}

bool isSet(int a, int b, int c) {
    return a != b && thirdCard(a, b) == c;
}

}  // namespace relascope::datasets
