// SPDX-License-Identifier: GPL-3.0-or-later
// A map at several kept steps, side by side on one scale.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "types/along.h"
#include "widgets/maps/color_map.h"

namespace relascope::widgets {

class FilmStrip : public QWidget {
    Q_OBJECT
public:
    static constexpr int kFrames = 12;

    explicit FilmStrip(QWidget* parent = nullptr);

    void setAlong(const AlongTraining& along);
    /// The step that is inspected: its frame, or none, is marked.
    void setCurrent(std::optional<qint64> step);
    /// Indices into AlongTraining::steps.
    const std::vector<int>& frames() const { return m_frames; }
    /// The map of a frame in this widget, and the frame at a point (-1: none).
    QRect frameRect(int frame) const;
    int frameAt(const QPoint& point) const;
    QString frameText(int frame) const;  ///< "step 96: r = +1.283"

    void paintStrip(QPainter& painter, const QRect& box) const;
    /// Of one row of frames; of two where a cell would have less than two pixels in one.
    int heightFor(int width) const;

    QSize minimumSizeHint() const override { return {320, 120}; }
    QSize sizeHint() const override { return {960, heightFor(960)}; }

Q_SIGNALS:
    void stepChosen(qint64 step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Layout {
        int perRow = 1;
        QSize slot, frame;
    };
    Layout layoutIn(const QSize& size) const;
    QRect frameRect(const Layout& layout, const QRect& box, int frame) const;
    qint64 stepOf(int frame) const;

    AlongTraining m_along;
    std::vector<int> m_frames;
    std::optional<qint64> m_current;
};

}  // namespace relascope::widgets
