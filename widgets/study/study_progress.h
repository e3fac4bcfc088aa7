// SPDX-License-Identifier: GPL-3.0-or-later
// How far a study is, in words and as a bar, and what failed in it.
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
    /// `note` stands at the right: the time that is left, or what goes on.
    void setCounts(const Counts& counts, const QString& note);
    /// Words alone, without a bar.
    void setSentence(const QString& sentence);
    QString text() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QStringList parts() const;
    Counts m_counts;
    QString m_note, m_sentence;
};

/// In the error colours: how many runs failed, the first of them, and what to do.
class StudyFailures : public QWidget {
    Q_OBJECT
public:
    explicit StudyFailures(QWidget* parent = nullptr);
    /// 0 hides it. `obstacle`: why Retry is off; empty when it is not.
    void setFailures(std::size_t count, const QString& first, const QString& obstacle);
    QString text() const;
    QPushButton* retryButton() const { return m_retry; }
    QPushButton* showButton() const { return m_show; }

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
