// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/study/study_grid.h"

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
#include <algorithm>
#include <tuple>

#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int margin = StudyGridPicture::margin, gap = StudyGridPicture::gap;
constexpr int headHeight = StudyGridPicture::headHeight, rowHeight = StudyGridPicture::rowHeight;
constexpr int markTop = StudyGridPicture::markTop;

}  // namespace

StudyGrid::StudyGrid(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Runs of the study"));
    viewport()->setMouseTracking(true);
    setMinimumHeight(headHeight + rowHeight);
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
    verticalScrollBar()->setPageStep(seen.height() - headHeight);
    verticalScrollBar()->setSingleStep(rowHeight);
}

QSize StudyGrid::sizeHint() const {
    return {640, headHeight + 5 * rowHeight + 4};
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
    if (at.y() < headHeight || at.x() < m_picture.labelWidth()) return -1;
    return m_picture.runAt(at + scrolled());
}

void StudyGrid::setCurrent(int index) {
    m_picture.current = m_picture.cells.contains(index) ? index : -1;
    if (current() >= 0) {
        const QRect mark = runRect(current());
        auto* across = horizontalScrollBar();
        auto* down = verticalScrollBar();
        if (mark.left() < m_picture.labelWidth())
            across->setValue(across->value() + mark.left() - m_picture.labelWidth() - gap);
        else if (mark.right() + margin > viewport()->width())
            across->setValue(across->value() + mark.right() + margin - viewport()->width());
        if (mark.top() < headHeight + markTop)
            down->setValue(down->value() + mark.top() - headHeight - markTop);
        else if (mark.top() - markTop + rowHeight > viewport()->height())
            down->setValue(down->value() + mark.top() - markTop + rowHeight - viewport()->height());
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
    const int page = std::max(1, (viewport()->height() - headHeight) / rowHeight);
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
    if (!m_viewActions.isEmpty()) {
        menu.addSeparator();
        menu.addActions(m_viewActions);
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
