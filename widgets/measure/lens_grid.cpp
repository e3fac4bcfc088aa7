// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/lens_grid.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "widgets/measure/lens_paint.h"
#include "widgets/measure/measure_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kRow = 24, kHead = 40, kMargin = 16, kOwnGap = 5;
constexpr int kLeastCell = 30, kMostCell = 150, kBandWidth = 1100;

}  // namespace

LensGrid::LensGrid(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Answers after each layer"));
    paper(viewport());
}

int LensGrid::head() const {
    return m_result.whole ? 8 : kHead;
}

void LensGrid::setResult(const LensResult& result) {
    const bool same = result.columns() == m_result.columns();
    m_result = result;
    // The last position is what a language model would say next.
    if (!same || m_column >= columns()) m_column = columns() - 1;
    measure();
    place();
    if (!same) horizontalScrollBar()->setValue(horizontalScrollBar()->maximum());
    QStringList answers;
    for (int c = 0; c < std::min(columns(), 40); ++c) answers << text(rows(), c);
    setAccessibleDescription(answers.join(QStringLiteral("; ")));
    viewport()->update();
}

void LensGrid::measure() {
    const QFontMetrics small(smallFont()), mono(monoFont(12));
    int labels = small.horizontalAdvance(QStringLiteral("own answer"));
    for (const auto& row : m_result.rows)
        labels = std::max(labels, small.horizontalAdvance(QString::fromStdString(row)));
    m_labels = kMargin + labels + 12;
    int widest = kLeastCell - 14;
    const auto widen = [&](const std::string& name) {
        widest = std::max(widest, mono.horizontalAdvance(answerText(name)));
    };
    for (const auto& cell : m_result.cells)
        if (!cell.top.empty()) widen(cell.top.front().name);
    for (const auto& answer : m_result.answers) widen(answer.name);
    m_cell = std::min(widest + 14, kMostCell);
    if (m_result.whole) m_cell = std::max(m_cell, 110);
}

void LensGrid::place() {
    const QSize whole(m_labels + columns() * m_cell + kMargin,
                      head() + (rows() + 1) * kRow + kOwnGap + 8);
    horizontalScrollBar()->setRange(0, std::max(0, whole.width() - viewport()->width()));
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setSingleStep(m_cell);
    verticalScrollBar()->setRange(0, std::max(0, whole.height() - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(kRow);
    updateGeometry();
}

QSize LensGrid::sizeHint() const {
    return {
        m_labels + columns() * m_cell + kMargin,
        head() + (rows() + 1) * kRow + kOwnGap + 8 + horizontalScrollBar()->sizeHint().height()};
}

QRect LensGrid::cellRect(int row, int column) const {
    return {m_labels + column * m_cell - horizontalScrollBar()->value(),
            head() + row * kRow + (row == rows() ? kOwnGap : 0) - verticalScrollBar()->value(),
            m_cell, kRow};
}

QPoint LensGrid::cellAt(const QPoint& point) const {
    const QPoint none(-1, -1);
    if (point.x() < m_labels) return none;
    const int column = (point.x() - m_labels + horizontalScrollBar()->value()) / m_cell;
    if (column >= columns()) return none;
    for (int row = 0; row <= rows(); ++row)
        if (cellRect(row, column).contains(point)) return {row, column};
    return point.y() < head() ? QPoint(rows(), column) : none;
}

QString LensGrid::text(int row, int column) const {
    const auto c = static_cast<std::size_t>(column);
    QString where;
    if (!m_result.whole) {
        where = QStringLiteral("position %1").arg(m_result.positions[c]);
        if (c < m_result.inputs.size())
            where += QStringLiteral(" \u201C%1\u201D").arg(answerText(m_result.inputs[c]));
        where += QStringLiteral(", ");
    }
    const auto& own = m_result.answers[c];
    const auto said = [](const LensAnswer& answer) {
        return QStringLiteral("\u201C%1\u201D %2")
            .arg(answerText(answer.name), probabilityText(answer.probability));
    };
    if (row >= rows()) return where + QStringLiteral("own answer ") + said(own);
    const auto& cell = m_result.cell(static_cast<std::size_t>(row), c);
    QStringList top;
    for (const auto& answer : cell.top) top << said(answer);
    return QStringLiteral("%1%2: %3\nown answer \u201C%4\u201D %5, rank %6; entropy %7 nats")
        .arg(where,
             row == 0 ? QString::fromStdString(m_result.rows.front())
                      : QStringLiteral("after ") +
                            QString::fromStdString(m_result.rows[static_cast<std::size_t>(row)]),
             top.join(QStringLiteral(", ")), answerText(own.name),
             probabilityText(cell.probability), QString::number(cell.rank),
             QString::number(cell.entropy, 'f', 2));
}

void LensGrid::paintCell(QPainter& painter, const QRect& box, int row, int column) const {
    const Theme& t = Theme::current();
    const auto c = static_cast<std::size_t>(column);
    const bool own = row == rows();
    const LensCell* cell = own ? nullptr : &m_result.cell(static_cast<std::size_t>(row), c);
    if (cell && cell->top.empty()) return;
    const LensAnswer& answer = own ? m_result.answers[c] : cell->top.front();
    const QRect fill = box.adjusted(0, 0, -1, -1);
    painter.fillRect(fill, probabilityTint(answer.probability));
    QFont font = monoFont(12);
    // Bold where the layer already gives the model's own answer.
    font.setBold(own || cell->rank == 1);
    painter.setFont(font);
    painter.setPen(own || cell->rank == 1 ? t.text : t.muted);
    paint::elidedText(painter, fill.adjusted(6, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft,
                      answerText(answer.name));
}

void LensGrid::paintColumnHead(QPainter& painter, const QRect& box, int column) const {
    if (m_result.whole) return;
    const Theme& t = Theme::current();
    const auto c = static_cast<std::size_t>(column);
    painter.setFont(numberFont(11));
    painter.setPen(t.muted);
    painter.drawText(box.adjusted(6, 3, -4, 0), Qt::AlignTop | Qt::AlignLeft,
                     QString::number(m_result.positions[c]));
    if (c >= m_result.inputs.size()) return;
    painter.setFont(monoFont(12));
    painter.setPen(t.text);
    paint::elidedText(painter, box.adjusted(6, 18, -4, -2), Qt::AlignVCenter | Qt::AlignLeft,
                      answerText(m_result.inputs[c]));
}

void LensGrid::paintRowHeads(QPainter& painter, int left, int top) const {
    const Theme& t = Theme::current();
    painter.setFont(smallFont());
    for (int row = 0; row <= rows(); ++row) {
        painter.setPen(row == rows() ? t.text : t.muted);
        painter.drawText(
            QRect(left + kMargin, top + row * kRow + (row == rows() ? kOwnGap : 0),
                  m_labels - kMargin - 12, kRow),
            Qt::AlignRight | Qt::AlignVCenter,
            row == rows() ? QStringLiteral("own answer")
                          : QString::fromStdString(m_result.rows[static_cast<std::size_t>(row)]));
    }
}

int LensGrid::band() const {
    return std::clamp(kBandWidth / m_cell, 4, std::max(4, columns()));
}

QSize LensGrid::bandSize(int count) const {
    return {m_labels + count * m_cell + kMargin, head() + (rows() + 1) * kRow + kOwnGap + 6};
}

void LensGrid::paintBand(QPainter& painter, int first, int count) const {
    for (int c = 0; c < count; ++c) {
        const int left = m_labels + c * m_cell;
        paintColumnHead(painter, QRect(left, 0, m_cell, head()), first + c);
        for (int row = 0; row <= rows(); ++row)
            paintCell(
                painter,
                QRect(left, head() + row * kRow + (row == rows() ? kOwnGap : 0), m_cell, kRow), row,
                first + c);
    }
    paintRowHeads(painter, 0, head());
}

void LensGrid::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), t.panel);
    if (columns() == 0) return;
    const int offset = horizontalScrollBar()->value();
    const int first = std::max(0, offset / m_cell),
              last = std::min(columns() - 1, (offset + viewport()->width() - m_labels) / m_cell);
    painter.setClipRect(QRect(m_labels, 0, viewport()->width(), viewport()->height()));
    for (int c = first; c <= last; ++c)
        for (int row = 0; row <= rows(); ++row) paintCell(painter, cellRect(row, c), row, c);
    const QRect top = cellRect(0, m_column), bottom = cellRect(rows(), m_column);
    const QRect chosen(top.left() - 1, top.top() - 1, m_cell + 1, bottom.bottom() - top.top() + 2);
    if (!m_result.whole) {
        painter.setPen(QPen(hasFocus() ? t.accent : t.controlBorder, 2));
        painter.drawRect(chosen);
        painter.fillRect(QRect(m_labels, 0, viewport()->width(), head()), t.panel);
        for (int c = first; c <= last; ++c) {
            const QRect box(cellRect(0, c).left(), 0, m_cell, head());
            if (c == m_column) painter.fillRect(box.adjusted(0, 0, -1, -2), t.selection);
            paintColumnHead(painter, box, c);
        }
    }
    painter.setClipRect(QRect(0, head() - 2, m_labels, viewport()->height()));
    painter.fillRect(QRect(0, 0, m_labels - 1, viewport()->height()), t.panel);
    paintRowHeads(painter, 0, head() - verticalScrollBar()->value());
}

void LensGrid::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    place();
}

void LensGrid::setColumn(int column) {
    m_column = std::clamp(column, 0, std::max(0, columns() - 1));
    const QRect box = cellRect(0, m_column);
    QScrollBar* bar = horizontalScrollBar();
    if (box.left() < m_labels)
        bar->setValue(bar->value() + box.left() - m_labels);
    else if (box.right() > viewport()->width())
        bar->setValue(bar->value() + box.right() + 1 - viewport()->width());
    viewport()->update();
}

void LensGrid::choose(int column) {
    if (columns() == 0) return;
    setColumn(column);
    Q_EMIT columnChosen(m_column);
}

void LensGrid::mousePressEvent(QMouseEvent* event) {
    const QPoint cell = cellAt(event->pos());
    if (event->button() == Qt::LeftButton && cell.y() >= 0) choose(cell.y());
}

void LensGrid::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left:
            return choose(m_column - 1);
        case Qt::Key_Right:
            return choose(m_column + 1);
        case Qt::Key_Home:
            return choose(0);
        case Qt::Key_End:
            return choose(columns() - 1);
        default:
            QAbstractScrollArea::keyPressEvent(event);
    }
}

bool LensGrid::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QPoint cell = cellAt(help->pos());
        cell.y() < 0
            ? QToolTip::hideText()
            : QToolTip::showText(help->globalPos(), plainTip(text(cell.x(), cell.y())), viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace relascope::widgets
