// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the numbers and maps of runs for other programs, in the background: asks where to, shows
// progress, says what was written.
#pragma once

#include <functional>

#include <QObject>
#include <QStringList>

#include "app/controllers/job_queue.h"

class QAction;
class QWidget;

namespace relascope::widgets {
class ViewMenu;
}  // namespace relascope::widgets

namespace relascope::app {

// Export of views to files: a visible one, or all of a page.

class MainWindow;

class PageExport : public QObject {
    Q_OBJECT
public:
    explicit PageExport(MainWindow& window);

    /// Asks for a folder and writes every view of the page shown.
    QAction* allAction() const { return m_all; }
    /// Shows the menus of all visible views.
    void popUpMenu();
    /// Writes every view of the page shown into a folder; returns the files.
    QStringList exportAllViews(const QString& folder);
    /// Reports files written by a view's menu in the status strip.
    void listen(widgets::ViewMenu* menu);

private:
    MainWindow& m_window;
    QAction* m_all;
};

class Messages;

class RunExport : public QObject {
    Q_OBJECT
public:
    /// `window` is the parent of dialogs.
    RunExport(Messages& messages, QWidget* window);

    /// Writes every measured point, one per line.
    void toCsv(const QString& run);
    /// Writes options, points and notes.
    void toJson(const QString& run);
    /// Draws a figure that has a name (views/papers_figures.h) of a run or study, as the command
    /// does.
    void figure(const QString& name, const QString& path);
    /// Copies a run of another machine, all of its files, to the new folder `to`, and continues
    /// a copy that was cancelled. `then` is called once it is there.
    void fetch(const QString& run, const QString& to, std::function<void()> then = {});
    /// Why nothing can be exported now; empty if it can.
    QString disabledReason() const;
    /// The task of the export that is being written.
    LongTask& task() { return m_task; }

    /// Asks the user; empty when the question was cancelled. Replaced in tests.
    std::function<QString(const QString& title, const QString& suggested, const QString& filter)>
        askFile;

Q_SIGNALS:
    void fetched(const QString& to);

private:
    void toFile(const QString& run, const QString& ending, const QString& what,
                std::string (*content)(const std::string& run));

    Messages& m_messages;
    JobQueue m_queue;
    LongTask m_task;  // after the queue: it stops its job before the queue waits for it
};

}  // namespace relascope::app
