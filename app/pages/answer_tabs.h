// SPDX-License-Identifier: GPL-3.0-or-later
// The logit lens, attribution and head measures in the window Measure; computed at once when they
// are seen.
#pragma once

#include <QTimer>
#include <QWidget>

#include "app/controllers/measure_controller.h"

class QPushButton;
class QSpinBox;

namespace relascope::widgets {
class AttributionView;
class HeadsView;
class LensView;
class AlongView;
}  // namespace relascope::widgets

namespace relascope::app {

// The chosen map and cell along training in the window Measure; computed when they are seen.

class JobStrip;

class AlongTab : public QWidget {
    Q_OBJECT
public:
    AlongTab(MeasureController& controller, QWidget* parent);

    /// After MeasureController::setSubject(), with SubjectChange::along.
    void subjectChanged(bool anew);
    /// The tab is seen: steps that are missing are computed.
    void activate();
    widgets::AlongView* view() const { return m_view; }
    JobStrip* strip() const { return m_strip; }
    /// Computes the rest after a Cancel.
    QPushButton* continueButton() const { return m_continue; }

Q_SIGNALS:
    void stepChosen(qint64 step);

private:
    void read();
    void showResult(AlongTraining along);
    void updateButton();

    MeasureController& m_c;
    QPushButton* m_continue;
    JobStrip* m_strip;
    widgets::AlongView* m_view;
    QTimer m_start;            ///< edits that are dragged change many times a second
    bool m_read = false;       ///< the subject was read, or is being read
    bool m_valid = false;      ///< what is shown is of the subject
    std::string m_checkpoint;  ///< of the subject; a run that trains keeps more steps with time
};

class LensTab : public QWidget {
    Q_OBJECT
public:
    LensTab(MeasureController& controller, QWidget* parent);

    void subjectChanged();
    void activate();
    widgets::LensView* view() const { return m_view; }

Q_SIGNALS:
    /// A column was chosen: its position in the input.
    void positionChosen(std::int64_t position);

private:
    MeasureController& m_c;
    widgets::LensView* m_view;
    bool m_read = false;
};

class HeadsTab : public QWidget {
    Q_OBJECT
public:
    HeadsTab(MeasureController& controller, QWidget* parent);

    void subjectChanged();
    void activate();
    widgets::HeadsView* view() const { return m_view; }
    QSpinBox* lengthBox() const { return m_length; }
    QSpinBox* seedBox() const { return m_seed; }

Q_SIGNALS:
    /// A head is to be shown in the inspector.
    void headChosen(relascope::MapKind kind, int layer, int index);

private:
    void read();

    MeasureController& m_c;
    QWidget* m_options;  ///< of the random text
    QSpinBox *m_length, *m_seed;
    widgets::HeadsView* m_view;
    QTimer m_start;  ///< a number that is typed changes with each key
    bool m_read = false;
};

class AttributionTab : public QWidget {
    Q_OBJECT
public:
    AttributionTab(MeasureController& controller, QWidget* parent);

    void subjectChanged();
    void activate();
    void setPosition(std::int64_t position);
    widgets::AttributionView* view() const { return m_view; }

private:
    void read();

    MeasureController& m_c;
    widgets::AttributionView* m_view;
    std::string m_path;  ///< of the weights that the chosen answers belong to
    bool m_read = false;
};

}  // namespace relascope::app
