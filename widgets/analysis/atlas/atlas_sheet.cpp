// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>

#include "widgets/analysis/analysis_frame.h"
#include "widgets/analysis/answer_view.h"
#include "widgets/analysis/atlas/atlas_sheet.h"
#include "widgets/kit/tile_area.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
QString atlasNumber(double value, int digits) {
    if (std::isnan(value)) return QString(QChar(0x2014));
    if (std::isinf(value)) return QString(QChar(0x221E));
    return QString::number(value, 'f', digits);
}

AtlasSheet::AtlasSheet(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("The chosen map"));
    setMouseTracking(true);
}

void AtlasSheet::show(const RelationAtlas& atlas, int relation) {
    m_atlas = atlas;
    m_relation = relation < static_cast<int>(atlas.relations.size()) ? relation : -1;
    m_pair = -1;
    setAccessibleDescription(description());
    fit(width());
    setFocusPolicy(m_pairs.empty() ? Qt::NoFocus : Qt::StrongFocus);
    update();
}

int AtlasSheet::fit(int width) {
    m_pairs.clear();
    m_stepsPlot = {};
    const int height = paint(nullptr, width, &m_pairs, &m_stepsPlot);
    if (m_pair >= static_cast<int>(m_pairs.size())) m_pair = -1;
    setMinimumHeight(height);
    return height;
}

// The gallery by mouse and keyboard
// -------------------------------------------------------------------------------------------------

int AtlasSheet::pairAt(const QPoint& point) const {
    const auto at = std::find_if(m_pairs.begin(), m_pairs.end(), [&](const PairPlace& place) {
        return place.room.contains(point);
    });
    return at == m_pairs.end() ? -1 : static_cast<int>(at - m_pairs.begin());
}

// The place of a step along the plot, 0..1.
double AtlasSheet::alongPlot(std::int64_t step) const {
    const double most = std::log1p(static_cast<double>(m_atlas.steps.back().step));
    return std::log1p(static_cast<double>(step)) / std::max(1e-9, most);
}

std::int64_t AtlasSheet::stepAt(const QPoint& point) const {
    if (!m_stepsPlot.contains(point)) return -1;
    const double along = (point.x() - m_stepsPlot.x()) / m_stepsPlot.width();
    const auto distance = [&](const RelationAtlas::Step& step) {
        return std::abs(alongPlot(step.step) - along);
    };
    return std::min_element(m_atlas.steps.begin(), m_atlas.steps.end(),
                            [&](const auto& a, const auto& b) { return distance(a) < distance(b); })
        ->step;
}

void AtlasSheet::setPair(int pair) {
    m_pair = pair;
    const auto& place = m_pairs[static_cast<std::size_t>(pair)];
    setAccessibleDescription(QStringLiteral("%1, value %2. %3")
                                 .arg(shownText(place.pair.text))
                                 .arg(place.pair.value, 0, 'g', 3)
                                 .arg(description()));
    Q_EMIT pairChosen(place.room);
    update();
}

bool AtlasSheet::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        QString tip;
        if (const int pair = pairAt(help->pos()); pair >= 0)
            tip = QStringLiteral("%1, example %2; a click shows it in the inspector")
                      .arg(shownText(m_pairs[static_cast<std::size_t>(pair)].pair.text))
                      .arg(m_pairs[static_cast<std::size_t>(pair)].pair.example);
        else if (const auto step = stepAt(help->pos()); step >= 0)
            tip = QStringLiteral("Step %1; a click moves the time cursor there").arg(step);
        QToolTip::showText(help->globalPos(), tip, this);
        return true;
    }
    return QWidget::event(event);
}

void AtlasSheet::mouseMoveEvent(QMouseEvent* event) {
    const bool there = pairAt(event->pos()) >= 0 || stepAt(event->pos()) >= 0;
    setCursor(there ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void AtlasSheet::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const auto step = stepAt(event->pos()); step >= 0) return Q_EMIT stepChosen(step);
    const int pair = pairAt(event->pos());
    if (pair < 0) return;
    setPair(pair);
    Q_EMIT pairRequested(m_pairs[static_cast<std::size_t>(pair)].pair);
}

void AtlasSheet::keyPressEvent(QKeyEvent* event) {
    static const QList<int> arrows = {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up,
                                      Qt::Key_Down, Qt::Key_Home,  Qt::Key_End};
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (m_pairs.empty() || (!enter && !arrows.contains(event->key())))
        return QWidget::keyPressEvent(event);
    if (enter && m_pair >= 0)
        return Q_EMIT pairRequested(m_pairs[static_cast<std::size_t>(m_pair)].pair);
    std::vector<QRect> rooms;
    for (const PairPlace& place : m_pairs) rooms.push_back(place.room);
    const bool first = m_pair < 0 && event->key() != Qt::Key_End;
    setPair(first ? 0 : movedInRows(rooms, std::max(0, m_pair), event->key()));
}

void AtlasSheet::resizeEvent(QResizeEvent*) {
    fit(width());
}

void AtlasSheet::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    paint(&painter, width());
    if (m_pair >= 0 && hasFocus())
        paint::focusRing(painter, m_pairs[static_cast<std::size_t>(m_pair)].room);
}

QString AtlasSheet::description() const {
    if (m_relation < 0) return {};
    const auto& r = shown();
    QStringList parts{QStringLiteral("%1: %2").arg(shownText(r.name), shownText(r.label))};
    for (std::size_t a = 0; a < r.fits.size(); ++a)
        parts << QStringLiteral("%1 %2").arg(shownText(m_atlas.attributes[a].name),
                                             atlasNumber(r.fits[a].auc, 3));
    return parts.join(QStringLiteral("; "));
}

}  // namespace relascope::widgets
