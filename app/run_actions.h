// SPDX-License-Identifier: GPL-3.0-or-later
// The actions on runs, shared by the sidebar, the Compare page and the Run menu.
#pragma once

#include <QObject>
#include <QStringList>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "types/run_info.h"
#include "widgets/curves/curve_data.h"

class QMenu;
class QPoint;
class QWidget;

namespace relascope::app {

class Controllers;
class RunExport;

class RunActions : public QObject {
    Q_OBJECT
public:
    /// `window` is the parent of menus and dialogs.
    RunActions(Controllers& controllers, QWidget* window);

    enum class Kind {
        OpenFolder,
        Rename,
        Duplicate,
        Extend,
        Tags,
        ExportCsv,
        ExportJson,
        Fetch,
        Hide,
        EndProcess,
        Delete
    };
    struct Entry {
        Kind kind;
        const char* icon;
        QString text, help;
        QString reason;  ///< why it is disabled; empty: enabled
        std::function<void()> perform;
    };
    /// Whether the entry is in the submenu Export.
    static bool isExport(Kind kind);
    /// The entries for these runs, in the order of the menu.
    std::vector<Entry> entries(const QStringList& paths);
    /// Performs the entry, or shows the reason if it is disabled.
    void perform(Kind kind, const QStringList& paths);

    /// The menu of these runs; the caller deletes it.
    std::unique_ptr<QMenu> menu(const QStringList& paths);
    /// The menu for the mark of an edit in the curves.
    std::unique_ptr<QMenu> markMenu(const QString& run, const widgets::CurveMark& mark);
    void popUp(const QStringList& paths, const QPoint& at);
    void popUpMark(const QString& run, const widgets::CurveMark& mark, const QPoint& at);

    void rename(const QString& path);
    void duplicate(const QString& path);
    void extend(const QString& path);
    void editTags(const QStringList& paths);
    void setHidden(const QStringList& paths, bool hidden);
    void remove(const QStringList& paths);
    RunExport& exporter() { return *m_export; }
    /// Creates a new run from the checkpoint kept at that step, before an edit.
    void goBack(const QString& path, qint64 step);

    /// Ask the user; nullopt when the question was cancelled. Replaced in tests.
    std::function<std::optional<QString>(const QString& title, const QString& label,
                                         const QString& text)>
        askText;
    std::function<std::optional<int>(const QString& title, const QString& label, int value,
                                     int least)>
        askNumber;

    /// Asks whether to end the process of a run although something is lost. Replaced in tests.
    std::function<bool(const QString& sentence)> askEnd;

private:
    bool isTrained(const QString& path) const;
    QString endSentence(const QString& path) const;
    QString names(const QStringList& paths) const;
    /// Writes labels now and on redo; undo writes the previous ones.
    void label(const QString& what, const QStringList& paths,
               const std::function<void(RunLabels&)>& change);

    Controllers& m_c;
    QWidget* m_window;
    RunExport* m_export;
};

}  // namespace relascope::app
