// SPDX-License-Identifier: GPL-3.0-or-later
// Below the tensors: configuration, outline, the values of one tensor, the last evaluation.
#pragma once

#include <QWidget>

#include "train/open_model.h"
#include "types/checkpoint_info.h"

class QStackedWidget;

namespace relascope {

class ConfigView;
class HistogramView;
class OutlineView;
class PanelHead;
class SegmentedControl;
class StatisticsView;

class CheckpointDetails : public QWidget {
    Q_OBJECT
public:
    enum Tab { Configuration, Outline, Values, Evaluated };

    explicit CheckpointDetails(QWidget* parent = nullptr);

    void setCheckpoint(const CheckpointInfo& info);
    void showTab(Tab tab);
    /// Shows the tab with the results; `language`: of texts instead of images.
    void setEvaluation(const Evaluation& evaluation, const QString& data, bool language);
    /// "loss 0.123, accuracy 98.0 %"
    static QString evaluationText(const Evaluation& evaluation, bool language);

    HistogramView* histogram() const { return m_histogram; }
    OutlineView* outline() const { return m_outline; }
    ConfigView* config() const { return m_config; }
    StatisticsView* evaluation() const { return m_evaluation; }
    SegmentedControl* tabs() const { return m_tabs; }

private:
    void makeMenus();

    PanelHead* m_head;
    SegmentedControl* m_tabs;
    QStackedWidget* m_views;
    ConfigView* m_config;
    OutlineView* m_outline;
    HistogramView* m_histogram;
    StatisticsView* m_evaluation;
};

}  // namespace relascope
