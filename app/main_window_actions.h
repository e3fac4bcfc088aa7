// The entries of the menus whose state follows the window. Private to the window.
#pragma once

#include "app/main_window.h"
#include "app/run_actions.h"

class QAction;
class QActionGroup;
class QMenu;

namespace relascope {

/// The pages besides the Workbench.
void addFurtherPages(MainWindow& window);

struct MainWindow::Actions {
    QMenu *recent = nullptr, *pages = nullptr;
    int pageCount = 0;  ///< pages that have an entry
    QAction *toggle = nullptr, *step = nullptr, *stop = nullptr, *cancel = nullptr,
            *reset = nullptr;
    QAction *undo = nullptr, *redo = nullptr, *cut = nullptr, *copyText = nullptr, *paste = nullptr;
    std::vector<std::pair<RunActions::Kind, QAction*>> run;  ///< of the chosen run
    QAction* hidden = nullptr;
    QAction *import = nullptr, *exporting = nullptr, *copy = nullptr, *live = nullptr,
            *image = nullptr, *write = nullptr;
    QAction *studyStart = nullptr, *studyRetry = nullptr, *studyFolder = nullptr,
            *studySlurm = nullptr, *studyLog = nullptr, *studyPublished = nullptr;
    QAction *logX = nullptr, *logY = nullptr, *smooth = nullptr, *options = nullptr,
            *rail = nullptr, *log = nullptr, *full = nullptr;
    std::function<void()> importData = [] {};  ///< what the Data page does for it
    std::function<void(bool folder)> openCheckpoint = [](bool) {};  ///< the Checkpoint page
    QActionGroup *themes = nullptr, *axes = nullptr, *studyBands = nullptr;
    QList<QAction*> inspect;                        ///< need a result in the inspector
    std::vector<std::pair<QString, QString>> keys;  ///< for the sheet
};

}  // namespace relascope
