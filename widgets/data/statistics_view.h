// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of a data set, as bars and rows of text.
#pragma once

#include <QString>
#include <QWidget>
#include <utility>
#include <vector>

namespace relascope::widgets {

/// Bars of the number of samples per class or answer length, and rows of text.
class StatisticsView : public QWidget {
    Q_OBJECT
public:
    explicit StatisticsView(QWidget* parent = nullptr);
    /// `what` names the bars: "class", "answer length".
    void setClasses(std::vector<std::pair<QString, qint64>> counts,
                    const QString& what = QStringLiteral("class"));
    void setRows(std::vector<std::pair<QString, QString>> rows);
    /// Sets a note below the statistics, shown in full: what was left out when the data were read.
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
