// SPDX-License-Identifier: GPL-3.0-or-later
// The atlas of relations: a sortable table of the maps of a model, and all that is known of the
// chosen one.
#pragma once

#include <functional>
#include <vector>

#include <QImage>
#include <QWidget>

#include "analysis/atlas.h"
#include "widgets/analysis/measure_frame.h"

class QPainter;
class QScrollArea;
class QTableWidget;

namespace relascope::widgets {

/// One map of an atlas: its attributes, distribution, variance, use, pairs, and values along
/// training.
class AtlasSheet : public QWidget {
    Q_OBJECT
public:
    explicit AtlasSheet(QWidget* parent = nullptr);
    /// `relation` < 0: none.
    void show(const RelationAtlas& atlas, int relation);
    int relation() const { return m_relation; }
    /// Height at that width.
    int fit(int width);
    /// Paints at the origin, `width` px wide, and returns the height; measures only without a
    /// painter.
    int paint(QPainter* painter, int width) const;
    /// All of it in words, for people who do not see it.
    QString description() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    const RelationAtlas::Relation& shown() const {
        return m_atlas.relations[static_cast<std::size_t>(m_relation)];
    }
    int paintAttributes(QPainter* painter, int width, int y) const;
    int paintHistogram(QPainter* painter, const QRect& room, const QString& title,
                       const RelationAtlas::Distribution& values) const;
    int paintVariance(QPainter* painter, int width, int y) const;
    int paintUse(QPainter* painter, int width, int y) const;
    int paintPairs(QPainter* painter, int width, int y, const QString& title,
                   const std::vector<RelationAtlas::Pair>& pairs) const;
    int paintSteps(QPainter* painter, int width, int y) const;

    RelationAtlas m_atlas;
    int m_relation = -1;
};

class AtlasView : public MeasureFrame {
    Q_OBJECT
public:
    explicit AtlasView(QWidget* parent = nullptr);

    void setResult(const RelationAtlas& atlas);
    const RelationAtlas& result() const { return m_atlas; }
    void clear(const QString& sentence) override;
    QTableWidget* table() const { return m_table; }
    AtlasSheet* sheet() const { return m_sheet; }

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    bool showResult(const core::AnalysisResult& result) override {
        setResult(std::any_cast<const RelationAtlas&>(result));
        return true;
    }
    core::AnalysisResult shown() const override { return m_atlas; }

private:
    int chosen() const;  ///< index of a relation, -1 without one
    int relationOfRow(int row) const;
    void fill();
    void fitColumns(QTableWidget& table, int width) const;
    void resizeEvent(QResizeEvent* event) override;
    std::unique_ptr<QTableWidget> wholeTable() const;
    void request();

    RelationAtlas m_atlas;
    QTableWidget* m_table;
    QScrollArea* m_scroll;
    AtlasSheet* m_sheet;
};

}  // namespace relascope::widgets
