// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of one tensor: a histogram with its extent, mean, deviation and what is not finite.
#pragma once

#include <QWidget>
#include <optional>

#include "types/checkpoint_info.h"

namespace relascope::widgets {

class PanelHead;
class ToggleChip;

class HistogramView : public QWidget {
    Q_OBJECT
public:
    explicit HistogramView(QWidget* parent = nullptr);

    /// `note` stands in place of the picture while there are no numbers: why, or that they are
    /// being read.
    void setTensor(const QString& name, const QString& note);
    void setStatistics(const TensorStatistics& statistics);
    void clear();
    const std::optional<TensorStatistics>& statistics() const { return m_statistics; }
    bool logY() const;
    QString csv() const;
    ToggleChip* logChip() const { return m_log; }
    /// Where the bar of a bin stands on the plot; empty without numbers.
    QRectF barRect(int bin) const;
    QWidget* plot() const;

protected:
    void changeEvent(QEvent* event) override;

private:
    class Plot;
    PanelHead* m_head;
    ToggleChip* m_log;
    Plot* m_plot;
    std::optional<TensorStatistics> m_statistics;
    QString m_note;
};

}  // namespace relascope::widgets
