// Batches in a given order, made ahead of the training thread by one of their own.
#pragma once

#include <torch/types.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "data/dataset.h"

namespace relascope {

struct Batch {
    torch::Tensor inputs;   ///< images [b, c, H, W] float, 0..1; tokens [b, n] int64; on the CPU
    torch::Tensor targets;  ///< labels [b]; the token that follows each [b, n]; int64
    std::int64_t size() const { return targets.size(0); }
};

/// Pixels are divided by 255 and turned from [H, W, C] to [C, H, W]; a window of tokens gives its
/// first n as inputs and its last n as targets.
Batch makeBatch(const Dataset& data, const std::int64_t* indices, std::int64_t count);

/// The order of one pass over `size` examples: a permutation that depends on (seed, epoch) alone.
std::vector<std::int64_t> shuffledOrder(std::int64_t size, std::uint64_t seed, std::int64_t epoch);
std::vector<std::int64_t> plainOrder(std::int64_t size);

/// Hands out consecutive batches of `order` from batch number `first` on; the last may be smaller.
/// A thread keeps up to `ahead` batches ready. An exception in it is thrown by next().
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

}  // namespace relascope
