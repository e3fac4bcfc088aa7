// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <QRegularExpression>
#include <QStringList>

#include "types/text_format.h"
#include "widgets/kit/cell_delegate.h"
#include "widgets/tables/runs_model.h"
#include "widgets/text/run_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

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

using RunColumn = ModelColumn<TableRow>;
using RunNumber = std::function<double(const TableRow&)>;

/// The metric of a Kept or Test column, and its value.
std::string metricIn(const RunInfo& info, int column) {
    return column == RunsModel::Test ? resultMetric(info) : info.metric;
}
double valueIn(const RunInfo& info, int column) {
    if (column != RunsModel::Test) return keptOf(info);
    const SplitResult* result = shownResult(info);
    return result ? result->value(resultMetric(info)) : NAN;
}

double asShown(const MetricInfo& metric, double value) {
    return metric.isFraction() ? 100.0 * value : value;
}

/// The numbers that filters name; NaN where a run has none.
const std::map<QString, RunNumber>& filterNumbers() {
    using Row = TableRow;
    const auto score = [](int column) {
        return [column](const Row& r) {
            return asShown(metricInfo(metricIn(r.info, column)), valueIn(r.info, column));
        };
    };
    const auto kept = [](Metric metric) {
        return [&of = metricInfo(metric)](const Row& r) {
            // exp(loss) is a perplexity for text only.
            const bool other = of.id == Metric::Perplexity && metricInfo(r.info.metric).id != of.id;
            return other ? NAN : asShown(of, r.info.kept.value(of.key));
        };
    };
    const auto best = [](std::string_view metric) {  // ever seen; empty: the run's own metric
        return [metric](const Row& r) {
            const std::string_view key = metric.empty() ? r.info.metric : metric;
            return asShown(metricInfo(key), r.info.best(key));
        };
    };
    const auto parameters = [](const Row& r) { return static_cast<double>(r.info.parameters); };
    const auto step = [](const Row& r) { return static_cast<double>(r.info.step); };
    static const std::map<QString, RunNumber> all = {
        {"kept", score(RunsModel::Kept)},
        {"test", score(RunsModel::Test)},
        {"best", best({})},
        {"best_acc", best("accuracy")},
        {"best_loss", best("loss")},
        {"acc", kept(Metric::Accuracy)},
        {"accuracy", kept(Metric::Accuracy)},
        {"val_acc", kept(Metric::Accuracy)},
        {"loss", kept(Metric::Loss)},
        {"val_loss", kept(Metric::Loss)},
        {"perplexity", kept(Metric::Perplexity)},
        {"ppl", kept(Metric::Perplexity)},
        {"params", parameters},
        {"parameters", parameters},
        {"seed", [](const Row& r) { return static_cast<double>(r.info.seed); }},
        {"step", step},
        {"steps", step},
        {"epoch", [](const Row& r) { return r.info.epoch; }},
        {"time", [](const Row& r) { return r.info.seconds / 60.0; }},
        {"published", [](const Row& r) { return 100.0 * r.published; }},
        {"diff", [](const Row& r) { return 100.0 * r.difference(); }}};
    return all;
}

QString clock(double seconds) {
    if (!(seconds > 0.0)) return dash();
    const auto s = static_cast<qint64>(std::llround(seconds));
    const auto two = [](qint64 number) {
        return QStringLiteral("%1").arg(number, 2, 10, QChar(u'0'));
    };
    return s < 3600 ? QString::number(s / 60) + u':' + two(s % 60)
                    : QString::number(s / 3600) + u':' + two(s / 60 % 60) + u':' + two(s % 60);
}

QFont weighted(QFont font, QFont::Weight weight) {
    font.setWeight(weight);
    return font;
}

QColor stateInk(RunState state) {
    const Theme& t = Theme::current();
    switch (state) {
        case RunState::Running:
            return t.ok;
        case RunState::Failed:
            return t.error;
        case RunState::Stopped:
        case RunState::Paused:
        case RunState::Interrupted:
            return t.warning;
        default:
            return t.muted;
    }
}

RunColumn words(const QString& title, std::function<QString(const TableRow&)> text) {
    return {.title = title, .text = std::move(text)};
}
RunColumn numbers(const QString& title, const RunNumber& value, QString (*shown)(double)) {
    return {.title = title,
            .number = true,
            .text = [value, shown](const TableRow& r) { return shown(value(r)); },
            .key = value};
}

}  // namespace

RunsModel::RunsModel(QObject* parent) : ColumnModel(parent) {
    using Row = TableRow;
    std::vector<RunColumn> columns(Columns);
    columns[Overlay].tip = QStringLiteral("Overlay the curves of this run");
    columns[Overlay].key = [this](const Row& r) { return isOverlaid(r) ? 0.0 : 1.0; };
    columns[Overlay].look = [this](const Row& r, int role) -> QVariant {
        if (role == Qt::CheckStateRole) return isOverlaid(r) ? Qt::Checked : Qt::Unchecked;
        return role == Qt::AccessibleTextRole ? "overlay " + text(r.info.name) : QVariant();
    };
    columns[Overlay].flags = Qt::ItemIsUserCheckable;
    columns[Overlay].edit = [this](Row& r, const QVariant& value, int role) {
        if (role != Qt::CheckStateRole) return false;
        overlaid.remove(text(r.info.path));
        if (value.toInt() == Qt::Checked) overlaid.insert(text(r.info.path));
        Q_EMIT overlayChanged();
        return true;
    };
    columns[Run] = words(QStringLiteral("Run"), [](const Row& r) { return text(r.info.name); });
    columns[Run].look = [](const Row& r, int role) -> QVariant {
        if (role == SwatchRole) return r.colorIndex;
        if (role == Qt::ToolTipRole) return text(r.info.path);
        return role == Qt::FontRole ? weighted(smallFont(), QFont::Medium) : QVariant();
    };
    columns[Model] =
        words(QStringLiteral("Model"), [](const Row& r) { return text(r.info.model); });
    columns[Parameters] = numbers(
        QStringLiteral("Parameters"),
        [](const Row& r) { return static_cast<double>(r.info.parameters); },
        [](double n) { return n > 0.0 ? shortCount(static_cast<qlonglong>(n)) : dash(); });
    columns[Seed] = numbers(
        QStringLiteral("Seed"), [](const Row& r) { return static_cast<double>(r.info.seed); },
        [](double n) { return QString::number(n, 'f', 0); });
    columns[State] = words(QStringLiteral("State"), [](const Row& r) {
        return QString::fromLatin1(runStateName(r.info.state));
    });
    columns[State].look = [](const Row& r, int role) -> QVariant {
        if (role == Qt::ForegroundRole) return stateInk(r.info.state);
        return role == Qt::ToolTipRole && !r.info.message.empty() ? text(r.info.message)
                                                                  : QVariant();
    };
    columns[Loss] = numbers(
        QStringLiteral("Val. loss"), [](const Row& r) { return r.info.kept.value("loss"); },
        [](double n) { return fixed(n, 3); });
    for (const auto column : {Kept, Test}) columns[column] = scoreColumn(column);
    columns[Kept].tip =
        QStringLiteral("Main metric on validation, of the weights that the run keeps");
    columns[Test].tip = QStringLiteral(
        "On the first test split, of the weights that the run keeps; hover for other splits");
    columns[Published] = numbers(
        QStringLiteral("Published %"), [](const Row& r) { return r.published; },
        [](double n) { return fixed(n, 1, 100.0); });
    columns[Published].tip = QStringLiteral("The papers' accuracy for this model, size and split");
    columns[Difference] = numbers(
        QStringLiteral("Ours \u2212 pub."), [](const Row& r) { return r.difference(); },
        [](double n) { return std::isnan(n) ? dash() : signedNumber(100.0 * n, 1); });
    // A run that has not ended is not yet comparable with a published result.
    columns[Difference].text = [ended = columns[Difference].text](const Row& r) {
        return r.info.state == RunState::Running && !std::isnan(r.difference())
                   ? QStringLiteral("running")
                   : ended(r);
    };
    for (const auto column : {Published, Difference})
        columns[column].look = [](const Row& r, int role) -> QVariant {
            return role == Qt::ToolTipRole && !r.publishedText.empty() ? text(r.publishedText)
                                                                       : QVariant();
        };
    columns[Time] = numbers(
        QStringLiteral("Time, min"), [](const Row& r) { return r.info.seconds; }, clock);
    columns[Tags] = words(QStringLiteral("Tags"),
                          [](const Row& r) { return text(joined(r.info.labels.tags)); });
    columns[NoteText] = words(QStringLiteral("Note"), [](const Row& r) { return text(r.note); });
    columns[NoteText].flags = Qt::ItemIsEditable;
    columns[NoteText].edit = [this](Row& r, const QVariant& value, int role) {
        const QString note = value.toString();
        if (role != Qt::EditRole || text(r.note) == note) return false;
        r.note = note.toStdString();
        Q_EMIT noteEdited(text(r.info.path), note);
        return true;
    };
    setColumns(std::move(columns));
}

RunColumn RunsModel::scoreColumn(int column) {
    const auto metric = [column](const TableRow& r) { return metricIn(r.info, column); };
    const auto value = [column](const TableRow& r) { return valueIn(r.info, column); };
    // If the runs have different metrics, each value is shown with its metric.
    const auto before = [this, column, metric, value](const TableRow& r) {
        return m_mixed[column == Test] && !std::isnan(value(r)) ? metricShort(metric(r))
                                                                : QString();
    };
    RunColumn score;
    score.number = true;
    score.text = [this, column, metric, value](const TableRow& r) {
        QString text = metricText(metric(r), value(r));
        // The title has a percent sign if all values are percentages.
        if (!m_mixed[column == Test] && text.endsWith(u'%')) text.chop(1);
        return text;
    };
    // Different metrics cannot be compared, so rows are grouped by metric.
    score.key = [before, value](const TableRow& r) { return SortKey(before(r), value(r)); };
    score.look = [before, column](const TableRow& r, int role) -> QVariant {
        if (role == LeadRole) return before(r);
        if (role == Qt::FontRole && column == Kept)
            return weighted(numberFont(12), QFont::DemiBold);
        if (role != Qt::ToolTipRole) return {};
        if (column == Kept) return keptText(r.info);
        return r.info.results.empty() ? QStringLiteral("measured when the run ends")
                                      : plainTip(resultLines(r.info));
    };
    return score;
}

bool RunsModel::isOverlaid(const TableRow& row) const {
    return overlaid.contains(text(row.info.path));
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    const TableRow* row = rowOf(index);
    if (!row || role == PathRole) return row ? text(row->info.path) : QVariant();
    const int column = index.column();
    if (role == Qt::ForegroundRole && column != State) {
        if (row->info.labels.hidden) return Theme::current().faint;
        if (column == Published || column >= Time) return Theme::current().muted;
    }
    return ColumnModel::data(index, role);
}

void RunsModel::setRows(std::vector<TableRow> rows) {
    for (const auto column : {Kept, Test}) {
        std::set<std::string> metrics;
        for (const TableRow& row : rows)
            if (!std::isnan(valueIn(row.info, column))) metrics.insert(metricIn(row.info, column));
        const auto common = metrics.size() == 1 ? *metrics.begin() : std::string();
        m_mixed[column == Test] = metrics.size() > 1;
        m_metrics[column == Test] = common;
        QString title = column == Kept ? QStringLiteral("Val.") : QStringLiteral("Test");
        if (!common.empty()) title += u' ' + metricShort(common);
        if (!common.empty() && metricInfo(common).isFraction()) title += QStringLiteral(" %");
        setTitle(column, title);
    }
    ColumnModel::setRows(std::move(rows), [](const TableRow& a, const TableRow& b) {
        return a.info.path == b.info.path;
    });
}

QString RunsModel::setFilterText(const QString& typed) {
    struct Comparison {
        RunNumber number;
        QString sign;
        double value;
    };
    static const QRegularExpression pattern(
        QStringLiteral("([A-Za-z_]+)\\s*(<=|>=|!=|=|<|>)\\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)"));
    QString rest = typed, problem;
    std::vector<Comparison> comparisons;
    for (auto it = pattern.globalMatch(typed); it.hasNext();) {
        const auto match = it.next();
        const QString name = match.captured(1).toLower();
        const auto number = filterNumbers().find(name);
        bool ok = false;
        const double value = match.captured(3).toDouble(&ok);
        if (!ok)
            problem = QString("“%1” is not a number").arg(match.captured(3));
        else if (number == filterNumbers().end())
            problem =
                QString("there is no column %1; try kept, best, test, loss, params, seed or time")
                    .arg(name);
        else
            comparisons.push_back({number->second, match.captured(2), value});
        rest.remove(match.captured(0));
    }
    const QStringList words = rest.split(u' ', Qt::SkipEmptyParts);
    setFilter([this, comparisons, words](const TableRow& row) {
        for (const Comparison& c : comparisons) {
            const double v = c.number(row);
            const bool holds = c.sign == "<"    ? v < c.value
                               : c.sign == ">"  ? v > c.value
                               : c.sign == "<=" ? v <= c.value
                               : c.sign == ">=" ? v >= c.value
                               : c.sign == "="  ? v == c.value
                                                : v != c.value && !std::isnan(v);
            if (!holds) return false;
        }
        QString all;
        for (const auto& column : this->columns())
            if (column.text) all += column.text(row) + u'\n';
        return std::all_of(words.begin(), words.end(), [&](const QString& word) {
            return all.contains(word, Qt::CaseInsensitive);
        });
    });
    return problem;
}

}  // namespace relascope::widgets
