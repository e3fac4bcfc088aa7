// SPDX-License-Identifier: GPL-3.0-or-later
// Objects of a set or a sequence as tiles in wrapping rows: pictures with their words, tokens as
// words, vectors as small bars; the chosen i outlined, the others tinted by the value towards them.
#pragma once

#include <QAbstractScrollArea>
#include <QImage>
#include <QStringList>
#include <iterator>
#include <vector>

#include "widgets/maps/color_map.h"

namespace relascope {

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

class TileView : public QAbstractScrollArea {
    Q_OBJECT
public:
    static constexpr int numberedTiles = 64;  ///< up to here a tile carries its number

    explicit TileView(QWidget* parent = nullptr);

    /// The same objects receive and send.
    void setObjects(TileGroup objects);
    /// Those that receive above those that send; without columns these are drawn elsewhere.
    void setSides(TileGroup rows, TileGroup columns);
    /// Objects to look at only: none is chosen.
    void setGroups(std::vector<TileGroup> groups);
    /// One value a sender, towards it from i. A masked one wears the hatch; NaN the error's.
    void setValues(std::vector<float> values, std::vector<bool> masked, const ColorScale& scale);
    void setNumberDigits(int digits, bool isSigned);
    void setSource(int index);   ///< i
    void setTarget(int index);   ///< j, locked; -1 for none
    void setPreview(int index);  ///< j while another pane's pointer shows it; -1 for none

    int source() const { return m_source; }
    int target() const { return m_target; }
    int rows() const;     ///< how many receive
    int columns() const;  ///< how many send
    /// Where a tile stands on the viewport, in the part of the receivers or of the senders.
    QRect tileRect(int index, bool sender = true) const;
    int contentHeight() const { return m_height; }
    QWidget* canvas() const { return viewport(); }

    QSize sizeHint() const override { return {252, 284}; }
    QSize minimumSizeHint() const override { return {96, 40}; }

Q_SIGNALS:
    void hovered(int index);       ///< a sender; -1 when the pointer leaves
    void rowHovered(int index);    ///< a receiver that does not send; -1 when the pointer leaves
    void sourceChosen(int index);  ///< a click, or an arrow key
    void targetChosen(int index);  ///< Shift with a click or an arrow key, or a click on a sender
    void laidOut();                ///< contentHeight is another

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Section {
        TileGroup group;
        bool receives = true, sends = true;
        int top = 0;
        float largest = 0;          ///< of the vectors' numbers, the full height of a bar
        QSize picture;              ///< as it is drawn; empty where there are none
        int wordLines = 1;          ///< below a picture; 0 where they would not fit
        std::vector<QRect> places;  ///< on the content, in rows from the top
    };
    struct Place {
        int section = -1;
        int index = -1;
        bool operator==(const Place&) const = default;
    };
    void take(std::vector<Section> sections);
    void layOut();
    void layOutPictures(Section& section, int wide, int high) const;
    QSize tileSize(const Section& section, int index, int wide) const;
    bool numbered(const Section& section) const {
        return section.sends && section.group.size() <= numberedTiles;
    }
    const Section* sectionOf(bool sender) const;
    Place placeAt(const QPoint& point) const;
    int shownTarget() const;
    int moved(const Section& section, int index, int key) const;
    void reveal(bool sender, int index);
    void setHover(const Place& place);
    void updateTile(bool sender, int index);
    void describe();
    QString numberOf(int index) const;
    void paintSection(QPainter& painter, const Section& section, const QRect& exposed);
    void paintTile(QPainter& painter, const Section& section, int index, const QRect& place);
    /// Draws a tile's word and what it shows; the number's line is left out of `inside`.
    void paintObject(QPainter& painter, const Section& section, int index, const QRect& inside,
                     const QColor& ink);
    void paintVector(QPainter& painter, const Section& section, int index, const QRect& place,
                     const QColor& ink);

    std::vector<Section> m_sections;  ///< one for objects that do both, otherwise receivers first
    std::vector<float> m_values;
    std::vector<bool> m_masked;
    ColorScale m_scale;
    int m_height = 0;
    int m_source = 0, m_target = -1, m_preview = -1;
    Place m_hover;
    int m_digits = 2;
    bool m_signedNumbers = true;
};

}  // namespace relascope
