// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/text_pair.h"

#include <QLabel>
#include <QVBoxLayout>

#include "widgets/source/token_strip.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int spacing = 4, titleHeight = 16, shortest = 28;

QLabel* title(QWidget* parent) {
    QLabel* label = mutedLabel({}, parent);
    label->setFont(captionFont());
    label->setFixedHeight(titleHeight);
    return label;
}

}  // namespace

TextPair::TextPair(QWidget* parent)
    : QWidget(parent),
      m_fromTitle(title(this)),
      m_toTitle(title(this)),
      m_from(new TokenStrip(this)),
      m_to(new TokenStrip(this)) {
    setAccessibleName(QStringLiteral("Two texts"));
    m_from->setRole(TokenStrip::Role::Receives);
    m_to->setRole(TokenStrip::Role::Sends);
    auto* column = columnOf(this, {}, spacing);
    column->addWidget(m_fromTitle);
    column->addWidget(m_from, 100);
    column->addWidget(m_toTitle);
    column->addWidget(m_to, 200);
    column->addStretch(1);
    for (TokenStrip* strip : {m_from, m_to})
        connect(strip, &TokenStrip::contentResized, this, &TextPair::fit);
    connect(m_from, &TokenStrip::rowHovered, this, &TextPair::rowHovered);
    connect(m_from, &TokenStrip::sourceChosen, this, &TextPair::sourceChosen);
    connect(m_to, &TokenStrip::hovered, this, &TextPair::hovered);
    connect(m_to, &TokenStrip::targetChosen, this, &TextPair::targetChosen);
    fit();
}

/// A short text gets its preferred height, so that the other one is directly below.
void TextPair::fit() {
    for (TokenStrip* strip : {m_from, m_to}) {
        strip->setMinimumHeight(shortest);
        strip->setMaximumHeight(qMax(shortest, strip->contentHeight()));
    }
}

int TextPair::contentHeight() const {
    return 2 * titleHeight + 4 * spacing + qMax(shortest, m_from->contentHeight()) +
           qMax(shortest, m_to->contentHeight());
}

void TextPair::setTexts(const QString& from, const std::vector<std::string>& rows,
                        const QString& to, const std::vector<std::string>& columns) {
    m_fromTitle->setText(from);
    m_toTitle->setText(to);
    m_from->setAccessibleName(from);
    m_to->setAccessibleName(to);
    m_from->setTokens(rows);
    m_to->setTokens(columns);
}

}  // namespace relascope::widgets
