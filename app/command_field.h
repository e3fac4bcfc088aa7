// SPDX-License-Identifier: GPL-3.0-or-later
// The field in the menu bar's corner that opens the command palette.
#pragma once

#include <QAbstractButton>

namespace relascope::app {

class CommandField : public QAbstractButton {
    Q_OBJECT
public:
    explicit CommandField(QWidget* parent = nullptr);
    QSize sizeHint() const override { return {240, 30}; }

protected:
    void paintEvent(QPaintEvent* event) override;
};

}  // namespace relascope::app
