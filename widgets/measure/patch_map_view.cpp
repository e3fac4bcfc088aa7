// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/patch_map_view.h"

#include <QEvent>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "widgets/maps/color_bar.h"
#include "widgets/measure/measure_text.h"
#include "widgets/measure/patch_maps.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kFigureWidth = 900, kFigureHead = 34, kFigureBar = 44;
const char* const kScale = "share of the way from B to A, 0: as B, +1: as A";

}  // namespace

PatchMapView::PatchMapView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Patching"), QStringLiteral("patching"), parent),
      m_scroll(new QScrollArea(this)),
      m_grid(new PatchMaps(this)),
      m_bar(new ColorBar(this)),
      m_footer(new ElidedLabel({}, this)) {
    m_scroll->setWidget(m_grid);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFocusProxy(m_grid);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_footer->setFont(numberFont(12));
    m_footer->setAccessibleName(QStringLiteral("Value"));
    auto* below = new QWidget(this);
    auto* row = rowOf(below, {16, 6, 16, 6}, 16);
    row->addWidget(m_footer, 3);
    row->addWidget(m_bar, 2);
    content()->addWidget(m_scroll, 1);
    content()->addWidget(horizontalLine(this));
    content()->addWidget(below);
    connect(m_grid, &PatchMaps::cellChosen, this, &PatchMapView::cellChosen);
    const auto show = [this](const PatchPlace& place) {
        m_footer->setText(m_grid->text(place.map < 0 ? m_grid->current() : place));
        m_bar->setMark(place.map < 0 ? std::numeric_limits<float>::quiet_NaN()
                                     : static_cast<float>(m_grid->value(place)));
    };
    connect(m_grid, &PatchMaps::hovered, this, show);
    connect(m_grid, &PatchMaps::cellChosen, this, [this, show](int map, int row, int column) {
        show({map, row, column});
        const QRect cell = m_grid->cellRect({map, row, column});
        m_scroll->ensureVisible(cell.center().x(), cell.center().y(), cell.width(), 60);
    });
    PatchMapView::clear(QStringLiteral("Choose a second input: drop it here with Shift."));
}

const PatchResult& PatchMapView::result() const {
    return m_grid->result();
}
QString PatchMapView::footerText() const {
    return m_footer->text();
}

void PatchMapView::clear(const QString& sentence) {
    m_grid->setResult({});
    m_footer->setText({});
    MeasureFrame::clear(sentence);
}

void PatchMapView::setResult(const PatchResult& result) {
    m_grid->setResult(result);
    QString sub = QStringLiteral("%1: A %2, B %3")
                      .arg(QString::fromStdString(result.metric), signedText(result.clean, 3),
                           signedText(result.corrupted, 3));
    if (result.total == 0) {
        sub += QStringLiteral("; estimates only");
    } else {
        sub += QStringLiteral("; %1 of %2 cells exact")
                   .arg(groupedNumber(result.done), groupedNumber(result.total));
        if (result.done >= 3 && !std::isnan(result.agreement))
            sub += QStringLiteral(", correlation with their estimates %1")
                       .arg(result.agreement, 0, 'f', 2);
    }
    head()->setSubText(sub);
    showResults();
    fit();
}

void PatchMapView::setPositions(const QStringList& names) {
    m_positions = names;
    m_grid->setPositions(names);
}

void PatchMapView::fit() {
    m_grid->fit(m_scroll->viewport()->width());
    m_bar->setScale(m_grid->scale());
    m_bar->setCaption(QLatin1String(kScale));
}

void PatchMapView::resizeEvent(QResizeEvent* event) {
    MeasureFrame::resizeEvent(event);
    fit();
}
void PatchMapView::changeEvent(QEvent* event) {
    MeasureFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_bar) m_bar->setScale(m_grid->scale());
}

// Wrapped where the maps are narrow.
QRect PatchMapView::figureHead(int width) const {
    return QFontMetrics(headFont())
        .boundingRect(QRect(16, 8, width - 32, 200), Qt::TextWordWrap, figureTitle())
        .united(QRect(16, 8, 1, kFigureHead - 8));
}
QString PatchMapView::figureTitle() const {
    return QStringLiteral("Patching A into B: ") + headText();
}

QSize PatchMapView::figureSize() const {
    PatchMaps grid;
    grid.setPositions(m_positions);
    grid.setResult(result());
    grid.fit(kFigureWidth);
    const int width = std::max(480, grid.layoutSize().width());
    return {width, grid.layoutSize().height() + figureHead(width).bottom() + 5 + kFigureBar};
}

void PatchMapView::paintFigure(QPainter& painter) {
    PatchMaps grid;
    grid.setPositions(m_positions);
    grid.setResult(result());
    grid.fit(kFigureWidth);
    const QSize size = figureSize();
    const QRect head = figureHead(size.width());
    painter.setFont(headFont());
    painter.setPen(Theme::current().text);
    painter.drawText(head.adjusted(0, 0, 4, 0), Qt::TextWordWrap, figureTitle());
    painter.save();
    painter.translate(0, head.bottom() + 5);
    grid.paint(painter);
    painter.restore();
    ColorBar bar;
    bar.setPalette(Theme::current().palette());
    bar.setScale(grid.scale());
    bar.setCaption(QLatin1String(kScale));
    bar.resize(380, bar.sizeHint().height());
    bar.render(&painter, QPoint(16, size.height() - kFigureBar), QRegion(), QWidget::DrawChildren);
}

QString PatchMapView::csv() const {
    return csvOf && !isEmpty() ? QString::fromStdString(csvOf(result())) : QString();
}

}  // namespace relascope::widgets
