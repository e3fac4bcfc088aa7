// SPDX-License-Identifier: GPL-3.0-or-later
// Something to be done a moment later, if what it is about still lives.
#pragma once

#include <QTimer>
#include <functional>
#include <utility>

namespace relascope::app {

/// Calls once after `milliseconds`, on the thread of `context`, unless that is destroyed before.
inline void later(int milliseconds, QObject* context, std::function<void()> call) {
    auto* timer = new QTimer(context);
    timer->setSingleShot(true);
    QObject::connect(timer, &QTimer::timeout, context, std::move(call));
    QObject::connect(timer, &QTimer::timeout, timer, &QObject::deleteLater);
    timer->start(milliseconds);
}

}  // namespace relascope::app
