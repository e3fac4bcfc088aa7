// SPDX-License-Identifier: GPL-3.0-or-later
// The bar at the top: start, pause, step, stop, cancel; how far it is; device and model.
#pragma once

#include <QWidget>

#include "types/run_info.h"
#include "types/train_event.h"

class QPushButton;

namespace relascope::widgets {

class Chip;
class TrainProgressLine;

/// 48 px high. Figures have fixed places, so that nothing jumps twenty times a second.
class TrainBar : public QWidget {
    Q_OBJECT
public:
    explicit TrainBar(QWidget* parent = nullptr);

    /// Whether the run that trains was asked to end.
    enum class Ending { No, AfterEpoch, Now };

    void setState(RunState state);  ///< Running and Paused show the job, all others are idle
    /// After the epoch: Stop becomes "Stop now" (cancelRequested) and the rest stays as it is.
    void setEnding(Ending ending);
    void setProgress(const Progress& progress);
    /// What to do next, or why Start is off.
    void setIdle(const QString& sentence, bool canStart);
    /// Start resumes a stopped run instead of beginning one.
    void setResumes(bool resumes);
    /// Work before the first step, which Cancel can end.
    void setPreparing(const QString& sentence);
    void setDevice(const QString& device);       ///< empty: no chip
    void setModel(const QString& words);         ///< "ViDAT sa0 ra2 · 423,010 parameters"
    void setIntervention(const QString& words);  ///< warning chip; empty: none

    QString lineText() const;
    QString modelText() const;  ///< empty: no chip
    QPushButton* startButton() const { return m_start; }
    QPushButton* stepButton() const { return m_step; }
    QPushButton* stopButton() const { return m_stop; }
    QPushButton* cancelButton() const { return m_cancel; }

Q_SIGNALS:
    void startRequested();
    void pauseRequested();
    void resumeRequested();
    void stepRequested();
    void stopRequested();
    void cancelRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void refresh();
    RunState m_state = RunState::Queued;
    Ending m_ending = Ending::No;
    bool m_canStart = false, m_resumes = false, m_preparing = false;
    QPushButton *m_start, *m_step, *m_stop, *m_cancel;
    TrainProgressLine* m_line;
    Chip *m_device, *m_model, *m_intervention;
};

/// The words and the 4 px bar of a job: "Step 1,600 of 2,450  epoch 32.7 of 50  6,210 examples/s".
class TrainProgressLine : public QWidget {
    Q_OBJECT
public:
    explicit TrainProgressLine(QWidget* parent = nullptr);
    void setProgress(const Progress& progress, bool paused);
    /// Other words about the same progress; a time left from before a pause is not shown again.
    void setPaused(bool paused);
    void setEnding(TrainBar::Ending ending);
    void setSentence(const QString& sentence);
    QString text() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void speak();
    Progress m_progress;
    bool m_busy = false, m_paused = false;
    TrainBar::Ending m_ending = TrainBar::Ending::No;
    QString m_sentence;
};

/// Seconds to the end of the epoch that is under way, or of the run where that comes first; NaN
/// while the speed is not known.
double epochSecondsLeft(const Progress& progress);

}  // namespace relascope::widgets
