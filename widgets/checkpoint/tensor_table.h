// SPDX-License-Identifier: GPL-3.0-or-later
// The tensors of a checkpoint: name, shape, type, bytes and, as they are read, their range.
#pragma once

#include <QWidget>
#include <vector>

#include "types/checkpoint_info.h"

class QLineEdit;
class QTreeView;

namespace relascope::widgets {

class CheckMarks;
class PanelHead;
class TensorModel;
class ViewMenu;

/// Blocks can be collapsed, columns sort within blocks, and the filter matches words in names.
/// Suitable for ten thousand rows.
class TensorTable : public QWidget {
    Q_OBJECT
public:
    explicit TensorTable(QWidget* parent = nullptr);

    void setTensors(std::vector<StoredTensor> tensors);
    /// Fills the range of one tensor, by StoredTensor's name.
    void setStatistics(const TensorStatistics& statistics);
    const TensorStatistics* statistics(const QString& name) const;
    void setFilter(const QString& text);
    void choose(const QString& name);  ///< signals like a click
    QString chosen() const;            ///< empty without one
    /// The tensors shown, in the order shown, as tensorsTable() (answers/checkpoint_answer.h).
    QString csv() const;

    ViewMenu* menu() const { return m_menu; }
    CheckMarks* marks() const { return m_marks; }
    QTreeView* view() const { return m_view; }
    QLineEdit* filterField() const { return m_filter; }
    TensorModel* model() const { return m_model; }
    QString headText() const;  ///< "464, all under layers."

    QSize minimumSizeHint() const override { return {300, 120}; }

Q_SIGNALS:
    void tensorChosen(const QString& name);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void updateText();
    void openBranches();

    PanelHead* m_head;
    ViewMenu* m_menu;
    QWidget* m_marksRow;
    CheckMarks* m_marks;
    QLineEdit* m_filter;
    QTreeView* m_view;
    TensorModel* m_model;
    QString m_chosen;  ///< even if hidden by the filter
};

}  // namespace relascope::widgets
