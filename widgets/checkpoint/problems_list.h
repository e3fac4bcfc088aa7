// SPDX-License-Identifier: GPL-3.0-or-later
// The problems of a checkpoint, one per line; hidden if there are none.
#pragma once

#include <QWidget>
#include <vector>

#include "types/checkpoint_info.h"

class QListWidget;

namespace relascope::widgets {

class PanelHead;
class ViewMenu;

class ProblemsList : public QWidget {
    Q_OBJECT
public:
    explicit ProblemsList(QWidget* parent = nullptr);

    /// Hidden when empty.
    void setProblems(const std::vector<CheckpointProblem>& problems);
    QString csv() const;
    ViewMenu* menu() const { return m_menu; }
    QListWidget* list() const { return m_list; }

Q_SIGNALS:
    void subjectChosen(const QString& subject);  ///< a tensor, a field or a file

protected:
    void changeEvent(QEvent* event) override;

private:
    PanelHead* m_head;
    ViewMenu* m_menu;
    QListWidget* m_list;
    std::vector<CheckpointProblem> m_problems;
};

}  // namespace relascope::widgets
