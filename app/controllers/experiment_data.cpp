// SPDX-License-Identifier: GPL-3.0-or-later
// Runs on data of the user: what the files dictate, and what mends a start that was refused.
#include <algorithm>
#include <nlohmann/json.hpp>

#include <QRegularExpression>

#include "app/controllers/examples.h"
#include "app/controllers/experiment_controller.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/looker.h"
#include "app/controllers/training_controller.h"
#include "options/options_json.h"
#include "options/presets.h"
#include "options/run_settings.h"

namespace relascope::app {

void ExperimentController::trainOn(const DataOptions& data, const std::vector<std::string>& fields,
                                   const DatasetInfo& info) {
    // Text has no task, even if the Data page has one.
    const auto given = [&](const std::string& name) {
        if (std::find(fields.begin(), fields.end(), name) == fields.end()) return false;
        for (const auto& field : DataOptions::fieldTable())
            if (field.spec.name == name) return field.applies(data);
        return false;
    };
    if (live() || m_options.data.kind != data.kind ||
        (given("task") && m_options.data.task != data.task)) {
        // The preset of that task, else one of the same kind of data.
        QString found;
        for (const bool exact : {true, false})
            for (const auto& preset : core::presets()) {
                if (!found.isEmpty()) break;
                const DataOptions of = core::presetOptions(preset.name).data;
                if (of.kind == data.kind && (!exact || of.task == data.task))
                    found = QString::fromStdString(preset.name);
            }
        if (found.isEmpty() || !choosePreset(found)) {
            Q_EMIT failed(QStringLiteral("No experiment can train on this data."));
            return;
        }
    }
    const FormState before = formState();
    m_run.clear();
    m_wanted.clear();
    m_ofRun.reset();
    m_options.data.kind = data.kind;
    m_options.data.path = data.path;
    for (const auto& field : DataOptions::fieldTable())
        if (given(field.spec.name)) field.set(m_options.data, field.get(data));
    if (m_options.model.input() == InputKind::Images && info.channels > 0 &&
        m_options.train.init_from.empty()) {
        auto& images = m_options.model.get<ImageInput>();
        images.image_shape = {info.channels, info.width, info.height};
        images.num_classes =
            std::max<std::int64_t>(2, static_cast<std::int64_t>(info.classNames.size()));
    }
    core::fitToData(m_options);
    remember(QStringLiteral("Train on other data"), before);
    Q_EMIT changed();
    Q_EMIT problemsChanged();
}

void ExperimentController::setUp(const OwnData& own) {
    const FormState before = formState();
    FormState fresh;
    try {
        fresh.preset = core::presetOptions(smallestPreset(own.data.kind), {});
        core::fitToData(fresh.preset);
        auto run = ownRun(fresh.preset, own, m_flopsPerSecond);
        for (const auto& [key, reason] : run.reasons)
            fresh.reasons[key] = {RunOptions::field(key).get(run.options), reason};
        fresh.options = std::move(run.options);
    } catch (const Error& problem) {
        Q_EMIT failed(QString::fromStdString(problem.what()));
        return;
    }
    m_wanted.clear();
    restore(fresh);
    remember(QStringLiteral("Set up training"), before);
}

QByteArray ExperimentController::saveForm() const {
    if (!m_newRun && !m_run.isEmpty()) return {};
    const auto state = m_newRun ? *m_newRun : formState();
    if (state.options == state.preset) return {};
    nlohmann::ordered_json form = {
        {"options", nlohmann::ordered_json::parse(core::runOptionsToJson(state.options))},
        {"preset", nlohmann::ordered_json::parse(core::runOptionsToJson(state.preset))},
        {"reasons", nlohmann::ordered_json::object()}};
    for (const auto& [name, reason] : state.reasons) form["reasons"][name] = reason.second;
    return QByteArray::fromStdString(form.dump());
}

bool ExperimentController::restoreForm(const QByteArray& saved) try {
    const auto form = nlohmann::ordered_json::parse(saved.toStdString());
    FormState state;
    state.options = core::runOptionsFromJson(form.at("options").dump());
    state.preset = core::runOptionsFromJson(form.at("preset").dump());
    for (const auto& [name, reason] : form.at("reasons").items())
        state.reasons[name] = {RunOptions::field(name).get(state.options),
                               reason.get<std::string>()};
    restore(state);
    return true;
} catch (const std::exception&) {  // data of another version, or damaged
    return false;
}

void ExperimentController::forgetRefusal() {
    m_refusal.reset();
    m_mended.clear();
}

void ExperimentController::takeRefusal(const QString& said) {
    QString sentence = said, field;
    // The keys in the sentence become the labels that the form has.
    static const QRegularExpression keys("\\b(?:data|model|train)(?:\\.[a-z][a-z_0-9]*)+");
    for (auto match = keys.match(sentence); match.hasMatch();) {
        const std::string key = match.captured().toStdString();
        qsizetype next = match.capturedEnd();
        for (const auto& known : RunOptions::fieldTable()) {
            if (known.spec.name != key || !known.applies(m_options)) continue;
            const bool first =
                std::exchange(field, field.isEmpty() ? match.captured() : field).isEmpty();
            // "data.path: ..." stands below that field already.
            const bool named = first && sentence.mid(next).startsWith(QLatin1String(": "));
            const QString label = QString::fromStdString(known.spec.label);
            const qsizetype from = named ? 0 : match.capturedStart();
            const qsizetype length = (named ? next + 2 : next) - from;
            sentence.replace(from, length, named ? QString() : label);
            next = named ? 0 : from + label.size();
            break;
        }
        match = keys.match(sentence, next);
    }
    const QString path = QString::fromStdString(m_options.data.path);
    if (!path.isEmpty() && sentence.contains(path)) {
        if (field.isEmpty()) field = QStringLiteral("data.path");
        sentence.replace(path + u':', path);
        sentence.replace(path, path.section(u'/', -1, -1, QString::SectionSkipEmpty));
    }
    if (field.isEmpty()) {
        Q_EMIT failed(said);
        return;
    }
    if (!sentence.isEmpty()) sentence[0] = sentence.at(0).toUpper();
    m_refusal = {field, sentence, {}};
    Q_EMIT problemsChanged();
    Q_EMIT refused(field);
    findMended();
}

void ExperimentController::findMended() {
    if (!m_host.isEmpty() || !isOwnData(m_options.data)) return;
    DataOptions all = m_options.data;
    all.train_size = all.validation_size = all.test_size = 0;
    m_devices.post(
        this,
        [all](Engine& models, const Looker::Progress& progress) {
            return ownDataOf(wire::openData(models.session, {all, true, -1}, progress));
        },
        [this, asked = m_options](const OwnData& own) {
            if (!m_refusal || !(m_options == asked)) return;
            try {
                const auto run = ownRun(m_options, own);
                for (const auto& [key, reason] : run.reasons) {
                    const auto& field = RunOptions::field(key);
                    const auto value = field.get(run.options);
                    // The length of the training and the name were not refused.
                    if (!key.starts_with("train.") && key != "data.name" &&
                        value != field.get(m_options))
                        m_mended.emplace_back(key, value);
                }
                const auto& data = run.options.data;
                if (data.context != m_options.data.context)
                    m_refusal->action = QStringLiteral("Use a context of %1").arg(data.context);
                else if (own.context == 0 && !m_mended.empty())
                    m_refusal->action = QStringLiteral("Use %1 / %2 / %3")
                                            .arg(data.train_size)
                                            .arg(data.validation_size)
                                            .arg(data.test_size);
            } catch (const Error&) {
                return;  // other files are needed
            }
            Q_EMIT problemsChanged();
        },
        [](const QString&) {});  // the refusal has said why
}

void ExperimentController::mend() {
    const auto mended = std::exchange(m_mended, {});
    if (mended.empty()) return;
    const FormState before = formState();
    forgetRefusal();
    for (const auto& [key, value] : mended) RunOptions::field(key).set(m_options, value);
    core::fitToData(m_options);
    remember(QStringLiteral("Fit the options to the data"), before);
    Q_EMIT changed();
    Q_EMIT problemsChanged();
}

}  // namespace relascope::app
