// SPDX-License-Identifier: GPL-3.0-or-later
// The time cursor of the page Checkpoint.
#pragma once

#include <QWidget>

namespace relascope::widgets {
class CapturesTrack;
}  // namespace relascope::widgets

namespace relascope::app {

class CheckpointController;

/// The track of the steps whose weights the program of a served model has kept, with its buttons.
/// Hidden where there are none.
class ServedSteps : public QWidget {
    Q_OBJECT
public:
    explicit ServedSteps(CheckpointController& controller, QWidget* parent = nullptr);

    widgets::CapturesTrack* track() const { return m_track; }

private:
    void refresh();

    CheckpointController& m_c;
    widgets::CapturesTrack* m_track;
};

}  // namespace relascope::app
