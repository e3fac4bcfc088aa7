// SPDX-License-Identifier: GPL-3.0-or-later
// A drawing of what a relational head computes: r_ij, i -> j and alpha.
#pragma once

#include <QWidget>

namespace relascope::widgets {

/// One receiver i, three senders j and the arrows between them, in the colours of the theme: the
/// sign and size of r_ij as a colour, alpha_ij as the width of the arrow.
class RelationPrimer : public QWidget {
    Q_OBJECT
public:
    explicit RelationPrimer(QWidget* parent = nullptr);
    QSize sizeHint() const override;

    /// The explanation of the drawing.
    static QString text();

protected:
    void paintEvent(QPaintEvent* event) override;
};

}  // namespace relascope::widgets
