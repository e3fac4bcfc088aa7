// SPDX-License-Identifier: GPL-3.0-or-later
// The studies on disk, the one that is shown, and the processes that run one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QStringList>
#include <QTimer>

#include "app/controllers/job_queue.h"
#include "app/controllers/study_reading.h"
#include "wire/child_process.h"

namespace relascope::app {

/// The window reads the folder, and processes of the command line program do the work, so that a
/// study started from either can be continued by the other. Processes that the window starts
/// continue without it (wire/start_study.h), and the next window finds them. Studies on other
/// machines are read from their mirrors, and worked on there.
class StudyController : public QObject {
    Q_OBJECT
public:
    explicit StudyController(QObject* parent = nullptr);
    ~StudyController() override;
    /// For tests: the processes end with this object, once they have saved their state.
    void setEndsWithWindow(bool on) { m_endsWithWindow = on; }

    /// $RELASCOPE_STUDIES, else "studies" beside the folder of runs; tests may change it.
    const QString& folder() const { return m_folder; }
    void setFolder(const QString& folder);
    /// All studies: those opened from elsewhere, then those in the folder, newest first, then those
    /// of other machines.
    QStringList studies() const;
    /// Sets the mirrors of the study folders of other machines, by machine.
    void setMirrors(const std::map<QString, QString>& mirrors);
    const std::map<QString, QString>& mirrors() const { return m_mirrors; }
    /// Whether a machine can work on studies at present; replaced by the owner of the hosts.
    std::function<bool(const QString& host)> isUsable = [](const QString& host) {
        return host.isEmpty();
    };
    /// Called when the files of a mirror have changed: lists the studies again within a second.
    void look();
    const QStringList& opened() const { return m_opened; }
    void setOpened(const QStringList& paths);
    /// Removes a study opened from elsewhere from the list and shows another; its files are kept.
    void forget(const QString& path);
    static QString name(const QString& path);

    /// Shows a study: changed() is emitted when it has been read, or failed() with the reason
    /// unless `quiet`.
    void open(const QString& path, bool quiet = false);
    const QString& path() const { return m_path; }
    /// The study as last read; null before that, or without a study.
    const std::shared_ptr<const StudyReading>& reading() const { return m_reading; }
    void setMeasure(const core::StudyMeasure& measure);
    const std::optional<core::StudyMeasure>& wantedMeasure() const { return m_measure; }
    /// Whether the page is visible: the folder is then read periodically even if no process runs
    /// here.
    void setWatched(bool watched);

    /// Shows a folder if it is a study, otherwise reports that it is not.
    void openFolder(const QString& path);

    /// Creates the folder and shows it; with `jobs` above 0 the runs start immediately.
    void create(const QString& path, const StudyPlan& plan, int jobs);
    /// Runs the study shown with that number of processes; failed runs are repeated only with
    /// `retry`.
    void start(int jobs, bool retry = false);
    /// The current runs of the study shown save their state and end; the others stay pending.
    void stop() { stop(m_path); }
    /// Stops the studies that are run on this computer.
    void stopHere();
    /// Whether a process works on a study, and whether it has been asked to end.
    bool works(const QString& path) const { return m_works.contains(path); }
    bool ending(const QString& path) const;
    bool works() const { return works(m_path); }
    /// The study that is run on a machine, the empty name for this one; empty without one.
    QString workedOn(const QString& host = {}) const;
    /// The number of processes that run the study shown; 0 if unknown, as it was started elsewhere.
    int jobs() const;
    /// Why the study shown can be neither started nor stopped now: its machine is away.
    QString awayReason() const;
    /// Why Start is disabled; empty when it is enabled.
    QString disabledReason() const;
    /// The command line program next to this one, or $RELASCOPE_CLI.
    static QString program();

public Q_SLOTS:
    void refreshList();
    void refresh();  ///< reads the study shown again

Q_SIGNALS:
    void listChanged();
    void openedChanged();  ///< another study is shown
    void changed();        ///< a new reading
    void workChanged();
    void finished();                  ///< no process works on a study any more
    void asked(const QString& host);  ///< something was begun or ended on another machine
    void failed(const QString& sentence);
    void ran(const QString& sentence);     ///< a run is done
    void warned(const QString& sentence);  ///< a run failed

private:
    void take(std::shared_ptr<const StudyReading> reading, qint64 milliseconds);
    void schedule(qint64 lastMilliseconds);
    struct Work {
        std::optional<wire::ChildProcess> process;  ///< none: started elsewhere
        int jobs = 0;
        qint64 position = 0;  ///< number of bytes read of STUDY/log
        QByteArray lines;
        QStringList said;      ///< last output of the processes
        QElapsedTimer since;   ///< since this window started it
        bool isKnown = false;  ///< a process has been seen at work
        bool ending = false;
    };
    void attach(const QString& path);
    void stop(const QString& path);
    void follow();
    void takeLines(Work& work, const QByteArray& lines);
    void ended(const QString& path);
    JobQueue& queueOf(const QString& study);
    static QString hostOf(const QString& study);

    JobQueue m_disk;
    QString m_folder, m_path;
    QStringList m_listed, m_far, m_opened;
    std::map<QString, QString> m_mirrors;
    std::shared_ptr<const StudyReading> m_reading;
    std::optional<core::StudyMeasure> m_measure;
    quint64 m_request = 0;  ///< counts the studies shown, so that late readings are dropped
    quint64 m_choice = 0;   ///< counts the folders to open, likewise
    bool m_quiet = false, m_reads = false, m_again = false, m_watched = false;
    QTimer m_timer, m_following, m_listing;
    std::map<QString, Work> m_works;  ///< by study
    /// By machine, so that none waits for another.
    std::map<QString, std::unique_ptr<JobQueue>> m_asking;
    bool m_endsWithWindow = false;
};

}  // namespace relascope::app
