// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QFontMetrics>

#include "answers/example_text.h"
#include "types/text_piece.h"
#include "widgets/text/text_flow.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

std::string folded(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

}  // namespace

std::vector<TokenRange> findTokens(const std::vector<std::string>& pieces, std::string_view text) {
    std::vector<TokenRange> found;
    const std::string wanted = folded(text);
    if (wanted.empty()) return found;
    std::string whole;
    std::vector<std::size_t> ends;  // ends of the tokens
    for (const std::string& piece : pieces) {
        whole += folded(piece);
        ends.push_back(whole.size());
    }
    const auto tokenAt = [&](std::size_t byte) {
        return static_cast<int>(std::upper_bound(ends.begin(), ends.end(), byte) - ends.begin());
    };
    for (std::size_t at = whole.find(wanted); at != std::string::npos;
         at = whole.find(wanted, at + 1)) {
        const TokenRange range{tokenAt(at), tokenAt(at + wanted.size() - 1)};
        if (found.empty() || found.back() != range) found.push_back(range);
    }
    return found;
}

namespace {

constexpr int inner = 1;  ///< px between a box and its text if the word continues in the next box
constexpr int kNarrowestPiece = 9;  ///< to be seen and hit
constexpr int paragraphGap = 8;
/// Padding at the end of a word, and the width of a space in addition.
int outer(TextFlow::Spacing spacing) {
    return spacing == TextFlow::Spacing::Boxes ? 3 : 2;
}
int wordGap(TextFlow::Spacing spacing) {
    return spacing == TextFlow::Spacing::Boxes ? 4 : 1;
}

}  // namespace

DisplayPiece displayPiece(std::string_view bytes) {
    DisplayPiece piece;
    piece.text = QString::fromStdString(core::shownPiece(bytes));
    piece.hex = !isUtf8(bytes);
    piece.blank = !bytes.empty() && bytes.find_first_not_of(' ') == std::string_view::npos;
    piece.space = !piece.blank && bytes.starts_with(' ');
    if (!piece.hex) piece.breaks = static_cast<int>(std::count(bytes.begin(), bytes.end(), '\n'));
    return piece;
}

QString pieceLabel(std::string_view bytes) {
    return displayPiece(bytes).text;
}
QString piecePlace(int index, std::string_view bytes) {
    return QStringLiteral("%1 \u201C%2\u201D").arg(index).arg(pieceLabel(bytes));
}
QString pieceName(int index, std::string_view bytes) {
    return QStringLiteral("token ") + piecePlace(index, bytes);
}

void TextFlow::setSpacing(Spacing spacing) {
    m_spacing = spacing;
    layOut(m_width);
}

void TextFlow::setLarge(bool large) {
    m_large = large;
    measure();
}

void TextFlow::setPieces(const std::vector<std::string>& pieces) {
    m_pieces.clear();
    m_pieces.reserve(pieces.size());
    for (const auto& piece : pieces) m_pieces.push_back(displayPiece(piece));
    measure();
}

void TextFlow::append(std::string_view piece) {
    m_pieces.push_back(displayPiece(piece));
    const int before = m_single;
    m_single += m_pieces.back().text.size() == 1;
    const bool characters = size() >= 8 && m_single * 10 >= size() * 9;
    if (characters != m_characters) {
        m_single = before;
        return measure();
    }
    m_advances.push_back(QFontMetrics(font(size() - 1)).horizontalAdvance(m_pieces.back().text));
    layOut(m_width);
}

QFont TextFlow::fontOf(bool hex) const {
    const int more = m_large ? 2 : 0;
    if (hex || m_characters) return monoFont((hex ? 11 : 13) + more);
    QFont font = bodyFont();
    font.setPixelSize(font.pixelSize() + more);
    return font;
}

QFont TextFlow::font(int index) const {
    return fontOf(piece(index).hex);
}

void TextFlow::measure() {
    m_single = static_cast<int>(std::count_if(m_pieces.begin(), m_pieces.end(), [](const auto& p) {
        return p.text.size() == 1 || (p.text.size() == 2 && p.text[0].isHighSurrogate());
    }));
    m_characters = size() >= 8 && m_single * 10 >= size() * 9;
    const QFontMetrics normal(fontOf(false));
    const QFontMetrics bytes(fontOf(true));
    m_advances.clear();
    m_advances.reserve(m_pieces.size());
    for (const DisplayPiece& p : m_pieces)
        m_advances.push_back((p.hex ? bytes : normal).horizontalAdvance(p.text));
    layOut(m_width);
}

bool TextFlow::joins(int index) const {
    if (index <= 0 || index >= size()) return false;
    const DisplayPiece &before = piece(index - 1), &now = piece(index);
    if (before.blank || before.breaks > 0 || now.space) return false;
    return !now.blank || m_characters;  // a space hangs on the word before it
}

int TextFlow::padded(int index) const {
    const int advance = m_advances[static_cast<std::size_t>(index)];
    if (m_characters) return std::max(advance, 7) + (piece(index).hex ? 4 : 0);
    const bool boxes = m_spacing == Spacing::Boxes;
    const int left = joins(index) ? (boxes ? inner : 0) : outer(m_spacing);
    const int right = joins(index + 1) ? (boxes ? inner : 0) : outer(m_spacing);
    const int bytes = piece(index).hex ? 2 : 0;
    return std::max(advance + left + right + bytes, boxes ? kNarrowestPiece : 6);
}

void TextFlow::layOut(int width) {
    m_width = width;
    m_places.clear();
    m_places.reserve(m_pieces.size());
    m_lines.clear();
    m_height = 0;
    if (m_pieces.empty()) return;
    // Room for the space that hangs behind the last word of a line.
    const int limit = std::max(40, width - (m_characters ? kNarrowestPiece : 0));
    const int joint = m_characters || m_spacing == Spacing::Reading ? 0 : 1;
    const int high = lineHeight() - (m_characters ? 1 : 3);
    int x = 0, y = 0;
    const auto newLine = [&](int extra) {
        x = 0;
        y += lineHeight() + extra;
    };
    const auto put = [&](int index) {
        if (x == 0) m_lines.push_back(index);
        const int wide = std::min(padded(index), limit);
        m_places.push_back(QRect(x, y, wide, high));
        x += wide;
    };
    for (int first = 0; first < size();) {
        int end = first + 1;
        int wide = padded(first);
        for (; joins(end); ++end)
            if (!(m_characters && piece(end).blank)) wide += joint + padded(end);
        const bool spaced = !m_characters || piece(first).space;
        if (x > 0) x += spaced && piece(first).space ? wordGap(m_spacing) : joint;
        if (x > 0 && x + wide > limit) newLine(0);
        for (int k = first; k < end; ++k) {
            if (k > first) x += joint;
            const bool hangs = m_characters && piece(k).blank;
            if (x > 0 && !hangs && x + padded(k) > limit) newLine(0);  // longer than a line
            put(k);
        }
        if (piece(end - 1).breaks > 0) newLine(piece(end - 1).breaks > 1 ? paragraphGap : 0);
        first = end;
    }
    m_height = m_places.back().bottom() + 1;
}

QRect TextFlow::place(int index) const {
    return index >= 0 && index < static_cast<int>(m_places.size())
               ? m_places[static_cast<std::size_t>(index)]
               : QRect();
}

int TextFlow::lineOf(int index) const {
    return static_cast<int>(std::upper_bound(m_lines.begin(), m_lines.end(), index) -
                            m_lines.begin()) -
           1;
}

int TextFlow::at(const QPoint& point) const {
    // Lines are ordered from the top; the gap below belongs to a line.
    const auto line = std::partition_point(
        m_lines.begin(), m_lines.end(), [&](int first) { return place(first).top() <= point.y(); });
    if (line == m_lines.begin() || point.x() < 0) return -1;
    const int first = *(line - 1);
    const int last = line == m_lines.end() ? size() : *line;
    if (point.y() > place(first).bottom() + 3) return -1;
    for (int k = first; k < last; ++k)
        if (point.x() <= place(k).right()) return k;
    return -1;
}

int TextFlow::moved(int index, int key) const {
    if (size() == 0) return -1;
    const int last = size() - 1;
    index = std::clamp(index, 0, last);
    if (key == Qt::Key_Left) return std::max(0, index - 1);
    if (key == Qt::Key_Right) return std::min(last, index + 1);
    if (key == Qt::Key_Home) return 0;
    if (key == Qt::Key_End) return last;
    if (key != Qt::Key_Up && key != Qt::Key_Down) return index;
    const int line = lineOf(index) + (key == Qt::Key_Down ? 1 : -1);
    if (line < 0 || line >= lines()) return index;
    const int end = line + 1 < lines() ? firstOf(line + 1) : size();
    const int middle = place(index).center().x();
    int best = firstOf(line);
    for (int k = best; k < end; ++k)
        if (std::abs(place(k).center().x() - middle) < std::abs(place(best).center().x() - middle))
            best = k;
    return best;
}

}  // namespace relascope::widgets
