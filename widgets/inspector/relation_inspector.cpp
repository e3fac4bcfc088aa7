// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/relation_inspector.h"

#include <QDragEnterEvent>
#include <QEvent>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QSplitter>
#include <QStackedLayout>
#include <QUrl>
#include <algorithm>
#include <cmath>
#include <limits>

#include "widgets/export/export.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/inspector/words.h"
#include "widgets/maps/color_bar.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/maps/map_view.h"
#include "widgets/maps/multiples_view.h"
#include "widgets/source/input_chooser.h"
#include "widgets/source/sides.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {

void RelationInspector::setResult(std::shared_ptr<const ProbeResult> result) {
    m_maps.setResult(std::move(result));
    m_previewRow = m_previewColumn = -1;
    const ProbeResult* now = m_maps.result();
    m_stack->setCurrentIndex(now ? 1 : 0);
    if (!now) {
        m_bar->setStepText(m_subText);
        m_bar->display(m_maps, m_view);
        return;
    }
    if (!m_started) {  // the first patch says more than the class token
        // The first layer may have none of the relations one came for.
        if (const auto first =
                std::find_if(now->maps.begin(), now->maps.end(),
                             [&](const RelationMap& map) { return map.kind == m_view.kind; });
            first != now->maps.end())
            m_view.layer = first->layer;
        m_view.source = now->grid.classToken ? 1 : 0;
        m_view.target = m_view.source + 1;
        // Under a causal mask the first token sees only itself, the last one all.
        if (now->grid.tokens() == 0 && !now->maps.empty() && now->maps.front().causal) {
            m_view.source = now->maps.front().rows - 1;
            m_view.target = 0;
        }
        m_started = true;
    }
    m_view = m_maps.clamped(m_view);
    refreshEverything();
}

void RelationInspector::refreshEverything() {
    const ProbeResult* now = m_maps.result();
    if (!now) return;
    m_bar->setStepText(m_subText.isEmpty() ? QStringLiteral("step ") + groupedNumber(now->step)
                                           : m_subText);
    m_bar->display(m_maps, m_view);
    m_source->setResult(*now);
    QStringList names;
    for (int layer = 0; layer < m_maps.layers(); ++layer) names << m_maps.layerName(layer);
    m_layers->setLayers(names);
    m_layers->setCurrent(m_view.layer);
    refreshSides();
    refreshMap();
    refreshMultiples();
    refreshFooter();
}

void RelationInspector::setView(const InspectorView& view) {
    m_started = true;
    if (!m_maps.result()) {
        m_view = view;
        return;
    }
    display(m_maps.clamped(view));
}

void RelationInspector::choose(InspectorView view) {
    if (!m_maps.result()) return;
    if (view.kind != m_view.kind) {
        m_wanted = view.kind;
        // A kind that only other layers have: the nearest of them.
        for (int away = 1; m_maps.count(view.kind, view.layer) == 0 && away < m_maps.layers();
             ++away)
            for (const int layer : {m_view.layer - away, m_view.layer + away})
                if (m_maps.count(view.kind, layer) > 0) view.layer = layer;
    } else if (view.layer != m_view.layer && m_maps.count(m_wanted, view.layer) > 0) {
        view.kind = m_wanted;
    }
    if (view.kind != m_view.kind && storedKind(view.kind) != storedKind(m_view.kind) &&
        view.index == m_view.index)
        view.index = m_lastIndex[static_cast<std::size_t>(view.kind)];
    view = m_maps.clamped(view);
    if (view == m_view)
        return m_bar->display(m_maps, m_view);  // a control may stand elsewhere by now
    display(view);
    Q_EMIT viewChanged(m_view);
}

void RelationInspector::display(const InspectorView& view) {
    const InspectorView before = m_view;
    m_view = view;
    m_lastIndex[static_cast<std::size_t>(view.kind)] = view.index;
    m_lastIndex[static_cast<std::size_t>(storedKind(view.kind))] = view.index;
    // What differs decides what is made anew: moving i or j must not colour a single cell.
    InspectorView cell = view;
    cell.source = before.source;
    cell.target = before.target;
    if (cell == before) {
        m_map->setCell(m_view.source, m_view.target);
        refreshPreview();
        refreshSource();
        refreshFooter();
        return;
    }
    const bool small = view.layer != before.layer || view.processing != before.processing ||
                       view.range != before.range || view.robust != before.robust ||
                       view.topK != before.topK || view.paper != before.paper ||
                       view.reversed != before.reversed;
    m_bar->display(m_maps, m_view);
    m_layers->setCurrent(m_view.layer);
    if (view.layer != before.layer || view.kind != before.kind || view.index != before.index)
        refreshSides();
    if (small) {
        refreshMultiples();
    } else {
        m_multiples->setSortByMagnitude(m_view.sortByMagnitude);
        m_multiples->setCurrent(storedKind(m_view.kind), m_view.index);
        if (m_view.kind == MapKind::AttentionTimesRelation)
            m_multiples->setSecond(MapKind::RelationalAttention, m_view.head);
        else
            m_multiples->clearSecond();
    }
    refreshMap();
    fillMenus();
    refreshFooter();
}

void RelationInspector::refreshMap() {
    MapValues values = m_maps.values(m_view);
    const ProbeResult& now = *m_maps.result();
    const int columns = m_maps.columnSide(m_view);
    const ColorScale scale = m_maps.scale(m_view);
    m_mapHead->setTitle(mapTitle(m_maps, m_view));
    m_mapHead->setSubText(mapSubTitle(m_maps, m_view, values));
    m_map->setTokens(sideTokens(now, m_maps.rowSide(m_view), values.rows),
                     columns < 0 ? numberedTokens(values.columns, QStringLiteral("symbol"))
                                 : sideTokens(now, columns, values.columns));
    m_map->setNumberDigits(3, ViewMaps::isSigned(m_view));
    m_map->setScale(scale);
    const QString saturated = saturationText(m_view, values);
    m_saturation->setText(saturated + QStringLiteral(": show raw values"));
    m_saturation->setVisible(!saturated.isEmpty());
    m_map->setValues(std::move(values));
    m_map->setCell(m_view.source, m_view.target);
    refreshPreview();
    m_colors->setScale(scale);
    m_colors->setExtent(m_maps.sharedExtent(m_view));
    m_colors->setCaption(scaleCaption(m_maps, m_view));
    refreshSource();
}

int RelationInspector::shownSource() const {
    return m_previewRow >= 0 ? m_previewRow : m_view.source;
}
int RelationInspector::shownTarget() const {
    return m_previewColumn >= 0 ? m_previewColumn : m_view.target;
}

void RelationInspector::refreshSource() {
    const MapValues& values = m_map->values();
    const int i = shownSource();
    const bool inside = objectsSend() && i >= 0 && i < values.rows;
    std::vector<float> row;
    std::vector<bool> masked;
    for (int j = 0; inside && j < values.columns; ++j) {
        row.push_back(values.at(i, j));
        masked.push_back(values.masked(i, j));
    }
    m_source->setTint(std::move(row), std::move(masked), m_maps.scale(m_view),
                      ViewMaps::isSigned(m_view));
    m_source->setChoice(i, inside ? m_view.target : -1, inside ? m_previewColumn : -1);
}

void RelationInspector::refreshSides() {
    m_source->setSides(*m_maps.result(), m_maps.rowSide(m_view), m_maps.columnSide(m_view));
}

/// Tints need one value an object; a table of symbols has none.
bool RelationInspector::objectsSend() const {
    return m_maps.columnSide(m_view) >= 0 &&
           m_map->values().columns == m_maps.objects(m_maps.columnSide(m_view));
}

void RelationInspector::refreshMultiples() {
    showMultiples(*m_multiples, m_maps, m_view);
}

void RelationInspector::refreshFooter() {
    const int i = shownSource();
    const int j = shownTarget();
    m_footer->setText(relascope::footerText(m_maps, m_view, i, j, true));
    const QString plain = relascope::footerText(m_maps, m_view, i, j);
    m_footer->setAccessibleDescription(plain);
    m_footer->setToolTip(plainTip(plain));  // half a window may not hold it all
    const MapValues& values = m_map->values();
    const bool inside =
        i >= 0 && j >= 0 && i < values.rows && j < values.columns && !values.masked(i, j);
    m_colors->setMark(inside ? values.at(i, j) : std::numeric_limits<float>::quiet_NaN());
}

/// The cross of the map follows the pointer in the source pane. The side that is not pointed at is
/// the chosen one, so this is called again whenever the choice changes.
void RelationInspector::refreshPreview() {
    const bool any = m_previewRow >= 0 || m_previewColumn >= 0;
    m_map->setPreview(any ? shownSource() : -1, any ? shownTarget() : -1);
}

void RelationInspector::preview(int row, int column) {
    if (row == m_previewRow && column == m_previewColumn) return;
    const bool rowMoved = (row >= 0 ? row : m_view.source) != shownSource();
    m_previewRow = row;
    m_previewColumn = column;
    if (rowMoved)
        refreshSource();
    else
        m_source->setPreview(objectsSend() ? column : -1);
    refreshPreview();
    refreshFooter();
}

QString RelationInspector::footerText() const {
    return relascope::footerText(m_maps, m_view, shownSource(), shownTarget());
}
QString RelationInspector::csv() const {
    return mapCsv(m_maps, m_view);
}
QMenu* RelationInspector::mapMenu() const {
    return m_mapMenu->menu();
}
QByteArray RelationInspector::saveState() const {
    return m_splitter->saveState();
}
void RelationInspector::restoreState(const QByteArray& state) {
    m_splitter->restoreState(state);
}
void RelationInspector::setSplits(const QStringList& names, const std::vector<qint64>& sizes) {
    m_source->setSplits(names, sizes);
}
void RelationInspector::setLabels(const QStringList& labels) {
    m_source->setLabels(labels);
}
void RelationInspector::setInputs(const InputOffer& offer) {
    m_source->setInputs(offer);
}
void RelationInspector::setSample(const QString& split, qint64 index) {
    m_source->setSample(split, index);
}
void RelationInspector::addHeadControl(QWidget* control) {
    m_bar->addControl(control);
}
void RelationInspector::setEmptyState(const QString& sentence, const QString& button) {
    m_empty->setSentence(sentence);
    m_empty->setButtonText(button);
}
void RelationInspector::setSubText(const QString& text) {
    m_subText = text;
    m_bar->setStepText(text.isEmpty() && m_maps.result()
                           ? QStringLiteral("step ") + groupedNumber(m_maps.result()->step)
                           : text);
}

void RelationInspector::stepIndex(int step) {
    InspectorView view = m_view;
    view.index += step;
    choose(view);
}
void RelationInspector::nextRelation() {
    stepIndex(1);
}
void RelationInspector::previousRelation() {
    stepIndex(-1);
}
void RelationInspector::nextLayer() {
    InspectorView view = m_view;
    ++view.layer;
    choose(view);
}
void RelationInspector::previousLayer() {
    InspectorView view = m_view;
    --view.layer;
    choose(view);
}
void RelationInspector::setKindByNumber(int number) {
    if (number < 1 || number > 5 || !m_maps.has(static_cast<MapKind>(number - 1))) return;
    InspectorView view = m_view;
    view.kind = static_cast<MapKind>(number - 1);
    m_wanted = view.kind;
    choose(view);
}
void RelationInspector::toggleDirection() {
    if (!m_maps.canReverse(m_view)) return;
    InspectorView view = m_view;
    view.reversed = !view.reversed;
    choose(view);
}
void RelationInspector::cycleProcessing() {
    InspectorView view = m_view;
    const bool relation = storedKind(view.kind) == MapKind::Relation;
    // Attention knows raw and top k only, and so does the key.
    if (relation)
        view.processing = static_cast<Processing>((static_cast<int>(view.processing) + 1) % 5);
    else
        view.processing = view.processing == Processing::TopK ? Processing::Raw : Processing::TopK;
    choose(view);
}
void RelationInspector::randomSample() {
    m_source->random();
}

void RelationInspector::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_stack) refreshEverything();
}

void RelationInspector::dragEnterEvent(QDragEnterEvent* event) {
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) return event->acceptProposedAction();
}
void RelationInspector::dropEvent(QDropEvent* event) {
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) {
            event->acceptProposedAction();
            Q_EMIT imageDropped(url.toLocalFile());
            return;
        }
}

}  // namespace relascope
