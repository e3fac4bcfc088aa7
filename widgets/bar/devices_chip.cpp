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
constexpr char kHostOf[] = "host";  ///< property of the entry of a machine

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
    return Chip::sizeHint() + QSize(hasMenu() ? kArrow : 0, 0);
}

void DevicesChip::paintEvent(QPaintEvent* event) {
    Chip::paintEvent(event);
    if (!hasMenu()) return;
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
    if (hasMenu())
        tip += m_hosts.isEmpty()
                   ? QStringLiteral("\nClick to choose the devices of the next run")
                   : QStringLiteral("\nClick to choose the machine and devices of the next run");
    setToolTip(tip);
}

void DevicesChip::setChoices(const std::vector<DeviceChoice>& choices, const QStringList& chosen) {
    m_chosen = chosen;
    if (choices != m_choices) {
        m_choices = choices;
        fill();
    }
    tick();
}

void DevicesChip::setHosts(const QStringList& hosts, const QString& chosen) {
    m_host = chosen;
    if (hosts != m_hosts) {
        m_hosts = hosts;
        fill();
    }
    tick();
}

void DevicesChip::tick() {
    for (QAction* action : m_menu->actions()) {
        const QVariant host = action->property(kHostOf);
        action->setChecked(host.isValid() ? host.toString() == m_host
                                          : m_chosen.contains(action->data().toString()));
    }
}

void DevicesChip::fill() {
    setCursor(hasMenu() ? Qt::PointingHandCursor : Qt::ArrowCursor);
    setFocusPolicy(hasMenu() ? Qt::StrongFocus : Qt::NoFocus);
    showTip();
    updateGeometry();
    update();
    m_menu->close();
    m_menu->clear();
    const auto add = [this](const QString& name, const QString& title) {
        QAction* action = m_menu->addAction(title);
        action->setCheckable(true);
        action->setData(name);
        return action;
    };
    if (!m_hosts.isEmpty()) {
        m_menu->addSection(QStringLiteral("Machine"));
        for (const auto& host : QStringList{QString()} + m_hosts) {
            QAction* action = add({}, host.isEmpty() ? QStringLiteral("This computer") : host);
            action->setProperty(kHostOf, host);
            connect(action, &QAction::triggered, this, [this, host] {
                m_host = host;
                tick();
                Q_EMIT hostChosen(host);
            });
        }
        if (!m_choices.empty()) m_menu->addSection(QStringLiteral("Devices"));
    }
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
    if (hasMenu()) m_menu->popup(mapToGlobal(QPoint(0, height())));
}

}  // namespace relascope::widgets
