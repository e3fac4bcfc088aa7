// SPDX-License-Identifier: GPL-3.0-or-later
// The logit lens and attribution in the window Measure; computed at once when they are seen.
#pragma once

#include <QWidget>

#include "app/controllers/measure_controller.h"

namespace relascope::widgets {
class AttributionView;
class LensView;
}  // namespace relascope::widgets

namespace relascope::app {

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
