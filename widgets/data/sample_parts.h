// SPDX-License-Identifier: GPL-3.0-or-later
// An image and a text that report the pixel or piece under the pointer. Private to SampleView.
#pragma once

#include <QImage>
#include <QWidget>
#include <string>
#include <vector>

#include "types/relation_map.h"
#include "widgets/text/piece_view.h"

namespace relascope::widgets {

/// An image enlarged by the largest whole factor that fits; large images are scaled down.
class PixelView : public QWidget {
    Q_OBJECT
public:
    explicit PixelView(QWidget* parent = nullptr);
    void setImage(const Image& image);
    QRect pictureRect() const;
    /// The height of the picture in that room.
    int heightIn(const QSize& room) const;

Q_SIGNALS:
    void pointed(const QString& text);  ///< "row 3, column 4: 255, 0, 12"; empty when it leaves

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QSize sizeIn(const QSize& room) const;

    Image m_image;
    QImage m_picture;
};

/// A text with visible boundaries between its pieces.
class ReadStrip : public PieceView {
    Q_OBJECT
public:
    explicit ReadStrip(QWidget* parent = nullptr);
    void setSequence(const ProbeSequence& sequence);

Q_SIGNALS:
    void pointed(const QString& text);  ///< "token 3 “ball”, id 17"

protected:
    PieceLook look(int index) const override;
    void hoverMoved(int before, int now) override;
    void pressed(int index, Qt::KeyboardModifiers modifiers) override;
    int current(Qt::KeyboardModifiers) const override { return m_current; }

private:
    void tell(int index);

    std::vector<std::string> m_pieces;
    std::vector<std::int64_t> m_ids;
    int m_current = 0;
};

}  // namespace relascope::widgets
