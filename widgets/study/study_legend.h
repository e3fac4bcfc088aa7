// SPDX-License-Identifier: GPL-3.0-or-later
// The legend of the efficiency plot: entries in columns, as many lines as they need. Private to
// widgets/study.
#pragma once

#include <QColor>
#include <QWidget>
#include <optional>
#include <vector>

#include "types/study.h"

namespace relascope::widgets {

/// Five shapes in turn; from the ninth series on, when colours repeat, they are hollow.
enum class StudyMarker { Disc, Square, Diamond, TriangleDown, TriangleUp };
inline StudyMarker studyMarker(int series) {
    return static_cast<StudyMarker>((series < 0 ? 0 : series) % 5);
}
void drawStudyMarker(QPainter& painter, const QPointF& at, double radius, StudyMarker marker,
                     const QColor& color, bool open);

struct StudyLegendEntry {
    QString name, value;
    QColor color;  ///< invalid: a remark, without a line
    int series = 0;
    /// For curves that do not belong to the study: dashed, with hollow markers, in a neutral
    /// colour.
    std::optional<CurveSource> beside;
};
/// "published", "Relascope's own".
QString curveSourceTitle(CurveSource source);
/// The dash pattern, long dashes or dots, for a pen of width 1.25.
QVector<qreal> studyDashes(CurveSource source);

class StudyLegend : public QWidget {
public:
    explicit StudyLegend(QWidget* parent = nullptr);
    void setEntries(std::vector<StudyLegendEntry> entries);
    void setTitle(const QString& title);
    const std::vector<StudyLegendEntry>& entries() const { return m_entries; }
    int heightFor(int width) const;
    void draw(QPainter& painter, const QRectF& box) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Grid {
        int columns = 1, lines = 0, shown = 0;
        double width = 0.0;  ///< width of an entry
    };
    Grid grid(double width) const;
    QString m_title;
    std::vector<StudyLegendEntry> m_entries;
};

}  // namespace relascope::widgets
