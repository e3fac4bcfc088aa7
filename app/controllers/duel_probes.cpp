// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/duel_probes.h"

#include <algorithm>
#include <utility>

#include "app/controllers/checkpoint_controller.h"
#include "app/controllers/hosts_controller.h"
#include "app/opener.h"
#include "run/run_folder.h"
#include "widgets/theme/theme.h"
#include "wire/host_files.h"

namespace relascope::app {

QString titleOf(const wire::Asked& weights) {
    QString name = checkpointTitles({placeOf(weights)}).front();
    if (const auto step = stepOf(weights))
        name += QStringLiteral(", step %1").arg(widgets::groupedNumber(*step));
    if (const auto& edits = weights.edits.at(0); edits.anyEnabled())
        name += QStringLiteral(", edited: ") + wordsOfList(edits);
    return name;
}

namespace {

QString letterOf(std::size_t side) {
    return side == 0 ? QStringLiteral("A") : QStringLiteral("B");
}

/// Whether the data are generated, so that every machine has them.
bool isGenerated(const DataOptions& data) {
    return data.path.empty() && !data.isText();
}

}  // namespace

DuelProbes::DuelProbes(QObject* parent) : QObject(parent) {
    for (std::size_t k = 0; k < 2; ++k) {
        auto& side = m_sides[k];
        side.session = std::make_unique<Inspection>(side.looker);
        auto* session = side.session.get();
        session->setProgressText(QStringLiteral("Computing the maps of %1").arg(letterOf(k)));
        const auto refuse = [this, k](const QString& sentence) {
            if (!sentence.isEmpty())
                Q_EMIT refused(QStringLiteral("%1: %2").arg(letterOf(k), sentence));
        };
        connect(session, &Inspection::inspected, this,
                [this, k](const widgets::Inspected& inspected) {
                    m_sides[k].result = inspected.result;
                    const bool read =
                        m_sides[1 - k].result && m_ownersInput == inspected.result->sample;
                    if (complete() && waitsForInput(1 - k) && !read) {
                        forget(1 - k);  // its result is for another input
                        ask(1 - k);
                    }
                    answer();
                });
        connect(session, &Inspection::loaded, this, [this, k, session, refuse] {
            const bool first = k == 0 && !m_customInput && m_dataRun.isEmpty();
            if (first) {
                m_customInput = firstInput(session->offer());
                Q_EMIT dataRead();
            }
            if (!m_customInput || !complete()) return;
            if (m_customInput->option("text") && !session->tokenizer())
                return refuse(
                    QStringLiteral("its tokenizer is unknown; put a tokenizer.json beside its "
                                   "weights"));
            // The other side may still be loading.
            first ? ask() : ask(k);
        });
        connect(session, &Inspection::inputRead, this, [this, k, session] {
            if (m_customInput) inspect(k, session->input());
        });
        connect(session, &Inspection::textRead, this, [this] {
            QStringList notes;
            for (std::size_t s = 0; s < 2; ++s)
                if (const auto& note = m_sides[s].session->textNote(); !note.isEmpty())
                    notes << QStringLiteral("%1: %2").arg(letterOf(s), note);
            Q_EMIT textProblem(notes.join(QStringLiteral("; ")));
        });
        connect(&side.opening, &LongTask::failed, this, &DuelProbes::notOpened);
        connect(session, &Inspection::refused, this, refuse);
        connect(session, &Inspection::failed, this, refuse);
        connect(session, &Inspection::pointsFound, this,
                [this, k](const Points& points) { m_sides[k].points = points; });
        // The maps without edits follow, and are shown with the sentence.
        connect(session, &Inspection::editsRefused, this,
                [this, k](const QString& sentence) { m_sides[k].problem = sentence; });
    }
    connect(&m_task, &LongTask::failed, this, &DuelProbes::refused);
}

DuelProbes::~DuelProbes() = default;

QString DuelProbes::dataRun() const {
    for (const auto& subject : m_subjects)
        if (subject && core::isRunFolder(subject->subjects[0].path)) return placeOf(*subject);
    return {};
}

QString DuelProbes::host(std::size_t side) const {
    return HostsController::hostOf(placeOf(*m_subjects[side]));
}

namespace {

bool sameWeights(const std::optional<wire::Asked>& a, const std::optional<wire::Asked>& b) {
    return a && b ? a->subjects == b->subjects && a->edits == b->edits : !a && !b;
}

/// Whether the examples of a run are those of the data.
bool hasData(const std::string& run, const DataOptions& data) {
    try {
        return core::runData(run, core::readRunOptions(run).data) == data;
    } catch (const Error&) {  // no run, or one that is gone
        return false;
    }
}

}  // namespace

std::optional<wire::Asked> DuelProbes::shown(std::size_t side) const {
    if (!m_subjects[side] || !m_sides[side].result) return std::nullopt;
    auto asked = *m_subjects[side];
    auto& model = asked.subjects[0];
    // Of a chosen step it shows the one whose weights are kept.
    if (!model.checkpoint.empty()) model.checkpoint = std::to_string(m_sides[side].result->step);
    if (m_customInput) {
        // Stored and random inputs are those of A.
        const bool ofA = m_customInput->option("reference") || m_customInput->option("random");
        if (ofA && placeOf(asked) != placeOf(*m_subjects[0])) return std::nullopt;
        asked.options = m_customInput->options;
    } else {
        if (!m_data || !hasData(model.path, m_data->data.options)) return std::nullopt;
        asked.options = {{"sample", std::int64_t{m_example}}, {"split", m_split}};
    }
    return asked;
}

void DuelProbes::setSubject(std::size_t side, std::optional<wire::Asked> subject) {
    m_sides[side].opening.abandon();
    const bool again = sameWeights(m_subjects[side], subject);
    // After a failure or a cancelled load choosing it again tries again.
    if (again && (!subject || m_sides[side].result || task(side).busy() || m_task.busy())) return;
    const bool otherA =
        side == 0 && (!subject || !m_subjects[0] || placeOf(*subject) != placeOf(*m_subjects[0]));
    m_subjects[side] = std::move(subject);
    forget(side);
    const auto dataBefore = std::exchange(m_dataRun, dataRun());
    const bool otherData = m_dataRun != dataBefore;
    if ((otherA || otherData) && m_customInput) {
        m_customInput.reset();
        forget(1 - side);  // the other side has read that input
    }
    if (otherData) m_data.reset();
    Q_EMIT subjectsChanged();
    if (otherData || (otherA && m_dataRun.isEmpty()) || (again && inputMissing()))
        readData();
    else
        ask();
}

void DuelProbes::openFar(std::size_t side, const QString& path) {
    auto& own = m_sides[side];
    const auto work = [path = path.toStdString()](Engine& models, LongJob&,
                                                  const Looker::Progress& progress) {
        const auto opened = wire::openFarCheckpoint(models.session, path, progress);
        return opened.run == path ? path : opened.info.path;
    };
    own.looker.run(own.opening, QStringLiteral("Opening %1").arg(letterOf(side)), work,
                   [this, side](const std::string& opened) {
                       setSubject(side, weightsAt(QString::fromStdString(opened), std::nullopt));
                   });
}

void DuelProbes::readAgain(std::size_t side) {
    forget(side);
    m_sides[side].session->dropWeights();  // the weights on the disk may be newer
    again();
}

void DuelProbes::again() {
    if (!inputMissing()) return ask();
    if (!m_task.busy() && !task(0).busy()) readData();
}

void DuelProbes::readData() {
    m_task.abandon();
    for (std::size_t k = 0; k < 2; ++k) forget(k);  // their results are for other data
    if (m_dataRun.isEmpty()) {
        if (m_subjects[0]) m_sides[0].session->load(*m_subjects[0], QStringLiteral("Loading A"));
        return;
    }
    const auto path = m_dataRun.toStdString();
    const auto work = [path](Engine& models, LongJob&, const Looker::Progress& progress) {
        const auto options = core::runData(path, core::readRunOptions(path).data);
        const bool far = wire::farPathOf(path).has_value();
        return std::make_shared<const wire::OpenedData>(wire::openData(
            models.session, {options, false, -1, far ? path : std::string()}, progress));
    };
    m_sides[0].looker.run(
        m_task, QStringLiteral("Opening the data"), work,
        [this](std::shared_ptr<const wire::OpenedData> data) {
            m_data = std::move(data);
            m_split = m_data->find(m_split) ? m_split : m_data->splits.front().name;
            m_example =
                std::min<qint64>(m_example, std::max<qint64>(0, m_data->at(m_split).info.size - 1));
            for (std::size_t k = 0; k < 2; ++k) forget(k);
            Q_EMIT dataRead();
            ask();
        });
}

void DuelProbes::forget(std::size_t side) {
    auto& session = *m_sides[side].session;
    session.task().abandon();
    session.forgetInput();
    m_sides[side].result.reset();
    m_sides[side].problem.clear();
}

QString DuelProbes::problems() const {
    QStringList all;
    for (std::size_t k = 0; k < 2; ++k)
        if (const auto& problem = m_sides[k].problem; !problem.isEmpty())
            all << QStringLiteral("%1: %2").arg(letterOf(k), problem);
    return all.join(QStringLiteral("; "));
}

void DuelProbes::chooseExample(const std::string& split, qint64 example) {
    if (!m_data) return;
    m_customInput.reset();
    m_split = m_data->at(split).name;
    m_example =
        std::clamp<qint64>(example, 0, std::max<qint64>(0, m_data->at(m_split).info.size - 1));
    for (std::size_t k = 0; k < 2; ++k) forget(k);
    ask();
}

void DuelProbes::chooseInput(const Question& input) {
    m_customInput = input;
    for (std::size_t k = 0; k < 2; ++k) forget(k);
    ask();
}

void DuelProbes::chooseText(const QString& text) {
    if (text.isEmpty()) return;
    m_customInput = inputAs({{"text", text.toStdString()}});
    for (std::size_t k = 0; k < 2; ++k) forget(k);
    if (!complete()) return;
    for (std::size_t k = 0; k < 2; ++k)
        if (auto& session = *m_sides[k].session; session.opened() == *m_subjects[k])
            session.chooseText(text);  // tokenizes the text after the last key
        else
            ask(k);
}

std::optional<std::size_t> DuelProbes::inputOwner() const {
    if (m_customInput)
        return m_customInput->option("reference") || m_customInput->option("random")
                   ? std::optional<std::size_t>(0)
                   : std::nullopt;
    if (host(0) == host(1)) return std::nullopt;
    return m_dataRun == placeOf(*m_subjects[0]) ? 0 : 1;
}

void DuelProbes::ask() {
    if (!complete() || (!m_customInput && !m_data)) return;
    for (std::size_t k = 0; k < 2; ++k)
        if (!m_sides[k].result && !task(k).busy()) ask(k);
}

void DuelProbes::ask(std::size_t side) {
    auto& session = *m_sides[side].session;
    const auto& subject = *m_subjects[side];
    auto input = subject;
    if (waitsForInput(side)) {
        const auto& made = m_sides[1 - side].result;
        if (!made) return forget(side);  // until the other side has its result
        m_ownersInput = made->sample;
        input.sample = m_ownersInput;
        input.shortened = true;
        return inspect(side, std::move(input));
    }
    if (!m_customInput) return inspect(side, std::move(input));
    if (session.opened() == subject) return session.choose(*m_customInput);
    session.forgetInput();
    session.load(subject, QStringLiteral("Loading %1").arg(letterOf(side)));
}

void DuelProbes::inspect(std::size_t side, wire::Asked input) {
    if (!complete()) return;
    const auto& subject = *m_subjects[side];
    auto& session = *m_sides[side].session;
    if (m_data) input.classNames = m_data->at(m_split).info.classNames;
    const bool there = host(side) == HostsController::hostOf(m_dataRun);
    if (m_data && (there || isGenerated(m_data->data.options))) {
        // The run of the data is on no other machine.
        input.data = there ? m_data->data : wire::Data{m_data->data.options};
        if (!m_customInput)
            input.set("sample", std::int64_t{m_example}), input.set("split", m_split);
    }
    session.setEdits(subject.edits[0]);
    session.inspectRun(placeOf(subject), stepOf(subject), std::move(input));
}

void DuelProbes::answer() {
    const auto &first = m_sides[0].result, &second = m_sides[1].result;
    if (!first || !second || !complete()) return;
    widgets::Inspected both;
    both.result = second;
    auto a = *m_subjects[0];
    // The kept step nearest to the chosen one.
    if (auto& step = a.subjects[0].checkpoint; !step.empty()) step = std::to_string(first->step);
    both.pinned = {first, titleOf(a)};
    const auto &ours = first->sample.source, &theirs = second->sample.source;
    if (ours.text && theirs.text && ours.labels != theirs.labels)
        both.pinned.tokens =
            std::make_shared<const TextAlignment>(alignTexts(ours.labels, theirs.labels));
    Q_EMIT answered(both);
}

}  // namespace relascope::app
