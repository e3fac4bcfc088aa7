// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a logit as bars around zero; relations and symbols below the head they are in.
#pragma once

#include <QWidget>
#include <vector>

#include "types/lens.h"

namespace relascope::widgets {

class AttributionBars : public QWidget {
    Q_OBJECT
public:
    explicit AttributionBars(QWidget* parent = nullptr);

    void setResult(const Attribution& result);
    const Attribution& result() const { return m_result; }
    /// By |value|, or in the order of the forward pass.
    void setBySize(bool on);
    bool bySize() const { return m_bySize; }
    /// Relations and symbols of less than 5 % of the largest part, too.
    void setAll(bool on);
    bool all() const { return m_all; }
    int leftOut() const { return m_leftOut; }
    /// Parts as shown, as indices of Attribution::parts.
    const std::vector<std::size_t>& shown() const { return m_shown; }
    int rowAt(const QPoint& at) const;  ///< -1 beside the rows

    int layoutHeight() const;
    void paint(QPainter& painter, int width) const;

    QSize sizeHint() const override { return {700, layoutHeight()}; }
    QSize minimumSizeHint() const override { return {360, layoutHeight()}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    void order();

    Attribution m_result;
    std::vector<std::size_t> m_shown;
    bool m_bySize = true, m_all = false;
    int m_leftOut = 0;
};

}  // namespace relascope::widgets
