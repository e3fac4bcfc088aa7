// SPDX-License-Identifier: GPL-3.0-or-later
// What a second start of the program says to the window that is open: one line of JSON, after the
// window has greeted it with the version that it understands.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <optional>

namespace relascope::app {

struct Handover {
    QStringList paths;      ///< absolute; none: the window is only shown
    QByteArray activation;  ///< XDG_ACTIVATION_TOKEN or DESKTOP_STARTUP_ID; may be empty

    bool operator==(const Handover&) const = default;
};

/// The window's first line, and its answers to a handover.
inline constexpr char kGreeting[] = "relascope-window 1\n";
inline constexpr char kTaken[] = "taken\n";
inline constexpr char kRefused[] = "refused\n";

constexpr qsizetype kLongestHandover = 1 << 20;  ///< bytes with the line's end
constexpr qsizetype kMostPaths = 1000;

/// One line that ends with '\n'.
QByteArray encoded(const Handover& handover);
/// Nothing for a line that is no handover: too long, not JSON, paths that are not absolute, hold a
/// NUL or are too many.
std::optional<Handover> decodedHandover(const QByteArray& line);

}  // namespace relascope::app
