// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "analysis/answer_names.h"
#include "analysis/open_model.h"
#include "analysis/patch/patching.h"
#include "analysis/run_analysis.h"
#include "interventions/check_edits.h"
#include "interventions/edit_words.h"
#include "interventions/edited_run.h"
#include "model/architecture.h"
#include "model/blocks/recording.h"
#include "model/model.h"
#include "model/public/family.h"
#include "model/served/served_model.h"
#include "probe/probe.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kSameAnswer = 1e-6;

struct Grid {
    const char* over;
    const char* end;     // end of the points' names, after their block
    const char* column;  // the axis of the map's columns
};
const std::vector<Grid>& grids() {
    static const std::vector<Grid> all = {
        {"resid", "hook_resid_pre", "position"}, {"attn", "hook_attn_out", "position"},
        {"mlp", "hook_mlp_out", "position"},     {"heads", "attn.hook_z", "head"},
        {"heads", "rel.hook_z", "head"},         {"heads", "rca.hook_z", "head"},
        {"heads", "cross_attn.hook_z", "head"},  {"relations", "rel.hook_r", "relation"},
        {"relations", "rca.hook_r", "relation"}};
    return all;
}

// A cell of a map.
struct Cell {
    std::size_t map, place;  // place: row * columns + column
    std::string point;
    std::vector<std::pair<std::string, std::int64_t>> where;  // axes and places
};

constexpr std::int64_t kMostCells = 4096;  // exact ones of a relation, each a pass

// Keeps the tensors of points and their gradients' graph.
std::map<std::string, torch::Tensor> pointsWithGraph(ModelImpl& model, const ModelInput& input,
                                                     const std::set<std::string>& names,
                                                     torch::Tensor& scores) {
    GradientReader reader({names.begin(), names.end()});
    const InterventionScope scope(&reader);
    const RecordingScope unrecorded(nullptr);
    scores = answersOf(model, input);
    return reader.take();
}

// The first position at which two inputs differ; 0 where that says nothing.
std::int64_t firstDifference(const ModelInput& a, const ModelInput& b, bool causal) {
    if (!causal || a.x.dim() < 2) return 0;
    auto differs = a.x.ne(b.x);
    while (differs.dim() > 2) differs = differs.any(-1);
    const auto at = differs[0].nonzero();
    return at.numel() == 0 ? a.x.size(1) : at[0][0].item<std::int64_t>();
}

double correlation(const std::vector<std::pair<double, double>>& pairs) {
    if (pairs.size() < 3) return kNone;
    double mx = 0, my = 0;
    for (const auto& [x, y] : pairs) mx += x, my += y;
    mx /= static_cast<double>(pairs.size()), my /= static_cast<double>(pairs.size());
    double xx = 0, yy = 0, xy = 0;
    for (const auto& [x, y] : pairs)
        xx += (x - mx) * (x - mx), yy += (y - my) * (y - my), xy += (x - mx) * (y - my);
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kNone;
}

class Patching {
public:
    Patching(ModelImpl& model, const ModelInput& clean, const ModelInput& corrupted,
             const PatchOptions& how, const PatchedEdits& edits)
        : m_model(model),
          m_clean(how.noising ? corrupted : clean),
          m_corrupted(how.noising ? clean : corrupted),
          m_how(how),
          m_edits(edits) {}

    void prepare() {
        {
            const torch::NoGradGuard noGrad;
            m_points = pointsOf(m_model, m_corrupted);
            const auto a = forward(true), b = forward(false);
            m_metric = AnswerMetric::parse(m_how.metric, a, b, &m_clean, &m_corrupted);
            m_result.clean = m_metric.of(a).item<double>();
            m_result.corrupted = m_metric.of(b).item<double>();
        }
        m_result.metric = m_metric.text(m_edits.answer);
        if (!(std::abs(m_result.clean - m_result.corrupted) >= kSameAnswer))
            throw OptionError("corrupt", "A and B give the same answer: " + m_result.metric +
                                             " is " + shortestText(m_result.clean) +
                                             " for both; choose another input or --metric");
        bool causal = false;
        for (const auto& point : m_points) causal = causal || point.causal;
        // Values of other examples (resample) differ between A and B even where the inputs agree.
        const auto* served = dynamic_cast<const ServedModelImpl*>(&m_model);
        const bool numbers = served && served->declared().input != InputKind::Tokens;
        if (!resampled() && !numbers) m_first = firstDifference(m_clean, m_corrupted, causal);
        makeMaps();
        estimate();
    }

    void measure(const std::stop_token& stop, const ProgressCallback& progress,
                 const std::function<void(const PatchResult&)>& partial) {
        const torch::NoGradGuard noGrad;
        const EditedPass edits(*this, false);
        std::stable_sort(m_cells.begin(), m_cells.end(), [&](const Cell& a, const Cell& b) {
            return std::abs(estimateOf(a)) > std::abs(estimateOf(b));
        });
        m_result.total = static_cast<std::int64_t>(m_cells.size());
        std::vector<std::pair<double, double>> both;
        auto shown = std::chrono::steady_clock::now();
        for (const auto& cell : m_cells) {
            if (stop.stop_requested()) return;
            const double exact = exactOf(cell);
            m_result.maps[cell.map].exact[cell.place] = exact;
            both.emplace_back(estimateOf(cell), exact);
            ++m_result.done;
            const auto now = std::chrono::steady_clock::now();
            if (now - shown < std::chrono::milliseconds(100) && m_result.done < m_result.total)
                continue;
            shown = now;
            m_result.agreement = correlation(both);
            if (partial) partial(m_result);
            if (progress &&
                !progress(static_cast<double>(m_result.done) / static_cast<double>(m_result.total)))
                return;
        }
    }

    PatchResult take() { return std::move(m_result); }

private:
    /// The edits in force, with their values for A or B.
    class EditedPass {
    public:
        EditedPass(const Patching& patching, bool clean) {
            const auto& edits = patching.m_edits;
            if (!edits.session) return;
            edits.prepare(clean != patching.m_how.noising);
            m_scope.emplace(&edits.session->editor());
        }

    private:
        std::optional<InterventionScope> m_scope;
    };

    torch::Tensor forward(bool clean) {
        const EditedPass edits(*this, clean);
        return answersOf(m_model, clean ? m_clean : m_corrupted);
    }

    bool resampled() const {
        if (!m_edits.session) return false;
        const auto& list = m_edits.session->list().edits;
        return std::any_of(list.begin(), list.end(), [](const Edit& edit) {
            return edit.enabled && edit.op == EditOp::Resample;
        });
    }

    double estimateOf(const Cell& cell) const {
        return m_result.maps[cell.map].estimate[cell.place];
    }

    void makeMaps() {
        for (const auto& grid : grids()) {
            if (std::find(m_how.over.begin(), m_how.over.end(), grid.over) == m_how.over.end())
                continue;
            PatchMap map{grid.over, grid.end, {}, {}, {}, {}};
            std::vector<const PointInfo*> rows;
            std::int64_t columns = 0;
            for (const auto& point : m_points) {
                const std::string end = std::string(".") + grid.end;
                if (!point.name.ends_with(end)) continue;
                rows.push_back(&point);
                map.rows.push_back(point.name.substr(0, point.name.size() - end.size()));
                columns = std::max(
                    columns, point.shape[static_cast<std::size_t>(point.dimension(grid.column))]);
            }
            if (rows.empty()) continue;
            for (std::int64_t c = 0; c < columns; ++c)
                map.columns.push_back(std::to_string(c + (std::string(grid.column) != "position")));
            map.estimate.assign(rows.size() * map.columns.size(), kNone);
            map.exact = map.estimate;
            const bool position = std::string(grid.column) == "position";
            for (std::size_t r = 0; r < rows.size(); ++r) {
                const auto size =
                    rows[r]->shape[static_cast<std::size_t>(rows[r]->dimension(grid.column))];
                for (std::int64_t c = 0; c < size; ++c) {
                    const auto place = r * map.columns.size() + static_cast<std::size_t>(c);
                    if (position && c < m_first) {  // nothing there differs
                        map.estimate[place] = map.exact[place] = 0.0;
                        continue;
                    }
                    m_cells.push_back(
                        {m_result.maps.size(), place, rows[r]->name, {{grid.column, c}}});
                }
            }
            m_result.maps.push_back(std::move(map));
        }
        for (const auto& over : m_how.over)
            if (over.starts_with(kPatchedCells)) addCells(over);
        if (m_result.maps.empty())
            throw OptionError("over", "this model has no such points; `points` lists what it has");
    }

    /// A map of the cells of one relation. Closed cells have no value.
    void addCells(const std::string& over) {
        const auto edit = editFromWords(wordsOfPatchedCells(over), m_points);
        const auto& point = findPoint(m_points, edit.point, "--over");
        const int i = point.dimension("i"), j = point.dimension("j");
        if (i < 0 || j < 0)
            throw OptionError("over", edit.point + " has no cells i, j; name another relation");
        checkEdits({{}, {}, {}, {edit}}, m_points, EditUse::Inspect);
        const auto rows = point.shape[static_cast<std::size_t>(i)],
                   columns = point.shape[static_cast<std::size_t>(j)];
        if (rows * columns > kMostCells && !m_how.estimateOnly)
            throw OptionError("over", over + " has " + std::to_string(rows * columns) +
                                          " cells, each a pass; take the estimates alone "
                                          "(--estimate) or a shorter input");
        PatchMap map{over, wordsOf(edit), {}, {}, {}, {}};
        map.point.resize(map.point.size() - std::string(" zero").size());
        for (std::int64_t r = 0; r < rows; ++r) map.rows.push_back("i " + std::to_string(r));
        for (std::int64_t c = 0; c < columns; ++c) map.columns.push_back(std::to_string(c));
        map.estimate.assign(static_cast<std::size_t>(rows * columns), kNone);
        map.exact = map.estimate;
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < columns && (!point.causal || c <= r); ++c) {
                const auto place = static_cast<std::size_t>(r * columns + c);
                if (r < m_first) {
                    map.estimate[place] = map.exact[place] = 0.0;
                    continue;
                }
                Cell cell{m_result.maps.size(), place, edit.point, {{"i", r}, {"j", c}}};
                for (const auto& [axis, selection] : edit.selection)
                    cell.where.emplace_back(axis, selection.places.front());
                m_cells.push_back(std::move(cell));
            }
        m_result.maps.push_back(std::move(map));
    }

    void estimate() {
        std::set<std::string> names;
        for (const auto& cell : m_cells) names.insert(cell.point);
        torch::Tensor scores;
        {
            const torch::NoGradGuard noGrad;
            const EditedPass edits(*this, true);
            m_values = pointsWithGraph(m_model, m_clean, names, scores);
        }
        const EditedPass edits(*this, false);
        const torch::AutoGradMode gradients(true);
        const auto here = pointsWithGraph(m_model, m_corrupted, names, scores);
        if (!scores.requires_grad()) {  // of a served model
            if (m_how.estimateOnly)
                throw OptionError("estimate", "gradients do not flow in this model; leave it out");
            return;
        }
        std::vector<torch::Tensor> tensors;
        for (const auto& [name, tensor] : here) {
            if (tensor.sizes() != m_values.at(name).sizes())
                throw OptionError("corrupt", "A and B have different lengths at " + name);
            tensors.push_back(tensor);
        }
        const auto grads = torch::autograd::grad({m_metric.of(scores)}, tensors, {}, false, false,
                                                 /*allow_unused=*/true);
        std::map<std::string, torch::Tensor> effect;  // by point, every number's part
        std::size_t i = 0;
        const double span = m_result.clean - m_result.corrupted;
        for (const auto& [name, tensor] : here) {
            const auto& grad = grads[i++];
            const auto change = (m_values.at(name) - tensor.detach()).to(torch::kDouble);
            effect[name] = grad.defined() ? change * grad.to(torch::kDouble) / span
                                          : torch::zeros_like(change);
        }
        for (const auto& cell : m_cells) {
            const auto& point = *std::find_if(m_points.begin(), m_points.end(),
                                              [&](const auto& p) { return p.name == cell.point; });
            auto part = effect.at(cell.point);
            for (const auto& [axis, index] : cell.where)  // narrow() keeps the other dimensions
                part = part.narrow(point.dimension(axis), index, 1);
            m_result.maps[cell.map].estimate[cell.place] =
                part.nan_to_num(0.0, 0.0, 0.0).sum().item<double>();
        }
    }

    double exactOf(const Cell& cell) {
        Edit edit;
        edit.op = EditOp::Patch;
        edit.point = cell.point;
        edit.input = "A";
        for (const auto& [axis, index] : cell.where) edit.selection[axis] = {{index}, {}, {}};
        EditList list;
        list.edits = {edit};
        Editor editor(list);
        editor.setValues(0, m_values.at(cell.point));
        if (m_streams.empty()) keepStreams();
        editor.keepStreams(m_streams, m_points);
        const double value =
            m_metric.of(forwardEdited(m_model, m_corrupted, editor)).item<double>();
        return (value - m_result.corrupted) / (m_result.clean - m_result.corrupted);
    }

    // Blocks before the patched one need not run again.
    void keepStreams() {
        std::set<std::string> names;
        for (const auto& point : m_points)
            if (point.name.ends_with(".hook_resid_post")) names.insert(point.name);
        if (names.empty()) return;
        torch::Tensor scores;
        for (const auto& [name, tensor] : pointsWithGraph(m_model, m_corrupted, names, scores))
            m_streams[name.substr(0, name.rfind('.'))] = tensor;
    }

    ModelImpl& m_model;
    ModelInput m_clean, m_corrupted;
    const PatchOptions& m_how;
    const PatchedEdits& m_edits;
    AnswerMetric m_metric;
    PatchResult m_result;
    std::vector<PointInfo> m_points;
    std::vector<Cell> m_cells;
    std::map<std::string, torch::Tensor> m_values, m_streams;  // m_values: of A; m_streams: of B
    std::int64_t m_first = 0;
};

}  // namespace

torch::Tensor AnswerMetric::of(const torch::Tensor& scores) const {
    if (kind == Kind::Following) {
        const auto count = tokens.size(0) - position;
        const auto chances =
            torch::log_softmax(scores[0].narrow(0, position - 1, count).to(torch::kDouble), -1);
        return chances.gather(1, tokens.narrow(0, position, count).unsqueeze(1)).sum();
    }
    const auto row =
        (scores.dim() == 3 ? scores.select(1, position) : scores)[0].to(torch::kDouble);
    if (row.size(0) == 1) return kind == Kind::Probability ? torch::sigmoid(row)[0] : row[0];
    if (kind == Kind::Probability) return torch::softmax(row, 0)[answer];
    return kind == Kind::Logit ? row[answer] : row[answer] - row[other];
}

std::string AnswerMetric::text(const std::function<std::string(std::int64_t)>& name) const {
    const auto of = [&](std::int64_t id) { return name ? name(id) : std::to_string(id); };
    if (kind == Kind::Following) {
        constexpr std::int64_t most = 12;
        std::string text = "log-probability of";
        for (auto at = position; at < std::min(tokens.size(0), position + most); ++at)
            text += " " + of(tokens[at].item<std::int64_t>());
        return text + (tokens.size(0) > position + most ? " ..." : "");
    }
    std::string text = (kind == Kind::Probability ? "probability of " : "logit of ") + of(answer);
    if (kind == Kind::LogitDifference) text += " - logit of " + of(other);
    if (position != -1) text += " at position " + std::to_string(position);
    return text;
}

AnswerMetric AnswerMetric::parse(const std::string& text, const torch::Tensor& clean,
                                 const torch::Tensor& corrupted, const ModelInput* a,
                                 const ModelInput* b) {
    AnswerMetric metric;
    if (text == "following") {
        const bool ids = a && b && a->x.dim() == 2 && clean.dim() == 3 &&
                         clean.size(1) == a->x.size(1) && a->x.sizes() == b->x.sizes() &&
                         !a->target.defined();
        if (!ids) throw OptionError("metric", "following is for two texts of one length");
        metric.kind = Kind::Following;
        metric.tokens = a->x[0];
        const auto differs = a->x.ne(b->x)[0].nonzero();
        metric.position =
            differs.numel() == 0 ? 0 : differs[differs.size(0) - 1].item<std::int64_t>() + 1;
        if (metric.position < 1 || metric.position >= a->x.size(1))
            throw OptionError("metric",
                              "nothing that A and B share follows where they differ; give --metric "
                              "with the answers that they are about, as logit-difference:A,B");
        return metric;
    }
    const auto refuse = [&](const std::string& why) {
        throw OptionError("metric", "'" + text + "' " + why +
                                        "; give auto, logit:A, probability:A or "
                                        "logit-difference:A,B, with @P for a position");
    };
    auto rest = text;
    const auto integer = [&](const std::string& part) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc() || end != part.data() + part.size())
            refuse("has '" + part + "' where an integer should be");
        return value;
    };
    if (const auto at = rest.find('@'); at != std::string::npos) {
        metric.position = integer(rest.substr(at + 1));
        rest = rest.substr(0, at);
    }
    const auto positions = clean.dim() == 3 ? clean.size(1) : 1;
    if (metric.position < -positions || metric.position >= positions)
        refuse("names a position beyond the " + std::to_string(positions) + " of the scores");
    const auto classes = clean.size(-1);
    if (rest == "auto") {
        const auto best = [&](const torch::Tensor& scores) {
            return (scores.dim() == 3 ? scores.select(1, metric.position) : scores)[0]
                .argmax()
                .item<std::int64_t>();
        };
        metric.answer = best(clean), metric.other = best(corrupted);
        if (classes == 1 || metric.answer == metric.other) metric.kind = Kind::Logit;
        return metric;
    }
    const auto colon = rest.find(':');
    const auto name = rest.substr(0, colon);
    if (colon == std::string::npos) refuse("names no answer");
    const auto numbers = rest.substr(colon + 1);
    const auto comma = numbers.find(',');
    metric.answer = integer(numbers.substr(0, comma));
    if (name == "logit")
        metric.kind = Kind::Logit;
    else if (name == "probability")
        metric.kind = Kind::Probability;
    else if (name != "logit-difference")
        refuse("is no metric");
    if ((comma != std::string::npos) != (metric.kind == Kind::LogitDifference))
        refuse(metric.kind == Kind::LogitDifference ? "needs two answers" : "takes one answer");
    if (comma != std::string::npos) metric.other = integer(numbers.substr(comma + 1));
    for (const auto answer : {metric.answer, comma == std::string::npos ? 0 : metric.other})
        if (answer < 0 || answer >= classes)
            refuse("names answer " + std::to_string(answer) + " of " + std::to_string(classes));
    return metric;
}

PatchResult patch(ModelImpl& model, const ModelOptions& options, const ModelInput& clean,
                  const ModelInput& corrupted, const PatchOptions& how, const std::stop_token& stop,
                  const ProgressCallback& progress,
                  const std::function<void(const PatchResult&)>& partial,
                  const PatchedEdits& edits) {
    how.check();
    const auto same = [](const torch::Tensor& a, const torch::Tensor& b) {
        return a.defined() == b.defined() && (!a.defined() || a.sizes() == b.sizes());
    };
    if (!same(clean.x, corrupted.x) || !same(clean.target, corrupted.target))
        throw OptionError("corrupt", "A and B have different lengths (" +
                                         std::to_string(clean.x.size(1)) + " and " +
                                         std::to_string(corrupted.x.size(1)) +
                                         "); patching needs one position for another");
    if (options.info().numbers)
        throw OptionError("metric", modelTitle(options) +
                                        " answers with numbers, not with "
                                        "scores of classes");
    const EvaluationMode evaluation(model);
    Patching patching(model, clean, corrupted, how, edits);
    patching.prepare();
    if (!how.estimateOnly) patching.measure(stop, progress, partial);
    return patching.take();
}

PatchResult patch(OpenedModel& opened, const ProbeSample& clean, const ProbeSample& corrupted,
                  const PatchOptions& how, const std::vector<std::string>& classNames,
                  const Interventions& interventions, const std::stop_token& stop,
                  const ProgressCallback& progress,
                  const std::function<void(const PatchResult&)>& partial) {
    const auto& options = opened.options();
    std::vector<std::string> positions;
    if (options.input() == InputKind::Tokens) {
        positions = answeredInputs(options, clean, opened.tokenizer());
        const auto others = answeredInputs(options, corrupted, opened.tokenizer());
        for (std::size_t i = 0; i < std::min(positions.size(), others.size()); ++i)
            if (positions[i] != others[i]) positions[i] += "/" + others[i];
    }
    if (const auto* images = options.find<ImageInput>()) {
        const auto before = options.tokens() - images->patches();
        for (const auto* name : {"class token", "distilled token"})
            if (std::ssize(positions) < before) positions.emplace_back(name);
        for (std::int64_t row = 0; row < images->gridRows(); ++row)
            for (std::int64_t column = 0; column < images->gridColumns(); ++column)
                positions.push_back("patch (" + std::to_string(row) + ", " +
                                    std::to_string(column) + ")");
    }
    const auto named = [&](PatchResult result) {
        result.positions = positions;
        result.places = options.input() == InputKind::Images;
        return result;
    };
    std::function<void(const PatchResult&)> report;
    if (partial) report = [&](const PatchResult& result) { partial(named(result)); };
    const auto names = opened.answerNames(clean, classNames);
    PatchResult result;
    opened.withEdits(interventions, [&](ModelImpl& model, ActiveEdits* session) {
        PatchedEdits edits{session,
                           [&](bool first) { session->prepareSample(first ? clean : corrupted); }};
        edits.answer = [&names](std::int64_t id) { return names.of(id); };
        const auto inputFor = [&](const ProbeSample& sample) {
            return inputOf(sample, options).to(model.device());
        };
        result = named(patch(model, options, inputFor(clean), inputFor(corrupted), how, stop,
                             progress, report, edits));
    });
    return result;
}

namespace {

PatchResult runPatching(AnalysisSubject& subject, const PatchOptions& options,
                        const Watch<PatchResult>& watch) {
    auto how = options;
    for (auto& over : how.over) {
        if (over != "cells") continue;
        if (!subject.cell || subject.cell->kind != MapKind::Relation)
            throw OptionError("over",
                              "cells need a relation: choose one in the inspector, or name it as "
                              "cells:LAYER:RELATION");
        over += ":" + std::to_string(subject.cell->layer + 1) + ":" +
                std::to_string(subject.cell->index + 1);
    }
    how.check();
    return patch(*subject.model, sampleOf(subject), subject.second.value(), how, subject.classNames,
                 subject.interventions, watch.stop, watch.progress, watch.partial);
}

}  // namespace

const RegisterRunner kPatchingRunner("patch", [] {
    return makeRunner(patchingFields(), runPatching, answerOf);
});

}  // namespace relascope::core
