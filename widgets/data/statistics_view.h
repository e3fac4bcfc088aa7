// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of a data set, as bars and rows of text.
#pragma once

#include <QString>
#include <QWidget>
#include <memory>
#include <utility>
#include <vector>

#include "types/data_example.h"

namespace relascope::widgets {

/// Bars of the number of samples per class or answer length, and rows of text.
class StatisticsView : public QWidget {
    Q_OBJECT
public:
    explicit StatisticsView(QWidget* parent = nullptr);
    void setStatistics(DataStatistics statistics);
    const DataStatistics& shown() const { return m_shown; }
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
    /// The statistics as a picture, whose size does not depend on the window.
    std::unique_ptr<QWidget> figure() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    int noteHeight() const;
    DataStatistics m_shown;
    std::vector<std::pair<QString, qint64>> m_counts;  ///< the bars, with their names as shown
    QString m_note;
};

}  // namespace relascope::widgets
