// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of a dataset as a grid to browse.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <QAbstractScrollArea>
#include <QSize>
#include <QStringList>

#include "widgets/data/sample_view.h"

class QPainter;
class QRect;

namespace relascope::widgets {

// Small pictures of examples, for the cells of a grid.

/// The preferred size of an example, without its label.
QSize sampleSize(const ShownSample& shown);
/// Draws an example at the top left of `place`; what does not fit is left out.
void paintSample(QPainter& painter, const QRect& place, const ShownSample& shown);

/// Writes examples with their labels to .png (300 dpi), .svg or .pdf: rows of `columns`, below a
/// title for each row. Returns false with a message in `error` on failure.
bool renderExamples(const std::vector<ShownSample>& samples, const QStringList& titles, int columns,
                    const QString& path, QString* error);

/// Shows any number of samples of any form: images enlarged by whole factors, objects as pictures
/// or bars, texts in a few lines. Only the visible samples and some screens around them are
/// requested and kept, so 250,000 images scroll as smoothly as 25.
class SampleGrid : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit SampleGrid(QWidget* parent = nullptr);

    /// Shows other data: `example` determines the cell size. Samples are requested only after this
    /// call, and only below `count`.
    void setData(qint64 count, const ShownSample& example, const QStringList& classNames);
    /// Drops all samples and requests the visible ones.
    void setCount(qint64 count);
    qint64 count() const { return m_count; }
    void setSamples(qint64 first, std::vector<ShownSample> samples);
    void setCurrent(qint64 index);  ///< -1: none; emits no signal
    qint64 current() const { return m_current; }
    int columns() const;
    /// The samples of the rows that are seen whole, or at least one row.
    qint64 firstShown() const;
    int countShown() const;
    bool isFilled() const;               ///< whether these samples have arrived
    QRect cellRect(qint64 index) const;  ///< in the viewport, with the label
    /// These samples as a picture, whose size depends on their number alone; null without any.
    std::unique_ptr<QWidget> figure() const;

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
    int wholeRows() const;
    void layoutRows();
    void request();
    void choose(qint64 index);

    qint64 m_count = 0, m_current = -1;
    QSize m_size{64, 64};   ///< size of a sample
    ShownSample m_example;  ///< gives the cells their size
    QStringList m_names;
    std::map<qint64, ShownSample> m_cells;
    std::map<qint64, int> m_asked;  ///< first -> count
};

}  // namespace relascope::widgets
