// Asks what a checkpoint shall be measured on: generated images or a file of them.
#pragma once

#include <QDialog>
#include <functional>
#include <optional>

#include "app/controllers/checkpoint_controller.h"

class QComboBox;
class QSpinBox;

namespace relascope {

class EvaluateDialog : public QDialog {
    Q_OBJECT
public:
    explicit EvaluateDialog(QWidget* parent = nullptr);

    EvaluationWish wish() const;
    QComboBox* dataBox() const { return m_data; }
    QComboBox* splitBox() const { return m_split; }
    QSpinBox* countBox() const { return m_count; }
    QSpinBox* seedBox() const { return m_seed; }
    /// Asks for a .npz file; replaced in tests.
    std::function<QString()> askFile;

private:
    void addFile(const QString& path);
    void dataChosen();

    QComboBox *m_data, *m_split;
    QSpinBox *m_count, *m_seed;
    int m_before = 0;  ///< the data chosen before a file was asked for
};

}  // namespace relascope
