// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/evaluation_answer.h"

#include <span>

#include "answers/column_table.h"

namespace relascope::core {
namespace {

struct NamedValue {
    std::string name;
    double value = 0.0;
};

const ColumnTable<Evaluation>& evaluationFacts() {
    using E = Evaluation;
    static const ColumnTable<E> all = {columns::integer(&E::examples, "examples", {"Examples"})};
    return all;
}
const ColumnTable<NamedValue>& metricColumns() {
    static const ColumnTable<NamedValue> all = {
        columns::text(&NamedValue::name, "metric", {"Metric"}),
        columns::number(&NamedValue::value, "value", {"Value", {4}})};
    return all;
}
const ColumnTable<NamedValue>& classColumns() {
    static const ColumnTable<NamedValue> all = {
        columns::text(&NamedValue::name, "class", {"Class"}),
        columns::number(&NamedValue::value, "accuracy", {"Accuracy", {1, true}})};
    return all;
}

const ColumnTable<EditEffect>& effectFacts() {
    using E = EditEffect;
    static const ColumnTable<E> all = {
        columns::integer(&E::examples, "examples", {"Examples"}),
        columns::integer(&E::different, "different", {"Different"}),
        columns::integer(&E::answers, "answers", {"Answers"}),
        columns::integer(&E::rightToWrong, "right_to_wrong", {"Right to wrong"}),
        columns::integer(&E::wrongToRight, "wrong_to_right", {"Wrong to right"}),
        columns::number(&E::changedAnswers, "changed_answers", {"Changed answers", {1, true}})};
    return all;
}
ColumnTable<PairedChange> changeColumns() {
    using C = PairedChange;
    return {columns::text(&C::metric, "metric", {"Metric"}),
            columns::number(&C::base, "base", {"Without edits", {4}}),
            columns::number(&C::edited, "edited", {"With edits", {4}}),
            columns::number(&C::change, "change", {"Change", {4, false, true}, {}, "low", "high"}),
            columns::number(&C::low, "low"),
            columns::number(&C::high, "high")};
}
/// Of a head that is fitted anew behind the edits, beside the columns of the one that stays.
ColumnTable<PairedChange> refitColumns() {
    using C = PairedChange;
    return {columns::number(&C::edited, "refit",
                            {"Head fitted anew", {4}, "Whether it can still be told"}),
            columns::number(&C::change, "refit_change",
                            {"Change then", {4, false, true}, {}, "refit_low", "refit_high"}),
            columns::number(&C::low, "refit_low"), columns::number(&C::high, "refit_high")};
}

const ColumnTable<VerifyReport>& verifyFacts() {
    static const ColumnTable<VerifyReport> all = {
        columns::flag(&VerifyReport::ok, "ok", {"Matches"}),
        columns::number(&VerifyReport::worst, "worst", {"Largest difference"})};
    return all;
}
const ColumnTable<VerifyLine>& verifyColumns() {
    using L = VerifyLine;
    static const ColumnTable<L> all = {columns::text(&L::name, "name", {"Tensor"}),
                                       columns::number(&L::absolute, "absolute", {"Absolute"}),
                                       columns::number(&L::relative, "relative", {"Relative"}),
                                       columns::flag(&L::ok, "ok", {"Matches"}),
                                       columns::text(&L::note, "note", {"Note"})};
    return all;
}

}  // namespace

Answer answerOf(const Evaluation& evaluation) {
    std::vector<NamedValue> classes,
        metrics = {{"loss", evaluation.loss}, {"accuracy", evaluation.accuracy}};
    for (const auto& [name, value] : evaluation.values) metrics.push_back({name, value});
    for (std::size_t k = 0; k < evaluation.classAccuracy.size(); ++k)
        classes.push_back({std::to_string(k), evaluation.classAccuracy[k]});
    return {{factsOf(evaluationFacts(), evaluation),
             tableOf("metrics", "Metrics", metricColumns(), metrics),
             tableOf("class_accuracy", "Classes", classColumns(), classes)}};
}

Evaluation evaluationOf(const Answer& answer) {
    auto evaluation = factsIn(evaluationFacts(), answer);
    auto metrics = rowsOf(metricColumns(), answer.table("metrics"));
    if (metrics.size() < 2) throw Error("an evaluation has no loss and accuracy");
    evaluation.loss = metrics[0].value, evaluation.accuracy = metrics[1].value;
    for (auto& metric : std::span(metrics).subspan(2))
        evaluation.values.emplace_back(std::move(metric.name), metric.value);
    evaluation.classAccuracy = answer.table("class_accuracy").numbers("accuracy");
    return evaluation;
}

Answer answerOf(const EditEffect& effect) {
    auto changes = tableOf("changes", "Changes", changeColumns(), effect.changes);
    if (!effect.refit.empty())
        for (auto& column : tableOf("", "", refitColumns(), effect.refit).columns)
            changes.columns.push_back(std::move(column));
    return {{factsOf(effectFacts(), effect), std::move(changes)}};
}

EditEffect editEffectOf(const Answer& answer) {
    auto effect = factsIn(effectFacts(), answer);
    const auto& changes = answer.table("changes");
    effect.changes = rowsOf(changeColumns(), changes);
    if (changes.find("refit")) {
        effect.refit = rowsOf(refitColumns(), changes);
        for (std::size_t k = 0; k < effect.refit.size(); ++k)
            effect.refit[k].metric = effect.changes[k].metric,
            effect.refit[k].base = effect.changes[k].base;
    }
    return effect;
}

Answer answerOf(const VerifyReport& report) {
    return {{factsOf(verifyFacts(), report),
             tableOf("tensors", "Tensors", verifyColumns(), report.lines)}};
}

VerifyReport verifyReportOf(const Answer& answer) {
    auto report = factsIn(verifyFacts(), answer);
    report.lines = rowsOf(verifyColumns(), answer.table("tensors"));
    return report;
}

}  // namespace relascope::core
