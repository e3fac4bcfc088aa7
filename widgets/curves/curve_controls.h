// SPDX-License-Identifier: GPL-3.0-or-later
// The head of the curves: title, axis, chips and the menu behind the ... button.
#pragma once

#include <utility>
#include <vector>

#include "widgets/curves/curve_types.h"
#include "widgets/theme/controls.h"

namespace relascope::widgets {

class CurveControls : public PanelHead {
    Q_OBJECT
public:
    explicit CurveControls(QWidget* parent);

    const CurveOptions& options() const { return m_options; }
    /// Does not signal.
    void display(const CurveOptions& options);
    /// The axis in use: Step if the selected one is not available.
    CurveAxis axis() const;
    /// Returns true if the available axes changed.
    bool offerTokens(bool tokens);
    /// What the second plot can show, and what it shows.
    void offerMetrics(const std::vector<CurveMetric>& metrics, CurveMetric shown);
    /// Toggles Published and Training, for the Compare page.
    void setCompareControls(bool shown);
    /// Views add their export actions to it.
    QMenu* menu() const { return m_menu; }
    QMenu* secondMetricMenu() const { return m_second; }

Q_SIGNALS:
    void changed(const CurveOptions& options);  ///< by the user
    void resetRequested();

private:
    template <class T>
    void set(T CurveOptions::*field, const T& value) {
        if (std::exchange(m_options.*field, value) != value) Q_EMIT changed(m_options);
    }
    ToggleChip* chip(const char* text, const char* tip, bool CurveOptions::*field);
    void fillMenu();

    CurveOptions m_options;
    SegmentedControl* m_axis;
    std::vector<CurveAxis> m_axes;  ///< as offered, left to right
    std::vector<std::pair<ToggleChip*, bool CurveOptions::*>> m_chips;
    ToggleChip *m_published, *m_training, *m_law;
    QMenu *m_menu, *m_second = nullptr;
    QAction* m_outliers = nullptr;
    QActionGroup *m_bands = nullptr, *m_factors = nullptr;
    std::vector<CurveMetric> m_metrics;  ///< as the menu offers them
};

}  // namespace relascope::widgets
