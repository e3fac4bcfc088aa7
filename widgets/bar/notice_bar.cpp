// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/bar/notice_bar.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kHeight = 36, kIcon = 16;

}  // namespace

NoticeBar::NoticeBar(const QString& sentence, QWidget* parent)
    : QWidget(parent), m_label(new ElidedLabel(sentence, this)), m_buttons(new QHBoxLayout) {
    setFixedHeight(kHeight);
    setAccessibleName(QStringLiteral("Notice"));
    setAccessibleDescription(sentence);
    auto* row = rowOf(this, {12 + kIcon + 8, 0, 8, 1}, 8);
    row->addWidget(m_label, 1);
    m_buttons->setSpacing(8);
    row->addLayout(m_buttons);
    auto* cross = iconButton("close", QStringLiteral("Close this notice"), this);
    row->addWidget(cross);
    connect(cross, &QToolButton::clicked, this, [this] {
        hide();
        Q_EMIT closed();
        deleteLater();
    });
}

QPushButton* NoticeBar::addButton(const QString& text) {
    auto* button = new QPushButton(text, this);
    button->setFont(smallFont());
    button->setAutoDefault(false);
    m_buttons->addWidget(button);
    return button;
}

QString NoticeBar::sentence() const {
    return m_label->text();
}

void NoticeBar::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), t.warningFill);
    painter.fillRect(QRect(0, height() - 1, width(), 1), t.border);
    painter.drawPixmap(12, (height() - kIcon) / 2,
                       iconPixmap("warning", t.warning, kIcon, devicePixelRatioF()));
}

}  // namespace relascope::widgets
