// SPDX-License-Identifier: GPL-3.0-or-later
// The image under its patch grid: the chosen patch i outlined, the others tinted by the value
// towards them, the class token as a chip beside it, or below where it is as wide as the pane.
// Masked values and NaN have neither tint nor number.
#pragma once

#include <vector>

#include <QImage>
#include <QRect>
#include <QString>
#include <QWidget>

#include "types/relation_map.h"
#include "widgets/source/linked_view.h"
#include "widgets/source/pictures.h"

namespace relascope::widgets {

// Names of the tokens of a vision model, and the image patches they represent.

/// The mark of a row or column on the axis of a map.
struct AxisToken {
    QString label;        ///< short: "cls", "0,2", "17"
    QString name;         ///< in a sentence: "class token", "patch (0, 2)"
    QImage picture;       ///< null where there is none
    bool byName = false;  ///< the label is ambiguous: two tokens may have the same text
    QString place;        ///< place of a piece of text, for the box at the pointer: 39 “ball”
};

/// Patch of a token, -1 for a token before the patches or beyond the grid.
int patchOfToken(const PatchGrid& grid, int token);
int tokenOfPatch(const PatchGrid& grid, int patch);
/// "patch (row, column)", "class token", "register 2" or, without a grid, "token 7".
QString tokenName(const PatchGrid& grid, int token);
/// "(row,column)", "cls" or "7".
QString tokenLabel(const PatchGrid& grid, int token);
/// The pixels of a patch in an image of that size.
QRect patchRect(const PatchGrid& grid, int patch, const QSize& image);

/// The marks of `count` tokens of a sample, or of its own number if 0.
std::vector<AxisToken> patchTokens(const ProbeResult& result, int count);
/// Marks with numbers only, for the symbols of a library.
std::vector<AxisToken> numberedTokens(int count, const QString& word);

class PatchView : public QWidget, public LinkedView {
    Q_OBJECT
public:
    explicit PatchView(QWidget* parent = nullptr);

    void setImage(const Image& image, const PatchGrid& grid);
    /// The patches are senders only: i is chosen elsewhere, and a click or an arrow key chooses j.
    void setTargetsOnly(bool on);
    bool targetsOnly() const { return m_targetsOnly; }

    const PatchGrid& grid() const { return m_grid; }
    /// Where a token is drawn: its patch, or the chip of a token before the patches.
    QRect tokenRect(int token) const;
    int tokenAt(const QPoint& point) const;  ///< -1 outside
    QRect imageRect() const { return m_place; }

    QSize sizeHint() const override { return {252, 284}; }
    QSize minimumSizeHint() const override { return {96, 96}; }

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
    int receivers() const override { return m_grid.tokens(); }
    int senders() const override { return m_grid.tokens(); }
    int pointedSender() const override { return m_hover; }
    void touch(bool sender, int token) override;
    void touchAll() override { update(); }
    void describe() override;

private:
    void layOut();
    bool isSource(int token) const { return token == source() && !m_targetsOnly; }
    int moved(int token, int key) const;
    void setHover(int token);
    QString numberOf(int token) const;
    void paintPatch(QPainter& painter, int patch);
    void paintMarks(QPainter& painter);
    void paintChip(QPainter& painter, int token);

    QImage m_image;
    PatchGrid m_grid;
    QRect m_place;  ///< where the image is drawn
    int m_hover = -1;
    bool m_targetsOnly = false;
    std::vector<QRect> m_chips;  ///< chips of the tokens before the patches
};

}  // namespace relascope::widgets
