// SPDX-License-Identifier: GPL-3.0-or-later
// The entries of the menus: their keys, and why they cannot be used.
#pragma once

#include <QKeySequence>
#include <QObject>
#include <QString>
#include <functional>
#include <utility>
#include <vector>

class QAction;
class QMenu;

namespace relascope::app {

class Controllers;
class MainWindow;

/// Every key of the window with what it does, for the sheet.
using KeyList = std::vector<std::pair<QString, QString>>;

/// Enabled without an obstacle; else its help says why it is not.
void allow(QAction* action, const QString& obstacle);

/// One menu. Its entries call what exists elsewhere; refresh() brings their state up to date.
class AppMenu : public QObject {
    Q_OBJECT
public:
    AppMenu(MainWindow& window, QMenu* menu, KeyList& keys);
    virtual void refresh() {}

protected:
    using Slot = std::function<void()>;
    QAction* add(const QString& text, const QKeySequence& key, const QString& help, Slot slot,
                 QMenu* into = nullptr);
    QAction* addToggle(const QString& text, const QKeySequence& key, const QString& help,
                       Slot slot);

    MainWindow& m_window;
    Controllers& m_c;
    QMenu* m_menu;
    KeyList& m_keys;
};

}  // namespace relascope::app
