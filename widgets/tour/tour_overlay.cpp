// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QVBoxLayout>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"
#include "widgets/tour/tour_overlay.h"

namespace relascope::widgets {
namespace {

constexpr int kWidth = 520, kTourHeight = 208, kTile = 44;

/// A sender of the drawing: its relation to i, and how much of its message i takes.
struct Sender {
    double relation;
    double attention;
    int shape;  ///< number of corners; 0: a disc
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
    setAccessibleName(
        QString::fromUtf8("Drawing of r\u1D62\u2C7C, i \u2190 j and \u03B1\u1D62\u2C7C"));
    setAccessibleDescription(text());
    setFixedSize(sizeHint());
}

QSize RelationPrimer::sizeHint() const {
    return {kWidth, kTourHeight};
}

QString RelationPrimer::text() {
    return QString::fromUtf8(
        "A relational head compares each object i with every object j. The relation r\u1D62\u2C7C "
        "is a "
        "small vector of inner products of learned projections of the two; here it has one entry, "
        "positive in green and negative in purple. i \u2190 j reads: i receives from j. The "
        "attention weight \u03B1\u1D62\u2C7C is the fraction of the message of j that i takes; the "
        "weights "
        "of one i sum to 1. The message itself is r\u1D62\u2C7C with a symbol s\u2C7C that "
        "identifies the "
        "sender, not the features of j.");
}

void RelationPrimer::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF receiver(40, (kTourHeight - 40 - kTile) / 2.0, kTile, kTile);
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
    painter.drawText(
        QRectF(senderX - 120, kTourHeight - 44, kWidth - senderX + 120, 18), Qt::AlignRight,
        QString::fromUtf8("colour: sign and size of r\u1D62\u2C7C, width: \u03B1\u1D62\u2C7C"));
    painter.setFont(numberFont(13));
    painter.setPen(t.text);
    painter.drawText(QRectF(0, kTourHeight - 22, kWidth, 20), Qt::AlignLeft | Qt::AlignVCenter,
                     QString::fromUtf8("output of i = \u03A3\u2C7C \u03B1\u1D62\u2C7C (W\u1D63 "
                                       "r\u1D62\u2C7C + W\u209B s\u2C7C)"));
}

namespace {

constexpr int kTourGap = 12, kTextWidth = 340;

/// The card: paper with a border, above the dimmed window.
class TourCard : public QWidget {
public:
    using QWidget::QWidget;

protected:
    void paintEvent(QPaintEvent*) override {
        const Theme& t = Theme::current();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(t.controlBorder, 1));
        painter.setBrush(t.panel);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    }
};

}  // namespace

TourOverlay::TourOverlay(std::vector<TourStep> steps, QWidget* parent)
    : QWidget(parent), m_steps(std::move(steps)) {
    setAccessibleName(QStringLiteral("Tour"));
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_DeleteOnClose);
    m_card = new TourCard(this);
    m_column = new QVBoxLayout(m_card);
    m_column->setContentsMargins(20, 16, 20, 14);
    m_column->setSpacing(8);
    m_column->setSizeConstraint(QLayout::SetFixedSize);
    m_title = new QLabel(m_card);
    m_title->setFont(titleFont());
    m_text = new QLabel(m_card);
    m_text->setFont(bodyFont());
    m_text->setWordWrap(true);
    m_text->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    for (const auto& step : m_steps) {
        if (step.picture) continue;
        m_text->setText(step.text);
        m_textHeight = std::max(m_textHeight, m_text->heightForWidth(kTextWidth));
    }
    m_text->setFixedSize(kTextWidth, m_textHeight);
    m_count = mutedLabel({}, m_card);
    m_skip = new QPushButton(QStringLiteral("Skip"), m_card);
    m_back = new QPushButton(QStringLiteral("Back"), m_card);
    m_next = new QPushButton(m_card);
    m_next->setProperty("primary", true);
    m_next->setMinimumWidth(84);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(m_count, 1);
    row->addWidget(m_skip);
    row->addWidget(m_back);
    row->addWidget(m_next);
    m_column->addWidget(m_title);
    m_column->addWidget(m_text);
    m_column->addSpacing(4);
    m_column->addLayout(row);
    connect(m_next, &QPushButton::clicked, this, &TourOverlay::next);
    connect(m_back, &QPushButton::clicked, this, &TourOverlay::back);
    connect(m_skip, &QPushButton::clicked, this, &TourOverlay::end);
    m_column->activate();
    m_usual = m_largest = m_card->sizeHint();
    parent->installEventFilter(this);
    setGeometry(parent->rect());
    show(0);
    QWidget::show();
    raise();
    setFocus();
}

QRect TourOverlay::highlighted() const {
    return part(m_step);
}

QRect TourOverlay::part(int step) const {
    const auto& shown = m_steps[static_cast<std::size_t>(step)];
    QWidget* target = shown.target ? shown.target() : nullptr;
    if (!target || !target->isVisible()) return {};
    return QRect(target->mapTo(parentWidget(), QPoint(0, 0)), target->size()) & rect();
}

QRect TourOverlay::card() const {
    return m_card->geometry();
}

void TourOverlay::next() {
    m_step + 1 < steps() ? show(m_step + 1) : end();
}

void TourOverlay::back() {
    if (m_step > 0) show(m_step - 1);
}

void TourOverlay::end() {
    Q_EMIT ended();
    close();
}

void TourOverlay::show(int step) {
    m_step = step;
    const TourStep& now = m_steps[static_cast<std::size_t>(step)];
    if (now.prepare) now.prepare();
    delete m_picture;
    m_picture = now.picture ? now.picture(m_card) : nullptr;
    if (m_picture) m_column->insertWidget(1, m_picture);
    m_title->setText(now.title);
    const int width = m_picture ? m_picture->width() : kTextWidth;
    m_text->setText(now.text);
    m_text->setFixedSize(width, m_picture ? m_text->heightForWidth(width) : m_textHeight);
    m_count->setText(QStringLiteral("%1 of %2").arg(step + 1).arg(steps()));
    const bool last = step + 1 == steps();
    m_back->setEnabled(step > 0);
    m_skip->setVisible(!last);
    m_next->setText(last ? QStringLiteral("Done") : QStringLiteral("Next"));
    setAccessibleDescription(now.title + QStringLiteral(". ") + now.text);
    place();
    update();
}

QPoint TourOverlay::corner() const {
    constexpr int grid = 24;
    const QRect room = rect().adjusted(kTourGap, kTourGap, -kTourGap, -kTourGap);
    std::vector<QRect> parts;
    for (int step = 0; step < steps(); ++step)
        if (const QRect one = part(step); !one.isEmpty()) parts.push_back(one);
    QPoint best = room.bottomRight();
    double least = std::numeric_limits<double>::infinity();
    for (int y = room.bottom(); y >= room.top() + m_largest.height(); y -= grid)
        for (int x = room.left() + m_largest.width(); x <= room.right(); x += grid) {
            QRect card(QPoint(), m_usual);
            card.moveBottomRight({x, y});
            double covered = 0.0;
            for (const QRect& one : parts) {
                const QRect both = one & card;
                covered += static_cast<double>(both.width()) * both.height() /
                           (static_cast<double>(one.width()) * one.height());
            }
            if (covered < least) least = covered, best = {x, y};
        }
    return best;
}

void TourOverlay::place() {
    m_column->activate();
    const QSize size = m_card->sizeHint();
    m_largest = m_largest.expandedTo(size);
    QRect where(QPoint(), size);
    where.moveBottomRight(corner());
    m_card->setGeometry(where);
    const QRect hole = highlighted();
    const bool usable = m_steps[static_cast<std::size_t>(m_step)].usable && !hole.isEmpty();
    const QRegion around = usable ? QRegion(rect()) - QRegion(hole) + QRegion(where) : QRegion();
    if (mask() == around) return;
    clearMask();
    if (!usable) return;
    repaint();  // it is not dim any more, and this widget cannot paint there from now on
    setMask(around);
}

void TourOverlay::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QPainterPath dimmed;
    dimmed.addRect(rect());
    const QRect part = highlighted();
    if (!part.isEmpty()) {
        QPainterPath hole;
        hole.addRoundedRect(QRectF(part).adjusted(1, 1, -1, -1), 4, 4);
        dimmed -= hole;
    }
    painter.fillPath(dimmed, QColor(0, 0, 0, 120));
    if (part.isEmpty()) return;
    painter.setPen(QPen(Theme::current().accent, 2));
    painter.setBrush(Qt::NoBrush);
    // What can be used is not painted over.
    const double inside = m_steps[static_cast<std::size_t>(m_step)].usable ? -1.0 : 1.0;
    painter.drawRoundedRect(QRectF(part).adjusted(inside, inside, -inside, -inside), 4, 4);
}

void TourOverlay::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Right:
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return next();
        case Qt::Key_Left:
            return back();
        case Qt::Key_Escape:
            return end();
        default:
            break;
    }
    QWidget::keyPressEvent(event);
}

bool TourOverlay::event(QEvent* event) {
    // Single keys are handled by the tour; shortcuts such as Ctrl+Q still reach the window, and the
    // letters of a part that can be used.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool letter = key->key() >= Qt::Key_A && key->key() <= Qt::Key_Z;
        if ((key->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier &&
            !(letter && m_steps[static_cast<std::size_t>(m_step)].usable))
            event->accept();
    }
    return QWidget::event(event);
}

bool TourOverlay::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parentWidget() &&
        (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest)) {
        setGeometry(parentWidget()->rect());
        place();
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace relascope::widgets
