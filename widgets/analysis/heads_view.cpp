// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QHBoxLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollArea>
#include <QToolTip>

#include "widgets/analysis/heads_view.h"
#include "widgets/analysis/lens_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kHeadsMargin = 16, kHeadsTitle = 26, kHeadsLabels = 34, kHeadsCaption = 18,
              kHeadsGap = 26, kKindGap = 8, kSmallestCell = 12, kLargestCell = 40,
              kHeadsFigure = 1000, kHeadsFigureHead = 34, kNumberCell = 34;

QString upperFirst(QString text) {
    if (!text.isEmpty()) text[0] = text[0].toUpper();
    return text;
}

QString share(double value) {
    return std::isfinite(value) ? QString::number(value, 'f', 2) : QString(QChar(0x2014));
}

}  // namespace

HeadGrids::HeadGrids(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Head measures"));
}

void HeadGrids::setResult(const HeadMeasures& result) {
    m_result = result;
    m_sensory = result.most(MapKind::SensoryAttention);
    m_relational = result.most(MapKind::RelationalAttention);
    m_current = {};
    QStringList names;
    for (const auto& name : result.measures) names << QString::fromStdString(name);
    setAccessibleDescription(names.join(QStringLiteral(", ")));
    fit(m_width);
    update();
}

// All grids have the same cells; as many stand side by side as fit.
void HeadGrids::fit(int width) {
    m_width = width;
    const int layers = static_cast<int>(m_result.layers.size());
    const int heads = std::max(1, m_sensory + m_relational);
    const int measures = static_cast<int>(m_result.measures.size());
    const int gaps = kHeadsLabels + (m_sensory > 0 && m_relational > 0 ? kKindGap : 0);
    m_across = 1;
    for (int across = std::max(1, measures); across >= 1; --across) {
        const int room = (width - 2 * kHeadsMargin - (across - 1) * kHeadsGap) / across - gaps;
        m_across = across;
        m_cell = std::clamp(room / heads, kSmallestCell, kLargestCell);
        // Wide enough for its title, and for the numbers in its cells where that is possible.
        if (room >= heads * kNumberCell || (across == 1) ||
            (room >= 180 && room >= heads * 18 && heads * kNumberCell > width / 2))
            break;
    }
    m_panel = {std::max(180, gaps + heads * m_cell), kHeadsTitle + layers * m_cell + kHeadsCaption};
    const int down = (measures + m_across - 1) / m_across;
    m_size = measures == 0
                 ? QSize(200, 60)
                 : QSize(2 * kHeadsMargin + m_across * m_panel.width() + (m_across - 1) * kHeadsGap,
                         kHeadsMargin + down * (m_panel.height() + kHeadsGap));
    setMinimumSize(m_size);
}

QPoint HeadGrids::origin(int measure) const {
    return {kHeadsMargin + measure % m_across * (m_panel.width() + kHeadsGap),
            8 + measure / m_across * (m_panel.height() + kHeadsGap)};
}

QRect HeadGrids::cellRect(const HeadPlace& place) const {
    if (place.measure < 0 || place.head < 0) return {};
    const auto& head = m_result.heads.at(static_cast<std::size_t>(place.head));
    const bool relational = head.kind == MapKind::RelationalAttention;
    const int gap = relational && m_sensory > 0 ? kKindGap : 0;
    const int column = head.index + (relational ? m_sensory : 0);
    return {origin(place.measure) +
                QPoint(kHeadsLabels + gap + column * m_cell, kHeadsTitle + head.layer * m_cell),
            QSize(m_cell, m_cell)};
}

HeadPlace HeadGrids::placeAt(const QPoint& at) const {
    for (int m = 0; m < static_cast<int>(m_result.measures.size()); ++m)
        if (QRect(origin(m), m_panel).contains(at))
            for (int h = 0; h < static_cast<int>(m_result.heads.size()); ++h)
                if (cellRect({m, h}).contains(at)) return {m, h};
    return {};
}

QString HeadGrids::text(const HeadPlace& place) const {
    if (place.measure < 0 || place.head < 0) return {};
    const auto m = static_cast<std::size_t>(place.measure);
    const auto& head = m_result.heads.at(static_cast<std::size_t>(place.head));
    return QStringLiteral("%1, %2 head %3: %4 %5; even attention %6")
        .arg(QString::fromStdString(m_result.layers.at(static_cast<std::size_t>(head.layer))),
             head.kind == MapKind::RelationalAttention ? QStringLiteral("relational")
                                                       : QStringLiteral("sensory"))
        .arg(head.index + 1)
        .arg(QString::fromStdString(m_result.measures[m]), share(head.values[m]),
             share(m_result.even[m]));
}

void HeadGrids::setCurrent(const HeadPlace& place) {
    if (place == m_current) return;
    m_current = place;
    update();
    Q_EMIT hovered(place);
}

void HeadGrids::paint(QPainter& painter) const {
    const Theme& t = Theme::current();
    for (int m = 0; m < static_cast<int>(m_result.measures.size()); ++m) {
        const auto at = static_cast<std::size_t>(m);
        const QPoint corner = origin(m);
        const QString title = upperFirst(QString::fromStdString(m_result.measures[at]));
        painter.setFont(smallFont());
        painter.setPen(t.text);
        const QRect head(corner, QSize(m_panel.width(), kHeadsTitle));
        painter.drawText(head, Qt::AlignVCenter | Qt::AlignLeft, title);
        const int end = QFontMetrics(smallFont()).horizontalAdvance(title) + 10;
        painter.setFont(captionFont());
        painter.setPen(t.muted);
        painter.drawText(head.adjusted(end, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                         QStringLiteral("even: %1").arg(share(m_result.even[at])));
        for (int layer = 0; layer < static_cast<int>(m_result.layers.size()); ++layer)
            if (m_cell >= 16 || layer % 2 == 0)
                painter.drawText(QRect(corner.x(), corner.y() + kHeadsTitle + layer * m_cell,
                                       kHeadsLabels - 8, m_cell),
                                 Qt::AlignVCenter | Qt::AlignRight, QString::number(layer + 1));
        for (int h = 0; h < static_cast<int>(m_result.heads.size()); ++h) {
            const double value = m_result.heads[static_cast<std::size_t>(h)].values[at];
            const QRect cell = cellRect({m, h}).adjusted(0, 0, -1, -1);
            painter.fillRect(cell, probabilityTint(value));
            if (m_cell >= kNumberCell) {
                painter.setFont(numberFont(11));
                painter.setPen(t.text);
                painter.drawText(cell, Qt::AlignCenter, share(value));
            }
        }
        painter.setFont(captionFont());
        painter.setPen(t.muted);
        const int below = corner.y() + m_panel.height() - kHeadsCaption;
        int x = corner.x() + kHeadsLabels;
        // The longest names that fit below both groups.
        const int forms = 3;
        const char* const names[2][forms] = {{"sensory heads", "sensory", "S"},
                                             {"relational heads", "relational", "R"}};
        const int counts[] = {m_sensory, m_relational};
        const auto fits = [&](int form) {
            if (m_sensory == 0 || m_relational == 0) return true;
            for (int kind = 0; kind < 2; ++kind)
                if (painter.fontMetrics().horizontalAdvance(QLatin1String(names[kind][form])) >
                    counts[kind] * m_cell + kKindGap - 2)
                    return false;
            return true;
        };
        int form = 0;
        while (form + 1 < forms && !fits(form)) ++form;
        for (int kind = 0; kind < 2; ++kind) {
            if (counts[kind] == 0) continue;
            painter.drawText(QRect(x, below, 160, kHeadsCaption), Qt::AlignVCenter | Qt::AlignLeft,
                             QLatin1String(names[kind][form]));
            x += counts[kind] * m_cell + kKindGap;
        }
    }
    if (const QRect marked = cellRect(m_current); !marked.isEmpty()) {
        painter.setPen(QPen(t.text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(marked.adjusted(0, 0, -1, -1));
    }
}

void HeadGrids::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    paint(painter);
}

void HeadGrids::mouseMoveEvent(QMouseEvent* event) {
    setCurrent(placeAt(event->pos()));
}
void HeadGrids::leaveEvent(QEvent*) {
    setCurrent({});
}
void HeadGrids::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    setCurrent(placeAt(event->pos()));
    if (m_current.head >= 0) Q_EMIT headChosen(m_current.head);
}

void HeadGrids::keyPressEvent(QKeyEvent* event) {
    const int measures = static_cast<int>(m_result.measures.size()),
              heads = static_cast<int>(m_result.heads.size());
    if (measures == 0 || heads == 0) return QWidget::keyPressEvent(event);
    HeadPlace next{std::max(0, m_current.measure), std::max(0, m_current.head)};
    const auto& from = m_result.heads[static_cast<std::size_t>(next.head)];
    const auto toLayer = [&](int layer) {
        for (int h = 0; h < heads; ++h) {
            const auto& head = m_result.heads[static_cast<std::size_t>(h)];
            if (head.layer == layer && head.kind == from.kind && head.index == from.index)
                next.head = h;
        }
    };
    switch (m_current.head < 0 ? Qt::Key_Home : event->key()) {
        case Qt::Key_Home:
            break;
        case Qt::Key_Left:
            next.head = std::max(0, next.head - 1);
            break;
        case Qt::Key_Right:
            next.head = std::min(heads - 1, next.head + 1);
            break;
        case Qt::Key_Up:
            toLayer(from.layer - 1);
            break;
        case Qt::Key_Down:
            toLayer(from.layer + 1);
            break;
        case Qt::Key_PageUp:
            next.measure = std::max(0, next.measure - 1);
            break;
        case Qt::Key_PageDown:
            next.measure = std::min(measures - 1, next.measure + 1);
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            return headChosen(next.head);
        default:
            return QWidget::keyPressEvent(event);
    }
    setCurrent(next);
}

bool HeadGrids::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), text(placeAt(help->pos())), this);
        return true;
    }
    return QWidget::event(event);
}

HeadsView::HeadsView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Head measures"), QStringLiteral("heads"), parent),
      m_grids(new HeadGrids),
      m_scroll(new QScrollArea(this)),
      m_footer(new ElidedLabel({}, this)) {
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidget(m_grids);
    m_scroll->setWidgetResizable(true);
    m_footer->setFont(smallFont());
    m_footer->setAccessibleName(QStringLiteral("Value"));
    auto* below = new QWidget(this);
    rowOf(below, {16, 6, 16, 6})->addWidget(m_footer);
    content()->addWidget(m_scroll, 1);
    content()->addWidget(horizontalLine(this));
    content()->addWidget(below);
    const auto show = [this](const HeadPlace& place) {
        m_footer->setText(place.head >= 0
                              ? m_grids->text(place)
                              : QStringLiteral("Mean attention of each head to places of a kind, "
                                               "from 0 (light) to 1. A click shows the head in "
                                               "the inspector."));
        const QRect cell = m_grids->cellRect(place);
        if (!cell.isEmpty() && m_grids->hasFocus())
            m_scroll->ensureVisible(cell.center().x(), cell.center().y(), 40, 40);
    };
    connect(m_grids, &HeadGrids::hovered, this, show);
    connect(m_grids, &HeadGrids::headChosen, this, [this](int at) {
        const auto& head = result().heads.at(static_cast<std::size_t>(at));
        Q_EMIT mapRequested(head.kind, head.layer, head.index);
    });
    show({});
    HeadsView::clear(QStringLiteral("Open a language or vision model first."));
}

QString HeadsView::footerText() const {
    return m_footer->text();
}

void HeadsView::clear(const QString& sentence) {
    m_grids->setResult({});
    MeasureFrame::clear(sentence);
}

void HeadsView::setResult(const HeadMeasures& result) {
    m_grids->setResult(result);
    head()->setSubText(
        QStringLiteral("mean attention over %1").arg(QString::fromStdString(result.input)));
    leaveEmpty();
    m_grids->fit(m_scroll->viewport()->width());
}

void HeadsView::resizeEvent(QResizeEvent* event) {
    MeasureFrame::resizeEvent(event);
    m_grids->fit(m_scroll->viewport()->width());
}

QString HeadsView::title() const {
    return QStringLiteral("Head measures: ") + headText();
}

QSize HeadsView::figureSize() const {
    HeadGrids grids;
    grids.setResult(result());
    grids.fit(kHeadsFigure);
    return {std::max(420, grids.layoutSize().width()),
            grids.layoutSize().height() + kHeadsFigureHead};
}

void HeadsView::paintFigure(QPainter& painter) {
    HeadGrids grids;
    grids.setResult(result());
    grids.fit(kHeadsFigure);
    painter.setFont(headFont());
    painter.setPen(Theme::current().text);
    painter.drawText(QRect(16, 4, figureSize().width() - 32, kHeadsFigureHead - 4),
                     Qt::AlignVCenter, title());
    painter.save();
    painter.translate(0, kHeadsFigureHead);
    grids.paint(painter);
    painter.restore();
}

}  // namespace relascope::widgets
