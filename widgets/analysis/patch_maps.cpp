// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>

#include <QEvent>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolTip>
#include <QVBoxLayout>

#include "widgets/analysis/measure_frame.h"
#include "widgets/analysis/patch_maps.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kPatchFigureWidth = 900, kFigureHead = 34, kFigureBar = 44;
const char* const kPatchScale = "share of the way from B to A, 0: as B, +1: as A";

}  // namespace

PatchMapView::PatchMapView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Patching"), QStringLiteral("patching"), parent),
      m_scroll(new QScrollArea(this)),
      m_grid(new PatchMaps(this)),
      m_bar(new ColorBar(this)),
      m_footer(new ElidedLabel({}, this)) {
    m_scroll->setWidget(m_grid);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFocusProxy(m_grid);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_footer->setFont(numberFont(12));
    m_footer->setAccessibleName(QStringLiteral("Value"));
    auto* below = new QWidget(this);
    auto* row = rowOf(below, {16, 6, 16, 6}, 16);
    row->addWidget(m_footer, 3);
    row->addWidget(m_bar, 2);
    content()->addWidget(m_scroll, 1);
    content()->addWidget(horizontalLine(this));
    content()->addWidget(below);
    connect(m_grid, &PatchMaps::cellChosen, this, &PatchMapView::cellChosen);
    const auto show = [this](const PatchPlace& place) {
        m_footer->setText(m_grid->text(place.map < 0 ? m_grid->current() : place));
        m_bar->setMark(place.map < 0 ? std::numeric_limits<float>::quiet_NaN()
                                     : static_cast<float>(m_grid->value(place)));
    };
    connect(m_grid, &PatchMaps::hovered, this, show);
    connect(m_grid, &PatchMaps::cellChosen, this, [this, show](int map, int row, int column) {
        show({map, row, column});
        const QRect cell = m_grid->cellRect({map, row, column});
        m_scroll->ensureVisible(cell.center().x(), cell.center().y(), cell.width(), 60);
    });
    PatchMapView::clear(QStringLiteral("Choose a second input: drop it here with Shift."));
}

const PatchResult& PatchMapView::result() const {
    return m_grid->result();
}
QString PatchMapView::footerText() const {
    return m_footer->text();
}

void PatchMapView::clear(const QString& sentence) {
    m_grid->setResult({});
    m_footer->setText({});
    MeasureFrame::clear(sentence);
}

void PatchMapView::setResult(const PatchResult& result) {
    m_grid->setResult(result);
    QString sub = QStringLiteral("%1: A %2, B %3")
                      .arg(QString::fromStdString(result.metric), signedText(result.clean, 3),
                           signedText(result.corrupted, 3));
    if (result.total == 0) {
        sub += QStringLiteral("; estimates only");
    } else {
        sub += QStringLiteral("; %1 of %2 cells exact")
                   .arg(groupedNumber(result.done), groupedNumber(result.total));
        if (result.done >= 3 && !std::isnan(result.agreement))
            sub += QStringLiteral(", correlation with their estimates %1")
                       .arg(result.agreement, 0, 'f', 2);
    }
    head()->setSubText(sub);
    leaveEmpty();
    fit();
}

void PatchMapView::fit() {
    m_grid->fit(m_scroll->viewport()->width());
    m_bar->setScale(m_grid->scale());
    m_bar->setCaption(QLatin1String(kPatchScale));
}

void PatchMapView::resizeEvent(QResizeEvent* event) {
    MeasureFrame::resizeEvent(event);
    fit();
}
void PatchMapView::changeEvent(QEvent* event) {
    MeasureFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_bar) m_bar->setScale(m_grid->scale());
}

// Wrapped where the maps are narrow.
QRect PatchMapView::figureHead(int width) const {
    return QFontMetrics(headFont())
        .boundingRect(QRect(16, 8, width - 32, 200), Qt::TextWordWrap, figureTitle())
        .united(QRect(16, 8, 1, kFigureHead - 8));
}
QString PatchMapView::figureTitle() const {
    return QStringLiteral("Patching A into B: ") + headText();
}

QSize PatchMapView::figureSize() const {
    PatchMaps grid;
    grid.setResult(result());
    grid.fit(kPatchFigureWidth);
    const int width = std::max(480, grid.layoutSize().width());
    return {width, grid.layoutSize().height() + figureHead(width).bottom() + 5 + kFigureBar};
}

void PatchMapView::paintFigure(QPainter& painter) {
    PatchMaps grid;
    grid.setResult(result());
    grid.fit(kPatchFigureWidth);
    const QSize size = figureSize();
    const QRect head = figureHead(size.width());
    painter.setFont(headFont());
    painter.setPen(Theme::current().text);
    painter.drawText(head.adjusted(0, 0, 4, 0), Qt::TextWordWrap, figureTitle());
    painter.save();
    painter.translate(0, head.bottom() + 5);
    grid.paint(painter);
    painter.restore();
    ColorBar bar;
    bar.setPalette(Theme::current().palette());
    bar.setScale(grid.scale());
    bar.setCaption(QLatin1String(kPatchScale));
    bar.resize(380, bar.sizeHint().height());
    bar.render(&painter, QPoint(16, size.height() - kFigureBar), QRegion(), QWidget::DrawChildren);
}

namespace {

constexpr int kPatchMargin = 16, kTitle = 30, kPatchRow = 22, kPatchGap = 14, kNumbers = 18,
              kNames = 66;
constexpr int kLeastCell = 9, kMostCell = 46, kValueCell = 40;

int rowsOf(const PatchMap& map) {
    return static_cast<int>(map.rows.size());
}
int columnsOf(const PatchMap& map) {
    return static_cast<int>(map.columns.size());
}
std::size_t at(const PatchMap& map, int row, int column) {
    return static_cast<std::size_t>(row) * map.columns.size() + static_cast<std::size_t>(column);
}

int digitsOf(double value) {
    return std::abs(value) >= 100 ? 0 : std::abs(value) >= 10 ? 1 : 2;
}

// Lines at 45 degrees within a cell; lines, since SVG has no pattern brush.
void hatch(QPainter& painter, const QRect& cell, const QColor& ink) {
    constexpr int step = 5;
    painter.setPen(QPen(ink, 1));
    const int wide = cell.width(), high = cell.height();
    for (int d = step - high; d < wide; d += step) {
        const int from = std::max(0, -d), to = std::min(high, wide - d);
        if (to <= from) continue;
        painter.drawLine(QPointF(cell.left() + d + from, cell.top() + high - from),
                         QPointF(cell.left() + d + to, cell.top() + high - to));
    }
}

}  // namespace

PatchMaps::PatchMaps(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(QStringLiteral("Patching maps"));
    paintOnPanelColour(this);
}

void PatchMaps::setResult(const PatchResult& result) {
    const bool same = result.maps.size() == m_result.maps.size() && !result.maps.empty() &&
                      result.maps.front().columns == m_result.maps.front().columns;
    m_result = result;
    m_positions.clear();
    for (const auto& name : result.positions) m_positions << answerText(name);
    if (!same) m_current = {};
    fit(m_width);
    QStringList names;
    for (const auto& map : m_result.maps) names << patchMapTitle(map);
    setAccessibleDescription(names.join(QStringLiteral(", ")));
    update();
}

void PatchMaps::fit(int width) {
    m_width = width;
    m_boxes.clear();
    int labels = 0;
    const QFontMetrics metrics(smallFont()), mono(monoFont(11));
    for (const auto& map : m_result.maps)
        for (const auto& row : map.rows)
            labels = std::max(labels, metrics.horizontalAdvance(blockTitle(row)));
    labels = std::max(labels, metrics.horizontalAdvance(QStringLiteral("position")));
    labels += kPatchMargin + 10;
    int y = 4, wide = 0;
    for (const auto& map : m_result.maps) {
        Box box;
        const int columns = std::max(1, columnsOf(map));
        box.cell = std::clamp((width - labels - kPatchMargin) / columns, kLeastCell, kMostCell);
        box.names = m_positions.size() >= columns &&
                    patchColumnName(map) == QLatin1String("position") && box.cell >= 12;
        int longest = 0;
        for (int c = 0; box.names && c < columns; ++c)
            longest = std::max(longest, mono.horizontalAdvance(m_positions[c]));
        box.upright = longest > box.cell - 4;
        box.labels = box.upright ? std::min(kNames, longest + 10) : kNumbers;
        box.cells = QRect(labels, y + kTitle, box.cell * columns, kPatchRow * rowsOf(map));
        y = box.cells.bottom() + 1 + box.labels + kPatchGap;
        wide = std::max(wide, box.cells.right() + kPatchMargin);
        m_boxes.push_back(box);
    }
    m_size = QSize(wide, y);
    setMinimumSize(m_size);
    updateGeometry();
}

ColorScale PatchMaps::scale() const {
    double most = 0.0;
    for (const auto& map : m_result.maps)
        for (std::size_t k = 0; k < map.exact.size(); ++k) {
            const double value = std::isnan(map.exact[k]) ? map.estimate[k] : map.exact[k];
            if (std::isfinite(value)) most = std::max(most, std::abs(value));
        }
    const auto limit = static_cast<float>(most > 0 ? most : 1.0);
    return {ColorScale::Kind::Signed, {-limit, limit}, Theme::current()};
}

PatchPlace PatchMaps::placeAt(const QPoint& point) const {
    for (int m = 0; m < static_cast<int>(m_boxes.size()); ++m) {
        const Box& box = m_boxes[static_cast<std::size_t>(m)];
        if (box.cells.contains(point))
            return {m, (point.y() - box.cells.top()) / kPatchRow,
                    (point.x() - box.cells.left()) / box.cell};
    }
    return {};
}

QRect PatchMaps::cellRect(const PatchPlace& place) const {
    if (place.map < 0 || place.map >= static_cast<int>(m_boxes.size())) return {};
    const Box& box = m_boxes[static_cast<std::size_t>(place.map)];
    return {box.cells.left() + place.column * box.cell, box.cells.top() + place.row * kPatchRow,
            box.cell, kPatchRow};
}

double PatchMaps::value(const PatchPlace& place) const {
    const auto& map = m_result.maps[static_cast<std::size_t>(place.map)];
    const std::size_t k = at(map, place.row, place.column);
    return std::isnan(map.exact[k]) ? map.estimate[k] : map.exact[k];
}
bool PatchMaps::isExact(const PatchPlace& place) const {
    const auto& map = m_result.maps[static_cast<std::size_t>(place.map)];
    return !std::isnan(map.exact[at(map, place.row, place.column)]);
}

QString PatchMaps::columnText(const PatchMap& map, int column) const {
    const QString number = QString::fromStdString(map.columns[static_cast<std::size_t>(column)]);
    const QString name = patchColumnName(map);
    if (name != QLatin1String("position") || column >= m_positions.size())
        return QStringLiteral("%1 %2").arg(name, number);
    return QStringLiteral("%1 %2 \u201C%3\u201D").arg(name, number, m_positions[column]);
}

QString PatchMaps::text(const PatchPlace& place) const {
    if (place.map < 0) return {};
    const auto& map = m_result.maps[static_cast<std::size_t>(place.map)];
    const std::size_t k = at(map, place.row, place.column);
    const QString where =
        QStringLiteral("%1: %2, %3")
            .arg(patchMapTitle(map), blockTitle(map.rows[static_cast<std::size_t>(place.row)]),
                 columnText(map, place.column));
    const double exact = map.exact[k], estimate = map.estimate[k];
    if (std::isnan(exact) && std::isnan(estimate)) return where + QStringLiteral(": none");
    if (std::isnan(exact))
        return QStringLiteral("%1: about %2 (estimate)").arg(where, signedText(estimate, 3));
    return QStringLiteral("%1: %2 (estimate %3)")
        .arg(where, signedText(exact, 3), signedText(estimate, 3));
}

void PatchMaps::setCurrent(const PatchPlace& place) {
    m_current = place;
    update();
}

void PatchMaps::paintColumns(QPainter& painter, int m) const {
    const auto& map = m_result.maps[static_cast<std::size_t>(m)];
    const Box& box = m_boxes[static_cast<std::size_t>(m)];
    const int top = box.cells.bottom() + 1;
    painter.setPen(Theme::current().muted);
    painter.setFont(captionFont());
    painter.drawText(QRect(kPatchMargin, top, box.cells.left() - kPatchMargin - 10, kNumbers),
                     Qt::AlignRight | Qt::AlignVCenter, patchColumnName(map));
    if (box.names) {
        painter.setFont(monoFont(11));
        for (int c = 0; c < columnsOf(map); ++c) {
            if (!box.upright) {
                painter.drawText(QRect(box.cells.left() + c * box.cell, top, box.cell, kNumbers),
                                 Qt::AlignCenter, m_positions[c]);
                continue;
            }
            painter.save();
            painter.translate(box.cells.left() + c * box.cell, top + 4);
            painter.rotate(90);
            // Turned, a column is a line of text that reads downwards.
            paint::elidedText(painter, QRect(0, -box.cell, kNames - 8, box.cell),
                              Qt::AlignVCenter | Qt::AlignLeft, m_positions[c]);
            painter.restore();
        }
        return;
    }
    painter.setFont(numberFont(11));
    // Every column, every second, fifth, tenth and so on, as they fit.
    const int widest = painter.fontMetrics().horizontalAdvance(
        QString::number(columnsOf(map) > 0 ? columnsOf(map) : 1));
    int step = 1;
    for (const int next : {2, 5, 10, 20, 50, 100, 500})
        if (step * box.cell < widest + 6) step = next;
    const int first = map.columns.empty() ? 0 : QString::fromStdString(map.columns.front()).toInt();
    for (int c = 0; c < columnsOf(map); ++c) {
        if (step > 1 && (c + first) % step != 0) continue;
        painter.drawText(
            QRect(box.cells.left() + c * box.cell + box.cell / 2 - 30, top, 60, kNumbers),
            Qt::AlignCenter, QString::fromStdString(map.columns[static_cast<std::size_t>(c)]));
    }
}

void PatchMaps::paintMap(QPainter& painter, int m, const ColorScale& scale) const {
    const Theme& t = Theme::current();
    const auto& map = m_result.maps[static_cast<std::size_t>(m)];
    const Box& box = m_boxes[static_cast<std::size_t>(m)];
    QRect title(kPatchMargin, box.cells.top() - kTitle, m_size.width() - 2 * kPatchMargin,
                kTitle - 4);
    painter.setFont(headFont());
    painter.setPen(t.text);
    const QString name = patchMapTitle(map);
    painter.drawText(title, Qt::AlignVCenter, name);
    title.adjust(painter.fontMetrics().horizontalAdvance(name) + 10, 0, 0, 0);
    painter.setFont(monoFont(11));
    painter.setPen(t.muted);
    if (name != QString::fromStdString(map.point))
        painter.drawText(title, Qt::AlignVCenter, QString::fromStdString(map.point));
    for (int r = 0; r < rowsOf(map); ++r) {
        painter.setFont(smallFont());
        painter.setPen(t.muted);
        painter.drawText(QRect(kPatchMargin, box.cells.top() + r * kPatchRow,
                               box.cells.left() - kPatchMargin - 10, kPatchRow),
                         Qt::AlignRight | Qt::AlignVCenter,
                         blockTitle(map.rows[static_cast<std::size_t>(r)]));
        for (int c = 0; c < columnsOf(map); ++c) {
            const PatchPlace place{m, r, c};
            const double value = this->value(place);
            if (std::isnan(value)) continue;
            // A line of the page between cells, unless they are too narrow for it.
            const QRect cell = cellRect(place).adjusted(0, 0, box.cell >= 12 ? -1 : 0, -1);
            const QColor fill = scale.color(static_cast<float>(value));
            painter.fillRect(cell, fill);
            if (!isExact(place)) {
                QColor line = Theme::textOn(fill);
                line.setAlphaF(box.cell < kValueCell ? 0.28F : 0.2F);  // numbers stay readable
                hatch(painter, cell, line);
            }
            if (box.cell < kValueCell) continue;
            painter.setFont(numberFont(10));
            painter.setPen(Theme::textOn(fill));
            painter.drawText(cell, Qt::AlignCenter, signedText(value, digitsOf(value)));
        }
    }
    paintColumns(painter, m);
}

void PatchMaps::paint(QPainter& painter) const {
    const ColorScale colors = scale();
    for (int m = 0; m < static_cast<int>(m_boxes.size()); ++m) paintMap(painter, m, colors);
}

void PatchMaps::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    paint(painter);
    if (m_current.map < 0) return;
    painter.setPen(QPen(Theme::current().outline, 2));
    painter.drawRect(cellRect(m_current).adjusted(0, 0, -1, -1));
}

void PatchMaps::mouseMoveEvent(QMouseEvent* event) {
    Q_EMIT hovered(placeAt(event->pos()));
}
void PatchMaps::leaveEvent(QEvent*) {
    Q_EMIT hovered({});
}

// The keyboard shows where it is.
void PatchMaps::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    const bool keys =
        event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    if (!keys || m_current.map >= 0 || m_boxes.empty()) return;
    setCurrent({0, 0, 0});
    Q_EMIT hovered(m_current);
}

void PatchMaps::mousePressEvent(QMouseEvent* event) {
    const PatchPlace place = placeAt(event->pos());
    if (event->button() != Qt::LeftButton || place.map < 0) return;
    setCurrent(place);
    Q_EMIT cellChosen(place.map, place.row, place.column);
}

void PatchMaps::keyPressEvent(QKeyEvent* event) {
    if (m_result.maps.empty()) return QWidget::keyPressEvent(event);
    PatchPlace next = m_current;
    const int key = event->key();
    if (next.map < 0) {
        next = {0, 0, 0};
    } else if (key == Qt::Key_Left || key == Qt::Key_Right) {
        next.column += key == Qt::Key_Right ? 1 : -1;
    } else if (key == Qt::Key_Up || key == Qt::Key_Down) {
        next.row += key == Qt::Key_Down ? 1 : -1;
        // Beyond the last layer the map below begins.
        if (next.row < 0 && next.map > 0)
            next.row = rowsOf(m_result.maps[static_cast<std::size_t>(--next.map)]) - 1;
        else if (next.row >= rowsOf(m_result.maps[static_cast<std::size_t>(next.map)]) &&
                 next.map + 1 < static_cast<int>(m_result.maps.size()))
            ++next.map, next.row = 0;
    } else {
        return QWidget::keyPressEvent(event);
    }
    const auto& map = m_result.maps[static_cast<std::size_t>(next.map)];
    next.row = std::clamp(next.row, 0, rowsOf(map) - 1);
    next.column = std::clamp(next.column, 0, columnsOf(map) - 1);
    setCurrent(next);
    Q_EMIT hovered(next);
    Q_EMIT cellChosen(next.map, next.row, next.column);
}

bool PatchMaps::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString tip = text(placeAt(help->pos()));
        tip.isEmpty() ? QToolTip::hideText()
                      : QToolTip::showText(help->globalPos(), plainTip(tip), this);
        return true;
    }
    return QWidget::event(event);
}

}  // namespace relascope::widgets
