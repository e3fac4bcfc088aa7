// SPDX-License-Identifier: GPL-3.0-or-later
// The row below the inspector: the exact numbers of one cell.
#pragma once

#include "widgets/theme/controls.h"

namespace relascope::widgets {

class ViewChoice;

class CellFooter : public Box {
public:
    explicit CellFooter(QWidget* parent);

    /// Shows the cell at the pointer, or the chosen one.
    void display(const ViewChoice& choice);
    void setHintShown(bool shown) { m_hint->setVisible(shown); }

private:
    QLabel *m_text, *m_hint;
};

}  // namespace relascope::widgets
