// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>

#include "analysis/ablate/ablation.h"
#include "analysis/head_refit.h"
#include "analysis/open_model.h"
#include "analysis/pairs/claims.h"
#include "analysis/parts/part_rows.h"
#include "evaluate/example_scores.h"
#include "evaluate/scoring.h"
#include "model/architecture.h"
#include "model/blocks/recording.h"
#include "model/model.h"
#include "model/public/public_options.h"
#include "types/metric.h"

namespace relascope::core {
namespace {

constexpr std::size_t kStrongest = 10;  // parts whose pairs are measured

std::string blockOf(const std::string& point) {
    const auto module = point.substr(0, point.rfind('.'));
    const auto last = module.rfind('.');
    const auto tail = last == std::string::npos ? module : module.substr(last + 1);
    static const std::set<std::string> inner = {"attn", "rel", "rca", "cross_attn", "sym"};
    return inner.contains(tail) && last != std::string::npos ? module.substr(0, last) : module;
}

// One part taken out in one way; resample has a trial for each draw.
struct Trial {
    std::size_t row = 0, way = 0;
    Editor editor;
    std::size_t source = 0;  // index of its values among the shared edits
};

class Ablation {
public:
    Ablation(ModelImpl& model, const ModelOptions& options, const DatasetPtr& data,
             const Interventions& interventions, const AblationOptions& how)
        : m_model(model),
          m_options(options),
          m_data(data),
          m_interventions(interventions),
          m_how(how) {}

    bool isOf(const ModelImpl& model, const DatasetPtr& data, const EditList& edits,
              const AblationOptions& how) const {
        return &m_model == &model && m_data == data && m_interventions.edits == edits &&
               m_how == how;
    }

    bool isPrepared() const { return m_prepared; }

    AblationTable run(std::stop_token stop, const ProgressCallback& progress,
                      const std::function<void(const AblationTable&)>& partial,
                      const HeadRefit* refit) {
        const torch::NoGradGuard noGrad;
        const EvaluationMode evaluation(m_model);
        if (!m_prepared) prepare();
        m_prepared = true;
        const double stages =
            1.0 + 2.0 * (refit != nullptr) + 0.4 * m_how.cumulative + 0.6 * m_how.pairs;
        const auto report = [&](double done) {
            if (stop.stop_requested() || (progress && !progress(done / stages))) throw Cancelled();
        };
        for (; m_next < m_order.size(); m_next += static_cast<std::size_t>(m_how.batchSize)) {
            batch(m_next, report);
            m_table.examples = static_cast<std::int64_t>(m_base.loss.size());
            fill();
            if (partial) partial(sorted());
        }
        if (!m_measured) {
            auto table = sorted();
            addTogether(table, [&] { report(1.0); });
            m_measured = std::move(table);
        }
        double done = 1.0;
        if (refit) {
            fitAnew(*m_measured, *refit, stop, [&](double f) { report(done + 2.0 * f); });
            done += 2.0;
        }
        if (m_how.cumulative) cumulate(*m_measured, [&](double f) { report(done + 0.4 * f); });
        done += 0.4 * m_how.cumulative;
        if (m_how.pairs) pair(*m_measured, [&](double f) { report(done + 0.6 * f); });
        return *m_measured;
    }

private:
    // The examples from `first` on, shifted within the data set.
    std::vector<std::int64_t> indicesAt(std::size_t first, std::int64_t shift) const {
        const auto count =
            std::min(static_cast<std::size_t>(m_how.batchSize), m_order.size() - first);
        std::vector<std::int64_t> indices;
        for (std::size_t i = 0; i < count; ++i)
            indices.push_back((m_order[first + i] + shift) % m_data->size());
        return indices;
    }
    Batch batchAt(std::size_t first, std::int64_t shift) const {
        const auto indices = indicesAt(first, shift);
        return makeBatch(*m_data, indices.data(), static_cast<std::int64_t>(indices.size()));
    }

    // Gives the edits in force their values for a batch.
    void prepareEdits(const ModelInput& input, std::size_t first) {
        if (m_session) m_session->prepareBatch(input, m_data, indicesAt(first, 0));
    }
    // A pass with the edits in force and a part out.
    torch::Tensor forward(const ModelInput& input, Editor& editor) {
        if (!m_session) return forwardEdited(m_model, input, editor);
        const InterventionScope below(&m_session->editor());
        return forwardEdited(m_model, input, editor);
    }

    void prepare() {
        m_order = drawnExamples(m_data->size(), m_how.examples, 0);
        if (m_interventions.edits.anyEnabled())
            m_session = std::make_unique<ActiveEdits>(m_model, m_options, m_interventions.edits,
                                                      m_interventions.data);
        const auto device = m_model.device();
        auto one = batchAt(0, 0);
        auto input = core::inputOf(one, device);
        input.x = input.x.slice(0, 0, 1);
        if (input.target.defined()) input.target = input.target.slice(0, 0, 1);
        m_points = pointsOf(m_model, input);
        m_table.rows = m_how.rows.empty() ? partRows(m_points, m_how.what) : m_how.rows;
        if (m_table.rows.empty()) {
            const auto none = noRelationsText(m_options);
            throw OptionError("what", (none.empty() ? "this model has no such parts" : none) +
                                          "; `points` lists what it has");
        }
        m_table.metric = m_how.metric, m_table.text = m_options.input() == InputKind::Tokens;
        m_table.wanted = static_cast<std::int64_t>(m_order.size());
        m_table.available = m_data->size();
        m_table.oneAnswer = m_data->info().targets == TargetKind::Class && !m_table.text;
        m_table.untrained = m_how.untrained;
        const bool resamples =
            std::find(m_how.how.begin(), m_how.how.end(), EditOp::Resample) != m_how.how.end();
        if (resamples && m_data->size() < 2)
            throw OptionError("how", "resample needs at least two examples");
        for (int d = 0; d < m_how.draws; ++d)
            m_shifts.push_back(1 + (static_cast<std::int64_t>(d) * 7919 + 12) %
                                       std::max<std::int64_t>(1, m_data->size() - 1));
        if (!m_shifts.empty()) m_table.shift = m_shifts.front();
        for (std::size_t r = 0; r < m_table.rows.size(); ++r) {
            auto& row = m_table.rows[r];
            m_names.insert(row.edit.point);
            const auto stream = blockOf(row.edit.point) + ".hook_resid_pre";
            if (hasPoint(stream)) m_names.insert(stream);
            for (const auto op : m_how.how) {
                // No example changes a library, so that resampling it would change nothing.
                if (op == EditOp::Resample &&
                    findPoint(m_points, row.edit.point, "").axes[0] != "batch")
                    continue;
                row.ways.push_back({op, {}, 0.0});
                const int draws = op == EditOp::Resample ? m_how.draws : 1;
                for (int d = 0; d < draws; ++d) {
                    auto edit = row.edit;
                    edit.op = op;
                    if (op == EditOp::Resample) edit.shift = m_shifts[static_cast<std::size_t>(d)];
                    EditList list;
                    list.edits = {edit};
                    m_trials.push_back({r, row.ways.size() - 1, Editor(list), r});
                }
            }
        }
        m_scores.resize(m_trials.size());
        for (const auto& point : m_points)
            if (point.name.ends_with(".hook_resid_post")) m_streams.insert(point.name);
        takeMeansOnce();
    }

    bool hasPoint(const std::string& name) const {
        return std::any_of(m_points.begin(), m_points.end(),
                           [&](const auto& point) { return point.name == name; });
    }

    // Means of all parts from the same passes.
    void takeMeansOnce() {
        if (std::find(m_how.how.begin(), m_how.how.end(), EditOp::Mean) == m_how.how.end()) return;
        EditList list;
        for (auto row : m_table.rows) {
            row.edit.op = EditOp::Mean;
            list.edits.push_back(row.edit);
        }
        ActiveEdits session(m_model, m_options, list,
                            withOwnExamples(m_interventions.data, m_data));
        session.prepareBatch(core::inputOf(batchAt(0, 0), device()), m_data, {});
        for (const auto& [index, taken] : session.means()) m_table.meanOf = taken.examples;
        for (auto& trial : m_trials) trial.editor.copyValues(0, session.editor(), trial.source);
    }

    torch::Device device() const { return m_model.device(); }

    void batch(std::size_t first, const std::function<void(double)>& report) {
        const auto batch = batchAt(first, 0);
        const auto ignore = m_options.ignoredTarget();
        requireLabels(batch, m_options.outputs(), ignore);
        const auto input = core::inputOf(batch, device());
        auto names = m_streams;
        names.insert(m_names.begin(), m_names.end());
        prepareEdits(input, first);
        const auto here = readHere(input, names);
        // Added to the others at the end: a batch that is cancelled leaves nothing behind.
        ExampleScores base;
        std::vector<ExampleScores> scores(m_trials.size());
        base.add(here.scores, batch, ignore);
        base.addContent(batch);
        std::map<std::string, torch::Tensor> streams;
        for (const auto& name : m_streams)
            streams[name.substr(0, name.rfind('.'))] = here.tensors.at(name);
        std::map<std::int64_t, std::map<std::string, torch::Tensor>> others;
        const auto share = static_cast<double>(batch.size()) / static_cast<double>(m_order.size());
        const auto start = static_cast<double>(first) / static_cast<double>(m_order.size());
        for (std::size_t t = 0; t < m_trials.size(); ++t) {
            auto& trial = m_trials[t];
            const auto& edit = trial.editor.edit(0);
            if (edit.op == EditOp::Resample) {
                auto& other = others[edit.shift];
                if (other.empty())
                    other =
                        read(core::inputOf(batchAt(first, edit.shift), device()), m_names).tensors;
                trial.editor.setValues(0, other.at(edit.point));
            }
            trial.editor.keepStreams(streams, m_points);
            scores[t].add(forward(input, trial.editor), batch, ignore);
            report(start +
                   share * static_cast<double>(t + 1) / static_cast<double>(m_trials.size()));
        }
        m_base.append(base);
        for (std::size_t t = 0; t < m_trials.size(); ++t) m_scores[t].append(scores[t]);
        norms(here.tensors, batch.size());
    }

    struct Read {
        torch::Tensor scores;
        std::map<std::string, torch::Tensor> tensors;
    };
    Read read(const ModelInput& input, const std::set<std::string>& names) {
        PointReader reader({names.begin(), names.end()});
        const InterventionScope scope(&reader);
        Read result{answersOf(m_model, input), {}};
        result.tensors = reader.take();
        return result;
    }

    // Scores and tensors of a pass with the edits in force; read() has none.
    Read readHere(const ModelInput& input, const std::set<std::string>& names) {
        if (!m_session) return read(input, names);
        const InterventionScope below(&m_session->editor());
        return read(input, names);
    }

    // Mean length of the parts and of the stream that they are added to.
    void norms(const std::map<std::string, torch::Tensor>& tensors, std::int64_t examples) {
        const auto length = [](const torch::Tensor& t) {
            return t.to(torch::kDouble).norm(2, -1).mean().item<double>();
        };
        m_seen += static_cast<double>(examples);
        for (auto& row : m_table.rows) {
            auto part = tensors.at(row.edit.point);
            const auto& point = findPoint(m_points, row.edit.point, "");
            for (const auto& [axis, selection] : row.edit.selection)
                part = part.narrow(point.dimension(axis), selection.places[0], 1);
            const auto weight = static_cast<double>(examples) / m_seen;
            row.partNorm += (length(part) - row.partNorm) * weight;
            const auto stream = tensors.find(blockOf(row.edit.point) + ".hook_resid_pre");
            if (stream != tensors.end())
                row.streamNorm += (length(stream->second) - row.streamNorm) * weight;
        }
    }

    const std::vector<double>& metricOf(const ExampleScores& scores) const {
        return metricInfo(m_how.metric).id == Metric::Loss ? scores.loss : scores.accuracy;
    }

    void fill() {
        // Draws of one way are averaged example by example.
        std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> byWay;
        for (std::size_t t = 0; t < m_trials.size(); ++t)
            byWay[{m_trials[t].row, m_trials[t].way}].push_back(t);
        for (const auto& [place, trials] : byWay) {
            std::vector<double> mean(metricOf(m_base).size(), 0.0);
            double changed = 0.0;
            for (const auto t : trials) {
                const auto& values = metricOf(m_scores[t]);
                for (std::size_t e = 0; e < mean.size(); ++e)
                    mean[e] += values[e] / static_cast<double>(trials.size());
                changed += effectShare(m_scores[t]) / static_cast<double>(trials.size());
            }
            auto& way = m_table.rows[place.first].ways[place.second];
            way.change =
                pairedChange(m_how.metric, metricOf(m_base), mean, m_base.targets, m_base.content);
            way.changedAnswers = changed;
            m_table.base = way.change.base;
        }
        m_table.different = std::ssize(
            std::unordered_set<std::uint64_t>(m_base.content.begin(), m_base.content.end()));
    }

    double effectShare(const ExampleScores& scores) const {
        std::size_t changed = 0;
        for (std::size_t i = 0; i < scores.answers.size(); ++i)
            changed += scores.answers[i] != m_base.answers[i];
        return static_cast<double>(changed) /
               static_cast<double>(std::max<std::size_t>(1, scores.answers.size()));
    }

    static double largest(const AblationRow& row) {
        double most = 0.0;
        for (const auto& way : row.ways) most = std::max(most, std::abs(way.change.change));
        return most;
    }

    AblationTable sorted() const {
        auto table = m_table;
        std::stable_sort(table.rows.begin(), table.rows.end(),
                         [](const auto& a, const auto& b) { return largest(a) > largest(b); });
        return table;
    }

    // The metric with several parts out in one way.
    double metricWithout(const std::vector<const AblationRow*>& rows, EditOp way) {
        EditList list;
        for (const auto* row : rows) {
            list.edits.push_back(row->edit);
            list.edits.back().op = way;
        }
        Editor editor(list);
        if (way == EditOp::Mean)
            for (std::size_t i = 0; i < rows.size(); ++i)
                for (const auto& trial : m_trials)
                    if (trial.editor.edit(0).op == EditOp::Mean &&
                        m_table.rows[trial.row].part == rows[i]->part)
                        editor.copyValues(i, trial.editor, 0);
        return pairedChange(m_how.metric, metricOf(m_base), metricOf(scoresWith(editor)),
                            m_base.targets)
            .edited;
    }

    ExampleScores scoresWith(Editor& editor) {
        ExampleScores scores;
        for (std::size_t first = 0; first < m_order.size();
             first += static_cast<std::size_t>(m_how.batchSize)) {
            const auto batch = batchAt(first, 0);
            const auto input = core::inputOf(batch, device());
            prepareEdits(input, first);
            scores.add(forward(input, editor), batch, m_options.ignoredTarget());
        }
        return scores;
    }

    /// The parts of a model that lie in the same group: of a relation those at its point, of a head
    /// all heads of its layer that read the same objects.
    std::vector<Edit> groupEdits(const AblationRow& part) const {
        std::vector<Edit> all;
        const auto block = blockOf(part.edit.point);
        const bool head = part.group == "heads",
                   cross = part.edit.point.find(".cross_attn.") != std::string::npos;
        for (const auto& point : m_points) {
            const bool same =
                head ? point.name.ends_with(".hook_z") && blockOf(point.name) == block &&
                           (point.name.find(".cross_attn.") != std::string::npos) == cross
                     : point.name == part.edit.point;
            if (!same) continue;
            Edit edit;
            edit.point = point.name, edit.op = EditOp::Zero;
            all.push_back(std::move(edit));
        }
        return all;
    }

    /// Measures what parts add to a group whose loss they do not have: the group at zero, and the
    /// group but this part at zero.
    void addTogether(AblationTable& table, const std::function<void()>& report) {
        const MetricWords words(table.metric);
        const auto costs = [&](const AblationRow& row, double limit) {
            return !row.ways.empty() &&
                   std::all_of(row.ways.begin(), row.ways.end(),
                               [&](const auto& way) { return words.lost(way.change).low > limit; });
        };
        const double least = words.leastCost(table.base, untrainedMean(table.untrained));
        std::map<std::string, ExampleScores> without;  // by the part that holds them
        for (auto& row : table.rows) {
            const auto* group = groupOf(table, row);
            if (!group || row.edit.selection.size() != 1 || costs(row, least) ||
                !costs(*group, 0.0))
                continue;
            const auto edits = groupEdits(row);
            const auto scores = [&](EditList list) {
                report();
                Editor editor(list);
                return scoresWith(editor);
            };
            if (!without.contains(group->part)) {
                EditList list;
                list.edits = edits;
                without[group->part] = scores(list);
            }
            const auto& [axis, place] = *row.edit.selection.begin();
            EditList others;
            for (auto edit : edits) {
                if (edit.point == row.edit.point) {
                    const auto& point = findPoint(m_points, edit.point, "");
                    const auto size = point.shape[static_cast<std::size_t>(point.dimension(axis))];
                    AxisSelection rest;
                    for (std::int64_t k = 0; k < size; ++k)
                        if (k != place.places.front()) rest.places.push_back(k);
                    if (rest.places.empty()) continue;
                    edit.selection[axis] = rest;
                }
                others.edits.push_back(std::move(edit));
            }
            const auto alone = others.edits.empty() ? m_base : scores(others);
            row.adds = pairedChange(m_how.metric, metricOf(without.at(group->part)),
                                    metricOf(alone), m_base.targets, m_base.content);
        }
    }

    /// Measures each part out with a head that is fitted behind it; of another example's values
    /// the first draw.
    void fitAnew(AblationTable& table, const HeadRefit& refit, const std::stop_token& stop,
                 const std::function<void(double)>& report) {
        std::set<std::pair<std::string, EditOp>> fitted;
        for (auto& trial : m_trials) {
            const auto& part = m_table.rows[trial.row].part;
            const auto op = trial.editor.edit(0).op;
            const auto row = std::find_if(table.rows.begin(), table.rows.end(),
                                          [&](const AblationRow& one) { return one.part == part; });
            const auto way = std::find_if(row->ways.begin(), row->ways.end(),
                                          [&](const auto& one) { return one.how == op; });
            // Once, also after it was cancelled.
            if (!fitted.emplace(part, op).second || way->refit) continue;
            std::optional<ActiveEdits> drawn;  // whose values are those of other examples
            if (op == EditOp::Resample) {
                EditList list;
                list.edits = {trial.editor.edit(0)};
                drawn.emplace(m_model, m_options, list,
                              withOwnExamples(m_interventions.data, m_data));
            }
            const EditedPass pass = [&](const ModelInput& input, const DatasetPtr& data,
                                        const std::vector<std::int64_t>& indices) {
                if (m_session) m_session->prepareBatch(input, data, indices);
                if (drawn) drawn->prepareBatch(input, data, indices);
                trial.editor.keepStreams({}, {});
                return forward(input, drawn ? drawn->editor() : trial.editor);
            };
            ExampleScores anew;
            refit.behind(pass, stop, [&] {
                for (std::size_t first = 0; first < m_order.size();
                     first += static_cast<std::size_t>(m_how.batchSize)) {
                    const auto batch = batchAt(first, 0);
                    anew.add(pass(core::inputOf(batch, device()), m_data, indicesAt(first, 0)),
                             batch, m_options.ignoredTarget());
                }
            });
            way->refit = pairedChange(m_how.metric, metricOf(m_base), metricOf(anew),
                                      m_base.targets, m_base.content);
            report(static_cast<double>(&trial - m_trials.data() + 1) /
                   static_cast<double>(m_trials.size()));
        }
    }

    // The way of the joint measurements: the mean where it was asked for, else zero.
    EditOp jointWay() const {
        return std::find(m_how.how.begin(), m_how.how.end(), EditOp::Mean) != m_how.how.end()
                   ? EditOp::Mean
                   : EditOp::Zero;
    }
    static double changeOf(const AblationRow& row, EditOp way) {
        for (const auto& measured : row.ways)
            if (measured.how == way) return measured.change.change;
        return 0.0;
    }

    void cumulate(AblationTable& table, const std::function<void(double)>& report) {
        const auto way = table.cumulativeWay = jointWay();
        std::vector<const AblationRow*> order;
        for (const auto& row : table.rows) order.push_back(&row);
        std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
            return std::abs(changeOf(*a, way)) < std::abs(changeOf(*b, way));
        });
        std::vector<const AblationRow*> out;
        for (const auto* row : order) {
            out.push_back(row);
            if (out.size() <= table.cumulative.size()) continue;  // before it was cancelled
            table.cumulative.emplace_back(row->part, metricWithout(out, way));
            report(static_cast<double>(out.size()) / static_cast<double>(order.size()));
        }
    }

    void pair(AblationTable& table, const std::function<void(double)>& report) {
        const auto way = jointWay();
        const auto count = std::min(kStrongest, table.rows.size());
        const std::size_t all = count * (count - 1) / 2;
        const auto total = static_cast<double>(all);
        std::size_t at = 0;
        for (std::size_t a = 0; a < count; ++a)
            for (std::size_t b = a + 1; b < count; ++b) {
                if (at++ < table.pairs.size()) continue;
                const auto &first = table.rows[a], &second = table.rows[b];
                const double joint = metricWithout({&first, &second}, way) - table.base;
                table.pairs.push_back({first.part, second.part, joint,
                                       joint - changeOf(first, way) - changeOf(second, way)});
                report(static_cast<double>(table.pairs.size()) / total);
            }
    }

    ModelImpl& m_model;
    const ModelOptions& m_options;
    DatasetPtr m_data;
    const Interventions m_interventions;
    const AblationOptions m_how;
    std::unique_ptr<ActiveEdits> m_session;  // session of the edits in force; null without any
    AblationTable m_table;                   // rows in the order of the forward pass
    std::vector<PointInfo> m_points;
    std::vector<std::int64_t> m_order, m_shifts;
    std::set<std::string> m_names, m_streams;
    std::vector<Trial> m_trials;
    ExampleScores m_base;
    std::vector<ExampleScores> m_scores;
    double m_seen = 0.0;  // examples that the norms are of
    bool m_prepared = false;
    std::size_t m_next = 0;                   // the first example that is not measured yet
    std::optional<AblationTable> m_measured;  // with the joint measurements so far
};

}  // namespace

AblationTable ablate(ModelImpl& model, const ModelOptions& options, const DatasetPtr& data,
                     const Interventions& interventions, const AblationOptions& how,
                     std::stop_token stop, const ProgressCallback& progress,
                     const std::function<void(const AblationTable&)>& partial, std::any* kept,
                     const HeadRefit* refit) {
    how.check();
    if (!data || data->size() == 0) throw OptionError("data", "contains nothing to evaluate");
    std::any own;
    auto& state = kept ? *kept : own;
    auto* held = std::any_cast<std::shared_ptr<Ablation>>(&state);
    if (!held || !(*held)->isOf(model, data, interventions.edits, how)) {
        state.reset();  // two may not fit into the memory
        state = std::make_shared<Ablation>(model, options, data, interventions, how);
    }
    const auto ablation = std::any_cast<std::shared_ptr<Ablation>>(state);
    try {
        auto table = ablation->run(std::move(stop), progress, partial, refit);
        state.reset();
        return table;
    } catch (const Cancelled&) {
        if (!ablation->isPrepared()) state.reset();  // cancelled while data were opened
        throw;
    } catch (...) {
        state.reset();
        throw;
    }
}

AblationTable ablate(OpenedModel& opened, const DatasetPtr& data,
                     const Interventions& interventions, const AblationOptions& how,
                     const std::stop_token& stop, const ProgressCallback& progress,
                     const std::function<void(const AblationTable&)>& partial, std::any* kept) {
    AblationTable table;
    const auto refit = how.refit ? opened.headRefit() : nullptr;
    opened.withData(data, interventions, how.batchSize,
                    [&](ModelImpl& model, const Interventions& all) {
                        table = ablate(model, opened.options(), data, all, how, stop, progress,
                                       partial, kept, refit.get());
                    });
    return table;
}

}  // namespace relascope::core
