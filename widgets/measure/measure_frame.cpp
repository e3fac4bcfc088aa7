// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/measure_frame.h"

#include <QPainter>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

MeasureFrame::MeasureFrame(const QString& title, const QString& name, QWidget* parent)
    : QWidget(parent),
      m_head(new PanelHead(title, this)),
      m_stack(new QStackedLayout),
      m_empty(new EmptyState({}, {}, this)),
      m_results(new QWidget(this)),
      m_content(columnOf(m_results)) {
    setAccessibleName(title);
    auto* more = iconButton("more", QStringLiteral("%1: copy, save").arg(title), this);
    m_head->addControl(more);
    m_menu = new ViewMenu(
        more, this, [name] { return name; }, [this] { return csv(); });
    m_menu->paintVector = [this](QPainter& painter) { paintFigure(painter); };
    m_menu->wholeSize = [this] { return figureSize(); };
    m_menu->caption = [this] { return m_caption; };
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_results);
    auto* column = columnOf(this);
    column->addWidget(m_head);
    column->addLayout(m_stack, 1);
    more->setEnabled(false);
}

void MeasureFrame::clear(const QString& sentence) {
    m_sentence = sentence;
    m_empty->setSentence(sentence);
    m_empty->setAccessibleName(sentence);
    m_head->setSubText({});
    m_stack->setCurrentWidget(m_empty);
    static_cast<QToolButton*>(m_menu->parent())->setEnabled(false);
}

void MeasureFrame::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), Theme::current().panel);
}

bool MeasureFrame::isEmpty() const {
    return m_stack->currentWidget() == m_empty;
}
QString MeasureFrame::headText() const {
    return m_head->subText();
}

void MeasureFrame::showResults() {
    m_sentence.clear();
    m_stack->setCurrentWidget(m_results);
    static_cast<QToolButton*>(m_menu->parent())->setEnabled(true);
}

}  // namespace relascope::widgets
