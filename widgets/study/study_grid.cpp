// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/study/study_grid.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/export/export.h"
#include "widgets/study/study_grid_measures.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope {

using namespace study_grid;

StudyGrid::StudyGrid(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Runs of the study"));
    viewport()->setMouseTracking(true);
    setMinimumHeight(kHead + kRow);
    restyle();
}

void StudyGrid::setStudy(const StudyLayout& layout, const StudyMetric& metric,
                         std::vector<GridRun> runs) {
    const QString chosen =
        m_current >= 0 ? m_runs[static_cast<std::size_t>(m_current)].name : QString();
    m_layout = layout;
    m_metric = metric;
    m_runs = std::move(runs);
    const auto columns = m_layout.columns().size();
    m_cells.assign(m_layout.rows().size() * columns, {});
    m_placeOf.assign(m_runs.size(), 0);
    m_seeds = 1;
    m_current = m_hovered = -1;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        const GridRun& run = m_runs[i];
        if (!chosen.isEmpty() && run.name == chosen) m_current = static_cast<int>(i);
        auto& runsHere = m_cells[static_cast<std::size_t>(run.row) * columns +
                                 static_cast<std::size_t>(run.column)]
                             .runs;
        m_placeOf[i] = static_cast<int>(runsHere.size());
        runsHere.push_back(static_cast<int>(i));
        m_seeds = std::max(m_seeds, static_cast<int>(runsHere.size()));
        if (run.state != CellState::Done || !std::isfinite(run.value)) continue;
        low = std::min(low, run.value);
        high = std::max(high, run.value);
    }
    for (Cell& cell : m_cells) {
        double sum = 0.0;
        int count = 0;
        for (const int i : cell.runs) {
            const GridRun& run = m_runs[static_cast<std::size_t>(i)];
            if (run.state == CellState::Done && std::isfinite(run.value)) sum += run.value, ++count;
        }
        if (count > 0) cell.mean = sum / count;
    }
    m_range = niceRange(low, high, m_metric);
    setAccessibleDescription(summary(m_runs));
    measure();
    viewport()->update();
}

const StudyGrid::Cell& StudyGrid::cell(int row, int column) const {
    return m_cells[static_cast<std::size_t>(row) * m_layout.columns().size() +
                   static_cast<std::size_t>(column)];
}

void StudyGrid::setRetry(bool possible, const QString& reason) {
    m_retry = possible;
    m_retryReason = reason;
}

QColor StudyGrid::fill(double value) const {
    if (!std::isfinite(value)) return {};
    const double span = m_range.second - m_range.first;
    return m_scale.color(static_cast<float>(span != 0.0 ? (value - m_range.first) / span : 0.5));
}

// Measures
// ---------------------------------------------------------------------------------------------------

void StudyGrid::measure() {
    const QFontMetrics names{bodyFont()}, details{captionFont()}, numbers{numberFont(11)};
    int label = 0;
    for (const auto& row : m_layout.rows())
        label = std::max({label, names.horizontalAdvance(row.title) + 20,
                          details.horizontalAdvance(row.detail) + 20});
    m_labelWidth = std::clamp(label + 2 * kMargin, 120, 280);
    const int columns = std::max(1, static_cast<int>(m_layout.columns().size()));
    const int room = (viewport()->width() - m_labelWidth - kMargin) / columns;
    m_mark = std::clamp((room - kCellGap) / m_seeds - kGap, kSmallest, kLargest);
    int needed = m_seeds * (m_mark + kGap) - kGap;
    for (const auto& column : m_layout.columns())
        needed = std::max(needed, numbers.horizontalAdvance(column.title));
    m_cellWidth = std::max(needed + kCellGap, std::min(room, kWidestCell));
    const QSize whole = wholeSize();
    const QSize seen = viewport()->size();
    horizontalScrollBar()->setRange(0, std::max(0, whole.width() - seen.width()));
    horizontalScrollBar()->setPageStep(seen.width());
    horizontalScrollBar()->setSingleStep(m_cellWidth);
    verticalScrollBar()->setRange(0, std::max(0, whole.height() - seen.height()));
    verticalScrollBar()->setPageStep(seen.height() - kHead);
    verticalScrollBar()->setSingleStep(kRow);
}

QSize StudyGrid::wholeSize() const {
    return {m_labelWidth + static_cast<int>(m_layout.columns().size()) * m_cellWidth,
            kHead + static_cast<int>(m_layout.rows().size()) * kRow + 4};
}

QSize StudyGrid::sizeHint() const {
    return {640, kHead + 5 * kRow + 4};
}

QRect StudyGrid::markRect(int row, int column, int place) const {
    return {m_labelWidth + column * m_cellWidth + place * (m_mark + kGap), kHead + row * kRow + 6,
            m_mark, kMarkHeight};
}

QRect StudyGrid::runRect(int index) const {
    if (index < 0 || index >= static_cast<int>(m_runs.size())) return {};
    const GridRun& run = m_runs[static_cast<std::size_t>(index)];
    return markRect(run.row, run.column, m_placeOf[static_cast<std::size_t>(index)])
        .translated(-horizontalScrollBar()->value(), -verticalScrollBar()->value());
}

int StudyGrid::runAt(const QPoint& at) const {
    if (at.y() < kHead || at.x() < m_labelWidth) return -1;
    const int x = at.x() + horizontalScrollBar()->value() - m_labelWidth;
    const int y = at.y() + verticalScrollBar()->value() - kHead;
    const int row = y / kRow, column = x / m_cellWidth;
    if (row >= static_cast<int>(m_layout.rows().size()) ||
        column >= static_cast<int>(m_layout.columns().size()))
        return -1;
    const auto& runs = cell(row, column).runs;
    const auto place = static_cast<std::size_t>((x - column * m_cellWidth) / (m_mark + kGap));
    const int inside = y - row * kRow - 6;
    // The gap belongs to the square before it: small squares stay easy to hit.
    return inside >= -2 && inside <= kMarkHeight + 1 && place < runs.size() ? runs[place] : -1;
}

// Words
// ---------------------------------------------------------------------------------------------------

QString StudyGrid::runText(int index) const {
    if (index < 0 || index >= static_cast<int>(m_runs.size())) return {};
    const GridRun& run = m_runs[static_cast<std::size_t>(index)];
    QStringList lines{run.name};
    lines += QStringLiteral("%1 \u00B7 seed %2")
                 .arg(m_layout.columnWords(run.column), QString::number(run.seed));
    QString state = QString::fromLatin1(cellStateName(run.state));
    if (run.state == CellState::Done)
        state += QStringLiteral(": %1 %2").arg(
            QString(m_metric.title()).remove(QStringLiteral(", %")),
            std::isnan(run.value) ? QStringLiteral("not measured")
                                  : m_metric.text(run.value) + m_metric.unit());
    else if (run.state == CellState::Running || run.state == CellState::Interrupted)
        state += QStringLiteral(", %1% of its steps").arg(qRound(100.0 * run.progress));
    if (run.state == CellState::Failed && !run.message.isEmpty())
        state += QStringLiteral(": ") + run.message;
    lines += state;
    if (run.seconds > 0.0)
        lines += run.device.isEmpty()
                     ? durationText(run.seconds)
                     : QStringLiteral("%1 on %2").arg(durationText(run.seconds), run.device);
    return lines.join(u'\n');
}

QString StudyGrid::csv() const {
    QString text =
        QStringLiteral("run,model,%1,seed,state,%2,message\n")
            .arg(csvField(m_layout.sizesAcross() ? QStringLiteral("train_size")
                                                 : m_layout.axisTitle()),
                 csvField(m_metric.split.isEmpty() ? m_metric.name
                                                   : m_metric.name + u' ' + m_metric.split));
    for (const GridRun& run : m_runs) {
        const auto& column = m_layout.columns()[static_cast<std::size_t>(run.column)];
        const QStringList cells{
            run.name,
            m_layout.rows()[static_cast<std::size_t>(run.row)].name,
            m_layout.sizesAcross() ? QString::number(static_cast<qint64>(column.x)) : column.title,
            QString::number(run.seed),
            QString::fromLatin1(cellStateName(run.state)),
            run.state == CellState::Done && !std::isnan(run.value)
                ? QString::number(run.value, 'g', 8)
                : QString(),
            run.message};
        for (qsizetype i = 0; i < cells.size(); ++i)
            text += (i > 0 ? QStringLiteral(",") : QString()) + csvField(cells[i]);
        text += u'\n';
    }
    return text;
}

// Choosing
// ---------------------------------------------------------------------------------------------------

void StudyGrid::setCurrent(int index) {
    m_current = index >= 0 && index < static_cast<int>(m_runs.size()) ? index : -1;
    if (m_current >= 0) {
        const QRect mark = runRect(m_current);
        auto* across = horizontalScrollBar();
        auto* down = verticalScrollBar();
        if (mark.left() < m_labelWidth)
            across->setValue(across->value() + mark.left() - m_labelWidth - kGap);
        else if (mark.right() + kMargin > viewport()->width())
            across->setValue(across->value() + mark.right() + kMargin - viewport()->width());
        if (mark.top() < kHead + 6)
            down->setValue(down->value() + mark.top() - kHead - 6);
        else if (mark.top() - 6 + kRow > viewport()->height())
            down->setValue(down->value() + mark.top() - 6 + kRow - viewport()->height());
        setAccessibleDescription(runText(m_current));
    }
    viewport()->update();
}

void StudyGrid::choose(int index) {
    if (index < 0 || index >= static_cast<int>(m_runs.size())) return;
    setCurrent(index);
    Q_EMIT currentChanged(m_current);
}

void StudyGrid::activate(int index) {
    if (index < 0) return;
    const QString& path = m_runs[static_cast<std::size_t>(index)].path;
    if (!path.isEmpty()) Q_EMIT runActivated(path);
}

void StudyGrid::step(int right, int down) {
    if (m_runs.empty()) return;
    if (m_current < 0) return choose(0);
    const GridRun& run = m_runs[static_cast<std::size_t>(m_current)];
    int row = run.row, column = run.column;
    int place = m_placeOf[static_cast<std::size_t>(m_current)];
    const int rows = static_cast<int>(m_layout.rows().size());
    const int columns = static_cast<int>(m_layout.columns().size());
    if (right != 0) {
        place += right;
        while (place < 0 && column > 0) place += static_cast<int>(cell(row, --column).runs.size());
        while (place >= static_cast<int>(cell(row, column).runs.size()) && column + 1 < columns)
            place -= static_cast<int>(cell(row, column++).runs.size());
    }
    row = std::clamp(row + down, 0, rows - 1);
    const auto& runs = cell(row, column).runs;
    if (runs.empty() || place < 0) return;
    if (right != 0 && place >= static_cast<int>(runs.size())) return;
    choose(runs[static_cast<std::size_t>(std::min(place, static_cast<int>(runs.size()) - 1))]);
}

void StudyGrid::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) {
        if (m_current >= 0) QApplication::clipboard()->setText(runText(m_current));
        return;
    }
    const bool plain =
        event->modifiers() == Qt::NoModifier || event->modifiers() == Qt::KeypadModifier;
    const int page = std::max(1, (viewport()->height() - kHead) / kRow);
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
            return choose(static_cast<int>(m_runs.size()) - 1);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return activate(m_current);
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
    const int before = std::exchange(m_hovered, runAt(event->pos()));
    if (before != m_hovered) viewport()->update();
}

bool StudyGrid::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const int index = runAt(help->pos());
        if (index >= 0)
            QToolTip::showText(help->globalPos(), plainTip(runText(index)), viewport(),
                               runRect(index));
        else
            QToolTip::hideText();
        return true;
    }
    if (event->type() == QEvent::Leave && m_hovered >= 0) {
        m_hovered = -1;
        viewport()->update();
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void StudyGrid::contextMenuEvent(QContextMenuEvent* event) {
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    const int index = byKey ? m_current : runAt(event->pos());
    if (index >= 0) choose(index);
    showRunMenu(index, byKey && index >= 0 ? viewport()->mapToGlobal(runRect(index).bottomLeft())
                                           : event->globalPos());
}

void StudyGrid::showRunMenu(int index, const QPoint& globalAt) {
    QMenu menu(this);
    menu.setToolTipsVisible(true);
    if (index >= 0) {
        const GridRun& run = m_runs[static_cast<std::size_t>(index)];
        const bool begun = !run.path.isEmpty();
        const QString never = QStringLiteral("This run has not started");
        for (auto [words, name, send] :
             {std::tuple{"Open in the Workbench", "eye", &StudyGrid::runActivated},
              std::tuple{"Open folder", "folder", &StudyGrid::folderRequested}}) {
            auto* action = menu.addAction(icon(name), QString::fromLatin1(words), this,
                                          [this, send, path = run.path] {
                                              Q_EMIT(this->*send)
                                              (path);
                                          });
            action->setEnabled(begun);
            if (!begun) action->setToolTip(never);
        }
        menu.addAction(icon("copy"), QStringLiteral("Copy error message"), this,
                       [text = runText(index)] { QApplication::clipboard()->setText(text); });
        menu.addSeparator();
    }
    auto* retry = menu.addAction(icon("restart"), QStringLiteral("Retry failed runs"), this,
                                 &StudyGrid::retryRequested);
    retry->setEnabled(m_retry);
    retry->setToolTip(
        m_retry ? QStringLiteral("Starts the failed runs again; their old files are moved aside")
                : m_retryReason);
    if (!m_viewActions.isEmpty()) {
        menu.addSeparator();
        menu.addActions(m_viewActions);
    }
    menu.exec(globalAt);
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
    m_scale = ColorScale(ColorScale::Kind::Sequential, {0.0F, 1.0F}, Theme::current());
    if (viewport()) viewport()->update();
}

}  // namespace relascope
