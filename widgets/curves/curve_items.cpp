// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include "widgets/curves/curve_items.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

std::vector<MarkLabel> placeMarkLabels(const std::vector<double>& positions,
                                       const QStringList& texts, double left, double right,
                                       const QFontMetrics& metrics) {
    constexpr double gap = 9.0;  // between a diamond and its text
    std::vector<MarkLabel> labels;
    std::vector<std::pair<double, double>> taken;  // by earlier texts, with their row below
    std::vector<int> rows;
    for (std::size_t k = 0; k < positions.size(); ++k) {
        MarkLabel label;
        label.text = metrics.elidedText(texts[static_cast<qsizetype>(k)], Qt::ElideRight,
                                        static_cast<int>(right - left));
        const double width = metrics.horizontalAdvance(label.text);
        const auto isFree = [&](double from, int row) {
            if (from < left || from + width > right) return false;
            for (std::size_t t = 0; t < taken.size(); ++t)
                if (rows[t] == row && from < taken[t].second + 6 &&
                    taken[t].first < from + width + 6)
                    return false;
            for (const double x : positions)
                if (row == 0 && x + gap - 2 > from && x - gap + 2 < from + width) return false;
            return true;
        };
        const double inside = std::clamp(positions[k] + 4.0, left, std::max(left, right - width));
        if (isFree(positions[k] + gap, 0)) {
            label.left = positions[k] + gap;
        } else if (isFree(positions[k] - gap - width, 0)) {
            label.left = positions[k] - gap - width;
        } else {
            label.left = inside;
            for (label.row = 1; !isFree(inside, label.row) && label.row < 100;) ++label.row;
        }
        taken.emplace_back(label.left, label.left + width);
        rows.push_back(label.row);
        labels.push_back(std::move(label));
    }
    return labels;
}

void dodge(std::vector<QRectF>& boxes, const std::vector<QRectF>& fixed, double top,
           double bottom) {
    std::vector<std::size_t> order(boxes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return boxes[a].top() < boxes[b].top(); });
    // Twice: what the bottom pushes up again meets what stands above it.
    for (const bool down : {true, false}) {
        std::vector<QRectF> placed = fixed;
        for (const std::size_t k : order) {
            QRectF& box = boxes[k];
            const auto into = [&] {
                box.moveTop(std::max(top, std::min(box.top(), bottom - box.height())));
            };
            into();
            // Each of them is left behind once, so that this ends.
            for (std::size_t tries = 0; tries <= placed.size(); ++tries) {
                const auto met = std::find_if(placed.begin(), placed.end(),
                                              [&](const QRectF& p) { return p.intersects(box); });
                if (met == placed.end()) break;
                down ? box.moveTop(met->bottom() + 1.0) : box.moveBottom(met->top() - 1.0);
            }
            placed.push_back(box);
        }
        const auto below = [&](const QRectF& box) { return box.bottom() > bottom + 0.5; };
        if (std::none_of(boxes.begin(), boxes.end(), below)) return;
        std::reverse(order.begin(), order.end());
    }
}

namespace {

double niceStep(double raw) {
    if (!(raw > 0.0) || !std::isfinite(raw)) return 1.0;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    const double head = raw / power;
    return power * (head <= 1.0 ? 1.0 : head <= 2.0 ? 2.0 : head <= 5.0 ? 5.0 : 10.0);
}

/// Tick steps of whole seconds, minutes or hours.
double niceSeconds(double raw) {
    for (const double step : {1., 2., 5., 10., 15., 30., 60., 120., 300., 600., 900., 1800., 3600.,
                              7200., 18000., 36000., 86400.})
        if (raw <= step) return raw < 1.0 ? niceStep(raw) : step;
    return 86400.0 * niceStep(raw / 86400.0);
}

QString plain(double value, int decimals) {
    QString text =
        QLocale(QLocale::English, QLocale::UnitedStates).toString(std::abs(value), 'f', decimals);
    return value < 0.0 ? QString(QChar(0x2212)) + text : text;
}

QPainterPath diamond(QPointF at, double radius) {
    QPainterPath path(at + QPointF(0, -radius));
    path.lineTo(at + QPointF(radius, 0));
    path.lineTo(at + QPointF(0, radius));
    path.lineTo(at + QPointF(-radius, 0));
    path.closeSubpath();
    return path;
}

/// A translucent background, which keeps text readable over lines.
void drawVeil(QPainter* painter, const QRectF& box) {
    QColor color = Theme::current().panel;
    color.setAlphaF(0.8f);
    painter->fillRect(box, color);
}

/// Whether a curve of the plot passes through the box.
bool isCrossed(const QCustomPlot& plot, const QRectF& box) {
    for (int i = 0; i < plot.graphCount(); ++i) {
        const QCPGraph* graph = plot.graph(i);
        if (!graph->visible() || graph->lineStyle() == QCPGraph::lsNone) continue;
        const auto data = graph->data();
        const auto end = data->findEnd(plot.xAxis->pixelToCoord(box.right()));
        auto at = data->findBegin(plot.xAxis->pixelToCoord(box.left()));
        for (; at != end && at + 1 != end; ++at) {
            const QPointF a = graph->coordsToPixels(at->key, at->value);
            const QPointF b = graph->coordsToPixels((at + 1)->key, (at + 1)->value);
            const auto heightAt = [&](double x) {  // height of the part inside
                const double share = b.x() > a.x() ? (x - a.x()) / (b.x() - a.x()) : 0.0;
                return a.y() + std::clamp(share, 0.0, 1.0) * (b.y() - a.y());
            };
            const double left = heightAt(box.left()), right = heightAt(box.right());
            if (std::max(left, right) >= box.top() && std::min(left, right) <= box.bottom())
                return true;
        }
    }
    return false;
}

}  // namespace

double CurveTicker::getTickStep(const QCPRange& range) {
    const double raw = range.size() / std::max(1.5, tickCount() - 0.5);
    m_step = m_format == Format::Time ? niceSeconds(raw) : niceStep(raw);
    if (m_format == Format::Count || m_format == Format::Short) m_step = std::max(m_step, 1.0);
    m_span = range.upper;
    return m_step;
}

QVector<double> CurveTicker::createTickVector(double step, const QCPRange& range) {
    if (!logarithmic) return QCPAxisTicker::createTickVector(step, range);
    QVector<double> ticks;
    if (!(range.lower > 0.0) || !std::isfinite(range.upper)) return ticks;
    const double decades = std::log10(range.upper / range.lower);
    m_step = 0.0;
    m_span = range.upper;
    if (decades < 0.5) return QCPAxisTicker::createTickVector(getTickStep(range), range);
    const int every = decades > 8.0 ? static_cast<int>(std::ceil(decades / 6.0)) : 1;
    for (int p = static_cast<int>(std::floor(std::log10(range.lower)));
         std::pow(10.0, p) <= range.upper; p += every)
        for (const double head : {1.0, 2.0, 3.0, 5.0}) {
            const bool wanted =
                head == 1.0 || (decades < 2.2 ? head != 3.0 : decades < 5.0 && head == 3.0);
            const double tick = head * std::pow(10.0, p);
            if (wanted && tick >= range.lower && tick <= range.upper) ticks.append(tick);
        }
    return ticks;
}

QString CurveTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    const double scale = m_format == Format::Percent ? 100.0 : 1.0;
    const double step = (m_step > 0.0 ? m_step : std::abs(tick)) * scale;
    const int decimals =
        step > 0.0 ? std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 8) : 0;
    switch (m_format) {
        case Format::Percent:
            return plain(tick * 100.0, decimals) + u'%';
        case Format::Time: {
            const auto trimmed = [](double v) { return QString::number(v, 'g', 4); };
            if (m_span >= 7200.0) return trimmed(tick / 3600.0) + QStringLiteral(" h");
            if (m_span >= 180.0) return trimmed(tick / 60.0) + QStringLiteral(" min");
            return trimmed(tick) + QStringLiteral(" s");
        }
        case Format::Short: {
            const auto with = [](double v, const char* unit) {
                return QString::number(v, 'g', 4) + QLatin1String(unit);
            };
            const double size = std::abs(tick);
            if (size >= 1e12) return with(tick / 1e12, "T");
            if (size >= 1e9) return with(tick / 1e9, "B");
            if (size >= 1e6) return with(tick / 1e6, "M");
            if (size >= 1e3) return with(tick / 1e3, "K");
            return with(tick, "");
        }
        default:
            break;
    }
    if (decimals > 5) return QString::number(tick, 'g', 2);
    // The room beside a vertical axis holds six figures.
    if (m_format == Format::Plain && std::abs(tick) >= 1e6)
        return exponentNumber(
            tick,
            std::clamp(1 + static_cast<int>(std::ceil(std::log10(std::abs(tick) / step) - 1e-9)), 1,
                       4));
    return plain(tick, decimals);
}

void CursorItem::draw(QCPPainter* painter) {
    if (!shown) return;
    const Theme& t = Theme::current();
    const QCPAxisRect* area = mParentPlot->axisRect();
    const double x = std::round(mParentPlot->xAxis->coordToPixel(key));
    if (!(x >= area->left() - 0.5) || !(x <= area->right() + 1.5)) return;
    const bool flagged = m_line == Line::Flag;
    painter->setAntialiasing(false);
    painter->setPen(flagged ? QPen(t.text, 1) : QPen(t.muted, 1, Qt::DotLine));
    painter->drawLine(QLineF(x, area->top() - (flagged ? 4 : 0), x, area->bottom()));
    painter->setAntialiasing(true);
    if (flagged) {
        const double left = x - 4.5, top = area->top() - 11.0;
        QPainterPath flag(QPointF(left, top));
        flag.lineTo(left + 10, top);
        flag.lineTo(left + 10, top + 6);
        flag.lineTo(left + 5, top + 11);
        flag.lineTo(left, top + 6);
        flag.closeSubpath();
        painter->fillPath(flag, t.text);
    }
    const double radius = flagged ? 3.2 : 4.0;
    for (const CurveDot& dot : dots) {
        const double y = mParentPlot->yAxis->coordToPixel(dot.value);
        if (!(y >= area->top() - 2) || !(y <= area->bottom() + 2)) continue;
        painter->setPen(QPen(dot.color, 1.5));
        painter->setBrush(t.panel);
        const double at = std::round(mParentPlot->xAxis->coordToPixel(dot.key));
        painter->drawEllipse(QPointF(at + 0.5, y), radius, radius);
    }
}

void MarksItem::draw(QCPPainter* painter) {
    const Theme& t = Theme::current();
    const QCPAxisRect* area = mParentPlot->axisRect();
    painter->setFont(captionFont());
    const QFontMetrics metrics(captionFont());
    if (!beyond.isEmpty()) {
        const QString text = QChar(0x2191) + QStringLiteral(" up to ") + beyond;
        // At the right, as a loss is large at the left.
        const int wide = metrics.horizontalAdvance(text) + 4;
        const QRectF place(area->right() - wide - 4, area->top(), wide, 13);
        drawVeil(painter, place);
        painter->setPen(t.muted);
        painter->drawText(place, Qt::AlignCenter, text);
    }
    std::vector<double> positions;
    QStringList texts;
    std::vector<Mark> shown = marks;
    std::stable_sort(shown.begin(), shown.end(),
                     [](const Mark& a, const Mark& b) { return a.key < b.key; });
    for (const Mark& mark : shown) {
        const double x = std::round(mParentPlot->xAxis->coordToPixel(mark.key));
        if (!(x >= area->left()) || !(x <= area->right())) continue;
        positions.push_back(x);
        texts.push_back(mark.text);
        painter->setAntialiasing(false);
        painter->setPen(QPen(t.muted, 1, Qt::DotLine));
        painter->drawLine(QLineF(x, area->top(), x, area->bottom()));
        painter->setAntialiasing(true);
        painter->setPen(QPen(t.muted, 1.25));
        painter->setBrush(mark.filled ? QBrush(t.muted) : QBrush(t.panel));
        painter->drawPath(diamond({x + 0.5, area->top() - 5.0}, 4.5));
    }
    const auto labels = placeMarkLabels(positions, texts, area->left(), area->right() + 4, metrics);
    std::vector<QRectF> fixed;  // by the texts of marks
    for (const MarkLabel& label : labels) {
        const double base = area->top() - 1 + 14 * label.row;
        if (base > area->bottom() - 2) break;
        if (label.row > 0) {  // over the lines
            fixed.emplace_back(label.left - 2, base - 10, metrics.horizontalAdvance(label.text) + 4,
                               13);
            drawVeil(painter, fixed.back());
        }
        painter->setPen(t.muted);
        painter->drawText(QPointF(label.left, base), label.text);
    }
    painter->setAntialiasing(true);
    struct Label {
        QString text;
        QColor ink;
        QPointF of;  ///< the middle of what it is about
    };
    std::vector<Label> words;
    std::vector<QRectF> boxes;
    for (std::size_t i = 0; i < published.size(); ++i) {
        const double y = mParentPlot->yAxis->coordToPixel(published[i].value);
        if (!(y >= area->top()) || !(y <= area->bottom())) continue;
        QPen pen(published[i].color, 1.25);
        pen.setDashPattern({9 / 1.25, 4 / 1.25});
        pen.setCapStyle(Qt::FlatCap);
        painter->setPen(pen);
        painter->drawLine(QLineF(area->right() - 36, y, area->right() + 14, y));
        painter->setPen(QPen(published[i].color, 1.25));
        painter->setBrush(t.panel);
        painter->drawRect(QRectF(area->right() - 42, y - 3, 6, 6));
    }
    if (!published.empty()) {
        double top = area->bottom();
        for (const CurveDot& p : published)
            top = std::min(top, mParentPlot->yAxis->coordToPixel(p.value));
        const QString word =
            published.size() == 1 ? "published " + published[0].text : QStringLiteral("published");
        // Left of the dashes: the flag of the cursor is above them.
        const int width = metrics.horizontalAdvance(word);
        const double left = area->right() - 48.0 - width;
        const auto boxAt = [&](double base) { return QRectF(left - 2, base - 10, width + 4, 13); };
        const auto baseAt = [&](double shift) {
            return std::clamp(top + 4.0 + shift, area->top() + 10.0, area->bottom() - 4.0);
        };
        // A run that has reached the value has its curve there.
        double base = baseAt(0.0);
        for (const double shift : {0.0, -14.0, 14.0, -28.0, 28.0})
            if (!isCrossed(*mParentPlot, boxAt(baseAt(shift)))) {
                base = baseAt(shift);
                break;
            }
        words.push_back({word, t.muted, QPointF(area->right() - 42.0, top)});
        boxes.push_back(boxAt(base));
    }
    for (const CurveDot& ring : rings) {
        const double x = mParentPlot->xAxis->coordToPixel(ring.key);
        const double y = mParentPlot->yAxis->coordToPixel(ring.value);
        if (!area->rect().adjusted(-1, -1, 2, 2).contains(QPointF(x, y).toPoint())) continue;
        painter->setPen(QPen(ring.color, 1.5));
        painter->setBrush(Qt::NoBrush);
        painter->drawEllipse(QPointF(x, y), 4.5, 4.5);
        if (ring.text.isEmpty()) continue;
        const int width = metrics.horizontalAdvance(ring.text);
        const double left =
            std::clamp(x - width / 2.0, area->left() + 2.0, area->right() - width + 10.0);
        const bool above =
            upward ? y - 22 >= area->top() : y + 22 > area->bottom();  // else on the other side
        fixed.emplace_back(x - 5, y - 5, 10, 10);
        words.push_back({ring.text, t.text, QPointF(x, y)});
        boxes.emplace_back(left - 2, above ? y - 20 : y + 9, width + 4, 13);
    }
    dodge(boxes, fixed, area->top(), area->bottom());
    for (std::size_t k = 0; k < words.size(); ++k) {
        const QRectF& box = boxes[k];
        const QPointF& of = words[k].of;
        // A low strip has no room beside the ring.
        if (box.top() < area->top() - 0.5 || box.bottom() > area->bottom() + 0.5) continue;
        drawVeil(painter, box);
        const double away = std::max(box.top() - of.y(), of.y() - box.bottom());
        if (away > 10.0) {  // moved away from what it is about
            painter->setPen(QPen(t.muted, 1));
            painter->drawLine(QPointF(std::clamp(of.x(), box.left(), box.right()),
                                      of.y() > box.bottom() ? box.bottom() : box.top()),
                              of + QPointF(0, of.y() > box.bottom() ? -5 : 5));
        }
        painter->setPen(words[k].ink);
        painter->drawText(QPointF(box.left() + 2, box.top() + 10), words[k].text);
    }
}

CurveLegend::CurveLegend(const QString& title, QWidget* parent) : QWidget(parent), m_title(title) {
    setFixedHeight(26);
}

void CurveLegend::setEntries(std::vector<LegendEntry> entries) {
    m_entries = std::move(entries);
    QString spoken = m_title;
    for (const auto& e : m_entries) spoken += QString(", %1 %2").arg(e.name, e.value);
    setAccessibleName(spoken);
    update();
}

void CurveLegend::setTitle(const QString& title) {
    m_title = title;
    update();
}

void CurveLegend::setInset(int right) {
    m_inset = right;
    update();
}

void CurveLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    draw(painter, rect().adjusted(0, 0, -m_inset, 0));
}

bool CurveLegend::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && !m_entries.empty()) {
        QStringList lines;
        for (const auto& e : m_entries) lines += QString("%1  %2").arg(e.name, e.value);
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), lines.join(u'\n'), this);
        return true;
    }
    return QWidget::event(event);
}

void CurveLegend::drawSample(QPainter& painter, const LegendEntry& e, double x, double middle) {
    QPen pen(e.color, e.published || e.dotted ? 1.25 : e.dashed ? 1.5 : 2.0);
    pen.setCapStyle(Qt::FlatCap);
    if (e.published) pen.setDashPattern({9 / 1.25, 4 / 1.25});
    if (e.dashed) pen.setDashPattern({5 / 1.5, 3 / 1.5});
    if (e.dotted) pen.setDashPattern({1.5, 3.0});
    painter.setPen(pen);
    painter.drawLine(QPointF(x, middle), QPointF(x + 18, middle));
}

int CurveLegend::drawWhole(QPainter* painter, int width) const {
    constexpr int lineHeight = 18, margin = 16;
    QFont bold = smallFont();
    bold.setWeight(QFont::DemiBold);
    if (painter) {
        painter->setFont(bold);
        painter->setPen(Theme::current().text);
        painter->drawText(QRectF(margin, 0, width, lineHeight + 6), Qt::AlignVCenter, m_title);
    }
    const QFontMetricsF names{smallFont()};
    const double first = margin + QFontMetricsF(bold).horizontalAdvance(m_title) + 16;
    double x = first, y = 3;
    for (const LegendEntry& e : m_entries) {
        // Figures contain the quality of a fitted law, but no values at the cursor.
        const QString text = e.dotted ? e.name + u' ' + e.value : e.name;
        const double wide = 24 + names.horizontalAdvance(text) + 14;
        if (x > first && x + wide > width - margin) {
            x = first;
            y += lineHeight;
        }
        if (painter) {
            drawSample(*painter, e, x, y + lineHeight / 2.0);
            painter->setPen(Theme::current().text);
            painter->setFont(smallFont());
            painter->drawText(QRectF(x + 24, y, wide, lineHeight), Qt::AlignVCenter, text);
        }
        x += wide;
    }
    return static_cast<int>(y) + lineHeight + 5;
}

void CurveLegend::draw(QPainter& painter, const QRectF& box) const {
    const Theme& t = Theme::current();
    painter.setFont([] {
        QFont f = smallFont();
        f.setWeight(QFont::DemiBold);
        return f;
    }());
    painter.setPen(t.text);
    painter.drawText(box.adjusted(16, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, m_title);
    const double first = box.left() + 16 + painter.fontMetrics().horizontalAdvance(m_title) + 16;
    const QFontMetricsF names{smallFont()}, values{numberFont(12)};
    // Values have the width of their widest form, so that moving the cursor does not shift text.
    const auto valueWidth = [&](const LegendEntry& e) {
        return e.value.isEmpty() ? 0.0
                                 : 6 + std::max(values.horizontalAdvance(e.value),
                                                values.horizontalAdvance("00.0%"));
    };
    const auto width = [&](const LegendEntry& e) {
        return 24 + names.horizontalAdvance(e.name) + valueWidth(e);
    };
    const double room = box.right() - 16 - first;
    std::size_t shown = 0;
    double used = 0.0;
    while (shown < m_entries.size()) {
        const double more = width(m_entries[shown]) + (shown > 0 ? 14 : 0);
        const double reserve = shown + 1 < m_entries.size() ? 36 : 0;
        if (used + more + reserve > room) break;
        used += more;
        ++shown;
    }
    const QString rest =
        shown < m_entries.size() ? QString("+%1").arg(m_entries.size() - shown) : QString();
    double x = box.right() - 16 - used - (rest.isEmpty() ? 0 : 32);
    const double middle = box.center().y();
    for (std::size_t i = 0; i < shown; ++i) {
        const LegendEntry& e = m_entries[i];
        drawSample(painter, e, x, middle);
        painter.setPen(t.text);
        painter.setFont(smallFont());
        painter.drawText(
            QRectF(x + 24, box.top(), names.horizontalAdvance(e.name) + 2, box.height()),
            Qt::AlignVCenter, e.name);
        painter.setFont(numberFont(12));
        painter.drawText(QRectF(x, box.top(), width(e), box.height()),
                         Qt::AlignVCenter | Qt::AlignRight, e.value);
        x += width(e) + 14;
    }
    painter.setFont(smallFont());
    painter.setPen(t.muted);
    painter.drawText(box.adjusted(0, 0, -16, 0), Qt::AlignVCenter | Qt::AlignRight, rest);
}

}  // namespace relascope::widgets
