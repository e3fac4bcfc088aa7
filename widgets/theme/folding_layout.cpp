// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme/folding_layout.h"

#include <QComboBox>
#include <QHelpEvent>
#include <QMenu>
#include <QStyleOptionButton>
#include <QStylePainter>
#include <QTextDocumentFragment>
#include <QToolButton>
#include <QToolTip>
#include <algorithm>

#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"

namespace relascope::widgets {

namespace {

constexpr int kLeastTitle = 40;  // px

}  // namespace

FoldingButton::FoldingButton(const QString& text, const char* iconName, QWidget* parent)
    : QPushButton(text, parent), m_icon(iconName) {
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

void FoldingButton::setFolded(bool folded) {
    if (std::exchange(m_folded, folded) != folded) update();
}

QSize FoldingButton::minimumSizeHint() const {
    return {kFoldedWidth, QPushButton::minimumSizeHint().height()};
}

void FoldingButton::paintEvent(QPaintEvent*) {
    QStylePainter painter(this);
    QStyleOptionButton option;
    initStyleOption(&option);
    if (m_folded) {
        option.text.clear();
        option.icon = widgets::icon(m_icon);
        option.iconSize = QSize(16, 16);
    }
    painter.drawControl(QStyle::CE_PushButton, option);
}

bool FoldingButton::event(QEvent* event) {
    if (m_folded && event->type() == QEvent::ToolTip) {
        const QString tip = toolTip().isEmpty() ? text() : text() + u'\n' + toolTip();
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), tip, this);
        return true;
    }
    return QPushButton::event(event);
}

Readout::Readout(QWidget* parent) : QLabel(parent) {
    setTextFormat(Qt::RichText);
    setTextInteractionFlags(Qt::TextSelectableByMouse);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void Readout::setForms(const QStringList& forms) {
    if (forms == m_forms) return;
    m_forms = forms;
    m_widths.assign(static_cast<std::size_t>(forms.size()), -1);
    m_chosen = std::clamp<int>(m_chosen, 0, std::max<int>(0, this->forms() - 1));
    setText(m_forms.value(m_chosen));
    updateGeometry();
    fit();
}

void Readout::fit() {
    if (!m_fitting) return;
    int form = 0;
    while (form + 1 < forms() && widthOf(form) > width()) ++form;
    choose(form);
}

void Readout::resizeEvent(QResizeEvent* event) {
    QLabel::resizeEvent(event);
    fit();
}

int Readout::widthOf(int form) const {
    if (form < 0 || form >= forms()) return 0;
    auto& width = m_widths[static_cast<std::size_t>(form)];
    if (width < 0) {  // the layout asks often: at each move of the pointer over a map
        const QString plain = QTextDocumentFragment::fromHtml(m_forms[form]).toPlainText();
        // Bold digits are wider.
        QFont bold = font();
        bold.setBold(true);
        width = QFontMetrics(bold).horizontalAdvance(plain) + 8;
    }
    return width;
}

void Readout::choose(int form) {
    if (std::exchange(m_chosen, form) != form) setText(m_forms.value(form));
}

FoldingLayout::FoldingLayout(QWidget* parent)
    : QLayout(parent), m_more(iconButton("more", QStringLiteral("More of this bar"), parent)) {
    m_more->hide();
    m_more->setPopupMode(QToolButton::InstantPopup);
}

FoldingLayout::~FoldingLayout() = default;

void FoldingLayout::add(QWidget* widget, Role role, bool right) {
    addChildWidget(widget);
    addItem(new QWidgetItem(widget));
    m_entries.back().role = role, m_entries.back().right = right;
}

void FoldingLayout::addItem(QLayoutItem* item) {
    m_entries.emplace_back().item.reset(item);
    invalidate();
}
int FoldingLayout::count() const {
    return static_cast<int>(m_entries.size());
}
QLayoutItem* FoldingLayout::itemAt(int index) const {
    return index < 0 || index >= count() ? nullptr
                                         : m_entries[static_cast<std::size_t>(index)].item.get();
}
QLayoutItem* FoldingLayout::takeAt(int index) {
    if (index < 0 || index >= count()) return nullptr;
    auto& entry = m_entries[static_cast<std::size_t>(index)];
    if (entry.widget()) setAway(entry, false);
    auto* item = entry.item.release();
    m_entries.erase(m_entries.begin() + index);
    invalidate();
    return item;
}

bool FoldingLayout::Entry::canFold() const {
    return qobject_cast<FoldingButton*>(widget()) || qobject_cast<SegmentedControl*>(widget());
}

FoldingLayout::Role FoldingLayout::Entry::acts() const {
    if (role != Role::Control) return role;
    if (const auto* button = qobject_cast<QToolButton*>(widget()); button && button->menu())
        return Role::Fixed;
    if (const auto* button = qobject_cast<QPushButton*>(widget()); button && button->menu())
        return Role::Fixed;
    if (qobject_cast<QLabel*>(widget())) return Role::Note;
    const bool offered =
        qobject_cast<QAbstractButton*>(widget()) || canFold() || qobject_cast<QComboBox*>(widget());
    return offered ? role : Role::Fixed;
}

int FoldingLayout::Entry::width() const {
    if (item->isEmpty() || away) return 0;
    if (auto* readout = qobject_cast<Readout*>(widget())) return readout->widthOf(form);
    const int least = item->minimumSize().width(), most = item->maximumSize().width();
    return folded ? least + grant
                  : std::clamp(item->sizeHint().width(), least, std::max(least, most));
}

int FoldingLayout::needed() const {
    const auto margins = contentsMargins();
    int width = margins.left() + margins.right(), shown = 0;
    bool away = false;
    for (const auto& entry : m_entries) {
        if (const int one = entry.width()) width += one, ++shown;
        away = away || (entry.away && entry.acts() == Role::Control && !entry.item->isEmpty());
    }
    if (away) width += m_more->sizeHint().width(), ++shown;
    return width + std::max(0, shown - 1) * spacing();
}

void FoldingLayout::setAway(Entry& entry, bool away) {
    if (std::exchange(entry.away, away) == away) return;
    // Its owner shows and hides it; here it is only out of sight, and of the reach of Tab.
    if (away) entry.focus = entry.widget()->focusPolicy();
    entry.widget()->setFocusPolicy(away ? Qt::NoFocus : entry.focus);
}

void FoldingLayout::fold(int width) {
    Entry* value = nullptr;
    int forms = 0;
    for (auto& entry : m_entries) {
        entry.folded = false, entry.grant = entry.form = 0;
        setAway(entry, false);
        if (const auto* readout = qobject_cast<const Readout*>(entry.widget()))
            value = &entry, forms = readout->forms();
    }
    const auto fits = [&] { return needed() <= width; };
    // From the last to the first of a kind.
    const auto each = [&](Role role, auto change) {
        for (auto at = m_entries.rbegin(); at != m_entries.rend() && !fits(); ++at)
            if (at->acts() == role && !at->item->isEmpty()) change(*at);
    };
    const auto leaveOut = [&](Entry& entry) { setAway(entry, true); };
    if (forms > 1 && !fits()) value->form = 1;
    each(Role::Fixed, [](Entry& entry) { entry.folded = true; });
    each(Role::Note, leaveOut);
    each(Role::Control, [](Entry& entry) { entry.folded = entry.canFold(); });
    each(Role::Control, leaveOut);
    each(Role::Answer, leaveOut);
    // Without the answer there may be room for the first ones again.
    for (auto& entry : m_entries) {
        if (!entry.away || entry.acts() != Role::Control || entry.item->isEmpty()) continue;
        setAway(entry, false);
        if (!fits()) setAway(entry, true);
    }
    // A colour scale keeps what it can.
    for (auto& entry : m_entries)
        if (entry.folded && entry.acts() == Role::Fixed && !entry.item->isEmpty() && fits())
            entry.grant = std::min(width - needed(), entry.item->sizeHint().width() -
                                                         entry.item->minimumSize().width());
    for (int form = 2; form < forms && !fits(); ++form) value->form = form;
    // Once, as another text asks for another layout.
    if (value) qobject_cast<Readout*>(value->widget())->choose(value->form);
}

void FoldingLayout::place(const QRect& rect) {
    constexpr QPoint outside(-4000, -4000);
    const auto margins = contentsMargins();
    const QRect room = rect.marginsRemoved(margins);
    int left = room.left(), right = room.right() + 1;
    bool away = false;
    const auto put = [&](Entry& entry, int x, int width) {
        const int height =
            std::min(std::max(entry.item->sizeHint().height(), entry.item->minimumSize().height()),
                     room.height());
        const bool fills = entry.role == Role::Value || entry.role == Role::Title;
        const int tall = fills ? room.height() : height;
        entry.item->setGeometry({x, room.top() + (room.height() - tall) / 2, width, tall});
    };
    std::vector<Entry*> seen;
    for (auto& entry : m_entries) {
        if (entry.item->isEmpty()) continue;
        if (auto* button = qobject_cast<FoldingButton*>(entry.widget()))
            button->setFolded(entry.folded && !entry.away);
        if (entry.away) {
            entry.widget()->move(outside);
            away = away || entry.acts() == Role::Control;
        } else {
            seen.push_back(&entry);
        }
    }
    for (auto at = seen.rbegin(); at != seen.rend(); ++at) {
        if (!(*at)->right) continue;
        const int width = (*at)->width();
        right -= width;
        put(**at, right, width);
        right -= spacing();
    }
    m_more->setVisible(away);
    if (away && !m_menu) {  // few bars ever need one
        m_menu = new QMenu(m_more);
        m_menu->setToolTipsVisible(true);
        m_more->setMenu(m_menu);
        connect(m_menu, &QMenu::aboutToShow, this, &FoldingLayout::fillMenu);
    }
    if (away) {
        const QSize size = m_more->sizeHint();
        right -= size.width();
        m_more->setGeometry(
            {right, room.top() + (room.height() - size.height()) / 2, size.width(), size.height()});
        right -= spacing();
    }
    int rest = right - left;
    for (const auto* entry : seen)
        if (!entry->right) rest -= entry->width() + spacing();
    for (auto* entry : seen) {
        if (entry->right) continue;
        int width = entry->width();
        if (entry->role == Role::Value) width += std::max(0, rest);
        // What is too long all the same gives way; nothing lies on top of anything else.
        width = std::clamp(width, 0, std::max(0, right - left));
        if (entry->role == Role::Title && width < std::min(kLeastTitle, entry->width())) {
            entry->widget()->move(outside);  // a few letters name nothing
            continue;
        }
        put(*entry, left, width);
        left += width + spacing();
    }
}

void FoldingLayout::setGeometry(const QRect& rect) {
    if (m_placing) return;
    m_placing = true;
    QLayout::setGeometry(rect);
    fold(rect.width());
    place(rect);
    m_placing = false;
}

bool FoldingLayout::hasRoom(const QWidget* widget) const {
    return std::any_of(m_entries.begin(), m_entries.end(), [&](const Entry& entry) {
        return entry.widget() == widget && !entry.away && !entry.item->isEmpty();
    });
}

QSize FoldingLayout::sizeHint() const {
    const auto margins = contentsMargins();
    QSize all(margins.left() + margins.right(), 0);
    int shown = 0;
    for (const auto& entry : m_entries) {
        if (entry.item->isEmpty()) continue;
        const auto* readout = qobject_cast<Readout*>(entry.widget());
        all.rwidth() += readout ? readout->widthOf(0) : entry.item->sizeHint().width();
        all.rheight() = std::max(all.height(), entry.item->sizeHint().height());
        ++shown;
    }
    all.rwidth() += std::max(0, shown - 1) * spacing();
    return all + QSize(0, margins.top() + margins.bottom());
}

QSize FoldingLayout::minimumSize() const {
    const auto margins = contentsMargins();
    int width = margins.left() + margins.right() + m_more->sizeHint().width();
    for (const auto& entry : m_entries)
        if (entry.acts() == Role::Fixed && !entry.item->isEmpty())
            width += entry.item->sizeHint().width() + spacing();
    return {width, margins.top() + margins.bottom()};
}

void FoldingLayout::fillMenu() {
    m_menu->clear();
    for (const auto& entry : m_entries) {
        if (!entry.away || entry.acts() != Role::Control || entry.item->isEmpty()) continue;
        auto* widget = entry.widget();
        const QString name =
            widget->accessibleName().isEmpty() ? widget->toolTip() : widget->accessibleName();
        if (auto* button = qobject_cast<QAbstractButton*>(widget)) {
            auto* action = m_menu->addAction(button->text().isEmpty() ? name : button->text(),
                                             button, [button] { button->click(); });
            action->setEnabled(button->isEnabled());
            action->setToolTip(button->toolTip());
            action->setCheckable(button->isCheckable());
            action->setChecked(button->isChecked());
        } else if (auto* choices = qobject_cast<SegmentedControl*>(widget)) {
            auto* menu = m_menu->addMenu(name);
            choices->fillMenu(*menu);
            menu->setEnabled(choices->isEnabled());
        } else if (auto* box = qobject_cast<QComboBox*>(widget)) {
            QStringList names;
            for (int k = 0; k < box->count(); ++k) names << box->itemText(k);
            auto* menu = m_menu->addMenu(name);
            addChoices(menu, names, box->currentIndex(), [box](int chosen) {
                box->setCurrentIndex(chosen);
                Q_EMIT box->activated(chosen);
            });
            menu->setEnabled(box->isEnabled());
        }
    }
}

}  // namespace relascope::widgets
