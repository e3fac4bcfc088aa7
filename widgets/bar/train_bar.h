// SPDX-License-Identifier: GPL-3.0-or-later
// The bar at the top: the new run, start, pause, step, stop, cancel; progress; device.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

#include "types/run_info.h"
#include "types/train_event.h"

class QLabel;
class QMenu;
class QPushButton;

namespace relascope::widgets {

class Chip;
class DevicesChip;
class ToggleChip;
class TrainProgressLine;
struct DeviceChoice;

/// 48 px high. Numbers have fixed positions, so that updates do not move other text.
class TrainBar : public QWidget {
    Q_OBJECT
public:
    explicit TrainBar(QWidget* parent = nullptr);

    /// Whether the current run is ending.
    enum class Ending { No, AfterEpoch, Now };

    void setState(RunState state);  ///< Running and Paused show the job, all others are idle
    /// The run ends after the epoch: Stop becomes "Stop now" (cancelRequested), everything else is
    /// unchanged.
    void setEnding(Ending ending);
    void setProgress(const Progress& progress);
    /// Shows for how many seconds no message has come from the run, in place of its speed; 0 shows
    /// the speed.
    void setSilence(int seconds);
    /// A hint, or why Start is disabled.
    void setIdle(const QString& sentence, bool canStart);
    /// Whether Start resumes a stopped run.
    void setResumes(bool resumes);
    /// Shows preparation before the first step, which can be cancelled. `waits`: for a device in
    /// use, beside which Start begins at once (besideRequested).
    void setPreparing(const QString& sentence, bool waits = false);
    void setDevice(const QString& device);      ///< empty: no chip
    void setDeviceFacts(const QString& lines);  ///< tooltip of the chip
    /// Sets the devices that can be ticked for the next run, and those that are ticked; see
    /// DevicesChip.
    void setDeviceChoices(const std::vector<DeviceChoice>& choices, const QStringList& chosen);
    /// Sets the machines that can train the next run, and the chosen one; see DevicesChip.
    void setHosts(const QStringList& hosts, const QString& chosen);
    /// What Start begins, "Occurs, dat, 40 epochs", with its model as a tool tip; `ofRun`: Start
    /// resumes that run. Empty: nothing is chosen.
    void setNewRun(const QString& text, const QString& model, const QString& ofRun = {});
    /// Opens when the name of the new run is pressed.
    QMenu* newRunMenu() const;
    void setOptionsShown(bool shown);
    /// The warning chip, "1 edit"; empty: none. `off`: why what is shown is not edited.
    void setIntervention(const QString& text, const QString& off = {});

    QString lineText() const;
    QString newRunText() const;
    QString modelText() const;
    QString deviceText() const;
    QString deviceFacts() const;
    DevicesChip* deviceChip() const { return m_device; }
    QPushButton* startButton() const { return m_start; }
    QPushButton* stopButton() const { return m_stop; }
    QPushButton* cancelButton() const { return m_cancel; }
    QString interventionText() const;  ///< empty: no chip

Q_SIGNALS:
    void startRequested();
    void besideRequested();
    void pauseRequested();
    void resumeRequested();
    void stepRequested();
    void stopRequested();
    void cancelRequested();
    void interventionClicked();
    void optionsToggled(bool shown);
    void devicesChosen(const QStringList& names);
    void hostChosen(const QString& host);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void refresh();
    RunState m_state = RunState::Queued;
    Ending m_ending = Ending::No;
    bool m_canStart = false, m_resumes = false, m_preparing = false, m_waits = false;
    QPushButton *m_start, *m_step, *m_stop, *m_cancel;
    TrainProgressLine* m_line;
    DevicesChip* m_device;
    QMenu* m_newRunMenu;
    Chip *m_newRun, *m_intervention;
    QLabel* m_newRunLabel;
    ToggleChip* m_options;
    QString m_model;
    QString m_editsOff;  ///< why what is shown is not edited
};

/// The text and the 4 px progress bar of a job: "Step 1,600 of 2,450  epoch 32.7 of 50  6,210
/// examples/s".
class TrainProgressLine : public QWidget {
    Q_OBJECT
public:
    explicit TrainProgressLine(QWidget* parent = nullptr);
    void setProgress(const Progress& progress, bool paused);
    /// Updates the text for the same progress; the time left is hidden during and after a pause.
    void setPaused(bool paused);
    void setEnding(TrainBar::Ending ending);
    void setSilence(int seconds);
    void setSentence(const QString& sentence);
    QString text() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void speak();
    Progress m_progress;
    int m_silence = 0;  ///< s without a message from the run; 0: just heard of
    bool m_busy = false, m_paused = false;
    TrainBar::Ending m_ending = TrainBar::Ending::No;
    QString m_sentence;
};

/// Seconds to the end of the current epoch, or of the run if that is sooner; NaN while the speed is
/// unknown.
double epochSecondsLeft(const Progress& progress);

}  // namespace relascope::widgets
