// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/ablation_model.h"

#include <QCollator>
#include <QFont>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "widgets/measure/measure_text.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kFirstWay = 2;  // columns before those of the ways
constexpr int kColumnsAWay = 2;

double ratio(const AblationRow& row) {
    return row.streamNorm > 0 ? row.partNorm / row.streamNorm
                              : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void AblationModel::setTable(AblationTable table) {
    std::vector<EditOp> ways;
    for (const auto& row : table.rows)
        for (const auto& way : row.ways)
            if (std::find(ways.begin(), ways.end(), way.how) == ways.end()) ways.push_back(way.how);
    const bool same = ways == m_ways && table.rows.size() == m_table.rows.size();
    std::vector<std::string> before;
    QModelIndexList held;
    if (same) {
        Q_EMIT layoutAboutToBeChanged();  // views make persistent indices of their own
        held = persistentIndexList();
        for (const QModelIndex& index : held) before.push_back(rowAt(index.row())->part);
    } else {
        beginResetModel();
    }
    m_table = std::move(table);
    m_ways = std::move(ways);
    m_range = {};
    for (const auto& row : m_table.rows)
        for (const auto& way : row.ways)
            for (const double value : {way.change.change, way.change.low, way.change.high})
                m_range.include(value);
    order();
    if (!same) return endResetModel();
    QModelIndexList now;
    for (qsizetype i = 0; i < held.size(); ++i)
        now << index(indexOfPart(before[static_cast<std::size_t>(i)]), held[i].column());
    changePersistentIndexList(held, now);
    Q_EMIT layoutChanged();
}

const AblationRow* AblationModel::rowAt(int row) const {
    if (row < 0 || row >= rowCount()) return nullptr;
    return &m_table.rows[static_cast<std::size_t>(m_order[static_cast<std::size_t>(row)])];
}

int AblationModel::indexOfPart(const std::string& part) const {
    for (int row = 0; row < rowCount(); ++row)
        if (rowAt(row)->part == part) return row;
    return -1;
}

AblationModel::Column AblationModel::kind(int column) const {
    if (column == 0) return Column::Part;
    if (column == 1) return Column::Group;
    if (column == columnCount() - 1) return Column::Norm;
    return (column - kFirstWay) % kColumnsAWay == 0 ? Column::Change : Column::Changed;
}

EditOp AblationModel::wayOf(int column) const {
    const auto at = static_cast<std::size_t>(std::max(0, column - kFirstWay) / kColumnsAWay);
    return column >= kFirstWay && at < m_ways.size() ? m_ways[at] : EditOp::Zero;
}

const AblationRow::Way* AblationModel::wayAt(const AblationRow& row, int column) const {
    for (const auto& way : row.ways)
        if (way.how == wayOf(column)) return &way;
    return nullptr;
}

int AblationModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_order.size());
}
int AblationModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kFirstWay + kColumnsAWay * static_cast<int>(m_ways.size()) + 1;
}

QVariant AblationModel::display(const AblationRow& row, int column) const {
    const QString dash(QChar(0x2014));
    const auto* way = wayAt(row, column);
    switch (kind(column)) {
        case Column::Part:
            return QString::fromStdString(row.part);
        case Column::Group:
            return QString::fromStdString(row.group);
        case Column::Change:
            return way ? MetricText(m_table.metric).change(way->change.change) : dash;
        case Column::Changed:
            return way ? probabilityText(way->changedAnswers) : dash;
        case Column::Norm:
            break;
    }
    QString text = QString::number(row.partNorm, 'f', 2);
    if (row.streamNorm > 0)
        text += QStringLiteral(" of %1").arg(QString::number(row.streamNorm, 'f', 2));
    return text;
}

QString AblationModel::tip(const AblationRow& row, int column) const {
    const MetricText text(m_table.metric);
    const auto* way = wayAt(row, column);
    const Column what = kind(column);
    if (what == Column::Part || what == Column::Group)
        return QStringLiteral("%1 at %2")
            .arg(QString::fromStdString(row.part), QString::fromStdString(row.edit.at));
    if (what == Column::Norm)
        return row.streamNorm > 0
                   ? QStringLiteral("Mean length of the part %1, of the stream before the layer %2")
                         .arg(row.partNorm, 0, 'g', 4)
                         .arg(row.streamNorm, 0, 'g', 4)
                   : QStringLiteral("Mean length of the part %1").arg(row.partNorm, 0, 'g', 4);
    if (!way) return QStringLiteral("Not measured in this way");
    if (what == Column::Changed)
        return QStringLiteral("%1 of the answers change").arg(probabilityText(way->changedAnswers));
    return QStringLiteral("%1, %2: %3 from %4 to %5, change %6 %7 %8")
        .arg(QString::fromStdString(row.part), wayText(way->how), text.title.toLower(),
             text.value(way->change.base), text.value(way->change.edited),
             text.change(way->change.change), text.interval(way->change.low, way->change.high),
             text.unit)
        .trimmed();
}

QVariant AblationModel::data(const QModelIndex& index, int role) const {
    const auto* row = rowAt(index.row());
    if (!row || !index.isValid()) return {};
    const int column = index.column();
    const auto* way = kind(column) == Column::Change ? wayAt(*row, column) : nullptr;
    switch (role) {
        case Qt::DisplayRole:
            return display(*row, column);
        case Qt::ToolTipRole:
        case Qt::AccessibleDescriptionRole:
            return tip(*row, column);
        case Qt::TextAlignmentRole:
            return static_cast<int>(Qt::AlignVCenter |
                                    (column < kFirstWay ? Qt::AlignLeft : Qt::AlignRight));
        case Qt::FontRole:
            return column < kFirstWay ? smallFont() : numberFont(12);
        case Value:
            return way ? QVariant(way->change.change) : QVariant();
        case Low:
            return way ? QVariant(way->change.low) : QVariant();
        case High:
            return way ? QVariant(way->change.high) : QVariant();
        case Interval:
            return way ? MetricText(m_table.metric).interval(way->change.low, way->change.high)
                       : QString();
        default:
            return {};
    }
}

QVariant AblationModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(Qt::AlignVCenter |
                                (kind(section) == Column::Changed || kind(section) == Column::Norm
                                     ? Qt::AlignRight
                                     : Qt::AlignLeft));
    const MetricText text(m_table.metric);
    if (role == Qt::DisplayRole) switch (kind(section)) {
            case Column::Part:
                return QStringLiteral("Part");
            case Column::Group:
                return QStringLiteral("Group");
            case Column::Change:
                return wayText(wayOf(section)).replace(0, 1, wayText(wayOf(section))[0].toUpper());
            case Column::Changed:
                return QStringLiteral("Changed");
            case Column::Norm:
                return QStringLiteral("Length");
        }
    if (role == Qt::ToolTipRole) switch (kind(section)) {
            case Column::Part:
            case Column::Group:
                return QStringLiteral("Click to sort");
            case Column::Change:
                return QStringLiteral(
                           "Change of the %1 with the part replaced by %2, with its "
                           "95 % interval%3")
                    .arg(text.title.toLower(), wayText(wayOf(section)),
                         text.percent ? QStringLiteral(", in points") : QString());
            case Column::Changed:
                return QStringLiteral("Share of the examples whose answer changes (%1)")
                    .arg(wayText(wayOf(section)));
            case Column::Norm:
                return QStringLiteral(
                    "Mean length of the part, and of the stream before its layer");
        }
    return {};
}

void AblationModel::order() {
    m_order.resize(m_table.rows.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    if (m_column < 0 || m_column >= columnCount()) return;
    const Column what = kind(m_column);
    QCollator collator;
    collator.setNumericMode(true);
    const auto text = [&](const AblationRow& row) {
        return QString::fromStdString(what == Column::Part ? row.part : row.group);
    };
    // What was not measured sorts behind everything else when the largest come first.
    const auto number = [&](const AblationRow& row) {
        const auto* way = wayAt(row, m_column);
        const double value = what == Column::Norm      ? ratio(row)
                             : !way                    ? -1.0
                             : what == Column::Changed ? way->changedAnswers
                                                       : std::abs(way->change.change);
        return std::isnan(value) ? -1.0 : value;
    };
    const auto less = [&](int a, int b) {
        const auto &x = m_table.rows[static_cast<std::size_t>(a)],
                   &y = m_table.rows[static_cast<std::size_t>(b)];
        if (what == Column::Part || what == Column::Group)
            return collator.compare(text(x), text(y)) < 0;
        return number(x) < number(y);
    };
    const bool up = m_direction == Qt::AscendingOrder;
    std::stable_sort(m_order.begin(), m_order.end(),
                     [&](int a, int b) { return up ? less(a, b) : less(b, a); });
}

void AblationModel::sort(int column, Qt::SortOrder direction) {
    Q_EMIT layoutAboutToBeChanged();
    const QModelIndexList held = persistentIndexList();
    std::vector<std::string> before;
    for (const QModelIndex& index : held) before.push_back(rowAt(index.row())->part);
    m_column = column;
    m_direction = direction;
    order();
    QModelIndexList now;
    for (qsizetype i = 0; i < held.size(); ++i)
        now << index(indexOfPart(before[static_cast<std::size_t>(i)]), held[i].column());
    changePersistentIndexList(held, now);
    Q_EMIT layoutChanged();
}

}  // namespace relascope::widgets
