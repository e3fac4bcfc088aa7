// SPDX-License-Identifier: GPL-3.0-or-later
// The list of measurements that the status bar opens: their progress, and their results.
#pragma once

#include <map>
#include <vector>

#include <QFrame>
#include <QString>

class QLabel;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace relascope::widgets {

class ElidedLabel;

struct JobItem {
    enum class State { Waiting, Running, Done, Failed };

    quint64 number = 0;
    QString title;   ///< "Scan of occurs, step 384"
    QString detail;  ///< "about 12 s left", or why it failed
    State state = State::Waiting;
    double fraction = 0.0;
    bool seen = false;
};

/// "2 measuring, 40 %", "1 measured"; empty without one that goes on or has not been seen.
QString jobsText(const std::vector<JobItem>& jobs);

/// Not modal; closes with Escape or a click elsewhere.
class JobList : public QFrame {
    Q_OBJECT
public:
    explicit JobList(QWidget* parent = nullptr);
    /// The newest is shown first.
    void setJobs(const std::vector<JobItem>& jobs);
    /// Shows the list with its lower right corner there, in global coordinates.
    void popUp(const QPoint& corner);

    int count() const { return static_cast<int>(m_rows.size()); }
    /// Open, or Cancel, of one of them. Throws std::out_of_range.
    QPushButton* button(quint64 number) const { return m_rows.at(number).button; }
    QString text(quint64 number) const;

Q_SIGNALS:
    void openRequested(quint64 number);
    void cancelRequested(quint64 number);
    void clearRequested();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Row {
        QWidget* widget;
        ElidedLabel *title, *detail;
        QProgressBar* bar;
        QPushButton* button;
        JobItem::State state = JobItem::State::Waiting;
    };
    Row makeRow(quint64 number);

    std::map<quint64, Row> m_rows;
    QVBoxLayout* m_column;
    QLabel* m_empty;
    QPushButton* m_clear;
};

}  // namespace relascope::widgets
