// SPDX-License-Identifier: GPL-3.0-or-later
// A text in pieces, as tokens cut it: what the screen writes for each and where it stands when the
// text is wrapped as text. No painting.
#pragma once

#include <QFont>
#include <QRect>
#include <QString>
#include <string>
#include <string_view>
#include <vector>

namespace relascope::widgets {

/// A piece as the screens show it.
struct PieceWords {
    QString text;        ///< without the space it begins with; "F0 9F" when hex
    bool hex = false;    ///< no whole characters: its bytes are spelled out
    bool space = false;  ///< begins with a space, which is the gap before it
    bool blank = false;  ///< nothing but spaces
    int breaks = 0;      ///< line ends it holds, each shown as a sign
};
PieceWords pieceWords(std::string_view bytes);
/// On an axis or a chip: "ball", "␣" for a space, "↵" for a line end.
QString pieceLabel(std::string_view bytes);
/// In a hover label: 39 “ball”.
QString piecePlace(int index, std::string_view bytes);
/// In a sentence: token 39 “ball”.
QString pieceName(int index, std::string_view bytes);

class TextFlow {
public:
    /// Boxes to point at, or words to read.
    enum class Spacing { Boxes, Reading };
    void setSpacing(Spacing spacing);
    void setPieces(const std::vector<std::string>& pieces);
    void append(std::string_view piece);
    /// Wraps at `width` px. Words stay whole where a line can hold them.
    void layOut(int width);
    /// Fonts of another screen or size: measures anew.
    void measure();

    int size() const { return static_cast<int>(m_pieces.size()); }
    const PieceWords& piece(int index) const { return m_pieces[static_cast<std::size_t>(index)]; }
    /// Nearly every piece is one character: boxes stand side by side, in a font of one width.
    bool characters() const { return m_characters; }
    QFont font(int index) const;
    /// The box of a piece; empty outside the text.
    QRect place(int index) const;
    int height() const { return m_height; }
    int lines() const { return static_cast<int>(m_lines.size()); }
    int lineOf(int index) const;
    int firstOf(int line) const { return m_lines[static_cast<std::size_t>(line)]; }
    int lineHeight() const { return m_characters ? 20 : m_spacing == Spacing::Boxes ? 25 : 22; }
    /// The piece at a point, the gap before it included; -1 outside.
    int at(const QPoint& point) const;
    /// Where an arrow key, Home or End leads from `index`.
    int moved(int index, int key) const;

private:
    bool joins(int index) const;  ///< stands in one word with the piece before it
    int padded(int index) const;

    std::vector<PieceWords> m_pieces;
    std::vector<int> m_advances;
    std::vector<QRect> m_places;
    std::vector<int> m_lines;  ///< first piece of each line
    int m_single = 0;          ///< pieces of one character
    int m_width = 0, m_height = 0;
    Spacing m_spacing = Spacing::Boxes;
    bool m_characters = false;
};

}  // namespace relascope::widgets
