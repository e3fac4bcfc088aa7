// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/bar/devices_chip.h"

#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>

#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kArrow = 16;  ///< px
constexpr char kAutomatic[] = "auto";

/// A menu that does not close when an entry is ticked.
class TickMenu : public QMenu {
public:
    using QMenu::QMenu;

protected:
    void mouseReleaseEvent(QMouseEvent* event) override {
        if (!tick(actionAt(event->pos()))) QMenu::mouseReleaseEvent(event);
    }
    void keyPressEvent(QKeyEvent* event) override {
        const int key = event->key();
        const bool presses = key == Qt::Key_Space || key == Qt::Key_Return || key == Qt::Key_Enter;
        if (!presses || !tick(activeAction())) QMenu::keyPressEvent(event);
    }

private:
    static bool tick(QAction* action) {
        if (!action || !action->isEnabled() || !action->isCheckable()) return false;
        action->trigger();
        return true;
    }
};

}  // namespace

DevicesChip::DevicesChip(QWidget* parent) : Chip({}, parent), m_menu(new TickMenu(this)) {
    setIcon(widgets::icon("chip"));
    m_menu->setAccessibleName(QStringLiteral("Devices of the next run"));
    connect(this, &QAbstractButton::clicked, this, &DevicesChip::openMenu);
    showTip();
}

QSize DevicesChip::sizeHint() const {
    return Chip::sizeHint() + QSize(m_choices.empty() ? 0 : kArrow, 0);
}

void DevicesChip::paintEvent(QPaintEvent* event) {
    Chip::paintEvent(event);
    if (m_choices.empty()) return;
    QPainter painter(this);
    paint::chevron(painter, QRectF(width() - kArrow - 4, 0, kArrow, height()),
                   paint::Direction::Down, Theme::current().muted);
}

void DevicesChip::setDevice(const QString& text) {
    setText(text);
    setAccessibleName("Device " + text);
    setVisible(!text.isEmpty());
    updateGeometry();
}

void DevicesChip::setFacts(const QString& lines) {
    m_facts = lines;
    setAccessibleDescription(lines);
    showTip();
}

void DevicesChip::showTip() {
    QString tip = m_facts.isEmpty() ? QStringLiteral("Device") : m_facts;
    if (!m_choices.empty()) tip += QStringLiteral("\nClick to choose the devices of the next run");
    setToolTip(tip);
}

void DevicesChip::setChoices(const std::vector<DeviceChoice>& choices, const QStringList& chosen) {
    if (choices != m_choices) {
        m_choices = choices;
        const bool any = !choices.empty();
        setCursor(any ? Qt::PointingHandCursor : Qt::ArrowCursor);
        setFocusPolicy(any ? Qt::StrongFocus : Qt::NoFocus);
        fill();
        showTip();
        updateGeometry();
        update();
    }
    for (QAction* action : m_menu->actions())
        action->setChecked(chosen.contains(action->data().toString()));
}

void DevicesChip::fill() {
    m_menu->close();
    m_menu->clear();
    const auto add = [this](const QString& name, const QString& title) {
        QAction* action = m_menu->addAction(title);
        action->setCheckable(true);
        action->setData(name);
        return action;
    };
    if (m_choices.empty()) return;
    const QAction* automatic = add(kAutomatic, QStringLiteral("Automatic: the first GPU"));
    connect(automatic, &QAction::triggered, this, [this] { Q_EMIT devicesChosen({kAutomatic}); });
    m_menu->addSeparator();
    for (const auto& choice : m_choices)
        connect(add(choice.name, QString("%1, %2").arg(choice.name, choice.title)),
                &QAction::triggered, this, &DevicesChip::choose);
}

void DevicesChip::choose() {
    QStringList names;
    for (const QAction* action : m_menu->actions())
        if (const QString name = action->data().toString();
            action->isChecked() && !name.isEmpty() && name != QLatin1String(kAutomatic))
            names << name;
    Q_EMIT devicesChosen(names.isEmpty() ? QStringList{kAutomatic} : names);
}

void DevicesChip::openMenu() {
    if (!m_choices.empty()) m_menu->popup(mapToGlobal(QPoint(0, height())));
}

}  // namespace relascope::widgets
