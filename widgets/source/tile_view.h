// SPDX-License-Identifier: GPL-3.0-or-later
// Objects of a set or sequence as tiles in wrapping rows: captioned pictures, token texts, or
// vectors as small bars. The chosen i is outlined, the others are tinted by the value towards them.
#pragma once

#include <iterator>
#include <vector>

#include <QImage>
#include <QRect>
#include <QStringList>

#include "widgets/kit/tile_area.h"
#include "widgets/source/linked_view.h"

namespace relascope::widgets::tiles {

// Sizes of tiles in pixels. Private to TileView.

inline constexpr int gap = 4;
inline constexpr int edge = 2;         ///< room for the outline of a tile at the border
inline constexpr int headHeight = 22;  ///< height of a group's title
inline constexpr int groupGap = 10;
inline constexpr int wordHeight = 22;
inline constexpr int numberHeight = 15;  ///< more, with a number below the word
inline constexpr int widestWord = 160;
inline constexpr int vectorWidth = 64;
inline constexpr int vectorHeight = 48;
inline constexpr int captionHeight = 14;  ///< a line of words below a picture
inline constexpr int padding = 4;         ///< around a picture: the tint
inline constexpr int shortestWord = 38;   ///< px of a caption, however small the picture
inline constexpr int smallestPicture = 28;
inline constexpr int largestTile = 140;

}  // namespace relascope::widgets::tiles

namespace relascope::widgets {

// Layout of tiles of objects: wrapping rows of texts, bars or pictures. No painting, no widget.

/// Objects of one side of a map.
struct TileGroup {
    QString title;               ///< above them: "target (from)"; empty: no head
    QStringList texts;           ///< on the tile
    QStringList names;           ///< in a sentence: "target 3 '7'"
    std::vector<float> vectors;  ///< [n, width], drawn as bars; empty for tokens
    int width = 0;
    std::vector<QImage> pictures;  ///< one each, drawn in place of the bars; empty: none

    int size() const { return static_cast<int>(texts.size()); }
    bool hasPictures() const { return !pictures.empty() && std::ssize(pictures) == size(); }
    bool operator==(const TileGroup&) const = default;
};

/// A group as it is laid out.
struct TileSection {
    static constexpr int numberedTiles = 64;  ///< tiles are numbered up to this count

    TileGroup group;
    bool receives = true, sends = true;
    int first = 0;  ///< number of its first tile among those of all sections
    int top = 0;
    float largest = 0;          ///< largest number of the vectors, the full height of a bar
    QSize picture;              ///< as it is drawn; empty where there are none
    int wordLines = 1;          ///< lines of text below a picture; 0 if they do not fit
    std::vector<QRect> places;  ///< in content coordinates, in rows from the top

    bool numbered() const { return sends && group.size() <= numberedTiles; }
    /// The first tile with a lower edge at or below `y`.
    std::vector<QRect>::const_iterator from(int y) const;
};

/// Lays out sections from the top in a view of that size; returns the height. `bar` is the width of
/// a scroll bar, which is always kept free: showing it must not change the wrapping so that it is
/// hidden again.
int layOutSections(std::vector<TileSection>& sections, const QSize& view, int bar);

/// Paints the picture, bars or text of an object; `inside` excludes the line of its number.
void paintTileObject(QPainter& painter, const TileSection& section, int index, const QRect& inside,
                     const QColor& ink);

class TileView : public TileArea, public LinkedView {
    Q_OBJECT
public:
    explicit TileView(QWidget* parent = nullptr);

    /// Objects that receive and send.
    void setObjects(TileGroup objects);
    /// Receivers above senders; without columns the senders are drawn elsewhere.
    void setSides(TileGroup rows, TileGroup columns);
    /// Objects that cannot be chosen.
    void setGroups(std::vector<TileGroup> groups);
    int rows() const { return receivers(); }   ///< number of receivers
    int columns() const { return senders(); }  ///< number of senders
    using TileArea::tileRect;
    /// The rectangle of a tile in the viewport, among the receivers or the senders.
    QRect tileRect(int index, bool sender) const;

    QSize sizeHint() const override { return {252, 284}; }

Q_SIGNALS:
    void hovered(int index);       ///< a sender; -1 when the pointer leaves
    void rowHovered(int index);    ///< a receiver that does not send; -1 when the pointer leaves
    void sourceChosen(int index);  ///< a click, or an arrow key
    void targetChosen(int index);  ///< Shift with a click or an arrow key, or a click on a sender

protected:
    int layOutTiles() override;
    QRect placeOf(int tile) const override;
    int placeAt(const QPoint& point) const override;
    void paintTiles(QPainter& painter, const QRegion& exposed) override;
    int current(Qt::KeyboardModifiers modifiers) const override;
    int moveFrom(int tile, int key, Qt::KeyboardModifiers modifiers) const override;
    void pressed(int tile, Qt::KeyboardModifiers modifiers) override;
    void hoverMoved(int before, int now) override;
    QString tipOf(int tile) const override;

    int receivers() const override { return count(false); }
    int senders() const override { return count(true); }
    int pointedSender() const override;
    void touch(bool sender, int index) override;
    void touchAll() override { refresh(); }
    void describe() override;
    void sourceMoved() override;

private:
    void take(std::vector<TileSection> sections);
    /// The section of senders or receivers, or nullptr.
    const TileSection* part(bool sender) const;
    int count(bool sender) const;
    /// Number among all tiles; -1 for none.
    int tileOf(bool sender, int index) const;
    /// The section of a tile; nullptr for none.
    const TileSection* sectionOf(int tile) const;
    void paintTile(QPainter& painter, const TileSection& section, int index);

    std::vector<TileSection> m_sections;  ///< one for objects that are both, or receivers first
};

}  // namespace relascope::widgets
