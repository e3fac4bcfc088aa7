// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <thread>

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>

#include "app/controllers/study_controller.h"
#include "files/atomic_file.h"
#include "files/file_lock.h"
#include "options/metrics.h"
#include "run/run_list.h"
#include "run/run_process.h"
#include "study/study.h"
#include "wire/start_run.h"

namespace relascope::app {
namespace {

/// The value of each run, by the same code that summarizes the study.
double valueOf(const StudyPlan& plan, const StudyCell& cell, const core::StudyMeasure& measure) {
    if (cell.state != CellState::Done) return std::nan("");
    StudyInfo alone;
    alone.plan = plan;
    StudyCell light;
    light.model = cell.model;
    light.size = cell.size;
    light.values = cell.values;
    light.state = cell.state;
    light.info.metric = cell.info.metric;
    light.info.bestLoss = cell.info.bestLoss;
    light.info.bestAccuracy = cell.info.bestAccuracy;
    light.info.bestMetric = cell.info.bestMetric;
    light.info.results = cell.info.results;
    alone.cells.push_back(std::move(light));
    const auto points = core::studyPoints(alone, measure);
    return points.empty() ? std::nan("") : points.front().mean;
}

double shareDone(const RunInfo& info) {
    if (info.totalSteps <= 0) return 0.0;
    return std::clamp(static_cast<double>(info.step) / static_cast<double>(info.totalSteps), 0.0,
                      1.0);
}

void count(StudyReading& reading) {
    double seconds = 0.0;
    for (const auto& cell : reading.info->cells) {
        switch (cell.state) {
            case CellState::Done:
                ++reading.done;
                seconds += cell.info.seconds;
                break;
            case CellState::Running:
                ++reading.running;
                reading.left += 1.0 - shareDone(cell.info);
                break;
            case CellState::Failed:
                ++reading.failed;
                if (reading.firstFailure.isEmpty())
                    reading.firstFailure = QString::fromStdString(
                        cell.message.empty() ? cell.name : cell.name + ": " + cell.message);
                break;
            case CellState::Interrupted:
                ++reading.interrupted;
                reading.left += 1.0 - shareDone(cell.info);
                break;
            case CellState::Waiting:
                ++reading.waiting;
                reading.left += 1.0;
                break;
        }
    }
    if (reading.done > 0) reading.secondsARun = seconds / static_cast<double>(reading.done);
}

}  // namespace

widgets::StudyMetric studyMetric(const core::StudyMeasure& measure) {
    widgets::StudyMetric metric;
    metric.name = QString::fromStdString(measure.metric);
    metric.split = QString::fromStdString(measure.split);
    metric.percent = metricInfo(measure.metric).isFraction();
    metric.lowerIsBetter = lowerIsBetter(measure.metric);
    return metric;
}

bool StudyReading::looksLike(const StudyReading& other) const {
    return info->path == other.info->path && info->plan == other.info->plan &&
           measures == other.measures && measure == other.measure && runs == other.runs;
}

std::shared_ptr<const StudyReading> sumUpStudy(std::shared_ptr<const StudyInfo> info,
                                               const std::optional<core::StudyMeasure>& wanted) {
    auto reading = std::make_shared<StudyReading>();
    reading->info = std::move(info);
    const StudyInfo& study = *reading->info;
    reading->measures = core::studyMeasures(study);
    if (!reading->measures.empty()) {
        const auto found =
            wanted ? std::find(reading->measures.begin(), reading->measures.end(), *wanted)
                   : reading->measures.begin();
        reading->measure = found == reading->measures.end() ? reading->measures.front() : *found;
        reading->metric = studyMetric(*reading->measure);
    }
    reading->layout = widgets::StudyLayout(study);
    count(*reading);
    for (const auto& cell : study.cells) {
        const auto place = reading->layout.place(
            widgets::studySeries(study.plan, cell.model, cell.values), cell.size);
        widgets::GridRun run;
        run.row = place.row;
        run.column = place.column;
        run.name = QString::fromStdString(cell.name);
        run.path = QString::fromStdString(cell.info.path);
        run.seed = cell.seed;
        run.state = cell.state;
        run.progress = shareDone(cell.info);
        if (reading->measure) run.value = valueOf(study.plan, cell, *reading->measure);
        run.seconds = cell.info.seconds;
        run.message = QString::fromStdString(cell.message);
        run.device = QString::fromStdString(cell.info.device);
        reading->runs.push_back(std::move(run));
    }
    if (!reading->measure) return reading;
    reading->points = core::studyPoints(study, *reading->measure);
    reading->published = core::publishedCurves(study.plan, *reading->measure);
    for (auto& point : core::referenceCurves(study.plan, *reading->measure))
        reading->published.push_back(std::move(point));
    reading->csv = QString::fromStdString(core::studyCsv(study, *reading->measure));
    reading->latex = QString::fromStdString(core::studyLatex(study, *reading->measure));
    // The examples needed to reach a level are defined for fractions over several sizes.
    const auto& columns = reading->layout.columns();
    if (!reading->metric.percent || reading->metric.lowerIsBetter || columns.size() < 2 ||
        !reading->layout.sizesAcross())
        return reading;
    reading->needed.levels = {0.8, 0.9, 0.95};
    for (const auto& row : reading->layout.rows()) {
        std::vector<double> sizes;
        for (const double level : reading->needed.levels)
            sizes.push_back(core::sizeToReach(reading->points, row.name.toStdString(), level));
        reading->needed.sizes.push_back(std::move(sizes));
    }
    return reading;
}

namespace {

constexpr qint64 kActivePollMs = 1000, kIdlePollMs = 5000;  ///< ms between two readings
constexpr int kFollowMs = 200;
constexpr std::chrono::seconds kSaving(60);  ///< a process may take to save

std::string workerFile(const QString& study) {
    return study.toStdString() + "/.worker";
}

/// What the processes of a study have written since, and whether they still work.
struct Followed {
    bool works = false;
    qint64 pid = 0;
    QByteArray lines;
};

Followed readWork(const QString& study, qint64 position) {
    Followed followed;
    const std::string file = workerFile(study);
    followed.works = core::FileLock::isHeld(file);
    try {
        const auto process = core::processFromLine(core::readTextFile(file, 64 << 10));
        if (process && process->machine == core::thisProcess().machine) followed.pid = process->pid;
    } catch (const Error&) {  // it is being written
    }
    QFile log(study + QStringLiteral("/log"));
    if (position >= 0 && log.open(QIODevice::ReadOnly) && log.seek(position))
        followed.lines = log.readAll();
    return followed;
}

/// Starts the command line program with the study's lock.
wire::ChildProcess beginWork(const QString& study, const QStringList& arguments) {
    const std::string file = workerFile(study), log = study.toStdString() + "/log";
    core::FileLock lock(file);
    if (!lock.held())
        throw FileError(study.toStdString(), "is run by another window; stop it there");
    const wire::Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const wire::Descriptor words(
        ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
    if (!words) core::throwWriteError(log, "cannot be made", errno);
    std::vector<std::string> all = {StudyController::program().toStdString()};
    for (const auto& argument : arguments) all.push_back(argument.toStdString());
    wire::ChildProcess process(all, {{nothing.get(), 0},
                                     {nothing.get(), 1},
                                     {words.get(), 2},
                                     {lock.descriptor(), wire::kInheritedLock}});
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(process.id()), 4);  // the window answers first
    auto worker = core::thisProcess();
    worker.pid = process.id();
    lock.write(core::processLine(worker));
    return process;
}

QString clean(const QString& path) {
    return QDir::cleanPath(QDir(path).absolutePath());
}

int threadsEach(int jobs) {
    // One core is left to the window.
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    return std::max(1, (cores - 1) / std::max(1, jobs));
}

}  // namespace

StudyController::StudyController(QObject* parent) : QObject(parent) {
    const QString named = qEnvironmentVariable("RELASCOPE_STUDIES");
    // Next to the runs, so that RELASCOPE_RUNS moves the studies, too.
    const QString runs = QString::fromStdString(core::defaultRunsFolder());
    m_folder = clean(named.isEmpty() ? QFileInfo(runs).absolutePath() + QStringLiteral("/studies")
                                     : named);
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &StudyController::refresh);
    m_following.setInterval(kFollowMs);
    connect(&m_following, &QTimer::timeout, this, &StudyController::follow);
}

StudyController::~StudyController() {
    if (!m_endsWithWindow || !m_process) return;
    ::kill(static_cast<pid_t>(m_pid), SIGTERM);
    m_process->status(kSaving);
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
        if (!m_listed.contains(path)) all << path;
    return all + m_listed;
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
        QStringList studies, opened;
        QString working;  ///< one that processes work on
    };
    const auto work = [folder = m_folder, opened = m_opened](std::stop_token) {
        Listed found;
        for (const auto& path : core::listStudies(folder.toStdString()))
            found.studies << clean(QString::fromStdString(path));
        for (const auto& path : opened)
            if (core::isStudyFolder(path.toStdString())) found.opened << path;
        for (const auto& path : found.studies + found.opened)
            if (found.working.isEmpty() && core::FileLock::isHeld(workerFile(path)))
                found.working = path;
        return found;
    };
    m_disk.post(
        this, work,
        [this, folder = m_folder](const Listed& found) {
            if (folder != m_folder) return;
            if (!found.working.isEmpty()) attach(found.working);
            const QStringList before = studies();
            m_listed = found.studies;
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
    const bool elsewhere = !wanted.isEmpty() && !m_listed.contains(wanted);
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
        m_opened.removeAll(m_path);
        m_listed.removeAll(m_path);
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
    const bool here = working() && m_worked == m_path;
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
    const auto work = [file = wanted.toStdString(), plan](std::stop_token) {
        core::createStudy(file, plan);
        return true;
    };
    const auto done = [this, wanted, jobs](bool) {
        open(wanted);
        refreshList();
        if (jobs > 0) start(jobs);
    };
    m_disk.post(this, work, done, [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

QString StudyController::disabledReason() const {
    if (m_path.isEmpty()) return QStringLiteral("Create or open a study first");
    if (working())
        return m_worked == m_path
                   ? QStringLiteral("The study is running")
                   : QStringLiteral("%1 is running; stop it first").arg(name(m_worked));
    if (!QFileInfo(program()).isExecutable())
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
    if (m_path.isEmpty() || working()) return;
    m_jobs = std::clamp(jobs, 1, 256);
    m_worked = m_path;
    m_ending = false;
    m_process.reset();
    m_pid = m_position = 0;
    m_lines.clear();
    m_said.clear();
    QStringList arguments{QStringLiteral("study"),
                          QStringLiteral("--out"),
                          m_path,
                          QStringLiteral("--jobs"),
                          QString::number(m_jobs),
                          QStringLiteral("--threads"),
                          QString::number(threadsEach(m_jobs)),
                          QStringLiteral("--quiet")};
    if (retry) arguments << QStringLiteral("--retry");
    m_disk.post(
        this, [study = m_path, arguments](std::stop_token) { return beginWork(study, arguments); },
        [this](const wire::ChildProcess& process) {
            m_process = process;
            m_pid = process.id();
            m_following.start();
            if (m_ending) ::kill(static_cast<pid_t>(m_pid), SIGTERM);
        },
        [this](const QString& sentence) {
            m_worked.clear();
            Q_EMIT failed(QStringLiteral("The study could not be started: %1").arg(sentence));
            Q_EMIT workChanged();
            Q_EMIT finished();
        });
    Q_EMIT workChanged();
    m_timer.start(kActivePollMs);
}

/// Follows a study that another window has started.
void StudyController::attach(const QString& path) {
    if (working()) return;
    m_worked = path;
    m_ending = false;
    m_process.reset();
    m_pid = 0;
    m_position = QFileInfo(path + QStringLiteral("/log")).size();  // what it said before is known
    m_lines.clear();
    m_said.clear();
    m_following.start();
    Q_EMIT workChanged();
    schedule(0);
}

void StudyController::stop() {
    if (!working() || std::exchange(m_ending, true)) return;
    if (m_pid > 1) ::kill(static_cast<pid_t>(m_pid), SIGTERM);
    Q_EMIT workChanged();
}

void StudyController::follow() {
    if (!working() || m_disk.busy()) return;
    m_disk.post(
        this,
        [study = m_worked, position = m_position](std::stop_token) {
            return std::pair(study, readWork(study, position));
        },
        [this](const std::pair<QString, Followed>& read) {
            const auto& [study, followed] = read;
            if (study != m_worked) return;
            if (!m_process && followed.pid > 1 && std::exchange(m_pid, followed.pid) == 0 &&
                m_ending)
                ::kill(static_cast<pid_t>(m_pid), SIGTERM);  // asked before it was known
            takeLines(followed.lines);
            if (!followed.works) ended();
        },
        [](const QString&) {});
}

void StudyController::takeLines(const QByteArray& lines) {
    m_position += lines.size();
    m_lines += lines;
    qsizetype end = 0;
    while ((end = m_lines.indexOf('\n')) >= 0) {
        const QString line = QString::fromUtf8(m_lines.left(end)).trimmed();
        m_lines.remove(0, end + 1);
        if (line.isEmpty()) continue;
        m_said << line;
        if (m_said.size() > 40) m_said.removeFirst();
        if (line.startsWith(QLatin1String("done: ")))
            Q_EMIT ran(line.mid(6).simplified());
        else if (line.startsWith(QLatin1String("failed: ")))
            Q_EMIT warned(line.mid(8));
    }
}

void StudyController::ended() {
    m_following.stop();
    const QString studied = std::exchange(m_worked, QString());
    const bool asked = std::exchange(m_ending, false);
    // Of a process that another window has started only its last words are known.
    const auto status =
        m_process ? m_process->status(std::chrono::milliseconds(500)) : std::nullopt;
    QString reason;
    for (const auto& line : m_said)
        if (line.startsWith(QLatin1String("relascope-cli: "))) reason = line.mid(15);
    if (asked) {
        // What it says is that it was stopped.
    } else if (status && WIFSIGNALED(*status)) {
        Q_EMIT failed(
            QStringLiteral("The study %1 was terminated by signal %2; press Resume to continue")
                .arg(name(studied))
                .arg(WTERMSIG(*status)));
    } else if (status ? WEXITSTATUS(*status) != 0 : !reason.isEmpty()) {
        if (reason.isEmpty())
            reason = m_said.isEmpty() ? QStringLiteral("exit code %1").arg(WEXITSTATUS(*status))
                                      : m_said.last();
        Q_EMIT failed(QStringLiteral("The study %1 ended: %2").arg(name(studied), reason));
    }
    m_process.reset();
    m_pid = 0;
    refresh();
    Q_EMIT workChanged();
    Q_EMIT finished();
}

}  // namespace relascope::app
