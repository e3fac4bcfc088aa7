// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/checkpoint/check_marks.h"

#include <QPainter>
#include <QStringList>
#include <algorithm>

#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {
constexpr int iconSide = 14;
constexpr int iconGap = 5;
constexpr int markGap = 14;
}  // namespace

CheckMarks::CheckMarks(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Checks"));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void CheckMarks::setProblems(const std::vector<CheckpointProblem>& problems, bool numbersRead,
                             bool modelKnown) {
    const auto count = [&](ProblemKind kind) {
        return std::count_if(problems.begin(), problems.end(),
                             [kind](const CheckpointProblem& p) { return p.kind == kind; });
    };
    const auto missing = count(ProblemKind::Missing);
    const auto unexpected = count(ProblemKind::Unexpected);
    const auto broken = count(ProblemKind::NotFinite);
    const auto mark = [&](qsizetype found, const QString& none, const QString& some) {
        return found > 0 ? Mark{QString::number(found) + u' ' + some, State::Bad}
                         : Mark{none, State::Good};
    };
    m_marks.clear();
    if (modelKnown) {
        m_marks.push_back(mark(missing, QStringLiteral("none missing"), QStringLiteral("missing")));
        m_marks.push_back(
            mark(unexpected, QStringLiteral("none unexpected"), QStringLiteral("unexpected")));
    } else {
        m_marks.push_back({QStringLiteral("no model to compare with"), State::Unknown});
    }
    m_marks.push_back(broken > 0 || numbersRead
                          ? mark(broken, QStringLiteral("no NaN"), QStringLiteral("with NaN"))
                          : Mark{QStringLiteral("NaN not checked yet"), State::Unknown});
    setAccessibleDescription(text());
    setToolTip(text());
    updateGeometry();
    update();
}

QString CheckMarks::text() const {
    QStringList all;
    for (const Mark& mark : m_marks) all << mark.text;
    return all.join(QStringLiteral(", "));
}

QSize CheckMarks::sizeHint() const {
    const QFontMetrics metrics(smallFont());
    int width = 0;
    for (const Mark& mark : m_marks)
        width += iconSide + iconGap + metrics.horizontalAdvance(mark.text) + markGap;
    return {width, 20};
}

void CheckMarks::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setFont(smallFont());
    int x = 0;
    for (const Mark& mark : m_marks) {
        const char* name = mark.state == State::Good  ? "check"
                           : mark.state == State::Bad ? "error"
                                                      : "help";
        const QColor ink = mark.state == State::Good  ? t.ok
                           : mark.state == State::Bad ? t.error
                                                      : t.muted;
        icon(name, ink).paint(&painter, QRect(x, (height() - iconSide) / 2, iconSide, iconSide));
        x += iconSide + iconGap;
        const int wide = painter.fontMetrics().horizontalAdvance(mark.text);
        painter.setPen(ink);
        painter.drawText(QRect(x, 0, wide + 2, height()), Qt::AlignLeft | Qt::AlignVCenter,
                         mark.text);
        x += wide + markGap;
    }
}

}  // namespace relascope::widgets
