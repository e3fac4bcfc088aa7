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

    /// What the chip reads; empty: it is hidden.
    void setDevice(const QString& text);
    /// The tool tip, in lines.
    void setFacts(const QString& lines);
    /// The devices of the menu, none: no menu; `chosen` are ticked, "auto" is the entry for that.
    void setChoices(const std::vector<DeviceChoice>& choices, const QStringList& chosen);
    /// The machines of the menu, none: only this one; `chosen`: empty for this one.
    void setHosts(const QStringList& hosts, const QString& chosen);
    /// Stays open while devices are ticked.
    QMenu* menu() const { return m_menu; }

Q_SIGNALS:
    /// The names that are ticked, in the order of the menu; "auto" if there are none.
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
