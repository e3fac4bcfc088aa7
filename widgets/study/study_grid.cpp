// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <tuple>

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include "widgets/export/export.h"
#include "widgets/study/study_grid.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr std::pair<CellState, const char*> kStates[] = {{CellState::Waiting, "waiting"},
                                                         {CellState::Running, "running"},
                                                         {CellState::Interrupted, "interrupted"},
                                                         {CellState::Failed, "failed"}};
constexpr int kBar = 80;

}  // namespace

StudyGridLegend::StudyGridLegend(const StudyGrid* grid, QWidget* parent)
    : QWidget(parent), m_grid(grid) {
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Legend of the grid"));
    setFixedHeight(24);
}

void StudyGridLegend::setMetric(const StudyMetric& metric) {
    m_metric = metric;
    setToolTip(QStringLiteral("Each square is a run; brighter is better, from %1 to %2")
                   .arg(metric.text(m_grid->picture().cells.range().first) + metric.unit(),
                        metric.text(m_grid->picture().cells.range().second) + metric.unit()));
    updateGeometry();
    update();
}

int StudyGridLegend::barWidth() const {
    const QFontMetrics numbers{numberFont(11)};
    const auto [low, high] = m_grid->picture().cells.range();
    return kBar + 12 + numbers.horizontalAdvance(m_metric.text(low) + m_metric.unit()) +
           numbers.horizontalAdvance(m_metric.text(high) + m_metric.unit());
}

QSize StudyGridLegend::sizeHint() const {
    int width = barWidth();
    for (const auto& [state, text] : kStates)
        width += 16 + 18 + QFontMetrics(captionFont()).horizontalAdvance(QLatin1String(text));
    return {width, 24};
}
QSize StudyGridLegend::minimumSizeHint() const {
    return {barWidth(), 24};
}

void StudyGridLegend::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setFont(numberFont(11));
    painter.setPen(t.muted);
    const auto [low, high] = m_grid->picture().cells.range();
    const QString ends[] = {m_metric.text(low) + m_metric.unit(),
                            m_metric.text(high) + m_metric.unit()};
    int x = width() - painter.fontMetrics().horizontalAdvance(ends[1]);
    painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter, ends[1]);
    x -= 6 + kBar;
    for (int i = 0; i < kBar; ++i)
        painter.fillRect(QRect(x + i, 6, 1, 12),
                         m_grid->picture().fill(low + (high - low) * (i + 0.5) / kBar));
    const int before = painter.fontMetrics().horizontalAdvance(ends[0]);
    x -= 6 + before;
    painter.drawText(QRect(x, 0, before + 2, height()), Qt::AlignVCenter, ends[0]);
    painter.setFont(captionFont());
    for (auto it = std::rbegin(kStates); it != std::rend(kStates); ++it) {
        const QString text = QLatin1String(it->second);
        const int wide = painter.fontMetrics().horizontalAdvance(text);
        x -= 16 + 18 + wide;
        if (x < 0) return;
        paintStudyMark(painter, QRect(x, 4, 12, 16), it->first, 0.5, {});
        painter.setPen(t.muted);
        painter.drawText(QRect(x + 18, 0, wide + 2, height()), Qt::AlignVCenter, text);
    }
}

namespace {

constexpr int kMarkHeight = 18, kCellGap = 14, kSmallest = 8, kLargest = 40, kWidestCell = 176;
constexpr int kNumberMark = 30;  ///< a square of that width has room for its number

}  // namespace

void paintStudyMark(QPainter& painter, const QRect& mark, CellState state, double progress,
                    const QColor& fill) {
    const Theme& t = Theme::current();
    const auto border = [&](const QColor& color, int width) {
        for (int i = 0; i < width; ++i) {
            const QRect r = mark.adjusted(i, i, -i, -i);
            painter.fillRect(QRect(r.left(), r.top(), r.width(), 1), color);
            painter.fillRect(QRect(r.left(), r.bottom(), r.width(), 1), color);
            painter.fillRect(QRect(r.left(), r.top(), 1, r.height()), color);
            painter.fillRect(QRect(r.right(), r.top(), 1, r.height()), color);
        }
    };
    // Filled from the bottom.
    const auto level = [&](QColor color, float alpha) {
        color.setAlphaF(alpha);
        const int height = qRound(std::clamp(progress, 0.0, 1.0) * (mark.height() - 4));
        painter.fillRect(
            QRect(mark.left() + 2, mark.bottom() - 1 - height, mark.width() - 4, height), color);
    };
    switch (state) {
        case CellState::Done:
            painter.fillRect(mark, fill.isValid() ? fill : t.track);
            return;
        case CellState::Waiting:
            painter.fillRect(mark, t.panel);
            return border(t.controlBorder, 1);
        case CellState::Running:
            painter.fillRect(mark, t.selection);
            level(t.accent, 0.45F);
            return border(t.accent, 2);
        case CellState::Failed:
            painter.fillRect(mark, t.errorFill);
            painter.fillRect(mark, hatchBrush(t.error));
            return border(t.error, 1);
        case CellState::Interrupted: {
            painter.fillRect(mark, t.warningFill);
            level(t.warning, 0.35F);
            border(t.warning, 1);
            const QPoint c = mark.center();  // the two bars of a pause
            painter.fillRect(QRect(c.x() - 2, c.y() - 3, 2, 7), t.warning);
            painter.fillRect(QRect(c.x() + 2, c.y() - 3, 2, 7), t.warning);
            return;
        }
    }
}

void StudyGridPicture::measure(int width) {
    const QFontMetrics names{bodyFont()}, details{captionFont()}, numbers{numberFont(11)};
    int label = 0;
    for (const auto& row : cells.layout().rows())
        label = std::max({label, names.horizontalAdvance(row.title) + 20,
                          details.horizontalAdvance(row.detail) + 20});
    m_labelWidth = std::clamp(label + 2 * margin, 120, 280);
    const int columns = std::max(1, cells.columns());
    const int room = (width - m_labelWidth - margin) / columns;
    m_mark = std::clamp((room - kCellGap) / cells.mostInACell() - gap, kSmallest, kLargest);
    int needed = cells.mostInACell() * (m_mark + gap) - gap;
    for (const auto& column : cells.layout().columns())
        needed = std::max(needed, numbers.horizontalAdvance(column.title));
    m_cellWidth = std::max(needed + kCellGap, std::min(room, kWidestCell));
}

void StudyGridPicture::restyle() {
    m_scale = ColorScale(ColorScale::Kind::Sequential, {0.0F, 1.0F}, Theme::current());
}

QColor StudyGridPicture::fill(double value) const {
    if (!std::isfinite(value)) return {};
    const auto [low, high] = cells.range();
    const double span = high - low;
    return m_scale.color(static_cast<float>(span != 0.0 ? (value - low) / span : 0.5));
}

QSize StudyGridPicture::size() const {
    return {m_labelWidth + cells.columns() * m_cellWidth,
            headHeight + cells.rows() * rowHeight + 4};
}

QRect StudyGridPicture::runRect(int index) const {
    if (!cells.contains(index)) return {};
    const GridRun& run = cells.run(index);
    return markRect(run.row, run.column, cells.place(index));
}

QRect StudyGridPicture::markRect(int row, int column, int place) const {
    return {m_labelWidth + column * m_cellWidth + place * (m_mark + gap),
            headHeight + row * rowHeight + 6, m_mark, kMarkHeight};
}

int StudyGridPicture::runAt(const QPoint& at) const {
    const int x = at.x() - m_labelWidth, y = at.y() - headHeight;
    if (x < 0 || y < 0) return -1;
    const int row = y / rowHeight, column = x / m_cellWidth;
    if (row >= cells.rows() || column >= cells.columns()) return -1;
    const auto& runs = cells.cell(row, column).runs;
    const auto place = static_cast<std::size_t>((x - column * m_cellWidth) / (m_mark + gap));
    const int inside = y - row * rowHeight - 6;
    // The gap belongs to the previous square, so that small squares are easy to click.
    return inside >= -2 && inside <= kMarkHeight + 1 && place < runs.size() ? runs[place] : -1;
}

void StudyGridPicture::paintSeen(QPainter& painter, const QPoint& scrolled,
                                 const QSize& seen) const {
    const Theme& t = Theme::current();
    const int dx = scrolled.x(), dy = scrolled.y(), rows = cells.rows();
    const int first = dy / rowHeight,
              last = std::min(rows - 1, (dy + seen.height() - headHeight) / rowHeight);
    painter.save();
    painter.setClipRect(
        QRect(m_labelWidth - 4, headHeight, seen.width(), seen.height() - headHeight));
    painter.translate(-dx, -dy);
    for (int row = first; row <= last; ++row) paintRow(painter, row, dx + seen.width());
    painter.restore();
    painter.save();
    painter.setClipRect(QRect(0, headHeight, m_labelWidth - 4, seen.height() - headHeight));
    painter.translate(0, -dy);
    for (int row = first; row <= last; ++row) paintLabel(painter, row, m_labelWidth);
    painter.restore();
    painter.save();
    painter.setClipRect(QRect(0, 0, seen.width(), headHeight));
    painter.translate(-dx, 0);
    paintHead(painter, dx + seen.width());
    painter.translate(dx, 0);
    painter.fillRect(QRect(0, 0, m_labelWidth - 4, headHeight - 1), t.alt);
    paintCorner(painter);
    painter.restore();
    if (dx > 0) painter.fillRect(QRect(m_labelWidth - 5, 0, 1, seen.height()), t.border);
}

void StudyGridPicture::paintCorner(QPainter& painter) const {
    painter.setPen(Theme::current().muted);
    painter.setFont(smallFont());
    painter.drawText(QRect(margin, 0, m_labelWidth - margin, headHeight - 1), Qt::AlignVCenter,
                     QStringLiteral("Model"));
}

void StudyGridPicture::paintWhole(QPainter& painter) const {
    const QSize whole = size();
    paintHead(painter, whole.width());
    paintCorner(painter);
    for (int row = 0; row < cells.rows(); ++row) {
        paintRow(painter, row, whole.width());
        paintLabel(painter, row, m_labelWidth);
    }
}

void StudyGridPicture::paintHead(QPainter& painter, int width) const {
    const Theme& t = Theme::current();
    painter.fillRect(QRect(0, 0, width, headHeight - 1), t.alt);
    painter.fillRect(QRect(0, headHeight - 1, width, 1), t.grid);
    painter.setFont(numberFont(12));
    painter.setPen(t.muted);
    for (int c = 0; c < cells.columns(); ++c) {
        const QRect box(m_labelWidth + c * m_cellWidth, 0, m_cellWidth - 4, headHeight - 1);
        paint::elidedText(painter, box, Qt::AlignVCenter,
                          cells.layout().columns()[static_cast<std::size_t>(c)].title);
    }
}

void StudyGridPicture::paintLabel(QPainter& painter, int row, int width) const {
    const Theme& t = Theme::current();
    const auto& label = cells.layout().rows()[static_cast<std::size_t>(row)];
    const int top = headHeight + row * rowHeight;
    painter.save();
    paint::swatch(painter, QPointF(margin, top + 10), t.seriesColor(row));
    painter.restore();
    const int left = margin + 18, room = width - left - 10;
    painter.setPen(t.text);
    painter.setFont(bodyFont());
    paint::elidedText(painter, QRect(left, top + 5, room, 18), Qt::AlignVCenter, label.title,
                      Qt::ElideMiddle);
    painter.setPen(t.muted);
    painter.setFont(captionFont());
    paint::elidedText(painter, QRect(left, top + 23, room, 16), Qt::AlignVCenter, label.detail);
    painter.fillRect(QRect(0, top + rowHeight - 1, width, 1), t.grid);
}

void StudyGridPicture::paintRow(QPainter& painter, int row, int width) const {
    const Theme& t = Theme::current();
    const int top = headHeight + row * rowHeight;
    painter.fillRect(QRect(0, top + rowHeight - 1, width, 1), t.grid);
    const QRectF seen = painter.hasClipping() ? painter.clipBoundingRect() : QRectF();
    for (int column = 0; column < cells.columns(); ++column) {
        const int left = m_labelWidth + column * m_cellWidth;
        if (!seen.isEmpty() && (left > seen.right() || left + m_cellWidth < seen.left())) continue;
        const StudyCells::Cell& here = cells.cell(row, column);
        for (std::size_t place = 0; place < here.runs.size(); ++place)
            paintRun(painter, here.runs[place], markRect(row, column, static_cast<int>(place)));
        painter.setFont(numberFont(11));
        painter.setPen(std::isnan(here.mean) ? t.muted : t.text);
        painter.drawText(QRect(left, top + 25, m_cellWidth - 2, 15), Qt::AlignVCenter,
                         here.runs.empty() ? QString() : cells.metric().text(here.mean));
    }
}

void StudyGridPicture::paintRun(QPainter& painter, int index, const QRect& mark) const {
    const Theme& t = Theme::current();
    const GridRun& run = cells.run(index);
    const QColor shade = fill(run.value);
    paintStudyMark(painter, mark, run.state, run.progress, shade);
    if (run.state == CellState::Done && m_mark >= kNumberMark && shade.isValid()) {
        painter.setFont(numberFont(11));
        painter.setPen(Theme::textOn(shade));
        painter.drawText(mark, Qt::AlignCenter, cells.metric().text(run.value));
    } else if (run.state == CellState::Running && m_mark >= kNumberMark) {
        painter.setFont(numberFont(11));
        painter.setPen(t.text);
        painter.drawText(mark, Qt::AlignCenter,
                         QStringLiteral("%1%").arg(qRound(100.0 * run.progress)));
    }
    if ((index != current && index != hovered) || FigureScope::paper()) return;
    painter.setPen(QPen(index == current ? t.accent : t.text, index == current ? 2 : 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(index == current ? mark.adjusted(-2, -2, 2, 2) : mark.adjusted(-1, -1, 0, 0));
}

namespace {

using GridSizes = StudyGridPicture;

}  // namespace

StudyGrid::StudyGrid(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Runs of the study"));
    viewport()->setMouseTracking(true);
    setMinimumHeight(GridSizes::headHeight + GridSizes::rowHeight);
    restyle();
}

void StudyGrid::setStudy(const StudyLayout& layout, const StudyMetric& metric,
                         std::vector<GridRun> runs) {
    const QString chosen = current() >= 0 ? this->runs()[std::size_t(current())].name : QString();
    m_picture.cells.set(layout, metric, std::move(runs));
    m_picture.current = chosen.isEmpty() ? -1 : m_picture.cells.find(chosen);
    m_picture.hovered = -1;
    setAccessibleDescription(m_picture.cells.summary());
    measure();
    viewport()->update();
}

void StudyGrid::setRetry(bool possible, const QString& reason) {
    m_retry = possible;
    m_retryReason = reason;
}

void StudyGrid::measure() {
    const QSize seen = viewport()->size();
    m_picture.measure(seen.width());
    const QSize whole = m_picture.size();
    horizontalScrollBar()->setRange(0, std::max(0, whole.width() - seen.width()));
    horizontalScrollBar()->setPageStep(seen.width());
    horizontalScrollBar()->setSingleStep(m_picture.cellWidth());
    verticalScrollBar()->setRange(0, std::max(0, whole.height() - seen.height()));
    verticalScrollBar()->setPageStep(seen.height() - GridSizes::headHeight);
    verticalScrollBar()->setSingleStep(GridSizes::rowHeight);
}

QSize StudyGrid::sizeHint() const {
    return {640, GridSizes::headHeight + 5 * GridSizes::rowHeight + 4};
}

QPoint StudyGrid::scrolled() const {
    return {horizontalScrollBar()->value(), verticalScrollBar()->value()};
}
QRect StudyGrid::runRect(int index) const {
    const QRect mark = m_picture.runRect(index);
    return mark.isEmpty() ? mark : mark.translated(-scrolled());
}
int StudyGrid::runAt(const QPoint& at) const {
    // Head and labels cover the scrolled content.
    if (at.y() < GridSizes::headHeight || at.x() < m_picture.labelWidth()) return -1;
    return m_picture.runAt(at + scrolled());
}

void StudyGrid::setCurrent(int index) {
    m_picture.current = m_picture.cells.contains(index) ? index : -1;
    if (current() >= 0) {
        const QRect mark = runRect(current());
        auto* across = horizontalScrollBar();
        auto* down = verticalScrollBar();
        if (mark.left() < m_picture.labelWidth())
            across->setValue(across->value() + mark.left() - m_picture.labelWidth() -
                             GridSizes::gap);
        else if (mark.right() + GridSizes::margin > viewport()->width())
            across->setValue(across->value() + mark.right() + GridSizes::margin -
                             viewport()->width());
        if (mark.top() < GridSizes::headHeight + GridSizes::markTop)
            down->setValue(down->value() + mark.top() - GridSizes::headHeight - GridSizes::markTop);
        else if (mark.top() - GridSizes::markTop + GridSizes::rowHeight > viewport()->height())
            down->setValue(down->value() + mark.top() - GridSizes::markTop + GridSizes::rowHeight -
                           viewport()->height());
        setAccessibleDescription(m_picture.cells.text(current()));
    }
    viewport()->update();
}

void StudyGrid::choose(int index) {
    if (!m_picture.cells.contains(index)) return;
    setCurrent(index);
    Q_EMIT currentChanged(current());
}

void StudyGrid::activate(int index) {
    if (index < 0) return;
    const QString& path = m_picture.cells.run(index).path;
    if (!path.isEmpty()) Q_EMIT runActivated(path);
}

void StudyGrid::step(int right, int down) {
    choose(current() < 0 ? 0 : m_picture.cells.stepped(current(), right, down));
}

void StudyGrid::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) {
        if (current() >= 0) QApplication::clipboard()->setText(m_picture.cells.text(current()));
        return;
    }
    const bool plain =
        event->modifiers() == Qt::NoModifier || event->modifiers() == Qt::KeypadModifier;
    const int page =
        std::max(1, (viewport()->height() - GridSizes::headHeight) / GridSizes::rowHeight);
    switch (plain ? event->key() : 0) {
        case Qt::Key_Left:
            return step(-1, 0);
        case Qt::Key_Right:
            return step(1, 0);
        case Qt::Key_Up:
            return step(0, -1);
        case Qt::Key_Down:
            return step(0, 1);
        case Qt::Key_PageUp:
            return step(0, -page);
        case Qt::Key_PageDown:
            return step(0, page);
        case Qt::Key_Home:
            return choose(0);
        case Qt::Key_End:
            return choose(static_cast<int>(runs().size()) - 1);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return activate(current());
        default:
            QAbstractScrollArea::keyPressEvent(event);
    }
}

void StudyGrid::mousePressEvent(QMouseEvent* event) {
    if (const int index = runAt(event->pos()); index >= 0) choose(index);
}

void StudyGrid::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) activate(runAt(event->pos()));
}

void StudyGrid::mouseMoveEvent(QMouseEvent* event) {
    const int before = std::exchange(m_picture.hovered, runAt(event->pos()));
    if (before != m_picture.hovered) viewport()->update();
}

bool StudyGrid::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const int index = runAt(help->pos());
        if (index >= 0)
            QToolTip::showText(help->globalPos(), plainTip(m_picture.cells.text(index)), viewport(),
                               runRect(index));
        else
            QToolTip::hideText();
        return true;
    }
    if (event->type() == QEvent::Leave && m_picture.hovered >= 0) {
        m_picture.hovered = -1;
        viewport()->update();
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void StudyGrid::contextMenuEvent(QContextMenuEvent* event) {
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    const int index = byKey ? current() : runAt(event->pos());
    if (index >= 0) choose(index);
    showRunMenu(index, byKey && index >= 0 ? viewport()->mapToGlobal(runRect(index).bottomLeft())
                                           : event->globalPos());
}

void StudyGrid::showRunMenu(int index, const QPoint& globalAt) {
    QMenu menu(this);
    menu.setToolTipsVisible(true);
    if (index >= 0) {
        const GridRun& run = m_picture.cells.run(index);
        const bool begun = !run.path.isEmpty();
        const QString never = QStringLiteral("This run has not started");
        for (auto [text, name, send] :
             {std::tuple{"Open in the Workbench", "eye", &StudyGrid::runActivated},
              std::tuple{"Open folder", "folder", &StudyGrid::folderRequested}}) {
            auto* action = menu.addAction(icon(name), QString::fromLatin1(text), this,
                                          [this, send, path = run.path] {
                                              Q_EMIT(this->*send)
                                              (path);
                                          });
            action->setEnabled(begun);
            if (!begun) action->setToolTip(never);
        }
        menu.addAction(
            icon("copy"), QStringLiteral("Copy error message"), this,
            [text = m_picture.cells.text(index)] { QApplication::clipboard()->setText(text); });
        menu.addSeparator();
    }
    auto* retry = menu.addAction(icon("restart"), QStringLiteral("Retry failed runs"), this,
                                 &StudyGrid::retryRequested);
    retry->setEnabled(m_retry);
    retry->setToolTip(
        m_retry ? QStringLiteral("Starts the failed runs again; their old files are moved aside")
                : m_retryReason);
    if (m_viewMenu) {
        menu.addSeparator();
        m_viewMenu->addTo(&menu);
    }
    menu.exec(globalAt);
}

void StudyGrid::paintEvent(QPaintEvent* event) {
    QPainter painter(viewport());
    painter.fillRect(event->rect(), Theme::current().panel);
    m_picture.paintSeen(painter, scrolled(), viewport()->size());
}

void StudyGrid::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    measure();
}

void StudyGrid::scrollContentsBy(int, int) {
    viewport()->update();
}

void StudyGrid::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) restyle();
}

void StudyGrid::restyle() {
    m_picture.restyle();
    if (viewport()) viewport()->update();
}

}  // namespace relascope::widgets
