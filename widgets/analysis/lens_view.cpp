// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolTip>
#include <QVBoxLayout>

#include "widgets/analysis/lens_view.h"
#include "widgets/analysis/measure_frame.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

QColor probabilityTint(double probability) {
    const auto& stops = Theme::current().likelihood;
    const double x =
        std::isfinite(probability) ? std::clamp(probability, 0.0, 1.0) * (stops.size() - 1.0) : 0.0;
    const auto k = std::min(static_cast<std::size_t>(x), stops.size() - 2);
    const double f = x - static_cast<double>(k);
    const auto mix = [f](int a, int b) { return static_cast<int>(std::lround(a + f * (b - a))); };
    const QColor &a = stops[k], &b = stops[k + 1];
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

void drawProbabilityScale(QPainter& painter, const QRect& room) {
    constexpr int wide = 120, high = 10, number = 34;
    const Theme& t = Theme::current();
    const QRect bar(room.right() - wide - number, room.center().y() - high / 2, wide, high);
    for (int x = 0; x < wide; x += 4)
        painter.fillRect(QRect(bar.left() + x, bar.top(), 4, high),
                         probabilityTint((x + 2.0) / wide));
    painter.setPen(t.border);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(bar.left() - 206, room.top(), 200, room.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("probability   0"));
    painter.drawText(QRect(bar.right() + 6, room.top(), number, room.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("1"));
}

namespace {

constexpr int kBarRow = 26, kBarHead = 22, kLensMargin = 16, kLensNumbers = 196;
constexpr int kMostAnswers = 5, kMostAnswer = 210;

}  // namespace

LensBars::LensBars(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Answers at one position"));
    paintOnPanelColour(this);
}

void LensBars::setColumn(const LensResult& result, int column) {
    m_result = result;
    m_column = column;
    QStringList lines;
    if (column >= 0)
        for (int row = 0; row < static_cast<int>(m_result.rows.size()); ++row) lines << text(row);
    setAccessibleDescription(lines.join(u'\n'));
    setMinimumHeight(layoutHeight());
    updateGeometry();
    update();
}

int LensBars::layoutHeight() const {
    return kBarHead + kBarRow * static_cast<int>(m_result.rows.size()) + 10;
}

QString LensBars::text(int row) const {
    const auto r = static_cast<std::size_t>(row);
    const auto& cell = m_result.cell(r, static_cast<std::size_t>(m_column));
    QStringList answers;
    for (const auto& answer : cell.top)
        answers << answerText(answer.name) + u' ' + probabilityText(answer.probability);
    return QStringLiteral("%1: %2; own answer rank %3")
        .arg(QString::fromStdString(m_result.rows[r]), answers.join(QStringLiteral(", ")),
             QString::number(cell.rank));
}

LensBars::Columns LensBars::columns(int width) const {
    const auto c = static_cast<std::size_t>(m_column);
    const QFontMetrics small(smallFont());
    Columns all{60, 0, 1};
    for (std::size_t r = 0; r < m_result.rows.size(); ++r) {
        all.labels =
            std::max(all.labels, small.horizontalAdvance(QString::fromStdString(m_result.rows[r])));
        all.count = std::max(all.count, static_cast<int>(m_result.cell(r, c).top.size()));
    }
    all.count = std::min(all.count, kMostAnswers);
    all.labels += kLensMargin + 12;
    all.each =
        std::clamp((width - all.labels - kLensNumbers - kLensMargin) / all.count, 60, kMostAnswer);
    return all;
}

int LensBars::usedWidth(int width) const {
    if (m_column < 0) return width;
    const auto [labels, each, count] = columns(width);
    return std::max(420, labels + each * count + kLensNumbers + kLensMargin);
}

void LensBars::paint(QPainter& painter, int width) const {
    if (m_column < 0 || m_column >= static_cast<int>(m_result.columns())) return;
    const Theme& t = Theme::current();
    const auto c = static_cast<std::size_t>(m_column);
    const auto [labels, each, count] = columns(width);
    const int numbers = labels + each * count + 8;
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(labels, 0, each * count, kBarHead), Qt::AlignVCenter | Qt::AlignLeft,
                     QStringLiteral("likeliest answers"));
    const auto column = [&](int k) { return QRect(numbers + k * 62, 0, 58, kBarHead); };
    static const char* const heads[] = {"own", "rank", "entropy"};
    for (int k = 0; k < 3; ++k)
        painter.drawText(column(k), Qt::AlignRight | Qt::AlignVCenter, QLatin1String(heads[k]));
    for (std::size_t r = 0; r < m_result.rows.size(); ++r) {
        const auto& cell = m_result.cell(r, c);
        const int y = kBarHead + static_cast<int>(r) * kBarRow;
        painter.setFont(smallFont());
        painter.setPen(t.muted);
        painter.drawText(QRect(kLensMargin, y, labels - kLensMargin - 12, kBarRow),
                         Qt::AlignRight | Qt::AlignVCenter,
                         QString::fromStdString(m_result.rows[r]));
        for (int k = 0; k < std::min(count, static_cast<int>(cell.top.size())); ++k) {
            const auto& answer = cell.top[static_cast<std::size_t>(k)];
            const bool own = answer.id == m_result.answers[c].id;
            const QRect box(labels + k * each, y + 3, each - 6, kBarRow - 6);
            painter.fillRect(box, t.alt);
            painter.fillRect(QRectF(box.left(), box.bottom() - 3,
                                    box.width() * std::clamp(answer.probability, 0.0, 1.0), 4),
                             own ? t.accent : t.muted);
            QFont name = monoFont(12);
            name.setBold(own);
            const QString share = probabilityText(answer.probability);
            painter.setFont(numberFont(11));
            painter.setPen(t.muted);
            const int wide = painter.fontMetrics().horizontalAdvance(share) + 8;
            painter.drawText(box.adjusted(0, -2, -5, -3), Qt::AlignRight | Qt::AlignVCenter, share);
            painter.setFont(name);
            painter.setPen(t.text);
            paint::elidedText(painter, box.adjusted(5, -2, -wide, -3),
                              Qt::AlignLeft | Qt::AlignVCenter, answerText(answer.name));
        }
        painter.setFont(numberFont(12));
        painter.setPen(t.text);
        const QString values[] = {probabilityText(cell.probability), QString::number(cell.rank),
                                  QString::number(cell.entropy, 'f', 2)};
        for (int k = 0; k < 3; ++k)
            painter.drawText(column(k).translated(0, y).adjusted(0, 0, 0, kBarRow - kBarHead),
                             Qt::AlignRight | Qt::AlignVCenter, values[k]);
    }
}

void LensBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    paint(painter, width());
}

namespace {

constexpr int kGridRow = 24, kGridHead = 40, kOwnGap = 5;
constexpr int kLensLeastCell = 30, kLensMostCell = 150, kBandWidth = 1100;

}  // namespace

LensGrid::LensGrid(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Answers after each layer"));
    paintOnPanelColour(viewport());
}

int LensGrid::head() const {
    return m_result.whole ? 8 : kGridHead;
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
    m_labels = kLensMargin + labels + 12;
    int widest = kLensLeastCell - 14;
    const auto widen = [&](const std::string& name) {
        widest = std::max(widest, mono.horizontalAdvance(answerText(name)));
    };
    for (const auto& cell : m_result.cells)
        if (!cell.top.empty()) widen(cell.top.front().name);
    for (const auto& answer : m_result.answers) widen(answer.name);
    m_cell = std::min(widest + 14, kLensMostCell);
    if (m_result.whole) m_cell = std::max(m_cell, 110);
}

void LensGrid::place() {
    const QSize whole(m_labels + columns() * m_cell + kLensMargin,
                      head() + (rows() + 1) * kGridRow + kOwnGap + 8);
    horizontalScrollBar()->setRange(0, std::max(0, whole.width() - viewport()->width()));
    horizontalScrollBar()->setPageStep(viewport()->width());
    horizontalScrollBar()->setSingleStep(m_cell);
    verticalScrollBar()->setRange(0, std::max(0, whole.height() - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(kGridRow);
    updateGeometry();
}

QSize LensGrid::sizeHint() const {
    return {m_labels + columns() * m_cell + kLensMargin,
            head() + (rows() + 1) * kGridRow + kOwnGap + 8 +
                horizontalScrollBar()->sizeHint().height()};
}

QRect LensGrid::cellRect(int row, int column) const {
    return {m_labels + column * m_cell - horizontalScrollBar()->value(),
            head() + row * kGridRow + (row == rows() ? kOwnGap : 0) - verticalScrollBar()->value(),
            m_cell, kGridRow};
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
            QRect(left + kLensMargin, top + row * kGridRow + (row == rows() ? kOwnGap : 0),
                  m_labels - kLensMargin - 12, kGridRow),
            Qt::AlignRight | Qt::AlignVCenter,
            row == rows() ? QStringLiteral("own answer")
                          : QString::fromStdString(m_result.rows[static_cast<std::size_t>(row)]));
    }
}

int LensGrid::band() const {
    return std::clamp(kBandWidth / m_cell, 4, std::max(4, columns()));
}

QSize LensGrid::bandSize(int count) const {
    return {m_labels + count * m_cell + kLensMargin,
            head() + (rows() + 1) * kGridRow + kOwnGap + 6};
}

void LensGrid::paintBand(QPainter& painter, int first, int count) const {
    for (int c = 0; c < count; ++c) {
        const int left = m_labels + c * m_cell;
        paintColumnHead(painter, QRect(left, 0, m_cell, head()), first + c);
        for (int row = 0; row <= rows(); ++row)
            paintCell(painter,
                      QRect(left, head() + row * kGridRow + (row == rows() ? kOwnGap : 0), m_cell,
                            kGridRow),
                      row, first + c);
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

namespace {

constexpr int kLensFigureHead = 34, kBarsWidth = 900, kBandGap = 8;

/// The scale of the tint, in the head.
class Scale : public QWidget {
public:
    explicit Scale(QWidget* parent) : QWidget(parent) {
        setFixedSize(250, 24);
        setToolTip(
            QStringLiteral("Cells are tinted by the probability of their answer; bold: the "
                           "model's own answer"));
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        drawProbabilityScale(painter, rect());
    }
};

}  // namespace

LensView::LensView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Logit lens"), QStringLiteral("lens"), parent),
      m_grid(new LensGrid(this)),
      m_scale(new Scale(this)),
      m_line(horizontalLine(this)),
      m_title(mutedLabel({}, this)),
      m_bars(new LensBars(this)) {
    head()->addLeftControl(m_scale);
    m_title->setContentsMargins(16, 8, 16, 0);
    m_title->setTextFormat(Qt::PlainText);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(m_bars);
    scroll->setWidgetResizable(true);
    content()->addWidget(m_grid, 3);
    content()->addWidget(m_line);
    content()->addWidget(m_title);
    content()->addWidget(scroll, 2);
    connect(m_grid, &LensGrid::columnChosen, this, [this](int column) {
        showColumn();
        const auto& positions = result().positions;
        if (column >= 0 && column < static_cast<int>(positions.size()))
            Q_EMIT positionRequested(positions[static_cast<std::size_t>(column)]);
    });
    LensView::clear(QStringLiteral("Choose a sample in the inspector."));
}

bool LensView::single() const {
    return result().columns() <= 1;
}
const LensResult& LensView::result() const {
    return m_grid->result();
}
int LensView::column() const {
    return m_grid->column();
}
void LensView::chooseColumn(int column) {
    m_grid->setColumn(column);
    showColumn();
}

void LensView::clear(const QString& sentence) {
    m_grid->setResult({});
    m_bars->setColumn({}, -1);
    m_scale->hide();
    MeasureFrame::clear(sentence);
}

void LensView::setResult(const LensResult& result) {
    m_grid->setResult(result);
    m_grid->setVisible(!single());
    m_grid->setMaximumHeight(m_grid->sizeHint().height());
    m_line->setVisible(!single());
    m_scale->setVisible(!single());
    head()->setSubText(single()
                           ? QString()
                           : QStringLiteral("likeliest answer after each layer, %1 positions")
                                 .arg(groupedNumber(static_cast<qlonglong>(result.columns()))));
    leaveEmpty();
    showColumn();
}

QString LensView::columnTitle() const {
    const auto c = static_cast<std::size_t>(std::max(0, column()));
    const auto& r = result();
    if (c >= r.columns()) return {};
    QString text;
    if (!r.whole) {
        text = QStringLiteral("Position %1").arg(r.positions[c]);
        if (c < r.inputs.size())
            text += QStringLiteral(" \u201C%1\u201D").arg(answerText(r.inputs[c]));
        text += QStringLiteral(": ");
    }
    return text +
           QStringLiteral("own answer \u201C%1\u201D, %2")
               .arg(answerText(r.answers[c].name), probabilityText(r.answers[c].probability));
}

void LensView::showColumn() {
    m_bars->setColumn(result(), column());
    QString title = columnTitle();
    if (!title.isEmpty()) title[0] = title[0].toUpper();
    m_title->setText(title);
}

QSize LensView::figureSize() const {
    if (isEmpty()) return {400, 80};
    const int bars = kLensFigureHead + m_bars->layoutHeight();
    if (single()) return {m_bars->usedWidth(kBarsWidth), kLensFigureHead + bars};
    const int columns = m_grid->columns(), bands = (columns + m_grid->band() - 1) / m_grid->band();
    const QSize band = m_grid->bandSize(std::min(columns, m_grid->band()));
    return {std::max(band.width(), kBarsWidth),
            kLensFigureHead + bands * (band.height() + kBandGap) + bars};
}

void LensView::paintFigure(QPainter& painter) {
    const Theme& t = Theme::current();
    const QSize size = figureSize();
    painter.setFont(headFont());
    painter.setPen(t.text);
    painter.drawText(QRect(16, 0, size.width() - 32, kLensFigureHead), Qt::AlignVCenter,
                     QStringLiteral("Logit lens"));
    painter.translate(0, kLensFigureHead);
    if (!single()) {
        drawProbabilityScale(painter,
                             QRect(16, -kLensFigureHead, size.width() - 32, kLensFigureHead));
        for (int first = 0; first < m_grid->columns(); first += m_grid->band()) {
            const int count = std::min(m_grid->band(), m_grid->columns() - first);
            m_grid->paintBand(painter, first, count);
            painter.translate(0, m_grid->bandSize(count).height() + kBandGap);
        }
    }
    painter.setFont(smallFont());
    painter.setPen(t.text);
    painter.drawText(QRect(16, 0, size.width() - 32, kLensFigureHead), Qt::AlignVCenter,
                     m_title->text());
    painter.translate(0, kLensFigureHead);
    m_bars->paint(painter, size.width());
}

}  // namespace relascope::widgets
