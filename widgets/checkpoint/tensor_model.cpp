// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/checkpoint/tensor_model.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "widgets/kit/cell_delegate.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

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

TensorModel::TensorModel(QObject* parent) : ColumnModel(parent) {
    using Node = TensorNode;
    std::vector<ModelColumn<Node>> columns(Columns);
    columns[Name] = {.title = QStringLiteral("Name"),
                     .text = [](const Node& n) { return n.name; },
                     .look = [](const Node&, int role) -> QVariant {
                         return role == Qt::FontRole ? monoFont(12) : QVariant();
                     }};
    columns[Shape] = {
        .title = QStringLiteral("Shape"),
        .text =
            [this](const Node& n) {
                if (const auto* tensor = tensorOf(n)) return tensorShape(tensor->shape);
                return n.count == 1 ? QStringLiteral("1 tensor")
                                    : groupedNumber(n.count) + QStringLiteral(" tensors");
            },
        .key =
            [this](const Node& n) {
                const auto* tensor = tensorOf(n);
                return static_cast<double>(tensor ? tensor->count() : n.count);
            },
        .look = [this](const Node& n, int role) -> QVariant {
            return role == Qt::FontRole ? tensorOf(n) ? monoFont(12) : numberFont(12) : QVariant();
        }};
    columns[Type] = {.title = QStringLiteral("Type"),
                     .text =
                         [this](const Node& n) {
                             const auto* tensor = tensorOf(n);
                             return tensor ? QString::fromStdString(tensor->dtype) : QString();
                         },
                     .look = [](const Node&, int role) -> QVariant {
                         return role == Qt::FontRole ? numberFont(12) : QVariant();
                     }};
    columns[Bytes] = {.title = QStringLiteral("Bytes"),
                      .number = true,
                      .text = [](const Node& n) { return byteSize(n.bytes); },
                      .key = [](const Node& n) { return static_cast<double>(n.bytes); }};
    columns[Range] = {.title = QStringLiteral("Range"),
                      .number = true,
                      .text =
                          [this](const Node& n) {
                              const auto* statistics = statisticsOf(n);
                              return statistics ? rangeText(*statistics) : QString();
                          },
                      // By the largest magnitude; tensors with NaN are beyond all others.
                      .key =
                          [this](const Node& n) {
                              const auto* s = statisticsOf(n);
                              return !s ? -1.0
                                     : s->notFinite > 0
                                         ? HUGE_VAL
                                         : std::max(std::abs(s->minimum), std::abs(s->maximum));
                          }};
    setColumns(std::move(columns));
}

void TensorModel::setTensors(std::vector<StoredTensor> tensors) {
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
}

void TensorModel::setFilter(const QString& text) {
    static const QRegularExpression space(QStringLiteral("\\s+"));
    const QStringList filter = text.split(space, Qt::SkipEmptyParts);
    if (filter == m_filter) return;
    m_filter = filter;
    build();
}

void TensorModel::build() {
    std::vector<TensorNode> nodes;
    std::vector<int> parents;
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
    QHash<QString, int> branches;
    const auto open = [&](int parent, const QString& name) {
        const auto found = branches.constFind(name);
        if (found != branches.cend()) return *found;
        nodes.push_back({name});
        parents.push_back(parent);
        return *branches.insert(name, static_cast<int>(nodes.size()) - 1);
    };
    for (std::size_t m = 0; m < members.size(); ++m) {
        const auto& stored = m_tensors[static_cast<std::size_t>(members[m])];
        QString name = QString::fromStdString(stored.name).mid(cut);
        int parent = -1;
        const auto& known = numbers[where[m].stem];
        // A weight and its bias do not need a branch.
        if (where[m].number >= 0 && known.size() > 1 && largest[where[m].stem] > 2) {
            const QString own = where[m].stem + u'.' + QString::number(where[m].number);
            const bool first = where[m].number == known.first();
            if (!first && known.size() > 3)
                parent = open(parent, QStringLiteral("%1.%2 to %1.%3")
                                          .arg(where[m].stem)
                                          .arg(known.at(1))
                                          .arg(known.last()));
            parent = open(parent, own);
            nodes[static_cast<std::size_t>(parent)].open = first;
            name = name.mid(own.size() + 1);
        }
        m_leaves.insert(QString::fromStdString(stored.name), static_cast<int>(nodes.size()));
        nodes.push_back({name, members[m], 1, stored.sameAs.empty() ? stored.bytes : 0});
        parents.push_back(parent);
        for (; parent >= 0; parent = parents[static_cast<std::size_t>(parent)]) {
            auto& above = nodes[static_cast<std::size_t>(parent)];
            above.count += nodes.back().count;
            above.bytes += nodes.back().bytes;
        }
    }
    setTree(std::move(nodes), std::move(parents));
}

void TensorModel::setStatistics(const TensorStatistics& statistics) {
    m_statistics[statistics.name] = statistics;
    const QModelIndex at = indexOfTensor(QString::fromStdString(statistics.name), Range);
    if (at.isValid()) Q_EMIT dataChanged(at, at);
}
const TensorStatistics* TensorModel::statistics(const QString& name) const {
    const auto found = m_statistics.find(name.toStdString());
    return found == m_statistics.end() ? nullptr : &found->second;
}

const StoredTensor* TensorModel::tensorOf(const TensorNode& node) const {
    return node.tensor < 0 ? nullptr : &m_tensors[static_cast<std::size_t>(node.tensor)];
}
const TensorStatistics* TensorModel::statisticsOf(const TensorNode& node) const {
    const auto* tensor = tensorOf(node);
    const auto found = tensor ? m_statistics.find(tensor->name) : m_statistics.end();
    return found == m_statistics.end() ? nullptr : &found->second;
}
const StoredTensor* TensorModel::tensorAt(const QModelIndex& index) const {
    const TensorNode* node = rowOf(index);
    return node ? tensorOf(*node) : nullptr;
}
QModelIndex TensorModel::indexOfTensor(const QString& name, int column) const {
    return indexOf(m_leaves.value(name, -1), column);
}
QModelIndexList TensorModel::firstBranches() const {
    QModelIndexList branches;
    for (std::size_t row = 0; row < rows().size(); ++row)
        if (const QModelIndex at = indexOf(static_cast<int>(row));
            rows()[row].open && !at.parent().isValid())
            branches << at;
    return branches;
}

QVariant TensorModel::data(const QModelIndex& index, int role) const {
    const StoredTensor* tensor = tensorAt(index);
    const int column = index.column();
    switch (role) {
        case Qt::ForegroundRole: {
            const Theme& t = Theme::current();
            const auto* statistics = tensor ? statisticsOf(*rowOf(index)) : nullptr;
            if (column == Range && statistics && statistics->notFinite > 0) return t.error;
            const bool muted = tensor ? column == Type || column == Range : column != Name;
            return muted ? t.muted : t.text;
        }
        case FullName:
            return tensor ? QString::fromStdString(tensor->name) : QVariant();
        case TailRole:  // "= final_out.weight"
            if (column != Name || !tensor) return {};
            return tensor->sameAs.empty()
                       ? QString::fromStdString(tensor->note)
                       : QStringLiteral("= ") +
                             QString::fromStdString(tensor->sameAs)
                                 .mid(m_prefix.isEmpty() ? 0 : m_prefix.size() + 1);
        case Qt::ToolTipRole:
            if (!tensor) return {};
            return plainTip(tensor->stored.empty() || tensor->stored == tensor->name
                                ? QString::fromStdString(tensor->name)
                                : QStringLiteral("%1\nin the file: %2")
                                      .arg(QString::fromStdString(tensor->name),
                                           QString::fromStdString(tensor->stored)));
        case ElideRole:  // the end of a name is more specific
            return column == Name ? QVariant(Qt::ElideLeft) : QVariant();
        default:
            return ColumnModel::data(index, role);
    }
}

}  // namespace relascope::widgets
