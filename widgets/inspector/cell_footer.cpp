// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/cell_footer.h"

#include <QHBoxLayout>

#include "widgets/inspector/view_choice.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

CellFooter::CellFooter(QWidget* parent) : Box(&Theme::alt, true, parent) {
    setFixedHeight(28);
    auto* row = rowOf(this, {16, 1, 16, 0}, 16);
    m_text = new QLabel(this);
    m_text->setTextFormat(Qt::RichText);
    m_text->setFont(numberFont(12));
    m_text->setAccessibleName(QStringLiteral("Values of the cell"));
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_text->setMinimumWidth(200);
    m_hint = new ElidedLabel(QStringLiteral("click to lock i, arrow keys to move it"), this);
    m_hint->setFont(smallFont());
    m_hint->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_hint->setForegroundRole(QPalette::PlaceholderText);
    row->addWidget(m_text, 1);
    row->addWidget(m_hint);
}

void CellFooter::display(const ViewChoice& choice) {
    m_text->setText(choice.footer(true));
    m_text->setAccessibleDescription(choice.footer());
    m_text->setToolTip(plainTip(choice.footer()));  // half a window may not hold it all
}

}  // namespace relascope::widgets
