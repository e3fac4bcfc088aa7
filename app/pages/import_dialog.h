// SPDX-License-Identifier: GPL-3.0-or-later
// Imports a file or folder. Its form is detected off the window's thread.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <QDialog>
#include <QSize>
#include <QString>

#include "options/import_data.h"

class QComboBox;
class QLineEdit;
class QPushButton;
class QTimer;

namespace relascope::widgets {
class FieldForm;
class FieldNote;
}  // namespace relascope::widgets

namespace relascope::app {

class JobQueue;

class ImportDialog : public QDialog {
    Q_OBJECT
public:
    explicit ImportDialog(QWidget* parent = nullptr);
    ~ImportDialog() override;

    /// Sets the path as if it had been chosen.
    void setPath(const QString& path);
    /// The options that open the chosen data.
    DataOptions options() const;

    /// The choices of the arrays of an .npz: pair 0 to train on, 1 of the test split.
    QComboBox* imagesBox(std::size_t pair) const { return m_images.at(pair); }
    QComboBox* labelsBox(std::size_t pair) const { return m_labels.at(pair); }
    /// The choice of the size that pictures of a folder are scaled to.
    QComboBox* sideBox() const { return m_side; }
    QPushButton* importButton() const { return m_import; }
    QString note() const;
    /// Whether the chosen path is still being checked.
    bool validating() const { return m_validating; }

    /// Ask for a file, or a folder; replaced in tests. Empty: cancelled.
    std::function<QString()> askFile, askFolder;

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void validate();
    void take(const core::ImportGuess& guess);
    void kindChosen();
    void offerArrays(const core::ImportGuess& guess);
    void offerSides();
    /// Offers the labels that fit the chosen images.
    void fillLabels(int pair, const std::string& chosen);
    void judge();

    QLineEdit* m_path;
    QComboBox *m_kind, *m_task;
    /// Arrays of an .npz: images and labels, and those of the test split.
    std::array<QComboBox*, 2> m_images, m_labels;
    QComboBox* m_side;
    widgets::FieldForm* m_form;
    widgets::FieldNote* m_note;
    QPushButton* m_import;
    QTimer* m_pause;
    std::string m_read;  ///< the path to open: the folder, if a file in a data folder was chosen
    QString m_found;     ///< what was detected
    QString m_problem;   ///< why its arrays are no labelled images
    std::vector<core::NpzArray> m_arrays;
    QSize m_size;  ///< common size of the first pictures of a folder, if any
    bool m_validating = false, m_own = false;  ///< m_own: the user chose the kind
    quint64 m_request = 0;
    std::unique_ptr<JobQueue> m_jobs;
};

}  // namespace relascope::app
