// SPDX-License-Identifier: GPL-3.0-or-later
// The tensors of a checkpoint as a tree of blocks. Private to widgets/checkpoint.
#pragma once

#include <QHash>
#include <QStringList>
#include <map>
#include <vector>

#include "types/checkpoint_info.h"
#include "widgets/kit/column_model.h"

namespace relascope::widgets {

/// A tensor, or a branch with those below it.
struct TensorNode {
    QString name;
    int tensor = -1;  ///< index of the tensors; -1 for a branch
    int count = 0;    ///< tensors below
    quint64 bytes = 0;
    bool open = false;  ///< whether the branch is expanded at first
};

/// A prefix common to all names is removed. Repeated blocks ("blocks.0", "blocks.1", ...) are
/// branches; those after the first are grouped under one branch.
class TensorModel : public ColumnModel<TensorNode> {
public:
    enum Column { Name, Shape, Type, Bytes, Range, Columns };
    enum Role { FullName = Qt::UserRole };

    explicit TensorModel(QObject* parent = nullptr);

    void setTensors(std::vector<StoredTensor> tensors);
    const std::vector<StoredTensor>& tensors() const { return m_tensors; }
    void setStatistics(const TensorStatistics& statistics);
    const TensorStatistics* statistics(const QString& name) const;
    /// Filters names by words, all of which they must contain; empty shows all.
    void setFilter(const QString& text);
    int shown() const { return m_shown; }  ///< tensors that pass the filter
    /// The prefix common to all names, "layers" for "layers."; empty if there is none.
    QString commonPrefix() const { return m_prefix; }
    QModelIndex indexOfTensor(const QString& name, int column = 0) const;
    const StoredTensor* tensorAt(const QModelIndex& index) const;  ///< nullptr for a branch
    /// Branches that are expanded initially: the first block of each kind.
    QModelIndexList firstBranches() const;

    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

private:
    void build();
    const StoredTensor* tensorOf(const TensorNode& node) const;
    const TensorStatistics* statisticsOf(const TensorNode& node) const;

    std::vector<StoredTensor> m_tensors;
    std::map<std::string, TensorStatistics> m_statistics;
    QHash<QString, int> m_leaves;  ///< rows of the tensors
    QStringList m_filter;
    QString m_prefix;
    int m_shown = 0;
};

/// The shape of a tensor: "[50304, 1024]".
QString tensorShape(const std::vector<std::int64_t>& shape);
/// The range of a tensor's values: "−0.31 … 0.29"; three significant figures.
QString rangeText(const TensorStatistics& statistics);
/// A number of a tensor with a true minus sign, three significant figures.
QString shortNumber(double value);

}  // namespace relascope::widgets
