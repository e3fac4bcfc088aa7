// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme/style_metrics.h"

#include <QAbstractSpinBox>
#include <QStyleOption>

#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"

namespace relascope::widgets {

StyleMetrics::StyleMetrics() : QProxyStyle(QStringLiteral("Fusion")) {}

QRect StyleMetrics::subControlRect(ComplexControl control, const QStyleOptionComplex* option,
                                   SubControl part, const QWidget* widget) const {
    const QRect r = option->rect;
    if (control == CC_ComboBox) {
        QRect place = r;
        if (part == SC_ComboBoxArrow) place = QRect(r.right() - 20, r.top(), 18, r.height());
        if (part == SC_ComboBoxEditField) place = r.adjusted(8, 1, -22, -1);
        return visualRect(option->direction, r, place);
    }
    if (control == CC_SpinBox) {
        const auto* box = qstyleoption_cast<const QStyleOptionSpinBox*>(option);
        const bool buttons = !box || box->buttonSymbols != QAbstractSpinBox::NoButtons;
        const int half = r.height() / 2;
        QRect place = r;
        if (part == SC_SpinBoxUp)
            place = buttons ? QRect(r.right() - 18, r.top() + 1, 17, half - 1) : QRect();
        if (part == SC_SpinBoxDown)
            place = buttons ? QRect(r.right() - 18, r.top() + half, 17, half - 1) : QRect();
        if (part == SC_SpinBoxEditField) place = r.adjusted(6, 2, buttons ? -20 : -4, -2);
        return visualRect(option->direction, r, place);
    }
    if (control == CC_ScrollBar) {
        const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option);
        if (!bar) return {};
        const bool upright = bar->orientation == Qt::Vertical;
        const int length = upright ? r.height() : r.width();
        const qint64 range = static_cast<qint64>(bar->maximum) - bar->minimum;
        int thumb = length;
        if (range > 0)
            thumb = qBound(24,
                           static_cast<int>(static_cast<qint64>(length) * bar->pageStep /
                                            (range + bar->pageStep)),
                           length);
        const int start = sliderPositionFromValue(bar->minimum, bar->maximum, bar->sliderPosition,
                                                  length - thumb, bar->upsideDown);
        const auto span = [&](int from, int size) {
            return upright ? QRect(r.left(), r.top() + from, r.width(), size)
                           : QRect(r.left() + from, r.top(), size, r.height());
        };
        switch (part) {
            case SC_ScrollBarSlider:
                return span(start, thumb);
            case SC_ScrollBarGroove:
                return r;
            case SC_ScrollBarSubPage:
                return span(0, start);
            case SC_ScrollBarAddPage:
                return span(start + thumb, length - start - thumb);
            default:
                return {};
        }
    }
    return QProxyStyle::subControlRect(control, option, part, widget);
}

QRect StyleMetrics::subElementRect(SubElement element, const QStyleOption* option,
                                   const QWidget* widget) const {
    if (element == SE_LineEditContents) {
        const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
        if (frame && frame->lineWidth > 0) return option->rect.adjusted(6, 1, -6, -1);
        return option->rect;
    }
    if (element == SE_CheckBoxFocusRect || element == SE_RadioButtonFocusRect) return option->rect;
    return QProxyStyle::subElementRect(element, option, widget);
}

QSize StyleMetrics::sizeFromContents(ContentsType type, const QStyleOption* option,
                                     const QSize& contents, const QWidget* widget) const {
    switch (type) {
        case CT_PushButton: {
            const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
            int width = contents.width() + 22;
            if (button && button->features & QStyleOptionButton::HasMenu) width += 16;
            if (button && !button->icon.isNull()) width += 4;
            const bool bare = button && button->text.isEmpty();
            return {bare ? 28 : width, paint::flag(widget, "compact") ? 24 : 28};
        }
        case CT_LineEdit:
            return {contents.width() + 12, 24};
        case CT_SpinBox:
            return {contents.width() + 28, 24};
        case CT_ComboBox:
            return {contents.width() + 32, 24};
        case CT_ToolButton:
            return {qMax(24, contents.width() + 8), qMax(24, contents.height() + 4)};
        case CT_TabBarTab:
            return {QProxyStyle::sizeFromContents(type, option, contents, widget).width() + 8, 35};
        case CT_MenuBarItem:
            return {contents.width() + 18, 30};
        case CT_MenuItem: {
            const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option);
            if (!item) break;
            if (item->menuItemType == QStyleOptionMenuItem::Separator && item->text.isEmpty())
                return {10, 9};
            const auto parts = item->text.split(u'\t');
            int width = item->fontMetrics.size(Qt::TextShowMnemonic, parts.value(0)).width() + 60;
            if (parts.size() > 1 || item->reservedShortcutWidth > 0)
                width += 24 + qMax(item->reservedShortcutWidth,
                                   item->fontMetrics.horizontalAdvance(parts.value(1)));
            return {width, 26};
        }
        case CT_HeaderSection:
            return {QProxyStyle::sizeFromContents(type, option, contents, widget).width(), 27};
        case CT_ItemViewItem: {
            const QSize size = QProxyStyle::sizeFromContents(type, option, contents, widget);
            return {size.width(), qMax(26, size.height())};
        }
        case CT_ProgressBar:
            return {contents.width(), qMax(4, contents.height())};
        default:
            break;
    }
    return QProxyStyle::sizeFromContents(type, option, contents, widget);
}

int StyleMetrics::pixelMetric(PixelMetric metric, const QStyleOption* option,
                              const QWidget* widget) const {
    switch (metric) {
        case PM_DefaultFrameWidth:
        case PM_SplitterWidth:
        case PM_MenuPanelWidth:
        case PM_ToolTipLabelFrameWidth:
        case PM_SpinBoxFrameWidth:
        case PM_ComboBoxFrameWidth:
            return 1;
        case PM_MenuVMargin:
            return 4;
        case PM_MenuHMargin:
        case PM_MenuBarPanelWidth:
        case PM_MenuBarHMargin:
        case PM_MenuBarVMargin:
        case PM_MenuBarItemSpacing:
        case PM_TabBarTabShiftHorizontal:
        case PM_TabBarTabShiftVertical:
        case PM_TabBarTabOverlap:
        case PM_TabBarBaseOverlap:
        case PM_ButtonShiftHorizontal:
        case PM_ButtonShiftVertical:
        case PM_ScrollView_ScrollBarSpacing:
        case PM_ToolBarFrameWidth:
        case PM_ToolBarItemMargin:
        case PM_MenuButtonIndicator:
            return 0;
        case PM_ScrollBarExtent:
            return 10;
        case PM_ScrollBarSliderMin:
            return 24;
        case PM_IndicatorWidth:
        case PM_IndicatorHeight:
        case PM_ExclusiveIndicatorWidth:
        case PM_ExclusiveIndicatorHeight:
            return 14;
        case PM_CheckBoxLabelSpacing:
        case PM_RadioButtonLabelSpacing:
            return 6;
        case PM_SmallIconSize:
        case PM_ButtonIconSize:
        case PM_ToolBarIconSize:
        case PM_ListViewIconSize:
        case PM_TabBarIconSize:
            return 16;
        case PM_SliderThickness:
        case PM_SliderControlThickness:
        case PM_SliderLength:
            return 14;
        case PM_HeaderMargin:
            return 8;
        case PM_TreeViewIndentation:
            return 18;
        case PM_LayoutHorizontalSpacing:
        case PM_LayoutVerticalSpacing:
            return 8;
        default:
            return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

int StyleMetrics::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                            QStyleHintReturn* result) const {
    switch (hint) {
        case SH_EtchDisabledText:
        case SH_DitherDisabledText:
        case SH_ComboBox_Popup:
        case SH_DialogButtonBox_ButtonsHaveIcons:
        case SH_Widget_Animation_Duration:
        case SH_Widget_Animate:
        case SH_ScrollBar_Transient:
        case SH_DrawMenuBarSeparator:
        case SH_TabBar_ElideMode:
            return 0;
        case SH_ItemView_ShowDecorationSelected:
        case SH_ScrollBar_MiddleClickAbsolutePosition:
            return 1;
        case SH_ToolTipLabel_Opacity:
            return 255;
        case SH_Slider_AbsoluteSetButtons:
            return Qt::LeftButton;
        case SH_TabBar_Alignment:
            return Qt::AlignLeft;
        default:
            return QProxyStyle::styleHint(hint, option, widget, result);
    }
}

QIcon StyleMetrics::standardIcon(StandardPixmap standard, const QStyleOption* option,
                                 const QWidget* widget) const {
    switch (standard) {
        case SP_MessageBoxWarning:
            return icon("warning");
        case SP_MessageBoxCritical:
            return icon("error");
        case SP_MessageBoxQuestion:
            return icon("help");
        case SP_DirIcon:
        case SP_DirOpenIcon:
        case SP_DirClosedIcon:
            return icon("folder");
        case SP_LineEditClearButton:
        case SP_TitleBarCloseButton:
        case SP_DialogCloseButton:
            return icon("close");
        default:
            return QProxyStyle::standardIcon(standard, option, widget);
    }
}

}  // namespace relascope::widgets
