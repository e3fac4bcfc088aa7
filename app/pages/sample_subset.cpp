// SPDX-License-Identifier: GPL-3.0-or-later
#include <utility>

#include "app/pages/sample_subset.h"

namespace relascope::app {
namespace {

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

core::DatasetPtr pickedOf(const core::DatasetPtr& data, Indices indices, std::int64_t count) {
    if (auto images = std::dynamic_pointer_cast<const core::ImageDataset>(data))
        return std::make_shared<PickedImages>(std::move(images), std::move(indices), count);
    if (auto sets = std::dynamic_pointer_cast<const core::ObjectDataset>(data))
        return std::make_shared<PickedObjects>(std::move(sets), std::move(indices), count);
    if (auto pairs = std::dynamic_pointer_cast<const core::SequenceDataset>(data))
        return std::make_shared<PickedSequences>(std::move(pairs), std::move(indices), count);
    return nullptr;
}

}  // namespace relascope::app
