// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of views of a text in tokens, wrapped as text. Derived classes define the look of a
// token and the meaning of choosing it.
#pragma once

#include <QColor>
#include <string>
#include <vector>

#include "widgets/kit/tile_area.h"
#include "widgets/text/text_flow.h"

namespace relascope::widgets {

/// How a token is drawn.
struct TokenLook {
    enum class Frame { None, Solid, Dashed };
    QColor fill;   ///< invalid: none
    QColor ink;    ///< colour of the text
    QColor hatch;  ///< invalid: none
    Frame frame = Frame::None;
    QColor frameColor;
};

/// Frames a tile. Dashes are pale with a dark line below them, so that one of them shows on any
/// fill.
void drawTileFrame(QPainter& painter, const QRectF& box, TokenLook::Frame frame,
                   const QColor& color);

class TokenView : public TileArea {
    Q_OBJECT
public:
    explicit TokenView(QWidget* parent = nullptr);

    int size() const { return m_flow.size(); }
    const TextFlow& flow() const { return m_flow; }
    /// The bytes of each token; joined, they are the text.
    const std::vector<std::string>& tokens() const { return m_tokens; }
    QString text() const;  ///< bytes that are not UTF-8 are replaced

    QSize sizeHint() const override { return {252, 200}; }

protected:
    virtual TokenLook look(int index) const = 0;
    /// Drawn over the text.
    virtual void paintOver(QPainter& /*painter*/) {}

    void setSpacing(TextFlow::Spacing spacing);
    void setLarge(bool large);
    void setTokens(std::vector<std::string> tokens);
    void appendToken(const std::string& token);

    int layOutTiles() override;
    QRect placeOf(int index) const override;
    int placeAt(const QPoint& point) const override;
    void paintTiles(QPainter& painter, const QRegion& exposed) override;
    int moveFrom(int index, int key, Qt::KeyboardModifiers) const override {
        return m_flow.moved(index, key);
    }
    /// The whole text.
    QString copied(int /*index*/) const override { return text(); }
    void changeEvent(QEvent* event) override;

private:
    void paintToken(QPainter& painter, int index) const;

    TextFlow m_flow;
    std::vector<std::string> m_tokens;
};

}  // namespace relascope::widgets
