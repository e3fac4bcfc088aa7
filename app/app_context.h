// SPDX-License-Identifier: GPL-3.0-or-later
// What a page is given: the controllers, the shared choice, and a place to say things.
#pragma once

#include <functional>
#include <utility>

#include <QObject>
#include <QString>
#include <QTimer>

#include "widgets/bar/status_strip.h"

namespace relascope::app {

// Something to be done a moment later, if what it is about still lives.

/// Calls once after `milliseconds`, on the thread of `context`, unless that is destroyed before.
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

/// Messages for the status strip and the log.
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
    /// An action succeeded that says nothing: an error shown before is out of date.
    void succeeded() { Q_EMIT outdated(); }

Q_SIGNALS:
    void message(relascope::widgets::MessageLevel level, const QString& sentence);
    void outdated();
};

/// Pages take it by reference in their constructor; everything in it outlives them.
struct AppContext {
    RunsController& runs;
    TrainingController& training;
    Selection& selection;
    Messages& messages;
};

}  // namespace relascope::app
