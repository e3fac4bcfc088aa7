// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/answer_view.h"

#include <QPainter>
#include <QVBoxLayout>

#include "types/error.h"
#include "types/text_piece.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

bool AnswerView::showResult(const Answer& result) {
    m_answer = result;
    try {
        fill(m_answer);
        leaveEmpty();
    } catch (const Error& error) {
        clear(QString::fromStdString(error.what()));
    }
    return true;
}

void AnswerView::clear(const QString& sentence) {
    m_answer = {};
    fill(m_answer);
    AnalysisFrame::clear(sentence);
}

ElidedLabel* AnswerView::addFooter(QWidget* beside) {
    auto* footer = new ElidedLabel({}, this);
    footer->setFont(smallFont());
    footer->setAccessibleName(QStringLiteral("Value"));
    auto* below = new QWidget(this);
    auto* row = rowOf(below, {16, 6, 16, 6}, 16);
    row->addWidget(footer, 3);
    if (beside) row->addWidget(beside, 2);
    content()->addWidget(horizontalLine(this));
    content()->addWidget(below);
    return footer;
}

namespace {

constexpr int kGridFigureTitle = 34, kGridFigureScale = 44, kLeastGridFigure = 480;

QRect titleRoom(const QString& title, int width) {
    return QFontMetrics(headFont())
        .boundingRect(QRect(16, 8, width - 32, 200), Qt::TextWordWrap, title)
        .united(QRect(16, 8, 1, kGridFigureTitle - 8));
}

}  // namespace

QSize GridFigure::size() const {
    GridPicture laidOut = picture;
    laidOut.fit(width);
    const int wide = std::max(kLeastGridFigure, laidOut.size().width());
    return {wide, laidOut.size().height() + titleRoom(title, wide).bottom() + 5 +
                      (scale ? kGridFigureScale : 0)};
}

void GridFigure::paint(QPainter& painter) const {
    GridPicture laidOut = picture;
    laidOut.fit(width);
    const QSize whole = size();
    const QRect room = titleRoom(title, whole.width());
    painter.setFont(headFont());
    painter.setPen(Theme::current().text);
    painter.drawText(room.adjusted(0, 0, 4, 0), Qt::TextWordWrap, title);
    painter.save();
    painter.translate(0, room.bottom() + 5);
    laidOut.paint(painter, QRect(QPoint(), laidOut.size()));
    painter.restore();
    if (!scale) return;
    ColorBar bar;
    bar.setPalette(Theme::current().palette());
    bar.setScale(*scale);
    bar.setCaption(scaleCaption);
    bar.resize(380, bar.sizeHint().height());
    bar.render(&painter, QPoint(16, whole.height() - kGridFigureScale), QRegion(),
               QWidget::DrawChildren);
}

}  // namespace relascope::widgets
