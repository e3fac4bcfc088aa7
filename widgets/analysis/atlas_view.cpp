// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QHeaderView>
#include <QPainter>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

#include "widgets/analysis/atlas_sheet.h"
#include "widgets/analysis/atlas_table.h"
#include "widgets/analysis/atlas_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kAtlasFigure = 1160, kMostAtlasRows = 40, kFigureLine = 26, kFigureSide = 16,
              kFigureGap = 14;

}  // namespace

AtlasView::AtlasView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Relation atlas"), QStringLiteral("atlas"), parent),
      m_table(new AtlasTable(this)),
      m_scroll(new QScrollArea(this)),
      m_sheet(new AtlasSheet) {
    m_table->setAccessibleName(QStringLiteral("Relations and heads"));
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    m_table->horizontalHeader()->setSortIndicatorClearable(true);
    m_table->setSortingEnabled(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidget(m_sheet);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* both = new QSplitter(Qt::Vertical, this);
    both->addWidget(m_table);
    both->addWidget(m_scroll);
    both->setStretchFactor(0, 2);
    both->setStretchFactor(1, 3);
    both->setSizes({220, 480});
    both->setChildrenCollapsible(false);
    content()->addWidget(both, 1);
    connect(m_table, &QTableWidget::currentItemChanged, this,
            [this] { m_sheet->show(m_atlas, chosen()); });
    connect(m_table, &QTableWidget::activated, this, &AtlasView::request);
    AtlasView::clear(QStringLiteral("Not measured."));
}

int AtlasView::chosen() const {
    return isEmpty() ? -1 : m_table->relationOfRow(m_table->currentRow());
}

void AtlasView::clear(const QString& sentence) {
    m_atlas = {};
    m_table->setRowCount(0);
    m_sheet->show(m_atlas, -1);
    MeasureFrame::clear(sentence);
}

void AtlasView::setResult(const RelationAtlas& atlas) {
    int before = chosen();
    if (atlas.relations.size() != m_atlas.relations.size()) before = -1;
    m_atlas = atlas;
    // At first the one that stands out: labelled, and used the most.
    if (before < 0) {
        const auto rank = [](const RelationAtlas::Relation& r) {
            return std::pair(r.labelled >= 0, !r.head);
        };
        const auto best =
            std::max_element(atlas.relations.begin(), atlas.relations.end(),
                             [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
        before = static_cast<int>(best - atlas.relations.begin());
    }
    m_table->fill(m_atlas, static_cast<int>(m_atlas.relations.size()));
    QString sub = QStringLiteral("%1 %2 of %3, %4 objects each")
                      .arg(groupedNumber(atlas.examples), QString::fromStdString(atlas.noun),
                           QString::fromStdString(atlas.data))
                      .arg(atlas.objects);
    if (atlas.untrainedModels > 0)
        sub += QStringLiteral("; %1 untrained models").arg(atlas.untrainedModels);
    if (!atlas.remark.empty()) sub += QStringLiteral("; ") + QString::fromStdString(atlas.remark);
    head()->setSubText(sub);
    leaveEmpty();
    m_table->fit(width());
    for (int row = 0; row < m_table->rowCount(); ++row)
        if (m_table->relationOfRow(row) == before) m_table->setCurrentCell(row, 0);
    m_sheet->show(m_atlas, chosen());
}

void AtlasView::resizeEvent(QResizeEvent* event) {
    MeasureFrame::resizeEvent(event);
    m_table->fit(width());
}

void AtlasView::request() {
    const int at = chosen();
    if (at < 0) return;
    const auto& r = m_atlas.relations[static_cast<std::size_t>(at)];
    if (r.layerIndex < 0) return;
    const auto kind = !r.head ? MapKind::Relation
                      : r.name.find("relational") != std::string::npos
                          ? MapKind::RelationalAttention
                          : MapKind::SensoryAttention;
    Q_EMIT mapRequested(kind, static_cast<int>(r.layerIndex), static_cast<int>(r.index));
}

std::unique_ptr<AtlasTable> AtlasView::wholeTable() const {
    auto whole = std::make_unique<AtlasTable>();
    whole->setPalette(Theme::current().palette());
    whole->fill(m_atlas, kMostAtlasRows);
    whole->setSelectionMode(QAbstractItemView::NoSelection);
    whole->setFocusPolicy(Qt::NoFocus);
    whole->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    whole->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    whole->fit(kAtlasFigure);
    whole->resize(
        std::max(kAtlasFigure, whole->horizontalHeader()->length()),
        whole->horizontalHeader()->sizeHint().height() + whole->verticalHeader()->length() + 2);
    return whole;
}

QSize AtlasView::figureSize() const {
    if (isEmpty()) return {400, 80};
    const auto whole = wholeTable();
    int height =
        kFigureLine + whole->height() + kFigureGap + m_sheet->paint(nullptr, whole->width());
    if (static_cast<int>(m_atlas.relations.size()) > kMostAtlasRows) height += kFigureLine;
    return {whole->width() + kFigureSide, height};
}

void AtlasView::paintFigure(QPainter& painter) {
    const auto whole = wholeTable();
    int y = 0;
    const auto line = [&](const QFont& font, const QString& what) {
        const QRect room(kFigureSide, y, whole->width() - kFigureSide, kFigureLine);
        painter.setFont(font);
        painter.setPen(Theme::current().text);
        painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                         QFontMetrics(font).elidedText(what, Qt::ElideRight, room.width()));
        y += kFigureLine;
    };
    line(headFont(), QStringLiteral("Relation atlas: ") + headText());
    whole->render(&painter, QPoint(kFigureSide / 2, y), QRegion(), QWidget::DrawChildren);
    y += whole->height();
    const int more = static_cast<int>(m_atlas.relations.size()) - kMostAtlasRows;
    if (more > 0) line(smallFont(), QStringLiteral("and %1 more maps").arg(groupedNumber(more)));
    painter.save();
    painter.translate(0, y + kFigureGap);
    m_sheet->paint(&painter, whole->width());
    painter.restore();
}

}  // namespace relascope::widgets
