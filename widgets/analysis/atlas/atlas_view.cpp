// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "analysis/atlas/answer.h"
#include "analysis/scan/answer.h"
#include "widgets/analysis/atlas/atlas_sheet.h"
#include "widgets/analysis/atlas/atlas_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kBesideEachOther = 900;

}  // namespace

const auto kAtlasView = RegisterView::of<AtlasView>("atlas");

AtlasView::AtlasView(QWidget* parent)
    : AnswerView(QStringLiteral("Relation atlas"), QStringLiteral("atlas"), parent),
      m_keepOne(new QPushButton(QStringLiteral("Keep one of each group"), this)),
      m_said(new QLabel(this)),
      m_both(new QSplitter(Qt::Vertical, this)),
      m_table(new TableView(QStringLiteral("Relations and heads"), this)),
      m_choice(new SegmentedControl(this)),
      m_panels(new QStackedWidget(this)),
      m_scroll(new QScrollArea(this)),
      m_sheet(new AtlasSheet) {
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidget(m_sheet);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_both->addWidget(m_table);
    auto* side = new QWidget(m_both);
    auto* lines = columnOf(side);
    auto* choice = new QWidget(side);
    rowOf(choice, {12, 6, 12, 6})->addWidget(m_choice, 0, Qt::AlignLeft);
    m_choice->setAccessibleName(QStringLiteral("About the chosen map"));
    choice->hide();
    lines->addWidget(choice);
    m_panels->addWidget(m_scroll);
    lines->addWidget(m_panels, 1);
    m_both->addWidget(side);
    connect(m_choice, &SegmentedControl::changed, m_panels, &QStackedWidget::setCurrentIndex);
    m_both->setStretchFactor(0, 2);
    m_both->setStretchFactor(1, 3);
    m_both->setSizes({220, 480});
    m_both->setChildrenCollapsible(false);
    m_said->setWordWrap(true);
    m_said->setFont(smallFont());
    m_said->setContentsMargins(16, 4, 16, 4);
    m_said->setTextFormat(Qt::PlainText);
    m_said->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_said->setAccessibleName(QStringLiteral("Hypotheses"));
    m_said->hide();
    content()->addWidget(m_said);
    content()->addWidget(m_both, 1);
    m_keepOne->setProperty("compact", true);
    addControl(m_keepOne);
    connect(m_keepOne, &QPushButton::clicked, this, &AtlasView::keepOne);
    connect(m_table, &TableView::currentRowChanged, this, [this](int row) { showSheet(row); });
    connect(m_table, &TableView::activated, this, [this] { request(nullptr); });
    connect(m_sheet, &AtlasSheet::pairRequested, this,
            [this](const RelationAtlas::Pair& pair) { request(&pair); });
    connect(m_sheet, &AtlasSheet::stepChosen, this, &AtlasView::stepRequested);
    connect(m_sheet, &AtlasSheet::pairChosen, this, [this](const QRect& room) {
        m_scroll->ensureVisible(room.center().x(), room.center().y(), 50, room.height());
    });
    AnswerView::clear(QStringLiteral("Not measured."));
}

int AtlasView::chosen() const {
    return isEmpty() ? -1 : m_table->currentRow();
}

void AtlasView::fill(const Answer& answer) {
    if (answer.tables.empty()) {
        m_atlas = {};
        m_keepOne->hide(), m_said->hide();
        m_table->setTable({});
        return showSheet(-1);
    }
    auto atlas = core::relationAtlasOf(answer);
    int before = chosen();
    if (atlas.relations.size() != m_atlas.relations.size()) before = -1;
    m_atlas = std::move(atlas);
    // At first the one that stands out: labelled, and used the most.
    if (before < 0) {
        const auto rank = [](const RelationAtlas::Relation& r) {
            return std::pair(r.labelled >= 0, !r.head);
        };
        const auto best =
            std::max_element(m_atlas.relations.begin(), m_atlas.relations.end(),
                             [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
        before = static_cast<int>(best - m_atlas.relations.begin());
    }
    m_table->setTable(answer.table("relations"));
    QString sub = QStringLiteral("%1 %2 of %3, %4 objects each")
                      .arg(groupedNumber(m_atlas.examples), QString::fromStdString(m_atlas.noun),
                           QString::fromStdString(m_atlas.data))
                      .arg(m_atlas.objects);
    if (m_atlas.untrainedModels > 0)
        sub += QStringLiteral("; %1 untrained models").arg(m_atlas.untrainedModels);
    if (!m_atlas.remark.empty())
        sub += QStringLiteral("; ") + QString::fromStdString(m_atlas.remark);
    head()->setSubText(sub);
    QStringList said;
    if (!m_atlas.guard.empty()) said << QString::fromStdString(m_atlas.guard);
    for (const auto& sentence : m_atlas.hypotheses) said << shownText(core::findingText(sentence));
    m_said->setText(said.join(u'\n'));
    m_said->setVisible(!said.isEmpty());
    showGroups();
    m_table->chooseRow(before);
    showSheet(before);
}

void AtlasView::showSheet(int relation) {
    m_sheet->show(m_atlas, relation);
    Q_EMIT relationChosen();
}

void AtlasView::addPanel(const QString& title, QWidget* panel) {
    m_titles << title;
    const int current = m_panels->currentIndex();
    m_choice->setItems(m_titles);
    m_choice->setCurrent(current);
    m_choice->parentWidget()->show();
    // The table keeps its room: a panel that is narrow scrolls or wraps.
    panel->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Expanding);
    m_panels->addWidget(panel);
}

const RelationAtlas::Relation* AtlasView::relation() const {
    const int at = m_sheet->relation();
    return at < 0 ? nullptr : &m_atlas.relations[static_cast<std::size_t>(at)];
}

QString AtlasView::attribute() const {
    const auto* of = relation();
    const auto at = !of ? -1 : of->labelled >= 0 ? of->labelled : of->attribute;
    return at < 0 ? QString() : shownText(m_atlas.attributes[static_cast<std::size_t>(at)].name);
}

// Beside each other where both have room.
void AtlasView::resizeEvent(QResizeEvent* event) {
    AnalysisFrame::resizeEvent(event);
    const auto wanted = width() >= kBesideEachOther ? Qt::Horizontal : Qt::Vertical;
    if (m_both->orientation() != wanted) {
        m_both->setOrientation(wanted);
        m_both->setSizes(wanted == Qt::Horizontal ? QList<int>{width() / 2, width() / 2}
                                                  : QList<int>{2, 3});
    }
}

void AtlasView::request(const RelationAtlas::Pair* pair) {
    const int at = chosen();
    if (at < 0) return;
    const auto& r = m_atlas.relations[static_cast<std::size_t>(at)];
    if (r.layerIndex < 0) return;
    const auto kind = kindOfMap(r.name, r.head);
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
            told ? std::abs(r.fits[static_cast<std::size_t>(r.attribute)].auc - 0.5) : 0.0);
    };
    std::map<std::int64_t, const RelationAtlas::Relation*> kept;
    for (const auto& r : atlas.relations)
        if (auto& one = kept[r.group]; !one || rank(*one) < rank(r)) one = &r;
    std::vector<Edit> edits;
    for (const auto& r : atlas.relations) {
        // What was captured has no point to edit.
        const auto end = r.point.rfind('.');
        if (kept.at(r.group) == &r || end == std::string::npos) continue;
        Edit edit;
        edit.op = EditOp::Mean;
        edit.point = r.point;
        // What a head adds, as where it is taken out.
        if (r.head) edit.point.replace(end, std::string::npos, ".hook_z");
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

void AtlasView::draw(FigureLines& lines) const {
    const int sheet = lines.width - FigureLines::kMargin;
    lines.title(QStringLiteral("Relation atlas: ") + headText());
    lines.table(*m_table);
    lines.y += 14;
    lines.part(m_sheet->paint(nullptr, sheet),
               [&](QPainter& painter) { m_sheet->paint(&painter, sheet); });
}

}  // namespace relascope::widgets
