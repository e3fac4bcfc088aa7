// SPDX-License-Identifier: GPL-3.0-or-later
// An ablation table: a sortable row for each part of the model, below it the curve with more and
// more parts removed and the pairs, where they were measured.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <QAbstractTableModel>
#include <QStyledItemDelegate>
#include <QWidget>

#include "types/edit_results.h"
#include "widgets/analysis/answer_view.h"

class QPainter;

namespace relascope::widgets {

// The metric of a model from which more and more parts are taken, the least important first.

class CumulativePlot : public QWidget {
    Q_OBJECT
public:
    explicit CumulativePlot(QWidget* parent = nullptr);
    ~CumulativePlot() override;

    void setTable(const AblationTable& table);
    /// "Parts removed one after another (mean)".
    static QString title(const AblationTable& table);
    /// What the tooltip at a position of this widget says; empty beside the curve.
    QString hoverText(const QPoint& at) const;
    /// Position of the value with the first `removed` parts out, in this widget.
    QPointF pixelOf(int removed) const;
    void paintVector(QPainter& painter, int top, const QSize& size);

    QSize minimumSizeHint() const override { return {240, 160}; }

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Parts;
    std::unique_ptr<Parts> m;
};

// The rows of an ablation table for a view: part, group, whether the model needs it (claims.h), and
// for each way the change of the metric and the share of changed answers.

class AblationModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum class Column { Part, Group, Use, Change, Changed, Norm };
    /// Of a cell of Column::Change: the change and its interval as numbers, and the latter as text.
    enum Role { Value = Qt::UserRole, Low, High, Interval };
    using QAbstractTableModel::QAbstractTableModel;

    /// Rows that were there before keep their selection.
    void setTable(AblationTable table, std::vector<std::string> uses = {});
    const AblationTable& table() const { return m_table; }
    /// Of all changes with their intervals.
    const BarRange& range() const { return m_range; }
    const AblationRow* rowAt(int row) const;
    Column kind(int column) const;
    /// The way that a column is about; zero for the others.
    EditOp wayOf(int column) const;
    int indexOfPart(const std::string& part) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    /// Column -1: by the largest |change| of any way, as measured.
    void sort(int column, Qt::SortOrder order) override;

private:
    const AblationRow::Way* wayAt(const AblationRow& row, int column) const;
    void order();
    QVariant display(const AblationRow& row, int column) const;
    QString tip(const AblationRow& row, int column) const;
    const std::string& useOf(const AblationRow& row) const;

    AblationTable m_table;
    std::vector<std::string> m_uses;  ///< of each row of the table
    std::vector<EditOp> m_ways;
    std::vector<int> m_order;  ///< rows of the table, as shown
    BarRange m_range;
    int m_column = -1;
    Qt::SortOrder m_direction = Qt::DescendingOrder;
};

// Cells of an ablation table: a change as number, interval and bar around zero.

class AblationDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
};

}  // namespace relascope::widgets

class QLabel;
class QPushButton;
class QTableView;
class QTableWidget;

namespace relascope::widgets {

class AblationModel;
class CumulativePlot;

class AblationView : public AnswerView {
    Q_OBJECT
public:
    explicit AblationView(QWidget* parent = nullptr);

    const AblationTable& table() const;
    void clear(const QString& sentence) override;
    /// The chosen part as the edit that takes it out, in the way of the chosen column; nullptr
    /// without one.
    std::optional<Edit> chosenEdit() const;

    QTableView* view() const { return m_view; }
    QTableWidget* pairs() const { return m_pairs; }
    CumulativePlot* curve() const { return m_curve; }

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;

    /// Takes the chosen part out in the inspector, as Enter and a double click on a row do.
    QPushButton* knockOutButton() const { return m_knockOut; }

protected:
    /// A finished table, or one of fewer examples than wanted while it is measured.
    void fill(const Answer& answer) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitColumns(QTableView& view, int width) const;
    void fillPairs();
    void requestEdit();
    void updateKnockOut();
    std::unique_ptr<QTableView> wholeTable() const;
    int pairsInFigure() const;

    AblationModel* m_model;
    QTableView* m_view;
    QPushButton* m_knockOut;
    QWidget* m_below;
    QWidget *m_curvePart, *m_pairsPart;
    QLabel* m_curveTitle;
    CumulativePlot* m_curve;
    QTableWidget* m_pairs;
};

}  // namespace relascope::widgets
