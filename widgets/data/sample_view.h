// SPDX-License-Identifier: GPL-3.0-or-later
// One sample of a dataset, large.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QImage>
#include <QString>
#include <QStringList>
#include <QWidget>

#include "types/relation_map.h"
#include "widgets/kit/token_view.h"

class QLabel;
class QStackedWidget;

namespace relascope::widgets {

// An example of any data set with its answer, and the form in which it is shown.

struct ShownSample {
    ProbeSample sample;
    QString answer = {};  ///< the answer as text; empty if there is a label
    /// The objects of the source in the order of the answer; empty if the answer is not an order.
    std::vector<int> order = {};
};

enum class SampleForm {
    Nothing,
    Image,
    Pictures,  ///< objects, each with its picture
    Vectors,
    Text,   ///< a window of a text, or a question
    Tokens  ///< ids without words
};
SampleForm formOf(const ProbeSample& sample);

/// The name of the label, or the answer; empty if there is neither.
QString sampleLabel(const ShownSample& shown, const QStringList& classNames);
/// The text of a sequence: its pieces joined, without trailing blanks.
QString textOf(const ProbeSequence& sequence);
/// The names of the objects, separated by commas.
QString sequenceText(const ProbeSequence& sequence);

// An image and a text that report the pixel or piece under the pointer. Private to SampleView.

/// An image enlarged by the largest whole factor that fits; large images are scaled down.
class PixelView : public QWidget {
    Q_OBJECT
public:
    explicit PixelView(QWidget* parent = nullptr);
    void setImage(const Image& image);
    QRect pictureRect() const;
    /// The height that the picture has when it is shown in `room`.
    int heightIn(const QSize& room) const;

Q_SIGNALS:
    void pointed(const QString& text);  ///< "row 3, column 4: 255, 0, 12"; empty when it leaves

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QSize sizeIn(const QSize& room) const;

    Image m_image;
    QImage m_picture;
};

/// A text with visible boundaries between its pieces.
class ReadStrip : public TokenView {
    Q_OBJECT
public:
    explicit ReadStrip(QWidget* parent = nullptr);
    void setSequence(const ProbeSequence& sequence);

Q_SIGNALS:
    void pointed(const QString& text);  ///< "token 3 “ball”, id 17"

protected:
    TokenLook look(int index) const override;
    void hoverMoved(int before, int now) override;
    void pressed(int index, Qt::KeyboardModifiers modifiers) override;
    int current(Qt::KeyboardModifiers) const override { return m_current; }

private:
    void tell(int index);

    std::vector<std::int64_t> m_ids;
    int m_current = 0;
};

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
    QRect pictureRect() const;  ///< place of the image on this widget; null without an image
    QString labelText() const;  ///< "label yes"
    QWidget* picture() const;   ///< the widget that shows the sample
    TileView* tiles() const { return m_tiles; }
    /// The vectors of objects, one per line, the pieces of a text, or pixels.
    QString csv() const;
    /// The sample as a picture with its label, whose size does not depend on the window.
    std::unique_ptr<QWidget> figure() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();
    int besides() const;
    int wantedHeight() const;

    ShownSample m_shown;
    QStringList m_names;
    QStackedWidget* m_stack;
    QWidget* m_empty;
    PixelView* m_image;
    TileView* m_tiles;
    ReadStrip* m_text;
    QLabel *m_label, *m_pixel;
    ElidedLabel* m_origin;
};

}  // namespace relascope::widgets
