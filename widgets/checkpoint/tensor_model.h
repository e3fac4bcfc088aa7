// SPDX-License-Identifier: GPL-3.0-or-later
// The tensors of a checkpoint as a tree of blocks. Private to widgets/checkpoint.
#pragma once

#include <QAbstractItemModel>
#include <QHash>
#include <map>
#include <memory>
#include <vector>

#include "types/checkpoint_info.h"

namespace relascope::widgets {

/// A prefix common to all names is removed. Repeated blocks ("blocks.0", "blocks.1", ...) are
/// branches; those after the first are grouped under one branch.
class TensorModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Shape, Type, Bytes, Range, Columns };
    /// Alias: "= final_out.weight", muted. Muted: secondary text. Broken: holds NaN or infinity.
    enum Role { FullName = Qt::UserRole, Alias, Muted, Broken };

    explicit TensorModel(QObject* parent = nullptr);
    ~TensorModel() override;

    void setTensors(std::vector<StoredTensor> tensors);
    const std::vector<StoredTensor>& tensors() const { return m_tensors; }
    void setStatistics(const TensorStatistics& statistics);
    const TensorStatistics* statistics(const QString& name) const;
    /// Filters names by words, all of which they must contain; empty shows all.
    void setFilter(const QString& text);
    int shown() const { return m_shown; }  ///< tensors that pass the filter
    /// The prefix common to all names, "layers" for "layers."; empty if there is none.
    QString commonPrefix() const { return m_prefix; }
    QModelIndex indexOf(const QString& name, int column = 0) const;
    const StoredTensor* tensorAt(const QModelIndex& index) const;  ///< nullptr for a branch
    /// Branches that are expanded initially: the first block of each kind.
    QModelIndexList firstBranches() const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& = {}) const override { return Columns; }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    /// Sorts within each branch; column -1 is the order of the file.
    void sort(int column, Qt::SortOrder order) override;

private:
    struct Node;
    void build();
    void finish(Node& node);
    void arrange(Node& node);
    Node* nodeOf(const QModelIndex& index) const;
    QModelIndex indexOf(const Node* node, int column) const;
    QVariant leafData(const StoredTensor& tensor, const Node& node, int column, int role) const;

    std::vector<StoredTensor> m_tensors;
    std::map<std::string, TensorStatistics> m_statistics;
    std::unique_ptr<Node> m_root;
    QHash<QString, Node*> m_leaves;
    QStringList m_filter;
    QString m_prefix;
    int m_shown = 0;
    int m_sortColumn = -1;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

/// The shape of a tensor: "[50304, 1024]".
QString tensorShape(const std::vector<std::int64_t>& shape);
/// The range of a tensor's values: "−0.31 … 0.29"; three significant figures.
QString rangeText(const TensorStatistics& statistics);
/// A number of a tensor with a true minus sign, three significant figures.
QString shortNumber(double value);

}  // namespace relascope::widgets
