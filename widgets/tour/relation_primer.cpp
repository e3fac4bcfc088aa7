// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tour/relation_primer.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kWidth = 520, kHeight = 208, kTile = 44;

/// A sender of the drawing: its relation to i, and how much of its message i takes.
struct Sender {
    double relation;
    double attention;
    int shape;  ///< as many corners; 0 is a disc
};
constexpr Sender kSenders[] = {{1.3, 0.62, 3}, {-0.9, 0.27, 4}, {0.1, 0.11, 0}};

void drawFigure(QPainter& painter, const QRectF& tile, int shape, const QColor& color) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    const QRectF box = tile.adjusted(11, 11, -11, -11);
    if (shape == 0) {
        painter.drawEllipse(box);
    } else if (shape == 4) {
        painter.drawRect(box);
    } else {
        painter.drawPolygon(
            QPolygonF({QPointF(box.center().x(), box.top()), box.bottomRight(), box.bottomLeft()}));
    }
}

QColor signedColor(double relation) {
    const auto& stops = Theme::current().signedStops;
    const double place = std::clamp((relation / 1.5 + 1.0) / 2.0, 0.0, 1.0);
    return stops[static_cast<std::size_t>(std::lround(place * 10.0))];
}

QString signedText(double value) {
    return (value < 0 ? QString(QChar(0x2212)) : QStringLiteral("+")) +
           QString::number(std::abs(value), 'f', 1);
}

}  // namespace

RelationPrimer::RelationPrimer(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QString::fromUtf8("Drawing of r_ij, i \u2192 j and \u03B1_ij"));
    setAccessibleDescription(text());
    setFixedSize(sizeHint());
}

QSize RelationPrimer::sizeHint() const {
    return {kWidth, kHeight};
}

QString RelationPrimer::text() {
    return QString::fromUtf8(
        "A relational head compares each object i with every object j. The relation r_ij is a "
        "small vector of inner products of learned projections of the two; here it has one entry, "
        "positive in green and negative in purple. i \u2192 j reads: i receives, j sends. The "
        "attention weight \u03B1_ij is the fraction of the message of j that i takes; the weights "
        "of one i sum to 1. The message itself is r_ij with a symbol s_j that identifies the "
        "sender, not the features of j.");
}

void RelationPrimer::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF receiver(40, (kHeight - 40 - kTile) / 2.0, kTile, kTile);
    const double senderX = 300;
    const int senders = static_cast<int>(std::size(kSenders));
    for (int j = 0; j < senders; ++j) {
        const Sender& s = kSenders[j];
        const QRectF tile(senderX, 6 + j * 54, kTile, kTile);
        const QPointF from(receiver.right() + 8, receiver.center().y());
        const QPointF to(tile.left() - 8, tile.center().y());
        const QColor color = signedColor(s.relation);
        const double width = 1.5 + 7.0 * s.attention;
        painter.setPen(QPen(color, width, Qt::SolidLine, Qt::FlatCap));
        const QPointF way = (to - from) / std::hypot(to.x() - from.x(), to.y() - from.y());
        const double head = 7.0 + width;
        painter.drawLine(from, to - head * way);
        const QPointF across(-way.y(), way.x());
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        const QPointF foot = to - head * way;
        painter.drawPolygon(
            QPolygonF({to, foot + 0.55 * head * across, foot - 0.55 * head * across}));
        painter.setBrush(t.panel);
        painter.setPen(QPen(t.controlBorder, 1));
        painter.drawRect(tile);
        drawFigure(painter, tile, s.shape, t.seriesColor(j == 0 ? 0 : j + 1));
        painter.setFont(numberFont(12));
        painter.setPen(t.text);
        painter.drawText(QRectF(tile.right() + 14, tile.top(), kWidth - tile.right() - 14, kTile),
                         Qt::AlignVCenter,
                         QString::fromUtf8("j = %1   r = %2   \u03B1 = %3")
                             .arg(j + 1)
                             .arg(signedText(s.relation), QString::number(s.attention, 'f', 2)));
    }
    painter.setBrush(t.panel);
    painter.setPen(QPen(t.error, 2));
    painter.drawRect(receiver);
    drawFigure(painter, receiver, 3, t.seriesColor(0));
    painter.setFont(smallFont());
    painter.setPen(t.text);
    painter.drawText(QRectF(0, receiver.bottom() + 6, receiver.right() + 60, 18), Qt::AlignLeft,
                     QStringLiteral("i, the receiver"));
    painter.setPen(t.muted);
    painter.drawText(QRectF(senderX - 120, kHeight - 44, kWidth - senderX + 120, 18),
                     Qt::AlignRight,
                     QString::fromUtf8("colour: sign and size of r_ij, width: \u03B1_ij"));
    painter.setFont(numberFont(13));
    painter.setPen(t.text);
    painter.drawText(QRectF(0, kHeight - 22, kWidth, 20), Qt::AlignLeft | Qt::AlignVCenter,
                     QString::fromUtf8("output of i = \u03A3_j \u03B1_ij (W_r r_ij + W_s s_j)"));
}

}  // namespace relascope::widgets
