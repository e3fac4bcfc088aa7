// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/runs_controller.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <thread>

#include "app/controllers/hosts_controller.h"
#include "app/controllers/job_queue.h"
#include "model/recorded/recorded_options.h"
#include "options/metrics.h"
#include "options/presets.h"
#include "run/run_folder.h"
#include "run/run_list.h"
#include "wire/host_files.h"
#include "wire/start_run.h"

namespace relascope::app {
namespace {

QString parentOf(const QString& path) {
    return QFileInfo(path).path();
}

/// The key of the group of seeds that a run belongs to, empty if there is none: runs inside a
/// folder of their own, or (from the command line) side by side with all options but the seed
/// alike.
QString groupOf(const RunInfo& info, const QString& root) {
    const QString path = QString::fromStdString(info.path);
    if (parentOf(path) != root && parentOf(parentOf(path)) == root) return parentOf(path);
    const auto seeds = std::find_if(info.options.begin(), info.options.end(),
                                    [](const auto& o) { return o.first == "train.seeds"; });
    if (seeds == info.options.end() || seeds->second.find(',') == std::string::npos) return {};
    QString key = parentOf(path);
    for (const auto& [name, text] : info.options)
        key += QString::fromStdString('\n' + name + '=' + text);
    return key;
}

}  // namespace

RunsController::RunsController(JobQueue& jobs, QObject* parent)
    : QObject(parent), m_jobs(jobs), m_records(jobs) {
    m_folder = QDir::cleanPath(QString::fromStdString(core::defaultRunsFolder()));
    m_announce.setSingleShot(true);
    m_announce.setInterval(200);
    connect(&m_records, &RunRecords::failed, this, &RunsController::failed);
    connect(&m_announce, &QTimer::timeout, this, &RunsController::rowsChanged);
    connect(&m_records, &RunRecords::pointsAppended, this,
            [this](const QString& path, const std::vector<MetricPoint>& points) {
                if (path == m_live) livePoints(points);
            });
}

void RunsController::setFolder(const QString& folder) {
    m_folder = QDir::cleanPath(folder);
    m_infos.clear();
    m_opened.clear();
    rebuildRows();
    refresh();
}

QString RunsController::rootOf(const QString& path) const {
    for (const auto& [host, mirror] : m_mirrors)
        if (path.startsWith(mirror + u'/')) return mirror;
    return m_folder;
}

void RunsController::setMirrors(const std::vector<std::pair<QString, QString>>& folders) {
    if (std::exchange(m_mirrors, folders) != folders) refresh();
}

void RunsController::setStarting(bool starting) {
    if (std::exchange(m_starting, starting) && !starting) refresh();
}

void RunsController::setHeadings(const std::map<QString, QString>& headings) {
    if (std::exchange(m_headings, headings) == headings) return;
    rebuildRows();
    Q_EMIT rowsChanged();
}

void RunsController::refresh() {
    // One listing at a time; requests made meanwhile lead to one more.
    if (std::exchange(m_listing, true)) {
        m_again = true;
        return;
    }
    const auto work = [folder = m_folder.toStdString(), mirrors = m_mirrors,
                       opened = m_opened](std::stop_token) {
        auto runs = core::listRuns(folder);
        for (const auto& [host, mirror] : mirrors) {
            auto there = core::listRuns(mirror.toStdString());
            std::move(there.begin(), there.end(), std::back_inserter(runs));
        }
        for (const auto& path : opened) {
            try {
                runs.push_back(core::readRunInfo(path.toStdString()));
            } catch (const Error&) {
                // A run that was moved or deleted since it was opened is removed from the list.
            }
        }
        return runs;
    };
    const auto done = [this, folder = m_folder, opened = m_opened,
                       starting = m_starting](std::vector<RunInfo> runs) {
        m_listing = false;
        // One that is refused has failed, or lost its process, until its folder is gone.
        if (starting || m_starting)
            std::erase_if(runs, [this](const RunInfo& r) {
                return r.step == 0 && r.state != RunState::Running && r.state != RunState::Paused &&
                       !info(QString::fromStdString(r.path));
            });
        // Runs opened or chosen since then are not in this listing.
        for (const auto& path : m_opened)
            if (const RunInfo* known = info(path); known && !opened.contains(path))
                runs.push_back(*known);
        if (folder == m_folder) take(std::move(runs));
        if (!m_again && std::exchange(m_reload, false)) {
            setShowHidden(hiddenRuns() > 0);
            Q_EMIT reloaded(static_cast<int>(m_infos.size()), hiddenRuns());
        }
        if (std::exchange(m_again, false)) refresh();
    };
    m_jobs.post(this, work, done, [this](const QString& sentence) {
        m_listing = false;
        Q_EMIT failed(sentence);
        if (std::exchange(m_again, false)) refresh();
    });
}

void RunsController::reload() {
    m_reload = true;
    refresh();
}

void RunsController::take(std::vector<RunInfo> runs) {
    const RunInfo* live = m_live.isEmpty() ? nullptr : info(m_live);
    const std::optional<RunInfo> mine = live ? std::optional(*live) : std::nullopt;
    bool found = false;
    std::set<std::string> seen;
    std::erase_if(runs, [&](const RunInfo& r) {
        return !seen.insert(r.path).second || m_removed.contains(QString::fromStdString(r.path));
    });
    // run.json is written only now and then: for a run on a machine that is not connected, the last
    // report of its process is newer.
    const auto newer = [this](const RunInfo& run) {
        const RunInfo* known = run.state == RunState::Running && wire::farPathOf(run.path)
                                   ? info(QString::fromStdString(run.path))
                                   : nullptr;
        return known && known->state == run.state && known->step > run.step ? known : nullptr;
    };
    for (auto& run : runs) {
        const bool isMine = mine && run.path == mine->path;
        found |= isMine;
        if (const RunInfo* known = isMine ? &*mine : newer(run)) {
            const RunLabels labels = std::move(run.labels);
            run = *known;
            run.labels = labels;
        }
        if (const auto known = m_labels.find(QString::fromStdString(run.path));
            known != m_labels.end())
            run.labels = known->second;
    }
    if (mine && !found) runs.insert(runs.begin(), *mine);
    m_infos = std::move(runs);
    // Colours go to the oldest first, so that a new run does not take the first one's.
    for (auto it = m_infos.rbegin(); it != m_infos.rend(); ++it) {
        const QString path = QString::fromStdString(it->path),
                      together = groupOf(*it, rootOf(path));
        const QString key = together.isEmpty() ? path : together;
        if (!m_colors.contains(key)) m_colors.insert(key, static_cast<int>(m_colors.size()));
        if (!m_colors.contains(path)) m_colors.insert(path, m_colors.value(key));
    }
    rebuildRows();
    m_announce.stop();
    Q_EMIT rowsChanged();
    for (const auto& run : m_infos) m_records.follow(run);
}

void RunsController::rebuildRows() {
    m_rows.clear();
    for (const auto& info : m_infos) {
        if (info.labels.hidden && !m_showHidden && info.path != m_live.toStdString()) continue;
        widgets::RunRow row{info, colorIndex(QString::fromStdString(info.path))};
        if (const auto far = wire::farPathOf(info.path))
            row.host = QString::fromStdString(far->host);
        row.info.name = info.labels.name.empty()
                            ? folderName(QString::fromStdString(info.path)).toStdString()
                            : info.labels.name;
        m_rows.push_back(std::move(row));
    }
    // The runs of each machine are together, those of this machine first.
    std::stable_sort(m_rows.begin(), m_rows.end(),
                     [](const auto& a, const auto& b) { return a.host < b.host; });
    QString last;
    for (auto& row : m_rows)
        if (std::exchange(last, row.host) != row.host) {
            const auto known = m_headings.find(row.host);
            row.heading = known == m_headings.end() ? row.host : known->second;
        }
}

bool RunsController::isCopyOf(const QString& copy, const QString& run) {
    try {
        const RunInfo a = core::readRunInfo(copy.toStdString()),
                      b = core::readRunInfo(run.toStdString());
        return a.startedAt == b.startedAt && a.step == b.step && a.seed == b.seed &&
               a.options == b.options;
    } catch (const Error&) {
        return false;
    }
}

QString RunsController::placeOfCopy(const QString& run) const {
    const auto base =
        QStringList{m_folder, HostsController::hostOf(run), QFileInfo(run).fileName()}.join(u'/');
    QString place = base;
    for (int k = 2; QFileInfo::exists(place) && !isCopyOf(place, run); ++k)
        place = QStringLiteral("%1-%2").arg(base).arg(k);
    return place;
}

void RunsController::announce() {
    if (!m_announce.isActive()) m_announce.start();
}

const RunInfo* RunsController::info(const QString& path) const {
    const std::string key = path.toStdString();
    for (const auto& info : m_infos)
        if (info.path == key) return &info;
    return nullptr;
}

bool RunsController::trains(const QString& path) const {
    const RunInfo* found = info(path);
    return found && (found->state == RunState::Running || found->state == RunState::Paused);
}

int RunsController::colorIndex(const QString& path) const {
    return m_colors.value(path, 0);
}

QString RunsController::group(const QString& path) const {
    const RunInfo* found = info(path);
    return found ? groupOf(*found, rootOf(path)) : QString();
}

QString RunsController::whyNoModel(const QString& path) const {
    const RunInfo* known = info(path);
    return known && known->recorded ? name(path) + u' ' + QLatin1String(core::kNoModel) : QString();
}

QString RunsController::name(const QString& path) const {
    const auto given = labels(path).name;
    return given.empty() ? folderName(path) : QString::fromStdString(given);
}

QString RunsController::folderName(const QString& path) const {
    const QString own = QFileInfo(path).fileName(), parent = parentOf(path);
    if (const QString root = rootOf(path); parent == root || parentOf(parent) != root) return own;
    // Otherwise the run is a copy from the machine that the parent folder names.
    const bool seed = own.startsWith(QLatin1String("seed-"));
    return QFileInfo(parent).fileName() + QStringLiteral(" · ") +
           (seed ? QString(own).replace(u'-', u' ') : own);
}

std::vector<widgets::CurveRun> RunsController::curveRuns(const QStringList& paths,
                                                         const QString& highlighted) const {
    QHash<QString, int> members;
    for (const auto& path : paths) ++members[group(path)];
    std::vector<widgets::CurveRun> runs;
    for (const auto& path : paths) {
        const QString together = group(path);
        const bool band = !together.isEmpty() && members.value(together) > 1;
        QString shown = name(path);
        if (band) shown = shown.section(QStringLiteral(" · "), 0, 0);
        runs.push_back(
            {path, shown, band ? together : QString(), colorIndex(path), path == highlighted});
    }
    return runs;
}

std::vector<widgets::PublishedValue> RunsController::published(const QString& path) const {
    auto values = m_records.published(path);
    for (auto& value : values) value.colorIndex = colorIndex(path);
    return values;
}

void RunsController::open(const QString& path, std::function<void(bool there)> done) {
    const QString clean = QDir::cleanPath(path);
    m_jobs.post(
        this, [file = clean.toStdString()](std::stop_token) { return core::readRunInfo(file); },
        [this, clean, done](RunInfo read) {
            m_removed.erase(clean);
            if (read.labels.hidden) setShowHidden(true);
            if (!info(clean)) {
                if (!m_opened.contains(clean)) m_opened += clean;
                m_infos.insert(m_infos.begin(), std::move(read));
                take(std::move(m_infos));
            }
            done(true);
        },
        [this, done](const QString& sentence) {
            Q_EMIT failed(sentence);
            done(false);
        });
}

RunLabels RunsController::labels(const QString& path) const {
    const RunInfo* known = info(path);
    return known ? known->labels : RunLabels();
}

void RunsController::setLabels(const QString& path, const RunLabels& labels) {
    for (auto& info : m_infos)
        if (info.path == path.toStdString()) info.labels = labels;
    m_labels[path] = labels;
    rebuildRows();
    Q_EMIT rowsChanged();
    const auto written = [this, path, labels] {
        if (const auto known = m_labels.find(path);
            known != m_labels.end() && known->second == labels)
            m_labels.erase(known);
    };
    m_jobs.post(
        this,
        [file = path.toStdString(), labels](std::stop_token) {
            if (wire::farPathOf(file)) {
                wire::Session session;
                wire::writeLabels(session, file, labels);
            }
            return core::writeRunLabels(file, labels), true;
        },
        [written](bool) { written(); },
        [this, written](const QString& sentence) {
            written();
            Q_EMIT failed(sentence);
            refresh();
        });
}

int RunsController::hiddenRuns() const {
    return static_cast<int>(std::count_if(m_infos.begin(), m_infos.end(),
                                          [](const RunInfo& i) { return i.labels.hidden; }));
}

void RunsController::setShowHidden(bool shown) {
    if (std::exchange(m_showHidden, shown) == shown) return;
    rebuildRows();
    Q_EMIT rowsChanged();
}

std::vector<RunsController::Moved> RunsController::trash(const QStringList& paths) {
    std::vector<Moved> moves;
    for (const auto& path : paths)
        if (path != m_live)
            moves.push_back({path, QString::fromStdString(core::trashPath(
                                       rootOf(path).toStdString(), path.toStdString()))});
    move(moves);
    return moves;
}

void RunsController::move(const std::vector<Moved>& moves) {
    for (const auto& move : moves) {
        m_removed.insert(move.from);
        m_removed.erase(move.to);
        m_records.forget(move.from);
    }
    take(std::move(m_infos));
    m_jobs.post(
        this,
        [moves](std::stop_token) {
            QStringList problems;
            for (const auto& move : moves) try {
                    const auto from = move.from.toStdString(), to = move.to.toStdString();
                    if (wire::farPathOf(from)) {
                        wire::Session session;
                        wire::moveRun(session, from, to);
                        std::error_code ignored;  // if it fails, the mirror is updated later
                        std::filesystem::remove_all(from, ignored);
                    } else {
                        core::moveRun(from, to);
                    }
                } catch (const Error& error) {
                    problems << QString::fromStdString(error.what());
                }
            return problems;
        },
        [this, moves](const QStringList& problems) {
            for (const auto& move : moves) m_removed.erase(move.from);
            for (const auto& sentence : problems) Q_EMIT failed(sentence);
            refresh();
        });
}

void RunsController::branch(const QString& path, qint64 step) {
    m_jobs.post(
        this,
        [from = path.toStdString(), step,
         folder = rootOf(path).toStdString()](std::stop_token stop) {
            const RunInfo info = core::readRunInfo(from);
            const std::string to =
                core::freshRunPath(folder, core::readRunOptions(from), info.seed);
            wire::Session session;
            wire::branch(session, from, step, to);
            // A run on another machine can be shown once its mirror has it.
            while (wire::farPathOf(to) && !core::isRunFolder(to) && !stop.stop_requested())
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
            return core::readRunInfo(to);
        },
        [this](RunInfo made) {
            const QString path = QString::fromStdString(made.path);
            m_infos.insert(m_infos.begin(), std::move(made));
            take(std::move(m_infos));
            Q_EMIT branched(path);
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void RunsController::endProcess(const QString& path) {
    m_jobs.post(
        this, [run = path.toStdString()](std::stop_token) { return wire::endRun(run), true; },
        [this, path](bool) {
            Q_EMIT ended(path);
            refresh();
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void RunsController::setLive(const QString& path, bool fresh) {
    const QString before = std::exchange(m_live, path);
    m_records.setLive(path, fresh);
    // The final state of the run is read with the next listing.
    if (path.isEmpty() && !before.isEmpty()) refresh();
}

void RunsController::liveInfo(const RunInfo& fresh) {
    const auto found = std::find_if(m_infos.begin(), m_infos.end(),
                                    [&](const RunInfo& i) { return i.path == fresh.path; });
    if (found == m_infos.end()) {
        m_infos.insert(m_infos.begin(), fresh);
        take(std::move(m_infos));
        return;
    }
    const RunLabels labels = std::move(found->labels);
    *found = fresh;
    found->labels = labels;
    rebuildRows();
    announce();
}

void RunsController::livePoints(const std::vector<MetricPoint>& points) {
    if (m_live.isEmpty()) return;
    const auto enter = [&points, live = m_live.toStdString()](RunInfo& info) {
        if (info.path != live) return;
        for (const auto& point : points) {
            info.step = std::max(info.step, point.step);
            info.seconds = std::max(info.seconds, point.seconds);
            if (point.split == Split::Validation) core::takeValidation(info, point);
        }
    };
    // Called several times a second, so the infos of the other runs are not copied.
    for (auto& info : m_infos) enter(info);
    for (auto& row : m_rows) enter(row.info);
    announce();
}

}  // namespace relascope::app
