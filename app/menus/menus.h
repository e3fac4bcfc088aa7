// SPDX-License-Identifier: GPL-3.0-or-later
// The menus of the window, one class each.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>

#include "app/run_actions.h"

class QAction;
class QMenu;

namespace relascope::app {

// Menu entries: their shortcuts, and why they are disabled.

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

class QActionGroup;

namespace relascope::app {

class FileMenu : public AppMenu {
    Q_OBJECT
public:
    FileMenu(MainWindow& window, QMenu* menu, KeyList& keys);

private:
    void fillHosts();
    void fillRecent();
    void saveScreenshot();
    QMenu *m_onHosts, *m_recent;
};

class EditMenu : public AppMenu {
    Q_OBJECT
public:
    EditMenu(MainWindow& window, QMenu* menu, KeyList& keys);
    void refresh() override;

private:
    void undo(bool redo);
    void refreshText();  ///< entries that depend on the focused field and the undo stack
    QAction *m_undo, *m_redo, *m_reset;
    QList<QAction*> m_text, m_inspect;  ///< need a text field, or a result in the inspector
};

class RunMenu : public AppMenu {
    Q_OBJECT
public:
    RunMenu(MainWindow& window, QMenu* menu, KeyList& keys);
    void refresh() override;

private:
    /// The runs that an entry acts on.
    QStringList runsFor(RunActions::Kind kind) const;
    QAction *m_toggle, *m_step, *m_stop, *m_cancel, *m_hidden;
    std::vector<QAction*> m_ofRun;  ///< of the chosen run, in the order of RunActions
};

class StudyMenu : public AppMenu {  ///< within View
    Q_OBJECT
public:
    StudyMenu(MainWindow& window, QMenu* menu, KeyList& keys);
    void refresh() override;

private:
    QAction *m_start, *m_retry, *m_log, *m_published, *m_folder, *m_slurm;
    QActionGroup* m_bands;
};

/// Within View: the figures that have a name (wire/named_figures.h). Those of a run are also on the
/// page Atlas, those of a study in the menu of the page Study.
class FiguresMenu : public AppMenu {
    Q_OBJECT
public:
    FiguresMenu(MainWindow& window, QMenu* menu, KeyList& keys);
    void refresh() override;

private:
    QList<QAction*> m_figures;
};

class MainViewMenu : public AppMenu {  ///< View
    Q_OBJECT
public:
    MainViewMenu(MainWindow& window, QMenu* menu, KeyList& keys);
    ~MainViewMenu() override;
    void refresh() override;

private:
    void addThemes();
    void addAxes();
    QActionGroup *m_themes, *m_axes;
    std::unique_ptr<StudyMenu> m_study;
    std::unique_ptr<FiguresMenu> m_figures;
    QAction *m_sidebar, *m_options, *m_log, *m_logX, *m_logY, *m_smooth, *m_full;
};

class EditsMenu;

class InspectMenu : public AppMenu {
    Q_OBJECT
public:
    InspectMenu(MainWindow& window, QMenu* menu, KeyList& keys);
    ~InspectMenu() override;
    void refresh() override;

private:
    QAction* addEntry(const QString& text, const QKeySequence& key, const QString& help, Slot slot);
    void addTextEntry(const QString& text, const QKeySequence& key, const QString& help, Slot slot);
    void addArrow(const QString& text, const QString& key, const QString& help, Slot slot);
    void addSamples();
    void chooseImage();
    QList<QAction*> m_entries;  ///< need a result in the inspector
    QList<QAction*> m_texts;    ///< need one of a text
    std::unique_ptr<EditsMenu> m_edits;
    QAction *m_write = nullptr, *m_image = nullptr, *m_live, *m_pin, *m_beside;
};

class EditsMenu : public AppMenu {  ///< within Inspect
    Q_OBJECT
public:
    EditsMenu(MainWindow& window, QMenu* menu, KeyList& keys);
    void refresh() override;

private:
    QList<QAction*> m_map;    ///< need a result and hook points
    QList<QAction*> m_lists;  ///< need a list with edits
    QList<QAction*> m_measure;
    QAction *m_shown, *m_open, *m_second;
};

class PagesMenu : public AppMenu {  ///< Window
    Q_OBJECT
public:
    PagesMenu(MainWindow& window, QMenu* menu, KeyList& keys);
};

class HelpMenu : public AppMenu {
    Q_OBJECT
public:
    HelpMenu(MainWindow& window, QMenu* menu, KeyList& keys);
};

/// All of them, and the field that finds their entries.
class Menus : public QObject {
    Q_OBJECT
public:
    explicit Menus(MainWindow& window);
    ~Menus() override;
    void refresh();
    /// Every entry, for the palette.
    QList<QAction*> commands() const;

private:
    void addSearch();
    void watch();

    template <class Menu>
    void make(const char* title);

    MainWindow& m_window;
    KeyList m_keys;
    std::vector<std::unique_ptr<AppMenu>> m_all;
};

}  // namespace relascope::app
