// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>
#include <algorithm>
#include <numeric>

#include "analysis/answer_names.h"
#include "analysis/lens/fitted_jacobian.h"
#include "analysis/lens/jacobian.h"
#include "analysis/lens/lens.h"
#include "analysis/open_model.h"
#include "analysis/parts/answer_stream.h"
#include "analysis/run_analysis.h"
#include "interventions/editor.h"
#include "model/model.h"
#include "model/public/public_options.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kScores = std::int64_t{1} << 24;  // computed at a time: 64 MiB

// The cells of some columns of a row, from their scores [columns, answers].
void addCells(LensResult& result, const torch::Tensor& given, const LensOptions& what,
              const torch::Tensor& own, bool each) {
    const auto scores = given.to(torch::kFloat);
    const auto logs = each ? torch::log_sigmoid(scores) : torch::log_softmax(scores, -1);
    const auto owned = own.unsqueeze(1);
    const auto host = [](const torch::Tensor& t) {
        return t.to(torch::kCPU, torch::kDouble).contiguous();
    };
    const auto best = torch::topk(scores, std::min(what.top, scores.size(1)), -1);
    const auto ids = std::get<1>(best).to(torch::kCPU).contiguous();
    const auto top = host(std::get<0>(best)), topLogs = host(logs.gather(1, std::get<1>(best)));
    torch::Tensor asked, askedLogs;
    if (!what.answers.empty()) {
        const auto places = torch::tensor(what.answers).to(scores.device());
        asked = host(scores.index_select(1, places));
        askedLogs = host(logs.index_select(1, places));
    }
    auto terms = logs.exp() * logs;
    if (each) {  // of yes or no for each answer
        const auto no = torch::log_sigmoid(-scores);
        terms = terms + no.exp() * no;
    }
    const auto entropy = host(-terms.sum(-1)), ownLogs = host(logs.gather(1, owned)),
               rank = host(scores.gt(scores.gather(1, owned)).sum(-1) + 1);
    for (std::int64_t c = 0; c < scores.size(0); ++c) {
        LensCell cell;
        for (std::int64_t k = 0; k < ids.size(1); ++k)
            cell.top.push_back({ids[c][k].item<std::int64_t>(),
                                {},
                                top[c][k].item<double>(),
                                std::exp(topLogs[c][k].item<double>())});
        for (std::size_t k = 0; k < what.answers.size(); ++k) {
            const auto at = static_cast<std::int64_t>(k);
            cell.asked.push_back({what.answers[k],
                                  {},
                                  asked[c][at].item<double>(),
                                  std::exp(askedLogs[c][at].item<double>())});
        }
        cell.probability = std::exp(ownLogs[c][0].item<double>());
        cell.rank = static_cast<std::int64_t>(rank[c].item<double>());
        cell.entropy = entropy[c].item<double>();
        result.cells.push_back(std::move(cell));
    }
}

}  // namespace

LensResult logitLens(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                     const LensOptions& what, const JacobianLens* jacobian) {
    if (what.top < 1) throw OptionError("top", "must be at least 1");
    const torch::NoGradGuard noGrad;
    requireAnswers(options);
    const bool each = answersEach(options);
    const auto stream = answerStream(model, options);
    PointReader reader(stream.points);
    auto scores = readPass(model, input, reader);
    if (scores.size(1) == 1) scores = torch::cat({torch::zeros_like(scores), scores}, 1);
    for (const auto id : what.answers) requireAnswer(id, scores.size(1), "answer");

    LensResult result;
    result.whole = stream.whole();
    std::int64_t first = 0, count = scores.size(0);
    if (what.position != LensOptions::kEvery) {
        if (result.whole)
            throw OptionError("position",
                              "this model gives one answer for the whole input; leave it out");
        first = positionIn(what.position, count), count = 1;
    }
    result.positions.resize(static_cast<std::size_t>(count));
    std::iota(result.positions.begin(), result.positions.end(), first);
    const auto last = scores.slice(0, first, first + count);
    const auto own = last.argmax(-1);
    for (std::int64_t c = 0; c < count; ++c) {
        LensAnswer answer;
        answer.id = own[c].item<std::int64_t>();
        answer.logit = last[c][answer.id].item<double>();
        const auto exact = last[c].to(torch::kDouble);
        answer.probability =
            (each ? torch::sigmoid(exact) : torch::softmax(exact, 0))[answer.id].item<double>();
        result.answers.push_back(answer);
    }
    const auto step = std::max<std::int64_t>(1, kScores / scores.size(1));
    for (std::size_t row = 0; row < stream.points.size(); ++row) {
        const auto found = reader.tensors().find(stream.points[row]);
        // Message passing has no stream of this width before its first layer.
        if (found == reader.tensors().end()) continue;
        const auto name = row == 0 ? stream.before : "layer " + std::to_string(row);
        const auto add = [&](const std::string& named, const torch::Tensor& of) {
            result.rows.push_back(named);
            const auto pooled = stream.pooled(of);
            if (result.whole) return addCells(result, stream.answer(pooled)[0], what, own, each);
            if (stream.endsEach) {  // the end of the model reads all positions at once
                const auto all = stream.answer(pooled)[0].slice(0, first, first + count);
                for (std::int64_t c = 0; c < count; c += step)
                    addCells(result, all.slice(0, c, c + step), what, own.slice(0, c, c + step),
                             each);
                return;
            }
            const auto x = pooled.slice(1, first, first + count);
            for (std::int64_t c = 0; c < count; c += step)
                addCells(result, stream.answer(x.slice(1, c, c + step))[0], what,
                         own.slice(0, c, c + step), each);
        };
        add(name, found->second);
        if (!jacobian) continue;
        if (const auto at = jacobian->matrices.find(row); at != jacobian->matrices.end()) {
            const auto& x = found->second;
            const auto j = at->second.to(x.device());
            add(name + " J", torch::matmul(x.to(torch::kFloat), j.t()).to(x.scalar_type()));
        }
    }
    return result;
}

void nameAnswer(LensAnswer& answer, const AnswerNames& names) {
    if (answer.id >= 0) answer.name = names.of(answer.id);
}

LensResult lensOf(AnalysisSubject& subject, const LensOptions& what, const JacobianLens* jacobian) {
    auto& model = *subject.model;
    const auto& sample = sampleOf(subject);
    LensResult result;
    model.withInput(sample, subject.interventions, [&](ModelImpl& m, const ModelInput& input) {
        result = logitLens(m, model.options(), input, what, jacobian);
    });
    const auto names = model.answerNames(sample, subject.classNames);
    for (auto& answer : result.answers) nameAnswer(answer, names);
    for (auto& cell : result.cells)
        for (auto* answers : {&cell.top, &cell.asked})
            for (auto& answer : *answers) nameAnswer(answer, names);
    const auto inputs = answeredInputs(model.options(), sample, model.tokenizer());
    for (const auto position : result.positions)
        if (static_cast<std::size_t>(position) < inputs.size())
            result.inputs.push_back(inputs[static_cast<std::size_t>(position)]);
    return result;
}

namespace {

LensResult runLens(AnalysisSubject& subject, const LensChoice& choice,
                   const Watch<LensResult>& watch) {
    LensOptions what;
    what.top = choice.top, what.position = choice.position;
    const auto names = subject.model->answerNames(sampleOf(subject), subject.classNames);
    for (const auto& word : choice.answers) what.answers.push_back(names.find(word, "answer"));
    const auto jacobian = jacobianOf(subject, choice, watch.stop, watch.progress);
    return lensOf(subject, what, jacobian ? &*jacobian : nullptr);
}

}  // namespace

const RegisterRunner kLensRunner("lens",
                                 [] { return makeRunner(lensFields(), runLens, answerOf); });

}  // namespace relascope::core
