// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/menus/commands.h"

#include <QAction>
#include <QMenu>

#include "app/controllers/controllers.h"
#include "app/main_window.h"

namespace relascope::app {

void allow(QAction* action, const QString& disabledReason) {
    if (action->property("help").isNull()) action->setProperty("help", action->toolTip());
    action->setEnabled(disabledReason.isEmpty());
    action->setToolTip(disabledReason.isEmpty() ? action->property("help").toString()
                                                : disabledReason);
    action->setStatusTip(action->toolTip());
}

AppMenu::AppMenu(MainWindow& window, QMenu* menu, KeyList& keys)
    : m_window(window), m_c(window.controllers()), m_menu(menu), m_keys(keys) {
    connect(menu, &QMenu::aboutToShow, this, [this] { refresh(); });
}

QAction* AppMenu::add(const QString& text, const QKeySequence& key, const QString& help, Slot slot,
                      QMenu* into) {
    QMenu* menu = into ? into : m_menu;
    auto* action = menu->addAction(text);
    if (!key.isEmpty()) {
        action->setShortcut(key);
        m_keys.emplace_back(key.toString(QKeySequence::NativeText), help);
    }
    action->setToolTip(help);
    action->setStatusTip(help);
    menu->setToolTipsVisible(true);
    connect(action, &QAction::triggered, this, std::move(slot));
    return action;
}

QAction* AppMenu::addToggle(const QString& text, const QKeySequence& key, const QString& help,
                            Slot slot) {
    auto* action = add(text, key, help, std::move(slot));
    action->setCheckable(true);
    return action;
}

}  // namespace relascope::app
