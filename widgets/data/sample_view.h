// SPDX-License-Identifier: GPL-3.0-or-later
// One sample of a dataset, large.
#pragma once

#include <QStringList>
#include <QWidget>

#include "widgets/data/shown_sample.h"

class QLabel;
class QStackedWidget;

namespace relascope::widgets {

class ElidedLabel;
class PixelView;
class ReadStrip;
class TileView;

/// An image, objects as tiles or a text; its label or answer, where it comes from, and the pixel or
/// piece under the pointer.
class SampleView : public QWidget {
    Q_OBJECT
public:
    explicit SampleView(QWidget* parent = nullptr);
    void setSample(const ShownSample& shown, const QStringList& classNames);
    void clear();

    QString pixelText() const;  ///< "row 3, column 4: 255, 0, 12", or "token 3 “ball”, id 17"
    QRect pictureRect() const;  ///< of the image, on this widget; null where there is none
    QString labelText() const;  ///< "label yes"
    QWidget* picture() const;   ///< the widget that shows the sample
    TileView* tiles() const { return m_tiles; }
    /// The vectors of objects, one per line, or the pieces of a text.
    QString csv() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();

    ShownSample m_shown;
    QStackedWidget* m_stack;
    QWidget* m_empty;
    PixelView* m_image;
    TileView* m_tiles;
    ReadStrip* m_text;
    QLabel *m_label, *m_pixel;
    ElidedLabel* m_origin;
};

}  // namespace relascope::widgets
