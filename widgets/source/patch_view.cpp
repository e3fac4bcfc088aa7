// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>

#include "widgets/source/patch_view.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

int patchOfToken(const PatchGrid& grid, int token) {
    const int patch = token - grid.firstTokens();
    return patch >= 0 && patch < grid.rows * grid.columns ? patch : -1;
}
int tokenOfPatch(const PatchGrid& grid, int patch) {
    return patch + grid.firstTokens();
}

QString tokenName(const PatchGrid& grid, int token) {
    if (grid.classToken && token == 0) return QStringLiteral("class token");
    if (grid.isDistillation(token)) return QStringLiteral("distillation token");
    if (const int number = grid.registerOf(token); number > 0)
        return QStringLiteral("register %1").arg(number);
    const int patch = patchOfToken(grid, token);
    if (patch < 0) return QStringLiteral("token %1").arg(token);
    return QStringLiteral("patch (%1, %2)").arg(patch / grid.columns).arg(patch % grid.columns);
}

QString tokenLabel(const PatchGrid& grid, int token) {
    if (grid.classToken && token == 0) return QStringLiteral("cls");
    if (grid.isDistillation(token)) return QStringLiteral("dist");
    if (const int number = grid.registerOf(token); number > 0)
        return QStringLiteral("r%1").arg(number);
    const int patch = patchOfToken(grid, token);
    if (patch < 0) return QString::number(token);
    return QStringLiteral("(%1,%2)").arg(patch / grid.columns).arg(patch % grid.columns);
}

QRect patchRect(const PatchGrid& grid, int patch, const QSize& image) {
    if (grid.columns <= 0 || grid.rows <= 0 || patch < 0) return {};
    const int row = patch / grid.columns;
    const int column = patch % grid.columns;
    const int x0 = column * image.width() / grid.columns;
    const int x1 = (column + 1) * image.width() / grid.columns;
    const int y0 = row * image.height() / grid.rows;
    const int y1 = (row + 1) * image.height() / grid.rows;
    return {x0, y0, x1 - x0, y1 - y0};
}

std::vector<AxisToken> patchTokens(const ProbeResult& result, int count) {
    const QImage image = toQImage(result.sample.image);
    std::vector<AxisToken> tokens;
    tokens.reserve(static_cast<std::size_t>(qMax(0, count)));
    for (int t = 0; t < count; ++t) {
        AxisToken token{tokenLabel(result.grid, t), tokenName(result.grid, t), {}, false};
        const int patch = patchOfToken(result.grid, t);
        if (patch >= 0 && !image.isNull())
            token.picture = image.copy(patchRect(result.grid, patch, image.size()));
        tokens.push_back(std::move(token));
    }
    return tokens;
}

std::vector<AxisToken> numberedTokens(int count, const QString& word) {
    std::vector<AxisToken> tokens;
    for (int t = 0; t < count; ++t)
        tokens.push_back({QString::number(t), QStringLiteral("%1 %2").arg(word).arg(t), {}, false});
    return tokens;
}

namespace {
constexpr int chipHeight = 24;
constexpr int chipGap = 10;
constexpr int numberedPatch = 64;  ///< from this size a patch carries its number
constexpr int patchEdge = 1;       ///< room for the outline of a patch at the border
constexpr int reach = 4;           ///< how far the marks of a token extend beyond it

/// The letter of i or j in the corner of its patch.
void paintTag(QPainter& painter, const QRect& patch, const QString& letter, const QColor& ink) {
    if (patch.width() < 30 || patch.height() < 30) return;
    const Theme& t = Theme::current();
    QFont font = captionFont();
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    const QRect tag(patch.left() + 5, patch.top() + 5, 14, 16);
    QColor fill = t.alt;
    fill.setAlpha(235);
    paint::frame(painter, tag, fill, QColor(), 2);
    painter.setPen(ink);
    painter.drawText(tag, Qt::AlignCenter, letter);
}

}  // namespace

PatchView::PatchView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(QStringLiteral("Source image"));
    describe();
}

void PatchView::setImage(const Image& image, const PatchGrid& grid) {
    m_image = toQImage(image);
    const bool same = grid == m_grid;
    m_grid = grid;
    if (!same) {
        m_hover = -1;
        clampChoice();
    }
    layOut();
    describe();
}

void PatchView::setTargetsOnly(bool on) {
    if (on == m_targetsOnly) return;
    m_targetsOnly = on;
    update();
    describe();
}
void PatchView::touch(bool, int token) {
    if (token >= 0) update(tokenRect(token).adjusted(-reach, -reach, reach, reach));
}

void PatchView::layOut() {
    update();
    m_chips.clear();
    if (m_image.isNull() || m_grid.rows <= 0 || m_grid.columns <= 0) {
        m_place = QRect();
        return;
    }
    // The chips of tokens before the patches take room where there is more of it: beside or below.
    const QSize whole(width() - 2 * patchEdge, height() - 2 * patchEdge);
    const auto sizeIn = [this](int wide, int high) {
        const double fit = qMin(static_cast<double>(wide) / m_image.width(),
                                static_cast<double>(high) / m_image.height());
        // Whole pixels, so that the nearest neighbour stays even, unless that costs much room and
        // one pixel more or less is not seen.
        if (fit >= 1 && fit < 4) return m_image.size() * static_cast<int>(fit);
        return QSize(qMax(1, static_cast<int>(m_image.width() * fit)),
                     qMax(1, static_cast<int>(m_image.height() * fit)));
    };
    QSize size = sizeIn(whole.width(), whole.height());
    const int count = m_grid.firstTokens();
    if (count == 0) {
        m_place = QRect(QPoint(patchEdge, patchEdge), size);
        return;
    }
    // One width for all, with room for the widest number, so that the image keeps its size when the
    // number changes.
    int wide = 0;
    for (int token = 0; token < count; ++token)
        wide = qMax(wide,
                    QFontMetrics(smallFont())
                        .horizontalAdvance(tokenName(m_grid, token) + QStringLiteral(" +00.00")));
    wide += 20;
    const int step = chipHeight + 4,
              columns = qMax(1, (whole.width() + 4) / (wide + 4)),  // of those below
        rows = (count + columns - 1) / columns;
    const QSize above = sizeIn(whole.width(), whole.height() - rows * step - chipGap),
                next = sizeIn(whole.width() - wide - chipGap, whole.height());
    const bool beside = next.height() > above.height() && count * step <= whole.height();
    m_place = QRect(QPoint(patchEdge, patchEdge), beside ? next : above);
    const QPoint first = beside ? QPoint(m_place.right() + 1 + chipGap, m_place.top())
                                : QPoint(m_place.left(), m_place.bottom() + 1 + chipGap);
    for (int token = 0; token < count; ++token) {
        const int column = beside ? 0 : token % columns, row = beside ? token : token / columns;
        m_chips.emplace_back(first + QPoint(column * (wide + 4), row * step),
                             QSize(wide, chipHeight));
    }
}

QRect PatchView::tokenRect(int token) const {
    if (m_place.isEmpty()) return {};
    if (token >= 0 && token < static_cast<int>(m_chips.size()))
        return m_chips[static_cast<std::size_t>(token)];
    const int patch = patchOfToken(m_grid, token);
    return patch < 0 ? QRect()
                     : patchRect(m_grid, patch, m_place.size()).translated(m_place.topLeft());
}

int PatchView::tokenAt(const QPoint& point) const {
    if (m_place.contains(point)) {
        const int column = (point.x() - m_place.left()) * m_grid.columns / m_place.width();
        const int row = (point.y() - m_place.top()) * m_grid.rows / m_place.height();
        const int guess = tokenOfPatch(m_grid, row * m_grid.columns + column);
        // Patch sizes may differ by a pixel, so only the neighbours are other candidates.
        for (const int token :
             {guess, guess - 1, guess + 1, guess - m_grid.columns, guess + m_grid.columns})
            if (patchOfToken(m_grid, token) >= 0 && tokenRect(token).contains(point)) return token;
        return guess;
    }
    for (std::size_t chip = 0; chip < m_chips.size(); ++chip)
        if (m_chips[chip].contains(point)) return static_cast<int>(chip);
    return -1;
}

QString PatchView::numberOf(int token) const {
    return std::isnan(value(token)) ? QString() : number(token);
}

void PatchView::describe() {
    QString text = m_image.isNull() ? QStringLiteral("no image")
                   : m_targetsOnly  ? QStringLiteral("patches as senders")
                                    : QStringLiteral("i is %1").arg(tokenName(m_grid, source()));
    if (const int j = shownTarget(); j >= 0 && !m_image.isNull())
        text += QStringLiteral(", j is %1, value %2").arg(tokenName(m_grid, j), numberOf(j));
    setAccessibleDescription(text);
}

void PatchView::setHover(int token) {
    if (token == m_hover) return;
    touch(true, shownTarget());
    m_hover = token;
    touch(true, shownTarget());
    Q_EMIT hovered(token);
}

void PatchView::resizeEvent(QResizeEvent*) {
    layOut();
}
void PatchView::leaveEvent(QEvent*) {
    setHover(-1);
}
void PatchView::mouseMoveEvent(QMouseEvent* event) {
    setHover(tokenAt(event->position().toPoint()));
}
void PatchView::mousePressEvent(QMouseEvent* event) {
    const int token = tokenAt(event->position().toPoint());
    if (token < 0 || event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
    choose(this, m_targetsOnly || event->modifiers() & Qt::ShiftModifier, token);
}

/// Down from the last row reaches the chips, of which up leaves the first.
int PatchView::moved(int token, int key) const {
    const int chips = static_cast<int>(m_chips.size());
    if (token < chips) {
        const bool back = key == Qt::Key_Up || key == Qt::Key_Left;
        if (back && token == 0) return tokenOfPatch(m_grid, (m_grid.rows - 1) * m_grid.columns);
        return qBound(0, token + (back ? -1 : 1), chips - 1);
    }
    const int patch = qMax(0, patchOfToken(m_grid, token));
    int row = patch / m_grid.columns;
    int column = patch % m_grid.columns;
    if (key == Qt::Key_Down && row + 1 >= m_grid.rows) return chips > 0 ? 0 : token;
    if (key == Qt::Key_Left) column = qMax(0, column - 1);
    if (key == Qt::Key_Right) column = qMin(m_grid.columns - 1, column + 1);
    if (key == Qt::Key_Up) row = qMax(0, row - 1);
    if (key == Qt::Key_Down) row += 1;
    return tokenOfPatch(m_grid, row * m_grid.columns + column);
}

void PatchView::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const bool arrow =
        key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down;
    if (!arrow || m_grid.tokens() == 0) return QWidget::keyPressEvent(event);
    setHover(-1);  // a resting pointer must not hide what the keys choose
    const bool sends = m_targetsOnly || event->modifiers() & Qt::ShiftModifier;
    choose(this, sends, moved(sends && target() >= 0 ? target() : source(), key));
}

void PatchView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) update();
}

void PatchView::paintEvent(QPaintEvent* event) {
    QPainter painter(this);
    if (m_place.isEmpty()) return;
    painter.setRenderHint(QPainter::SmoothPixmapTransform, m_place.width() < m_image.width());
    drawPixels(painter, m_place, m_image);
    const int patches = m_grid.rows * m_grid.columns;
    for (int p = 0; p < patches; ++p)
        if (event->rect().intersects(tokenRect(tokenOfPatch(m_grid, p)))) paintPatch(painter, p);
    const Theme& t = Theme::current();
    QColor line = t.panel;
    line.setAlpha(70);
    for (int c = 1; c < m_grid.columns && m_place.width() / m_grid.columns >= 6; ++c)
        painter.fillRect(QRect(patchRect(m_grid, c, m_place.size()).left() + m_place.left(),
                               m_place.top(), 1, m_place.height()),
                         line);
    for (int r = 1; r < m_grid.rows && m_place.height() / m_grid.rows >= 6; ++r)
        painter.fillRect(
            QRect(m_place.left(),
                  patchRect(m_grid, r * m_grid.columns, m_place.size()).top() + m_place.top(),
                  m_place.width(), 1),
            line);
    for (int token = 0; token < static_cast<int>(m_chips.size()); ++token)
        paintChip(painter, token);
    paintMarks(painter);
    if (paint::keyboardFocus(this)) paint::focusRing(painter, rect());
}

void PatchView::paintPatch(QPainter& painter, int patch) {
    const int token = tokenOfPatch(m_grid, patch);
    const QRect place = tokenRect(token);
    const float v = value(token);
    if (isSource(token) || v != v) return;
    painter.fillRect(place, scale().tint(v));
    if (place.width() < numberedPatch || place.height() < numberedPatch) return;
    const Theme& t = Theme::current();
    const QString number = numberOf(token);
    painter.setFont(numberFont(11));
    const int wide = painter.fontMetrics().horizontalAdvance(number) + 9;
    const QRect badge(place.left() + 5, place.bottom() - 20, wide, 16);
    QColor fill = t.alt;
    fill.setAlpha(235);
    paint::frame(painter, badge, fill, QColor(), 2);
    painter.setPen(t.text);
    painter.drawText(badge, Qt::AlignCenter, number);
}

void PatchView::paintMarks(QPainter& painter) {
    const Theme& t = Theme::current();
    const int j = shownTarget();
    painter.setBrush(Qt::NoBrush);
    if (j >= 0 && !isSource(j) && patchOfToken(m_grid, j) >= 0) {
        const QRect place = tokenRect(j);
        const QRectF line = QRectF(place).adjusted(1, 1, -1, -1);
        const qreal width = place.width() < 24 ? 1.0 : 2.0;
        // A dark line below pale dashes, visible on any image.
        painter.setPen(QPen(Theme::light().text, width, Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin));
        painter.drawRect(line);
        QPen dash(Theme::light().panel, width, Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin);
        dash.setDashPattern({3.0, 2.0});
        painter.setPen(dash);
        painter.drawRect(line);
        paintTag(painter, place, QStringLiteral("j"), t.text);
    }
    painter.setBrush(Qt::NoBrush);
    if (!m_targetsOnly && patchOfToken(m_grid, source()) >= 0) {
        const QRect place = tokenRect(source());
        const qreal width = place.width() < 24 ? 2.0 : 3.0;
        painter.setPen(QPen(t.outline, width, Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin));
        painter.drawRect(
            QRectF(place).adjusted(width / 2 - 1, width / 2 - 1, 1 - width / 2, 1 - width / 2));
        paintTag(painter, place, QStringLiteral("i"), t.outline);
    }
}

void PatchView::paintChip(QPainter& painter, int token) {
    const Theme& t = Theme::current();
    const QRect chip = tokenRect(token);
    const float v = value(token);
    QColor fill = t.alt;
    if (v == v && !isSource(token)) {  // the tint laid over the panel, as over a patch
        const QColor tint = scale().tint(v);
        const double a = tint.alphaF() * 0.8;
        const auto mix = [a](int x, int y) {
            return static_cast<int>(std::lround(x + a * (y - x)));
        };
        fill = QColor(mix(t.alt.red(), tint.red()), mix(t.alt.green(), tint.green()),
                      mix(t.alt.blue(), tint.blue()));
    }
    const bool i = isSource(token);
    const bool j = shownTarget() == token && !i;
    paint::frame(painter, chip, fill, i || j ? QColor() : t.controlBorder);
    if (i || j) {
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        QPen pen(i ? t.outline : t.text, i ? 2 : 1.5);
        if (j) pen.setDashPattern({3.0, 2.0});
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(chip).adjusted(1, 1, -1, -1), 4, 4);
        painter.restore();
    }
    painter.setFont(smallFont());
    painter.setPen(Theme::textOn(fill));
    const QString number = i ? QString() : numberOf(token);
    painter.drawText(chip.adjusted(9, 0, -4, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     tokenName(m_grid, token));
    painter.drawText(chip.adjusted(0, 0, -9, 0), Qt::AlignRight | Qt::AlignVCenter, number);
}

}  // namespace relascope::widgets
