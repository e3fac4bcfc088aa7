// The window: menus and the stack of pages. What they do is wired in wiring, pages and controllers.
#pragma once

#include <QMainWindow>
#include <functional>
#include <memory>
#include <vector>

#include "app/app_context.h"
#include "widgets/theme/theme.h"

class QAction;
class QProgressDialog;
class QStackedWidget;
class QTabBar;

namespace relascope {

class CommandPalette;
class Controllers;
class LogDrawer;
class OptionsForm;
class Rail;
class RelationInspector;
class RunActions;
class Session;
class StatusStrip;
class StudyPage;
class TrainBar;
class WorkbenchPage;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    /// `remember`: layout, theme, recent runs and the last view come from the settings and go back
    /// there.
    explicit MainWindow(bool remember = true);
    ~MainWindow() override;

    void addPage(const QString& title, QWidget* page);
    /// What File, Import data does; the Data page has it.
    void setImportData(std::function<void()> importData);
    /// What File, Open checkpoint does (of a folder, or a file); the Checkpoint page has it.
    void setOpenCheckpoint(std::function<void(bool folder)> openCheckpoint);
    /// By its title, in any case; false when there is none.
    bool showPage(const QString& title);
    QString currentPage() const;
    QWidget* page(const QString& title) const;
    void setTheme(ThemeMode mode);
    ThemeMode theme() const { return m_theme; }

    /// Opens a run folder from anywhere and looks into it; false with a message when it is no run.
    bool openRun(const QString& path);
    /// Shows a study's folder on its page; what is wrong with it is said in the status strip.
    void openStudy(const QString& path);
    /// No larger than that: a screen may be smaller than the window wants to be.
    void fitTo(const QSize& room);
    /// Writes every view of the current page into a folder; returns the files.
    QStringList exportAllViews(const QString& folder);
    /// Reads a checkpoint and shows its page; what is wrong with it is said there.
    void openCheckpoint(const QString& path);
    /// That of the page shown: the Workbench's, or the checkpoint's.
    RelationInspector* activeInspector() const;
    QStringList recentRuns() const { return m_recent; }
    void setRecentRuns(const QStringList& paths);
    /// Stops what trains and what works on a study, saves, and closes; without a question.
    void stopAndClose();

    /// The options at the right, folded to a strip on the Workbench too.
    void foldForm(bool folded);
    bool formFolded() const { return m_formFolded; }

    Controllers& controllers() { return *m_controllers; }
    WorkbenchPage* workbench() const { return m_workbench; }
    StudyPage* studyPage() const;
    TrainBar* bar() const { return m_bar; }
    Rail* rail() const { return m_rail; }
    OptionsForm* form() const { return m_form; }
    RunActions& runActions() const { return *m_runActions; }
    StatusStrip* status() const { return m_status; }
    LogDrawer* log() const { return m_log; }
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
    struct Actions;
    QWidget* makeCentre();
    void makeMenus();
    void makeFileMenu();
    void makeEditMenu();
    void makeRunMenu();
    void makeViewMenu();
    void makeStudyMenu(QMenu* view);
    void makeInspectMenu();
    void makeWindowMenu();
    void makeHelpMenu();
    QAction* add(QMenu* menu, const QString& text, const QKeySequence& key, const QString& help,
                 std::function<void()> slot);
    void refreshActions();
    void refreshStudyActions();
    void refreshEditActions();
    void undo(bool redo);
    void fillRecent();
    void watchActions();
    void showExportMenu();
    QAction* exportAllAction();
    void showShortcuts();
    void pageChanged(int index);
    void arrangeForm();
    /// A text that was dropped: looked at where a language model is shown, else trained on.
    void takeText(const QString& path);
    /// The Checkpoint page with the newest weights of a language model's run, loaded.
    void writeWithRun(const QString& path);

    std::unique_ptr<Controllers> m_controllers;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<Actions> m_actions;
    RunActions* m_runActions;
    TrainBar* m_bar;
    Rail* m_rail;
    OptionsForm* m_form;
    StatusStrip* m_status;
    LogDrawer* m_log;
    QTabBar* m_tabs;
    QStackedWidget* m_pages;
    WorkbenchPage* m_workbench;
    CommandPalette* m_palette = nullptr;
    ThemeMode m_theme = ThemeMode::System;
    QStringList m_recent;
    bool m_formFolded = false;  ///< by the user
    bool m_arranging = false;
    bool m_byKeyboard = false;  ///< focus came by Tab: Space belongs to the focused button
    bool m_closing = false;
    QAction* m_exportAll = nullptr;
};

}  // namespace relascope
