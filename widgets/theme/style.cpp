// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme/style.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QScrollBar>
#include <QSlider>
#include <QStyleOption>
#include <QTabBar>
#include <QTreeView>

#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

template <class Option>
const Option* as(const QStyleOption* option) {
    return qstyleoption_cast<const Option*>(option);
}

bool insideField(const QWidget* widget) {
    return widget && widget->parentWidget() &&
           (qobject_cast<QAbstractSpinBox*>(widget->parentWidget()) ||
            qobject_cast<QComboBox*>(widget->parentWidget()));
}

}  // namespace

void RelascopeStyle::polish(QWidget* widget) {
    StyleMetrics::polish(widget);
    if (qobject_cast<QAbstractButton*>(widget) || qobject_cast<QComboBox*>(widget) ||
        qobject_cast<QAbstractSpinBox*>(widget) || qobject_cast<QScrollBar*>(widget) ||
        qobject_cast<QSlider*>(widget) || qobject_cast<QTabBar*>(widget) ||
        qobject_cast<QHeaderView*>(widget))
        widget->setAttribute(Qt::WA_Hover);
    // Qt's own file dialog, where the system has none: sizes and kinds would be cut.
    if (auto* files = qobject_cast<QTreeView*>(widget);
        files && files->window()->inherits("QFileDialog") && files->header()->count() > 0) {
        files->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
        files->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    }
}

void RelascopeStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option,
                                   QPainter* painter, const QWidget* widget) const {
    const Theme& t = Theme::current();
    const QColor ink = option->state & State_Enabled ? t.text : t.faint;
    using paint::Direction;
    switch (element) {
        case PE_PanelButtonCommand:
            return paint::button(*painter, *option, widget);
        case PE_PanelButtonTool:
            return paint::toolButton(*painter, *option, widget);
        case PE_FrameDefaultButton:
            return;
        case PE_FrameButtonTool:
            return;
        case PE_FrameFocusRect:
            if (!qobject_cast<const QAbstractButton*>(widget) || widget->inherits("QCheckBox") ||
                widget->inherits("QRadioButton"))
                paint::focusRing(*painter, option->rect, 3);
            return;
        case PE_PanelLineEdit:
            if (insideField(widget)) return;
            if (const auto* frame = as<QStyleOptionFrame>(option); frame && frame->lineWidth > 0)
                paint::field(*painter, *option, widget);
            else
                painter->fillRect(option->rect, option->palette.brush(QPalette::Base));
            return;
        case PE_FrameLineEdit:
            return;
        case PE_Frame:
            if (paint::flag(widget, "field")) return paint::field(*painter, *option, widget);
            [[fallthrough]];
        case PE_FrameGroupBox:
        case PE_FrameTabWidget:
        case PE_FrameMenu:
        case PE_FrameDockWidget:
            painter->setPen(t.border);
            painter->setBrush(Qt::NoBrush);
            painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
            return;
        case PE_PanelMenu:
            painter->setPen(t.controlBorder);
            painter->setBrush(t.panel);
            painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
            return;
        case PE_PanelTipLabel:
            painter->setPen(t.controlBorder);
            painter->setBrush(t.alt);
            painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
            return;
        case PE_PanelStatusBar:
        case PE_FrameStatusBarItem:
        case PE_PanelToolBar:
        case PE_PanelMenuBar:
        case PE_FrameWindow:
            return;
        case PE_FrameTabBarBase:
            painter->fillRect(
                QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1),
                t.border);
            return;
        case PE_IndicatorCheckBox:
        case PE_IndicatorItemViewItemCheck:
            return paint::checkBox(*painter, *option);
        case PE_IndicatorRadioButton:
            return paint::radioButton(*painter, *option);
        case PE_IndicatorArrowDown:
        case PE_IndicatorSpinDown:
        case PE_IndicatorButtonDropDown:
            return paint::chevron(*painter, option->rect, Direction::Down, ink, 3.5);
        case PE_IndicatorArrowUp:
        case PE_IndicatorSpinUp:
            return paint::chevron(*painter, option->rect, Direction::Up, ink, 3.5);
        case PE_IndicatorArrowLeft:
            return paint::chevron(*painter, option->rect, Direction::Left, ink, 3.5);
        case PE_IndicatorArrowRight:
            return paint::chevron(*painter, option->rect, Direction::Right, ink, 3.5);
        case PE_IndicatorHeaderArrow:
            if (const auto* header = as<QStyleOptionHeader>(option);
                header && header->sortIndicator != QStyleOptionHeader::None)
                paint::chevron(*painter, option->rect,
                               header->sortIndicator == QStyleOptionHeader::SortDown
                                   ? Direction::Down
                                   : Direction::Up,
                               t.muted, 3.5);
            return;
        case PE_IndicatorBranch:
            if (option->state & State_Children)
                paint::chevron(*painter, option->rect,
                               option->state & State_Open ? Direction::Down : Direction::Right,
                               t.text, 3.5);
            return;
        case PE_PanelItemViewRow:
        case PE_PanelItemViewItem:
            if (const auto* item = as<QStyleOptionViewItem>(option)) {
                if (item->backgroundBrush.style() != Qt::NoBrush)
                    painter->fillRect(item->rect, item->backgroundBrush);
                if (item->state & State_Selected)
                    painter->fillRect(item->rect, t.selection);
                else if (item->state & State_MouseOver && item->state & State_Enabled &&
                         element == PE_PanelItemViewItem)
                    painter->fillRect(item->rect, t.hover);
            }
            return;
        case PE_PanelScrollAreaCorner:
            painter->fillRect(option->rect, t.panel);
            return;
        case PE_IndicatorToolBarSeparator:
            painter->fillRect(QRect(option->rect.center().x(), option->rect.top() + 6, 1,
                                    option->rect.height() - 12),
                              t.border);
            return;
        default:
            StyleMetrics::drawPrimitive(element, option, painter, widget);
    }
}

void RelascopeStyle::drawControl(ControlElement element, const QStyleOption* option,
                                 QPainter* painter, const QWidget* widget) const {
    const Theme& t = Theme::current();
    const bool enabled = option->state & State_Enabled;
    switch (element) {
        case CE_PushButtonLabel:
            if (const auto* b = as<QStyleOptionButton>(option))
                return paint::buttonLabel(*painter, *b, widget);
            break;
        case CE_ToolButtonLabel:
            if (const auto* b = as<QStyleOptionToolButton>(option)) {
                QStyleOptionToolButton copy = *b;
                const bool primary = paint::flag(widget, "primary") && enabled;
                const QColor ink = primary                 ? t.onAccent
                                   : !enabled              ? t.faint
                                   : copy.state & State_On ? t.accent
                                                           : t.text;
                copy.palette.setColor(QPalette::ButtonText, ink);
                if (copy.state & State_On && enabled && !copy.text.isEmpty())
                    copy.font.setWeight(QFont::Medium);
                copy.state &= ~State_Sunken & ~State_HasFocus;
                return StyleMetrics::drawControl(element, &copy, painter, widget);
            }
            break;
        case CE_PushButtonBevel:
            return paint::button(*painter, *option, widget);
        case CE_TabBarTabShape:
            return;
        case CE_TabBarTabLabel:
            if (const auto* tab = as<QStyleOptionTab>(option)) return paint::tab(*painter, *tab);
            break;
        case CE_HeaderSection:
            painter->fillRect(option->rect, t.alt);
            if (const auto* h = as<QStyleOptionHeader>(option); h && h->orientation == Qt::Vertical)
                painter->fillRect(
                    QRect(option->rect.right(), option->rect.top(), 1, option->rect.height()),
                    t.border);
            painter->fillRect(
                QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1),
                t.border);
            return;
        case CE_HeaderEmptyArea:
            painter->fillRect(option->rect, t.alt);
            painter->fillRect(
                QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1),
                t.border);
            return;
        case CE_HeaderLabel:
            if (const auto* h = as<QStyleOptionHeader>(option)) {
                painter->save();
                painter->setPen(enabled ? t.muted : t.faint);
                const QString text =
                    h->fontMetrics.elidedText(h->text, Qt::ElideRight, h->rect.width());
                // The box of the label is lower than a line, so descenders need extra space.
                painter->drawText(h->rect.adjusted(0, -6, 0, 6),
                                  static_cast<int>(h->textAlignment) | Qt::AlignVCenter, text);
                painter->restore();
                return;
            }
            break;
        case CE_Splitter:
            painter->fillRect(option->rect, t.border);
            return;
        case CE_MenuBarEmptyArea:
            painter->fillRect(option->rect, t.panel);
            return;
        case CE_MenuBarItem:
            if (const auto* item = as<QStyleOptionMenuItem>(option)) {
                painter->fillRect(item->rect, t.panel);
                if (item->state & State_Selected && enabled)
                    paint::frame(*painter, item->rect.adjusted(1, 3, -1, -3), t.hover, QColor());
                painter->setPen(enabled ? t.text : t.faint);
                painter->drawText(item->rect, Qt::AlignCenter | Qt::TextShowMnemonic, item->text);
                return;
            }
            break;
        case CE_MenuItem:
            if (const auto* item = as<QStyleOptionMenuItem>(option))
                return paint::menuItem(*painter, *item);
            break;
        case CE_ProgressBar:
            if (const auto* bar = as<QStyleOptionProgressBar>(option))
                return paint::progress(*painter, *bar);
            break;
        case CE_ShapedFrame:
            if (const auto* f = as<QStyleOptionFrame>(option)) {
                if (f->frameShape == QFrame::HLine)
                    return painter->fillRect(
                        QRect(f->rect.left(), f->rect.center().y(), f->rect.width(), 1), t.border);
                if (f->frameShape == QFrame::VLine)
                    return painter->fillRect(
                        QRect(f->rect.center().x(), f->rect.top(), 1, f->rect.height()), t.border);
            }
            break;
        case CE_ComboBoxLabel:
            if (const auto* box = as<QStyleOptionComboBox>(option)) {
                QRect edit = subControlRect(CC_ComboBox, box, SC_ComboBoxEditField, widget);
                painter->save();
                if (!box->currentIcon.isNull()) {
                    box->currentIcon.paint(
                        painter, QRect(edit.left(), edit.center().y() - 7, 16, 16), Qt::AlignCenter,
                        enabled ? QIcon::Normal : QIcon::Disabled);
                    edit.adjust(20, 0, 0, 0);
                }
                painter->setPen(enabled ? t.text : t.faint);
                if (!box->editable)
                    painter->drawText(edit, Qt::AlignVCenter | Qt::AlignLeft,
                                      box->fontMetrics.elidedText(box->currentText, Qt::ElideRight,
                                                                  edit.width()));
                painter->restore();
                return;
            }
            break;
        case CE_ItemViewItem:
            if (const auto* item = as<QStyleOptionViewItem>(option)) {
                // The selection fill is pale, so the text on it keeps its colour.
                QStyleOptionViewItem copy = *item;
                for (const auto group : {QPalette::Active, QPalette::Inactive})
                    copy.palette.setColor(group, QPalette::HighlightedText,
                                          copy.palette.color(group, QPalette::Text));
                copy.palette.setColor(QPalette::Highlight, t.selection);
                copy.state &= ~State_HasFocus;
                StyleMetrics::drawControl(element, &copy, painter, widget);
                return paint::cellFocus(*painter, *item);
            }
            break;
        case CE_ToolBar:
            painter->fillRect(option->rect, t.panel);
            return;
        default:
            break;
    }
    StyleMetrics::drawControl(element, option, painter, widget);
}

void RelascopeStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                                        QPainter* painter, const QWidget* widget) const {
    const Theme& t = Theme::current();
    const QColor ink = option->state & State_Enabled ? t.text : t.faint;
    using paint::Direction;
    switch (control) {
        case CC_ComboBox:
            if (const auto* box = as<QStyleOptionComboBox>(option)) {
                if (box->frame) paint::field(*painter, *option, widget);
                if (box->frame && box->state & State_MouseOver && box->state & State_Enabled &&
                    !(box->state & State_HasFocus) && !box->editable)
                    paint::frame(*painter, option->rect, t.hover, t.controlBorder);
                paint::chevron(*painter, subControlRect(control, option, SC_ComboBoxArrow, widget),
                               Direction::Down, ink, 3.5);
                return;
            }
            break;
        case CC_SpinBox:
            if (const auto* box = as<QStyleOptionSpinBox>(option)) {
                if (box->frame) paint::field(*painter, *option, widget);
                if (box->buttonSymbols == QAbstractSpinBox::NoButtons) return;
                const auto arrow = [&](SubControl part, bool can, Direction direction) {
                    const QRect r = subControlRect(control, option, part, widget);
                    if (option->activeSubControls & part && can)
                        paint::frame(*painter, r.adjusted(1, 1, -1, -1), t.hover, QColor(), 2);
                    paint::chevron(*painter, r, direction,
                                   can && option->state & State_Enabled ? t.text : t.faint, 3);
                };
                arrow(SC_SpinBoxUp, box->stepEnabled & QAbstractSpinBox::StepUpEnabled,
                      Direction::Up);
                arrow(SC_SpinBoxDown, box->stepEnabled & QAbstractSpinBox::StepDownEnabled,
                      Direction::Down);
                return;
            }
            break;
        case CC_ToolButton:
            if (const auto* button = as<QStyleOptionToolButton>(option)) {
                QStyleOptionToolButton copy = *button;
                // The icon already indicates a menu, so no arrow is drawn.
                if (button->text.isEmpty()) copy.features &= ~QStyleOptionToolButton::HasMenu;
                // An auto-raise button also has a panel, with the focus ring, while it has the
                // keyboard focus.
                if (paint::keyboardFocus(*button)) copy.state &= ~State_AutoRaise;
                return StyleMetrics::drawComplexControl(control, &copy, painter, widget);
            }
            break;
        case CC_ScrollBar:
            if (const auto* bar = as<QStyleOptionSlider>(option))
                return paint::scrollBar(
                    *painter, *bar, subControlRect(control, option, SC_ScrollBarSlider, widget));
            break;
        case CC_Slider:
            if (const auto* bar = as<QStyleOptionSlider>(option))
                return paint::slider(*painter, *bar,
                                     subControlRect(control, option, SC_SliderGroove, widget),
                                     subControlRect(control, option, SC_SliderHandle, widget));
            break;
        default:
            break;
    }
    StyleMetrics::drawComplexControl(control, option, painter, widget);
}

}  // namespace relascope::widgets
