// The table of runs as a model. Private to widgets/tables.
#pragma once

#include <QAbstractTableModel>
#include <QSet>
#include <QSortFilterProxyModel>
#include <map>
#include <vector>

#include "widgets/tables/runs_table.h"

namespace relascope {

class RunsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Overlay,
        Run,
        Model,
        Parameters,
        Seed,
        State,
        Loss,
        Accuracy,
        Perplexity,  ///< of text: exp of the loss
        Published,
        Difference,
        Time,
        NoteText,
        Columns
    };
    enum Role { SortRole = Qt::UserRole, ColorRole, PathRole };
    using QAbstractTableModel::QAbstractTableModel;

    void setRows(std::vector<TableRow> rows);
    const std::vector<TableRow>& rows() const { return m_rows; }
    QSet<QString> overlaid;
    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
    }
    int columnCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : Columns;
    }
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    /// Number by the name a filter uses ("best_acc"); NaN when there is none.
    double number(int row, const QString& name) const;
    static QString columnName(int column);

Q_SIGNALS:
    void overlayChanged();
    void noteEdited(const QString& path, const QString& note);

private:
    std::vector<TableRow> m_rows;
};

/// Words and comparisons, all of which must hold: "vidat best_acc > 85 seed=0".
class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    /// Empty when the text is understood, else a sentence.
    QString setText(const QString& text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    struct Comparison {
        QString name, sign;
        double value;
    };
    std::vector<Comparison> m_comparisons;
    QStringList m_words;
};

}  // namespace relascope
