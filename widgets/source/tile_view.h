// SPDX-License-Identifier: GPL-3.0-or-later
// Objects of a set or sequence as tiles in wrapping rows: captioned pictures, token texts, or
// vectors as small bars. The chosen i is outlined, the others are tinted by the value towards them.
#pragma once

#include <iterator>
#include <vector>

#include <QAbstractScrollArea>
#include <QImage>
#include <QRect>
#include <QStringList>

#include "widgets/source/linked_view.h"

namespace relascope::widgets::tiles {

// Sizes of tiles in pixels. Private to TileView and its layout.

inline constexpr int gap = 4;
inline constexpr int edge = 2;         ///< room for the outline of a tile at the border
inline constexpr int headHeight = 22;  ///< of a group's title
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
    int top = 0;
    float largest = 0;          ///< of the vectors' numbers, the full height of a bar
    QSize picture;              ///< as it is drawn; empty where there are none
    int wordLines = 1;          ///< lines of text below a picture; 0 if they do not fit
    std::vector<QRect> places;  ///< in content coordinates, in rows from the top

    bool numbered() const { return sends && group.size() <= numberedTiles; }
    /// The tile that a key leads to from `index`; up and down lead to the nearest tile of the next
    /// row.
    int moved(int index, int key) const;
    /// The first tile with a lower edge at or below `y`.
    std::vector<QRect>::const_iterator from(int y) const;
};

class TileLayout {
public:
    struct Place {
        int section = -1;
        int index = -1;
        bool operator==(const Place&) const = default;
    };

    /// Returns false if the groups are the same; otherwise layOut() must be called.
    bool take(std::vector<TileSection> sections);
    /// `bar` is the width of a scroll bar, which is always kept free: showing it must not change
    /// the wrapping so that it is hidden again.
    void layOut(const QSize& view, int bar);

    const std::vector<TileSection>& sections() const { return m_sections; }
    const TileSection& section(const Place& place) const {
        return m_sections[static_cast<std::size_t>(place.section)];
    }
    /// The section of senders or receivers, or nullptr.
    const TileSection* part(bool sender) const;
    int count(bool sender) const;
    int height() const { return m_height; }
    QRect rect(bool sender, int index) const;
    Place placeAt(const QPoint& point) const;

private:
    std::vector<TileSection>
        m_sections;  ///< one for objects that are both, otherwise receivers first
    int m_height = 0;
};

}  // namespace relascope::widgets

// Painting of the contents of a tile.

class QPainter;

namespace relascope::widgets {

/// Paints the picture, bars or text of an object; `inside` excludes the line of its number.
void paintTileObject(QPainter& painter, const TileSection& section, int index, const QRect& inside,
                     const QColor& ink);

class TileView : public QAbstractScrollArea, public LinkedView {
    Q_OBJECT
public:
    explicit TileView(QWidget* parent = nullptr);

    /// The same objects receive and send.
    void setObjects(TileGroup objects);
    /// Receivers above senders; without columns the senders are drawn elsewhere.
    void setSides(TileGroup rows, TileGroup columns);
    /// Objects that cannot be chosen.
    void setGroups(std::vector<TileGroup> groups);
    int rows() const { return m_layout.count(false); }    ///< number of receivers
    int columns() const { return m_layout.count(true); }  ///< number of senders
    /// The rectangle of a tile in the viewport, among the receivers or the senders.
    QRect tileRect(int index, bool sender = true) const;
    int contentHeight() const { return m_layout.height(); }
    QWidget* canvas() const { return viewport(); }

    QSize sizeHint() const override { return {252, 284}; }
    QSize minimumSizeHint() const override { return {96, 40}; }

Q_SIGNALS:
    void hovered(int index);       ///< a sender; -1 when the pointer leaves
    void rowHovered(int index);    ///< a receiver that does not send; -1 when the pointer leaves
    void sourceChosen(int index);  ///< a click, or an arrow key
    void targetChosen(int index);  ///< Shift with a click or an arrow key, or a click on a sender
    void laidOut();                ///< contentHeight changed

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

    int receivers() const override { return rows(); }
    int senders() const override { return columns(); }
    int pointedSender() const override { return sends(m_hover) ? m_hover.index : -1; }
    void touch(bool sender, int index) override;
    void touchAll() override { viewport()->update(); }
    void describe() override;
    void sourceMoved() override;

private:
    using Place = TileLayout::Place;
    void take(std::vector<TileSection> sections);
    void layOut();
    bool sends(const Place& place) const {
        return place.section >= 0 && m_layout.section(place).sends;
    }
    Place placeAt(const QPoint& point) const;
    void reveal(bool sender, int index);
    void setHover(const Place& place);
    void paintSection(QPainter& painter, const TileSection& section, const QRect& exposed);
    void paintTile(QPainter& painter, const TileSection& section, int index, const QRect& place);

    TileLayout m_layout;
    Place m_hover;
};

}  // namespace relascope::widgets
