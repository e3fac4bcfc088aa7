// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/lens_view.h"

#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/measure/lens_bars.h"
#include "widgets/measure/lens_grid.h"
#include "widgets/measure/lens_paint.h"
#include "widgets/measure/measure_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kHead = 34, kBarsWidth = 900, kBandGap = 8;

/// The scale of the tint, in the head.
class Scale : public QWidget {
public:
    explicit Scale(QWidget* parent) : QWidget(parent) {
        setFixedSize(250, 24);
        setToolTip(
            QStringLiteral("Cells are tinted by the probability of their answer; bold: the "
                           "model's own answer"));
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        drawProbabilityScale(painter, rect());
    }
};

}  // namespace

LensView::LensView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Logit lens"), QStringLiteral("lens"), parent),
      m_grid(new LensGrid(this)),
      m_scale(new Scale(this)),
      m_line(horizontalLine(this)),
      m_title(mutedLabel({}, this)),
      m_bars(new LensBars(this)) {
    head()->addLeftControl(m_scale);
    m_title->setContentsMargins(16, 8, 16, 0);
    m_title->setTextFormat(Qt::PlainText);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(m_bars);
    scroll->setWidgetResizable(true);
    content()->addWidget(m_grid, 3);
    content()->addWidget(m_line);
    content()->addWidget(m_title);
    content()->addWidget(scroll, 2);
    connect(m_grid, &LensGrid::columnChosen, this, [this](int column) {
        showColumn();
        Q_EMIT columnChosen(column);
    });
    LensView::clear(QStringLiteral("Choose a sample in the inspector."));
}

bool LensView::single() const {
    return result().columns() <= 1;
}
const LensResult& LensView::result() const {
    return m_grid->result();
}
int LensView::column() const {
    return m_grid->column();
}
void LensView::chooseColumn(int column) {
    m_grid->setColumn(column);
    showColumn();
}

void LensView::clear(const QString& sentence) {
    m_grid->setResult({});
    m_bars->setColumn({}, -1);
    m_scale->hide();
    MeasureFrame::clear(sentence);
}

void LensView::setResult(const LensResult& result) {
    m_grid->setResult(result);
    m_grid->setVisible(!single());
    m_grid->setMaximumHeight(m_grid->sizeHint().height());
    m_line->setVisible(!single());
    m_scale->setVisible(!single());
    head()->setSubText(single()
                           ? QString()
                           : QStringLiteral("likeliest answer after each layer, %1 positions")
                                 .arg(groupedNumber(static_cast<qlonglong>(result.columns()))));
    showResults();
    showColumn();
}

QString LensView::columnTitle() const {
    const auto c = static_cast<std::size_t>(std::max(0, column()));
    const auto& r = result();
    if (c >= r.columns()) return {};
    QString text;
    if (!r.whole) {
        text = QStringLiteral("Position %1").arg(r.positions[c]);
        if (c < r.inputs.size())
            text += QStringLiteral(" \u201C%1\u201D").arg(answerText(r.inputs[c]));
        text += QStringLiteral(": ");
    }
    return text +
           QStringLiteral("own answer \u201C%1\u201D, %2")
               .arg(answerText(r.answers[c].name), probabilityText(r.answers[c].probability));
}

void LensView::showColumn() {
    m_bars->setColumn(result(), column());
    QString title = columnTitle();
    if (!title.isEmpty()) title[0] = title[0].toUpper();
    m_title->setText(title);
}

QSize LensView::figureSize() const {
    if (isEmpty()) return {400, 80};
    const int bars = kHead + m_bars->layoutHeight();
    if (single()) return {m_bars->usedWidth(kBarsWidth), kHead + bars};
    const int columns = m_grid->columns(), bands = (columns + m_grid->band() - 1) / m_grid->band();
    const QSize band = m_grid->bandSize(std::min(columns, m_grid->band()));
    return {std::max(band.width(), kBarsWidth), kHead + bands * (band.height() + kBandGap) + bars};
}

void LensView::paintFigure(QPainter& painter) {
    const Theme& t = Theme::current();
    const QSize size = figureSize();
    painter.setFont(headFont());
    painter.setPen(t.text);
    painter.drawText(QRect(16, 0, size.width() - 32, kHead), Qt::AlignVCenter,
                     QStringLiteral("Logit lens"));
    painter.translate(0, kHead);
    if (!single()) {
        drawProbabilityScale(painter, QRect(16, -kHead, size.width() - 32, kHead));
        for (int first = 0; first < m_grid->columns(); first += m_grid->band()) {
            const int count = std::min(m_grid->band(), m_grid->columns() - first);
            m_grid->paintBand(painter, first, count);
            painter.translate(0, m_grid->bandSize(count).height() + kBandGap);
        }
    }
    painter.setFont(smallFont());
    painter.setPen(t.text);
    painter.drawText(QRect(16, 0, size.width() - 32, kHead), Qt::AlignVCenter, m_title->text());
    painter.translate(0, kHead);
    m_bars->paint(painter, size.width());
}

QString LensView::csv() const {
    return csvOf && !isEmpty() ? QString::fromStdString(csvOf(result())) : QString();
}

}  // namespace relascope::widgets
