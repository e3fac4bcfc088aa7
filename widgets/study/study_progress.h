// SPDX-License-Identifier: GPL-3.0-or-later
// The progress of a study as text and as a bar, and its failed runs.
#pragma once

#include <QWidget>

class QPushButton;

namespace relascope::widgets {

class ElidedLabel;

/// "24 of 36 runs  2 running  1 failed  about 4 min left", and a bar of 4 px below.
class StudyProgressLine : public QWidget {
    Q_OBJECT
public:
    struct Counts {
        std::size_t done = 0, running = 0, failed = 0, interrupted = 0, waiting = 0;
        std::size_t total() const { return done + running + failed + interrupted + waiting; }
        bool operator==(const Counts&) const = default;
    };
    explicit StudyProgressLine(QWidget* parent = nullptr);
    /// `note` is shown at the right: the time left, or the state.
    void setCounts(const Counts& counts, const QString& note);
    /// Shows text only, without a bar.
    void setSentence(const QString& sentence);
    QString text() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QStringList parts() const;
    Counts m_counts;
    QString m_note, m_sentence;
};

/// The number of failed runs, the first error and buttons, in the error colours.
class StudyFailures : public QWidget {
    Q_OBJECT
public:
    explicit StudyFailures(QWidget* parent = nullptr);
    /// 0 hides it. `disabledReason`: why Retry is disabled; empty if it is enabled.
    void setFailures(std::size_t count, const QString& first, const QString& disabledReason);
    QString text() const;

Q_SIGNALS:
    void showRequested();
    void retryRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void restyle();
    ElidedLabel* m_text;
    QPushButton *m_show, *m_retry;
};

}  // namespace relascope::widgets
