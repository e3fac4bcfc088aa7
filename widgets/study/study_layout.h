// SPDX-License-Identifier: GPL-3.0-or-later
// Layout of a study in rows and columns, and the format of its metric.
#pragma once

#include <QHash>
#include <QString>
#include <QStringList>
#include <utility>
#include <vector>

#include "types/study.h"

namespace relascope::widgets {

/// The metric that is shown, and its format.
struct StudyMetric {
    QString name = QStringLiteral("accuracy");
    QString split;        ///< "hexos"
    bool percent = true;  ///< a fraction, written as per cent
    bool lowerIsBetter = false;

    /// "96.7" (per cent, without its sign), "0.4123", a dash for NaN.
    QString text(double value) const;
    /// "96.7 ± 0.4", or the mean alone if there is no error.
    QString text(double mean, double error) const;
    QString unit() const { return percent ? QStringLiteral("%") : QString(); }
    /// "accuracy on hexos, %"
    QString title() const;
    bool operator==(const StudyMetric&) const = default;
};

/// "dat", "abstractor, n_heads_ra=2": the name of a series as in StudyPoint.
QString studySeries(const StudyPlan& plan, const std::string& model,
                    const std::vector<std::string>& values);

/// Rows are models with values of varied options. Columns are training sizes or, for a single size,
/// the values of the last option with several values.
class StudyLayout {
public:
    struct Row {
        QString name;                 ///< of the legend: "dat", "dat, n_heads_ra=2"
        QString title;                ///< the model
        QString detail;               ///< "n_heads_ra=2 · 341K": what else distinguishes it
        std::int64_t parameters = 0;  ///< of the first column with runs
        bool sizeVaries = false;  ///< another column has another number: it depends on the option
    };
    struct Column {
        QString title;  ///< "1,000", "relu"
        double x = 0.0;
    };
    struct Place {
        int row = -1, column = -1;
        bool operator==(const Place&) const = default;
    };

    StudyLayout() = default;
    explicit StudyLayout(const StudyInfo& study);

    const std::vector<Row>& rows() const { return m_rows; }
    const std::vector<Column>& columns() const { return m_columns; }
    Place place(const QString& series, std::int64_t size) const;
    /// The row of a series, also for training sizes that the study does not have.
    int row(const QString& series) const { return m_seriesRow.value(series, -1); }
    const QString& axisTitle() const { return m_axis; }
    bool sizesAcross() const { return m_sizes; }
    /// Whether columns are numbers; otherwise they are names without an order.
    bool numeric() const { return m_numeric; }
    /// A row or column for accessible texts and tooltips: "1,000 training examples".
    QString columnText(int column) const;

private:
    QString m_axis;
    bool m_sizes = true, m_numeric = true;
    std::vector<Row> m_rows;
    std::vector<Column> m_columns;
    QHash<QString, int> m_seriesRow, m_seriesColumn;
    QHash<std::int64_t, int> m_sizeColumn;
};

}  // namespace relascope::widgets
