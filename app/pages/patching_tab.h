// SPDX-License-Identifier: GPL-3.0-or-later
// Patching in the window Measure: the second input, the metric, and the maps.
#pragma once

#include <QWidget>
#include <optional>

#include "app/controllers/measure_controller.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace relascope::widgets {
class PatchMapView;
class ToggleChip;
}  // namespace relascope::widgets

namespace relascope::app {

class JobStrip;

class PatchingTab : public QWidget {
    Q_OBJECT
public:
    PatchingTab(MeasureController& controller, QWidget* parent);

    void subjectChanged();
    /// An input that was dropped or typed, in place of an example of a split.
    void setSecond(std::optional<ProbeSample> sample, const QString& name);
    PatchRequest request() const;

    widgets::PatchMapView* view() const { return m_view; }
    QPushButton* measureButton() const { return m_measure; }
    QSpinBox* exampleBox() const { return m_example; }
    JobStrip* strip() const { return m_strip; }

private:
    void describe();
    bool ready() const;
    QString caption() const;  ///< of a subject
    QString nameOfB() const;

    MeasureController& m_c;
    QLabel* m_clean;
    QComboBox* m_split;
    QSpinBox* m_example;
    QPushButton* m_other;  ///< the name of the input that was set; a click forgets it
    QLineEdit* m_metric;
    widgets::ToggleChip *m_estimate, *m_noising, *m_cells;
    QPushButton* m_measure;
    JobStrip* m_strip;
    widgets::PatchMapView* m_view;
    std::optional<ProbeSample> m_second;
    QString m_secondName;
    bool m_untouched = true;  ///< no example of a split was offered yet
};

}  // namespace relascope::app
