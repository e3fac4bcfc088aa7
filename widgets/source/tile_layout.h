// SPDX-License-Identifier: GPL-3.0-or-later
// Layout of tiles of objects: wrapping rows of texts, bars or pictures. No painting, no widget.
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
