// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/opener.h"

#include <QDir>
#include <QFileInfo>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/pages/checkpoint_page.h"

namespace relascope::app {

Opener::Opener(MainWindow& window) : QObject(&window), m_window(window), m_c(window.controllers()) {
    connect(&m_c.training, &TrainingController::runBegan, this, &Opener::remember);
}

void Opener::openRun(const QString& path) {
    const QString clean = QDir::cleanPath(QDir(path).absolutePath());
    ++m_opens;
    m_c.runs.open(clean, [this, clean](bool there) {
        // Of several the page requested on the command line last is shown.
        if (--m_opens > 0) return;
        there ? showRun(clean) : runRefused();
    });
}

void Opener::showRun(const QString& path) {
    remember(path);
    m_c.selection.setRuns({path});
    m_c.selection.setStep(std::nullopt);
    m_c.selection.setCurrent(path);
    m_c.experiment.showRun(path);
    m_window.showPage(PageId::Workbench);
    Q_EMIT runOpened(path);
}

void Opener::openCheckpoint(const QString& path) {
    m_window.showPage(PageId::Checkpoint);
    m_c.checkpoint.open(path);
}

void Opener::openStudy(const QString& path) {
    m_window.showPage(PageId::Study);
    m_c.study.open(path);
}

void Opener::generateWith(const QString& run) {
    auto* c = &m_c.checkpoint;
    // After its header has been read.
    connect(
        c, &CheckpointController::opened, this, [c] { c->load(); }, Qt::SingleShotConnection);
    openCheckpoint(run);
}

void Opener::remember(const QString& run) {
    QStringList recent = m_recent;
    recent.removeAll(run);
    recent.prepend(run);
    setRecentRuns(recent);
}

void Opener::setRecentRuns(const QStringList& paths) {
    m_recent = paths.mid(0, 10);
    Q_EMIT recentChanged();
}

Opener::Found Opener::identify(const QString& path) {
    static const QStringList texts = {"txt", "text", "md", "jsonl", "gz"};
    static const QStringList weights = {"safetensors", "pt", "pth", "ckpt", "bin", "json"};
    const QFileInfo file(path);
    const QString ending = file.suffix().toLower();
    if (file.fileName() == "run.json") return {What::Run, file.path()};
    if (file.fileName() == "study.json") return {What::Study, path};
    if (file.isDir() && QFileInfo::exists(path + "/study.json")) return {What::Study, path};
    if (file.isDir() && QFileInfo::exists(path + "/run.json")) return {What::Run, path};
    if (file.isDir() || weights.contains(ending)) return {What::Checkpoint, path};
    return {texts.contains(ending) ? What::Text : What::Image, path};
}

void Opener::openDropped(const QString& path) {
    const auto open = [this, dropped = ++m_dropped](const Found& found) {
        if (dropped != m_dropped) return;
        switch (found.what) {
            case What::Run:
                return openRun(found.path);
            case What::Study:
                return openStudy(found.path);
            case What::Checkpoint:
                return openCheckpoint(found.path);
            case What::Text:
                return takeText(found.path);
            case What::Image:
                return m_c.probe.chooseImage(found.path);
        }
    };
    m_disk.post(
        this, [path](std::stop_token) { return identify(QFileInfo(path).filePath()); }, open);
}

void Opener::takeText(const QString& path) {
    auto& c = m_c;
    auto* checkpoint = qobject_cast<CheckpointPage*>(m_window.page(m_window.currentPage()));
    if (checkpoint && checkpoint->takeText(path)) return;
    const bool plain =
        !path.endsWith(QLatin1String("jsonl")) && !path.endsWith(QLatin1String("gz"));
    if (plain && m_window.currentPage() == PageId::Workbench && c.probe.readsText())
        return c.probe.session().chooseTextFile(path);
    const auto& options = c.experiment.options();
    const QString preset =
        options.data.isText() ? QString::fromStdString(options.preset) : QStringLiteral("text");
    if (!c.experiment.run().isEmpty() || !options.data.isText()) c.experiment.choosePreset(preset);
    c.selection.setPreset(preset);
    c.experiment.set(QStringLiteral("data.path"), path.toStdString());
    m_window.showPage(PageId::Workbench);
    c.messages.info(
        QString("The next run will train on %1; press Start").arg(QFileInfo(path).fileName()));
}

}  // namespace relascope::app
