// SPDX-License-Identifier: GPL-3.0-or-later
// Which view of a result is shown, and what the request for another one comes to; its numbers,
// words and figures.
#pragma once

#include <QString>
#include <array>
#include <memory>
#include <optional>

#include "widgets/export/figure.h"
#include "widgets/inspector/view_maps.h"

namespace relascope::widgets {

class ViewMenu;

class ViewChoice {
public:
    const ViewMaps& maps() const { return m_maps; }
    const InspectorView& view() const { return m_view; }
    bool empty() const { return m_maps.result() == nullptr; }
    /// The view stays where the new maps have it, otherwise it becomes the nearest. The first
    /// result also says where to begin, unless `setView` did.
    void setResult(std::shared_ptr<const ProbeResult> result);
    /// From a session or another pane.
    void setView(const InspectorView& view);

    /// The view that a request of the user comes to: a kind that the layer does not have leads to
    /// the nearest layer that has it, and is shown again on the next layer that has it.
    InspectorView granted(InspectorView request);
    /// What keys and clicks request for.
    InspectorView stepped(int InspectorView::*field, int step) const;
    std::optional<InspectorView> ofKind(int number);  ///< 1 to 5
    InspectorView turned() const;
    InspectorView nextProcessing() const;
    /// Another map of the layer.
    InspectorView ofMap(MapKind kind, int index);
    InspectorView ofCell(int row, int column) const;

    /// The row and column at the pointer, -1 where only the other is pointed at; false where they
    /// are so already.
    bool point(int row, int column);
    bool pointing() const { return m_row >= 0 || m_column >= 0; }
    /// j at the pointer; -1 for none.
    int pointedColumn() const { return m_column; }
    /// i and j as shown: at the pointer, or else the chosen ones.
    int row() const { return m_row >= 0 ? m_row : m_view.source; }
    int column() const { return m_column >= 0 ? m_column : m_view.target; }

    /// The exact numbers of the cell that is shown.
    QString footer(bool rich = false) const;
    /// The values of the view.
    QString csv() const;

    QString run;  ///< what figures and their files are named after
    /// "quick-dat-s0_step384_layer2_relation1".
    QString figureName(FigureParts parts) const;
    /// Makes an export menu write a figure of these parts.
    void setFigure(ViewMenu& menu, FigureParts parts) const;

private:
    ViewMaps m_maps;
    InspectorView m_view;
    MapKind m_wanted = MapKind::Relation;  ///< shown again on the next layer that has it
    bool m_started = false;                ///< a view was chosen, by the user or from a session
    int m_row = -1, m_column = -1;
    std::array<int, 5> m_lastIndex{};  ///< by kind, so that going back finds the same map
};

}  // namespace relascope::widgets
