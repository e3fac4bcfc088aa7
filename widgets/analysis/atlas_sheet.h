// SPDX-License-Identifier: GPL-3.0-or-later
// One map of an atlas: its attributes, distribution, variance, use, pairs, and values along
// training.
#pragma once

#include <vector>

#include <QWidget>

#include "analysis/atlas.h"

class QPainter;

namespace relascope::widgets {

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

}  // namespace relascope::widgets
