// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/captures_track.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kHeight = 32, kLine = 8;  ///< px; the line's from the top

}  // namespace

CapturesTrack::CapturesTrack(QWidget* parent)
    : QWidget(parent),
      m_controls(new QWidget(this)),
      m_previous(iconButton("chevron-left", QStringLiteral("Previous capture"), m_controls)),
      m_next(iconButton("chevron-right", QStringLiteral("Next capture"), m_controls)),
      m_live(new ToggleChip("Live", m_controls)) {
    setFixedHeight(kHeight);
    auto* row = rowOf(m_controls, {}, 4);
    for (QWidget* control : std::initializer_list<QWidget*>{m_previous, m_next, m_live})
        row->addWidget(control);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(QStringLiteral("Captures"));
    m_live->setChecked(true);
    m_live->setToolTip(QStringLiteral("Follow the newest capture"));
    connect(m_previous, &QToolButton::clicked, this, [this] {
        if (const auto i = chosenIndex(); i > 0 && i < m_steps.size()) choose(i - 1);
    });
    connect(m_next, &QToolButton::clicked, this, [this] {
        if (const auto i = chosenIndex(); i + 1 < m_steps.size()) choose(i + 1);
    });
    connect(m_live, &QAbstractButton::clicked, this, [this](bool on) {
        if (on) {
            setChosen(std::nullopt);
            Q_EMIT liveRequested();
        } else if (!m_steps.empty()) {
            choose(m_steps.size() - 1);
        } else {
            m_live->setChecked(true);
        }
    });
    refresh();
}

void CapturesTrack::setSteps(std::vector<qint64> steps, std::vector<qint64> kept) {
    std::sort(kept.begin(), kept.end());
    steps.insert(steps.end(), kept.begin(), kept.end());
    m_kept = std::move(kept);
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    m_steps = std::move(steps);
    if (m_keys.size() != m_steps.size()) m_keys.clear();
    refresh();
}

void CapturesTrack::setLiveTip(const QString& text) {
    m_live->setToolTip(text);
}

void CapturesTrack::setKeys(std::vector<double> keys) {
    m_keys = std::move(keys);
    if (m_keys.size() != m_steps.size()) m_keys.clear();
    update();
}

void CapturesTrack::setChosen(std::optional<qint64> step) {
    if (step && !m_steps.empty()) {
        auto after = std::upper_bound(m_steps.begin(), m_steps.end(), *step);
        if (after != m_steps.begin()) --after;
        step = *after;
    }
    m_chosen = step;
    refresh();
}

void CapturesTrack::setAxis(double low, double high, bool logarithmic, int leftMargin,
                            int rightMargin) {
    m_low = low;
    m_high = high;
    m_log = logarithmic;
    m_left = leftMargin;
    m_right = rightMargin;
    update();
}

void CapturesTrack::setTicks(const QString& title, std::vector<std::pair<double, QString>> ticks) {
    m_axisTitle = title;
    m_ticks = std::move(ticks);
    update();
}

void CapturesTrack::refresh() {
    const auto i = chosenIndex();
    m_previous->setEnabled(i > 0 && i < m_steps.size());
    m_next->setEnabled(i + 1 < m_steps.size());
    m_live->setChecked(!m_chosen);
    setAccessibleDescription(
        m_steps.empty() ? QStringLiteral("no captures yet")
                        : QString("%1 steps, %2 with weights, shown: %3")
                              .arg(m_steps.size())
                              .arg(m_kept.size())
                              .arg(m_chosen ? "step " + groupedNumber(*m_chosen) : "the newest"));
    update();
}

QRectF CapturesTrack::line() const {
    return {static_cast<double>(m_left), static_cast<double>(kLine),
            std::max(10.0, width() - m_left - m_right * 1.0), 0.0};
}

double CapturesTrack::pixelAt(std::size_t index) const {
    return pixelOfKey(m_keys.empty() ? static_cast<double>(m_steps[index]) : m_keys[index]);
}

double CapturesTrack::pixelOfKey(double key) const {
    double low = m_low, high = m_high;
    if (m_log) {
        // Step 0 has no logarithm: it is placed at the left end.
        low = std::log(std::max(low, 1e-9));
        high = std::log(std::max(high, 1e-9));
        key = key > 0.0 ? std::log(key) : low;
    }
    const double fraction = high > low ? (key - low) / (high - low) : 0.0;
    return line().left() + fraction * line().width();
}

double CapturesTrack::pixelOf(qint64 step) const {
    const auto at = std::lower_bound(m_steps.begin(), m_steps.end(), step);
    return at == m_steps.end() ? -1.0 : pixelAt(static_cast<std::size_t>(at - m_steps.begin()));
}

std::size_t CapturesTrack::chosenIndex() const {
    if (m_steps.empty()) return 0;
    if (!m_chosen) return m_steps.size() - 1;
    return static_cast<std::size_t>(std::lower_bound(m_steps.begin(), m_steps.end(), *m_chosen) -
                                    m_steps.begin());
}

void CapturesTrack::choose(std::size_t index) {
    if (index >= m_steps.size()) return;
    m_chosen = m_steps[index];
    refresh();
    Q_EMIT stepChosen(m_steps[index]);
}

void CapturesTrack::chooseAt(double x) {
    if (m_steps.empty()) return;
    std::size_t nearest = 0;
    for (std::size_t i = 1; i < m_steps.size(); ++i)
        if (std::abs(pixelAt(i) - x) < std::abs(pixelAt(nearest) - x)) nearest = i;
    if (!m_chosen || *m_chosen != m_steps[nearest]) choose(nearest);
}

void CapturesTrack::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && event->pos().x() > m_left - 8 &&
        event->pos().x() < width() - m_right + 8)
        chooseAt(event->pos().x());
}
void CapturesTrack::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) chooseAt(event->pos().x());
}

bool CapturesTrack::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        constexpr std::array own = {Qt::Key_Left, Qt::Key_Right, Qt::Key_Home, Qt::Key_End,
                                    Qt::Key_L};
        if (key->modifiers() == Qt::NoModifier && std::ranges::count(own, key->key()) > 0)
            event->accept();
    }
    return QWidget::event(event);
}

void CapturesTrack::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left:
            m_previous->click();
            return;
        case Qt::Key_Right:
            m_next->click();
            return;
        case Qt::Key_Home:
            choose(0);
            return;
        case Qt::Key_End:
            if (!m_steps.empty()) choose(m_steps.size() - 1);
            return;
        case Qt::Key_L:
            if (!m_live->isChecked()) m_live->click();
            return;
        default:
            QWidget::keyPressEvent(event);
    }
}

void CapturesTrack::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), t.panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), t.border);
    const QRectF track = line();
    const int y = kLine;
    painter.fillRect(QRectF(track.left(), y - 1, track.width(), 2), t.track);
    painter.setFont(numberFont(11));
    for (const auto& [key, label] : m_ticks) {
        const double x = pixelOfKey(key);
        if (x < track.left() - 0.5 || x > track.right() + 0.5) continue;
        painter.setPen(t.axis);
        painter.drawLine(QPointF(x, y + 2), QPointF(x, y + 7));
        painter.setPen(t.muted);
        painter.drawText(QRectF(x - 40, y + 7, 80, 16), Qt::AlignCenter, label);
    }
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(0, y + 7, m_left - 8, 16), Qt::AlignRight | Qt::AlignVCenter,
                     m_axisTitle);
    if (m_steps.empty()) {
        painter.fillRect(QRectF(track.center().x() - 62, y - 8, 124, 16), t.panel);
        painter.drawText(QRectF(track.center().x() - 62, y - 8, 124, 16), Qt::AlignCenter,
                         QStringLiteral("no captures yet"));
        return;
    }
    const double last = std::clamp(pixelAt(m_steps.size() - 1), track.left(), track.right());
    painter.fillRect(QRectF(track.left(), y - 1, last - track.left(), 2), t.faint);
    int drawn = -10;
    for (std::size_t i = 0; i < m_steps.size(); ++i) {
        const double x = pixelAt(i);
        if (x < track.left() - 0.5 || x > track.right() + 0.5 || static_cast<int>(x) == drawn)
            continue;
        drawn = static_cast<int>(x);
        if (m_kept.empty()) {
            painter.fillRect(QRect(drawn, y - 5, 1, 10), t.muted);
        } else if (std::binary_search(m_kept.begin(), m_kept.end(), m_steps[i])) {
            painter.fillRect(QRect(drawn - 1, y - 6, 3, 12), t.muted);
        } else {
            painter.setPen(t.muted);
            painter.setBrush(t.panel);
            painter.drawRect(QRect(drawn - 1, y - 4, 2, 8));
        }
    }
    const double x = pixelAt(std::min(chosenIndex(), m_steps.size() - 1));
    if (x >= track.left() - 0.5 && x <= track.right() + 0.5) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(t.accent, 2.5));
        painter.setBrush(t.panel);
        painter.drawEllipse(QPointF(x + 0.5, y), 5, 5);
    }
    if (hasFocus()) {
        painter.setPen(QPen(t.accent, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(m_left - 10, 1, track.width() + 20, 2 * kLine - 2), 4, 4);
    }
}

}  // namespace relascope::widgets
