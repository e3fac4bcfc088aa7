// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/phenomena/phenomena.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>

#include "analysis/open_model.h"
#include "analysis/pairs/sentence_batches.h"
#include "analysis/parts/part_rows.h"
#include "answers/column_table.h"
#include "interventions/edited_run.h"
#include "model/public/public_options.h"

namespace relascope::core {
namespace {

/// A part taken out in one way, and the scores of all sentences without it.
struct PartOut {
    Editor editor;
    std::vector<double> scores;
};

Edit without(const AblationRow& row, EditOp op) {
    auto edit = row.edit;
    edit.op = op;
    return edit;
}

EditList editList(std::vector<Edit> edits) {
    EditList list;
    list.edits = std::move(edits);
    return list;
}

class PhenomenonRun {
public:
    PhenomenonRun(AnalysisSubject& subject, const PhenomenonOptions& options)
        : m_options(options),
          m_batches(subject, options.examples),
          m_interventions(m_batches.interventions()),
          m_model(subject.model->edited(m_interventions)) {
        if (options.what.empty()) throw OptionError("what", "names no group of parts");
        const auto first = m_batches.part(0);
        m_points = m_model->points(first.batch);
        m_rows = partRows(m_points, options.what);
        if (m_rows.empty())
            throw OptionError("what", "this model has no such parts; `points` lists what it has");
        for (const auto& point : m_points)
            if (point.name.ends_with(".hook_resid_post")) m_streams.push_back(point.name);
        std::vector<Edit> means;
        for (const auto& row : m_rows) {
            means.push_back(without(row, EditOp::Mean));
            for (const auto op : {EditOp::Zero, EditOp::Mean})
                m_out.push_back({Editor(editList({without(row, op)})),
                                 std::vector<double>(m_batches.tokens().sentences.size())});
        }
        // All means from the same passes, in which nothing else is edited.
        const auto taking = subject.model->edited({editList(means), m_interventions.data});
        taking->answers(first.batch, first.data, first.indices);
        for (std::size_t r = 0; r < m_rows.size(); ++r)
            m_out[2 * r + 1].editor.copyValues(0, taking->edits()->editor(), r);
    }

    std::size_t trials() const { return m_out.size(); }

    Answer run(const Watch<Answer>& watch) {
        const bool mean = m_options.score == "mean";
        std::vector<double> base(m_batches.tokens().sentences.size());
        // The untrained models read all sentences once, as each way of each part does.
        const auto fresh = static_cast<double>(m_options.untrained);
        const auto passes =
            static_cast<double>(m_batches.parts()) * (static_cast<double>(m_out.size()) + fresh);
        double done = 0.0;
        for (std::size_t p = 0; p < m_batches.parts(); ++p) {
            const auto part = m_batches.part(p);
            PointReader reader(m_streams);
            m_batches.score(*m_model, part, mean, base, nullptr, &reader);
            std::map<std::string, torch::Tensor> streams;
            for (const auto& [name, tensor] : reader.tensors())
                streams[name.substr(0, name.rfind('.'))] = tensor;
            for (auto& out : m_out) {
                out.editor.keepStreams(streams, m_points);
                m_batches.score(*m_model, part, mean, out.scores, nullptr, &out.editor);
                out.editor.keepStreams({}, m_points);
                if (watch.stop.stop_requested() ||
                    (watch.progress && !watch.progress(++done / passes)))
                    throw Cancelled();
            }
        }
        const double before = done;
        return resultOf(base, [&](double part) {
            if (watch.stop.stop_requested() ||
                (watch.progress && !watch.progress((before + part * (passes - before)) / passes)))
                throw Cancelled();
        });
    }

private:
    /// The values of the pairs of each phenomenon: right or not, and the difference of the scores.
    struct Values {
        std::vector<std::vector<double>> right, difference;
        std::vector<std::vector<std::size_t>> words;
    };
    Values valuesOf(const std::vector<double>& scores) const {
        Values values;
        values.right.resize(m_batches.phenomena().size());
        values.difference.resize(m_batches.phenomena().size());
        values.words.resize(m_batches.phenomena().size());
        const auto pairs = pairScores(m_batches.tokens(), scores);
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            const auto f = m_batches.phenomenonOf()[k];
            values.right[f].push_back(pairs[k].right() ? 1.0 : 0.0);
            values.difference[f].push_back(pairs[k].difference());
            values.words[f].push_back(m_batches.wordsOf()[k]);
        }
        return values;
    }

    Answer resultOf(const std::vector<double>& base,
                    const std::function<void(double)>& report) const {
        Phenomena found;
        found.score = m_options.score;
        found.parts = m_rows;
        auto accuracies = pairAccuracies(m_batches, base);
        compareWithChance(accuracies, m_batches, m_options.untrained, m_options.score == "mean",
                          report);
        std::tie(found.all, found.phenomena) = std::move(accuracies);
        std::vector<std::size_t> names;  // phenomena that have pairs
        for (const auto& one : found.phenomena)
            names.push_back(
                static_cast<std::size_t>(std::find(m_batches.phenomena().begin(),
                                                   m_batches.phenomena().end(), one.phenomenon) -
                                         m_batches.phenomena().begin()));
        const auto before = valuesOf(base);
        for (std::size_t r = 0; r < m_rows.size(); ++r) {
            const Values after[] = {valuesOf(m_out[2 * r].scores),
                                    valuesOf(m_out[2 * r + 1].scores)};
            for (std::size_t f = 0; f < names.size(); ++f) {
                const auto n = names[f];
                const auto& words = before.words[n];
                const auto change = [&](const Values& values) {
                    return Phenomena::Change{
                        changeByWords("pair_accuracy", before.right[n], values.right[n], words),
                        changeByWords("difference", before.difference[n], values.difference[n],
                                      words)};
                };
                found.cells.push_back(
                    {static_cast<int>(r), static_cast<int>(f), change(after[0]), change(after[1])});
            }
        }
        findCarriers(found);
        auto answer = answerOf(found);
        for (auto& column : m_batches.leftOut())
            answer.tables.front().columns.push_back(std::move(column));
        return answer;
    }

    const PhenomenonOptions m_options;
    SentenceBatches m_batches;
    Interventions m_interventions;
    std::unique_ptr<EditedModel> m_model;
    std::vector<PointInfo> m_points;
    std::vector<AblationRow> m_rows;
    std::vector<std::string> m_streams;
    std::vector<PartOut> m_out;  ///< of each row at zero, then at its mean
};

Answer runPhenomena(AnalysisSubject& subject, const PhenomenonOptions& options,
                    const Watch<Answer>& watch) {
    requireNextToken(subject.model->options(), "phenomena");
    return PhenomenonRun(subject, options).run(watch);
}

AnalysisCost phenomenaCost(AnalysisSubject& subject, const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    requireNextToken(subject.model->options(), "phenomena");
    const SentenceBatches batches(subject, PhenomenonOptions().examples);
    AnalysisCost cost;
    cost.noun = "pairs";
    cost.examples = std::ssize(batches.tokens().pairs);
    const auto model = subject.model->edited({});
    const auto middle = batches.part(batches.parts() / 2);
    for (const auto& row : partRows(model->points(middle.batch), partGroups()))
        ++cost.parts[row.group];
    std::vector<double> scores(batches.tokens().sentences.size());
    batches.score(*model, middle, false, scores);  // the first pass of a length is slower
    const auto began = Clock::now();
    batches.score(*model, middle, false, scores);
    if (stop.stop_requested()) throw Cancelled();
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    cost.seconds = seconds / static_cast<double>(middle.sentences.size()) *
                   static_cast<double>(batches.tokens().sentences.size()) /
                   static_cast<double>(std::max<std::int64_t>(1, cost.examples));
    return cost;
}

}  // namespace

const RegisterRunner kPhenomenaRunner("phenomena", [] {
    auto r = makeRunner(phenomenonFields(), runPhenomena);
    r.cost = phenomenaCost;
    return r;
});

}  // namespace relascope::core
