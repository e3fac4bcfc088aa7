// SPDX-License-Identifier: GPL-3.0-or-later
// Three marks for the integrity of a checkpoint: missing tensors, unexpected tensors, NaN.
#pragma once

#include <QWidget>
#include <vector>

#include "types/checkpoint_info.h"

namespace relascope::widgets {

class CheckMarks : public QWidget {
    Q_OBJECT
public:
    explicit CheckMarks(QWidget* parent = nullptr);

    /// `numbersRead`: every tensor was read, so that "no NaN" is known.
    void setProblems(const std::vector<CheckpointProblem>& problems, bool numbersRead,
                     bool modelKnown = true);
    /// "none missing, 2 unexpected, NaN not checked yet".
    QString text() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {60, 20}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    enum class State { Good, Bad, Unknown };
    struct Mark {
        QString text;
        State state;
    };
    std::vector<Mark> m_marks;
};

}  // namespace relascope::widgets
