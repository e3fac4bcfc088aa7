// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a model that a program of the user serves (relascope.serve in Python).
#pragma once

#include <QDialog>
#include <QStringList>
#include <vector>

#include "app/controllers/job_queue.h"
#include "wire/served_link.h"

class QLabel;
class QListWidget;
class QPushButton;
class QTimer;

namespace relascope::app {

class ServedDialog : public QDialog {
    Q_OBJECT
public:
    explicit ServedDialog(QWidget* parent = nullptr);

    /// "served:NAME", after the dialog was accepted.
    QString path() const;
    QListWidget* list() const { return m_list; }
    QPushButton* openButton() const { return m_open; }
    QLabel* note() const { return m_note; }

private:
    void look();
    void fill(const std::vector<wire::FoundDoor>& doors);

    QStringList m_texts;  ///< texts of the doors that are listed
    QListWidget* m_list;
    QLabel* m_note;
    QPushButton* m_open;
    QTimer* m_again;
    JobQueue m_queue;
};

}  // namespace relascope::app
