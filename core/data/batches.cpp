// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/batches.h"
#include "model/served/served_link.h"

#include <torch/types.h>
#include "data/served_data.h"
#include "data/token_hidden.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string_view>
#include <unordered_map>

namespace relascope::core {

namespace {

Batch hiddenBatch(const HiddenWords& data, const std::int64_t* indices, std::int64_t count) {
    Batch batch;
    batch.kind = TargetKind::Tokens;
    batch.hidden = true;
    batch.inputs = torch::empty({count, data.context()}, torch::kLong);
    batch.targets = torch::empty_like(batch.inputs);
    const auto row = [&](const torch::Tensor& t, std::int64_t i) {
        return std::span(t.data_ptr<std::int64_t>() + i * data.context(),
                         static_cast<std::size_t>(data.context()));
    };
    for (std::int64_t i = 0; i < count; ++i)
        data.readHidden(indices[i], row(batch.inputs, i), row(batch.targets, i));
    return batch;
}

Batch tokenBatch(const TokenDataset& data, const std::int64_t* indices, std::int64_t count) {
    const std::int64_t n = data.context();
    const auto windows = torch::empty({count, n + 1}, torch::kLong);
    auto* out = windows.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < count; ++i)
        data.read(indices[i], {out + i * (n + 1), static_cast<std::size_t>(n + 1)});
    Batch batch;
    batch.kind = TargetKind::Tokens;
    batch.inputs = windows.slice(1, 0, n).contiguous();
    batch.targets = windows.slice(1, 1).contiguous();
    return batch;
}

Batch imageBatch(const ImageDataset& data, const std::int64_t* indices, std::int64_t count) {
    static const auto scaled = [] {
        std::array<float, 256> table{};
        for (std::size_t i = 0; i < 256; ++i) table[i] = static_cast<float>(i) / 255.0f;
        return table;
    }();
    const auto& info = data.info();
    const std::int64_t pixels = static_cast<std::int64_t>(info.height) * info.width,
                       channels = info.channels;
    Batch batch;
    batch.inputs = torch::empty({count, channels, info.height, info.width});
    batch.targets = torch::empty({count}, torch::kLong);
    auto* out = batch.inputs.data_ptr<float>();
    auto* targets = batch.targets.data_ptr<std::int64_t>();
    std::vector<std::uint8_t> bytes(data.pixelBytes());
    for (std::int64_t i = 0; i < count; ++i) {
        targets[i] = data.read(indices[i], bytes);
        auto* image = out + i * channels * pixels;
        for (std::int64_t p = 0; p < pixels; ++p)
            for (std::int64_t c = 0; c < channels; ++c)
                image[c * pixels + p] = scaled[bytes[static_cast<std::size_t>(p * channels + c)]];
    }
    return batch;
}

template <class T>
std::span<T> rowOf(const torch::Tensor& t, std::int64_t i) {
    const auto size = t.numel() / t.size(0);
    return {t.data_ptr<T>() + i * size, static_cast<std::size_t>(size)};
}

Batch objectBatch(const ObjectDataset& data, const std::int64_t* indices, std::int64_t count) {
    const auto shape = data.shape();
    Batch batch;
    batch.kind = data.info().targets;
    batch.inputs = torch::empty({count, shape.objects, shape.width});
    batch.targets = torch::empty({count, shape.targets});
    for (std::int64_t i = 0; i < count; ++i)
        data.read(indices[i], rowOf<float>(batch.inputs, i), rowOf<float>(batch.targets, i));
    if (batch.kind == TargetKind::Class)
        batch.targets = batch.targets.select(1, 0).to(torch::kLong).contiguous();
    return batch;
}

Batch sequenceBatch(const SequenceDataset& data, const std::int64_t* indices, std::int64_t count) {
    const auto shape = data.shape();
    const bool tokens = shape.width == 0;
    Batch batch;
    batch.kind = TargetKind::Tokens;
    batch.inputs = tokens ? torch::empty({count, shape.source}, torch::kLong)
                          : torch::empty({count, shape.source, shape.width});
    batch.targets = torch::empty({count, shape.target}, torch::kLong);
    for (std::int64_t i = 0; i < count; ++i)
        data.read(indices[i], tokens ? std::span<float>() : rowOf<float>(batch.inputs, i),
                  tokens ? rowOf<std::int64_t>(batch.inputs, i) : std::span<std::int64_t>(),
                  rowOf<std::int64_t>(batch.targets, i));
    batch.targetIn = torch::cat({torch::full({count, 1}, shape.start, torch::kLong),
                                 batch.targets.slice(1, 0, shape.target - 1)},
                                1);
    return batch;
}

}  // namespace

Batch makeBatch(const Dataset& data, const std::int64_t* indices, std::int64_t count) {
    if (const auto* served = dynamic_cast<const ServedSet*>(&data))
        return served->batch(indices, count);
    if (const auto* hidden = dynamic_cast<const HiddenWords*>(&data))
        return hiddenBatch(*hidden, indices, count);
    if (const auto* tokens = dynamic_cast<const TokenDataset*>(&data))
        return tokenBatch(*tokens, indices, count);
    if (const auto* objects = dynamic_cast<const ObjectDataset*>(&data))
        return objectBatch(*objects, indices, count);
    if (const auto* sequences = dynamic_cast<const SequenceDataset*>(&data))
        return sequenceBatch(*sequences, indices, count);
    return imageBatch(dynamic_cast<const ImageDataset&>(data), indices, count);
}

std::vector<std::uint64_t> contentOf(const Batch& batch) {
    const auto inputs = batch.inputs.contiguous();
    std::vector<std::uint64_t> all;
    if (inputs.numel() == 0) return all;
    const auto* bytes = static_cast<const char*>(inputs.const_data_ptr());
    const auto each =
        static_cast<std::size_t>(inputs.nbytes()) / static_cast<std::size_t>(inputs.size(0));
    for (std::int64_t e = 0; e < inputs.size(0); ++e)
        all.push_back(
            std::hash<std::string_view>()({bytes + static_cast<std::size_t>(e) * each, each}));
    return all;
}

namespace {

/// Calls `take` with the content of each example in turn.
template <class Take>
void forContents(const Dataset& data, const std::vector<std::int64_t>& examples, Take take) {
    constexpr std::size_t kRead = 256;
    for (std::size_t first = 0; first < examples.size(); first += kRead) {
        const auto count = std::min(kRead, examples.size() - first);
        for (const auto one :
             contentOf(makeBatch(data, &examples[first], static_cast<std::int64_t>(count))))
            take(one);
    }
}

}  // namespace

std::unordered_set<std::uint64_t> contentsOf(const Dataset& data,
                                             const std::vector<std::int64_t>& examples) {
    std::unordered_set<std::uint64_t> all;
    forContents(data, examples, [&](std::uint64_t one) { all.insert(one); });
    return all;
}

ContentGroups contentGroups(const Dataset& data, const std::vector<std::int64_t>& examples) {
    ContentGroups groups;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    forContents(data, examples, [&](std::uint64_t one) {
        const auto found = numbers.try_emplace(one, groups.count);
        groups.count += found.second;
        groups.of.push_back(found.first->second);
    });
    return groups;
}

void mixImages(Batch& batch, const std::string& how, std::int64_t classes, std::uint64_t seed) {
    if (how == "none") return;
    std::mt19937_64 random(seed);
    const auto uniform = [&random] { return static_cast<double>(random() >> 11) * 0x1.0p-53; };
    const bool cut = how == "cutmix" || (how == "either" && uniform() < 0.5);
    const std::int64_t count = batch.size();
    double kept = uniform();  // Beta(1, 1)
    const auto partner = torch::tensor(shuffledOrder(count, random(), 0));
    const auto others = batch.inputs.index_select(0, partner);
    if (cut) {
        const auto height = batch.inputs.size(2), width = batch.inputs.size(3);
        const double side = std::sqrt(1.0 - kept);
        const auto range = [&](std::int64_t length) {
            const double centre = uniform() * static_cast<double>(length),
                         half = 0.5 * side * static_cast<double>(length);
            return std::pair{
                std::clamp(static_cast<std::int64_t>(centre - half), std::int64_t{0}, length),
                std::clamp(static_cast<std::int64_t>(centre + half), std::int64_t{0}, length)};
        };
        const auto [top, bottom] = range(height);
        const auto [left, right] = range(width);
        batch.inputs.slice(2, top, bottom)
            .slice(3, left, right)
            .copy_(others.slice(2, top, bottom).slice(3, left, right));
        kept = 1.0 - static_cast<double>((bottom - top) * (right - left)) /
                         static_cast<double>(height * width);
    } else {
        batch.inputs.mul_(kept).add_(others, 1.0 - kept);
    }
    const auto own = torch::one_hot(batch.targets, classes).to(torch::kFloat);
    batch.mixed = own * kept + own.index_select(0, partner) * (1.0 - kept);
}

std::vector<std::int64_t> plainOrder(std::int64_t size) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    return order;
}

std::vector<std::int64_t> shuffledOrder(std::int64_t size, std::uint64_t seed, std::int64_t epoch) {
    auto order = plainOrder(size);
    std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                        static_cast<std::uint32_t>(epoch), 0x72656c61u};
    std::mt19937_64 random(mixed);
    // Own Fisher-Yates shuffle: std::shuffle differs between standard libraries.
    for (std::size_t i = order.size(); i > 1; --i)
        std::swap(
            order[i - 1],
            order[static_cast<std::size_t>((static_cast<unsigned __int128>(random()) * i) >> 64)]);
    return order;
}

BatchLoader::BatchLoader(DatasetPtr data, std::vector<std::int64_t> order, std::int64_t batchSize,
                         std::int64_t first, std::size_t ahead)
    : m_data(std::move(data)),
      m_order(std::move(order)),
      m_batchSize(batchSize),
      m_next(first * batchSize),
      m_ahead(ahead),
      m_thread([this, wait = servedWait()](std::stop_token stop) {
          const ServedWaitScope scope(wait);
          work(std::move(stop));
      }) {}

BatchLoader::~BatchLoader() {
    m_thread.request_stop();
    m_changed.notify_all();
}

void BatchLoader::work(std::stop_token stop) {
    try {
        const auto total = static_cast<std::int64_t>(m_order.size());
        while (m_next < total && !stop.stop_requested()) {
            Batch batch =
                makeBatch(*m_data, m_order.data() + m_next, std::min(m_batchSize, total - m_next));
            m_next += m_batchSize;
            std::unique_lock lock(m_mutex);
            if (!m_changed.wait(lock, stop, [this] { return m_ready.size() < m_ahead; })) return;
            m_ready.push_back(std::move(batch));
            m_changed.notify_all();
        }
    } catch (...) {
        std::lock_guard lock(m_mutex);
        m_error = std::current_exception();
    }
    std::lock_guard lock(m_mutex);
    m_finished = true;
    m_changed.notify_all();
}

std::optional<Batch> BatchLoader::next() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return !m_ready.empty() || m_finished; });
    if (m_ready.empty()) {
        if (m_error) std::rethrow_exception(m_error);
        return std::nullopt;
    }
    Batch batch = std::move(m_ready.front());
    m_ready.pop_front();
    m_changed.notify_all();
    return batch;
}

ModelInput inputOf(const Batch& batch, const torch::Device& device) {
    const auto there = [&](const torch::Tensor& t) { return t.to(device, /*non_blocking=*/true); };
    if (batch.targetIn.defined()) return {there(batch.inputs), there(batch.targetIn)};
    return there(batch.inputs);
}

}  // namespace relascope::core
