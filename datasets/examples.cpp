// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/examples.h"

#include <algorithm>
#include <span>
#include <utility>

#include "data/minimal_pairs.h"
#include "types/text_format.h"

namespace relascope::datasets {
namespace {

constexpr std::int64_t kExamplesRead = 400;  // examples read to collect token texts
constexpr std::size_t kNumbersShown = 6;

/// The answer's tokens up to its end.
std::vector<std::int64_t> answerOf(const core::SequenceDataset& data, std::int64_t index) {
    const auto shape = data.shape();
    std::vector<float> vectors(static_cast<std::size_t>(shape.source * shape.width));
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(shape.width > 0 ? 0 : shape.source));
    std::vector<std::int64_t> answer(static_cast<std::size_t>(shape.target));
    data.read(index, vectors, tokens, answer);
    const auto end = std::find_if(answer.begin(), answer.end(), [&](std::int64_t token) {
        return token == shape.end || token == shape.padding;
    });
    answer.erase(end, answer.end());
    return answer;
}

/// An answer that contains every object of the source once is an ordering.
std::vector<int> orderOf(const std::vector<std::int64_t>& answer, int objects) {
    if (static_cast<int>(answer.size()) != objects) return {};
    std::vector<int> order(answer.begin(), answer.end()), sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int k = 0; k < objects; ++k)
        if (sorted[static_cast<std::size_t>(k)] != k) return {};
    return order;
}

void addAnswer(DataExample& shown, const core::SequenceDataset& data, std::int64_t index) {
    const ProbeSequence& source = shown.sample.source;
    const ProbeSequence& target = shown.sample.target;
    if (target.text) {
        for (std::size_t k = 1; k < target.labels.size(); ++k)  // behind the start
            shown.answer += target.labels[k];
        return;
    }
    const auto answer = answerOf(data, index);
    shown.order = orderOf(answer, source.size());
    std::vector<std::string> parts;
    for (const auto token : answer) {
        const auto at = static_cast<std::size_t>(token);
        parts.push_back(!shown.order.empty() && at < source.labels.size() ? source.labels[at]
                                                                          : std::to_string(token));
    }
    shown.answer = joined(parts);
}

void addAnswer(DataExample& shown, const core::ObjectDataset& data, std::int64_t index) {
    const auto& info = data.info();
    const auto shape = data.shape();
    std::vector<float> objects(static_cast<std::size_t>(shape.objects * shape.width));
    std::vector<float> targets(static_cast<std::size_t>(shape.targets));
    data.read(index, objects, targets);
    if (info.targets == TargetKind::Class) {
        if (!targets.empty()) shown.sample.label = static_cast<std::int64_t>(targets[0]);
        return;
    }
    std::vector<std::string> parts;
    if (info.targets == TargetKind::MultiLabel) {
        for (std::size_t k = 0; k < targets.size(); ++k)
            if (targets[k] > 0.5F)
                parts.push_back(k < info.classNames.size() ? info.classNames[k]
                                                           : std::to_string(k + 1));
        shown.answer = parts.empty() ? "none" : joined(parts);
        return;
    }
    for (std::size_t k = 0; k < std::min(targets.size(), kNumbersShown); ++k)
        parts.push_back(numberWithMinus(targets[k], 3));
    shown.answer = joined(parts);
    if (targets.size() > kNumbersShown)
        shown.answer += ", \u2026 (" + groupedNumber(std::ssize(targets)) + " values)";
}

using Indices = std::shared_ptr<const std::vector<std::int64_t>>;

/// Common to all kinds: an index mapping.
template <class Kind>
class Picked : public Kind {
public:
    Picked(std::shared_ptr<const Kind> data, Indices indices, std::int64_t count)
        : m_data(std::move(data)), m_indices(std::move(indices)), m_info(m_data->info()) {
        m_info.size = count;
    }
    const DatasetInfo& info() const override { return m_info; }
    ProbeSample sample(std::int64_t index) const override { return m_data->sample(at(index)); }
    const ObjectFacts* objectFacts() const override { return m_data->objectFacts(); }
    void readFacts(std::int64_t index, std::span<std::int32_t> facts) const override {
        m_data->readFacts(at(index), facts);
    }
    std::vector<std::string> objectNumbers() const override { return m_data->objectNumbers(); }
    void readObjectNumbers(std::int64_t index, std::span<double> numbers) const override {
        m_data->readObjectNumbers(at(index), numbers);
    }

protected:
    std::int64_t at(std::int64_t index) const {
        return m_indices ? (*m_indices)[static_cast<std::size_t>(index)] : index;
    }
    std::shared_ptr<const Kind> m_data;

private:
    Indices m_indices;
    DatasetInfo m_info;
};

class PickedImages : public Picked<core::ImageDataset> {
public:
    using Picked::Picked;
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        return m_data->read(at(index), pixels);
    }
};

class PickedObjects : public Picked<core::ObjectDataset> {
public:
    using Picked::Picked;
    Shape shape() const override { return m_data->shape(); }
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override {
        m_data->read(at(index), objects, targets);
    }
};

class PickedSequences : public Picked<core::SequenceDataset> {
public:
    using Picked::Picked;
    Shape shape() const override { return m_data->shape(); }
    void read(std::int64_t index, std::span<float> vectors, std::span<std::int64_t> tokens,
              std::span<std::int64_t> answer) const override {
        m_data->read(at(index), vectors, tokens, answer);
    }
};

}  // namespace

LabelReader::LabelReader(core::DatasetPtr data) : m_data(std::move(data)) {
    if (const auto* images = dynamic_cast<const core::ImageDataset*>(m_data.get()))
        m_pixels.resize(images->pixelBytes());
    if (const auto* sets = dynamic_cast<const core::ObjectDataset*>(m_data.get());
        sets && m_data->info().targets == TargetKind::Class) {
        const auto shape = sets->shape();
        m_objects.resize(static_cast<std::size_t>(shape.objects * shape.width));
        m_targets.resize(static_cast<std::size_t>(shape.targets));
    }
}

std::int64_t LabelReader::operator()(std::int64_t index) {
    if (const auto* images = dynamic_cast<const core::ImageDataset*>(m_data.get()))
        return images->read(index, m_pixels);
    if (m_targets.empty()) return -1;
    dynamic_cast<const core::ObjectDataset&>(*m_data).read(index, m_objects, m_targets);
    return static_cast<std::int64_t>(m_targets[0]);
}

DataExample exampleOf(const core::Dataset& data, std::int64_t index) {
    DataExample shown{data.sample(index), {}, {}};
    if (const auto* pairs = dynamic_cast<const core::SequenceDataset*>(&data))
        addAnswer(shown, *pairs, index);
    else if (const auto* sets = dynamic_cast<const core::ObjectDataset*>(&data))
        addAnswer(shown, *sets, index);
    else if (const auto* sentences = dynamic_cast<const core::PairDataset*>(&data))
        shown.answer = "wrong: " + joined(sentences->pair(index).bad, " / ");
    return shown;
}

std::vector<std::string> tokenNames(const core::Dataset& data) {
    const auto* pairs = dynamic_cast<const core::SequenceDataset*>(&data);
    if (!pairs) return {};
    const auto shape = pairs->shape();
    std::vector<std::string> names(static_cast<std::size_t>(shape.targetVocabulary));
    const auto learn = [&](const ProbeSequence& sequence) {
        for (std::size_t k = 0; k < std::min(sequence.labels.size(), sequence.tokens.size()); ++k) {
            const auto token = static_cast<std::size_t>(sequence.tokens[k]);
            if (token < names.size() && names[token].empty()) names[token] = sequence.labels[k];
        }
    };
    for (std::int64_t i = 0; i < std::min(kExamplesRead, data.size()); ++i) {
        const auto sample = data.sample(i);
        learn(sample.target);
        // One alphabet for both: questions contain characters that are rare in answers.
        if (sample.source.text && shape.sourceVocabulary == shape.targetVocabulary)
            learn(sample.source);
    }
    if (shape.end >= 0 && static_cast<std::size_t>(shape.end) < names.size())
        names[static_cast<std::size_t>(shape.end)] = "end";
    if (shape.padding >= 0 && static_cast<std::size_t>(shape.padding) < names.size())
        names[static_cast<std::size_t>(shape.padding)] = "blank";
    for (std::size_t k = 0; k < names.size(); ++k)
        if (names[k].empty()) names[k] = std::to_string(k);
    return names;
}

std::vector<std::int64_t> labelledExamples(const core::DatasetPtr& data, std::int64_t label,
                                           std::int64_t most,
                                           const core::ProgressCallback& progress) {
    constexpr std::int64_t between = 256;  // calls of `progress`
    const auto size = std::min(data->size(), most);
    std::vector<std::int64_t> matches;
    LabelReader labelOf(data);
    for (std::int64_t i = 0; i < size; ++i) {
        if (i % between == 0 && !progress(static_cast<double>(i) / static_cast<double>(size)))
            throw Cancelled();
        if (labelOf(i) == label) matches.push_back(i);
    }
    return matches;
}

core::DatasetPtr pickedOf(const core::DatasetPtr& data, Indices indices, std::int64_t count) {
    if (auto images = std::dynamic_pointer_cast<const core::ImageDataset>(data))
        return std::make_shared<PickedImages>(std::move(images), std::move(indices), count);
    if (auto sets = std::dynamic_pointer_cast<const core::ObjectDataset>(data))
        return std::make_shared<PickedObjects>(std::move(sets), std::move(indices), count);
    if (auto pairs = std::dynamic_pointer_cast<const core::SequenceDataset>(data))
        return std::make_shared<PickedSequences>(std::move(pairs), std::move(indices), count);
    return nullptr;
}

}  // namespace relascope::datasets
