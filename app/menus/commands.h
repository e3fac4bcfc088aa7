// SPDX-License-Identifier: GPL-3.0-or-later
// Menu entries: their shortcuts, and why they are disabled.
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

/// Every shortcut of the window with its description, for the sheet.
using KeyList = std::vector<std::pair<QString, QString>>;

/// Enabled when `disabledReason` is empty; otherwise the reason is its tooltip.
void allow(QAction* action, const QString& disabledReason);

/// Base class of the menus; refresh() updates the state of the entries.
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
