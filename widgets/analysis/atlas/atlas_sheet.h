// SPDX-License-Identifier: GPL-3.0-or-later
// One map of an atlas: its attributes, distribution, variance, use, pairs, values along training,
// and the maps that are like it.
#pragma once

#include <vector>

#include <QWidget>

#include "analysis/atlas/atlas.h"

class QPainter;

namespace relascope::widgets {

/// A dash for NaN.
QString atlasNumber(double value, int digits);

class AtlasSheet : public QWidget {
    Q_OBJECT
public:
    explicit AtlasSheet(QWidget* parent = nullptr);
    /// `relation` < 0: none.
    void show(const RelationAtlas& atlas, int relation);
    int relation() const { return m_relation; }
    /// A pair of the gallery and its place; the arrow keys and a click choose one.
    struct PairPlace {
        QRect room;
        RelationAtlas::Pair pair;
    };
    const std::vector<PairPlace>& pairs() const { return m_pairs; }
    /// Height at that width.
    int fit(int width);
    /// Paints at the origin, `width` px wide, and returns the height; measures only without a
    /// painter.
    int paint(QPainter* painter, int width, std::vector<PairPlace>* pairs = nullptr,
              QRectF* steps = nullptr) const;
    /// The nearest step at a point of the plot along training; -1 elsewhere.
    std::int64_t stepAt(const QPoint& point) const;
    const QRectF& stepsPlot() const { return m_stepsPlot; }  ///< empty without one
    /// All of it in words, for people who do not see it.
    QString description() const;

Q_SIGNALS:
    /// A click on a pair, or Enter on the current one.
    void pairRequested(const relascope::RelationAtlas::Pair& pair);
    /// A click on the plot along training.
    void stepChosen(qint64 step);
    /// The current pair is there now.
    void pairChosen(const QRect& room);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

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
                   const std::vector<RelationAtlas::Pair>& pairs,
                   std::vector<PairPlace>* places) const;
    int paintSteps(QPainter* painter, int width, int y, QRectF* room) const;
    double alongPlot(std::int64_t step) const;
    int paintTree(QPainter* painter, int width, int y) const;
    int pairAt(const QPoint& point) const;  ///< -1: none
    void setPair(int pair);

    RelationAtlas m_atlas;
    int m_relation = -1;
    std::vector<PairPlace> m_pairs;
    QRectF m_stepsPlot;
    int m_pair = -1;  ///< the current one
};

}  // namespace relascope::widgets
