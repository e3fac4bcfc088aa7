// SPDX-License-Identifier: GPL-3.0-or-later
// The strip at the bottom: last message, log drawer, heartbeat; and the drawer itself.
#pragma once

#include <QDateTime>
#include <QWidget>
#include <optional>
#include <vector>

class QLineEdit;
class QListWidget;
class QTimer;
class QToolButton;

namespace relascope::widgets {

class SegmentedControl;

enum class MessageLevel { Info, Ok, Warning, Error };

/// 26 px high. Heartbeat: ok under 2 s, warning under 10 s, error beyond; hidden while idle.
class StatusStrip : public QWidget {
    Q_OBJECT
public:
    explicit StatusStrip(QWidget* parent = nullptr);
    void showMessage(MessageLevel level, const QString& sentence);
    void setHeartbeat(bool running);           ///< whether points are expected at all
    void beat();                               ///< a point has just arrived
    void setSecondsSinceBeat(double seconds);  ///< for pictures and tests
    void setLogShown(bool shown);
    /// What is measured, "2 measuring, 40 %"; empty: nothing. `news`: there is a result (Ok) or a
    /// failure (Error) that was not looked at.
    void setJobs(const QString& text, std::optional<MessageLevel> news);
    QToolButton* jobsButton() const { return m_jobs; }
    QString message() const { return m_message; }
    QString heartbeatText() const;
    QColor heartbeatColor() const;

Q_SIGNALS:
    void logToggled(bool shown);
    void jobsRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    double seconds() const;
    QString m_message;
    MessageLevel m_level = MessageLevel::Info;
    bool m_beating = false;
    QDateTime m_last;
    QToolButton *m_log, *m_jobs;
    QTimer* m_timer;
};

/// Lines with time and level; at most 5000 are kept.
class LogDrawer : public QWidget {
    Q_OBJECT
public:
    explicit LogDrawer(QWidget* parent = nullptr);
    void append(MessageLevel level, const QString& text,
                const QDateTime& when = QDateTime::currentDateTime());
    void clear();
    int shownLines() const;
    QString text() const;  ///< the messages shown, one per line
    QLineEdit* filterField() const { return m_filter; }

Q_SIGNALS:
    void closeRequested();

private:
    bool passes(int row) const;
    void applyFilter();
    void copy();
    QListWidget* m_list;
    QLineEdit* m_filter;
    SegmentedControl* m_levels;
};

}  // namespace relascope::widgets
