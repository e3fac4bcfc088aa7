// SPDX-License-Identifier: GPL-3.0-or-later
// The relation inspector: the source, one map of it and every map of the layer, linked by one (i,
// j).
#pragma once

#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "widgets/inspector/map_statistics.h"
#include "widgets/inspector/view_choice.h"

class QSplitter;
class QStackedLayout;

namespace relascope::widgets {

class CellFooter;
class EmptyState;
class InspectorBar;
class MapPane;
class SmallMaps;
class SourcePane;
class ViewMenu;
class WhyPanel;

class RelationInspector : public QWidget {
    Q_OBJECT
public:
    explicit RelationInspector(QWidget* parent = nullptr);
    ~RelationInspector() override;

    /// Sets what computes large maps off the window's thread; without it they are computed at once.
    /// Menus that are added later have to be given it, too.
    void setBackground(const Background& background);
    /// Whether something is being computed.
    bool busy() const { return m_work.busy(); }
    /// nullptr shows the empty state. The view is kept if the new maps have it, otherwise the
    /// nearest one is chosen.
    void setResult(std::shared_ptr<const ProbeResult> result) {
        setInspected({std::move(result), {}, {}, {}, {}});
    }
    /// Shows the result of a model that may be edited.
    void setInspected(Inspected inspected);
    const ProbeResult* result() const { return m_choice.maps().result(); }
    bool edited() const { return m_choice.edited(); }
    /// Pins what is shown as "A": an input at a step, named so.
    void pin(const QString& name);
    void unpin();
    bool pinned() const { return m_choice.inspected().pinned.result != nullptr; }
    /// For a page that compares: beside the pinned map and the one shown their difference, and room
    /// for the three.
    void setThree();
    /// Whether the pinned map follows the one shown. If not, it stays as it is, and a click on it
    /// chooses its own i and j.
    void setLinked(bool on);
    /// Shows this map of the pinned result beside the one shown, until another is shown; nullopt:
    /// the same map again, unless they are not linked.
    void setPartner(const std::optional<MapId>& map, const QString& note = {});
    const InspectorView& view() const { return m_choice.view(); }
    /// The current view, for its texts, tables and figures.
    const ViewChoice& choice() const { return m_choice; }
    /// Does not signal.
    void setView(const InspectorView& view);

    void setEmptyState(const QString& sentence, const QString& button);
    /// Muted text after the title; "step 980" unless set.
    void setSubText(const QString& text);
    /// The inspected run or checkpoint, used in names of figures and files; `steps`: its weights
    /// are of a step.
    void setFigureRun(const QString& name, bool steps = true) {
        m_choice.run = name;
        m_choice.steps = steps;
    }
    /// What is inspected as a view without its map (ViewChoice::describe).
    void setDescribe(std::function<std::optional<View>()> describe) {
        m_choice.describe = std::move(describe);
    }
    /// A compact layout for half a window: the small maps below the large one, the controls in two
    /// rows.
    void setCompact(bool compact);

    InspectorBar* bar() const { return m_bar; }
    SourcePane* sourcePane() const { return m_source; }
    MapPane* mapPane() const { return m_map; }
    SmallMaps* smallMaps() const { return m_small; }
    CellFooter* footer() const { return m_footer; }
    /// The panel beside the map, in place of the small maps; hidden at first.
    WhyPanel* why() const { return m_why; }
    void setWhyShown(bool shown);
    bool whyShown() const { return m_whyShown; }
    /// For the page on which the map is the subject: panes as wide as the map can be high, until
    /// the user moves them; small maps only where they cost the map nothing.
    void setMapFirst();
    /// Leaves all of the room to the input and the map.
    void setFilled(bool on);
    /// The sizes of the three panes, for the session.
    QByteArray panesState() const;
    void restorePanes(const QByteArray& state);
    /// Whether a text is shown that can be read and searched.
    bool showsText() const;
    /// Whether it is shown across the pane.
    bool reading() const { return m_reading; }

    QSize minimumSizeHint() const override { return m_compact ? QSize(464, 320) : QSize(520, 180); }

public Q_SLOTS:
    void stepRelation(int step) { choose(m_choice.stepped(&InspectorView::index, step)); }
    void stepLayer(int step) { choose(m_choice.stepped(&InspectorView::layer, step)); }
    void showMap(relascope::MapKind kind, int layer, int index);  ///< as if the user chose it
    /// Shows the map of a fitted relation, of this file, as soon as a result has it, unless the
    /// user chooses another map before.
    void showFitted(const std::string& file);
    void chooseView(const relascope::widgets::InspectorView& view) { choose(view); }
    /// Another map and cell, as if the user chose them.
    void showCell(relascope::MapKind kind, int layer, int index, int i, int j);
    void setKindByNumber(int number);  ///< 1 to 5, in the order of the segments
    void toggleDirection() { choose(m_choice.transposed()); }
    void cycleProcessing() { choose(m_choice.nextProcessing()); }
    void cycleShown() { choose(m_choice.nextShown()); }  ///< after, before, difference of edits
    void toggleReading();    ///< the text across the pane, or beside the maps
    void toggleBeside();     ///< the map that is compared with beside the one shown
    void toggleAllLayers();  ///< the small maps of this layer, or of all
    void findToken();        ///< shows the search field of a text
    void findNext(bool forward);
    void showWholeMap();

Q_SIGNALS:
    void viewChanged(InspectorView view);  ///< by the user
    void pinChanged();
    void displayed();  ///< another result, map or cell is shown
    void textShown();  ///< showsText() changed
    void imageDropped(QString path);
    /// A request with Shift is for a second input.
    void secondDropped(QString path);
    /// Menus of edits; `at` on the screen. The map or cell is the chosen one by then.
    void mapMenuRequested(const QPoint& at);
    void cellMenuRequested(int i, int j, const QPoint& at);
    void objectMenuRequested(int object, const QPoint& at);
    /// Alt and the mouse on a cell of the map: `up` px from where the button was pressed.
    void cellDragged(int i, int j, int up);
    void cellDropped(bool kept);
    /// A click with Ctrl: the chosen cell is to be held against this one.
    void cellCompared(int i, int j);
    void emptyStateActivated();
    void exported(QString path);
    void exportFailed(QString sentence);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void connectPanes();
    /// Applies a request of the user and emits viewChanged().
    void choose(const InspectorView& request);
    void display(const InspectorView& view);
    void displayEverything();
    void displayBar();
    void displayCell();
    void displayStep();
    void arrangePanes();
    void giveWhyRoom(int source, int map);
    void arrangeReading();
    void placeSmallMaps();
    void showMatches();
    void tintSource();
    void setSides();
    void pointFromMap(int row, int column);

    ViewChoice m_choice;
    std::string m_awaitedRelation;  ///< by showFitted(); empty: none
    BackgroundWork m_work;
    bool m_compact = false;
    bool m_mapFirst = false, m_filled = false;
    bool m_ownPanes = false;  ///< the user has moved them
    bool m_whyShown = false;
    bool m_ownWhy = false;            ///< the user has moved the panes since it is shown
    QByteArray m_withoutWhy;          ///< the sizes of the panes before it was shown
    std::vector<float> m_sourceTint;  ///< the panel's values, in place of the map's row
    bool m_linked = true;             ///< as wished; there may be nothing to link yet

    InspectorBar* m_bar;
    QStackedLayout* m_stack;
    EmptyState* m_empty;
    QSplitter* m_splitter;
    QSplitter* m_outer;  ///< the panes and, in compact form, the small maps below
    QWidget* m_sourceBox;
    bool m_reading = false, m_across = false;
    bool m_text = false;  ///< showsText() as last signalled
    QByteArray m_beside;  ///< the sizes of the panes beside one another while a text is read
    SourcePane* m_source;
    MapPane* m_map;
    SmallMaps* m_small;
    CellFooter* m_footer;
    WhyPanel* m_why;
    QString m_subText;
};

}  // namespace relascope::widgets
