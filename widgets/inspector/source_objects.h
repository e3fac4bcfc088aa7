// SPDX-License-Identifier: GPL-3.0-or-later
// The objects of a source as patches of an image, tiles, or texts, linked with the map by (i, j).
#pragma once

#include <QObject>
#include <vector>

#include "types/relation_map.h"
#include "widgets/maps/color_map.h"

class QBoxLayout;

namespace relascope::widgets {

class LinkedView;
class PatchView;
class TextPair;
class TileView;
class TokenStrip;

class SourceObjects : public QObject {
    Q_OBJECT
public:
    /// Adds the views to the layout of the pane.
    SourceObjects(QBoxLayout* column, QWidget* parent);

    PatchView* patches() const { return m_patches; }
    /// Objects of a set or sequence; for an image the receivers that are not its patches.
    TileView* tiles() const { return m_tiles; }
    /// The tokens of a text, in place of tiles.
    TokenStrip* strip() const { return m_strip; }
    /// Two texts, one of which attends to the other.
    TextPair* pair() const { return m_pair; }

    bool image() const { return m_image; }  ///< the input has patches
    /// The value towards each sender.
    const std::vector<float>& towards() const { return m_towards; }

    void setResult(const ProbeResult& result, const QString& label);
    /// The sides of the result along rows and columns; `columns` is -1 if the senders are not
    /// objects.
    void setSides(const ProbeResult& result, int rows, int columns);
    void setTint(std::vector<float> values, std::vector<bool> masked, const ColorScale& scale,
                 bool isSigned);
    void setChoice(int source, int target, int preview);
    void setPreview(int target);

Q_SIGNALS:
    void hovered(int target);     ///< -1 when the pointer leaves
    void rowHovered(int source);  ///< of objects that only receive
    void sourceChosen(int source);
    void targetChosen(int target);

private:
    void fitTiles();
    std::vector<LinkedView*> senders() const;

    PatchView* m_patches;
    TileView* m_tiles;
    TokenStrip* m_strip;
    TextPair* m_pair;
    std::vector<float> m_towards;
    bool m_image = true;
};

}  // namespace relascope::widgets
