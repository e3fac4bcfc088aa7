// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a model by its name on the hub: one in the cache, a published one, or any other.
#pragma once

#include <QDialog>

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace relascope::app {

class ErrorStrip;
class HubModels;
class JobStrip;
struct HubEntry;

class HubDialog : public QDialog {
    Q_OBJECT
public:
    HubDialog(HubModels& models, QWidget* parent = nullptr);

    /// The folder of the model in the cache, after the dialog was accepted.
    const QString& path() const { return m_path; }
    QLineEdit* field() const { return m_name; }
    QListWidget* list() const { return m_list; }
    QPushButton* openButton() const { return m_open; }
    QLabel* note() const { return m_note; }
    ErrorStrip* error() const { return m_error; }

private:
    void fill();
    void judge();
    void confirm();
    /// The entry of a name; null for one that is neither in the cache nor among the published.
    const HubEntry* find(const QString& name) const;

    HubModels& m_models;
    QString m_path;
    QLineEdit* m_name;
    QListWidget* m_list;
    QLabel* m_note;
    ErrorStrip* m_error;
    JobStrip* m_strip;
    QPushButton* m_open;
};

}  // namespace relascope::app
