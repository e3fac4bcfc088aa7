// SPDX-License-Identifier: GPL-3.0-or-later
// What a data set holds, as bars and rows of words.
#pragma once

#include <QString>
#include <QWidget>
#include <utility>
#include <vector>

namespace relascope::widgets {

/// Bars of how many samples each class has (or answers each length), and rows of words.
class StatisticsView : public QWidget {
    Q_OBJECT
public:
    explicit StatisticsView(QWidget* parent = nullptr);
    /// `what` is counted: "class", "answer length".
    void setClasses(std::vector<std::pair<QString, qint64>> counts,
                    const QString& what = QStringLiteral("class"));
    void setRows(std::vector<std::pair<QString, QString>> rows);
    /// A sentence below, in full: what was left out when it was read.
    void setNote(const QString& note);
    const QString& note() const { return m_note; }
    QSize sizeHint() const override;
    QString csv() const;
    /// The bars as pgfplots source.
    QString pgfplots(const QString& caption) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    int noteHeight() const;
    std::vector<std::pair<QString, qint64>> m_counts;
    QString m_note;
    QString m_what = QStringLiteral("class");
    std::vector<std::pair<QString, QString>> m_rows;
};

}  // namespace relascope::widgets
