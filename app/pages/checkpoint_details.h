// SPDX-License-Identifier: GPL-3.0-or-later
// The panel below the tensors: configuration, outline, the values of one tensor, the last
// evaluation.
#pragma once

#include <QWidget>

#include "train/open_model.h"
#include "types/checkpoint_info.h"

class QStackedWidget;

namespace relascope::widgets {
class ConfigView;
class HistogramView;
class OutlineView;
class PanelHead;
class SegmentedControl;
class StatisticsView;
}  // namespace relascope::widgets

namespace relascope::app {

class CheckpointDetails : public QWidget {
    Q_OBJECT
public:
    enum Tab { Configuration, Outline, Values, Evaluated };

    explicit CheckpointDetails(QWidget* parent = nullptr);

    void setCheckpoint(const CheckpointInfo& info);
    void showTab(Tab tab);
    /// Shows the tab with the results; `language`: the model was evaluated on text, not images.
    void setEvaluation(const core::Evaluation& evaluation, const QString& data, bool language);
    /// "loss 0.123, accuracy 98.0 %"
    static QString evaluationText(const core::Evaluation& evaluation, bool language);

    widgets::HistogramView* histogram() const { return m_histogram; }
    widgets::OutlineView* outline() const { return m_outline; }

private:
    void makeMenus();

    widgets::PanelHead* m_head;
    widgets::SegmentedControl* m_tabs;
    QStackedWidget* m_views;
    widgets::ConfigView* m_config;
    widgets::OutlineView* m_outline;
    widgets::HistogramView* m_histogram;
    widgets::StatisticsView* m_evaluation;
};

}  // namespace relascope::app
