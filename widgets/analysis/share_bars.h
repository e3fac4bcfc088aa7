// SPDX-License-Identifier: GPL-3.0-or-later
// What makes a difference as stacked bars of shares, by parts and by facts, with those of untrained
// models below each.
#pragma once

#include <vector>

#include <QWidget>

#include "types/answer.h"

namespace relascope::widgets {

/// A share of the whole. NaN: not measured.
struct ShareSegment {
    QString name;
    double share = 0.0;
    double untrained = 0.0;  ///< the middle of what untrained models have
    bool alone = false;      ///< share of one side alone: no comparison
    bool rest = false;       ///< small ones together
};

struct ShareBar {
    QString title;
    std::vector<ShareSegment> segments;  ///< the largest first
};

/// The bars of a table of shares, with columns side (may be missing), i, j, share, untrained_low
/// and untrained_high: whole heads, both orders of a pair together, small ones together.
ShareBar shareBarOf(const Table& table);

class ShareBars : public QWidget {
    Q_OBJECT
public:
    explicit ShareBars(QWidget* parent = nullptr);
    void setBars(std::vector<ShareBar> bars);
    const std::vector<ShareBar>& bars() const { return m_bars; }
    /// Paints at the origin and returns the height; measures only without a painter.
    int paint(QPainter* painter, int width) const;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return paint(nullptr, width); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int paintBar(QPainter* painter, const ShareBar& bar, int width, int y) const;
    std::vector<ShareBar> m_bars;
};

}  // namespace relascope::widgets
