// SPDX-License-Identifier: GPL-3.0-or-later
// A text in pieces (tokens): the display text of each, and its position when the text is wrapped.
// No painting.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <QFont>
#include <QRect>
#include <QString>

namespace relascope::widgets {

// Finds words in a text of tokens, also where a word is cut into several of them.

/// First and last token of a match.
using TokenRange = std::pair<int, int>;

/// All places of `text`, in order; upper and lower case of ASCII letters are the same. Spaces
/// before and after it count, so that " he" is the beginning of a word.
std::vector<TokenRange> findTokens(const std::vector<std::string>& pieces, std::string_view text);

/// The display form of a piece.
struct DisplayPiece {
    QString text;        ///< without a leading space; "F0 9F" if hex
    bool hex = false;    ///< incomplete characters: its bytes are shown
    bool space = false;  ///< begins with a space, which is shown as a gap
    bool blank = false;  ///< only spaces
    int breaks = 0;      ///< number of line ends, each shown as a symbol
};
DisplayPiece displayPiece(std::string_view bytes);
/// On an axis or a chip: "ball", "␣" for a space, "↵" for a line end.
QString pieceLabel(std::string_view bytes);
/// In a hover label: 39 “ball”.
QString piecePlace(int index, std::string_view bytes);
/// In a sentence: token 39 “ball”.
QString pieceName(int index, std::string_view bytes);

class TextFlow {
public:
    /// Layout as boxes to point at, or as text to read.
    enum class Spacing { Boxes, Reading };
    void setSpacing(Spacing spacing);
    /// Larger letters, for a text across a wide pane.
    void setLarge(bool large);
    void setPieces(const std::vector<std::string>& pieces);
    void append(std::string_view piece);
    /// Wraps at `width` px, between words if possible.
    void layOut(int width);
    /// Measures again after a change of fonts or screen.
    void measure();

    int size() const { return static_cast<int>(m_pieces.size()); }
    const DisplayPiece& piece(int index) const { return m_pieces[static_cast<std::size_t>(index)]; }
    /// Whether nearly every piece is a single character; boxes are then adjacent, in a monospaced
    /// font.
    bool characters() const { return m_characters; }
    QFont font(int index) const;
    /// The box of a piece; empty outside the text.
    QRect place(int index) const;
    int height() const { return m_height; }
    int lines() const { return static_cast<int>(m_lines.size()); }
    int lineOf(int index) const;
    int firstOf(int line) const { return m_lines[static_cast<std::size_t>(line)]; }
    int lineHeight() const {
        return (m_characters ? 20 : m_spacing == Spacing::Boxes ? 25 : 22) + (m_large ? 4 : 0);
    }
    /// The piece at a point, the gap before it included; -1 outside.
    int at(const QPoint& point) const;
    /// The piece that an arrow key, Home or End leads to from `index`.
    int moved(int index, int key) const;

private:
    bool joins(int index) const;  ///< belongs to the same word as the previous piece
    int padded(int index) const;
    QFont fontOf(bool hex) const;

    std::vector<DisplayPiece> m_pieces;
    std::vector<int> m_advances;
    std::vector<QRect> m_places;
    std::vector<int> m_lines;  ///< first piece of each line
    int m_single = 0;          ///< pieces of one character
    int m_width = 0, m_height = 0;
    Spacing m_spacing = Spacing::Boxes;
    bool m_characters = false;
    bool m_large = false;
};

}  // namespace relascope::widgets
