// SPDX-License-Identifier: GPL-3.0-or-later
// The legend: a line of text above a plot, with the values at the cursor. Private to
// widgets/curves.
#pragma once

#include <QColor>
#include <QWidget>
#include <vector>

namespace relascope::widgets {

struct LegendEntry {
    QString name, value;  ///< value may be empty
    QColor color;
    bool dashed = false, published = false;
    bool dotted = false;  ///< a fitted law
};

/// 24 px high: the title at the left, entries right-aligned; entries that do not fit are counted.
class CurveLegend : public QWidget {
public:
    explicit CurveLegend(const QString& title, QWidget* parent = nullptr);
    void setEntries(std::vector<LegendEntry> entries);
    void setTitle(const QString& title);
    const std::vector<LegendEntry>& entries() const { return m_entries; }
    void draw(QPainter& painter, const QRectF& box) const;
    /// For figures: draws all entries in as many lines as needed, without values at the cursor.
    /// Returns the height; without a painter it only measures.
    int drawWhole(QPainter* painter, int width) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    static void drawSample(QPainter& painter, const LegendEntry& entry, double x, double middle);
    QString m_title;
    std::vector<LegendEntry> m_entries;
};

}  // namespace relascope::widgets
