// SPDX-License-Identifier: GPL-3.0-or-later
// Requests to a running job, served by the loop between two steps.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "types/edit.h"
#include "types/field.h"
#include "types/relation_map.h"

namespace relascope::core {

/// A sample to probe; `edits` are only the inspector's.
struct LiveProbe {
    std::uint64_t number = 0;
    ProbeSample sample;
    EditList edits;
    bool points = false;      ///< the hook points are asked for, too
    std::uint64_t asker = 0;  ///< who asks: the newest request of each is answered
};

/// Requests to a running job. Thread-safe. Pausing holds the loop between steps; edits and probes
/// are served even then. Cancelling uses the stop token: it ends at once, after a checkpoint.
class Control {
public:
    void pause() {
        set([](Requests& r) { r.paused = true; });
    }
    void resume() {
        set([](Requests& r) { r.paused = false; });
    }
    /// One more step while paused.
    void step() {
        set([](Requests& r) { ++r.steps; });
    }
    /// Ends after the current epoch, also if it is paused in it.
    void stopAfterEpoch() {
        set([](Requests& r) { r.stop = true, r.paused = false; });
    }
    /// Called between the runs of a job of several: requests to one run are not passed on to the
    /// next, but requests to stop or to pause are requests to the job.
    void endRun() {
        set([](Requests& r) {
            Requests kept;
            kept.paused = r.paused, kept.stop = r.stop, kept.watched = r.watched;
            r = std::move(kept);
        });
    }
    /// A new value of a live field, "train.learning_rate".
    void changeOption(std::string key, FieldValue value) {
        set([&](Requests& r) { r.optionChanges.emplace_back(std::move(key), std::move(value)); });
    }
    /// Interventions on the model that trains, from the next step on, instead of any before; an
    /// empty list ends them.
    void setInterventions(EditList edits) {
        set([&](Requests& r) { r.trainingEdits = std::move(edits); });
    }
    /// Probes a sample with the current weights, and also with `edits` of the inspector on top,
    /// which do not change training; the answer is a ProbeAnswer with this number.
    void probe(std::uint64_t request, ProbeSample sample, EditList edits = {}, bool points = false,
               std::uint64_t asker = 0) {
        // Only the newest request of each counts: the answers to earlier ones would be dropped.
        set([&](Requests& r) {
            std::erase_if(r.probes, [&](const LiveProbe& p) { return p.asker == asker; });
            r.probes.push_back({request, std::move(sample), std::move(edits), points, asker});
        });
    }

    /// Begins although a device is in use: a run that waits for its turn does not wait any longer.
    void begin() {
        set([](Requests& r) { r.begins = true; });
    }
    bool begins() const {
        return get([](const Requests& r) { return r.begins; });
    }
    /// Whether somebody looks at the run: its lines are written more often then.
    void setWatched(bool watched) {
        set([&](Requests& r) { r.watched = watched; });
    }
    bool isWatched() const {
        return get([](const Requests& r) { return r.watched; });
    }

    bool paused() const {
        return get([](const Requests& r) { return r.paused; });
    }
    /// Whether the loop is to be held, or something waits to be served.
    bool hasRequests() const {
        return get([](const Requests& r) {
            return r.paused || !r.optionChanges.empty() || r.trainingEdits || !r.probes.empty();
        });
    }
    bool stopping() const {
        return get([](const Requests& r) { return r.stop; });
    }
    /// Takes one of the granted steps; false when there is none.
    bool takeStep() {
        std::lock_guard lock(m_mutex);
        if (m_requests.steps == 0) return false;
        return --m_requests.steps, true;
    }
    std::vector<std::pair<std::string, FieldValue>> takeEdits() {
        std::lock_guard lock(m_mutex);
        return std::exchange(m_requests.optionChanges, {});
    }
    /// The newest list of setEdits().
    std::optional<EditList> takeTrainingEdits() {
        std::lock_guard lock(m_mutex);
        return std::exchange(m_requests.trainingEdits, std::nullopt);
    }
    std::optional<LiveProbe> takeProbe() {
        std::lock_guard lock(m_mutex);
        if (m_requests.probes.empty()) return std::nullopt;
        auto first = std::move(m_requests.probes.front());
        m_requests.probes.pop_front();
        return first;
    }

private:
    struct Requests {
        bool paused = false, stop = false, watched = false, begins = false;
        int steps = 0;
        std::vector<std::pair<std::string, FieldValue>> optionChanges;
        std::optional<EditList> trainingEdits;
        std::deque<LiveProbe> probes;
    };
    template <class Change>
    void set(Change change) {
        std::lock_guard lock(m_mutex);
        change(m_requests);
    }
    template <class Read>
    bool get(Read read) const {
        std::lock_guard lock(m_mutex);
        return read(m_requests);
    }

    mutable std::mutex m_mutex;
    Requests m_requests;
};

}  // namespace relascope::core
