// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for the data to evaluate a checkpoint on: generated images, a file of images, or a text.
#pragma once

#include <QDialog>
#include <functional>
#include <optional>

#include "app/controllers/checkpoint_controller.h"

class QComboBox;
class QSpinBox;

namespace relascope::app {

class EvaluateDialog : public QDialog {
    Q_OBJECT
public:
    enum class Data { Images, Text };
    /// `own`: the model belongs to a run, so its own text is available.
    explicit EvaluateDialog(QWidget* parent = nullptr, Data data = Data::Images, bool own = false);

    NamedEvaluation question() const;
    QComboBox* splitBox() const { return m_split; }
    QSpinBox* countBox() const { return m_count; }
    /// Asks for a .npz file, or a text; replaced in tests.
    std::function<QString()> askFile;

private:
    void addFile(const QString& path);
    void fillImages();
    void fillSplits();
    void fillText(bool own);
    QString lastLine() const;
    void dataChosen();

    QComboBox *m_data, *m_split;
    QSpinBox *m_count, *m_seed;
    const bool m_text;
    int m_before = 0;  ///< the data chosen before a file was requested
};

}  // namespace relascope::app
