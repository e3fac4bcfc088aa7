// SPDX-License-Identifier: GPL-3.0-or-later
// The relation inspector: the source, one map of it and every map of the layer, linked by one (i,
// j).
#pragma once

#include <QStringList>
#include <QWidget>
#include <memory>
#include <vector>

#include "widgets/inspector/inspector_view.h"
#include "widgets/inspector/view_maps.h"

class QLabel;
class QMenu;
class QPushButton;
class QSplitter;
class QStackedLayout;

namespace relascope {

class ColorBar;
class EmptyState;
class InspectorBar;
class LayerSlider;
class MapView;
class MultiplesView;
class PanelHead;
class SourcePane;
class ViewMenu;
struct InputOffer;

class RelationInspector : public QWidget {
    Q_OBJECT
public:
    explicit RelationInspector(QWidget* parent = nullptr);

    /// nullptr shows the empty state. The choice of view stays where the new maps have it,
    /// otherwise it becomes the nearest.
    void setResult(std::shared_ptr<const ProbeResult> result);
    const ProbeResult* result() const { return m_maps.result(); }
    InspectorView view() const { return m_view; }
    /// Does not signal.
    void setView(const InspectorView& view);

    void setSplits(const QStringList& names, const std::vector<qint64>& sizes = {});
    /// Labels that samples can be chosen by; none where they have none.
    void setLabels(const QStringList& labels);
    /// What the source pane offers while there are no splits.
    void setInputs(const InputOffer& offer);
    /// The sample that is shown, in the chooser; does not signal.
    void setSample(const QString& split, qint64 index);
    void setEmptyState(const QString& sentence, const QString& button);
    /// Right end of the head row, for the page around.
    void addHeadControl(QWidget* control);
    /// Muted words after the title; "step 980" unless set.
    void setSubText(const QString& text);
    /// What figures and their files are named after: the run or checkpoint that is looked into.
    void setFigureRun(const QString& name) { m_run = name; }
    /// Makes an export menu of the page around write a figure of the source and the map.
    void setFigure(ViewMenu& menu);
    /// "quick-dat-s0_step384_layer2_relation1".
    QString figureName() const;
    /// For half a window: the small maps below the large one, the controls in two rows.
    void setCompact(bool compact);
    QString footerText() const;
    QString csv() const;

    SourcePane* sourcePane() const { return m_source; }
    MapView* mapView() const { return m_map; }
    MultiplesView* multiplesView() const { return m_multiples; }
    LayerSlider* layerSlider() const { return m_layers; }
    InspectorBar* bar() const { return m_bar; }
    ColorBar* colorBar() const { return m_colors; }
    QPushButton* saturation() const { return m_saturation; }
    QMenu* mapMenu() const;
    QSplitter* splitter() const { return m_splitter; }
    /// Three panes of a splitter state, kept by the session.
    QByteArray saveState() const;
    void restoreState(const QByteArray& state);

    QSize minimumSizeHint() const override { return m_compact ? QSize(464, 320) : QSize(640, 260); }

public Q_SLOTS:
    void nextRelation();
    void previousRelation();
    void nextLayer();
    void previousLayer();
    void setKindByNumber(int number);  ///< 1 to 5, in the order of the segments
    void toggleDirection();
    void cycleProcessing();
    void randomSample();

Q_SIGNALS:
    void viewChanged(InspectorView view);  ///< by the user
    void sampleRequested(QString split, qint64 index);
    void randomSampleRequested(QString split);
    void labelRequested(QString split, int label, bool forward);
    void imageDropped(QString path);
    void referenceRequested(int index);  ///< these four where there are no splits
    void randomInputRequested(quint64 seed);
    void tokensEntered(std::vector<qint64> source, std::vector<qint64> target);
    void imageRequested();
    void textTyped(QString text);  ///< of a text, on every change by the user
    void emptyStateActivated();
    void exported(QString path);
    void exportFailed(QString sentence);

protected:
    void changeEvent(QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QWidget* makeSource();
    QWidget* makeMap();
    QWidget* makeMultiples();
    QWidget* makeFooter();
    void connectPanes();
    void fillMenus();
    /// Takes what the user chose, shows it and says so.
    void choose(InspectorView view);
    void display(const InspectorView& view);
    void stepIndex(int step);
    void preview(int row, int column);
    void refreshPreview();
    void refreshMap();
    void refreshMultiples();
    void refreshSource();
    void refreshSides();
    bool objectsSend() const;
    void refreshFooter();
    void refreshEverything();
    int shownSource() const;
    int shownTarget() const;

    ViewMaps m_maps;
    InspectorView m_view;
    MapKind m_wanted = MapKind::Relation;  ///< shown again on the next layer that has it
    bool m_compact = false;
    bool m_started = false;  ///< a view was chosen, by the user or from a session
    int m_previewRow = -1, m_previewColumn = -1;
    std::vector<int> m_lastIndex{0, 0, 0, 0,
                                 0};  ///< by kind, so that going back finds the same map

    InspectorBar* m_bar = nullptr;
    QStackedLayout* m_stack = nullptr;
    EmptyState* m_empty = nullptr;
    QSplitter* m_splitter = nullptr;
    QSplitter* m_outer = nullptr;  ///< the panes above, in compact form the small maps below
    QWidget* m_smallPane = nullptr;
    SourcePane* m_source = nullptr;
    PanelHead* m_mapHead = nullptr;
    MapView* m_map = nullptr;
    ColorBar* m_colors = nullptr;
    QPushButton* m_saturation = nullptr;  ///< shown where a transform hides most of the values
    MultiplesView* m_multiples = nullptr;
    LayerSlider* m_layers = nullptr;
    ViewMenu* m_mapMenu = nullptr;
    QMenu* m_multiplesMenu = nullptr;
    QLabel* m_footer = nullptr;
    QLabel* m_hint = nullptr;
    QWidget* m_footerBar = nullptr;
    QString m_subText, m_run;
};

}  // namespace relascope
