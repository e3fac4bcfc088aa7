// SPDX-License-Identifier: GPL-3.0-or-later
// An image whose pixels can be read, and a text whose pieces can. Private to SampleView.
#pragma once

#include <QImage>
#include <QWidget>
#include <string>
#include <vector>

#include "types/relation_map.h"
#include "widgets/text/piece_view.h"

namespace relascope::widgets {

/// An image at the largest whole scale, one pixel a square; a large one is shrunk.
class PixelView : public QWidget {
    Q_OBJECT
public:
    explicit PixelView(QWidget* parent = nullptr);
    void setImage(const Image& image);
    QRect pictureRect() const;
    /// How high the picture would stand in that room.
    int heightIn(const QSize& room) const;

Q_SIGNALS:
    void pointed(const QString& words);  ///< "row 3, column 4: 255, 0, 12"; empty when it leaves

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QSize sizeIn(const QSize& room) const;

    Image m_image;
    QImage m_picture;
};

/// A text whose pieces are told apart.
class ReadStrip : public PieceView {
    Q_OBJECT
public:
    explicit ReadStrip(QWidget* parent = nullptr);
    void setSequence(const ProbeSequence& sequence);

Q_SIGNALS:
    void pointed(const QString& words);  ///< "token 3 “ball”, id 17"

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
