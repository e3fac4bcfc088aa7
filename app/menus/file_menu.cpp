// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/opener.h"
#include "app/page_export.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/data_page.h"
#include "app/pages/study_page.h"

namespace relascope::app {
namespace {

CheckpointPage* checkpointPage(const MainWindow& window) {
    return qobject_cast<CheckpointPage*>(window.page(PageId::Checkpoint));
}

}  // namespace

FileMenu::FileMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    add("New run", QKeySequence::New, "Reset the options to the preset for a new run", [this] {
        const auto& options = m_c.experiment.options();
        m_c.experiment.choosePreset(QString::fromStdString(options.preset),
                                    QString::fromStdString(options.variant));
    });
    add("New study...", QKeySequence("Ctrl+Shift+N"), "Compare models, training sizes and seeds",
        [this] {
            m_window.showPage(PageId::Study);
            m_window.studyPage()->newStudy();
        });
    add("Open checkpoint...", QKeySequence::Open,
        "Open a checkpoint: .safetensors, .pt, or the config.json of a folder",
        [this] { checkpointPage(m_window)->openFile(); });
    add("Open checkpoint folder...", {}, "Open a folder with config.json and its weights",
        [this] { checkpointPage(m_window)->openFolder(); });
    add("Open run...", QKeySequence("Ctrl+Alt+O"), "Open a run folder", [this] {
        const QString path =
            QFileDialog::getExistingDirectory(&m_window, "Open a run folder", m_c.runs.folder());
        if (!path.isEmpty()) m_window.opener().openRun(path);
    });
    add("Open study...", {}, "Open the folder of a study", [this] {
        m_window.showPage(PageId::Study);
        m_window.studyPage()->openStudy();
    });
    m_recent = m_menu->addMenu("Open recent");
    m_menu->addSeparator();
    add("Import data...", {}, "Read images from files on the Data page", [this] {
        m_window.showPage(PageId::Data);
        qobject_cast<DataPage*>(m_window.page(PageId::Data))->importWanted();
    });
    m_menu->addSeparator();
    add("Export view...", QKeySequence("Ctrl+E"), "Save a view as PNG, SVG, PDF or CSV",
        [this] { m_window.exporter().popUpMenu(); });
    add("Save screenshot...", {}, "Save an image of the whole window",
        [this] { saveScreenshot(); });
    m_menu->addSeparator();
    add("Quit", QKeySequence("Ctrl+Q"), "Close the window; asks first if a run is in progress",
        [this] { m_window.close(); });
    connect(&m_window.opener(), &Opener::recentChanged, this, &FileMenu::fillRecent);
    fillRecent();
}

void FileMenu::saveScreenshot() {
    QString path = QFileDialog::getSaveFileName(&m_window, "Save a screenshot of the window",
                                                "relascope.png", "PNG (*.png)");
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += ".png";
    if (m_window.grab().save(path, "PNG"))
        m_c.messages.ok(QString("Wrote %1").arg(path));
    else
        m_c.messages.error(
            QString("%1: could not be written; choose a folder that you may write to").arg(path));
}

void FileMenu::fillRecent() {
    m_recent->clear();
    const QStringList paths = m_window.opener().recentRuns();
    for (const auto& path : paths)
        add(
            m_c.runs.name(path), {}, path, [this, path] { m_window.opener().openRun(path); },
            m_recent);
    m_recent->menuAction()->setEnabled(!paths.isEmpty());
    m_recent->menuAction()->setToolTip(paths.isEmpty() ? "No run has been opened yet" : QString());
}

}  // namespace relascope::app
