// SPDX-License-Identifier: GPL-3.0-or-later
// A badge that shows whether a checkpoint reproduces its reference outputs; a click lists them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <QWidget>

#include "types/checkpoint_info.h"
#include "types/view.h"

class QDialog;

namespace relascope::widgets {

// Three marks for the integrity of a checkpoint: missing tensors, unexpected tensors, NaN.

class CheckMarks : public QWidget {
    Q_OBJECT
public:
    explicit CheckMarks(QWidget* parent = nullptr);

    /// `numbersRead`: every tensor was read, so that "no NaN" is known.
    void setProblems(const std::vector<CheckpointProblem>& problems, bool numbersRead,
                     bool modelKnown = true);
    /// The marks as text: "none missing, 2 unexpected, NaN not checked yet".
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

class Chip;
class ElidedLabel;

class VerifyBadge : public QWidget {
    Q_OBJECT
public:
    explicit VerifyBadge(QWidget* parent = nullptr);

    /// Not verified yet, with or without reference outputs to compare with.
    void setUnknown(bool hasReference);
    void setRunning();
    void setReport(const VerifyReport& report);
    const std::optional<VerifyReport>& report() const { return m_report; }
    QString title() const;  ///< "Verified", "Differs", "Not verified"
    QString text() const;   ///< "2.1e-6 largest difference, 24 of 24 outputs"
    QWidget* button() const;
    /// The list of comparisons; nullptr while it is closed.
    QDialog* lines() const { return m_lines; }
    static QString csv(const VerifyReport& report);
    /// ViewMenu::describe of the list of comparisons.
    std::function<std::optional<View>()> describe;

public Q_SLOTS:
    void showLines();

protected:
    void changeEvent(QEvent* event) override;

private:
    void restyle();
    Chip* m_chip;
    ElidedLabel* m_text;
    QDialog* m_lines = nullptr;
    std::optional<VerifyReport> m_report;
};

}  // namespace relascope::widgets
