// SPDX-License-Identifier: GPL-3.0-or-later
// The current view of a result, the requests that change it, and its values, texts and figures.
#pragma once

#include <QString>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "types/view.h"
#include "widgets/export/figure.h"
#include "widgets/inspector/inspector_view.h"
#include "widgets/inspector/view_maps.h"

namespace relascope::widgets {

class ViewMenu;

class ViewChoice {
public:
    /// The maps that are shown: of the edited model, of the one without edits, or the difference.
    const ViewMaps& maps() const { return m_maps[static_cast<std::size_t>(m_view.shown)]; }
    const InspectorView& view() const { return m_view; }
    bool empty() const { return m_maps[0].result() == nullptr; }
    /// The maps of the model that is inspected, whatever is shown of a comparison.
    const ViewMaps& ownMaps() const { return m_maps[0]; }
    /// The edited result and the one before it.
    const Inspected& inspected() const { return m_inspected; }
    bool edited() const { return m_inspected.edited(); }
    /// Whether there are other maps to compare with.
    bool compares() const { return m_inspected.other() != nullptr; }
    /// The maps to compare with. Only if compares().
    const ViewMaps& otherMaps() const { return m_maps[1]; }
    /// The view of otherMaps(): the same map at the same objects, unless another was set apart.
    /// Where the tokens differ, it is at those that hold the last characters of these.
    InspectorView otherView() const;
    /// Sets apart what is shown of the pinned result: its map, until another map is shown here;
    /// with `cell` also i and j, for as long as it is not joined. `note` says why.
    void setApart(const InspectorView& view, bool cell, const QString& note = {});
    void join() { m_apart.reset(); }
    bool apart() const { return m_apart.has_value(); }
    /// Whether both maps that are shown are of one kind, so that one scale and a difference mean
    /// something.
    bool sameKind() const { return !m_apart || m_apart->view.kind == m_view.kind; }
    /// Whether the pinned map does not follow this one.
    bool freed() const { return m_apart && m_apart->cell; }
    QString apartNote() const { return m_apart ? m_apart->note : QString(); }
    /// Objects of the pinned result that these are, and the other way round; -1: none.
    int thereOf(int object) const;
    int hereOf(int object) const;
    /// The object of the other result for one of a shown cell, which may be of the pinned result.
    int toOther(int object) const;
    int fromOther(int object) const;
    /// Why the view has no difference of both; empty: it has one.
    QString whyNoDifference() const;
    /// Whether both have the same objects.
    bool sameTokens() const { return !m_inspected.pinned.tokens; }
    /// Whether the kind is the pinned result's alone.
    bool ofPinnedAlone(MapKind kind) const;
    /// Pins what is shown as A, so that what follows is compared with it; empty: unpins.
    void pin(const PinnedResult& pinned);
    bool moved(const MapId& map) const;     ///< the edits change the map
    bool takenOut(const MapId& map) const;  ///< the edits take the map out
    /// The view is kept if the new maps have it, otherwise the nearest one is chosen. The first
    /// result determines the initial view, unless setView() was called.
    void setInspected(Inspected inspected);
    void setResult(std::shared_ptr<const ProbeResult> result) {
        setInspected({std::move(result), {}, {}, {}, {}});
    }
    /// Sets the view from a session or another pane.
    void setView(const InspectorView& view);

    /// The view for a request of the user. A kind that the layer does not have leads to the nearest
    /// layer with it, and is kept for the next layer that has it.
    InspectorView granted(InspectorView request);
    /// The views requested by keys and clicks.
    InspectorView stepped(int InspectorView::*field, int step) const;
    std::optional<InspectorView> ofKind(int number);  ///< 1 to 5
    InspectorView transposed() const;
    InspectorView nextProcessing() const;
    InspectorView nextShown() const;  ///< after, before, difference
    /// The next or previous map of the layer.
    InspectorView ofMap(MapKind kind, int index);
    InspectorView ofCell(int row, int column) const;

    /// Sets the row and column at the pointer; -1 for one that is not pointed at. Returns false if
    /// unchanged.
    bool point(int row, int column);
    bool pointing() const { return m_row >= 0 || m_column >= 0; }
    /// j at the pointer; -1 for none.
    int pointedColumn() const { return m_column; }
    /// i and j as shown: at the pointer, or the chosen ones.
    int row() const { return m_row >= 0 ? m_row : m_view.source; }
    int column() const { return m_column >= 0 ? m_column : m_view.target; }

    /// The exact numbers of the cell that is shown.
    QString footer(bool rich = false) const;
    /// The values of the view.
    QString csv() const;

    /// What is inspected as a view without its map; nullopt: it cannot be said as one.
    std::function<std::optional<View>()> describe;
    QString run;        ///< used in names of figures and files
    bool steps = true;  ///< its weights are of a step (FigureSubject)
    /// "quick-dat-s0_step384_layer2_relation1".
    QString figureName(FigureParts parts) const;
    /// Connects an export menu to a figure of these parts.
    void setFigure(ViewMenu& menu, FigureParts parts) const;

private:
    /// Whether both have the map of a view, of the same size.
    bool subtracts(const InspectorView& view) const;
    /// Computes the difference of the maps once it is shown.
    void prepareShown();
    /// The maps that such a view shows.
    const ViewMaps& mapsOf(Shown shown) const;
    /// A kind that only one of two has is shown of that one; i and j are those of what is shown.
    void turnTo(InspectorView& request) const;
    /// What is shown as a view whose picture has these parts.
    std::optional<View> described(FigureParts parts) const;
    /// "quick-dat-s0, edited: layer 2 relation 1 zero"
    QString caption() const;

    Inspected m_inspected;
    std::array<ViewMaps, 3> m_maps;  ///< in the order of Shown
    InspectorView m_view;
    MapKind m_wanted = MapKind::Relation;  ///< restored on the next layer that has it
    bool m_started = false;                ///< a view was chosen, by the user or from a session
    struct Apart {
        InspectorView view;
        bool cell = false;
        QString note;
    };
    std::optional<Apart> m_apart;
    int m_row = -1, m_column = -1;
    std::array<int, 5> m_lastIndex{};  ///< by kind, to restore the map when going back
};

}  // namespace relascope::widgets
