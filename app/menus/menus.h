// SPDX-License-Identifier: GPL-3.0-or-later
// The menus of the window: a table of entries each, in the file of its subject.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>

#include "app/run_actions.h"
#include "widgets/bar/command_palette.h"

class QAction;
class QMenu;

namespace relascope::app {

class Controllers;
class MainWindow;

/// Enabled when `reason` is empty; otherwise the reason is its tooltip.
void allow(QAction* action, const QString& reason);

class Menus : public QObject {
    Q_OBJECT
public:
    explicit Menus(MainWindow& window);
    /// Updates every entry: whether it is enabled and checked, and its text.
    void refresh();
    /// Every entry, for the palette.
    QList<QAction*> commands() const;
    /// All analyses, by group.
    QMenu* measureMenu() const { return m_measure; }

private:
    using Slot = std::function<void()>;
    using Asked = std::function<QString()>;
    using Checked = std::function<bool()>;

    /// Appends an entry to the menu that is being filled. `reason` returns why the entry is
    /// disabled, which is its tooltip then; empty: it is enabled. `checked` returns whether the
    /// mark of an entry is set; empty: the entry has no mark.
    QAction* add(const QString& text, const QKeySequence& key, const QString& help, Slot slot,
                 Asked reason = {}, Checked checked = {});
    /// Sets the function that returns the text of an entry, if the text changes.
    void named(QAction* action, Asked text);
    void separate();
    /// Adds a menu to the bar, or to the menu that is being filled, and fills it.
    QMenu* fill(const QString& title, const std::function<void()>& entries);
    QMenu* fill(QMenu* menu, const std::function<void()>& entries);

    void addFile();
    void addEdit();
    void addRun();
    void addView();
    void addStudy();
    void addFigures();
    void addInspect();
    void addEdits();
    void addMeasure();
    void addWindow();
    void addHelp();
    void addSearch();
    void watch();
    void fillHosts();
    void fillRecent();
    void saveScreenshot();
    void undo(bool redo);
    /// What the entries of the menu Run act on: the current run, or nothing.
    QStringList currentRun() const;

    MainWindow& m_window;
    Controllers& m_c;
    /// Adds a key to the sheet of shortcuts, in the group of the menu that is being filled.
    void addKey(const QString& key, const QString& help);
    std::vector<widgets::Shortcut> m_keys;  ///< every key of the window
    QString m_group;                        ///< the title of the menu of the bar
    std::vector<std::function<void()>> m_updates;
    QMenu *m_menu = nullptr, *m_onHosts = nullptr, *m_recent = nullptr, *m_measure = nullptr;
};

}  // namespace relascope::app
