// SPDX-License-Identifier: GPL-3.0-or-later
// What a page gets: the controllers, the shared selection, and the messages to the user.
#pragma once

#include <functional>
#include <utility>

#include <QObject>
#include <QString>
#include <QTimer>

#include "widgets/bar/status_strip.h"

namespace relascope::app {

// A delayed call, which is dropped when its object is destroyed.

/// Calls `call` once after `milliseconds`, on the thread of `context`, unless `context` is
/// destroyed before.
inline void later(int milliseconds, QObject* context, std::function<void()> call) {
    auto* timer = new QTimer(context);
    timer->setSingleShot(true);
    QObject::connect(timer, &QTimer::timeout, context, std::move(call));
    QObject::connect(timer, &QTimer::timeout, timer, &QObject::deleteLater);
    timer->start(milliseconds);
}

class RunsController;
class Selection;
class TrainingController;

/// Messages to the user. Errors stand in a banner until they are closed or outdated, everything
/// else in the status strip; all are in the log.
class Messages : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

public Q_SLOTS:
    void say(relascope::widgets::MessageLevel level, const QString& sentence) {
        Q_EMIT message(level, sentence);
    }
    void info(const QString& sentence) { Q_EMIT message(widgets::MessageLevel::Info, sentence); }
    void ok(const QString& sentence) { Q_EMIT message(widgets::MessageLevel::Ok, sentence); }
    void warning(const QString& sentence) {
        Q_EMIT message(widgets::MessageLevel::Warning, sentence);
    }
    void error(const QString& sentence) { Q_EMIT message(widgets::MessageLevel::Error, sentence); }
    /// For the log only: an error that stands where it arose.
    void note(const QString& sentence) { Q_EMIT noted(widgets::MessageLevel::Error, sentence); }
    /// Called after an action that succeeded without a message: removes an error shown before.
    void succeeded() { Q_EMIT outdated(); }

Q_SIGNALS:
    void message(relascope::widgets::MessageLevel level, const QString& sentence);
    void noted(relascope::widgets::MessageLevel level, const QString& sentence);
    void outdated();
};

/// Passed by reference to the constructors of the pages; its members outlive the pages.
struct AppContext {
    RunsController& runs;
    TrainingController& training;
    Selection& selection;
    Messages& messages;
};

}  // namespace relascope::app
