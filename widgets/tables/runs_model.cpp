#include "widgets/tables/runs_model.h"

#include <QRegularExpression>
#include <cmath>

#include "widgets/theme/theme.h"

namespace relascope {
namespace {

const double nan = std::numeric_limits<double>::quiet_NaN();
QString dash() {
    return QString(QChar(0x2014));
}
QString text(const std::string& s) {
    return QString::fromStdString(s);
}
QString fixed(double v, int digits, double scale = 1.0) {
    return std::isnan(v) ? dash() : QString::number(v * scale, 'f', digits);
}

double perplexity(const RunInfo& info) {
    return info.metric == "perplexity" ? std::exp(info.bestLoss) : nan;
}

QString clock(double seconds) {
    if (!(seconds > 0.0)) return dash();
    const auto s = static_cast<qint64>(std::llround(seconds));
    return s < 3600 ? QString("%1:%2").arg(s / 60).arg(s % 60, 2, 10, QChar('0'))
                    : QString("%1:%2:%3")
                          .arg(s / 3600)
                          .arg(s / 60 % 60, 2, 10, QChar('0'))
                          .arg(s % 60, 2, 10, QChar('0'));
}

}  // namespace

void RunsModel::setRows(std::vector<TableRow> rows) {
    bool same = rows.size() == m_rows.size();
    for (std::size_t i = 0; same && i < rows.size(); ++i)
        same = rows[i].info.path == m_rows[i].info.path;
    if (same) {
        // In place, so that selection, scrolling and an open editor stay.
        m_rows = std::move(rows);
        if (!m_rows.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, Columns - 1));
        return;
    }
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

QString RunsModel::columnName(int column) {
    static const QStringList names = {"",           "Run",         "Model",       "Parameters",
                                      "Seed",       "State",       "Val. loss",   "Best acc. %",
                                      "Perplexity", "Published %", "Ours − pub.", "Time, min",
                                      "Note"};
    return names.value(column);
}

double RunsModel::number(int row, const QString& name) const {
    const TableRow& r = m_rows[static_cast<std::size_t>(row)];
    if (name == "best_acc" || name == "val_acc" || name == "acc" || name == "accuracy")
        return 100.0 * r.info.bestAccuracy;
    if (name == "loss" || name == "val_loss" || name == "best_loss") return r.info.bestLoss;
    if (name == "perplexity" || name == "ppl") return perplexity(r.info);
    if (name == "params" || name == "parameters") return static_cast<double>(r.info.parameters);
    if (name == "seed") return static_cast<double>(r.info.seed);
    if (name == "step" || name == "steps") return static_cast<double>(r.info.step);
    if (name == "epoch") return r.info.epoch;
    if (name == "time") return r.info.seconds / 60.0;
    if (name == "published") return 100.0 * r.published;
    if (name == "diff") return 100.0 * (r.info.bestAccuracy - r.published);
    return nan;
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Theme& t = Theme::current();
    const TableRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const RunInfo& info = row.info;
    const int column = index.column();
    if (role == PathRole) return text(info.path);
    if (role == ColorRole && column == Run) return row.colorIndex;
    if (role == Qt::CheckStateRole && column == Overlay)
        return overlaid.contains(text(info.path)) ? Qt::Checked : Qt::Unchecked;
    if (role == Qt::AccessibleTextRole && column == Overlay)
        return QString("overlay %1").arg(text(info.name));
    if (role == Qt::DecorationRole && column == Run) return t.seriesColor(row.colorIndex);
    if (role == Qt::ToolTipRole && column == State && !info.message.empty())
        return text(info.message);
    if (role == Qt::ToolTipRole && column == Run) return text(info.path);
    const bool numeric =
        column == Parameters || column == Seed || (column >= Loss && column <= Time);
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((numeric ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::FontRole) {
        QFont face = numeric ? numberFont(12) : smallFont();
        if (column == Run) face.setWeight(QFont::Medium);
        if (column == Accuracy || column == Perplexity) face.setWeight(QFont::DemiBold);
        return face;
    }
    if (role == Qt::ForegroundRole) {
        if (column == State) {
            if (info.state == RunState::Running) return t.ok;
            if (info.state == RunState::Failed) return t.error;
            if (info.state == RunState::Stopped || info.state == RunState::Paused ||
                info.state == RunState::Interrupted)
                return t.warning;
            return t.muted;
        }
        if (column == Published || column == Time || column == NoteText) return t.muted;
        return t.text;
    }
    if (role == SortRole) {
        switch (column) {
            case Overlay:
                return overlaid.contains(text(info.path)) ? 0 : 1;
            case Parameters:
                return static_cast<double>(info.parameters);
            case Seed:
                return static_cast<double>(info.seed);
            case Loss:
                return info.bestLoss;
            case Accuracy:
                return info.bestAccuracy;
            case Perplexity:
                return perplexity(info);
            case Published:
                return row.published;
            case Difference:
                return info.bestAccuracy - row.published;
            case Time:
                return info.seconds;
            default:
                return data(index, Qt::DisplayRole);
        }
    }
    if (role != Qt::DisplayRole && role != Qt::EditRole) return {};
    switch (column) {
        case Run:
            return text(info.name);
        case Model:
            return text(info.model);
        case Parameters:
            return info.parameters > 0 ? shortCount(info.parameters) : dash();
        case Seed:
            return QString::number(info.seed);
        case State:
            return QString::fromLatin1(runStateName(info.state));
        case Loss:
            return fixed(info.bestLoss, 3);
        case Accuracy:
            return fixed(info.bestAccuracy, 1, 100.0);
        case Perplexity:
            return perplexityText(perplexity(info));
        case Published:
            return fixed(row.published, 1, 100.0);
        case Difference:
            if (std::isnan(row.published) || std::isnan(info.bestAccuracy)) return dash();
            // A run that has not ended is not yet comparable with a published result.
            if (info.state == RunState::Running) return QStringLiteral("running");
            return signedNumber(100.0 * (info.bestAccuracy - row.published), 1);
        case Time:
            return clock(info.seconds);
        case NoteText:
            return row.note;
        default:
            return {};
    }
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!index.isValid()) return false;
    TableRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const QString path = text(row.info.path);
    if (role == Qt::CheckStateRole && index.column() == Overlay) {
        if (value.toInt() == Qt::Checked)
            overlaid.insert(path);
        else
            overlaid.remove(path);
        Q_EMIT dataChanged(index, index);
        Q_EMIT overlayChanged();
        return true;
    }
    if (role != Qt::EditRole || index.column() != NoteText || row.note == value.toString())
        return false;
    row.note = value.toString();
    Q_EMIT dataChanged(index, index);
    Q_EMIT noteEdited(path, row.note);
    return true;
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::DisplayRole) return columnName(section);
    if (role == Qt::ToolTipRole && section == Overlay)
        return QStringLiteral("Overlay the curves of this run");
    if (role == Qt::TextAlignmentRole)
        return data(index(0, section), role).isNull()
                   ? QVariant(static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter))
                   : data(index(0, section), role);
    return {};
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags f = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
    if (index.column() == Overlay) f |= Qt::ItemIsUserCheckable;
    if (index.column() == NoteText) f |= Qt::ItemIsEditable;
    return f;
}

QString RunsFilter::setText(const QString& typed) {
    static const QRegularExpression pattern(
        QStringLiteral("([A-Za-z_]+)\\s*(<=|>=|!=|=|<|>)\\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)"));
    static const QStringList known = {"best_acc", "val_acc",    "acc",    "accuracy",   "loss",
                                      "val_loss", "best_loss",  "params", "parameters", "seed",
                                      "step",     "steps",      "epoch",  "time",       "published",
                                      "diff",     "perplexity", "ppl"};
    QString rest = typed, problem;
    m_comparisons.clear();
    for (auto it = pattern.globalMatch(typed); it.hasNext();) {
        const auto match = it.next();
        const QString name = match.captured(1).toLower();
        bool ok = false;
        const double value = match.captured(3).toDouble(&ok);
        if (!ok)
            problem = QString("“%1” is not a number").arg(match.captured(3));
        else if (!known.contains(name))
            problem = QString("no column is called %1; try best_acc, loss, params, seed or time")
                          .arg(name);
        else
            m_comparisons.push_back({name, match.captured(2), value});
        rest.remove(match.captured(0));
    }
    m_words = rest.split(u' ', Qt::SkipEmptyParts);
    invalidateFilter();
    return problem;
}

bool RunsFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    const auto* model = static_cast<const RunsModel*>(sourceModel());
    for (const Comparison& c : m_comparisons) {
        const double v = model->number(row, c.name);
        const bool holds = c.sign == "<"    ? v < c.value
                           : c.sign == ">"  ? v > c.value
                           : c.sign == "<=" ? v <= c.value
                           : c.sign == ">=" ? v >= c.value
                           : c.sign == "="  ? v == c.value
                                            : v != c.value && !std::isnan(v);
        if (!holds) return false;
    }
    QString all;
    for (int column = 1; column < RunsModel::Columns; ++column)
        all += model->data(model->index(row, column), Qt::DisplayRole).toString() + u'\n';
    for (const QString& word : m_words)
        if (!all.contains(word, Qt::CaseInsensitive)) return false;
    return true;
}

bool RunsFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(RunsModel::SortRole), b = right.data(RunsModel::SortRole);
    if (a.typeId() != QMetaType::Double || b.typeId() != QMetaType::Double)
        return QSortFilterProxyModel::lessThan(left, right);
    const double x = a.toDouble(), y = b.toDouble();
    // What has no number stands last, whichever way the column is sorted.
    if (std::isnan(x) || std::isnan(y))
        return std::isnan(x) != std::isnan(y) &&
               std::isnan(x) == (sortOrder() == Qt::DescendingOrder);
    return x < y;
}

}  // namespace relascope
