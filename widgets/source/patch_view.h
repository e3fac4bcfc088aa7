// SPDX-License-Identifier: GPL-3.0-or-later
// The image under its patch grid: the chosen patch i outlined, the others tinted by the value
// towards them, the class token as a chip below.
#pragma once

#include <QWidget>
#include <vector>

#include "widgets/maps/color_map.h"
#include "widgets/source/patches.h"

namespace relascope {

class PatchView : public QWidget {
    Q_OBJECT
public:
    explicit PatchView(QWidget* parent = nullptr);

    void setImage(const Image& image, const PatchGrid& grid);
    /// One value a token, towards it from i; NaN draws no tint and no number. Empty: no tint at
    /// all.
    void setValues(std::vector<float> values, const ColorScale& scale);
    void setNumberDigits(int digits, bool isSigned);
    void setLabel(const QString& label);  ///< the true class, right below the image; may be empty
    void setSource(int token);            ///< i
    void setTarget(int token);            ///< j, locked; -1 for none
    void setPreview(int token);           ///< j while another pane's pointer shows it; -1 for none
    /// The patches only send: i is chosen elsewhere, and a click or an arrow key chooses j.
    void setTargetsOnly(bool on);
    bool targetsOnly() const { return m_targetsOnly; }

    int source() const { return m_source; }
    int target() const { return m_target; }
    const PatchGrid& grid() const { return m_grid; }
    /// Where a token is drawn: its patch, or the chip of the class token.
    QRect tokenRect(int token) const;
    int tokenAt(const QPoint& point) const;  ///< -1 outside
    QRect imageRect() const { return m_place; }

    QSize sizeHint() const override { return {252, 284}; }
    QSize minimumSizeHint() const override { return {96, 96}; }
    bool hasHeightForWidth() const override { return false; }

Q_SIGNALS:
    void hovered(int token);       ///< -1 when the pointer leaves
    void sourceChosen(int token);  ///< a click, or an arrow key
    void targetChosen(int token);  ///< Shift with a click or an arrow key

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void layOut();
    int shownTarget() const;
    bool isSource(int token) const { return token == m_source && !m_targetsOnly; }
    int moved(int token, int key) const;
    void setHover(int token);
    void updateToken(int token);
    void describe();
    QString numberOf(int token) const;
    float valueOf(int token) const;
    void paintPatch(QPainter& painter, int patch);
    void paintMarks(QPainter& painter);
    void paintClassToken(QPainter& painter);
    void paintLabel(QPainter& painter);
    void paintTag(QPainter& painter, const QRect& patch, const QString& letter, const QColor& edge);

    QImage m_image;
    PatchGrid m_grid;
    std::vector<float> m_values;
    ColorScale m_scale;
    QString m_label;
    QRect m_place;  ///< where the image is drawn
    int m_source = 0;
    int m_target = -1;
    int m_preview = -1;
    int m_hover = -1;
    int m_digits = 2;
    bool m_signedNumbers = true;
    bool m_targetsOnly = false;
};

}  // namespace relascope
