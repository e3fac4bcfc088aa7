// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDir>
#include <QFileInfo>

#include "app/command_log.h"
#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/opener.h"
#include "app/pages/checkpoint_page.h"
#include "app/view_files.h"
#include "files/command_line.h"
#include "hub/hub_cache.h"
#include "model/served/served_options.h"
#include "views/view_file.h"
#include "wire/host.h"

namespace relascope::app {
namespace {

/// Whether a file name is generic for weights, so that only its folder identifies them.
bool isGeneric(const QString& file) {
    return file == QLatin1String("model.safetensors") ||
           file == QLatin1String("pytorch_model.bin") || file == QLatin1String("config.json") ||
           file.endsWith(QLatin1String(".index.json"));
}

/// The title from the last components of a path, `extra` more than usual.
QString titleOf(const QString& path, int extra) {
    if (const auto far = wire::farPathOf(path.toStdString()))
        return QString::fromStdString(far->host) + QStringLiteral(" \u00B7 ") +
               titleOf(QString::fromStdString(far->path), extra);
    if (const auto name = core::hubNameOf(path.toStdString()); !name.empty())
        return QString::fromStdString(name);
    QStringList parts = path.split(u'/', Qt::SkipEmptyParts);
    if (parts.size() > 1 && isGeneric(parts.last())) parts.removeLast();
    if (parts.isEmpty()) return path;
    const auto size = parts.size();
    const bool ofRun = size >= 3 && parts[size - 2] == QLatin1String("checkpoints");
    const QString own =
        ofRun ? parts[size - 3] + QStringLiteral(", ") + parts[size - 1] : parts[size - 1];
    const auto last = size - (ofRun ? 3 : 1);
    QStringList above =
        parts.mid(std::max<qsizetype>(0, last - extra), std::min<qsizetype>(extra, last));
    above << own;
    return above.join(u'/');
}

void logOpened(const QString& path) {
    auto name = path.toStdString();
    // The name of a model of the hub, where it leads to this revision of it.
    try {
        const auto hub = core::kHubPrefix + core::hubNameOf(name);
        if (hub != core::kHubPrefix && core::hubPath(hub) == name) name = hub;
    } catch (const Error&) {  // it is no longer there
    }
    const char* command = core::isServedName(name) ? "inspect" : "info";
    commandLog().add(QString::fromStdString(core::commandLine({command, name})),
                     QStringLiteral("Opened %1").arg(QFileInfo(path).fileName()));
}

}  // namespace

QStringList checkpointTitles(const QStringList& paths) {
    QStringList titles;
    for (const QString& path : paths) titles << titleOf(path, 0);
    for (int extra = 1; extra < 32; ++extra) {
        bool same = false;
        const QStringList before = titles;
        for (qsizetype i = 0; i < paths.size(); ++i)
            if (before.count(before[i]) > 1) titles[i] = titleOf(paths[i], extra), same = true;
        if (!same || titles == before) break;
    }
    // A folder and the weights in it differ only by the file name.
    for (qsizetype i = 0; i < paths.size(); ++i)
        if (titles.count(titles[i]) > 1 && isGeneric(QFileInfo(paths[i]).fileName()))
            titles[i] += u'/' + QFileInfo(paths[i]).fileName();
    return titles;
}

Opener::Opener(MainWindow& window) : QObject(&window), m_window(window), m_c(window.controllers()) {
    connect(&m_c.training, &TrainingController::runBegan, this, &Opener::remember);
    connect(&m_c.training, &TrainingController::runBegan, this, [this](const QString& path) {
        if (!m_c.training.attached())
            commandLog().addTraining(path, m_c.training.options(), m_c.training.resumed());
    });
}

void Opener::openRun(const QString& path) {
    openRuns({path}, {});
}

void Opener::openRuns(const QStringList& paths, const std::function<void()>& then) {
    struct Reading {
        qsizetype left;
        QStringList there;
    };
    const auto reading = std::make_shared<Reading>(Reading{paths.size(), {}});
    ++m_opens;
    for (const QString& path : paths) {
        const QString clean = QDir::cleanPath(QDir(path).absolutePath());
        m_c.runs.open(clean, [this, clean, reading, then](bool there) {
            if (there && !reading->there.contains(clean)) reading->there << clean;
            if (--reading->left > 0) return;
            // If runs were requested several times, the last request is shown.
            if (--m_opens == 0) reading->there.isEmpty() ? runRefused() : showRuns(reading->there);
            if (then) then();
        });
    }
}

void Opener::showRuns(const QStringList& paths) {
    const QString& path = paths.last();
    for (const QString& run : paths) {
        remember(run);
        logOpened(run);
    }
    m_c.selection.setRuns(paths);
    m_c.selection.setStep(std::nullopt);
    m_c.selection.setCurrent(path);
    m_c.experiment.follow(path);
    m_window.showPage(PageId::Workbench);
    Q_EMIT runOpened(path);
}

void Opener::openCheckpoint(const QString& path) {
    logOpened(path);
    m_window.showPage(PageId::Checkpoint);
    m_c.checkpoint.open(path);
}

void Opener::openStudy(const QString& path) {
    m_window.showPage(PageId::Study);
    m_c.study.open(path);
}

void Opener::generateWith(const QString& run) {
    auto* c = &m_c.checkpoint;
    // Shown after the header of the checkpoint has been read.
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
    static const QStringList images = {"png", "jpg", "jpeg", "bmp", "gif", "webp", "ppm"};
    if (core::isServedName(path.toStdString())) return {What::Checkpoint, path};
    const QFileInfo file(path);
    const QString ending = file.suffix().toLower();
    if (file.fileName() == "run.json") return {What::Run, file.path()};
    if (file.fileName() == "study.json") return {What::Study, file.path()};
    if (file.isDir() && QFileInfo::exists(path + "/study.json")) return {What::Study, path};
    if (file.isDir() && QFileInfo::exists(path + "/run.json")) return {What::Run, path};
    if (core::isViewFile(file.fileName().toStdString())) return {What::View, path};
    if (texts.contains(ending)) return {What::Text, path};
    // Files of weights may have any name.
    return {images.contains(ending) ? What::Image : What::Checkpoint, path};
}

void Opener::openAll(const QStringList& paths) {
    if (paths.isEmpty()) return;
    ++m_opens;  // keeps the runs of the last session from being shown meanwhile
    m_disk.post(
        this,
        [paths](const std::stop_token&) {
            std::vector<Found> all;
            for (const QString& path : paths) all.push_back(identify(QFileInfo(path).filePath()));
            return all;
        },
        [this](const std::vector<Found>& all) {
            --m_opens;
            m_queue.insert(m_queue.end(), all.begin(), all.end());
            if (!m_opening) openNext();
        });
}

// Opens the queue one after another, so that the page of the last entry stays.
void Opener::openNext() {
    m_opening = !m_queue.empty();
    while (!m_queue.empty()) {
        const Found found = m_queue.front();
        m_queue.pop_front();
        switch (found.what) {
            case What::Run: {
                QStringList runs{found.path};
                for (; !m_queue.empty() && m_queue.front().what == What::Run; m_queue.pop_front())
                    runs << m_queue.front().path;
                return openRuns(runs, [this] { openNext(); });
            }
            case What::Checkpoint:
                openCheckpoint(found.path);
                // Queued, so that a checkpoint that was read is shown first; a cancelled one
                // continues the queue as well.
                connect(&m_c.checkpoint.task(), &LongTask::ended, this, &Opener::openNext,
                        static_cast<Qt::ConnectionType>(Qt::QueuedConnection |
                                                        Qt::SingleShotConnection));
                return;
            case What::Study:
                openStudy(found.path);
                break;
            case What::View:
                m_window.views().open(found.path);
                break;
            case What::Text:
                takeText(found.path);
                break;
            case What::Image:
                m_c.runInput.chooseImage(found.path);
                break;
        }
    }
    m_opening = false;
}

void Opener::takeText(const QString& path) {
    auto& c = m_c;
    auto* checkpoint = qobject_cast<CheckpointPage*>(m_window.page(m_window.currentPage()));
    if (checkpoint && checkpoint->takeText(path)) return;
    const bool plain =
        !path.endsWith(QLatin1String("jsonl")) && !path.endsWith(QLatin1String("gz"));
    if (plain && m_window.currentPage() == PageId::Workbench && c.runInput.readsText())
        return c.runInput.feed().chooseTextFile(path);
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
