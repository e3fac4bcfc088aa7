// SPDX-License-Identifier: GPL-3.0-or-later
// One position of a logit lens: the likeliest answers after each layer as bars, and the place of
// the model's own answer among them.
#pragma once

#include <QWidget>

#include "types/lens.h"

namespace relascope::widgets {

class LensBars : public QWidget {
    Q_OBJECT
public:
    explicit LensBars(QWidget* parent = nullptr);

    void setColumn(const LensResult& result, int column);
    int column() const { return m_column; }
    int layoutHeight() const;
    /// What of that width is drawn on.
    int usedWidth(int width) const;
    void paint(QPainter& painter, int width) const;
    /// The line of a layer as text: "layer 2: same 83 %, different 17 %".
    QString text(int row) const;

    QSize sizeHint() const override { return {600, layoutHeight()}; }
    QSize minimumSizeHint() const override { return {300, layoutHeight()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    /// The width of row heads and of an answer, and how many answers there are.
    struct Columns {
        int labels = 0, each = 0, count = 0;
    };
    Columns columns(int width) const;

    LensResult m_result;
    int m_column = -1;
};

}  // namespace relascope::widgets
