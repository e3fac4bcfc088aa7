// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <QHeaderView>
#include <QPainter>
#include <QPushButton>
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
              kFigureGap = 14, kBesideEachOther = 900;

}  // namespace

AtlasView::AtlasView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Relation atlas"), QStringLiteral("atlas"), parent),
      m_keepOne(new QPushButton(QStringLiteral("Keep one of each group"), this)),
      m_both(new QSplitter(Qt::Vertical, this)),
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
    m_both->addWidget(m_table);
    m_both->addWidget(m_scroll);
    m_both->setStretchFactor(0, 2);
    m_both->setStretchFactor(1, 3);
    m_both->setSizes({220, 480});
    m_both->setChildrenCollapsible(false);
    content()->addWidget(m_both, 1);
    m_keepOne->setProperty("compact", true);
    addControl(m_keepOne);
    connect(m_keepOne, &QPushButton::clicked, this, &AtlasView::keepOne);
    connect(m_table, &QTableWidget::currentItemChanged, this,
            [this] { m_sheet->show(m_atlas, chosen()); });
    connect(m_table, &QTableWidget::activated, this, [this] { request(nullptr); });
    connect(m_sheet, &AtlasSheet::pairRequested, this,
            [this](const RelationAtlas::Pair& pair) { request(&pair); });
    connect(m_sheet, &AtlasSheet::stepChosen, this, &AtlasView::stepRequested);
    connect(m_sheet, &AtlasSheet::pairChosen, this, [this](const QRect& room) {
        m_scroll->ensureVisible(room.center().x(), room.center().y(), 50, room.height());
    });
    AtlasView::clear(QStringLiteral("Not measured."));
}

int AtlasView::chosen() const {
    return isEmpty() ? -1 : m_table->relationOfRow(m_table->currentRow());
}

void AtlasView::clear(const QString& sentence) {
    m_atlas = {};
    m_keepOne->hide();
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
    showGroups();
    m_table->fit(m_table->width());
    for (int row = 0; row < m_table->rowCount(); ++row)
        if (m_table->relationOfRow(row) == before) m_table->setCurrentCell(row, 0);
    m_sheet->show(m_atlas, chosen());
}

// Beside each other where both have room.
void AtlasView::resizeEvent(QResizeEvent* event) {
    MeasureFrame::resizeEvent(event);
    const auto wanted = width() >= kBesideEachOther ? Qt::Horizontal : Qt::Vertical;
    if (m_both->orientation() != wanted) {
        m_both->setOrientation(wanted);
        m_both->setSizes(wanted == Qt::Horizontal ? QList<int>{5, 4} : QList<int>{2, 3});
    }
}

void AtlasView::request(const RelationAtlas::Pair* pair) {
    const int at = chosen();
    if (at < 0) return;
    const auto& r = m_atlas.relations[static_cast<std::size_t>(at)];
    if (r.layerIndex < 0) return;
    const auto kind = !r.head ? MapKind::Relation
                      : r.name.find("relational") != std::string::npos
                          ? MapKind::RelationalAttention
                          : MapKind::SensoryAttention;
    const int layer = static_cast<int>(r.layerIndex), index = static_cast<int>(r.index);
    if (!pair) return Q_EMIT mapRequested(kind, layer, index);
    Q_EMIT exampleRequested(pair->example, {kind, layer, index, 0, static_cast<int>(pair->row),
                                            static_cast<int>(pair->column)});
}

// Redundancy
// -------------------------------------------------------------------------------------------------

namespace {

// Maps that are replaced by their mean, so that of each group the one that stands out is left.
std::vector<Edit> redundant(const RelationAtlas& atlas) {
    const auto rank = [&](const RelationAtlas::Relation& r) {
        const bool told = r.attribute >= 0;
        return std::pair(
            r.labelled >= 0,
            told ? std::abs(r.fits[static_cast<std::size_t>(r.attribute)].fixed - 0.5) : 0.0);
    };
    std::map<std::int64_t, const RelationAtlas::Relation*> kept;
    for (const auto& r : atlas.relations)
        if (auto& one = kept[r.group]; !one || rank(*one) < rank(r)) one = &r;
    std::vector<Edit> edits;
    for (const auto& r : atlas.relations) {
        if (kept.at(r.group) == &r) continue;
        Edit edit;
        edit.op = EditOp::Mean;
        edit.point = r.point;
        // What a head adds, as in ablations.
        if (r.head) edit.point.replace(edit.point.rfind('.'), std::string::npos, ".hook_z");
        const bool ofHead = r.head || r.point.ends_with(".hook_pattern");
        edit.selection[ofHead ? "head" : "relation"].places = {r.index};
        edits.push_back(std::move(edit));
    }
    return edits;
}

}  // namespace

void AtlasView::showGroups() {
    const auto count = redundant(m_atlas).size();
    m_keepOne->setVisible(count > 0);
    m_keepOne->setToolTip(
        QStringLiteral("Replace %1 in the inspector by the mean: maps that are correlated by 0.7 "
                       "and more with one that stays")
            .arg(count == 1 ? QStringLiteral("1 map") : QStringLiteral("%1 maps").arg(count)));
}

void AtlasView::keepOne() {
    Q_EMIT editsRequested(redundant(m_atlas), m_keepOne->text());
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
