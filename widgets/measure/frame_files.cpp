// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/frame_files.h"

#include <QDir>
#include <QPainter>

#include "widgets/export/export.h"
#include "widgets/measure/film_paint.h"
#include "widgets/theme/figure_scope.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kSide = 360, kMargin = 20, kHead = 34, kFoot = 40, kDpi = 192;

}  // namespace

FrameFiles::FrameFiles(AlongTraining along, const QString& folder, const QString& name,
                       QObject* parent)
    : QObject(parent), m_along(std::move(along)), m_folder(folder), m_name(name) {
    connect(&m_timer, &QTimer::timeout, this, &FrameFiles::next);
    m_timer.start(0);
}

QString FrameFiles::path(int at) const {
    const auto step = m_along.steps[static_cast<std::size_t>(at)].step;
    return QDir(m_folder).filePath(
        QStringLiteral("%1_step%2.png").arg(m_name).arg(step, 6, 10, QLatin1Char('0')));
}

void FrameFiles::next() {
    if (m_at >= count()) {
        m_timer.stop();
        Q_EMIT finished(m_folder);
        return deleteLater();
    }
    const FigureScope scope(figureStyle().light);
    const QSize map = filmFrameSize(m_along, {kSide, kSide});
    // All pictures have the same size, which films need.
    const QSize size(std::max(map.width(), 260) + 2 * kMargin, map.height() + kHead + kFoot + 12);
    const auto paint = [&](QPainter& painter) {
        const Theme& t = Theme::current();
        painter.setFont(numberFont(13));
        painter.setPen(t.text);
        painter.drawText(QRect(kMargin, 0, size.width() - 2 * kMargin, kHead), Qt::AlignCenter,
                         QStringLiteral("step ") +
                             groupedNumber(m_along.steps[static_cast<std::size_t>(m_at)].step));
        const auto scale = filmScale(m_along);
        paintFrame(painter, QRect(QPoint((size.width() - map.width()) / 2, kHead), map), m_along,
                   m_at, scale);
        paintFilmScale(painter, QRect(0, kHead + map.height() + 12, size.width(), kFoot), scale,
                       filmSymbol(m_along.cell.kind));
    };
    QString error;
    if (!exportPainting(paint, size, filmTitle(m_along), Theme::current().panel, path(m_at), &error,
                        kDpi)) {
        m_timer.stop();
        Q_EMIT failed(error);
        return deleteLater();
    }
    Q_EMIT written(++m_at);
}

}  // namespace relascope::widgets
