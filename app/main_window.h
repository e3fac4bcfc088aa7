// SPDX-License-Identifier: GPL-3.0-or-later
// The main window: menu bar and a stack of pages.
#pragma once

#include <functional>
#include <memory>

#include <QMainWindow>

#include "app/app_context.h"
#include "app/selection.h"
#include "widgets/theme/theme.h"

class QMenu;
class QStackedWidget;
class QTabBar;
class QVBoxLayout;

namespace relascope::widgets {
class LogDrawer;
class NoticeBar;
class OptionsForm;
class Sidebar;
class RelationInspector;
class StatusStrip;
class TrainBar;
}  // namespace relascope::widgets

namespace relascope::app {

class Controllers;
class EditsTab;
class ErrorStrip;
class MainWindow;
class Menus;
class Opener;
class PageExport;
class RunActions;
class WindowState;
class DuelPage;
class MeasurePage;
class StudyPage;
class ViewFiles;
class WorkbenchPage;

/// The pages besides the Workbench.
void addFurtherPages(MainWindow& window);

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    /// `remember`: layout, theme, recent runs and the last view are restored from and saved to the
    /// settings.
    explicit MainWindow(bool remember = true);
    ~MainWindow() override;

    /// Adds a page; pages are added in the order of their ids.
    void addPage(PageId id, QWidget* page);
    void showPage(PageId id);
    PageId currentPage() const;
    QWidget* page(PageId id) const;
    void setTheme(widgets::ThemeMode mode);
    widgets::ThemeMode theme() const { return m_theme; }
    /// Reduces the size and minimum size of the window to at most `room`.
    void fitTo(const QSize& room);
    /// The page whose model is inspected and measured: the Workbench or the Checkpoint page; on
    /// the page Measure that which was shown before.
    PageId inspectedPage() const;
    /// The inspector of the current page: that of the Workbench, of the Checkpoint page or of Duel.
    widgets::RelationInspector* activeInspector() const;
    /// Why activeInspector() shows nothing; empty if it shows something.
    QString inspectDisabledReason() const;
    /// Stops the training and the study, waits until they have saved, and closes without asking.
    void stopAndClose();
    /// Closes without asking; a training continues.
    void closeNow();

    /// Collapses the options at the right to a strip, also on the Workbench.
    void foldForm(bool folded);
    bool formFolded() const { return m_formFolded; }
    /// Shows the options of the new run at the right of the Workbench.
    void showOptions(bool shown);

    Controllers& controllers() { return *m_controllers; }
    WorkbenchPage* workbench() const { return m_workbench; }
    StudyPage* studyPage() const;
    DuelPage* duelPage() const;
    MeasurePage* measurePage() const;
    /// Shows the page Duel with the subjects A and B. A single path becomes A, or B if A is chosen.
    void showDuel(const QStringList& paths);
    widgets::TrainBar* bar() const { return m_bar; }
    widgets::Sidebar* sidebar() const { return m_sidebar; }
    widgets::OptionsForm* form() const { return m_form; }
    RunActions& runActions() const { return *m_runActions; }
    /// The menu of all analyses.
    QMenu* measureMenu() const;
    Opener& opener() const { return *m_opener; }
    PageExport& exporter() const { return *m_exporter; }
    ViewFiles& views() const { return *m_views; }
    EditsTab& edits() const { return *m_edits; }
    /// The banner below the bar: the last error that no page shows itself.
    ErrorStrip* errorBanner() const { return m_error; }
    widgets::StatusStrip* status() const { return m_status; }
    widgets::LogDrawer* log() const { return m_log; }
    /// Every entry of the menus, for the palette.
    QList<QAction*> commands() const;
    /// Shows the form of a new run on the Workbench, with the focus on Start.
    void showSetUp();
    /// Puts a notice below the bar.
    void showNotice(widgets::NoticeBar* notice);
    /// What becomes of a training and a study when the window is closed.
    enum class Closing { Stay, Continue, StopFirst };
    /// Asks what becomes of them; replaced in tests.
    std::function<Closing()> confirmClose;

Q_SIGNALS:
    void closing();  ///< the window closes: nothing can be opened any more

protected:
    void closeEvent(QCloseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    /// Shows a notice about a run that was asked to end and has not ended.
    void showStuck(const QString& run);
    QWidget* makeCentre();
    QWidget* makePages();
    Closing askToClose();
    void pageChanged(int index);
    void arrangeForm();
    void refreshMenus();

    std::unique_ptr<Controllers> m_controllers;
    std::unique_ptr<WindowState> m_session;
    RunActions* m_runActions;
    Opener* m_opener;
    PageExport* m_exporter;
    ViewFiles* m_views;
    widgets::TrainBar* m_bar;
    widgets::Sidebar* m_sidebar;
    widgets::OptionsForm* m_form;
    ErrorStrip* m_error;
    widgets::StatusStrip* m_status;
    widgets::LogDrawer* m_log;
    QTabBar* m_tabs;
    QStackedWidget* m_pages;
    QVBoxLayout* m_column = nullptr;  ///< layout of the whole window
    WorkbenchPage* m_workbench;
    EditsTab* m_edits = nullptr;
    std::unique_ptr<Menus> m_menus;
    widgets::ThemeMode m_theme = widgets::ThemeMode::System;
    bool m_formFolded = true;       ///< until the user opens the form, the map has its room
    bool m_checkpointForm = false;  ///< the user opened the form on the Checkpoint page
    bool m_arranging = false;
    bool m_byKeyboard = false;  ///< focus was moved by Tab: Space presses the focused button
    bool m_closing = false;
    PageId m_inspected =
        PageId::Workbench;  ///< shown last, of the Workbench and the Checkpoint page
};

}  // namespace relascope::app
