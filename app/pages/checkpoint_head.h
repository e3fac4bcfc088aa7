// SPDX-License-Identifier: GPL-3.0-or-later
// Head of the Checkpoint page: name, files, verification, and buttons.
#pragma once

#include <QWidget>

class QLabel;
class QMenu;
class QPushButton;

namespace relascope::widgets {
class ElidedLabel;
class VerifyBadge;
}  // namespace relascope::widgets

namespace relascope::app {

class CheckpointController;

class CheckpointHead : public QWidget {
    Q_OBJECT
public:
    /// `figure` is the widget that the menu copies and saves as a picture.
    CheckpointHead(CheckpointController& controller, QWidget* figure, QWidget* parent = nullptr);

    /// Updates the head for another checkpoint.
    void opened();
    /// Updates which buttons and entries are enabled, with the reason if not.
    void refresh();
    /// Hides the progress after the job was cancelled or failed.
    void verifyEnded();

    QString title() const;
    QString files() const;
    widgets::VerifyBadge* badge() const { return m_badge; }
    QPushButton* verifyButton() const { return m_verify; }
    QMenu* menu() const { return m_menu; }

Q_SIGNALS:
    void fileRequested();
    void folderRequested();
    void tokenizerRequested();
    void convertRequested();
    void evaluationRequested();
    void noFileManager(const QString& sentence);

private:
    void fillMenu();
    void showFolder();

    CheckpointController& m_c;
    QLabel* m_title;
    widgets::ElidedLabel* m_files;
    widgets::VerifyBadge* m_badge;
    QPushButton *m_verify, *m_evaluate, *m_inspect;
    QMenu* m_menu;
    QAction *m_tokenizer = nullptr, *m_convert = nullptr, *m_show = nullptr;
};

}  // namespace relascope::app
