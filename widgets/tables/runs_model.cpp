// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>
#include <map>
#include <optional>

#include <QRegularExpression>
#include <QStringList>

#include "widgets/tables/runs_model.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

QString metricText(std::string_view key, double value) {
    return metricValueText(metricInfo(key), value);
}

QString metricName(std::string_view key) {
    return QString::fromStdString(metricLabel(key));
}

QString metricShort(std::string_view key) {
    return metricName(metricInfo(key).shortTitle);
}

QString resultLines(const RunInfo& info) {
    QStringList lines;
    for (const SplitResult& result : info.results) {
        QStringList values;
        for (const auto& [key, value] : result.values)
            values << metricName(key) + u' ' + metricText(key, value);
        lines << QStringLiteral("%1: %2 (%3 examples)")
                     .arg(QString::fromStdString(result.split), values.join(QStringLiteral(", ")),
                          groupedNumber(result.examples));
    }
    return lines.join(u'\n');
}

QString unitBehind(std::string_view metric) {
    const auto& info = metricInfo(metric);
    return info.isFraction() || info.unit.empty()
               ? QString()
               : u' ' + QString::fromUtf8(info.unit.data(), qsizetype(info.unit.size()));
}

QString keptText(const RunInfo& info) {
    if (info.kept.step < 0) return {};
    const double own = keptOf(info);
    const std::string_view shown = std::isnan(own) ? "loss" : std::string_view(info.metric);
    QString text =
        QStringLiteral("validation %1 %2 (weights of step %3)")
            .arg(metricName(shown), metricText(shown, info.kept.value(shown)) + unitBehind(shown),
                 groupedNumber(info.kept.step));
    if (info.sawBetter())
        text += QStringLiteral("; best seen %1 (step %2, not kept)")
                    .arg(metricText(info.metric, info.best(info.metric)) + unitBehind(info.metric),
                         groupedNumber(info.bestStep));
    return text;
}

QString weightsText(const RunInfo& info, std::optional<qint64> shown) {
    const auto last = static_cast<qint64>(info.step), kept = static_cast<qint64>(info.kept.step);
    const qint64 step = shown.value_or(kept >= 0 ? kept : last);
    QString where = QStringLiteral("step ") + groupedNumber(step);
    if (info.restoresBest && kept >= 0 && step == kept && kept < last)
        where += QStringLiteral(", the best (stopped early at %1)").arg(groupedNumber(last));
    else if (step < last)
        where += QStringLiteral(" of ") + groupedNumber(last);
    QStringList parts{where};
    for (const Validation* of : {&info.kept, &info.last})
        if (const double value = of->value(info.metric); of->step == step && !std::isnan(value)) {
            parts << QStringLiteral("validation %1").arg(metricText(info.metric, value)) +
                         unitBehind(info.metric);
            break;
        }
    return (parts << QStringLiteral("seed %1").arg(info.seed)).join(QStringLiteral(" \u00B7 "));
}

namespace {

QString dash() {
    return QString(QChar(0x2014));
}
QString text(const std::string& s) {
    return QString::fromStdString(s);
}
QString fixed(double v, int digits, double scale = 1.0) {
    return std::isnan(v) ? dash() : QString::number(v * scale, 'f', digits);
}

/// The value of a Kept or Test column, and its metric.
std::string metricIn(const RunInfo& info, int column) {
    return column == RunsModel::Test ? resultMetric(info) : info.metric;
}
double valueIn(const RunInfo& info, int column) {
    if (column != RunsModel::Test) return keptOf(info);
    const SplitResult* result = shownResult(info);
    return result ? result->value(resultMetric(info)) : NAN;
}
/// The names in filters of metrics of validation.
const std::map<QString, Metric>& typedMetrics() {
    static const std::map<QString, Metric> names = {
        {"best_acc", Metric::Accuracy}, {"val_acc", Metric::Accuracy},
        {"acc", Metric::Accuracy},      {"accuracy", Metric::Accuracy},
        {"loss", Metric::Loss},         {"val_loss", Metric::Loss},
        {"best_loss", Metric::Loss},    {"perplexity", Metric::Perplexity},
        {"ppl", Metric::Perplexity}};
    return names;
}
std::optional<Metric> metricTyped(const QString& name) {
    const auto found = typedMetrics().find(name);
    return found == typedMetrics().end() ? std::nullopt : std::optional(found->second);
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
        findMetrics();
        if (!m_rows.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, Columns - 1));
        return;
    }
    beginResetModel();
    m_rows = std::move(rows);
    findMetrics();
    endResetModel();
}

QString RunsModel::plainName(int column) {
    static const QStringList names = {
        "",     "Run",  "Model",       "Parameters",  "Seed",      "State", "Val. loss",
        "Val.", "Test", "Published %", "Ours − pub.", "Time, min", "Tags",  "Note"};
    return names.value(column);
}

void RunsModel::findMetrics() {
    for (const int column : {Kept, Test}) {
        std::string& metric = m_metrics[column == Test];
        bool& mixed = m_mixed[column == Test];
        metric.clear();
        mixed = false;
        for (const TableRow& row : m_rows) {
            if (std::isnan(valueIn(row.info, column))) continue;
            const std::string here = metricIn(row.info, column);
            mixed |= !metric.empty() && here != metric;
            metric = here;
        }
        if (mixed) metric.clear();
    }
}

QString RunsModel::columnName(int column) const {
    const QString name = plainName(column);
    if (column != Kept && column != Test) return name;
    const std::string metric = metricOf(column);
    if (metric.empty()) return name;
    return name + u' ' + metricShort(metric) +
           (metricInfo(metric).isFraction() ? QStringLiteral(" %") : QString());
}

double RunsModel::number(int row, const QString& name) const {
    const TableRow& r = m_rows[static_cast<std::size_t>(row)];
    const auto shown = [&r](int column) {
        return (metricInfo(metricIn(r.info, column)).isFraction() ? 100.0 : 1.0) *
               valueIn(r.info, column);
    };
    if (name == "kept" || name == "validation") return shown(Kept);
    if (name == "best")  // ever seen
        return (metricInfo(r.info.metric).isFraction() ? 100.0 : 1.0) * r.info.best(r.info.metric);
    if (name == "test") return shown(Test);
    if (const auto metric = metricTyped(name)) {
        const auto& info = metricInfo(*metric);
        // exp(loss) is a perplexity for text only.
        if (info.id == Metric::Perplexity && metricInfo(r.info.metric).id != info.id) return NAN;
        return (info.isFraction() ? 100.0 : 1.0) * (name.startsWith(QLatin1String("best_"))
                                                        ? r.info.best(info.key)
                                                        : r.info.kept.value(info.key));
    }
    if (name == "params" || name == "parameters") return static_cast<double>(r.info.parameters);
    if (name == "seed") return static_cast<double>(r.info.seed);
    if (name == "step" || name == "steps") return static_cast<double>(r.info.step);
    if (name == "epoch") return r.info.epoch;
    if (name == "time") return r.info.seconds / 60.0;
    if (name == "published") return 100.0 * r.published;
    if (name == "diff") return 100.0 * r.difference();
    return NAN;
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
    if (role == Qt::ToolTipRole && column == Kept) return keptText(info);
    if (role == Qt::ToolTipRole && column == Test)
        return info.results.empty() ? QStringLiteral("measured when the run ends")
                                    : plainTip(resultLines(info));
    if (role == Qt::ToolTipRole && (column == Published || column == Difference) &&
        !row.publishedText.empty())
        return text(row.publishedText);
    // If the runs have different metrics, each value is shown with its metric.
    if (role == MetricRole)
        return (column == Kept || column == Test) && mixed(column) &&
                       !std::isnan(valueIn(info, column))
                   ? metricShort(metricIn(info, column))
                   : QString();
    const bool numeric =
        column == Parameters || column == Seed || (column >= Loss && column <= Time);
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((numeric ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::FontRole) {
        QFont face = numeric ? numberFont(12) : smallFont();
        if (column == Run) face.setWeight(QFont::Medium);
        if (column == Kept) face.setWeight(QFont::DemiBold);
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
        if (info.labels.hidden) return t.faint;
        if (column == Published || column >= Time) return t.muted;
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
                return info.kept.value("loss");
            case Kept:
            case Test:
                return valueIn(info, column);
            case Published:
                return row.published;
            case Difference:
                return row.difference();
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
            return fixed(info.kept.value("loss"), 3);
        case Kept:
        case Test: {
            QString value = metricText(metricIn(info, column), valueIn(info, column));
            // The title has a percent sign if all values are percentages.
            if (!mixed(column) && value.endsWith(u'%')) value.chop(1);
            return value;
        }
        case Published:
            return fixed(row.published, 1, 100.0);
        case Difference:
            if (std::isnan(row.difference())) return dash();
            // A run that has not ended is not yet comparable with a published result.
            if (info.state == RunState::Running) return QStringLiteral("running");
            return signedNumber(100.0 * row.difference(), 1);
        case Time:
            return clock(info.seconds);
        case Tags: {
            QStringList tags;
            for (const auto& tag : info.labels.tags) tags << text(tag);
            return tags.join(QLatin1String(", "));
        }
        case NoteText:
            return text(row.note);
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
    if (role != Qt::EditRole || index.column() != NoteText || text(row.note) == value.toString())
        return false;
    row.note = value.toString().toStdString();
    Q_EMIT dataChanged(index, index);
    Q_EMIT noteEdited(path, value.toString());
    return true;
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::DisplayRole) return columnName(section);
    if (role == Qt::ToolTipRole && section == Overlay)
        return QStringLiteral("Overlay the curves of this run");
    if (role == Qt::ToolTipRole && section == Kept)
        return QStringLiteral("Main metric on validation, of the weights that the run keeps");
    if (role == Qt::ToolTipRole && section == Test)
        return QStringLiteral(
            "On the first test split, of the weights that the run keeps; hover for other splits");
    if (role == Qt::ToolTipRole && section == Published)
        return QStringLiteral("The papers' accuracy for this model, size and split");
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
    static const QStringList known = [] {
        QStringList names = {"kept", "best",  "test",  "params", "parameters", "seed",
                             "step", "steps", "epoch", "time",   "published",  "diff"};
        for (const auto& [name, metric] : typedMetrics()) names << name;
        return names;
    }();
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
            problem =
                QString("there is no column %1; try kept, best, test, loss, params, seed or time")
                    .arg(name);
        else
            m_comparisons.push_back({name, match.captured(2), value});
        rest.remove(match.captured(0));
    }
    m_terms = rest.split(u' ', Qt::SkipEmptyParts);
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
    for (const QString& word : m_terms)
        if (!all.contains(word, Qt::CaseInsensitive)) return false;
    return true;
}

bool RunsFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(RunsModel::SortRole), b = right.data(RunsModel::SortRole);
    // Different metrics cannot be compared, so rows are grouped by metric.
    const QString metric = left.data(RunsModel::MetricRole).toString(),
                  other = right.data(RunsModel::MetricRole).toString();
    if (!metric.isEmpty() && !other.isEmpty() && metric != other) return metric < other;
    if (a.typeId() != QMetaType::Double || b.typeId() != QMetaType::Double)
        return QSortFilterProxyModel::lessThan(left, right);
    const double x = a.toDouble(), y = b.toDouble();
    // Rows without a value are last in either order.
    if (std::isnan(x) || std::isnan(y))
        return std::isnan(x) != std::isnan(y) &&
               std::isnan(x) == (sortOrder() == Qt::DescendingOrder);
    return x < y;
}

}  // namespace relascope::widgets
