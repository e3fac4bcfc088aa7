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

namespace relascope {
namespace {

CheckpointPage* checkpointPage(const MainWindow& window) {
    return qobject_cast<CheckpointPage*>(window.page(PageId::Checkpoint));
}

}  // namespace

FileMenu::FileMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    add(QStringLiteral("New run"), QKeySequence::New,
        QStringLiteral("Reset the options to the preset for a new run"), [this] {
            const auto& options = m_c.experiment.options();
            m_c.experiment.choosePreset(QString::fromStdString(options.preset),
                                        QString::fromStdString(options.variant));
        });
    add(QStringLiteral("New study..."), QKeySequence(QStringLiteral("Ctrl+Shift+N")),
        QStringLiteral("Compare models, training sizes and seeds"), [this] {
            m_window.showPage(PageId::Study);
            m_window.studyPage()->newStudy();
        });
    add(QStringLiteral("Open checkpoint..."), QKeySequence::Open,
        QStringLiteral("Open a checkpoint: .safetensors, .pt, or the config.json of a folder"),
        [this] { checkpointPage(m_window)->openFile(); });
    add(QStringLiteral("Open checkpoint folder..."), {},
        QStringLiteral("Open a folder with config.json and its weights"),
        [this] { checkpointPage(m_window)->openFolder(); });
    add(QStringLiteral("Open run..."), QKeySequence(QStringLiteral("Ctrl+Alt+O")),
        QStringLiteral("Open a run folder"), [this] {
            const QString path = QFileDialog::getExistingDirectory(
                &m_window, QStringLiteral("Open a run folder"), m_c.runs.folder());
            if (!path.isEmpty()) m_window.opener().openRun(path);
        });
    add(QStringLiteral("Open study..."), {}, QStringLiteral("Open the folder of a study"), [this] {
        m_window.showPage(PageId::Study);
        m_window.studyPage()->openStudy();
    });
    m_recent = m_menu->addMenu(QStringLiteral("Open recent"));
    m_menu->addSeparator();
    add(QStringLiteral("Import data..."), {},
        QStringLiteral("Read images from files on the Data page"), [this] {
            m_window.showPage(PageId::Data);
            qobject_cast<DataPage*>(m_window.page(PageId::Data))->importWanted();
        });
    m_menu->addSeparator();
    add(QStringLiteral("Export view..."), QKeySequence(QStringLiteral("Ctrl+E")),
        QStringLiteral("Save a view as PNG, SVG, PDF or CSV"),
        [this] { m_window.exporter().popUpMenu(); });
    add(QStringLiteral("Save screenshot..."), {},
        QStringLiteral("Save an image of the whole window"), [this] { saveScreenshot(); });
    m_menu->addSeparator();
    add(QStringLiteral("Quit"), QKeySequence(QStringLiteral("Ctrl+Q")),
        QStringLiteral("Close the window; asks first if a run is in progress"),
        [this] { m_window.close(); });
    connect(&m_window.opener(), &Opener::recentChanged, this, &FileMenu::fillRecent);
    fillRecent();
}

void FileMenu::saveScreenshot() {
    QString path = QFileDialog::getSaveFileName(
        &m_window, QStringLiteral("Save a screenshot of the window"),
        QStringLiteral("relascope.png"), QStringLiteral("PNG (*.png)"));
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".png");
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
    m_recent->menuAction()->setToolTip(
        paths.isEmpty() ? QStringLiteral("No run has been opened yet") : QString());
}

}  // namespace relascope
