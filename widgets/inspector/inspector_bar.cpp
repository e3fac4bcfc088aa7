// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/inspector_bar.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QComboBox>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "widgets/inspector/view_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

/// px that one row needs with its full words, a comparison in it, and a short step in its head.
constexpr int fullWidth = 900, comparedWidth = 220, mapsWidth = 120;
/// px that the first of two rows needs.
constexpr int compactWidth = 480;
/// Below this width with short words and a comparison the title gives way to the step.
constexpr int titleWidth = 960;
const QString headTitle = QStringLiteral("Inspector");
const QString shortStep = QStringLiteral("step 384");

const QString alpha(QChar(0x03B1));

/// What can be shown, in the order of MapKind: in full, and for narrow windows. `plain`: of a model
/// with one kind of heads.
QStringList kindTitles(bool narrow, bool plain) {
    const QString product = alpha + QStringLiteral(" \u00D7 r");
    return narrow ? QStringList{QStringLiteral("r"), QStringLiteral("rel. ") + alpha,
                                plain ? alpha : QStringLiteral("sens. ") + alpha, product,
                                QStringLiteral("symb.")}
                  : QStringList{
                        QStringLiteral("Relation r"), QStringLiteral("Relational ") + alpha,
                        (plain ? QStringLiteral("Attention ") : QStringLiteral("Sensory ")) + alpha,
                        product, QStringLiteral("Symbols")};
}

QComboBox* combo(const QString& name, int width, QWidget* parent) {
    auto* box = new QComboBox(parent);
    box->setFont(smallFont());
    box->setAccessibleName(name);
    box->setToolTip(name);
    box->setFixedWidth(width);
    box->view()->setMinimumWidth(140);
    return box;
}

}  // namespace

InspectorBar::InspectorBar(QWidget* parent) : QWidget(parent) {
    auto* column = columnOf(this);
    m_head = new PanelHead(headTitle, this);
    column->addWidget(m_head);

    m_kinds = new SegmentedControl(kindTitles(false, false), this);
    m_kinds->setAccessibleName(QStringLiteral("Quantity to show"));
    m_directions =
        new SegmentedControl({QStringLiteral("i \u2190 j"), QStringLiteral("j \u2190 i")}, this);
    m_directions->setAccessibleName(QStringLiteral("Direction"));
    m_directions->setItemToolTip(0, QStringLiteral("Values i receives from j (D)"));
    m_directions->setItemToolTip(1, QStringLiteral("Values j receives from i (D)"));
    m_processing = combo(QStringLiteral("Transform (P)"), 116, this);
    for (const Processing p : {Processing::Raw, Processing::Tanh, Processing::Sigmoid,
                               Processing::SoftmaxOverJ, Processing::TopK})
        m_processing->addItem(QString::fromLatin1(processingName(p)));
    m_topK = new QSpinBox(this);
    m_topK->setFont(numberFont(12));
    m_topK->setRange(1, 1024);
    m_topK->setFixedWidth(56);
    m_topK->setAccessibleName(QStringLiteral("k"));
    m_topK->setToolTip(QStringLiteral("Number of entries kept per row"));
    m_range = combo(QStringLiteral("Colour range"), 108, this);
    for (const Range r : {Range::ThisMap, Range::ThisLayer, Range::WholeModel, Range::Fixed})
        m_range->addItem(QString::fromLatin1(rangeName(r)));
    m_heads = combo(QStringLiteral("Relational head of \u03B1"), 82, this);
    m_layers = combo(QStringLiteral("Layer (up, down)"), 78, this);
    m_maps = combo(QStringLiteral("Map of the layer (left, right)"), 78, this);
    for (QWidget* w : std::initializer_list<QWidget*>{m_kinds, m_layers, m_maps, m_heads,
                                                      m_directions, m_processing, m_topK, m_range})
        m_head->addLeftControl(w);
    for (QWidget* w : {m_layers, m_maps}) w->hide();

    m_shown = new SegmentedControl(
        {QStringLiteral("After"), QStringLiteral("Before"), QStringLiteral("Change")}, this);
    m_shown->setAccessibleName(QStringLiteral("Maps of the edited model"));
    m_shown->setItemToolTip(0, QStringLiteral("With the edits (B)"));
    m_shown->setItemToolTip(1, QStringLiteral("Without the edits (B)"));
    m_shown->setItemToolTip(2, QStringLiteral("What the edits change: after minus before (B)"));
    m_shown->hide();
    m_head->addControl(m_shown);
    m_beside = iconButton("columns", QStringLiteral("Side by side (Shift+B)"), this);
    m_beside->setAccessibleName(QStringLiteral("Side by side"));
    m_beside->setCheckable(true);
    m_beside->hide();
    m_head->addControl(m_beside);
    m_reading =
        iconButton("note", QStringLiteral("Reading layout (T): the text across the pane"), this);
    m_reading->setAccessibleName(QStringLiteral("Reading layout"));
    m_reading->setCheckable(true);
    m_reading->hide();
    m_head->addControl(m_reading);
    connect(m_reading, &QToolButton::clicked, this, &InspectorBar::readingToggled);

    const auto asks = [this](auto* control, auto signal, auto field) {
        connect(control, signal, this,
                [this, field](int value) { Q_EMIT changed(m_view.with(field, value)); });
    };
    asks(m_kinds, &SegmentedControl::changed, &InspectorView::kind);
    asks(m_directions, &SegmentedControl::changed, &InspectorView::reversed);
    asks(m_processing, &QComboBox::activated, &InspectorView::processing);
    asks(m_range, &QComboBox::activated, &InspectorView::range);
    asks(m_heads, &QComboBox::activated, &InspectorView::head);
    asks(m_layers, &QComboBox::activated, &InspectorView::layer);
    asks(m_maps, &QComboBox::activated, &InspectorView::index);
    asks(m_topK, &QSpinBox::valueChanged, &InspectorView::topK);
    asks(m_shown, &SegmentedControl::changed, &InspectorView::shown);
    asks(m_beside, &QToolButton::clicked, &InspectorView::beside);
}

void InspectorBar::setStepText(const QString& text) {
    m_stepText = text;
    chooseWords();
}
void InspectorBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    chooseWords();
}

void InspectorBar::chooseWords() {
    const auto& font = fontMetrics();
    const int longer = font.horizontalAdvance(m_stepText) - font.horizontalAdvance(shortStep);
    const bool compared = !m_shown->isHidden();
    const int maps = m_layers->isHidden() ? 0 : mapsWidth;
    const int full = m_compact ? compactWidth : fullWidth + maps + (compared ? comparedWidth : 0);
    setNarrow(width() < full + std::max(0, longer));
    // The page has said the step.
    m_head->setSubText(m_titled || !m_stepText.startsWith(QLatin1String("step ")) ? m_stepText
                                                                                  : QString());
    const bool crowded = m_narrow && compared && width() < titleWidth + std::max(0, longer);
    m_head->setTitle(crowded || !m_titled ? QString() : headTitle);
}

void InspectorBar::setTitled(bool on) {
    m_titled = on;
    chooseWords();
}

void InspectorBar::setMapsOffered(bool on) {
    m_layers->setVisible(on);
    m_maps->setVisible(on);
    chooseWords();
}

void InspectorBar::setNarrow(bool narrow) {
    if (narrow == m_narrow) return;
    m_narrow = narrow;
    showKinds();
    m_processing->setFixedWidth(narrow ? 96 : 116);
    m_range->setFixedWidth(narrow ? 100 : 108);
}

void InspectorBar::showKinds() {
    const QStringList titles = kindTitles(m_narrow, m_plain), full = kindTitles(false, m_plain);
    for (int k = 0; k < m_kinds->count(); ++k) {
        m_kinds->button(k)->setText(titles[k]);
        m_kinds->button(k)->setAccessibleName(full[k]);
        m_kinds->setItemToolTip(k, m_narrow ? full[k] : QString());
    }
}

void InspectorBar::setCompact(bool compact) {
    m_compact = compact;
    chooseWords();
    if (!m_second) {
        if (!compact) return;
        m_second = new PanelHead({}, this);
        layout()->addWidget(m_second);
        m_third = new PanelHead({}, this);
        layout()->addWidget(m_third);
    }
    m_second->setVisible(compact);
    m_head->setLineBelow(!compact);
    for (QWidget* w : {static_cast<QWidget*>(m_shown), static_cast<QWidget*>(m_beside)})
        compact ? m_third->addLeftControl(w) : m_head->addControl(w);
    arrangeCompared();
    for (QWidget* w : {static_cast<QWidget*>(m_heads), static_cast<QWidget*>(m_directions),
                       static_cast<QWidget*>(m_processing), static_cast<QWidget*>(m_topK),
                       static_cast<QWidget*>(m_range)})
        (compact ? m_second : m_head)->addLeftControl(w);
}
void InspectorBar::setReading(bool possible, bool on) {
    m_reading->setVisible(possible);
    m_reading->setChecked(on);
}
void InspectorBar::offerKinds(const ViewMaps& own, const ViewMaps& pinned) {
    for (int k = 0; k < m_kinds->count(); ++k) {
        const auto kind = static_cast<MapKind>(k);
        const QString here = absenceReason(own, kind), there = absenceReason(pinned, kind);
        const bool one = here.isEmpty() != there.isEmpty();
        m_kinds->setItemEnabled(k, here.isEmpty() || there.isEmpty(), here);
        if (!one) continue;
        m_kinds->button(k)->setToolTip((here.isEmpty() ? QStringLiteral("Of B alone. A: ") + there
                                                       : QStringLiteral("Of A alone. B: ") + here));
        m_kinds->button(k)->setAccessibleDescription(m_kinds->button(k)->toolTip());
    }
}

void InspectorBar::setCompared(bool compared, bool pinned, const InspectorView& view,
                               const QString& whyNoDifference) {
    static const char* const names[2][3] = {{"After", "Before", "Change"},
                                            {"B", "A", "B \xE2\x88\x92 A"}};
    static const char* const tips[2][3] = {
        {"With the edits (B)", "Without the edits (B)",
         "What the edits change: after minus before (B)"},
        {"B: what is inspected now (key B)", "A: what is pinned (key B)", "B minus A (key B)"}};
    for (int k = 0; k < 3; ++k) {
        const QString name = QString::fromUtf8(names[pinned ? 1 : 0][k]);
        m_shown->button(k)->setText(name);
        m_shown->button(k)->setAccessibleName(name);
        m_shown->setItemToolTip(k, QString::fromLatin1(tips[pinned ? 1 : 0][k]));
    }
    m_shown->setItemEnabled(2, whyNoDifference.isEmpty(), whyNoDifference);
    m_shown->setVisible(compared);
    m_shown->setCurrent(static_cast<int>(view.shown));
    m_beside->setVisible(compared);
    m_beside->setChecked(view.beside);
    arrangeCompared();
    chooseWords();
}
/// In compact form the controls of a comparison have a row of their own.
void InspectorBar::arrangeCompared() {
    if (!m_third) return;
    const bool row = m_compact && !m_shown->isHidden();
    m_third->setVisible(row);
    m_second->setLineBelow(!row);
}

void InspectorBar::addControl(QWidget* control) {
    m_head->addControl(control);
}

void InspectorBar::display(const ViewMaps& maps, const InspectorView& view) {
    m_view = view;
    if (const bool plain = maps.result() && hasOneKindOfHead(maps);
        std::exchange(m_plain, plain) != plain)
        showKinds();
    for (int k = 0; k < m_kinds->count(); ++k) {
        const QString reason = absenceReason(maps, static_cast<MapKind>(k));
        m_kinds->setItemEnabled(k, reason.isEmpty(), reason);
    }
    m_kinds->setCurrent(static_cast<int>(view.kind));
    const bool square = maps.canReverse(view);
    const QString oneWay =
        maps.columnSide(view) < 0
            ? QStringLiteral("Symbols have no direction: columns are symbols, not tokens")
            : QStringLiteral("No direction: rows and columns are different objects");
    m_directions->setCurrent(view.reversed && square ? 1 : 0);
    for (int k = 0; k < 2; ++k) m_directions->setItemEnabled(k, square, oneWay);
    for (QWidget* control : {static_cast<QWidget*>(m_directions),
                             static_cast<QWidget*>(m_processing), static_cast<QWidget*>(m_range)})
        control->setEnabled(maps.result() != nullptr);
    const bool relation =
        view.kind == MapKind::Relation || view.kind == MapKind::AttentionTimesRelation;
    auto* items = qobject_cast<QStandardItemModel*>(m_processing->model());
    for (const Processing p : {Processing::Tanh, Processing::Sigmoid, Processing::SoftmaxOverJ}) {
        QStandardItem* item = items ? items->item(static_cast<int>(p)) : nullptr;
        if (!item) continue;
        item->setEnabled(relation);
        item->setToolTip(
            relation
                ? QString()
                : QStringLiteral("For relations only: attention weights are already a softmax"));
    }
    m_processing->setCurrentIndex(static_cast<int>(ViewMaps::processing(view)));
    m_range->setCurrentIndex(static_cast<int>(view.range));
    const auto offer = [](QComboBox* box, const QStringList& names, int current) {
        QStringList before;
        for (int k = 0; k < box->count(); ++k) before << box->itemText(k);
        if (before != names) {
            box->clear();
            box->addItems(names);
        }
        box->setCurrentIndex(current);
        box->setEnabled(names.size() > 1);
    };
    QStringList layers, indices;
    for (int k = 0; k < maps.layers(); ++k) layers << maps.layerName(k);
    for (int k = 0; k < maps.count(storedKind(view.kind), view.layer); ++k)
        indices << itemLabel(maps, {storedKind(view.kind), view.layer, k});
    offer(m_layers, layers, view.layer);
    offer(m_maps, indices, view.index);
    const int heads = maps.count(MapKind::RelationalAttention, view.layer);
    if (m_heads->count() != heads) {
        m_heads->clear();
        for (int h = 0; h < heads; ++h) m_heads->addItem(QStringLiteral("head %1").arg(h + 1));
    }
    m_heads->setCurrentIndex(view.head);
    m_heads->setVisible(view.kind == MapKind::AttentionTimesRelation && heads > 1);
    const QSignalBlocker quiet(m_topK);
    m_topK->setValue(view.topK);
    m_topK->setVisible(view.processing == Processing::TopK);
}

}  // namespace relascope::widgets
