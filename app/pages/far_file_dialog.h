// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses a file or folder on another machine.
#pragma once

#include <QDialog>
#include <QString>
#include <memory>

#include "app/controllers/job_queue.h"
#include "wire/host_files.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QListWidgetItem;
class QPushButton;

namespace relascope::app {

class ErrorStrip;
class JobStrip;

class FarFileDialog : public QDialog {
    Q_OBJECT
public:
    enum class Choice { File, Folder, Either };
    /// `start`: the folder there that is listed first; empty: the home folder.
    FarFileDialog(const QString& host, Choice choice, const QString& start,
                  QWidget* parent = nullptr);
    ~FarFileDialog() override;

    /// The path that was chosen, in the mirror of the host (wire/host.h).
    QString path() const;
    /// Shows the dialog. Empty if it was cancelled.
    static QString choose(const QString& host, Choice choice, const QString& start,
                          QWidget* parent);

    QListWidget* list() const { return m_list; }
    QLineEdit* field() const { return m_path; }
    QPushButton* chooseButton() const { return m_choose; }
    QPushButton* folderButton() const { return m_this; }
    bool busy() const { return m_task.busy(); }

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void enter(const QString& folder);
    void take(const wire::Folder& folder);
    void activate(const QListWidgetItem* item);
    void chosenChanged();

    const QString m_host;
    const Choice m_choice;
    QString m_folder;  ///< the folder that is listed, on the host
    QString m_chosen;  ///< the chosen path, on the host
    QLineEdit* m_path;
    QListWidget* m_list;
    QLabel* m_note;
    ErrorStrip* m_error;
    JobStrip* m_strip;
    QPushButton *m_up, *m_choose, *m_this;
    const std::shared_ptr<wire::Session> m_session;  ///< used by the jobs of m_jobs only
    const std::unique_ptr<JobQueue> m_jobs;
    LongTask m_task;  // destroyed before its queue
};

}  // namespace relascope::app
