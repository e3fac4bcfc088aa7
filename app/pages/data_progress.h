// SPDX-License-Identifier: GPL-3.0-or-later
// Strips below a panel's head: a long job with its share and Cancel, and what went wrong.
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

/// Shows itself when a job takes longer than the delay; the old content stays in sight meanwhile.
class JobStrip : public QWidget {
    Q_OBJECT
public:
    explicit JobStrip(QWidget* parent = nullptr);

    /// Shows whatever this task does, and gives it up by Cancel.
    void follow(LongTask& task);
    void begin(const QString& words, std::shared_ptr<LongJob> job);
    void end();
    bool busy() const { return m_job != nullptr; }
    void setDelay(int milliseconds) { m_delay.setInterval(milliseconds); }
    QPushButton* cancelButton() const { return m_cancel; }
    QProgressBar* bar() const { return m_bar; }

Q_SIGNALS:
    /// The job was told to stop; its answer will not come.
    void cancelled();

private:
    widgets::ElidedLabel* m_words;
    QProgressBar* m_bar;
    QPushButton* m_cancel;
    QTimer m_delay, m_tick;
    std::shared_ptr<LongJob> m_job;
};

/// One sentence in the error colours, until it is put away or something works.
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
