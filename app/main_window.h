// SPDX-License-Identifier: GPL-3.0-or-later
// The window: menus and the stack of pages. What they do is in menus, pages and controllers.
#pragma once

#include <QMainWindow>
#include <functional>
#include <memory>

#include "app/app_context.h"
#include "app/page_id.h"
#include "widgets/theme/theme.h"

class QStackedWidget;
class QTabBar;

namespace relascope::widgets {
class LogDrawer;
class OptionsForm;
class Rail;
class RelationInspector;
class StatusStrip;
class TrainBar;
}  // namespace relascope::widgets

namespace relascope::app {

class Controllers;
class MainWindow;
class Menus;
class Opener;
class PageExport;
class RunActions;
class Session;
class StudyPage;
class WorkbenchPage;

/// The pages besides the Workbench.
void addFurtherPages(MainWindow& window);

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    /// `remember`: layout, theme, recent runs and the last view come from the settings and go back
    /// there.
    explicit MainWindow(bool remember = true);
    ~MainWindow() override;

    /// In the order of their ids.
    void addPage(PageId id, QWidget* page);
    void showPage(PageId id);
    PageId currentPage() const;
    QWidget* page(PageId id) const;
    void setTheme(widgets::ThemeMode mode);
    widgets::ThemeMode theme() const { return m_theme; }
    /// No larger than that: a screen may be smaller than the window wants to be.
    void fitTo(const QSize& room);
    /// That of the page shown: the Workbench's, or the checkpoint's.
    widgets::RelationInspector* activeInspector() const;
    /// Why there is nothing in it; empty when there is something.
    QString inspectObstacle() const;
    /// Stops what trains and what works on a study, saves, and closes; without a question.
    void stopAndClose();

    /// The options at the right, folded to a strip on the Workbench too.
    void foldForm(bool folded);
    bool formFolded() const { return m_formFolded; }

    Controllers& controllers() { return *m_controllers; }
    WorkbenchPage* workbench() const { return m_workbench; }
    StudyPage* studyPage() const;
    widgets::TrainBar* bar() const { return m_bar; }
    widgets::Rail* rail() const { return m_rail; }
    widgets::OptionsForm* form() const { return m_form; }
    RunActions& runActions() const { return *m_runActions; }
    Opener& opener() const { return *m_opener; }
    PageExport& exporter() const { return *m_exporter; }
    widgets::StatusStrip* status() const { return m_status; }
    widgets::LogDrawer* log() const { return m_log; }
    /// Every entry of the menus, for the palette.
    QList<QAction*> commands() const;
    /// Asks whether a run shall be stopped for closing; replaced in tests.
    std::function<bool()> confirmClose;

protected:
    void closeEvent(QCloseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QWidget* makeCentre();
    QWidget* makePages();
    bool askToClose();
    void pageChanged(int index);
    void arrangeForm();
    void refreshMenus();

    std::unique_ptr<Controllers> m_controllers;
    std::unique_ptr<Session> m_session;
    RunActions* m_runActions;
    Opener* m_opener;
    PageExport* m_exporter;
    widgets::TrainBar* m_bar;
    widgets::Rail* m_rail;
    widgets::OptionsForm* m_form;
    widgets::StatusStrip* m_status;
    widgets::LogDrawer* m_log;
    QTabBar* m_tabs;
    QStackedWidget* m_pages;
    WorkbenchPage* m_workbench;
    std::unique_ptr<Menus> m_menus;
    widgets::ThemeMode m_theme = widgets::ThemeMode::System;
    bool m_formFolded = false;  ///< by the user
    bool m_arranging = false;
    bool m_byKeyboard = false;  ///< focus came by Tab: Space belongs to the focused button
    bool m_closing = false;
};

}  // namespace relascope::app
