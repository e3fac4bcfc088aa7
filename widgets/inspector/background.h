// SPDX-License-Identifier: GPL-3.0-or-later
// Work of the inspector that takes longer than a frame: the most urgent first, one piece at a time.
#pragma once

#include <QObject>
#include <array>
#include <functional>
#include <optional>

namespace relascope::widgets {

/// Runs `work` on another thread, then `done` on the thread of `context`, if that still lives.
/// Widgets start no thread: the application sets it.
using Background =
    std::function<void(QObject* context, std::function<void()> work, std::function<void()> done)>;

class BackgroundWork : public QObject {
    Q_OBJECT
public:
    /// From the most urgent to the least.
    enum Lane { Map, Thumbnails, Extents, Measures, Lanes };
    struct Job {
        std::function<void()> work;  ///< touches no widget
        std::function<void()> done;
    };
    /// Gives the next job of a lane; it is asked when the job before is done, so what is no longer
    /// wanted is never begun.
    using Next = std::function<std::optional<Job>()>;

    using QObject::QObject;

    /// Without one, all work is done at once, on the thread of the caller.
    void setExecutor(Background executor) { m_executor = std::move(executor); }
    bool immediate() const { return !m_executor; }
    void setLane(Lane lane, Next next) { m_lanes[lane] = std::move(next); }
    /// Starts the next job, if none runs.
    void wake();
    bool busy() const { return m_running; }

private:
    std::optional<Job> next() const;

    Background m_executor;
    std::array<Next, Lanes> m_lanes;
    bool m_running = false;
};

/// ms that a piece of work may take on the thread of the window.
inline constexpr double kSmallWork = 3.0;
/// ms of one piece of work of a lane that is not urgent: the urgent one waits for it.
inline constexpr double kPieceOfWork = 10.0;

}  // namespace relascope::widgets
