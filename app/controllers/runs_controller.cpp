#include "app/controllers/runs_controller.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <cmath>

#include "app/controllers/job_queue.h"
#include "options/metrics.h"
#include "options/presets.h"
#include "options/published.h"
#include "run/captures.h"
#include "run/kept_checkpoints.h"
#include "run/run_folder.h"
#include "train/branch.h"

namespace relascope {
namespace {

QString parentOf(const QString& path) {
    return QFileInfo(path).path();
}

/// Seeds of one job: runs inside a folder of their own, or (from the command line) side by side
/// with all options but the seed alike.
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

CurveMark markOf(const Note& note, bool kept) {
    return {static_cast<double>(note.step), QString::fromStdString(note.text), true, kept};
}

}  // namespace

RunsController::RunsController(JobQueue& jobs, QObject* parent) : QObject(parent), m_jobs(jobs) {
    m_folder = QDir::cleanPath(QString::fromStdString(defaultRunsFolder()));
    m_announce.setSingleShot(true);
    m_announce.setInterval(200);
    connect(&m_announce, &QTimer::timeout, this, &RunsController::rowsChanged);
}

void RunsController::setFolder(const QString& folder) {
    m_folder = QDir::cleanPath(folder);
    m_infos.clear();
    m_opened.clear();
    rebuildRows();
    refresh();
}

void RunsController::refresh() {
    // One listing at a time; what is asked meanwhile is done once more behind it.
    if (std::exchange(m_listing, true)) {
        m_again = true;
        return;
    }
    const auto work = [folder = m_folder.toStdString(), opened = m_opened](std::stop_token) {
        auto runs = listRuns(folder);
        for (const auto& path : opened) {
            try {
                runs.push_back(readRunInfo(path.toStdString()));
            } catch (const Error&) {
                // Moved or deleted since it was opened: it leaves the list.
            }
        }
        return runs;
    };
    const auto done = [this, folder = m_folder, opened = m_opened](std::vector<RunInfo> runs) {
        m_listing = false;
        // What was opened, or chosen, since then is not in this listing.
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
    for (auto& run : runs) {
        if (mine && run.path == mine->path) {
            const RunLabels labels = std::move(run.labels);
            run = *mine, found = true;
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
        const QString path = QString::fromStdString(it->path), together = groupOf(*it, m_folder);
        const QString key = together.isEmpty() ? path : together;
        if (!m_colors.contains(key)) m_colors.insert(key, static_cast<int>(m_colors.size()));
        if (!m_colors.contains(path)) m_colors.insert(path, m_colors.value(key));
    }
    rebuildRows();
    m_announce.stop();
    Q_EMIT rowsChanged();
    // What another process trains grows on the disk.
    QStringList growing;
    for (const auto& run : m_infos) {
        const QString path = QString::fromStdString(run.path);
        const auto known = m_records.find(path);
        if (path == m_live || known == m_records.end() || !known->second.loaded) continue;
        const bool behind =
            !known->second.points.empty() && known->second.points.back().step < run.step;
        if (run.state != RunState::Running && !behind) continue;
        known->second.loaded = false;
        growing << path;
    }
    if (!growing.isEmpty()) load(growing);
}

void RunsController::rebuildRows() {
    m_rows.clear();
    for (const auto& info : m_infos) {
        if (info.labels.hidden && !m_showHidden && info.path != m_live.toStdString()) continue;
        RunRow row{info, colorIndex(QString::fromStdString(info.path))};
        row.info.name = info.labels.name.empty()
                            ? folderName(QString::fromStdString(info.path)).toStdString()
                            : info.labels.name;
        m_rows.push_back(std::move(row));
    }
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

int RunsController::colorIndex(const QString& path) const {
    return m_colors.value(path, 0);
}

QString RunsController::group(const QString& path) const {
    const RunInfo* found = info(path);
    return found ? groupOf(*found, m_folder) : QString();
}

QString RunsController::name(const QString& path) const {
    const auto given = labels(path).name;
    return given.empty() ? folderName(path) : QString::fromStdString(given);
}

QString RunsController::folderName(const QString& path) const {
    const QString own = QFileInfo(path).fileName(), parent = parentOf(path);
    if (parent == m_folder || parentOf(parent) != m_folder) return own;
    return QFileInfo(parent).fileName() + QStringLiteral(" · ") + QString(own).replace(u'-', u' ');
}

std::vector<CurveRun> RunsController::curveRuns(const QStringList& paths,
                                                const QString& highlighted) const {
    QHash<QString, int> members;
    for (const auto& path : paths) ++members[group(path)];
    std::vector<CurveRun> runs;
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

const std::vector<MetricPoint>& RunsController::points(const QString& path) const {
    static const std::vector<MetricPoint> none;
    const auto found = m_records.find(path);
    return found == m_records.end() ? none : found->second.points;
}
const std::vector<CurveMark>& RunsController::marks(const QString& path) const {
    static const std::vector<CurveMark> none;
    const auto found = m_records.find(path);
    return found == m_records.end() ? none : found->second.marks;
}
const std::vector<qint64>& RunsController::captures(const QString& path) const {
    static const std::vector<qint64> none;
    const auto found = m_records.find(path);
    return found == m_records.end() ? none : found->second.captures;
}
const std::map<qint64, QString>& RunsController::samples(const QString& path) const {
    static const std::map<qint64, QString> none;
    const auto found = m_records.find(path);
    return found == m_records.end() ? none : found->second.samples;
}
std::vector<PublishedValue> RunsController::published(const QString& path) const {
    const auto found = m_records.find(path);
    if (found == m_records.end()) return {};
    auto values = found->second.published;
    for (auto& value : values) value.colorIndex = colorIndex(path);
    return values;
}

namespace {

// The curve is of the validation set. Of Relational Games that is made of the training family's
// figures; where the papers printed one split only, that one stands beside it.
std::vector<PublishedValue> publishedBeside(const RunOptions& options) {
    std::vector<PublishedValue> values;
    const auto all = publishedResults(options);
    for (const auto& result : all)
        if (result.split == options.data.family || all.size() == 1)
            values.push_back(
                {all.size() == 1 && result.split != options.data.family
                     ? QStringLiteral("published (%1)").arg(QString::fromStdString(result.split))
                     : QStringLiteral("published"),
                 result.accuracy, 0});
    return values;
}

}  // namespace

RunsController::Record RunsController::readRecord(const std::string& path) {
    Record record;
    record.points = readMetrics(path);
    for (const auto& note : readEvents(path)) {
        if (note.level == Note::Level::Edit)
            record.marks.push_back(markOf(note, hasKeptCheckpoint(path, note.step)));
        // Of a step that was reached twice the last one counts.
        if (note.level == Note::Level::Sample)
            record.samples[note.step] = QString::fromStdString(note.text);
    }
    for (const auto step : captureSteps(path + "/captures")) record.captures.push_back(step);
    try {
        record.published = publishedBeside(readRunOptions(path));
    } catch (const Error&) {
        // A preset of another version: there is nothing to put beside it.
    }
    return record;
}

void RunsController::load(const QStringList& paths) {
    for (const auto& path : paths) {
        Record& record = m_records[path];
        if (record.loaded || record.loading) continue;
        record.loading = true;
        const auto done = [this, path](Record read) {
            Record& mine = m_records[path];
            // A run that began meanwhile, or goes on after a stop: points that arrived stand behind
            // those read.
            if (path == m_live && !mine.points.empty()) {
                const auto first = mine.points.front().step;
                std::erase_if(read.points, [first](const auto& p) { return p.step >= first; });
                read.points.insert(read.points.end(), mine.points.begin(), mine.points.end());
            }
            for (const auto& [step, text] : mine.samples) read.samples[step] = text;
            mine = std::move(read);
            mine.loaded = true;
            Q_EMIT loaded(path);
        };
        m_jobs.post(
            this, [file = path.toStdString()](std::stop_token) { return readRecord(file); }, done,
            [this, path](const QString& sentence) {
                m_records[path].loading = false;
                Q_EMIT failed(sentence);
            });
    }
}

bool RunsController::open(const QString& path, QString* error) {
    const QString clean = QDir::cleanPath(path);
    try {
        RunInfo read = readRunInfo(clean.toStdString());
        m_removed.erase(clean);
        if (read.labels.hidden) setShowHidden(true);
        if (info(clean)) return true;
        if (!m_opened.contains(clean)) m_opened += clean;
        m_infos.insert(m_infos.begin(), std::move(read));
        take(std::move(m_infos));
        return true;
    } catch (const std::exception& problem) {
        if (error) *error = QString::fromStdString(userMessage(problem));
        return false;
    }
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
            return writeRunLabels(file, labels), true;
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
            moves.push_back({path, QString::fromStdString(
                                       trashPath(m_folder.toStdString(), path.toStdString()))});
    move(moves);
    return moves;
}

void RunsController::move(const std::vector<Moved>& moves) {
    for (const auto& move : moves) {
        m_removed.insert(move.from);
        m_removed.erase(move.to);
        m_records.erase(move.from);
    }
    take(std::move(m_infos));
    m_jobs.post(
        this,
        [moves](std::stop_token) {
            QStringList done, problems;
            for (const auto& move : moves) try {
                    moveRun(move.from.toStdString(), move.to.toStdString());
                    done << move.to;
                } catch (const Error& error) {
                    problems << QString::fromStdString(error.what());
                }
            return std::pair(done, problems);
        },
        [this, moves](const std::pair<QStringList, QStringList>& result) {
            for (const auto& move : moves) m_removed.erase(move.from);
            for (const auto& sentence : result.second) Q_EMIT failed(sentence);
            refresh();
            Q_EMIT runsMoved(result.first);
        });
}

void RunsController::branch(const QString& path, qint64 step) {
    m_jobs.post(
        this,
        [from = path.toStdString(), step, folder = m_folder.toStdString()](std::stop_token) {
            const RunInfo info = readRunInfo(from);
            const std::string to = freshRunPath(folder, readRunOptions(from), info.seed);
            branchRun(from, step, to);
            return readRunInfo(to);
        },
        [this](RunInfo made) {
            const QString path = QString::fromStdString(made.path);
            m_infos.insert(m_infos.begin(), std::move(made));
            take(std::move(m_infos));
            Q_EMIT branched(path);
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void RunsController::setLive(const QString& path, const RunOptions& options) {
    const QString before = std::exchange(m_live, path);
    if (path.isEmpty()) {
        // What the run wrote last is read with the next listing.
        if (!before.isEmpty()) refresh();
        return;
    }
    Record& record = m_records[path];
    record.published = publishedBeside(options);
    // A fresh run's points all arrive by event; one that goes on has the earlier ones on disk.
    const RunInfo* known = info(path);
    if (!known || known->step == 0)
        record.loaded = true;
    else if (!record.loaded)
        load({path});
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
    auto& known = m_records[m_live].points;
    // A run that went back to its checkpoint measures some steps again.
    if (!known.empty() && points.front().step < known.back().step)
        std::erase_if(known, [&](const auto& p) { return p.step > points.front().step; });
    known.insert(known.end(), points.begin(), points.end());
    for (auto& info : m_infos) {
        if (info.path != m_live.toStdString()) continue;
        for (const auto& point : points) {
            info.step = std::max(info.step, point.step);
            if (point.split != Split::Validation) continue;
            info.lastLoss = point.value("loss"), info.lastAccuracy = point.value("accuracy");
            if (!(info.bestLoss <= info.lastLoss)) info.bestLoss = info.lastLoss;
            if (!(info.bestAccuracy >= info.lastAccuracy)) info.bestAccuracy = info.lastAccuracy;
            const double shown = point.value(info.metric);
            const bool worse =
                lowerIsBetter(info.metric) ? info.bestMetric <= shown : info.bestMetric >= shown;
            if (!std::isnan(shown) && !worse) info.bestMetric = shown;
        }
    }
    rebuildRows();
    announce();
    Q_EMIT pointsAppended(m_live, points);
}

void RunsController::liveNote(const Note& note) {
    if (!m_live.isEmpty() && note.level == Note::Level::Sample) {
        m_records[m_live].samples[note.step] = QString::fromStdString(note.text);
        Q_EMIT samplesChanged(m_live);
    }
    if (m_live.isEmpty() || note.level != Note::Level::Edit) return;
    m_records[m_live].marks.push_back(markOf(note, true));  // the trainer keeps it first
    Q_EMIT marksChanged(m_live);
}

void RunsController::liveCapture(qint64 step) {
    if (m_live.isEmpty()) return;
    auto& steps = m_records[m_live].captures;
    if (!steps.empty() && steps.back() >= step) return;
    steps.push_back(step);
    Q_EMIT capturesChanged(m_live);
}

}  // namespace relascope
