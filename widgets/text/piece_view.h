// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of views of a text in pieces, with mouse and keyboard navigation. Derived classes
// define the style of a piece and the meaning of choosing it.
#pragma once

#include <QAbstractScrollArea>
#include <QColor>
#include <string>
#include <vector>

#include "widgets/text/text_flow.h"

namespace relascope::widgets {

/// How a piece is drawn.
struct PieceLook {
    enum class Frame { None, Solid, Dashed };
    QColor fill;   ///< invalid: none
    QColor ink;    ///< of the text
    QColor hatch;  ///< invalid: none
    Frame frame = Frame::None;
    QColor frameColor;
};

class PieceView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit PieceView(QWidget* parent = nullptr);

    int size() const { return m_flow.size(); }
    const TextFlow& flow() const { return m_flow; }
    /// The rectangle of a piece in the viewport.
    QRect tokenRect(int index) const;
    int tokenAt(const QPoint& point) const;  ///< of the viewport; -1 outside
    int contentHeight() const;
    QWidget* canvas() const { return viewport(); }
    /// Scrolls until the piece is visible.
    void reveal(int index);

    QSize sizeHint() const override { return {252, 200}; }
    QSize minimumSizeHint() const override { return {96, 40}; }

Q_SIGNALS:
    void contentResized();  ///< contentHeight changed

protected:
    virtual PieceLook look(int index) const = 0;
    virtual void hoverMoved(int /*before*/, int /*now*/) {}
    virtual void pressed(int index, Qt::KeyboardModifiers modifiers) = 0;
    /// The piece from which a key moves: with Shift that of the other selection, if there is one.
    virtual int current(Qt::KeyboardModifiers modifiers) const = 0;
    /// Drawn over the text, in its coordinates.
    virtual void paintOver(QPainter& /*painter*/) {}

    void setSpacing(TextFlow::Spacing spacing);
    void setLarge(bool large);
    void setPieces(const std::vector<std::string>& pieces);
    void appendPiece(const std::string& piece);
    int hover() const { return m_hover; }
    void updateToken(int index);

    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void layOut();
    void arrange();
    void setHover(int index);
    void paintPiece(QPainter& painter, int index, const QRect& place) const;

    TextFlow m_flow;
    int m_hover = -1;
    int m_height = 0;  ///< as last emitted
};

}  // namespace relascope::widgets
