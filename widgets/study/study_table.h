// SPDX-License-Identifier: GPL-3.0-or-later
// The results of a study as a table: means and errors, parameters, published values, and the
// examples that each model needs.
#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <QWidget>

#include "widgets/study/study_cells.h"

class QMenu;
class QTableView;

namespace relascope::widgets {

// The model of a sortable table of results. Private to widgets/study.

class StudyTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role { SortRole = Qt::UserRole, PublishedRole, BestRole, ColorRole };
    struct Cell {
        QString text, published, tip;
        double sort = 0.0;  ///< NaN goes last
        bool best = false;  ///< of its column
        bool muted = false;
        bool operator==(const Cell&) const = default;
    };
    using QAbstractTableModel::QAbstractTableModel;

    /// Tables of the same shape are updated in place, which keeps selection and scroll position.
    void setTable(QStringList heads, QStringList headTips, QStringList rows,
                  std::vector<std::vector<Cell>> cells);
    bool hasPublished() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QStringList m_heads, m_headTips, m_rows;
    std::vector<std::vector<Cell>> m_cells;
};

/// Missing values are last in either order.
class StudyTableOrder : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

protected:
    bool lessThan(const QModelIndex& a, const QModelIndex& b) const override;
};

class PanelHead;
class StudyTableModel;

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
    QTableView* makeView(StudyTableModel* model, const QString& name);
    void fitColumns();
    QString joined(QChar separator) const;

    PanelHead *m_head, *m_neededHead;
    QWidget* m_neededPart;
    StudyTableModel *m_model, *m_neededModel;
    QTableView *m_view, *m_needed;
    QMenu* m_menu;
};

}  // namespace relascope::widgets
