// SPDX-License-Identifier: GPL-3.0-or-later
// The chip of the device in the bar; where a run could use several, a menu of them.
#pragma once

#include <QStringList>
#include <vector>

#include "widgets/theme/controls.h"

class QMenu;

namespace relascope::widgets {

/// A device that can be ticked.
struct DeviceChoice {
    QString name;   ///< "cuda:1"
    QString title;  ///< "NVIDIA H200"
    bool operator==(const DeviceChoice&) const = default;
};

class DevicesChip : public Chip {
    Q_OBJECT
public:
    explicit DevicesChip(QWidget* parent = nullptr);
    QSize sizeHint() const override;

    /// Sets the text of the chip; empty hides the chip.
    void setDevice(const QString& text);
    /// Sets the tooltip, one fact per line.
    void setFacts(const QString& lines);
    /// Sets the devices of the menu (none: no menu); those in `chosen` are ticked, where "auto"
    /// stands for the entry of automatic choice.
    void setChoices(const std::vector<DeviceChoice>& choices, const QStringList& chosen);
    /// Sets the machines of the menu (none: only this machine); `chosen` is empty for this machine.
    void setHosts(const QStringList& hosts, const QString& chosen);
    /// The menu, which stays open while devices are ticked.
    QMenu* menu() const { return m_menu; }

Q_SIGNALS:
    /// The user has chosen devices: the names of those ticked, in the order of the menu; "auto" if
    /// none is ticked.
    void devicesChosen(const QStringList& names);
    void hostChosen(const QString& host);  ///< empty: this machine

protected:
    void paintEvent(QPaintEvent* event) override;  ///< with an arrow where there is a menu

private:
    void openMenu();
    void fill();
    void tick();
    void choose();
    void showTip();

    bool hasMenu() const { return !m_choices.empty() || !m_hosts.isEmpty(); }

    QMenu* m_menu;
    QStringList m_hosts, m_chosen;
    QString m_host;
    std::vector<DeviceChoice> m_choices;
    QString m_facts;
};

}  // namespace relascope::widgets
