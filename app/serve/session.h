// SPDX-License-Identifier: GPL-3.0-or-later
// The side of a session that computes (wire/session.h).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "wire/frame.h"
#include "wire/served_link.h"

namespace relascope::serve {

/// A request while it is answered. Used by the thread that answers.
class Request {
public:
    using Send = std::function<void(wire::Json message, const wire::Bytes& blob)>;
    /// `giveWay`: called with each progress, lets requests of earlier lanes be answered.
    Request(wire::Json message, std::stop_token stop, Send send, wire::Bytes blob = {},
            std::function<void()> giveWay = {})
        : m_message(std::move(message)),
          m_blob(std::move(blob)),
          m_stop(std::move(stop)),
          m_send(std::move(send)),
          m_giveWay(std::move(giveWay)) {}

    const wire::Json& message() const { return m_message; }
    const wire::Bytes& blob() const { return m_blob; }
    const std::stop_token& stop() const { return m_stop; }
    /// Reports the fraction done, 25 times a second at most; false once the request is cancelled.
    /// Other requests may be answered meanwhile, with other models.
    bool progress(double fraction);
    /// progress() as a callback.
    std::function<bool(double)> progress() {
        return [this](double fraction) { return progress(fraction); };
    }
    /// Sends the text of what the answer waits for; empty: it waits no longer.
    void waits(const std::string& text);
    /// waits() as a callback, which returns false once the request is cancelled.
    wire::ServedWait wait() {
        return [this](const std::string& text) {
            waits(text);
            return !m_stop.stop_requested();
        };
    }
    void part(wire::Json part, const wire::Bytes& blob = {});
    /// Whether maps of a text are wanted; the other side may change it while the request is
    /// answered.
    std::atomic<bool> follows = false;

private:
    wire::Json m_message;
    wire::Bytes m_blob;
    std::stop_token m_stop;
    Send m_send;
    std::function<void()> m_giveWay;
    std::chrono::steady_clock::time_point m_reported{};
    std::string m_waits;
};

using Handler = std::function<wire::Frame(Request&)>;

/// Reads requests from `in` and writes what a handler returns or throws to `out`, until `in` ends,
/// the other side is of another version, or no request has come for `idle`. The requests of a lane
/// (wire::Lane) are answered one after another by a handler of its own, which `makeHandler` makes
/// on the thread of the lane. Requests of a later lane wait, before they begin and at
/// each report of progress, until those of earlier lanes are answered. Returns the exit status.
int serve(int in, int out, const std::function<Handler()>& makeHandler,
          std::chrono::seconds idle = std::chrono::minutes(15));

}  // namespace relascope::serve
