// Samples of a dataset: a grid to browse, one large, and statistics.
#pragma once

#include <QAbstractScrollArea>
#include <QPixmap>
#include <QStringList>
#include <QWidget>
#include <map>
#include <utility>
#include <vector>

#include "types/relation_map.h"

namespace relascope {

/// The image as it is, one pixel a pixel; null when empty.
QImage toPicture(const Image& image);

/// Images of any number, drawn nearest neighbour at a whole-number scale. Only what is in sight is
/// asked for and kept (some screens around it), so 250,000 images scroll as 25 do.
class SampleGrid : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit SampleGrid(QWidget* parent = nullptr);

    /// Forgets everything and asks for what is in sight.
    void setCount(qint64 count);
    qint64 count() const { return m_count; }
    /// Size of one image in pixels of the image; the grid chooses the scale (at least 64 px shown).
    void setImageSize(int width, int height);
    void setClassNames(const QStringList& names);
    void setSamples(qint64 first, std::vector<ProbeSample> samples);
    void setCurrent(qint64 index);  ///< -1: none; does not signal
    qint64 current() const { return m_current; }
    int columns() const;
    int scale() const { return m_scale; }
    QRect cellRect(qint64 index) const;  ///< in the viewport

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
    struct Cell {
        QImage picture;
        std::int64_t label = -1;
        QString origin;
    };
    QSize cellSize() const;
    qint64 rowOffset() const;
    void layoutRows();
    void request();
    void choose(qint64 index);
    QString labelText(const Cell& cell) const;

    qint64 m_count = 0, m_current = -1;
    int m_width = 36, m_height = 36, m_scale = 2;
    QStringList m_names;
    std::map<qint64, Cell> m_cells;
    std::map<qint64, int> m_asked;  ///< first -> count
};

/// One sample large, its label and origin, and the pixel under the pointer.
class SampleView : public QWidget {
    Q_OBJECT
public:
    explicit SampleView(QWidget* parent = nullptr);
    void setSample(const ProbeSample& sample, const QStringList& classNames);
    void clear();
    QString pixelText() const { return m_pixel; }  ///< "row 3, column 4: 255, 0, 12"
    QRect pictureRect() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    ProbeSample m_sample;
    QImage m_picture;
    QStringList m_names;
    QString m_pixel;
};

/// Bars of how many samples each class has, and rows of words.
class StatisticsView : public QWidget {
    Q_OBJECT
public:
    explicit StatisticsView(QWidget* parent = nullptr);
    void setClasses(std::vector<std::pair<QString, qint64>> counts);
    void setRows(std::vector<std::pair<QString, QString>> rows);
    QSize sizeHint() const override;
    QString csv() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();
    std::vector<std::pair<QString, qint64>> m_counts;
    std::vector<std::pair<QString, QString>> m_rows;
};

}  // namespace relascope
