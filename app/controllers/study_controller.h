// SPDX-License-Identifier: GPL-3.0-or-later
// Studies: those on the disk, the one that is shown, and the processes that work on it.
#pragma once

#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QTimer>
#include <memory>
#include <optional>

#include "app/controllers/job_queue.h"
#include "app/controllers/study_reading.h"

namespace relascope::app {

/// The window reads the folder; the work is done by the command line's own processes, so that a
/// study goes on where it was whoever began it. They end with the window.
class StudyController : public QObject {
    Q_OBJECT
public:
    explicit StudyController(QObject* parent = nullptr);
    /// Stops the processes and waits until they have saved.
    ~StudyController() override;

    /// $RELASCOPE_STUDIES, else "studies" beside the folder of runs; tests may change it.
    const QString& folder() const { return m_folder; }
    void setFolder(const QString& folder);
    /// Those in the folder, newest first, behind those opened from elsewhere.
    QStringList studies() const;
    const QStringList& opened() const { return m_opened; }
    void setOpened(const QStringList& paths);
    /// Takes one that was opened from elsewhere off the list, and shows another; its files stay.
    void forget(const QString& path);
    static QString name(const QString& path);

    /// Shows that study; its reading comes with changed(), or failed() says why it does not, unless
    /// `quiet`.
    void open(const QString& path, bool quiet = false);
    const QString& path() const { return m_path; }
    /// The study as last read; null before, and where none is shown.
    const std::shared_ptr<const StudyReading>& reading() const { return m_reading; }
    void setMeasure(const core::StudyMeasure& measure);
    const std::optional<core::StudyMeasure>& wantedMeasure() const { return m_measure; }
    /// Somebody looks: the folder is read again from time to time even when nothing works here.
    void setWatched(bool watched);

    /// Shows a folder if it is a study, else says that it is none.
    void openFolder(const QString& path);

    /// Makes the folder and shows it; `jobs` above 0 begins the work at once.
    void create(const QString& path, const StudyPlan& plan, int jobs);
    /// Works on the study shown with so many processes; failed runs only where `retry` says so.
    void start(int jobs, bool retry = false);
    /// The present runs save their state and end; the rest waits.
    void stop();
    bool working() const { return m_process.state() != QProcess::NotRunning; }
    bool ending() const { return m_ending; }
    /// The study that is worked on; empty when none is.
    const QString& workedOn() const { return m_worked; }
    int jobs() const { return m_jobs; }
    /// Why Start is off; empty when it is not.
    QString obstacle() const;
    /// The command line beside this program; $RELASCOPE_CLI names another.
    static QString program();

public Q_SLOTS:
    void refreshList();
    void refresh();  ///< reads the study shown again

Q_SIGNALS:
    void listChanged();
    void openedChanged();  ///< another study is shown
    void changed();        ///< a new reading
    void workChanged();
    void finished();  ///< no process works any more
    void failed(const QString& sentence);
    void ran(const QString& sentence);     ///< a run is done
    void warned(const QString& sentence);  ///< a run failed

private:
    void take(std::shared_ptr<const StudyReading> reading, qint64 milliseconds);
    void schedule(qint64 lastMilliseconds);
    void readLines();
    void processEnded(int code, QProcess::ExitStatus status);

    JobQueue m_disk;
    QString m_folder, m_path, m_worked;
    QStringList m_listed, m_opened;
    std::shared_ptr<const StudyReading> m_reading;
    std::optional<core::StudyMeasure> m_measure;
    quint64 m_request = 0;  ///< counts the studies shown, so that late readings are dropped
    quint64 m_choice = 0;   ///< the same of folders that are looked at
    bool m_quiet = false, m_reads = false, m_again = false, m_watched = false, m_ending = false;
    QTimer m_timer;
    QProcess m_process;
    QByteArray m_lines;
    QStringList m_said;  ///< last words of the processes
    int m_jobs = 1;
    qint64 m_group = 0;
};

}  // namespace relascope::app
