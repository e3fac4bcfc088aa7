// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/answer_view.h"

#include <algorithm>

#include <QPainter>
#include <QVBoxLayout>

#include "types/error.h"
#include "types/text_piece.h"
#include "widgets/kit/table_view.h"
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

QSize AnswerView::figureSize() const {
    if (isEmpty()) return {400, 80};
    FigureLines lines(nullptr, figureWidth());
    draw(lines);
    return {lines.width, lines.y + FigureLines::kMargin / 2};
}
void AnswerView::paintFigure(QPainter& painter) {
    if (isEmpty()) return;
    FigureLines lines(&painter, figureWidth());
    draw(lines);
}

void FigureLines::part(int height, const std::function<void(QPainter&)>& paint) {
    if (m_painter) {
        m_painter->save();
        m_painter->translate(0, y);
        paint(*m_painter);
        m_painter->restore();
    }
    y += height;
}

void FigureLines::wrapped(const QString& text, const QFont& font, const QColor& ink) {
    const int flags = Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop, inner = width - 2 * kMargin;
    const int height =
        QFontMetrics(font).boundingRect(QRect(0, 0, inner, 10000), flags, text).height();
    part(height + 8, [&](QPainter& painter) {
        painter.setFont(font);
        painter.setPen(ink);
        painter.drawText(QRect(kMargin, 0, inner, height), flags, text);
    });
}
void FigureLines::sentences(const QString& text, const QColor& ink) {
    for (const auto& one : text.split(u'\n', Qt::SkipEmptyParts)) wrapped(one, smallFont(), ink);
}
void FigureLines::title(const QString& text) {
    wrapped(text, headFont(), Theme::current().text);
}

void FigureLines::table(const TableView& table, int most, int wide) {
    part(table.figureHeight(most), [&](QPainter& painter) {
        painter.translate(kMargin / 2, 0);
        table.paintFigure(painter, wide > 0 ? wide : width - kMargin, most);
    });
}
void FigureLines::grid(const GridPicture& laidOut) {
    part(laidOut.size().height(),
         [&](QPainter& painter) { laidOut.paint(painter, QRect(QPoint(), laidOut.size())); });
}
void FigureLines::bar(const ColorScale& scale, const QString& caption) {
    ColorBar bar;
    bar.setPalette(Theme::current().palette());
    bar.setScale(scale);
    bar.setCaption(caption);
    bar.resize(380, bar.sizeHint().height());
    part(bar.height() + 8, [&](QPainter& painter) {
        bar.render(&painter, QPoint(kMargin, 0), QRegion(), QWidget::DrawChildren);
    });
}

}  // namespace relascope::widgets
