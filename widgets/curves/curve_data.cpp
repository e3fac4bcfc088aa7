// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QSet>
#include <QTextStream>

#include "types/student_t.h"
#include "widgets/curves/curve_data.h"
#include "widgets/export/export.h"
#include "widgets/text/run_text.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int metrics = kCurveMetrics;
const std::string tokensName = "tokens";

QLatin1String latin(std::string_view text) {
    return QLatin1String(text.data(), static_cast<qsizetype>(text.size()));
}

double interpolate(const std::vector<double>& keys, const std::vector<double>& values, double key) {
    if (keys.empty() || !(key >= keys.front()) || !(key <= keys.back())) return NAN;
    const auto after = std::lower_bound(keys.begin(), keys.end(), key);
    const auto i = static_cast<std::size_t>(after - keys.begin());
    if (*after == key || i == 0) return values[i];
    const double fraction = (key - keys[i - 1]) / (keys[i] - keys[i - 1]);
    return values[i - 1] + fraction * (values[i] - values[i - 1]);
}

}  // namespace

std::vector<double> keysOnAxis(const std::vector<qint64>& steps,
                               const std::vector<MetricPoint>& points, CurveAxis axis) {
    std::vector<double> keys;
    if (axis == CurveAxis::Step || points.empty()) return keys;
    const auto value = [axis](const MetricPoint& p) {
        if (axis == CurveAxis::Tokens) return p.value("tokens");
        return axis == CurveAxis::Epoch ? p.epoch : p.seconds;
    };
    for (const qint64 step : steps) {
        const auto after =
            std::lower_bound(points.begin(), points.end(), step,
                             [](const MetricPoint& p, qint64 s) { return p.step < s; });
        if (after == points.end() || after == points.begin()) {
            keys.push_back(value(after == points.end() ? points.back() : points.front()));
            continue;
        }
        const auto& before = *(after - 1);
        const double fraction = after->step == before.step
                                    ? 0.0
                                    : static_cast<double>(step - before.step) /
                                          static_cast<double>(after->step - before.step);
        keys.push_back(value(before) + fraction * (value(*after) - value(before)));
    }
    return keys;
}

QString axisTitle(CurveAxis axis) {
    switch (axis) {
        case CurveAxis::Step:
            return QStringLiteral("Step");
        case CurveAxis::Epoch:
            return QStringLiteral("Epoch");
        case CurveAxis::Time:
            return QStringLiteral("Training time");
        case CurveAxis::Tokens:
            return QStringLiteral("Tokens");
    }
    return {};
}

QString bandName(CurveBandKind kind) {
    switch (kind) {
        case CurveBandKind::MinMax:
            return QStringLiteral("min to max");
        case CurveBandKind::StandardError:
            return QStringLiteral("\u00B1 1 s.e.");
        case CurveBandKind::Confidence95:
            return QStringLiteral("95 % interval");
    }
    return {};
}

QString metricTitle(CurveMetric metric) {
    return latin(metricInfo(metric).title);
}

void CurveSeries::append(const MetricPoint& point) {
    const auto step = static_cast<double>(point.step);
    const auto better = [this](int m, double v) {
        if (!m_best[m]) return true;
        const double best = m_values[m][*m_best[m]];
        return metricInfo(static_cast<CurveMetric>(m)).lowerIsBetter ? v < best : v > best;
    };
    if (!m_keys[0].empty() && step < m_keys[0].back()) {
        const auto kept = static_cast<std::size_t>(
            std::lower_bound(m_keys[0].begin(), m_keys[0].end(), step) - m_keys[0].begin());
        for (auto& column : m_keys) column.resize(kept);
        for (int m = 0; m < metrics; ++m) {
            m_values[m].resize(kept);
            m_smooth[m] = {};
            m_best[m].reset();
            m_has[static_cast<std::size_t>(m)] = false;
            for (std::size_t i = 0; i < kept; ++i) {
                const double v = m_values[m][i];
                if (std::isnan(v)) continue;
                m_has[static_cast<std::size_t>(m)] = true;
                if (m_keys[0][i] > 0.0 && better(m, v)) m_best[m] = i;
            }
        }
        ++m_cuts;
    }
    // Epochs and seconds may stay equal or decrease after resuming, but keys must increase.
    const auto push = [](std::vector<double>& column, double value) {
        if (!std::isfinite(value)) value = 0.0;
        column.push_back(column.empty() ? value : std::max(value, column.back()));
    };
    push(m_keys[0], step);
    push(m_keys[1], point.epoch);
    push(m_keys[2], point.seconds);
    push(m_keys[3], point.value(tokensName));
    for (int m = 0; m < metrics; ++m) {
        double v = point.value(kMetrics[static_cast<std::size_t>(m)].key);
        if (!std::isfinite(v)) v = NAN;
        if (!std::isnan(v)) m_has[static_cast<std::size_t>(m)] = true;
        if (!std::isnan(v) && step > 0.0 && better(m, v)) m_best[m] = m_values[m].size();
        m_values[m].push_back(v);
    }
}

double CurveSeries::firstTrainedKey(CurveAxis axis) const {
    const auto& steps = keys(CurveAxis::Step);
    const auto first = std::upper_bound(steps.begin(), steps.end(), 0.0);
    return first == steps.end() ? NAN : keys(axis)[static_cast<std::size_t>(first - steps.begin())];
}

bool CurveSeries::hasTokens() const {
    const auto& tokens = keys(CurveAxis::Tokens);
    return !tokens.empty() && tokens.back() > 0.0;
}

void CurveSeries::clear() {
    const unsigned cuts = m_cuts + 1;
    *this = {};
    m_cuts = cuts;
}

const std::vector<double>& CurveSeries::smoothed(CurveMetric metric, double beta) const {
    if (beta < 0.0) return values(metric);
    Smooth& s = m_smooth[static_cast<int>(metric)];
    const auto& raw = values(metric);
    if (s.beta != beta) s = {beta};
    for (std::size_t i = s.values.size(); i < raw.size(); ++i) {
        const double x = raw[i];
        if (!std::isnan(x)) {
            s.last = s.begun ? beta * s.last + (1.0 - beta) * x : x;
            s.begun = true;
        }
        s.values.push_back(std::isnan(x) ? NAN : s.last);
    }
    return s.values;
}

std::optional<std::size_t> CurveSeries::best(CurveMetric metric) const {
    return m_best[static_cast<int>(metric)];
}

double CurveSeries::at(CurveMetric metric, CurveAxis axis, double key, double beta) const {
    return interpolate(keys(axis), smoothed(metric, beta), key);
}

CurveValue valueAt(const std::vector<const CurveSeries*>& members, CurveMetric metric,
                   CurveAxis axis, double key, double beta, CurveBandKind kind) {
    CurveValue out{NAN, NAN, NAN, 0};
    double mean = 0.0, squares = 0.0;  // Welford's update: no difference of large sums
    for (const CurveSeries* s : members) {
        const double v = s->at(metric, axis, key, beta);
        if (std::isnan(v)) continue;
        out.low = out.count == 0 ? v : std::min(out.low, v);
        out.high = out.count == 0 ? v : std::max(out.high, v);
        ++out.count;
        const double away = v - mean;
        mean += away / out.count;
        squares += away * (v - mean);
    }
    if (out.count == 0) return out;
    out.mean = mean;
    if (kind == CurveBandKind::MinMax) return out;
    if (out.count == 1) return {out.mean, NAN, NAN, 1};  // says nothing of other seeds
    double reach = std::sqrt(squares / (out.count - 1) / out.count);
    if (kind == CurveBandKind::Confidence95) reach *= studentT95(out.count - 1);
    out.low = mean - reach;
    out.high = mean + reach;
    return out;
}

CurveBand bandOf(const std::vector<const CurveSeries*>& members, CurveMetric metric, CurveAxis axis,
                 double beta, CurveBandKind kind, std::size_t limit) {
    CurveBand band;
    const std::size_t points =
        std::max<std::size_t>(2, limit / std::max<std::size_t>(1, members.size()));
    for (const CurveSeries* s : members) {
        const auto& keys = s->keys(axis);
        const std::size_t stride = std::max<std::size_t>(1, keys.size() / points);
        for (std::size_t i = 0; i < keys.size(); i += stride) band.keys.push_back(keys[i]);
        if (!keys.empty()) band.keys.push_back(keys.back());
    }
    std::sort(band.keys.begin(), band.keys.end());
    band.keys.erase(std::unique(band.keys.begin(), band.keys.end()), band.keys.end());
    for (const double key : band.keys) {
        const CurveValue value = valueAt(members, metric, axis, key, beta, kind);
        band.mean.push_back(value.mean);
        band.low.push_back(value.low);
        band.high.push_back(value.high);
        band.count.push_back(value.count);
    }
    return band;
}

std::vector<const CurveSeries*> Curve::series(bool validation) const {
    std::vector<const CurveSeries*> all;
    for (const auto* member : members)
        if (member->split(validation).size() > 0) all.push_back(&member->split(validation));
    return all;
}

CurveValue Curve::at(bool validation, CurveMetric metric, CurveAxis axis, double key, double beta,
                     CurveBandKind kind) const {
    return valueAt(series(validation), metric, axis, key, beta, kind);
}

std::optional<std::pair<double, double>> Curve::best(CurveMetric metric, CurveAxis axis) const {
    const auto all = series(true);
    if (members.size() == 1) {
        const auto best = all.empty() ? std::nullopt : all.front()->best(metric);
        if (!best) return std::nullopt;
        return std::pair(all.front()->keys(axis)[*best], all.front()->values(metric)[*best]);
    }
    double trained = NAN;
    for (const CurveSeries* s : all)
        if (const double key = s->firstTrainedKey(axis); !(key >= trained)) trained = key;
    const CurveBand band = bandOf(all, metric, axis, -1.0);
    std::optional<std::pair<double, double>> found;
    for (std::size_t i = 0; i < band.keys.size(); ++i) {
        // Means over fewer seeds are not comparable, so only keys with all seeds count.
        if (band.count[i] < static_cast<int>(all.size()) || !(band.keys[i] >= trained)) continue;
        const double v = band.mean[i];
        if (!found || (metricInfo(metric).lowerIsBetter ? v < found->second : v > found->second))
            found = std::pair(band.keys[i], v);
    }
    return found;
}

std::optional<PowerLaw> Curve::powerLaw() const {
    PowerLawFit fit;
    const bool validation = !series(true).empty();
    for (const CurveSeries* s : series(validation)) {
        if (!s->hasTokens()) continue;
        const auto& tokens = s->keys(CurveAxis::Tokens);
        const auto& loss = s->values(CurveMetric::Loss);
        // Training may have a million points, but a line needs only some thousands.
        const std::size_t stride = 1 + tokens.size() / 5000;
        if (stride == 1) {
            fit.add(tokens, loss);
            continue;
        }
        std::vector<double> n, l;
        for (std::size_t i = 0; i < tokens.size(); i += stride)
            n.push_back(tokens[i]), l.push_back(loss[i]);
        fit.add(n, l);
    }
    return fit.result();
}

bool CurveModel::hasTokens() const {
    return std::any_of(runs.begin(), runs.end(), [](const auto& entry) {
        return entry.second.training.hasTokens() || entry.second.validation.hasTokens();
    });
}
bool CurveModel::has(CurveMetric metric) const {
    return std::any_of(runs.begin(), runs.end(), [metric](const auto& entry) {
        return entry.second.training.has(metric) || entry.second.validation.has(metric);
    });
}

std::vector<CurveMetric> CurveModel::secondMetrics() const {
    std::vector<CurveMetric> found;
    for (const auto& info : kMetrics)
        if (info.second > 0 && has(info.id)) found.push_back(info.id);
    std::sort(found.begin(), found.end(), [](CurveMetric a, CurveMetric b) {
        return metricInfo(a).second < metricInfo(b).second;
    });
    // What tells how well a model does comes first, also before it was measured.
    if (found.empty() || metricInfo(found.front()).byLayer)
        found.insert(found.begin(), CurveMetric::Accuracy);
    return found;
}

void CurveRunData::append(const MetricPoint& point) {
    if (point.split == Split::Validation) return validation.append(point);
    if (point.split != Split::Train) return;
    training.append(point);
    const auto slashOf = [](const std::string& key) { return key.find('/'); };
    if (std::none_of(point.values.begin(), point.values.end(),
                     [&](const auto& value) { return slashOf(value.first) != std::string::npos; }))
        return;
    MetricPoint empty = point;
    empty.values = {{tokensName, point.value(tokensName)}};
    std::map<QString, MetricPoint> found;
    for (const auto& [key, value] : point.values) {
        const auto slash = slashOf(key);
        const std::string metric = key.substr(0, slash);
        if (!metricInfo(metric).byLayer) continue;
        const QString layer =
            slash == std::string::npos ? QString() : QString::fromStdString(key.substr(slash + 1));
        if (layers.empty()) layers.emplace_back();  // for all layers
        if (std::none_of(layers.begin(), layers.end(),
                         [&](const CurveRunData& of) { return of.run.name == layer; })) {
            layers.emplace_back();
            layers.back().run.name = layer;
        }
        found.try_emplace(layer, empty).first->second.values.emplace_back(metric, value);
    }
    for (auto& layer : layers)
        if (const auto at = found.find(layer.run.name); at != found.end())
            layer.training.append(at->second);
}

void CurveRunData::clearPoints() {
    training.clear();
    validation.clear();
    layers.clear();
}

std::vector<Curve> CurveModel::curves(CurveMetric metric) const {
    std::vector<Curve> all;
    const bool byLayer = metricInfo(metric).byLayer;
    if (byLayer && order.size() == 1)
        for (const auto& layer : runs.at(order.front().id).layers)
            if (!layer.run.name.isEmpty() && layer.training.has(metric))
                all.push_back({layer.run.name, static_cast<int>(all.size()), false, {&layer}});
    if (!all.empty()) return all;
    std::map<QString, std::size_t> groups;
    for (const CurveRun& run : order) {
        const CurveRunData* data = &runs.at(run.id);
        if (byLayer && !data->layers.empty()) data = &data->layers.front();
        const auto known = run.group.isEmpty() ? groups.end() : groups.find(run.group);
        if (known != groups.end()) {
            all[known->second].members.push_back(data);
            all[known->second].highlighted |= run.highlighted;
            all[known->second].name = run.group;
            continue;
        }
        if (!run.group.isEmpty()) groups[run.group] = all.size();
        all.push_back({run.name, run.colorIndex, run.highlighted, {data}});
    }
    return all;
}

const CurveRunData* CurveModel::leader() const {
    const CurveRunData* found = nullptr;
    for (const CurveRun& run : order) {
        const CurveRunData& data = runs.at(run.id);
        if (data.training.size() + data.validation.size() == 0) continue;
        if (run.highlighted) return &data;
        if (!found) found = &data;
    }
    return found;
}

namespace {
/// The split with the larger range is used for conversion: training is measured at every step.
const CurveSeries* ruler(const CurveRunData* data) {
    if (!data) return nullptr;
    const CurveSeries &a = data->training, &b = data->validation;
    if (a.size() == 0) return b.size() > 0 ? &b : nullptr;
    if (b.size() == 0) return &a;
    return b.keys(CurveAxis::Step).back() > a.keys(CurveAxis::Step).back() ? &b : &a;
}
double translate(const CurveSeries* s, CurveAxis from, CurveAxis to, double value) {
    if (!s || from == to) return value;
    const auto& keys = s->keys(from);
    return interpolate(keys, s->keys(to), std::clamp(value, keys.front(), keys.back()));
}
}  // namespace

double CurveModel::keyOfStep(double step) const {
    return translate(ruler(leader()), CurveAxis::Step, axis, step);
}
double CurveModel::stepOfKey(double key) const {
    return translate(ruler(leader()), axis, CurveAxis::Step, key);
}

double CurveModel::lastStep() const {
    const CurveSeries* s = ruler(leader());
    return s ? s->keys(CurveAxis::Step).back() : 0.0;
}

std::pair<double, double> CurveModel::keyRange(CurveAxis along) const {
    double low = NAN, high = NAN;
    for (const CurveRun& run : order)
        for (const bool validation : {true, false}) {
            const auto& keys = runs.at(run.id).split(validation).keys(along);
            // A logarithm has no place for step 0.
            const auto first =
                logX ? std::upper_bound(keys.begin(), keys.end(), 0.0) : keys.begin();
            if (first == keys.end() || !(validation || showTraining)) continue;
            low = std::fmin(low, *first);
            high = std::fmax(high, keys.back());
        }
    return {low, high};
}

QString CurveModel::csv() const {
    QString text = QStringLiteral("run,split,step,epoch,seconds,loss,accuracy");
    const bool tokens = hasTokens();
    if (tokens) text += QStringLiteral(",tokens");
    std::vector<CurveMetric> further;
    for (int m = static_cast<int>(CurveMetric::Perplexity); m < metrics; ++m)
        if (has(static_cast<CurveMetric>(m))) further.push_back(static_cast<CurveMetric>(m));
    for (const auto metric : further) text += u',' + csvField(latin(metricInfo(metric).key));
    text += u'\n';
    QTextStream out(&text);
    out.setRealNumberPrecision(9);
    const auto number = [&out](double v) {
        if (!std::isnan(v)) out << v;
    };
    for (const CurveRun& run : order) {
        const QString name = csvField(run.name);
        for (const bool validation : {false, true}) {
            const CurveSeries& s = runs.at(run.id).split(validation);
            for (std::size_t i = 0; i < s.size(); ++i) {
                out << name << (validation ? ",validation," : ",train,")
                    << static_cast<qint64>(s.keys(CurveAxis::Step)[i]) << ','
                    << s.keys(CurveAxis::Epoch)[i] << ',' << s.keys(CurveAxis::Time)[i] << ',';
                number(s.values(CurveMetric::Loss)[i]);
                out << ',';
                number(s.values(CurveMetric::Accuracy)[i]);
                if (tokens) out << ',' << static_cast<qint64>(s.keys(CurveAxis::Tokens)[i]);
                for (const auto metric : further) {
                    out << ',';
                    number(s.values(metric)[i]);
                }
                out << '\n';
            }
        }
    }
    out.flush();
    return text;
}

QString CurveModel::summary() const {
    if (order.empty()) return QStringLiteral("No runs are shown.");
    QStringList sentences;
    for (const CurveRun& run : order) {
        const CurveSeries& s = runs.at(run.id).validation;
        QString line = run.name;
        const auto loss = s.best(CurveMetric::Loss), accuracy = s.best(CurveMetric::Accuracy);
        if (loss)
            line += QString(": lowest validation loss %1 at step %2")
                        .arg(s.values(CurveMetric::Loss)[*loss], 0, 'f', 3)
                        .arg(static_cast<qint64>(s.keys(CurveAxis::Step)[*loss]));
        if (accuracy)
            line += QString("%1 highest validation accuracy %2% at step %3")
                        .arg(loss ? "," : ":")
                        .arg(100.0 * s.values(CurveMetric::Accuracy)[*accuracy], 0, 'f', 1)
                        .arg(static_cast<qint64>(s.keys(CurveAxis::Step)[*accuracy]));
        for (int m = static_cast<int>(CurveMetric::Perplexity); m < metrics; ++m) {
            const auto metric = static_cast<CurveMetric>(m);
            const auto best = s.best(metric);
            if (!best) continue;
            const double value = s.values(metric)[*best];
            line += QString("%1 %2 validation %3 %4 at step %5")
                        .arg(line == run.name ? ":" : ",",
                             metricInfo(metric).lowerIsBetter ? "lowest" : "highest",
                             metricTitle(metric).toLower(), metricText(metricInfo(metric), value))
                        .arg(static_cast<qint64>(s.keys(CurveAxis::Step)[*best]));
        }
        if (line == run.name) line += QStringLiteral(": no validation point yet");
        sentences += line + u'.';
    }
    return sentences.join(u' ');
}

QStringList shortNames(const QStringList& names) {
    if (names.size() < 2 || QSet<QString>(names.begin(), names.end()).size() < names.size())
        return names;
    qsizetype common = names[0].size();
    for (const QString& name : names) {
        qsizetype same = 0;
        while (same < qMin(common, name.size()) && name[same] == names[0][same]) ++same;
        common = same;
    }
    const QString separators = QStringLiteral("-_ ·/");
    while (common > 0 && !separators.contains(names[0][common - 1])) --common;
    QStringList result;
    for (const QString& name : names) {
        if (name.size() <= common) return names;
        result += name.mid(common);
    }
    return result;
}

}  // namespace relascope::widgets
