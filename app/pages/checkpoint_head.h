// SPDX-License-Identifier: GPL-3.0-or-later
// Head of the Checkpoint page: name, files, whether it computes what it shall, and what can be
// done.
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
    /// `figure` is what the menu copies and saves as a picture.
    CheckpointHead(CheckpointController& controller, QWidget* figure, QWidget* parent = nullptr);

    /// Another checkpoint is shown.
    void opened();
    /// Which buttons and entries can be pressed, and why not.
    void refresh();
    /// Hides the progress: the job was cancelled, or has failed.
    void verifyEnded();

    QString title() const;
    QString files() const;
    widgets::VerifyBadge* badge() const { return m_badge; }
    QPushButton* verifyButton() const { return m_verify; }
    QPushButton* evaluateButton() const { return m_evaluate; }
    QPushButton* inspectButton() const { return m_inspect; }
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
