// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of a dataset as a grid to browse.
#pragma once

#include <QAbstractScrollArea>
#include <QStringList>
#include <map>
#include <vector>

#include "widgets/data/shown_sample.h"

namespace relascope::widgets {

/// Samples of any number and form: images enlarged by whole factors, objects by their pictures or
/// as bars, texts in a few lines. Only what is in sight is asked for and kept (some screens around
/// it), so 250,000 images scroll as 25 do.
class SampleGrid : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit SampleGrid(QWidget* parent = nullptr);

    /// Shows other data: `example` gives the size of the cells. Only then are samples asked for,
    /// never beyond `count`.
    void setData(qint64 count, const ShownSample& example, const QStringList& classNames);
    /// Forgets everything and asks for what is in sight.
    void setCount(qint64 count);
    qint64 count() const { return m_count; }
    void setSamples(qint64 first, std::vector<ShownSample> samples);
    void setCurrent(qint64 index);  ///< -1: none; does not signal
    qint64 current() const { return m_current; }
    int columns() const;
    QRect cellRect(qint64 index) const;  ///< in the viewport, with the label

Q_SIGNALS:
    void samplesNeeded(qint64 first, int count);
    void indexChosen(qint64 index);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    QSize cellSize() const;
    qint64 rowOffset() const;
    void layoutRows();
    void request();
    void choose(qint64 index);

    qint64 m_count = 0, m_current = -1;
    QSize m_size{64, 64};  ///< of a sample
    QStringList m_names;
    std::map<qint64, ShownSample> m_cells;
    std::map<qint64, int> m_asked;  ///< first -> count
};

}  // namespace relascope::widgets
