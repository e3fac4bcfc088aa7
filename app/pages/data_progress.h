// SPDX-License-Identifier: GPL-3.0-or-later
// Strips below a panel's head: a long job with progress and Cancel, and an error message.
#pragma once

#include <QTimer>
#include <QWidget>
#include <memory>

class QLabel;
class QProgressBar;
class QPushButton;

namespace relascope::widgets {
class ElidedLabel;
}  // namespace relascope::widgets

namespace relascope::app {

struct LongJob;
class LongTask;

/// Appears when a job takes longer than the delay; the old content stays visible meanwhile.
class JobStrip : public QWidget {
    Q_OBJECT
public:
    explicit JobStrip(QWidget* parent = nullptr);

    /// Shows the jobs of this task, and cancels them.
    void follow(LongTask& task);
    void begin(const QString& text, std::shared_ptr<LongJob> job);
    void end();
    bool busy() const { return m_job != nullptr; }
    void setDelay(int milliseconds) { m_delay.setInterval(milliseconds); }
    QPushButton* cancelButton() const { return m_cancel; }
    QProgressBar* bar() const { return m_bar; }

Q_SIGNALS:
    /// The job was cancelled; it delivers no result.
    void cancelled();

private:
    widgets::ElidedLabel* m_text;
    QProgressBar* m_bar;
    QPushButton* m_cancel;
    QTimer m_delay, m_tick;
    std::shared_ptr<LongJob> m_job;
};

/// An error message, shown until it is dismissed or an action succeeds.
class ErrorStrip : public QWidget {
    Q_OBJECT
public:
    explicit ErrorStrip(QWidget* parent = nullptr);
    void setSentence(const QString& sentence);  ///< empty: hidden
    QString sentence() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void restyle();
    QLabel *m_icon, *m_text;
};

}  // namespace relascope::app
