// SPDX-License-Identifier: GPL-3.0-or-later
// Export of views to files: a visible one, or all of a page.
#pragma once

#include <QObject>
#include <QStringList>

class QAction;

namespace relascope::widgets {
class ViewMenu;
}  // namespace relascope::widgets

namespace relascope::app {

class MainWindow;

class PageExport : public QObject {
    Q_OBJECT
public:
    explicit PageExport(MainWindow& window);

    /// Asks for a folder and writes every view of the page shown.
    QAction* allAction() const { return m_all; }
    /// The menus of all visible views.
    void popUpMenu();
    /// Writes every view of the page shown into a folder; returns the files.
    QStringList exportAllViews(const QString& folder);
    /// Reports files written by a view's menu in the status strip.
    void listen(widgets::ViewMenu* menu);

private:
    MainWindow& m_window;
    QAction* m_all;
};

}  // namespace relascope::app
