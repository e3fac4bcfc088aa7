// SPDX-License-Identifier: GPL-3.0-or-later
// Batches in a given order, prepared by a background thread.
#pragma once

#include <torch/types.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <vector>

#include "data/dataset.h"
#include "model/model.h"

namespace relascope::core {

struct Batch {
    /// On the CPU: images [b, c, H, W] float, 0..1; tokens [b, n] int64; objects [b, n, width]
    /// float; for sequences the source, [b, n] int64 or [b, n, width] float.
    torch::Tensor inputs;
    /// Labels [b] int64; for text the token that follows each [b, n] int64; for objects also bits
    /// or numbers [b, targets] float; for sequences the answer [b, m] int64.
    torch::Tensor targets;
    torch::Tensor targetIn;  ///< for sequences: the start, then the answer but its last; [b, m]
    torch::Tensor mixed;     ///< for mixed images: the fraction of each class, [b, classes] float
    TargetKind kind = TargetKind::Class;
    bool hidden = false;  ///< made from HiddenWords: targets of -1 do not count
    std::int64_t size() const { return targets.size(0); }
};

/// Makes a batch of examples. Pixels are divided by 255 and turned from [H, W, C] to [C, H, W]; a
/// window of tokens gives its first n as inputs and its last n as targets, one of HiddenWords its
/// n with the hidden ones as targets.
Batch makeBatch(const Dataset& data, const std::int64_t* indices, std::int64_t count);

/// A number for what each example of a batch shows the model, its inputs without the answer: copies
/// of an example have the same, and others another one (64 bits). Not for files.
std::vector<std::uint64_t> contentOf(const Batch& batch);
/// The contents of these examples.
std::unordered_set<std::uint64_t> contentsOf(const Dataset& data,
                                             const std::vector<std::int64_t>& examples);
/// The groups of examples with the same content, in the order in which they are first met: of each
/// of `examples` the number of its group, from 0.
struct ContentGroups {
    std::vector<std::uint32_t> of;
    std::uint32_t count = 0;
};
ContentGroups contentGroups(const Dataset& data, const std::vector<std::int64_t>& examples);

/// Mixes the images of a batch in place with the images of a permutation of it, and sets `mixed`:
/// CutMix (Yun et al. 2019) pastes a rectangle, MixUp (Zhang et al. 2018) adds, both with a weight
/// drawn from Beta(1, 1); "either" draws one of the two. Deterministic for a seed.
void mixImages(Batch& batch, const std::string& how, std::int64_t classes, std::uint64_t seed);

/// The order of one epoch of `size` examples: a permutation that depends on (seed, epoch) alone.
std::vector<std::int64_t> shuffledOrder(std::int64_t size, std::uint64_t seed, std::int64_t epoch);
std::vector<std::int64_t> plainOrder(std::int64_t size);

/// Returns consecutive batches of `order` from batch number `first` on; the last may be smaller. A
/// thread prepares up to `ahead` batches. An exception in it is rethrown by next().
class BatchLoader {
public:
    BatchLoader(DatasetPtr data, std::vector<std::int64_t> order, std::int64_t batchSize,
                std::int64_t first = 0, std::size_t ahead = 3);
    ~BatchLoader();
    BatchLoader(const BatchLoader&) = delete;
    BatchLoader& operator=(const BatchLoader&) = delete;

    /// The next batch, or nothing after the last.
    std::optional<Batch> next();

private:
    void work(std::stop_token stop);

    DatasetPtr m_data;
    std::vector<std::int64_t> m_order;
    std::int64_t m_batchSize, m_next;
    std::size_t m_ahead;
    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<Batch> m_ready;
    bool m_finished = false;
    std::exception_ptr m_error;
    std::jthread m_thread;
};

/// The model input of a batch, on `device`.
ModelInput inputOf(const Batch& batch, const torch::Device& device);

}  // namespace relascope::core
