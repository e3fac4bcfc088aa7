// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "types/data_kind.h"
#include "types/text_format.h"

namespace relascope::datasets {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;
using Bars = std::vector<std::pair<std::string, std::int64_t>>;

constexpr int kMostBars = 12;

std::string product(std::int64_t a, std::int64_t b) {
    return std::to_string(a) + " \u00d7 " + std::to_string(b);
}

/// Minimum, mean and maximum of the values added.
struct Range {
    double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0.0;
    std::int64_t count = 0;

    void add(double value) {
        least = std::min(least, value);
        most = std::max(most, value);
        sum += value;
        ++count;
    }
    std::string text(int digits) const {
        if (count == 0) return "\u2014";
        const auto low = numberWithMinus(least, digits), high = numberWithMinus(most, digits);
        if (low == high) return low;
        return low + " to " + high + ", mean " +
               numberWithMinus(sum / static_cast<double>(count), std::max(1, digits));
    }
};

/// Lengths as bars, grouped if there are many.
Bars lengthBars(const std::map<std::int64_t, std::int64_t>& lengths) {
    Bars bars;
    if (lengths.empty()) return bars;
    const auto low = lengths.begin()->first, high = lengths.rbegin()->first;
    const auto step = (high - low + kMostBars) / kMostBars;
    for (auto from = low; from <= high; from += step) {
        const auto to = std::min(high, from + step - 1);
        std::int64_t count = 0;
        for (const auto& [length, number] : lengths)
            if (length >= from && length <= to) count += number;
        bars.emplace_back(from == to ? std::to_string(from)
                                     : std::to_string(from) + "\u2013" + std::to_string(to),
                          count);
    }
    return bars;
}

struct Counting {
    std::int64_t size = 0;
    const std::function<bool()>& wanted;
    DataStatistics s;

    bool next() {
        if (s.counted >= size) return false;
        if (!wanted()) throw Cancelled();
        return true;
    }
};

void nameClasses(DataStatistics& s, const DatasetInfo& info,
                 const std::vector<std::int64_t>& counts) {
    for (std::size_t k = 0; k < counts.size(); ++k)
        s.bars.emplace_back(k < info.classNames.size() ? info.classNames[k] : std::to_string(k),
                            counts[k]);
}

void count(const core::ImageDataset& data, Counting& c) {
    const auto& info = data.info();
    std::vector<std::int64_t> classes(info.classNames.size());
    std::vector<double> mean(static_cast<std::size_t>(std::max(1, info.channels)));
    std::vector<std::uint8_t> pixels(data.pixelBytes());
    for (; c.next(); ++c.s.counted) {
        const auto label = data.read(c.s.counted, pixels);
        if (label >= 0) {
            if (static_cast<std::size_t>(label) >= classes.size())
                classes.resize(static_cast<std::size_t>(label) + 1);
            ++classes[static_cast<std::size_t>(label)];
        }
        for (std::size_t i = 0; i < pixels.size(); ++i) mean[i % mean.size()] += pixels[i];
    }
    nameClasses(c.s, info, classes);
    const double values = static_cast<double>(c.s.counted) * info.width * info.height;
    std::vector<std::string> means;
    for (const double sum : mean) means.push_back(fixedField(sum / std::max(1.0, values), 1));
    c.s.rows = {
        {"Size", product(info.width, info.height) + (info.channels == 1 ? ", grey" : ", RGB")},
        {info.channels == 1 ? "Mean pixel" : "Mean R, G, B", joined(means)}};
}

void count(const core::ObjectDataset& data, Counting& c) {
    const auto& info = data.info();
    const auto shape = data.shape();
    std::vector<float> objects(static_cast<std::size_t>(shape.objects * shape.width)),
        targets(static_cast<std::size_t>(shape.targets));
    std::vector<std::int64_t> classes(
        info.targets == TargetKind::MultiLabel ? targets.size() : info.classNames.size());
    Range numbers, answers;
    for (; c.next(); ++c.s.counted) {
        data.read(c.s.counted, objects, targets);
        for (const float v : objects) numbers.add(v);
        for (std::size_t k = 0; k < targets.size(); ++k) {
            if (info.targets == TargetKind::Regression) answers.add(targets[k]);
            if (info.targets == TargetKind::MultiLabel) classes[k] += targets[k] > 0.5F;
            if (info.targets == TargetKind::Class && k == 0 && targets[k] >= 0) {
                const auto label = static_cast<std::size_t>(targets[k]);
                if (label >= classes.size()) classes.resize(label + 1);
                ++classes[label];
            }
        }
    }
    if (info.targets != TargetKind::Regression) nameClasses(c.s, info, classes);
    if (info.targets == TargetKind::MultiLabel) c.s.what = "same";
    c.s.rows = {{"Objects", product(shape.objects, shape.width) + " values"},
                {"Values", numbers.text(2)}};
    if (info.targets == TargetKind::Regression)
        c.s.rows.emplace_back(
            shape.targets == 1 ? "Answer" : "Answers (" + std::to_string(shape.targets) + ")",
            answers.text(3));
}

void count(const core::SequenceDataset& data, Counting& c) {
    const auto shape = data.shape();
    std::vector<float> vectors(static_cast<std::size_t>(shape.source * shape.width));
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(shape.width > 0 ? 0 : shape.source)),
        answer(static_cast<std::size_t>(shape.target));
    std::map<std::int64_t, std::int64_t> lengths;
    Range questions, answers, numbers;
    const auto lengthOf = [&](const std::vector<std::int64_t>& sequence) {
        const auto end = std::find_if(sequence.begin(), sequence.end(), [&](std::int64_t token) {
            return token == shape.end || token == shape.padding;
        });
        return end - sequence.begin();
    };
    for (; c.next(); ++c.s.counted) {
        data.read(c.s.counted, vectors, tokens, answer);
        const auto length = lengthOf(answer);
        ++lengths[length];
        answers.add(static_cast<double>(length));
        if (!tokens.empty()) questions.add(static_cast<double>(lengthOf(tokens)));
        for (const float v : vectors) numbers.add(v);
    }
    if (lengths.size() > 1) {
        c.s.what = "answer length";
        c.s.bars = lengthBars(lengths);
    }
    if (shape.width > 0)
        c.s.rows = {{"Objects", product(shape.source, shape.width) + " values"},
                    {"Values", numbers.text(2)}};
    else
        c.s.rows = {{"Question length", questions.text(0)}};
    c.s.rows.emplace_back("Answer length", answers.text(0));
    c.s.rows.emplace_back("Answer vocabulary", groupedNumber(shape.targetVocabulary));
}

void count(const core::TokenDataset& data, Counting& c) {
    std::vector<std::int64_t> window(static_cast<std::size_t>(data.context() + 1));
    std::map<std::int64_t, std::int64_t> seen;
    for (; c.next(); ++c.s.counted) {
        data.read(c.s.counted, window);
        for (std::size_t k = 0; k + 1 < window.size(); ++k) ++seen[window[k]];
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> most(seen.begin(), seen.end());
    std::stable_sort(most.begin(), most.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    const auto tokenizer = data.tokenizer();
    for (std::size_t k = 0; k < std::min<std::size_t>(most.size(), kMostBars); ++k) {
        const auto id = most[k].first;
        const bool known = tokenizer && id >= 0 && id < tokenizer->size();
        c.s.bars.emplace_back(
            known ? tokenizer->piece(static_cast<std::int32_t>(id)) : std::to_string(id),
            most[k].second);
    }
    c.s.what = "token";
    c.s.pieces = true;
    c.s.rows = {{"Tokens per window", groupedNumber(data.context())},
                {"Different tokens", groupedNumber(std::ssize(seen))}};
    if (tokenizer) {
        c.s.rows.emplace_back("Tokenizer", tokenizer->name());
        c.s.rows.emplace_back("Vocabulary", groupedNumber(tokenizer->size()));
    }
}

}  // namespace

DataStatistics countExamples(const core::Dataset& data, const DataOptions& options,
                             std::int64_t most, const std::function<bool()>& wanted) {
    Counting c{std::min(data.size(), most), wanted, {}};
    if (const auto* images = dynamic_cast<const core::ImageDataset*>(&data))
        count(*images, c);
    else if (const auto* sets = dynamic_cast<const core::ObjectDataset*>(&data))
        count(*sets, c);
    else if (const auto* pairs = dynamic_cast<const core::SequenceDataset*>(&data))
        count(*pairs, c);
    else if (const auto* windows = dynamic_cast<const core::TokenDataset*>(&data))
        count(*windows, c);
    std::string several = dataKind(options.kind).unitOf(options.task).several;
    several[0] = static_cast<char>(several[0] - 'a' + 'A');
    c.s.rows.insert(c.s.rows.begin(), {several, groupedNumber(data.size())});
    return c.s;
}

}  // namespace relascope::datasets
