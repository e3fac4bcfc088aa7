// SPDX-License-Identifier: GPL-3.0-or-later
// The layout of many small maps: sections, pages and rectangles. No painting, no widget.
#pragma once

#include <utility>
#include <vector>

#include <QRect>
#include <QString>

#include "widgets/maps/map_values.h"

namespace relascope::widgets {

/// "relation", "relational attention", "sensory attention".
QString mapKindWords(MapKind kind);

struct StripSection {
    QString title;    ///< "Relations of layer 2"
    QString absence;  ///< message if there are no maps
    std::vector<MapId> maps;
    bool legend = false;  ///< a small colour bar 0..max beside the title
    bool operator==(const StripSection&) const = default;
};

/// Tiles are numbered from 0 through all sections.
class StripLayout {
public:
    enum class Flow {
        Fitted,    ///< a grid of pictures as large as fit without scrolling, 16 of a section a page
        Scrolled,  ///< a grid of small pictures, of possibly thousands
        Film,      ///< one row or two of pictures of one size, in the middle
        Overview   ///< a cell a map without label: sections side by side, layer 1 at the bottom
    };
    static constexpr int kPage = 16;
    /// Minimum size of a picture in pixels.
    static constexpr int kLeastFitted = 62, kLeastScrolled = 60;
    static constexpr int kEdge = 4;  ///< room for the frame of the chosen picture

    struct Turn {  ///< a page button
        int section = 0;
        int step = 0;
        QRect box;
    };

    explicit StripLayout(Flow flow, int footer = 0) : m_flow(flow), m_footer(footer) {}

    /// Layers of an overview, of which some may have no maps.
    void setLayers(int layers) { m_layers = layers; }
    int layers() const { return m_layers; }
    /// `shapes`: columns and rows of every map; empty for a map that is not known.
    void setSections(std::vector<StripSection> sections, std::vector<QSize> shapes);
    const std::vector<StripSection>& sections() const { return m_sections; }
    int count() const { return static_cast<int>(m_maps.size()); }
    const MapId& map(int tile) const { return m_maps[static_cast<std::size_t>(tile)]; }
    const std::vector<QSize>& shapes() const { return m_shapes; }
    const QSize& shape(int tile) const { return m_shapes[static_cast<std::size_t>(tile)]; }
    int tileOf(const MapId& map) const;  ///< -1 if it is not listed
    int sectionOf(int tile) const;

    int page(int section) const { return m_pages[static_cast<std::size_t>(section)]; }
    int pageCount(int section) const;
    void setPage(int section, int page);
    /// Shows the page of a tile; true if the page changed.
    bool turnTo(int tile);

    /// Lays out all pictures; returns the height. `footer` pixels of a film are left free below.
    int layOut(const QSize& room);
    /// The picture of a tile; empty if its page is not shown.
    QRect place(int tile) const;
    /// The room of its label below the picture.
    QRect labelRect(int tile) const;
    const std::vector<QRect>& heads() const { return m_heads; }  ///< heads of sections, with titles
    const std::vector<Turn>& turns() const { return m_turns; }
    int labelHeight() const { return film() ? 20 : overview() ? 0 : 18; }
    bool film() const { return m_flow == Flow::Film; }
    bool overview() const { return m_flow == Flow::Overview; }
    int footer() const { return m_footer; }
    /// The tile at a point, its label included; -1 between tiles.
    int at(const QPoint& point) const;
    /// The tile that a key leads to; its page may not be shown yet.
    int moved(int tile, int key) const;
    int side() const { return m_side; }
    /// Cells a pixel of a picture whose side is `side` px, and of a tile's picture.
    int blockFor(const QSize& shape, int side) const;
    int blockOf(int tile) const { return blockFor(shape(tile), m_side); }

    int overviewHeight() const;
    /// The height of a layer of an overview, and the top of one.
    int layerHeight() const;
    int layerTop(int layer) const;
    /// The height of one row of a film, or of two where a cell would have less than two pixels.
    int filmHeight(int width) const;
    /// Cells of whole pixels that fit into `room`, or several cells a pixel.
    static QSize wholeCells(const QSize& shape, const QSize& room);

private:
    /// The arrangement of sections: if bit s is set, section s + 1 begins another column.
    using Breaks = unsigned;
    QSize pictureSize(const QSize& shape, int side) const;
    int firstOf(int section) const { return m_firsts[static_cast<std::size_t>(section)]; }
    int sizeOf(int section) const {
        return static_cast<int>(m_sections[static_cast<std::size_t>(section)].maps.size());
    }
    std::pair<int, Breaks> bestFit(const QSize& room);
    /// With pictures of `side` pixels; without `keep` only the height is found.
    int arrange(int wide, int side, Breaks breaks, bool keep);
    int arrangeSection(int section, const QPoint& at, int wide, int side, bool keep);
    int layOutScrolled(int wide);
    int layOutFilm(const QSize& room);
    int layOutOverview(int wide);

    Flow m_flow;
    int m_footer, m_layers = 0;
    std::vector<StripSection> m_sections;
    std::vector<MapId> m_maps;
    std::vector<QSize> m_shapes;
    std::vector<int> m_firsts, m_pages;  ///< first tile and page of each section
    std::vector<QRect> m_places, m_heads;
    std::vector<Turn> m_turns;
    int m_side = kLeastFitted;
    int m_slot = 0;  ///< width of a label, px; 0: a little more than the picture
};

}  // namespace relascope::widgets
