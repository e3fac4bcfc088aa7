// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <limits>

#include "widgets/source/linked_view.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

/// Compares with NaN equal to NaN.
bool sameNumbers(const std::vector<float>& a, const std::vector<float>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](float x, float y) { return x == y || (x != x && y != y); });
}

}  // namespace

void LinkedView::setValues(std::vector<float> values, std::vector<bool> masked,
                           const ColorScale& scale) {
    if (scale == m_scale && masked == m_masked && sameNumbers(values, m_values)) return;
    m_values = std::move(values);
    m_masked = std::move(masked);
    m_scale = scale;
    touchAll();
    describe();
}

void LinkedView::setNumberDigits(int digits, bool isSigned) {
    if (digits == m_digits && isSigned == m_signedNumbers) return;
    m_digits = digits;
    m_signedNumbers = isSigned;
    touchAll();
}

void LinkedView::setSource(int index) {
    const int wanted = qBound(0, index, qMax(0, receivers() - 1));
    if (wanted == m_source) return;
    touch(false, m_source);
    m_source = wanted;
    touch(false, m_source);
    sourceMoved();
    describe();
}

void LinkedView::setTarget(int index) {
    const int wanted = qBound(-1, index, senders() - 1);
    if (wanted == m_target) return;
    touch(true, shownTarget());
    m_target = wanted;
    touch(true, shownTarget());
    describe();
}

void LinkedView::setPreview(int index) {
    const int wanted = qBound(-1, index, senders() - 1);
    if (wanted == m_preview) return;
    touch(true, shownTarget());
    m_preview = wanted;
    touch(true, shownTarget());
    previewMoved();
}

int LinkedView::shownTarget() const {
    const int pointed = pointedSender();
    return pointed >= 0 ? pointed : restingTarget();
}

void LinkedView::clampChoice() {
    m_preview = -1;
    m_source = qBound(0, m_source, qMax(0, receivers() - 1));
    m_target = qBound(-1, m_target, senders() - 1);
}

bool LinkedView::hasValue(int index) const {
    return index >= 0 && index < static_cast<int>(m_values.size());
}
bool LinkedView::masked(int index) const {
    const auto at = static_cast<std::size_t>(index);
    return hasValue(index) && at < m_masked.size() && m_masked[at];
}
float LinkedView::value(int index) const {
    return hasValue(index) && !masked(index) ? m_values[static_cast<std::size_t>(index)]
                                             : std::numeric_limits<float>::quiet_NaN();
}

QString LinkedView::number(int index) const {
    if (!hasValue(index) || masked(index)) return {};
    QString text = signedNumber(value(index), m_digits);
    if (!m_signedNumbers) text.remove(u'+');
    return text;
}

LinkedView::Shade LinkedView::shade(int index, bool known) const {
    const Theme& t = Theme::current();
    if (!known || !hasValue(index)) return {t.alt, Theme::textOn(t.alt), {}, false};
    if (masked(index)) return {t.hatchFill, t.muted, t.hatch, false};
    const float v = value(index);
    if (v != v) return {t.errorFill, t.error, t.error, false};
    const QColor fill = m_scale.color(v);
    return {fill, Theme::textOn(fill), {}, true};
}

}  // namespace relascope::widgets
