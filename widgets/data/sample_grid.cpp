// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QGridLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QScrollBar>
#include <QTextLayout>
#include <QToolTip>

#include "types/text_piece.h"
#include "widgets/data/sample_grid.h"
#include "widgets/export/export.h"
#include "widgets/source/pictures.h"
#include "widgets/source/probability_bars.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kTileGap = 4, orderGap = 10;
constexpr int leastImage = 64, mostImage = 192;
constexpr int textWidth = 264, textLines = 3, kTextLine = 16;
constexpr int mostAcross = 10, mostObjects = 20;

/// The layout of the objects of a sample: rows of equal size.
struct Rows {
    QSize tile;
    int count = 0, across = 0;  ///< objects shown, and objects in a row
    int rows() const { return across > 0 ? (count + across - 1) / across : 0; }
    int height() const { return rows() * (tile.height() + kTileGap) - kTileGap; }
    int width() const { return qMin(count, across) * (tile.width() + kTileGap) - kTileGap; }
    QRect at(int index, const QPoint& from) const {
        return {from + QPoint(index % across * (tile.width() + kTileGap),
                              index / across * (tile.height() + kTileGap)),
                tile};
    }
};

Rows pictureRows(const ProbeSequence& source) {
    QSize largest;
    for (const Image& image : source.pictures)
        largest = largest.expandedTo({image.width, image.height});
    const int count = static_cast<int>(source.pictures.size());
    const QSize room = count <= 3 ? QSize(72, 84) : QSize(28, 40);
    return {shownSize(largest, room.expandedTo(isPixelArt(largest) ? largest : QSize())), count,
            qMin(count, mostAcross)};
}

Rows vectorRows(const ProbeSequence& source) {
    const int count = source.size();
    if (count <= 4) return {QSize(64, 40), count, qMax(1, count)};
    return {QSize(34, 24), qMin(count, mostObjects), qMin(count, mostAcross)};
}

QSize imageSize(const Image& image) {
    if (image.width < 1 || image.height < 1) return {leastImage, leastImage};
    const QSize own(image.width, image.height);
    if (qMax(own.width(), own.height()) > mostImage)
        return own.scaled(mostImage, mostImage, Qt::KeepAspectRatio);
    return own * qMax(1, (leastImage + own.width() - 1) / own.width());
}

void paintLines(QPainter& painter, const QRect& place, const QString& text) {
    QTextLayout layout(text, painter.font());
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    layout.setTextOption(option);
    layout.beginLayout();
    for (int line = 0; (line + 1) * kTextLine <= place.height(); ++line) {
        QTextLine next = layout.createLine();
        if (!next.isValid()) break;
        next.setLineWidth(place.width());
        const QRect row(place.left(), place.top() + line * kTextLine, place.width(), kTextLine);
        const bool last = (line + 2) * kTextLine > place.height();
        const QString lineText =
            last ? text.mid(next.textStart()) : text.mid(next.textStart(), next.textLength());
        paint::elidedText(painter, row, Qt::AlignLeft | Qt::AlignVCenter, lineText);
    }
    layout.endLayout();
}

}  // namespace

SampleForm formOf(const ProbeSample& sample) {
    const ProbeSequence& source = sample.source;
    if (!sample.image.empty()) return SampleForm::Image;
    if (source.size() == 0) return SampleForm::Nothing;
    if (static_cast<int>(source.pictures.size()) == source.size()) return SampleForm::Pictures;
    if (source.width > 0) return SampleForm::Vectors;
    return source.text ? SampleForm::Text : SampleForm::Tokens;
}

QString sampleLabel(const ShownSample& shown, const QStringList& classNames) {
    if (!shown.answer.isEmpty() || shown.sample.label < 0) return shown.answer;
    return classNames.value(static_cast<qsizetype>(shown.sample.label),
                            QString::number(shown.sample.label));
}

QString textOf(const ProbeSequence& sequence) {
    std::string text;
    for (const auto& word : sequence.labels) text += word;
    return QString::fromStdString(validUtf8(text));
}

QString sequenceText(const ProbeSequence& sequence) {
    QStringList items;
    if (sequence.labels.empty())
        for (const auto token : sequence.tokens) items << QString::number(token);
    for (const auto& word : sequence.labels) items << QString::fromStdString(word);
    return items.join(QStringLiteral(", "));
}

QSize sampleSize(const ShownSample& shown) {
    const ProbeSequence& source = shown.sample.source;
    switch (formOf(shown.sample)) {
        case SampleForm::Image:
            return imageSize(shown.sample.image);
        case SampleForm::Pictures: {
            const Rows rows = pictureRows(source);
            const int once = rows.height();
            return {qMax(rows.width(), leastImage),
                    shown.order.empty() ? once : 2 * once + orderGap};
        }
        case SampleForm::Vectors: {
            const Rows rows = vectorRows(source);
            return {qMax(rows.width(), leastImage), rows.height()};
        }
        case SampleForm::Text:
        case SampleForm::Tokens:
            return {textWidth, textLines * kTextLine + 8};
        case SampleForm::Nothing:
            break;
    }
    return {leastImage, leastImage};
}

void paintSample(QPainter& painter, const QRect& place, const ShownSample& shown) {
    const Theme& t = Theme::current();
    const ProbeSequence& source = shown.sample.source;
    painter.save();
    painter.setClipRect(place, Qt::IntersectClip);
    switch (formOf(shown.sample)) {
        case SampleForm::Image: {
            const QImage picture = toQImage(shown.sample.image);
            const bool shrinks = place.width() < picture.width();
            painter.setRenderHint(QPainter::SmoothPixmapTransform, shrinks);
            painter.drawImage(QRect(place.topLeft(), imageSize(shown.sample.image)), picture);
            break;
        }
        case SampleForm::Pictures: {
            const Rows rows = pictureRows(source);
            const auto pictures = picturesOf(source);
            const auto draw = [&](const QRect& tile, std::size_t index) {
                if (index < pictures.size()) drawPicture(painter, tile, pictures[index]);
            };
            for (int k = 0; k < rows.count; ++k)
                draw(rows.at(k, place.topLeft()), static_cast<std::size_t>(k));
            if (shown.order.empty()) break;
            const QPoint below = place.topLeft() + QPoint(0, rows.height() + orderGap);
            painter.fillRect(QRect(place.left(), below.y() - orderGap / 2, rows.width(), 1),
                             t.border);
            for (int k = 0; k < qMin(rows.count, static_cast<int>(shown.order.size())); ++k)
                draw(rows.at(k, below),
                     static_cast<std::size_t>(shown.order[static_cast<std::size_t>(k)]));
            break;
        }
        case SampleForm::Vectors: {
            const Rows rows = vectorRows(source);
            const float largest = largestSize(source.vectors);
            const auto width = static_cast<std::size_t>(source.width);
            for (int k = 0; k < rows.count; ++k) {
                const QRect tile = rows.at(k, place.topLeft());
                painter.fillRect(tile, t.alt);
                paintVectorBars(
                    painter, tile.adjusted(3, 2, -3, -2),
                    std::span(source.vectors).subspan(static_cast<std::size_t>(k) * width, width),
                    largest, t.text);
            }
            break;
        }
        case SampleForm::Text:
        case SampleForm::Tokens:
            painter.fillRect(place, t.alt);
            painter.setFont(smallFont());
            painter.setPen(t.text);
            paintLines(painter, place.adjusted(6, 4, -6, -4),
                       formOf(shown.sample) == SampleForm::Text
                           ? textOf(source).simplified()
                           : sequenceText(source).replace(u',', u' ').simplified());
            break;
        case SampleForm::Nothing:
            break;
    }
    painter.restore();
}

namespace {
constexpr int kSheetMargin = 16, kSheetGap = 12, kSheetLabel = 18;
}

SampleGrid::SampleGrid(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(QStringLiteral("Samples"));
    viewport()->setMouseTracking(true);
}

QSize SampleGrid::cellSize() const {
    return {m_size.width() + kSheetGap, m_size.height() + kSheetLabel + kSheetGap};
}
int SampleGrid::columns() const {
    return std::max(1, (viewport()->width() - 2 * kSheetMargin + kSheetGap) / cellSize().width());
}
// The scroll bar counts rows, not pixels: the pixels of a million rows would overflow an int.
qint64 SampleGrid::rowOffset() const {
    return verticalScrollBar()->value();
}

void SampleGrid::setData(qint64 count, const ShownSample& example, const QStringList& classNames) {
    m_example = example;
    m_size = sampleSize(example);
    m_names = classNames;
    setCount(count);
}
void SampleGrid::setCount(qint64 count) {
    m_count = std::max<qint64>(0, count);
    m_cells.clear();
    m_asked.clear();
    if (m_current >= m_count) m_current = -1;
    verticalScrollBar()->setValue(0);
    layoutRows();
}

int SampleGrid::wholeRows() const {
    return std::max(1, (viewport()->height() - kSheetMargin) / cellSize().height());
}
qint64 SampleGrid::firstShown() const {
    return rowOffset() * columns();
}
int SampleGrid::countShown() const {
    const qint64 cells = static_cast<qint64>(wholeRows()) * columns();
    return static_cast<int>(std::clamp<qint64>(m_count - firstShown(), 0, cells));
}

bool SampleGrid::isFilled() const {
    for (qint64 i = firstShown(); i < firstShown() + countShown(); ++i)
        if (!m_cells.contains(i)) return false;
    return true;
}

void SampleGrid::layoutRows() {
    const qint64 rows = (m_count + columns() - 1) / columns();
    const int visible = wholeRows();
    verticalScrollBar()->setRange(
        0, static_cast<int>(std::clamp<qint64>(rows - visible, 0, 2000000000)));
    verticalScrollBar()->setPageStep(visible);
    verticalScrollBar()->setSingleStep(1);
    setAccessibleDescription(QString("%1 samples").arg(m_count));
    request();
    viewport()->update();
}

void SampleGrid::request() {
    if (m_count == 0 || viewport()->height() < 2) return;
    const qint64 first = rowOffset() * columns();
    const qint64 visible =
        static_cast<qint64>(viewport()->height() / cellSize().height() + 2) * columns();
    const qint64 last = std::min(m_count, first + visible);
    // Distant cells are dropped, so that memory depends on the screen and not on the data set.
    const qint64 keep = std::max<qint64>(2000, 6 * visible);
    std::erase_if(m_cells, [&](const auto& cell) {
        return cell.first < first - keep || cell.first > last + keep;
    });
    qint64 from = first;
    while (from < last && (m_cells.contains(from) || [&] {
               const auto after = m_asked.upper_bound(from);
               return after != m_asked.begin() &&
                      std::prev(after)->first + std::prev(after)->second > from;
           }()))
        ++from;
    if (from >= last) return;
    m_asked[from] = static_cast<int>(last - from);
    Q_EMIT samplesNeeded(from, static_cast<int>(last - from));
}

void SampleGrid::setSamples(qint64 first, std::vector<ShownSample> samples) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const qint64 index = first + static_cast<qint64>(i);
        if (index >= m_count) break;
        m_cells[index] = std::move(samples[i]);
    }
    // A result ends its request even if incomplete; missing samples are requested when visible.
    std::erase_if(m_asked, [&](const auto& asked) {
        return asked.first >= first &&
               asked.first < first + static_cast<qint64>(std::max<std::size_t>(1, samples.size()));
    });
    viewport()->update();
}

void SampleGrid::setCurrent(qint64 index) {
    m_current = index >= 0 && index < m_count ? index : -1;
    if (m_current >= 0) {
        const qint64 row = m_current / columns();
        const int visible = verticalScrollBar()->pageStep();
        if (row < rowOffset()) verticalScrollBar()->setValue(static_cast<int>(row));
        if (row >= rowOffset() + visible)
            verticalScrollBar()->setValue(static_cast<int>(row - visible + 1));
    }
    viewport()->update();
}

void SampleGrid::choose(qint64 index) {
    if (m_count == 0) return;
    setCurrent(std::clamp<qint64>(index, 0, m_count - 1));
    Q_EMIT indexChosen(m_current);
}

QRect SampleGrid::cellRect(qint64 index) const {
    const qint64 row = index / columns() - rowOffset();
    const QSize cell = cellSize();
    return {kSheetMargin + static_cast<int>(index % columns()) * cell.width(),
            kSheetMargin + static_cast<int>(row) * cell.height(), cell.width() - kSheetGap,
            cell.height() - kSheetGap};
}

void SampleGrid::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), t.panel);
    if (m_count == 0) {
        painter.setPen(t.muted);
        painter.setFont(smallFont());
        painter.drawText(viewport()->rect(), Qt::AlignCenter,
                         QStringLiteral("No samples. Choose a dataset."));
        return;
    }
    painter.setFont(captionFont());
    const qint64 first = rowOffset() * columns();
    for (qint64 i = first; i < m_count; ++i) {
        const QRect cell = cellRect(i);
        if (cell.top() > viewport()->height()) break;
        const QRect picture(cell.topLeft(), m_size);
        const auto found = m_cells.find(i);
        if (found == m_cells.end() || formOf(found->second.sample) == SampleForm::Nothing) {
            painter.fillRect(picture, t.alt);
            painter.setPen(t.border);
            painter.drawRect(picture.adjusted(0, 0, -1, -1));
        } else {
            paintSample(painter, picture, found->second);
        }
        if (i == m_current && !FigureScope::paper()) {
            painter.setPen(QPen(t.accent, 2));
            painter.drawRect(picture.adjusted(-3, -3, 2, 2));
        }
        if (found == m_cells.end()) continue;
        painter.setPen(i == m_current ? t.text : t.muted);
        const QRect label(cell.left(), picture.bottom() + 4, picture.width(), kSheetLabel - 2);
        paint::elidedText(painter, label, Qt::AlignVCenter, sampleLabel(found->second, m_names));
    }
}

void SampleGrid::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    layoutRows();
}
void SampleGrid::scrollContentsBy(int, int) {
    request();
    viewport()->update();
}
void SampleGrid::wheelEvent(QWheelEvent* event) {
    const int rows = event->angleDelta().y() == 0 ? 0 : event->angleDelta().y() > 0 ? -1 : 1;
    verticalScrollBar()->setValue(verticalScrollBar()->value() + rows);
    event->accept();
}
void SampleGrid::mousePressEvent(QMouseEvent* event) {
    const QSize cell = cellSize();
    const QPoint at = event->pos() - QPoint(kSheetMargin, kSheetMargin);
    if (at.x() < 0 || at.y() < 0 || at.x() / cell.width() >= columns()) return;
    const qint64 index = (rowOffset() + at.y() / cell.height()) * columns() + at.x() / cell.width();
    if (index < m_count) choose(index);
}
void SampleGrid::keyPressEvent(QKeyEvent* event) {
    const qint64 now = std::max<qint64>(0, m_current);
    const qint64 page = static_cast<qint64>(verticalScrollBar()->pageStep()) * columns();
    switch (event->key()) {
        case Qt::Key_Left:
            return choose(now - 1);
        case Qt::Key_Right:
            return choose(m_current < 0 ? 0 : now + 1);
        case Qt::Key_Up:
            return choose(now >= columns() ? now - columns() : now);
        case Qt::Key_Down:
            return choose(now + columns() < m_count ? now + columns() : now);
        case Qt::Key_PageUp:
            return choose(now - page);
        case Qt::Key_PageDown:
            return choose(now + page);
        case Qt::Key_Home:
            return choose(0);
        case Qt::Key_End:
            return choose(m_count - 1);
        default:
            QAbstractScrollArea::keyPressEvent(event);
    }
}
bool SampleGrid::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        for (const auto& [index, cell] : m_cells)
            if (cellRect(index).contains(help->pos())) {
                QStringList lines{groupedNumber(index)};
                for (const QString& line :
                     {sampleLabel(cell, m_names), QString::fromStdString(cell.sample.origin),
                      formOf(cell.sample) == SampleForm::Pictures ? sequenceText(cell.sample.source)
                                                                  : QString()})
                    if (!line.isEmpty()) lines << line;
                QToolTip::showText(help->globalPos(), plainTip(lines.join(u'\n')), viewport());
                return true;
            }
    }
    return QAbstractScrollArea::viewportEvent(event);
}

// A figure of examples
// -------------------------------------------------------------------------------------------------

namespace {

class SampleCell : public QWidget {
public:
    SampleCell(const ShownSample& shown, QWidget* parent) : QWidget(parent), m_shown(shown) {
        setFixedSize(sampleSize(shown));
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        paintSample(painter, rect(), m_shown);
    }

private:
    ShownSample m_shown;
};

}  // namespace

std::unique_ptr<QWidget> SampleGrid::figure() const {
    if (countShown() == 0) return nullptr;
    std::vector<ShownSample> samples;
    for (qint64 i = firstShown(); i < firstShown() + countShown(); ++i) {
        const auto found = m_cells.find(i);
        samples.push_back(found == m_cells.end() ? ShownSample() : found->second);
    }
    auto grid = std::make_unique<SampleGrid>();
    grid->setPalette(Theme::current().palette());
    grid->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    const auto count = static_cast<int>(samples.size());
    grid->setData(count, m_example, m_names);
    grid->setSamples(0, std::move(samples));
    const QSize one = grid->cellSize();
    // A picture of one row is as wide as its samples.
    const int across = std::clamp(columns(), 1, std::max(1, count));
    const int rows = (count + across - 1) / across;
    grid->resize(2 * kSheetMargin + across * one.width() - kSheetGap,
                 2 * kSheetMargin + rows * one.height() - kSheetGap);
    return grid;
}

bool renderExamples(const std::vector<ShownSample>& samples, const QStringList& titles, int columns,
                    const QString& path, QString* error) {
    QWidget all;
    paintOnPanelColour(&all);
    auto* grid = new QGridLayout(&all);
    grid->setSpacing(16);
    for (int row = 0; row < titles.size(); ++row) {
        auto* title = new QLabel(titles[row], &all);
        title->setFont(headFont());
        grid->addWidget(title, row, 0);
        for (int column = 0; column < columns; ++column) {
            const auto at = static_cast<std::size_t>(row * columns + column);
            if (at >= samples.size()) break;
            auto* cell = new QVBoxLayout;
            cell->addWidget(new SampleCell(samples[at], &all));
            auto* answer = new QLabel(sampleLabel(samples[at], {}), &all);
            answer->setFont(captionFont());
            cell->addWidget(answer);
            grid->addLayout(cell, row, column + 1);
        }
    }
    all.resize(all.layout()->sizeHint());
    all.ensurePolished();
    all.layout()->activate();
    return exportWidget(all, path, 300, error);
}

}  // namespace relascope::widgets
