// SPDX-License-Identifier: GPL-3.0-or-later
// Where tiles of objects stand: wrapping rows of words, bars or pictures. No painting, no widget.
#pragma once

#include <QImage>
#include <QRect>
#include <QStringList>
#include <iterator>
#include <vector>

namespace relascope::widgets {

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
    static constexpr int numberedTiles = 64;  ///< up to here a tile carries its number

    TileGroup group;
    bool receives = true, sends = true;
    int top = 0;
    float largest = 0;          ///< of the vectors' numbers, the full height of a bar
    QSize picture;              ///< as it is drawn; empty where there are none
    int wordLines = 1;          ///< below a picture; 0 where they would not fit
    std::vector<QRect> places;  ///< on the content, in rows from the top

    bool numbered() const { return sends && group.size() <= numberedTiles; }
    /// The tile that a key leads to from `index`: up and down the nearest of the next row.
    int moved(int index, int key) const;
    /// The first place whose lower edge is not above `y`.
    std::vector<QRect>::const_iterator from(int y) const;
};

class TileLayout {
public:
    struct Place {
        int section = -1;
        int index = -1;
        bool operator==(const Place&) const = default;
    };

    /// False where the same groups are there already; otherwise `layOut()` places them.
    bool take(std::vector<TileSection> sections);
    /// `bar` is the width of a scroll bar, which is always kept free: its coming must not wrap the
    /// rows anew and send it away.
    void layOut(const QSize& view, int bar);

    const std::vector<TileSection>& sections() const { return m_sections; }
    const TileSection& section(const Place& place) const {
        return m_sections[static_cast<std::size_t>(place.section)];
    }
    /// The part that sends, or that receives; nullptr where there is none.
    const TileSection* part(bool sender) const;
    int count(bool sender) const;
    int height() const { return m_height; }
    QRect rect(bool sender, int index) const;
    Place placeAt(const QPoint& point) const;

private:
    std::vector<TileSection> m_sections;  ///< one for objects that do both, or receivers first
    int m_height = 0;
};

}  // namespace relascope::widgets
