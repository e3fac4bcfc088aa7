// SPDX-License-Identifier: GPL-3.0-or-later
// The results of a study as a table: means and errors, parameters, published values, and the
// examples that each model needs.
#pragma once

#include <vector>

#include <QWidget>

#include "widgets/kit/column_model.h"
#include "widgets/study/study_cells.h"

class QMenu;
class QTableView;

namespace relascope::widgets {

class PanelHead;

/// One cell of a table of results.
struct StudyNumber {
    QString text, published, tip;
    double sort = 0.0;  ///< NaN goes last
    bool best = false;  ///< the best number of its column
    bool muted = false;
    bool operator==(const StudyNumber&) const = default;
};

/// A series with its results.
struct StudyLine {
    QString name;
    int color = 0;  ///< index into Theme::series
    std::vector<StudyNumber> cells;
    bool operator==(const StudyLine&) const = default;
};

/// Training sizes at which the mean reaches each level; NaN if it does not.
struct StudyNeeded {
    std::vector<double> levels;              ///< 0.8, 0.9, 0.95
    std::vector<std::vector<double>> sizes;  ///< a row of the layout, then a level
};

/// One row per series, one column per training size: mean and standard error, with the published
/// mean below. With levels, a second table shows the examples needed to reach them.
class StudyTable : public QWidget {
    Q_OBJECT
public:
    explicit StudyTable(QWidget* parent = nullptr);

    void setStudy(const StudyLayout& layout, const StudyMetric& metric,
                  const std::vector<StudyPoint>& points,
                  const std::vector<PublishedPoint>& published, const StudyNeeded& needed);
    /// Lines as shown, cells separated by tabs.
    QString text() const;
    /// Both tables as shown, separated by commas.
    QString csv() const;

    QTableView* view() const { return m_view; }
    QTableView* neededView() const { return m_needed; }
    PanelHead* head() const { return m_head; }
    QMenu* menu() const { return m_menu; }  ///< behind "..."

Q_SIGNALS:
    void csvRequested();

protected:
    void changeEvent(QEvent* event) override;

private:
    QTableView* makeView(ColumnModel<StudyLine>* model, const QString& name);
    void fitColumns();
    QString joined(QChar separator) const;

    PanelHead *m_head, *m_neededHead;
    QWidget* m_neededPart;
    ColumnModel<StudyLine>*m_model, *m_neededModel;
    QTableView *m_view, *m_needed;
    QMenu* m_menu;
};

}  // namespace relascope::widgets
