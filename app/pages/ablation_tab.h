// SPDX-License-Identifier: GPL-3.0-or-later
// Ablation in the window Measure: what is taken out and how, and the table.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "app/controllers/measure_controller.h"

class QComboBox;
class QPushButton;
class QSpinBox;

namespace relascope::widgets {
class AblationView;
class ToggleChip;
}  // namespace relascope::widgets

namespace relascope::app {

class JobStrip;

class AblationTab : public QWidget {
    Q_OBJECT
public:
    AblationTab(MeasureController& controller, QWidget* parent);

    /// After MeasureController::setSubject().
    void subjectChanged();
    /// Other edits are in force: the table stays, with its caption.
    void editsChanged() { updateButtons(); }
    /// The tab is seen: the parts are counted and timed, if they were not.
    void activate();

    widgets::AblationView* view() const { return m_view; }
    QPushButton* measureButton() const { return m_measure; }
    QPushButton* knockOutButton() const { return m_knockOut; }
    JobStrip* strip() const { return m_strip; }
    AblationRequest request() const;

Q_SIGNALS:
    /// The chosen part is to be taken out in the inspector.
    void editRequested(const relascope::Edit& edit);

private:
    struct Choice {
        widgets::ToggleChip* chip;
        EditOp way = EditOp::Zero;
        const char* group = "";
    };
    QWidget* makeWays();
    QWidget* makeGroups();
    void optionsChanged();
    void ask();  ///< counts and times the parts of the chosen groups
    void describe();
    void updateButtons();

    MeasureController& m_c;
    QComboBox *m_split, *m_metric;
    QSpinBox* m_examples;
    std::vector<Choice> m_ways, m_groups;
    widgets::ToggleChip *m_cumulative, *m_pairs;
    QPushButton *m_measure, *m_knockOut;
    JobStrip* m_strip;
    widgets::AblationView* m_view;
    std::optional<AblationEstimate> m_estimate;
    std::vector<std::string> m_estimated;  ///< the groups that the estimate is about
    QString m_refusal;
    bool m_seen = false, m_measuring = false;
};

}  // namespace relascope::app
