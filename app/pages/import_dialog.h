// SPDX-License-Identifier: GPL-3.0-or-later
// Import: which file or folder, and what it is. What it holds is looked at off the window's thread.
#pragma once

#include <QDialog>
#include <functional>
#include <memory>
#include <string>

#include "types/data_options.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTimer;

namespace relascope::widgets {
class ElidedLabel;
class FieldNote;
}  // namespace relascope::widgets

namespace relascope::app {

class JobQueue;
struct ImportGuess;

class ImportDialog : public QDialog {
    Q_OBJECT
public:
    explicit ImportDialog(QWidget* parent = nullptr);
    ~ImportDialog() override;

    /// As if it was chosen.
    void setPath(const QString& path);
    /// The options that open what was chosen.
    DataOptions options() const;

    QLineEdit* pathField() const { return m_path; }
    QComboBox* kindBox() const { return m_kind; }
    QComboBox* taskBox() const { return m_task; }
    QPushButton* importButton() const { return m_import; }
    QString note() const;
    /// Whether what was chosen is still being looked at.
    bool looking() const { return m_looking; }

    /// Ask for a file, or a folder; replaced in tests. Empty: never mind.
    std::function<QString()> askFile, askFolder;

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void look();
    void take(const ImportGuess& guess);
    void kindChosen();
    void judge();

    QLineEdit* m_path;
    QComboBox *m_kind, *m_task;
    QLabel* m_taskLabel;
    widgets::FieldNote* m_note;
    QPushButton* m_import;
    QTimer* m_pause;
    std::string m_read;  ///< the path that is opened: of a part of a folder the folder
    QString m_found;     ///< what the look said
    bool m_looking = false, m_own = false;  ///< the kind is the user's
    quint64 m_request = 0;
    std::unique_ptr<JobQueue> m_jobs;
};

}  // namespace relascope::app
