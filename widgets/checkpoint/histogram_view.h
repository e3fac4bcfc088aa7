// SPDX-License-Identifier: GPL-3.0-or-later
// The values of one tensor: a histogram with range, mean, standard deviation and non-finite counts.
#pragma once

#include <QWidget>
#include <optional>

#include "types/checkpoint_info.h"

namespace relascope::widgets {

class PanelHead;
class ToggleChip;
class ViewMenu;

class HistogramView : public QWidget {
    Q_OBJECT
public:
    explicit HistogramView(QWidget* parent = nullptr);

    /// `note` is shown instead of the histogram while there are no values: the reason, or that they
    /// are being read.
    void setTensor(const QString& name, const QString& note);
    void setStatistics(const TensorStatistics& statistics);
    void clear();
    const std::optional<TensorStatistics>& statistics() const { return m_statistics; }
    bool logY() const;
    QString csv() const;
    ViewMenu* menu() const { return m_menu; }
    ToggleChip* logChip() const { return m_log; }
    /// The rectangle of a bin's bar; empty without values.
    QRectF barRect(int bin) const;
    QWidget* plot() const;

protected:
    void changeEvent(QEvent* event) override;

private:
    class Plot;
    PanelHead* m_head;
    ToggleChip* m_log;
    ViewMenu* m_menu;
    Plot* m_plot;
    std::optional<TensorStatistics> m_statistics;
    QString m_note;
};

}  // namespace relascope::widgets
