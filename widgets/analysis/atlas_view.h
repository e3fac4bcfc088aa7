// SPDX-License-Identifier: GPL-3.0-or-later
// The atlas of relations: a sortable table of the maps of a model, and all that is known of the
// chosen one.
#pragma once

#include <memory>

#include "analysis/atlas.h"
#include "widgets/analysis/measure_frame.h"

class QPainter;
class QPushButton;
class QScrollArea;
class QSplitter;

namespace relascope::widgets {

class AtlasSheet;
class AtlasTable;

class AtlasView : public MeasureFrame {
    Q_OBJECT
public:
    explicit AtlasView(QWidget* parent = nullptr);

    void setResult(const RelationAtlas& atlas);
    const RelationAtlas& result() const { return m_atlas; }
    void clear(const QString& sentence) override;
    AtlasTable* table() const { return m_table; }
    AtlasSheet* sheet() const { return m_sheet; }
    /// Of the maps that are correlated by 0.7 and more all but one are replaced by their mean.
    QPushButton* keepOneButton() const { return m_keepOne; }

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    bool showResult(const core::AnalysisResult& result) override {
        setResult(std::any_cast<const RelationAtlas&>(result));
        return true;
    }
    core::AnalysisResult shown() const override { return m_atlas; }

private:
    int chosen() const;  ///< index of a relation, -1 without one
    void resizeEvent(QResizeEvent* event) override;
    std::unique_ptr<AtlasTable> wholeTable() const;
    /// The chosen map in the inspector; a cell of an example with a pair.
    void request(const RelationAtlas::Pair* pair);
    void showGroups();
    void keepOne();

    RelationAtlas m_atlas;
    QPushButton* m_keepOne;
    QSplitter* m_both;
    AtlasTable* m_table;
    QScrollArea* m_scroll;
    AtlasSheet* m_sheet;
};

}  // namespace relascope::widgets
