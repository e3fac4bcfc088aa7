// SPDX-License-Identifier: GPL-3.0-or-later
#include <signal.h>
#include <sys/wait.h>
#include <algorithm>
#include <chrono>
#include <cmath>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "app/controllers/study_controller.h"
#include "options/metrics.h"
#include "run/run_list.h"
#include "study/study.h"
#include "wire/host.h"
#include "wire/start_study.h"

namespace relascope::app {
namespace {

constexpr qint64 kActivePollMs = 1000, kIdlePollMs = 5000;  ///< ms between two readings
constexpr int kFollowMs = 200, kListMs = 1000;
constexpr qint64 kBeginsMs = 20000;          ///< time until a machine must report work on a study
constexpr std::chrono::seconds kSaving(60);  ///< time that a process may take to save

QString clean(const QString& path) {
    return QDir::cleanPath(QDir(path).absolutePath());
}

std::function<bool()> wantedUntil(std::stop_token stop) {
    return [stop = std::move(stop)] { return !stop.stop_requested(); };
}

}  // namespace

StudyController::StudyController(QObject* parent) : QObject(parent) {
    // Next to the runs, so that RELASCOPE_RUNS moves the studies, too.
    m_folder = clean(QString::fromStdString(core::studiesFolder(core::defaultRunsFolder())));
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &StudyController::refresh);
    // Mirrors change several times a second while a run trains; the study shown is read by m_timer.
    m_listing.setSingleShot(true);
    m_listing.setInterval(kListMs);
    connect(&m_listing, &QTimer::timeout, this, &StudyController::refreshList);
    m_following.setInterval(kFollowMs);
    connect(&m_following, &QTimer::timeout, this, &StudyController::follow);
}

StudyController::~StudyController() {
    if (!m_endsWithWindow) return;
    for (const auto& [path, work] : m_works)
        if (work.process) ::kill(static_cast<pid_t>(work.process->id()), SIGTERM);
    for (const auto& [path, work] : m_works)
        if (work.process) work.process->status(kSaving);
}

QString StudyController::hostOf(const QString& study) {
    const auto far = wire::farPathOf(study.toStdString());
    return far ? QString::fromStdString(far->host) : QString();
}

JobQueue& StudyController::queueOf(const QString& study) {
    auto& queue = m_asking[hostOf(study)];
    if (!queue) queue = std::make_unique<JobQueue>();
    return *queue;
}

QString StudyController::program() {
    const QString named = qEnvironmentVariable("RELASCOPE_CLI");
    if (!named.isEmpty()) return named;
    const QString folder = QCoreApplication::applicationDirPath();
    const QString beside = folder + QStringLiteral("/relascope-cli");
    // Both programs accept the same arguments.
    return QFileInfo::exists(beside) ? beside : folder + QStringLiteral("/relascope");
}

QString StudyController::name(const QString& path) {
    return QFileInfo(path).fileName();
}

// The list
// ---------------------------------------------------------------------------------------------------

void StudyController::setFolder(const QString& folder) {
    m_folder = clean(folder);
    m_listed.clear();
    refreshList();
}

QStringList StudyController::studies() const {
    QStringList all;
    for (const auto& path : m_opened)
        if (!m_listed.contains(path) && !m_far.contains(path)) all << path;
    return all + m_listed + m_far;
}

void StudyController::setMirrors(const std::map<QString, QString>& mirrors) {
    if (m_mirrors != mirrors) {
        m_mirrors = mirrors;
        refreshList();
    }
    Q_EMIT workChanged();  // a machine may be usable now, or not any more
}

void StudyController::look() {
    if (!m_listing.isActive()) m_listing.start();
}

void StudyController::setOpened(const QStringList& paths) {
    m_opened = paths.mid(0, 10);
    refreshList();
}

void StudyController::forget(const QString& path) {
    if (m_opened.removeAll(path) == 0) return;
    Q_EMIT listChanged();
    if (path == m_path) open(studies().value(0));
}

void StudyController::refreshList() {
    struct Listed {
        QStringList studies, far, opened;
        QStringList working;  ///< studies that processes work on
    };
    const auto work = [folder = m_folder, mirrors = m_mirrors, opened = m_opened](std::stop_token) {
        Listed found;
        for (const auto& path : core::listStudies(folder.toStdString()))
            found.studies << clean(QString::fromStdString(path));
        for (const auto& [host, mirror] : mirrors)
            for (const auto& path : core::listStudies(mirror.toStdString()))
                found.far << clean(QString::fromStdString(path));
        for (const auto& path : opened)
            if (core::isStudyFolder(path.toStdString())) found.opened << path;
        for (const auto& path : found.studies + found.opened + found.far)
            if (wire::isWorkedOn(path.toStdString())) found.working << path;
        return found;
    };
    m_disk.post(
        this, work,
        [this, folder = m_folder](const Listed& found) {
            if (folder != m_folder) return;
            for (const auto& path : found.working) attach(path);
            const QStringList before = studies();
            m_listed = found.studies;
            m_far = found.far;
            // A study opened since then is kept, too.
            for (const auto& path : QStringList(m_opened))
                if (!found.opened.contains(path) && path != m_path) m_opened.removeAll(path);
            if (studies() != before) Q_EMIT listChanged();
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

// Reading
// ---------------------------------------------------------------------------------------------------

void StudyController::openFolder(const QString& path) {
    m_disk.post(
        this, [file = path.toStdString()](std::stop_token) { return core::isStudyFolder(file); },
        [this, path, choice = ++m_choice](bool is) {
            if (choice != m_choice) return;
            if (is) return open(path);
            Q_EMIT failed(QStringLiteral("%1 is not a study (no study.json); choose a study folder")
                              .arg(path));
        });
}

void StudyController::open(const QString& path, bool quiet) {
    const QString wanted = path.isEmpty() ? QString() : clean(path);
    ++m_choice;
    if (wanted == m_path) return refresh();
    m_quiet = quiet;
    m_path = wanted;
    m_reading.reset();
    ++m_request;
    m_reads = m_again = false;
    m_timer.stop();
    const bool elsewhere =
        !wanted.isEmpty() && !m_listed.contains(wanted) && hostOf(wanted).isEmpty();
    if (elsewhere && !m_opened.contains(wanted)) {
        m_opened.prepend(wanted);
        m_opened = m_opened.mid(0, 10);
        Q_EMIT listChanged();
    }
    Q_EMIT openedChanged();
    Q_EMIT workChanged();
    refresh();
}

void StudyController::refresh() {
    if (m_path.isEmpty()) return;
    // One reading at a time; requests made meanwhile lead to one more.
    if (std::exchange(m_reads, true)) {
        m_again = true;
        return;
    }
    const auto work = [path = m_path.toStdString(), measure = m_measure](std::stop_token) {
        QElapsedTimer clock;
        clock.start();
        auto info = std::make_shared<const StudyInfo>(core::readStudy(path));
        auto reading = sumUpStudy(std::move(info), measure);
        return std::pair(std::move(reading), clock.elapsed());
    };
    const auto done = [this, request = m_request](auto answer) {
        if (request == m_request) take(std::move(answer.first), answer.second);
    };
    m_disk.post(this, work, done, [this, request = m_request](const QString& sentence) {
        if (request != m_request) return;
        m_reads = m_again = false;
        // Otherwise it would be opened again immediately.
        for (auto* list : {&m_opened, &m_listed, &m_far}) list->removeAll(m_path);
        m_path.clear();
        m_reading.reset();
        if (!m_quiet) Q_EMIT failed(sentence);
        Q_EMIT listChanged();
        Q_EMIT openedChanged();
        Q_EMIT workChanged();
    });
}

void StudyController::take(std::shared_ptr<const StudyReading> reading, qint64 milliseconds) {
    m_reads = m_quiet = false;
    const bool same = m_reading && reading->looksLike(*m_reading);
    if (!same) {
        m_reading = std::move(reading);
        Q_EMIT changed();
    }
    if (std::exchange(m_again, false)) return refresh();
    schedule(milliseconds);
}

void StudyController::schedule(qint64 lastMilliseconds) {
    const bool here = works();
    const bool elsewhere = m_reading && m_reading->running > 0;
    if (!here && !m_watched) return;
    // Reading a study of thousands of runs is slow: use a fifth of a core at most.
    m_timer.start(static_cast<int>(
        std::max(here || elsewhere ? kActivePollMs : kIdlePollMs, 4 * lastMilliseconds)));
}

void StudyController::setWatched(bool watched) {
    if (m_watched == watched) return;
    m_watched = watched;
    if (watched) refresh();
}

void StudyController::setMeasure(const core::StudyMeasure& measure) {
    m_measure = measure;
    if (!m_reading || m_reading->measure == measure) return;
    const auto work = [info = m_reading->info, measure](std::stop_token) {
        return sumUpStudy(info, measure);
    };
    m_disk.post(this, work,
                [this, request = m_request](std::shared_ptr<const StudyReading> reading) {
                    if (request != m_request || reading->measure != m_measure) return;
                    m_reading = std::move(reading);
                    Q_EMIT changed();
                });
}

// Work
// ---------------------------------------------------------------------------------------------------

void StudyController::create(const QString& path, const StudyPlan& plan, int jobs) {
    const QString wanted = clean(path);
    const auto work = [file = wanted.toStdString(), plan](std::stop_token stop) {
        if (wire::farPathOf(file))
            wire::createFarStudy(file, core::planText(plan), wantedUntil(stop));
        else
            core::createStudy(file, plan);
        return true;
    };
    const auto done = [this, wanted, jobs](bool) {
        open(wanted);
        refreshList();
        if (const QString host = hostOf(wanted); !host.isEmpty()) Q_EMIT asked(host);
        if (jobs > 0) start(jobs);
    };
    queueOf(wanted).post(this, work, done,
                         [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

QString StudyController::workedOn(const QString& host) const {
    const auto found = std::find_if(m_works.begin(), m_works.end(),
                                    [&](const auto& work) { return hostOf(work.first) == host; });
    return found == m_works.end() ? QString() : found->first;
}

bool StudyController::ending(const QString& path) const {
    const auto found = m_works.find(path);
    return found != m_works.end() && found->second.ending;
}

int StudyController::jobs() const {
    const auto found = m_works.find(m_path);
    return found == m_works.end() ? 0 : found->second.jobs;
}

QString StudyController::awayReason() const {
    const QString host = hostOf(m_path);
    return isUsable(host)
               ? QString()
               : QStringLiteral("%1 is not connected, or has another version of Relascope")
                     .arg(host);
}

QString StudyController::disabledReason() const {
    if (m_path.isEmpty()) return QStringLiteral("Create or open a study first");
    const QString host = hostOf(m_path);
    if (works()) return QStringLiteral("The study is running");
    if (const QString other = workedOn(host); !other.isEmpty())
        return QStringLiteral("%1 is running; stop it first").arg(name(other));
    if (const QString away = awayReason(); !away.isEmpty()) return away;
    if (host.isEmpty() && !QFileInfo(program()).isExecutable())
        return QStringLiteral("%1 was not found; it is needed to run a study").arg(program());
    if (!m_reading) return QStringLiteral("Reading the study");
    if (m_reading->left <= 0.0)
        return m_reading->failed > 0
                   ? QStringLiteral(
                         "All runs are done or failed; Retry starts the failed runs again")
                   : QStringLiteral("All runs are done");
    return {};
}

void StudyController::start(int jobs, bool retry) {
    if (m_path.isEmpty() || works()) return;
    auto& work = m_works[m_path];
    work.jobs = std::clamp(jobs, 1, 256);
    const QString host = hostOf(m_path);
    wire::StudyStart start{m_path.toStdString(), work.jobs, retry,
                           host.isEmpty() ? program().toStdString() : std::string()};
    queueOf(m_path).post(
        this, [start](std::stop_token stop) { return wire::startStudy(start, wantedUntil(stop)); },
        [this, host, study = m_path](const std::optional<wire::ChildProcess>& process) {
            const auto found = m_works.find(study);
            if (found == m_works.end()) return;
            found->second.process = process;
            found->second.isKnown = process.has_value();
            found->second.since.start();
            // The mirror may still have the log of the last start.
            if (!process) found->second.position = QFileInfo(study + QStringLiteral("/log")).size();
            m_following.start();
            if (!host.isEmpty()) Q_EMIT asked(host);
        },
        [this, study = m_path](const QString& sentence) {
            m_works.erase(study);
            Q_EMIT failed(QStringLiteral("The study could not be started: %1").arg(sentence));
            Q_EMIT workChanged();
            if (m_works.empty()) Q_EMIT finished();
        });
    Q_EMIT workChanged();
    m_timer.start(kActivePollMs);
}

/// Follows a study that another window or machine works on.
void StudyController::attach(const QString& path) {
    if (works(path)) return;
    auto& work = m_works[path];
    work.isKnown = true;
    work.position = QFileInfo(path + QStringLiteral("/log")).size();  // earlier output is skipped
    m_following.start();
    Q_EMIT workChanged();
    schedule(0);
}

void StudyController::stop(const QString& path) {
    const auto found = m_works.find(path);
    if (found == m_works.end() || std::exchange(found->second.ending, true)) return;
    // Queued after the start of the study, which may not have been carried out yet.
    queueOf(path).post(
        this,
        [study = path.toStdString()](std::stop_token token) {
            wire::stopStudy(study, wantedUntil(token));
            return true;
        },
        [this, path](bool) {
            if (const QString host = hostOf(path); !host.isEmpty()) Q_EMIT asked(host);
        },
        [this, path](const QString& sentence) {
            if (const auto work = m_works.find(path); work != m_works.end())
                work->second.ending = false;
            Q_EMIT failed(QStringLiteral("The study could not be stopped: %1").arg(sentence));
            Q_EMIT workChanged();
        });
    Q_EMIT workChanged();
}

void StudyController::stopHere() {
    if (const QString here = workedOn(); !here.isEmpty()) stop(here);
}

void StudyController::follow() {
    if (m_works.empty()) return m_following.stop();
    if (m_disk.busy()) return;
    struct News {
        QString study;
        qint64 position = 0;
        bool works = false;
        QByteArray lines;
    };
    std::vector<News> asked;
    for (const auto& [study, work] : m_works)
        if (work.isKnown || work.since.isValid()) asked.push_back({study, work.position});
    m_disk.post(
        this,
        [all = std::move(asked)](std::stop_token) mutable {
            for (auto& news : all) {
                news.works = wire::isWorkedOn(news.study.toStdString());
                QFile log(news.study + QStringLiteral("/log"));
                if (!log.open(QIODevice::ReadOnly)) continue;
                if (log.size() < news.position) news.position = 0;  // the study was begun again
                if (log.seek(news.position)) news.lines = log.readAll();
            }
            return std::move(all);
        },
        [this](const std::vector<News>& all) {
            for (const auto& news : all) {
                const auto found = m_works.find(news.study);
                if (found == m_works.end()) continue;
                found->second.position = news.position + news.lines.size();
                takeLines(found->second, news.lines);
                found->second.isKnown |= news.works;
                const bool late =
                    found->second.since.isValid() && found->second.since.elapsed() > kBeginsMs;
                if (!news.works && (found->second.isKnown || late)) ended(news.study);
            }
        },
        [](const QString&) {});
}

void StudyController::takeLines(Work& work, const QByteArray& lines) {
    work.lines += lines;
    qsizetype end = 0;
    while ((end = work.lines.indexOf('\n')) >= 0) {
        const QString line = QString::fromUtf8(work.lines.left(end)).trimmed();
        work.lines.remove(0, end + 1);
        if (line.isEmpty()) continue;
        work.said << line;
        if (work.said.size() > 40) work.said.removeFirst();
        if (line.startsWith(QLatin1String("done: ")))
            Q_EMIT ran(line.mid(6).simplified());
        else if (line.startsWith(QLatin1String("failed: ")))
            Q_EMIT warned(line.mid(8));
    }
}

void StudyController::ended(const QString& path) {
    const auto node = m_works.extract(path);
    const Work& work = node.mapped();
    // If another window has started the process, only its last output is known.
    const auto status =
        work.process ? work.process->status(std::chrono::milliseconds(500)) : std::nullopt;
    QString reason;
    for (const auto& line : work.said)
        if (line.startsWith(QLatin1String("relascope-cli: "))) reason = line.mid(15);
    if (work.ending) {
        // The last output says only that the study was stopped.
    } else if (status && WIFSIGNALED(*status)) {
        Q_EMIT failed(
            QStringLiteral("The study %1 was terminated by signal %2; press Resume to continue")
                .arg(name(path))
                .arg(WTERMSIG(*status)));
    } else if (status ? WEXITSTATUS(*status) != 0 : !reason.isEmpty()) {
        if (reason.isEmpty())
            reason = work.said.isEmpty() ? QStringLiteral("exit code %1").arg(WEXITSTATUS(*status))
                                         : work.said.last();
        Q_EMIT failed(QStringLiteral("The study %1 ended: %2").arg(name(path), reason));
    }
    refresh();
    Q_EMIT workChanged();
    if (m_works.empty()) Q_EMIT finished();
}

}  // namespace relascope::app
