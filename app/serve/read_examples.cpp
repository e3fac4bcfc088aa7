// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/read_examples.h"

#include <utility>

namespace relascope::serve {
namespace {

using Noted = ReadExamples::Noted;

/// A data set that records which of its examples are read.
template <class Kind>
class NotedData : public Kind {
public:
    NotedData(std::shared_ptr<const Kind> data, std::shared_ptr<Noted> noted, std::string split)
        : m_data(std::move(data)), m_noted(std::move(noted)), m_split(std::move(split)) {}
    const DatasetInfo& info() const override { return m_data->info(); }
    ProbeSample sample(std::int64_t index) const override { return of(index).sample(index); }
    const ObjectFacts* objectFacts() const override { return m_data->objectFacts(); }
    void readFacts(std::int64_t index, std::span<std::int32_t> facts) const override {
        of(index).readFacts(index, facts);
    }
    std::vector<std::string> objectNumbers() const override { return m_data->objectNumbers(); }
    void readObjectNumbers(std::int64_t index, std::span<double> numbers) const override {
        of(index).readObjectNumbers(index, numbers);
    }

protected:
    const Kind& of(std::int64_t index) const {
        std::lock_guard lock(m_noted->mutex);
        m_noted->examples[m_split].insert(index);
        return *m_data;
    }
    const Kind& data() const { return *m_data; }

private:
    const std::shared_ptr<const Kind> m_data;
    const std::shared_ptr<Noted> m_noted;
    const std::string m_split;
};

class Images : public NotedData<core::ImageDataset> {
public:
    using NotedData::NotedData;
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        return of(index).read(index, pixels);
    }
};

class Texts : public NotedData<core::TokenDataset> {
public:
    using NotedData::NotedData;
    std::int64_t context() const override { return data().context(); }
    core::TokenizerPtr tokenizer() const override { return data().tokenizer(); }
    void read(std::int64_t index, std::span<std::int64_t> tokens) const override {
        of(index).read(index, tokens);
    }
};

class Sets : public NotedData<core::ObjectDataset> {
public:
    using NotedData::NotedData;
    Shape shape() const override { return data().shape(); }
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override {
        of(index).read(index, objects, targets);
    }
};

class Pairs : public NotedData<core::SequenceDataset> {
public:
    using NotedData::NotedData;
    Shape shape() const override { return data().shape(); }
    void read(std::int64_t index, std::span<float> vectors, std::span<std::int64_t> tokens,
              std::span<std::int64_t> answer) const override {
        of(index).read(index, vectors, tokens, answer);
    }
};

core::DatasetPtr noting(const core::DatasetPtr& data, const std::shared_ptr<Noted>& noted,
                        const std::string& split) {
    if (auto images = std::dynamic_pointer_cast<const core::ImageDataset>(data))
        return std::make_shared<const Images>(std::move(images), noted, split);
    if (auto texts = std::dynamic_pointer_cast<const core::TokenDataset>(data))
        return std::make_shared<const Texts>(std::move(texts), noted, split);
    if (auto sets = std::dynamic_pointer_cast<const core::ObjectDataset>(data))
        return std::make_shared<const Sets>(std::move(sets), noted, split);
    if (auto pairs = std::dynamic_pointer_cast<const core::SequenceDataset>(data))
        return std::make_shared<const Pairs>(std::move(pairs), noted, split);
    return data;
}

}  // namespace

ReadExamples::ReadExamples(core::AnalysisSubject& subject)
    : m_subject(subject), m_data(subject.data), m_split(subject.interventions.data.split) {
    subject.data = noting(m_data, m_noted, {});
    if (m_split)
        subject.interventions.data.split = [split = m_split,
                                            noted = m_noted](const std::string& name) {
            return noting(split(name), noted, name);
        };
}

ReadExamples::~ReadExamples() {
    m_subject.data = m_data;
    m_subject.interventions.data.split = m_split;
}

std::map<std::string, std::vector<std::int64_t>> ReadExamples::all() const {
    std::lock_guard lock(m_noted->mutex);
    std::map<std::string, std::vector<std::int64_t>> all;
    for (const auto& [split, examples] : m_noted->examples)
        all[split].assign(examples.begin(), examples.end());
    return all;
}

core::DatasetPtr splitNamed(const core::AnalysisSubject& subject, const std::string& name) {
    if (name.empty()) return subject.data;
    const auto& split = subject.interventions.data.split;
    return split ? split(name) : nullptr;
}

}  // namespace relascope::serve
