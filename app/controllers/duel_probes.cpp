// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/duel_probes.h"

#include <QFileInfo>
#include <algorithm>
#include <utility>

#include "run/run_folder.h"
#include "widgets/theme/theme.h"
#include "wire/host_files.h"

namespace relascope::app {

QString DuelSubject::name() const {
    QString name = QFileInfo(path).fileName();
    if (step) name += QStringLiteral(", step %1").arg(widgets::groupedNumber(*step));
    if (edits.anyEnabled()) name += QStringLiteral(", edited: ") + wordsOfList(edits);
    return name;
}

DuelProbes::DuelProbes(QObject* parent) : QObject(parent) {
    for (auto& side : m_sides) {
        side.session = std::make_unique<InspectionSession>(side.queue);
        connect(side.session.get(), &InspectionSession::inspected, this,
                [this, &side](const widgets::Inspected& inspected) {
                    side.result = inspected.result;
                    answer();
                });
        connect(side.session.get(), &InspectionSession::refused, this, &DuelProbes::refused);
        connect(side.session.get(), &InspectionSession::editsRefused, this,
                [this](const QString& sentence) {
                    if (!sentence.isEmpty()) Q_EMIT refused(sentence);
                });
    }
    connect(&m_task, &LongTask::failed, this, &DuelProbes::refused);
}

DuelProbes::~DuelProbes() = default;

void DuelProbes::setSubject(std::size_t side, std::optional<DuelSubject> subject) {
    if (m_subjects[side] == subject) return;
    const bool otherRun =
        side == 0 && (!subject || !m_subjects[0] || subject->path != m_subjects[0]->path);
    m_subjects[side] = std::move(subject);
    m_sides[side].result.reset();
    if (otherRun) m_data.reset();
    Q_EMIT subjectsChanged();
    if (otherRun)
        readData();
    else
        ask();
}

void DuelProbes::readData() {
    m_task.abandon();
    if (!m_subjects[0]) return;
    const auto path = m_subjects[0]->path.toStdString();
    if (!core::isRunFolder(path))
        return refused(
            QStringLiteral("A is a checkpoint, which has no data of its own: choose a "
                           "run as A, and the checkpoint as B."));
    const auto work = [path, models = m_sides[0].session->models()](LongJob& job,
                                                                    std::stop_token stop) {
        const auto options = core::runData(path, core::readRunOptions(path).data);
        const bool far = wire::farPathOf(path).has_value();
        return std::make_shared<const wire::OpenedData>(wire::openData(
            models->session, {options, false, -1, far ? path : std::string()}, job.callback(stop)));
    };
    m_task.run(m_sides[0].queue, QStringLiteral("Opening the data"), work,
               [this](std::shared_ptr<const wire::OpenedData> data) {
                   m_data = std::move(data);
                   m_split = m_data->find(m_split) ? m_split : m_data->splits.front().name;
                   m_example = std::min<qint64>(
                       m_example, std::max<qint64>(0, m_data->at(m_split).info.size - 1));
                   for (auto& side : m_sides) side.result.reset();  // of the data before
                   Q_EMIT dataRead();
                   ask();
               });
}

void DuelProbes::chooseExample(const std::string& split, qint64 example) {
    if (!m_data) return;
    m_split = m_data->at(split).name;
    m_example =
        std::clamp<qint64>(example, 0, std::max<qint64>(0, m_data->at(m_split).info.size - 1));
    for (auto& side : m_sides) side.result.reset();
    ask();
}

void DuelProbes::ask() {
    if (!complete() || !m_data) return;
    for (std::size_t k = 0; k < 2; ++k) {
        auto& side = m_sides[k];
        if (side.result) continue;
        wire::Input input;
        input.example = {m_data->data, m_split, m_example};
        wire::Interventions changed;
        changed.edits = m_subjects[k]->edits;
        changed.data = m_data->data.options;
        changed.split = m_split, changed.example = m_example;
        side.session->setInterventions(std::move(changed));
        side.session->inspectRun(m_subjects[k]->path, m_subjects[k]->step, std::move(input),
                                 m_data->at(m_split).info.classNames);
    }
}

void DuelProbes::answer() {
    if (!m_data || !m_sides[0].result || !m_sides[1].result || !complete()) return;
    widgets::Inspected both;
    both.result = m_sides[1].result;
    auto a = *m_subjects[0];
    if (a.step) a.step = m_sides[0].result->step;  // the kept one nearest to it
    both.pinned = {m_sides[0].result, a.name()};
    Q_EMIT answered(both);
}

}  // namespace relascope::app
