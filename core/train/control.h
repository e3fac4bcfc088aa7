// SPDX-License-Identifier: GPL-3.0-or-later
// What others may ask of a running job; served by the loop between two steps.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "types/field.h"
#include "types/relation_map.h"

namespace relascope::core {

/// Thread-safe. Pausing holds the loop between steps; edits and probes are served even then.
/// Cancelling is the stop token's: at once, after a checkpoint.
class Control {
public:
    void pause() {
        set([](Wishes& w) { w.paused = true; });
    }
    void resume() {
        set([](Wishes& w) { w.paused = false; });
    }
    /// One more step while paused.
    void step() {
        set([](Wishes& w) { ++w.steps; });
    }
    /// End after the epoch that runs.
    void stopAfterEpoch() {
        set([](Wishes& w) { w.stop = true; });
    }
    /// A new value of a live field, "train.learning_rate".
    void edit(std::string key, FieldValue value) {
        set([&](Wishes& w) { w.edits.emplace_back(std::move(key), std::move(value)); });
    }
    /// Look at a sample with the weights as they are; the answer is a ProbeAnswer with this number.
    void probe(std::uint64_t request, ProbeSample sample) {
        // Only the newest question counts: earlier ones would be dropped by the screen anyway.
        set([&](Wishes& w) { w.probe = {request, std::move(sample)}; });
    }

    bool paused() const {
        return get([](const Wishes& w) { return w.paused; });
    }
    bool stopping() const {
        return get([](const Wishes& w) { return w.stop; });
    }
    /// Takes one granted step; false when there is none.
    bool takeStep() {
        std::lock_guard lock(m_mutex);
        if (m_wishes.steps == 0) return false;
        return --m_wishes.steps, true;
    }
    std::vector<std::pair<std::string, FieldValue>> takeEdits() {
        std::lock_guard lock(m_mutex);
        return std::exchange(m_wishes.edits, {});
    }
    std::optional<std::pair<std::uint64_t, ProbeSample>> takeProbe() {
        std::lock_guard lock(m_mutex);
        return std::exchange(m_wishes.probe, std::nullopt);
    }

private:
    struct Wishes {
        bool paused = false, stop = false;
        int steps = 0;
        std::vector<std::pair<std::string, FieldValue>> edits;
        std::optional<std::pair<std::uint64_t, ProbeSample>> probe;
    };
    template <class Change>
    void set(Change change) {
        std::lock_guard lock(m_mutex);
        change(m_wishes);
    }
    template <class Read>
    bool get(Read read) const {
        std::lock_guard lock(m_mutex);
        return read(m_wishes);
    }

    mutable std::mutex m_mutex;
    Wishes m_wishes;
};

}  // namespace relascope::core
