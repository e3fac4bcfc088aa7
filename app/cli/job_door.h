// SPDX-License-Identifier: GPL-3.0-or-later
// The door of a job of this process (wire/run_door.h), and what it steers.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "types/error.h"
#include "wire/run_door.h"

namespace relascope::cli {

class JobDoor {
public:
    /// The job also ends when `signals` requests a stop. If no door can be opened, `warn` is called
    /// with the reason.
    JobDoor(const std::stop_token& signals, const std::function<void(const std::string&)>& warn)
        : m_signalled(signals, [this] { m_stop.request_stop(); }) {
        try {
            m_door.emplace(control, m_stop);
        } catch (const Error& error) {
            warn(std::string("no window can steer this training: ") + error.what());
        }
    }

    core::Control control;
    std::stop_token stop() const { return m_stop.get_token(); }
    /// The door; null if none could be opened.
    wire::RunDoor* door() { return m_door ? &*m_door : nullptr; }
    /// The socket of the door, for RunRequest::door; empty without a door.
    std::string socket() const { return m_door ? m_door->socket() : std::string(); }

private:
    std::stop_source m_stop;
    std::stop_callback<std::function<void()>> m_signalled;
    std::optional<wire::RunDoor> m_door;
};

}  // namespace relascope::cli
