// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/data/sample_paint.h"

#include <QPainter>
#include <QTextLayout>
#include <algorithm>

#include "types/text_piece.h"
#include "widgets/source/pictures.h"
#include "widgets/source/vector_bars.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int gap = 4, orderGap = 10;
constexpr int leastImage = 64, mostImage = 192;
constexpr int textWidth = 264, textLines = 3, lineHeight = 16;
constexpr int mostAcross = 10, mostObjects = 20;

/// The layout of the objects of a sample: rows of equal size.
struct Rows {
    QSize tile;
    int count = 0, across = 0;  ///< shown; a row
    int rows() const { return across > 0 ? (count + across - 1) / across : 0; }
    int height() const { return rows() * (tile.height() + gap) - gap; }
    int width() const { return qMin(count, across) * (tile.width() + gap) - gap; }
    QRect at(int index, const QPoint& from) const {
        return {from + QPoint(index % across * (tile.width() + gap),
                              index / across * (tile.height() + gap)),
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
    for (int line = 0; (line + 1) * lineHeight <= place.height(); ++line) {
        QTextLine next = layout.createLine();
        if (!next.isValid()) break;
        next.setLineWidth(place.width());
        const QRect row(place.left(), place.top() + line * lineHeight, place.width(), lineHeight);
        const bool last = (line + 2) * lineHeight > place.height();
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
            return {textWidth, textLines * lineHeight + 8};
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

}  // namespace relascope::widgets
