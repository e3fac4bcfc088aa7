// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/checkpoint/tensor_model.h"

#include <QCollator>
#include <QFont>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "widgets/kit/table_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

struct TensorModel::Node {
    QString name;
    int tensor = -1;  ///< index of the tensors; -1 for a branch
    int order = 0;    ///< position in the file
    int row = 0;
    Node* parent = nullptr;
    std::vector<std::unique_ptr<Node>> children;
    int count = 0;  ///< tensors below
    quint64 bytes = 0;
    bool open = false;  ///< whether the branch is expanded at first
};

QString shortNumber(double value) {
    if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "inf" : "\u2212inf";
    QString text = QString::number(std::abs(value), 'g', 3);
    const double size = std::abs(value);
    if (size >= 0.001 && size < 1000)
        text = QString::number(size, 'f', size < 0.01 ? 4 : size < 0.1 ? 3 : size < 10 ? 2 : 1);
    return value < 0 ? QChar(0x2212) + text : text;
}

QString tensorShape(const std::vector<std::int64_t>& shape) {
    QStringList sizes;
    for (const auto size : shape) sizes << QString::number(size);
    return u'[' + sizes.join(QStringLiteral(", ")) + u']';
}

QString rangeText(const TensorStatistics& s) {
    const QString broken =
        s.notFinite > 0 ? groupedNumber(s.notFinite) + QStringLiteral(" not finite") : QString();
    if (s.count == 0) return QStringLiteral("empty");
    if (s.notFinite >= s.count) return broken;
    const QString range =
        shortNumber(s.minimum) + QStringLiteral(" \u2026 ") + shortNumber(s.maximum);
    return broken.isEmpty() ? range : broken + QStringLiteral(", ") + range;
}

TensorModel::TensorModel(QObject* parent)
    : QAbstractItemModel(parent), m_root(std::make_unique<Node>()) {}
TensorModel::~TensorModel() = default;

void TensorModel::setTensors(std::vector<StoredTensor> tensors) {
    beginResetModel();
    m_tensors = std::move(tensors);
    m_statistics.clear();
    m_prefix.clear();
    if (m_tensors.size() > 1) {
        std::string shared = m_tensors.front().name;
        for (const auto& tensor : m_tensors) {
            const auto [a, b] =
                std::mismatch(shared.begin(), shared.end(), tensor.name.begin(), tensor.name.end());
            shared.erase(a, shared.end());
        }
        // Up to a dot: a prefix consists of whole components.
        const auto dot = shared.rfind('.');
        if (dot != std::string::npos) m_prefix = QString::fromStdString(shared.substr(0, dot));
        // "blocks." is kept if it is followed by a block number.
        const auto numbered = [this](const StoredTensor& tensor) {
            const QString rest = QString::fromStdString(tensor.name).mid(m_prefix.size() + 1);
            return !rest.isEmpty() && rest.front().isDigit();
        };
        if (!m_prefix.isEmpty() && std::any_of(m_tensors.begin(), m_tensors.end(), numbered))
            m_prefix = m_prefix.section(u'.', 0, -2);
    }
    build();
    endResetModel();
}

void TensorModel::setFilter(const QString& text) {
    static const QRegularExpression space(QStringLiteral("\\s+"));
    const QStringList filter = text.split(space, Qt::SkipEmptyParts);
    if (filter == m_filter) return;
    beginResetModel();
    m_filter = filter;
    build();
    endResetModel();
}

void TensorModel::build() {
    m_root = std::make_unique<Node>();
    m_leaves.clear();
    std::vector<int> members;
    for (int k = 0; k < static_cast<int>(m_tensors.size()); ++k) {
        // The name is compared with a dot at its end, so that the prefix "class_token." finds the
        // tensor "class_token".
        const QString name =
            QString::fromStdString(m_tensors[static_cast<std::size_t>(k)].name) + u'.';
        if (std::all_of(m_filter.begin(), m_filter.end(), [&](const QString& word) {
                return name.contains(word, Qt::CaseInsensitive);
            }))
            members.push_back(k);
    }
    m_shown = static_cast<int>(members.size());
    const int cut = m_prefix.isEmpty() ? 0 : static_cast<int>(m_prefix.size()) + 1;
    // The block of a name by its first number: {stem, number}, or nothing.
    static const QRegularExpression block(QStringLiteral("^(.*?[^.]+)\\.(\\d+)\\."));
    struct Where {
        QString stem;
        int number = -1;
    };
    std::vector<Where> where;
    QHash<QString, QList<int>> numbers;
    // Tensors in a block, and most tensors in a block of its kind.
    QHash<QString, int> tensorsOf, largest;
    for (const int k : members) {
        const QString name =
            QString::fromStdString(m_tensors[static_cast<std::size_t>(k)].name).mid(cut);
        const auto match = block.match(name);
        where.push_back(match.hasMatch() ? Where{match.captured(1), match.captured(2).toInt()}
                                         : Where{});
        if (!match.hasMatch()) continue;
        auto& known = numbers[where.back().stem];
        if (!known.contains(where.back().number)) known << where.back().number;
        const int count = ++tensorsOf[where.back().stem + u'.' + match.captured(2)];
        int& most = largest[where.back().stem];
        most = std::max(most, count);
    }
    QHash<QString, Node*> branches;
    const auto open = [&](Node& parent, const QString& name, int order) -> Node& {
        Node*& found = branches[name];
        if (!found) {
            parent.children.push_back(std::make_unique<Node>());
            found = parent.children.back().get();
            found->name = name;
            found->parent = &parent;
            found->order = order;
        }
        return *found;
    };
    for (std::size_t m = 0; m < members.size(); ++m) {
        const auto& stored = m_tensors[static_cast<std::size_t>(members[m])];
        QString name = QString::fromStdString(stored.name).mid(cut);
        Node* parent = m_root.get();
        const auto& known = numbers[where[m].stem];
        // A weight and its bias do not need a branch.
        if (where[m].number >= 0 && known.size() > 1 && largest[where[m].stem] > 2) {
            const QString own = where[m].stem + u'.' + QString::number(where[m].number);
            const bool first = where[m].number == known.first();
            if (!first && known.size() > 3)
                parent = &open(*parent,
                               QStringLiteral("%1.%2 to %1.%3")
                                   .arg(where[m].stem)
                                   .arg(known.at(1))
                                   .arg(known.last()),
                               members[m]);
            parent = &open(*parent, own, members[m]);
            parent->open = first;
            name = name.mid(own.size() + 1);
        }
        auto leaf = std::make_unique<Node>();
        leaf->name = name;
        leaf->tensor = members[m];
        leaf->order = members[m];
        leaf->parent = parent;
        leaf->count = 1;
        leaf->bytes = stored.sameAs.empty() ? stored.bytes : 0;
        m_leaves.insert(QString::fromStdString(stored.name), leaf.get());
        parent->children.push_back(std::move(leaf));
    }
    finish(*m_root);
    arrange(*m_root);
}

void TensorModel::finish(Node& node) {
    for (auto& child : node.children) {
        finish(*child);
        node.count += child->count;
        node.bytes += child->bytes;
    }
}

void TensorModel::arrange(Node& node) {
    const auto statistics = [this](const Node& n) -> const TensorStatistics* {
        if (n.tensor < 0) return nullptr;
        const auto found = m_statistics.find(m_tensors[static_cast<std::size_t>(n.tensor)].name);
        return found == m_statistics.end() ? nullptr : &found->second;
    };
    const auto compare = [&](const Node& a, const Node& b) -> int {
        const auto sign = [](auto x, auto y) { return x < y ? -1 : y < x ? 1 : 0; };
        const auto tensor = [this](const Node& n) {
            return n.tensor < 0 ? nullptr : &m_tensors[static_cast<std::size_t>(n.tensor)];
        };
        switch (m_sortColumn) {
            case Name:
                return naturalOrder().compare(a.name, b.name);
            case Shape:
                return sign(tensor(a) ? tensor(a)->count() : std::int64_t{a.count},
                            tensor(b) ? tensor(b)->count() : std::int64_t{b.count});
            case Type:
                return sign(tensor(a) ? tensor(a)->dtype : std::string(),
                            tensor(b) ? tensor(b)->dtype : std::string());
            case Bytes:
                return sign(a.bytes, b.bytes);
            case Range: {  // by the largest magnitude; tensors with NaN are beyond all others
                const auto size = [&](const Node& n) {
                    const auto* s = statistics(n);
                    if (!s) return -1.0;
                    return s->notFinite > 0 ? HUGE_VAL
                                            : std::max(std::abs(s->minimum), std::abs(s->maximum));
                };
                return sign(size(a), size(b));
            }
            default:
                return 0;
        }
    };
    const bool down = m_sortOrder == Qt::DescendingOrder;
    std::sort(node.children.begin(), node.children.end(),
              [&](const std::unique_ptr<Node>& a, const std::unique_ptr<Node>& b) {
                  const int c = compare(*a, *b);
                  return c != 0 ? (down ? c > 0 : c < 0) : a->order < b->order;
              });
    for (std::size_t k = 0; k < node.children.size(); ++k) {
        node.children[k]->row = static_cast<int>(k);
        arrange(*node.children[k]);
    }
}

void TensorModel::sort(int column, Qt::SortOrder order) {
    if (column == m_sortColumn && order == m_sortOrder) return;
    Q_EMIT layoutAboutToBeChanged();
    m_sortColumn = column;
    m_sortOrder = order;
    arrange(*m_root);
    QModelIndexList moved;
    for (const QModelIndex& old : persistentIndexList())
        moved << indexOf(static_cast<const Node*>(old.internalPointer()), old.column());
    changePersistentIndexList(persistentIndexList(), moved);
    Q_EMIT layoutChanged();
}

void TensorModel::setStatistics(const TensorStatistics& statistics) {
    m_statistics[statistics.name] = statistics;
    const QModelIndex at = indexOf(QString::fromStdString(statistics.name), Range);
    if (at.isValid()) Q_EMIT dataChanged(at, at);
}
const TensorStatistics* TensorModel::statistics(const QString& name) const {
    const auto found = m_statistics.find(name.toStdString());
    return found == m_statistics.end() ? nullptr : &found->second;
}

const StoredTensor* TensorModel::tensorAt(const QModelIndex& index) const {
    const int tensor = nodeOf(index)->tensor;
    return tensor < 0 ? nullptr : &m_tensors[static_cast<std::size_t>(tensor)];
}
QModelIndex TensorModel::indexOf(const QString& name, int column) const {
    return indexOf(m_leaves.value(name), column);
}
QModelIndex TensorModel::indexOf(const Node* node, int column) const {
    return node && node != m_root.get() ? createIndex(node->row, column, node) : QModelIndex();
}
QModelIndexList TensorModel::firstBranches() const {
    QModelIndexList open;
    for (const auto& child : m_root->children)
        if (child->open) open << indexOf(child.get(), 0);
    return open;
}

TensorModel::Node* TensorModel::nodeOf(const QModelIndex& index) const {
    return index.isValid() ? static_cast<Node*>(index.internalPointer()) : m_root.get();
}
QModelIndex TensorModel::index(int row, int column, const QModelIndex& parent) const {
    const Node* node = nodeOf(parent);
    if (row < 0 || column < 0 || column >= Columns ||
        row >= static_cast<int>(node->children.size()))
        return {};
    return indexOf(node->children[static_cast<std::size_t>(row)].get(), column);
}
QModelIndex TensorModel::parent(const QModelIndex& index) const {
    return index.isValid() ? indexOf(nodeOf(index)->parent, 0) : QModelIndex();
}
int TensorModel::rowCount(const QModelIndex& parent) const {
    return parent.column() > 0 ? 0 : static_cast<int>(nodeOf(parent)->children.size());
}

QVariant TensorModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Node& node = *nodeOf(index);
    const int column = index.column();
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(
            (column == Bytes || column == Range ? Qt::AlignRight : Qt::AlignLeft) |
            Qt::AlignVCenter);
    if (role == Qt::FontRole)
        return column == Name || (column == Shape && node.tensor >= 0) ? monoFont(12)
                                                                       : numberFont(12);
    if (node.tensor >= 0)
        return leafData(m_tensors[static_cast<std::size_t>(node.tensor)], node, column, role);
    if (role == Muted) return column != Name;
    if (role != Qt::DisplayRole) return {};
    switch (column) {
        case Name:
            return node.name;
        case Shape:
            return node.count == 1 ? QStringLiteral("1 tensor")
                                   : groupedNumber(node.count) + QStringLiteral(" tensors");
        case Bytes:
            return byteSize(node.bytes);
        default:
            return {};
    }
}

QVariant TensorModel::leafData(const StoredTensor& tensor, const Node& node, int column,
                               int role) const {
    const auto found = m_statistics.find(tensor.name);
    const TensorStatistics* statistics = found == m_statistics.end() ? nullptr : &found->second;
    switch (role) {
        case FullName:
            return QString::fromStdString(tensor.name);
        case Alias:
            return column == Name && !tensor.sameAs.empty()
                       ? QStringLiteral("= ") +
                             QString::fromStdString(tensor.sameAs)
                                 .mid(m_prefix.isEmpty() ? 0 : m_prefix.size() + 1)
                   : column == Name ? QString::fromStdString(tensor.note)
                                    : QString();
        case Muted:
            return column == Type || column == Range;
        case Broken:
            return column == Range && statistics && statistics->notFinite > 0;
        case Qt::ToolTipRole:
            return plainTip(tensor.stored.empty() || tensor.stored == tensor.name
                                ? QString::fromStdString(tensor.name)
                                : QStringLiteral("%1\nin the file: %2")
                                      .arg(QString::fromStdString(tensor.name),
                                           QString::fromStdString(tensor.stored)));
        case Qt::DisplayRole:
            break;
        default:
            return {};
    }
    switch (column) {
        case Name:
            return node.name;
        case Shape:
            return tensorShape(tensor.shape);
        case Type:
            return QString::fromStdString(tensor.dtype);
        case Bytes:
            return byteSize(node.bytes);
        default:
            return statistics ? rangeText(*statistics) : QString();
    }
}

QVariant TensorModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(
            (section == Bytes || section == Range ? Qt::AlignRight : Qt::AlignLeft) |
            Qt::AlignVCenter);
    static const char* const names[] = {"Name", "Shape", "Type", "Bytes", "Range"};
    if (role == Qt::DisplayRole && section < Columns) return QString::fromLatin1(names[section]);
    return {};
}

}  // namespace relascope::widgets
