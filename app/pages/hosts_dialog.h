// SPDX-License-Identifier: GPL-3.0-or-later
// Edits the other machines: their names, how they are reached, the command that launches trainings
// there; and checks whether that works.
#pragma once

#include <QDialog>
#include <QStringList>
#include <vector>

#include "wire/host.h"

class QCheckBox;
class QLineEdit;
class QListWidget;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace relascope::widgets {
class FieldNote;
}  // namespace relascope::widgets

namespace relascope::app {

class HostCheck;
class HostsController;

/// The names of machines in a configuration of ssh, in its order, without patterns.
QStringList sshHosts(const QString& config);

class HostsDialog : public QDialog {
    Q_OBJECT
public:
    HostsDialog(HostsController& hosts, QWidget* parent = nullptr);

    HostCheck* check() const { return m_check; }
    /// Shows a machine; an unknown name is ignored.
    void select(const QString& name);

private:
    struct Field {
        QLineEdit* edit = nullptr;
        widgets::FieldNote* note = nullptr;
        QString hint;
    };
    QWidget* form();
    void connectAll();
    void list();
    void showStatus();
    void showHost();
    void edited(const QLineEdit* edit);
    void add();
    void remove();
    void test();
    void save();
    /// Shows the problem of a machine at its field. Returns false if there is one.
    bool judge(int row);
    Field* fieldOf(const std::string& name);
    wire::Host* current();

    HostsController& m_hosts;
    std::vector<wire::Host> m_edited;  ///< in the order of the list
    QListWidget* m_list;
    QToolButton *m_add, *m_remove;
    QStackedWidget* m_pages;
    QWidget* m_fields = nullptr;
    Field m_name, m_reach, m_launch, m_runs;
    QCheckBox* m_views;
    QPushButton *m_test, *m_save;
    HostCheck* m_check;
    bool m_filling = false;
};

}  // namespace relascope::app
